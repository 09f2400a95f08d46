"""The filter of system calls around a student's process: what it says, and that it holds."""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("marking needs fork", allow_module_level=True)

from informed.teaching.grading import calls, runner
from informed.teaching.grading.runner import Limits

linux = pytest.mark.skipif(sys.platform != "linux", reason="the filter is Linux's")


def verdict(machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    """Walk through the filter as the kernel does; return what it says of a call."""
    own = calls.MACHINES[machine][1]
    words = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    seen = struct.pack("=IIQ6Q", number, own if arch is None else arch, 0, *words)
    steps = [struct.unpack("=HBBI", step) for step in calls.filter_steps(machine, 4321)]
    at, held = 0, 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        if code == 0x06:
            return value
        if code == 0x20:
            (held,) = struct.unpack_from("=I", seen, value)
            continue
        holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
        at += if_true if holds else if_false


ALLOWED, NOT_PERMITTED, NO_SUCH_CALL = 0x7FFF0000, 0x50001, 0x50026


@pytest.mark.parametrize("machine", calls.MACHINES)
def test_the_filter_refuses_processes_and_sockets_and_nothing_else(machine: str) -> None:
    place, _, clone, tgkill = calls.MACHINES[machine]
    refused = {numbers[place] for numbers in calls.REFUSED.values()} - {None}
    judged = {number: verdict(machine, number) for number in range(600)}
    assert {number for number, said in judged.items() if said == NOT_PERMITTED} == {
        *refused, clone, tgkill,
    }  # fmt: skip
    assert judged[435] == NO_SUCH_CALL
    # Threads, and signals to them, are allowed; processes and signals to others are not.
    assert verdict(machine, clone, 0x3D0F00) == ALLOWED
    assert verdict(machine, clone, 0x01200011) == NOT_PERMITTED
    assert verdict(machine, tgkill, 4321) == ALLOWED
    assert verdict(machine, tgkill, 1) == NOT_PERMITTED
    # A program of another machine, or of the same one under other numbers, calls nothing.
    assert verdict(machine, 0, arch=0x40000003) == NOT_PERMITTED
    if machine == "x86_64":
        assert verdict(machine, 0x40000000) == NOT_PERMITTED


@linux
def test_a_filter_that_is_not_set_is_not_claimed(monkeypatch) -> None:
    asked: list[int] = []

    class Kernel:
        def prctl(self, what: int, *_: object) -> int:
            asked.append(what)
            return -1

    monkeypatch.setattr(calls.ctypes, "CDLL", lambda *_, **__: Kernel())
    monkeypatch.setattr(calls.platform, "machine", lambda: "x86_64")
    assert calls.refuse_calls() == []
    assert asked == [38, 22]
    monkeypatch.setattr(calls.platform, "machine", lambda: "riscv64")
    assert calls.refuse_calls() == []
    assert asked == [38, 22]


@linux
@pytest.mark.skipif(calls.platform.machine() not in calls.MACHINES, reason="another machine")
def test_the_kernel_itself_refuses(tmp_path) -> None:
    """In a process that ends with it: what the C library is told, and what still goes."""
    source = """
import ctypes, json, os, socket, threading
from informed.teaching.grading.calls import refuse_calls
words = refuse_calls()
libc = ctypes.CDLL(None, use_errno=True)
pid = libc.fork()
if pid == 0:
    os._exit(0)
found = {"fork": pid, "system": libc.system(b"true"), "socket": libc.socket(1, 1, 0)}
found["kill"] = libc.kill(os.getppid(), 0)
ran = []
thread = threading.Thread(target=lambda: ran.append(1))
thread.start()
thread.join()
socket.socketpair()
print(json.dumps([words, found, ran]))
"""
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    words, found, ran = json.loads(done.stdout)
    assert ran == [1]
    if not words:
        pytest.skip("the kernel sets no filter here")
    assert found.pop("system") != 0
    assert set(found.values()) == {-1}


@linux
def test_a_notebook_starts_no_process_and_reaches_no_socket_by_the_c_library(tmp_path) -> None:
    with tempfile.TemporaryDirectory() as place, socket.socket(socket.AF_UNIX) as door:
        path = Path(place) / "door"
        door.bind(str(path))
        door.listen()
        door.setblocking(False)
        burrow = f"""
import ctypes, os, struct
libc = ctypes.CDLL(None)
pids = []
for _ in range(3):
    pids.append(libc.fork())
    if pids[-1] == 0:
        libc._exit(0)
handle = libc.socket(1, 1, 0)
address = struct.pack("=H", 1) + {str(path).encode()!r} + bytes(1)
reached = libc.connect(handle, address, len(address))
seen = [name for name in os.listdir("/proc") if name.isdigit()]
raise ValueError(f"told {{pids}} {{reached}}, seen {{seen}}")
check("ex-duplicate", 1)
"""
        cells = [burrow, 'check("ex-triangle", [2, 2, 2])']
        file = tmp_path / "notebook.ipynb"
        file.write_text(
            json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]})
        )
        runner.prepare()
        marked = runner.mark(file, seed=3, limits=Limits(seconds=120))
        assert marked.marks["ex-triangle"].right
        if any("no sight of other processes" in wall for wall in marked.walls):
            assert "seen ['1']" in marked.marks["ex-duplicate"].words
        if not any("seccomp" in wall for wall in marked.walls):
            pytest.skip("the kernel sets no filter here")
        assert "told [-1, -1, -1] -1" in marked.marks["ex-duplicate"].words
        with pytest.raises(BlockingIOError):
            door.accept()
