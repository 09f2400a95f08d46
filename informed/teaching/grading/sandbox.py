"""Walls around a process that runs a student's code.

Up to six, as far as the system offers them; `enclose` says which it got.

1. Limits of the kernel (`resource`): address space, processor time, size of a file.
2. Linux namespaces, where users may make them: no network device at all, no sight of other
   processes, a working folder in memory that vanishes with the process, and empty folders in the
   place of those that are to be hidden.
3. Landlock, on Linux 5.13 and later: the kernel refuses to write anywhere but in the working
   folder, to connect to a TCP port, and to look into other processes.
4. A filter of system calls, on Linux: the kernel refuses new processes and new sockets, whoever
   asks for them (see `calls`).
5. An audit hook of Python, on every system: it refuses new processes, sockets, signals, and files
   outside of the working folder. Code that calls the C library past Python gets around this one,
   so where it is the only one (macOS), mark on a machine that holds nothing else.
6. The process group, which the grader kills as a whole.

Windows has neither `resource` nor `fork`: mark under WSL there.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import site
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from informed.teaching.grading.calls import refuse_calls

__all__ = ["enclose"]

NEW_MOUNT, NEW_USER, NEW_PROCESSES, NEW_NETWORK = 0x00020000, 0x10000000, 0x20000000, 0x40000000
PRIVATE_RECURSIVE = 0x40000 | 0x4000
READ_ONLY, PLAIN_FILES = 1, 0b1110
DEATH_SIGNAL, NO_NEW_PRIVILEGES = 1, 38
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
# Landlock's rights: execute, read a file, read a folder; all others change something.
READ_RIGHTS = 0b1101
RIGHTS_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
FILE_SIZE, FOLDER_SIZE, OPEN_FILES = 64 << 20, 256 << 20, 256

REFUSED = {
    "os.exec", "os.fork", "os.forkpty", "os.kill", "os.killpg", "os.posix_spawn", "os.spawn",
    "os.system", "pty.spawn", "socket.bind", "socket.connect", "socket.getaddrinfo",
    "socket.gethostbyname", "socket.sendmsg", "socket.sendto", "subprocess.Popen",
}  # fmt: skip
CHANGES_FILES = {
    "os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir",
    "os.symlink", "os.truncate", "os.utime", "shutil.rmtree",
}  # fmt: skip


def enclose(folder: Path, *, memory: int, seconds: float, hidden: Sequence[Path] = ()) -> list[str]:
    """Put this process behind the walls; there is no way back.

    Parameters
    ----------
    folder : Path
        The only place where it may write; becomes its working folder.
    memory : int
        Bytes that it may use beyond what it uses now.
    seconds : float
        Processor time.
    hidden : sequence of Path
        Folders that it may not read.

    Returns
    -------
    walls : list of str
        What is enforced, in words.
    """
    os.chdir(folder)
    walls = [_limit(memory, seconds)]
    if sys.platform == "linux":
        walls += _namespaces(folder, hidden)
        os.chdir(folder)  # what was mounted on it, not what lies below
        walls += _landlock(folder)
        walls += refuse_calls()
    sys.addaudithook(_guard(folder, hidden))
    return [*walls, "no new processes, sockets or files elsewhere from Python (audit hook)"]


def _limit(memory: int, seconds: float) -> str:
    import resource

    used = 0
    with contextlib.suppress(OSError, IndexError, ValueError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        used = pages * resource.getpagesize()
    for what, amount in (
        (resource.RLIMIT_AS, used + memory),
        (resource.RLIMIT_CPU, int(seconds) + 1),
        (resource.RLIMIT_FSIZE, FILE_SIZE),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(OSError, ValueError):  # macOS does not limit the address space
            resource.setrlimit(what, (amount, amount))
    return f"{memory / 2**30:.3g} GB of memory, {seconds:.0f} s (resource limits)"


def _namespaces(folder: Path, hidden: Sequence[Path]) -> list[str]:
    libc = ctypes.CDLL(None, use_errno=True)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(NEW_USER | NEW_NETWORK | NEW_MOUNT | NEW_PROCESSES) != 0:
        return []
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with contextlib.suppress(OSError):
            Path(f"/proc/self/{name}").write_text(text)
    walls = ["no network (namespace)"]
    libc.mount(b"none", b"/", None, PRIVATE_RECURSIVE, None)
    size = f"size={FOLDER_SIZE},mode=700".encode()
    if libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", 0, size) == 0:
        walls.append(f"a working folder of {FOLDER_SIZE >> 20} MB in memory (namespace)")
    for path in hidden:
        if path.is_dir():
            libc.mount(b"tmpfs", os.fsencode(path), b"tmpfs", READ_ONLY, b"size=4k,mode=555")
    # The first process of the namespace takes all others along when it ends.
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    libc.prctl(DEATH_SIGNAL, signal.SIGKILL)
    # A namespace alone would leave the list of all processes, with their command lines, in sight.
    hides = libc.mount(b"proc", b"/proc", b"proc", PLAIN_FILES, None) == 0
    seen = "no sight of" if hides else "no signals to"
    return [*walls, f"{seen} other processes (namespace)"]


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("ports", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def _landlock(folder: Path) -> list[str]:
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        return []
    ruleset, size = _ruleset(version)
    rights = ruleset.files
    handle = libc.syscall(LANDLOCK_CREATE, ctypes.byref(ruleset), size, 0)
    if handle < 0:
        return []
    for path, allowed in [
        *((path, READ_RIGHTS & rights) for path in _readable()),
        (folder, rights),
    ]:
        with contextlib.suppress(OSError):
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
            rule = _Beneath(allowed, opened)
            libc.syscall(LANDLOCK_ADD, handle, 1, ctypes.byref(rule), 0)
            os.close(opened)
    with contextlib.suppress(OSError):  # libraries throw output away there
        opened = os.open("/dev/null", os.O_PATH | os.O_CLOEXEC)
        libc.syscall(LANDLOCK_ADD, handle, 1, ctypes.byref(_Beneath(0b110, opened)), 0)
        os.close(opened)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(LANDLOCK_RESTRICT, handle, 0) != 0:
        return []
    os.close(handle)
    words = ["writes only to its own folder, reads only Python and the system (Landlock)"]
    return words + (["no TCP (Landlock)"] if ruleset.ports else [])


def _ruleset(version: int) -> tuple[_Ruleset, int]:
    """Return all that a version of Landlock can refuse, and the bytes of it that it reads."""
    files = RIGHTS_BY_VERSION[max(known for known in RIGHTS_BY_VERSION if known <= version)]
    if version >= 6:
        return _Ruleset(files, 3, 3), 24
    return (_Ruleset(files, 3, 0), 16) if version >= 4 else (_Ruleset(files, 0, 0), 8)


def _readable() -> list[Path]:
    """Where Python, the library and the system's own files are."""
    package = Path(__file__).resolve().parents[2]
    places = [Path(place) for place in (sys.prefix, sys.base_prefix, sys.exec_prefix)]
    places += [Path(place) for place in (*site.getsitepackages(), site.getusersitepackages())]
    # A folder that merely holds the package may be a checkout, with solutions in it.
    places += [Path(place) for place in sys.path if place and Path(place) != package.parent]
    system = ("/usr", "/lib", "/lib64", "/bin", "/etc", "/dev", "/proc", "/sys", "/opt", "/nix")
    return [path for path in [package, *places, *map(Path, system)] if path.exists()]


def _guard(folder: Path, hidden: Sequence[Path]) -> Callable[[str, tuple[Any, ...]], None]:
    """Return what Python asks before each act: it raises if the act is not allowed."""
    # Bound here: code that replaces the functions of `os` later does not reach these.
    inside, fspath, realpath = str(folder.resolve()), os.fsdecode, os.path.realpath
    secret = tuple(str(path.resolve()) for path in hidden)
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

    def is_beneath(path: str, top: str) -> bool:
        return path == top or path.startswith(top + "/")

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in REFUSED:
            raise PermissionError(f"{event} is not allowed while marking")
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, int) or path is None:
                return
            real = realpath(fspath(path))
            if (flags or 0) & writing and not is_beneath(real, inside) and real != "/dev/null":
                raise PermissionError(f"to write {real} is not allowed while marking")
            if any(is_beneath(real, top) for top in secret):
                raise PermissionError(f"to read {real} is not allowed while marking")
        elif event in CHANGES_FILES:
            for path in arguments[:2] if event in ("os.rename", "os.link") else arguments[:1]:
                if isinstance(path, int):
                    continue
                if not is_beneath(realpath(fspath(path)), inside):
                    raise PermissionError(f"{event} outside of the folder is not allowed")

    return hook
