# SPDX-License-Identifier: GPL-2.0
"""Routes of a switch: as few prefixes as say for every host where it is."""

from bisect import bisect_left


class _Block:
    """Hosts first..last-1 of a table, the smallest aligned block that holds them, its parts."""

    def __init__(self, table, first, last):
        numbers = table.numbers
        self.bits = (numbers[first] ^ numbers[last - 1]).bit_length()
        self.base = numbers[first] >> self.bits << self.bits
        self.parts = ()
        self.fitting = {table.ways[first]}	# ways that need the fewest routes inside
        if table.run_end[first] >= last:
            return
        middle = bisect_left(numbers, self.base + (1 << self.bits - 1), first, last)
        self.parts = (_Block(table, first, middle), _Block(table, middle, last))
        low, high = (part.fitting for part in self.parts)
        self.fitting = low & high or low | high

    def emit(self, routes, inherited):
        """Append (base, bits, way) for this block and its parts, given what encloses it."""
        if inherited not in self.fitting:
            inherited = min(self.fitting)
            routes.append((self.base, self.bits, inherited))
        for part in self.parts:
            part.emit(routes, inherited)


class _Table:
    """Hosts by number, and up to where those behind each go the same way."""

    def __init__(self, hosts):
        self.numbers = [number for number, _ in hosts]
        self.ways = [way for _, way in hosts]
        self.run_end = [len(hosts)] * len(hosts)
        for index in range(len(hosts) - 2, -1, -1):
            same = self.ways[index] == self.ways[index + 1]
            self.run_end[index] = self.run_end[index + 1] if same else index + 1


def cover(hosts):
    """
    The fewest prefixes by which the longest match gives every host its way.

    hosts: (number, way) in order of number; ways can be compared.  Numbers
    between them are nobody's and may go anywhere.  (base, bits, way) each, the
    2^bits numbers from base on, enclosing ones first; where that saves nothing,
    each host alone.
    """
    if not hosts:
        return []
    routes = []
    table = _Table(hosts)
    _Block(table, 0, len(hosts)).emit(routes, None)
    if len(routes) < len(hosts):
        return routes
    return [(number, 0, way) for number, way in hosts]
