"""Processes in which errors are planted: what they may cost, how they begin and end."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from mutants_choice import ROOT, WORK, environment

MEMORY = 6 * 2**30
# Seconds of computing that one mutant, and one test, may cost; and seconds by the clock, in which
# other programs may use the machine.
BUDGET = 30.0
TOO_SLOW = 8.0
PATIENCE = 600.0


def prepare(first: Path) -> None:
    """Make this process, and what it starts, find the package of a folder first."""
    os.environ.clear()
    os.environ.update(environment(first) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    os.chdir(ROOT)
    sys.path[:] = [str(first), *(p for p in sys.path if p not in ("", str(ROOT)))]


def enter_child(log: Path) -> None:
    """Begin a child: a session of its own, a log, and an end to its time and memory."""
    os.setsid()
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.dont_write_bytecode = True
    seconds = round(BUDGET + 2 * TOO_SLOW)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def wait(process: int) -> int | None:
    """Return how a child ended, or None if it had to be ended; nothing that it started stays."""
    end = time.monotonic() + PATIENCE
    code = None
    while time.monotonic() < end:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            break
        time.sleep(0.01)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    if code is None:
        os.waitpid(process, 0)
    return code


def computed_by_children() -> float:
    """Return how long all children that have ended computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def folder_of(worker: int) -> Path:
    """Return where a worker has its copy and its log."""
    folder = WORK / f"worker{worker}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
