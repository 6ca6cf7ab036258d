# SPDX-License-Identifier: GPL-2.0
"""Guests of run-qemu by machine, as Debian names them: the emulator and the devices that differ."""

import ctypes
import mmap
import time
from dataclasses import dataclass


@dataclass
class Machine:
    """One architecture."""

    triplet: str        # of the cross compiler
    emulator: str
    options: tuple
    words: str          # for the kernel
    nic: str


# no_timer_check, tsc=reliable: a starved emulator fails the kernel's tests of its timer and clock.
MACHINES = {
    "amd64": Machine("x86_64-linux-gnu", "qemu-system-x86_64", (),
                     "console=ttyS0 no_timer_check tsc=reliable", "virtio-net-pci,romfile="),
    "arm64": Machine("aarch64-linux-gnu", "qemu-system-aarch64",
                     ("-machine", "virt", "-cpu", "cortex-a57"),
                     "console=ttyAMA0", "virtio-net-pci,romfile="),
    "riscv64": Machine("riscv64-linux-gnu", "qemu-system-riscv64", ("-machine", "virt"),
                       "console=ttyS0", "virtio-net-pci,romfile="),
    "s390x": Machine("s390x-linux-gnu", "qemu-system-s390x", (), "console=ttysclp0",
                     "virtio-net-ccw"),
}
NATIVE = "amd64"

# rdtsc; shl $32, %rdx; or %rdx, %rax; ret
READ_TSC = bytes.fromhex("0f31 48c1e220 4809d0 c3")
TSC_SECONDS = 0.2


def tsc_khz():
    """The frequency of this machine's time-stamp counter, which an emulated one has, too.

    A guest measures it by its timers when it boots.  On a busy machine it was 94 times too low,
    and so much too fast the guest's clock.
    """
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(READ_TSC)
    read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    begin, begin_ns = read(), time.monotonic_ns()
    time.sleep(TSC_SECONDS)
    end, end_ns = read(), time.monotonic_ns()
    return round((end - begin) * 1e6 / (end_ns - begin_ns))


def emulator(machine, tree):
    """The command, and options of the machine: the guest's tree's, or this system's."""
    kind = MACHINES[machine]
    root = tree / "quell/emulator"
    if not root.exists():
        return [kind.emulator, *kind.options]
    return [root / "lib64/ld-linux-x86-64.so.2", "--library-path",
            root / "usr/lib" / MACHINES[NATIVE].triplet, root / "usr/bin" / kind.emulator,
            "-L", root / "usr/share/qemu", *kind.options]


def cross_tools(machine, sysroot):
    """Arguments of make for programs of a machine of which @sysroot has the libraries.

    These may need a newer C library than the compiler's own, which the linker finds first.
    """
    if machine == NATIVE:
        return []
    triplet = MACHINES[machine].triplet
    return [f"CC={triplet}-gcc --sysroot={sysroot} -Wl,--allow-shlib-undefined", f"AR={triplet}-ar",
            f"OBJCOPY={triplet}-objcopy"]


def ports(machine, work, terminal=False):
    """Console, or the terminal, report and kernel log: files of @work.  A PC has serial ports."""
    console = ["-serial", "stdio" if terminal else f"file:{work / 'console'}"]
    if machine == NATIVE:
        return [*console, "-serial", f"file:{work / 'report'}", "-serial", f"file:{work / 'dmesg'}"]
    words = [*console, "-device", "virtio-serial"]
    for name in ("report", "dmesg"):
        words += ["-chardev", f"file,id={name},path={work / name}",
                  "-device", f"virtserialport,chardev={name}"]
    return words


def cable(machine, ends):
    """A NIC on a cable to another guest, of which @ends has the sockets: this side's, the other's."""
    near, far = ends
    return ["-netdev", f"dgram,id=cable,local.type=unix,local.path={near},"
            f"remote.type=unix,remote.path={far}",
            "-device", f"{MACHINES[machine].nic},netdev=cable,speed=10000,duplex=full"]


def nics(models):
    """Two NICs of each model on a cable, in a PC with PCI Express, which igb requires, and with a
    port of its own for the virtual functions of each."""
    words = ["-machine", "q35"]
    for hub, model in enumerate(models):
        for end in ("a", "b"):
            name = f"{end}{hub}"
            words += ["-netdev", f"hubport,id={name},hubid={hub}",
                      "-device", f"pcie-root-port,id=port{name},chassis={ord(end) + 8 * hub}",
                      "-device", f"{model},netdev={name},bus=port{name},"
                      f"mac=52:54:00:0{hub}:00:0{end},romfile="]
    return words
