#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Modules on a host with Secure Boot, in the guest of secure-boot: unsigned ones and those of an
# unknown key are refused, those of an enrolled key run.
#
#	secure-boot.sh before	as INSTALL.md has it: the key is handed to the firmware
#	secure-boot.sh after	someone at the console has enrolled it
#
# /quell has the key's certificate, a password for it, and the modules signed with the key and
# with another one; those that modprobe finds are unsigned.

cd "$(dirname "$0")" || exit 1
. ./lib.sh

updates=/usr/lib/modules/$(uname -r)/updates
algorithm=/proc/sys/net/ipv4/tcp_available_congestion_control

mount_variables()
{
	insmod "$(find /usr/lib/modules -name 'efivarfs.ko*')" && mount -t efivarfs efivarfs /sys/firmware/efi/efivars
}

is_secure()
{
	mokutil --sb-state | tee /dev/stderr | grep -qx 'SecureBoot enabled'
}

is_locked()
{
	mount -t securityfs securityfs /sys/kernel/security
	tee /dev/stderr </sys/kernel/security/lockdown | grep -qF '[integrity]'
}

# What modprobe and the kernel's log say of modules as they are.
refuses_unsigned()
{
	refuses "Key was rejected by service" modprobe tcp_swift &&
	dmesg | grep 'Loading of unsigned module is rejected' && not_loaded quell
}

# refuses_signed DIRECTORY
refuses_signed()
{
	refuses "Key was rejected by service" insmod "/quell/$1/quell.ko" && not_loaded quell
}

# What the doctor says of it, and that it knows what mends it.
doctor_says_so()
{
	quell -j doctor >/tmp/doctor
	json 'any(.level == "fault" and (.text | test("Secure Boot")))' /tmp/doctor
}

import_key()
{
	mokutil --generate-hash="$(cat /quell/password)" >/tmp/hash &&
	mokutil --import /quell/mok.pub --hash-file /tmp/hash &&
	mokutil --list-new | tee /dev/stderr | grep -q 'CN *= *Quell test key'
}

is_enrolled()
{
	mokutil --test-key /quell/mok.pub | tee /dev/stderr | grep -q 'is already enrolled'
}

kernel_has_key()
{
	dmesg | grep -E "Loaded X.509 cert 'Quell test key"
}

loads_signed()
{
	cp /quell/mok/*.ko "$updates/" && modprobe tcp_swift && loaded quell && loaded tcp_swift &&
	[ "$(modinfo -F signer tcp_swift)" = "Quell test key" ] && grep -w swift "$algorithm" &&
	sysctl -w net.ipv4.tcp_congestion_control=swift
}

plan 7
check "variables of the firmware are there" mount_variables
check "Secure Boot is enabled" is_secure
check "the kernel is locked down" is_locked
check "unsigned modules are refused" refuses_unsigned
case $1 in
before)
	check "and those of a key that is not enrolled" refuses_signed mok
	check "quell doctor says so" doctor_says_so
	check "mokutil takes the key for the next start" import_key
	;;
after)
	check "and those of another key" refuses_signed other
	check "the key is enrolled, and the kernel has it" eval "is_enrolled && kernel_has_key"
	check "modules signed with it are loaded" loads_signed
	;;
esac
finish
