# SPDX-License-Identifier: GPL-2.0
"""Sizes, rates and times as tc(8) reads them."""

import unittest

from quell_lab import units


class Size(unittest.TestCase):
    def test_as_tc_reads_it(self):
        for text, size in (("1", 1), ("1b", 1), ("1000000", 1000000), ("500kb", 512000),
                           ("1k", 1024), ("1.5kb", 1536), ("4mb", 4194304), ("1m", 1048576),
                           ("1g", 1 << 30), ("1gb", 1 << 30), ("8kbit", 1024),
                           ("1mbit", 131072), ("1gbit", 134217728), ("500KB", 512000),
                           (" 2 kb ", 2048), (".5k", 512), ("0", 0)):
            with self.subTest(text):
                self.assertEqual(units.parse_size(text), size)

    def test_refused(self):
        for text in ("", "kb", "-1", "1e3", "1tb", "inf", "nan", "1 k b", "0x10", "1us", "1,5k", "1.5",
                     "1.3kb", "0.4b"):
            with self.subTest(text), self.assertRaises(ValueError):
                units.parse_size(text)

    def test_shown_text_reads_back(self):
        for size in (1, 1023, 1024, 512000, 1000000, 4194304, 1 << 30, (1 << 30) + 1):
            with self.subTest(size):
                self.assertEqual(units.parse_size(units.show_size(size)), size)


class Rate(unittest.TestCase):
    def test_as_tc_reads_it(self):
        for text, rate in (("1", 1), ("8bit", 8), ("1bps", 8), ("100gbit", 10**11),
                           ("1kbit", 1000), ("1kibit", 1024), ("1gbps", 8 * 10**9),
                           ("1mibps", 8 << 20), ("2.5Gbit", 2500000000), ("1tbit", 10**12),
                           ("0.1gbit", 10**8)):
            with self.subTest(text):
                self.assertEqual(units.parse_rate(text), rate)

    def test_refused(self):
        for text in ("", "gbit", "-1gbit", "100g", "1gb", "100%", "1xbit"):
            with self.subTest(text), self.assertRaises(ValueError):
                units.parse_rate(text)

    def test_byte_rate_is_an_eighth(self):
        self.assertEqual(units.parse_byte_rate("50mbit"), 6250000)

    def test_shown(self):
        self.assertEqual(units.show_rate(10**11), "100gbit")
        self.assertEqual(units.show_rate(2500000000), "2.5gbit")
        self.assertEqual(units.show_byte_rate(6250000), "50mbit")


class Time(unittest.TestCase):
    def test_as_tc_reads_it(self):
        for text, time_ns in (("1", 1000), ("20us", 20000), ("1usec", 1000), ("1.5us", 1500),
                              ("1ms", 10**6), ("2msecs", 2 * 10**6), ("1s", 10**9),
                              ("3secs", 3 * 10**9), ("7ns", 7), ("0.1us", 100), ("2.0ns", 2)):
            with self.subTest(text):
                self.assertEqual(units.parse_time(text), time_ns)

    def test_refused(self):
        for text in ("", "us", "-1us", "1m", "1min", "1h", "1kb", "0.4ns", "0.0001"):
            with self.subTest(text), self.assertRaises(ValueError):
                units.parse_time(text)

    def test_shown(self):
        self.assertEqual([units.show_time(t) for t in (0, 7, 1500, 20000, 10**6, 5 * 10**9)],
                         ["0ns", "7ns", "1.5us", "20us", "1ms", "5s"])


class Numbers(unittest.TestCase):
    def test_q16_rounds_to_nearest(self):
        for text, value in (("0.8", 52429), ("0.5", 32768), ("1", 65536), ("50", 3276800),
                            ("0.01", 655), ("0.1", 6554)):
            with self.subTest(text):
                self.assertEqual(units.parse_q16(text), value)

    def test_switch(self):
        for text, value in (("on", 1), ("Off", 0), ("1", 1), (0, 0), (True, 1), (False, 0)):
            with self.subTest(text):
                self.assertEqual(units.parse_switch(text), value)
        for text in ("", "2", "of", "yes please", 1.0):
            with self.subTest(text), self.assertRaises(ValueError):
                units.parse_switch(text)
        self.assertEqual([units.show_switch(value) for value in (0, 1)], ["off", "on"])

    def test_int_refuses_everything_else(self):
        for value in ("1.0", "-1", "one", "", True, "1e3", 1.5):
            with self.subTest(value), self.assertRaises(ValueError):
                units.parse_int(value)
        self.assertEqual(units.parse_int(" 12 "), 12)
        self.assertEqual(units.parse_int(12), 12)
