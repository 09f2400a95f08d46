"""Calls of the kernel that a student's process may not make, refused by the kernel itself.

Landlock and namespaces leave three ways that the C library offers past Python: to start processes
(a bomb of them fills the machine before the clock strikes), to connect to a socket that lies in
the file system (that of Docker, say, is a way out of everything), and to look into or signal
others. A filter of system calls (seccomp) closes them. It stays for the life of the process and
holds for its threads; threads themselves are allowed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

__all__ = ["refuse_calls"]

SET_SECCOMP, FILTER, NO_NEW_PRIVILEGES = 22, 2, 38
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# Where the kernel puts what a filter sees: the number, the machine, and the arguments.
NUMBER, MACHINE, FIRST_ARGUMENT = 0, 4, 16
THREAD = 0x00010000
# Calls under x32's numbers would get past a filter for x86-64.
X32 = 0x40000000

# Numbers of the calls that are refused, on x86-64 and on ARM; None where there is no such call.
REFUSED = {
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, None), "vfork": (58, None),
    "socket": (41, 198), "connect": (42, 203), "io_uring_setup": (425, 425),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kill": (62, 129), "tkill": (200, 130), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282),
}  # fmt: skip
# By machine: its place in that table, the kernel's number of it, `clone` and `tgkill`.
MACHINES = {"x86_64": (0, 0xC000003E, 56, 234), "aarch64": (1, 0xC00000B7, 220, 131)}
CLONE3 = 435


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def refuse_calls() -> list[str]:
    """Set the filter for this process, for ever; return what is enforced, in words."""
    machine = platform.machine()
    if machine not in MACHINES:
        return []
    steps = b"".join(filter_steps(machine, os.getpid()))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    program = _Program(len(steps) // 8, steps)
    if libc.prctl(SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0) != 0:
        return []
    return ["no new processes or sockets past Python either (seccomp)"]


def filter_steps(machine: str, pid: int) -> list[bytes]:
    """Return the filter as steps of the kernel's little machine (BPF), eight bytes each."""
    place, number, clone, tgkill = MACHINES[machine]
    no, not_there = REFUSE | errno.EPERM, REFUSE | errno.ENOSYS
    steps = [
        _step(LOAD, MACHINE),
        _step(EQUAL, number, 1, 0),
        _step(RETURN, no),
        _step(LOAD, NUMBER),
    ]
    if machine == "x86_64":
        steps += [_step(AT_LEAST, X32, 0, 1), _step(RETURN, no)]
    for numbers in REFUSED.values():
        call = numbers[place]
        if call is not None:
            steps += [_step(EQUAL, call, 0, 1), _step(RETURN, no)]
    # The C library then falls back to `clone`, whose flags a filter can read.
    steps += [_step(EQUAL, CLONE3, 0, 1), _step(RETURN, not_there)]
    steps += [
        _step(EQUAL, clone, 0, 4),
        _step(LOAD, FIRST_ARGUMENT),
        _step(ANY_BIT, THREAD, 0, 1),
        _step(RETURN, ALLOW),
        _step(RETURN, no),
    ]
    # A thread may signal threads of its own process.
    steps += [
        _step(EQUAL, tgkill, 0, 3),
        _step(LOAD, FIRST_ARGUMENT),
        _step(EQUAL, pid, 1, 0),
        _step(RETURN, no),
    ]
    return [*steps, _step(RETURN, ALLOW)]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
