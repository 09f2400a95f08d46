"""What the workers of the tests of parallel work do, and are lost by.

Each worker that is started reads this file, and there are many: it imports nothing heavy.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np


def wait_for(path):
    while not Path(path).exists():
        time.sleep(0.005)


def own_pid(_):
    return os.getpid()


def scaled(array, factor):
    return array * factor, os.getpid()


def overwrite(array, value):
    before = float(array.sum())
    array[:] = value
    return before


class Counted:
    """Shared data that write down where they are unpacked."""

    def __init__(self, folder):
        self.folder = folder
        self.numbers = np.arange(1000.0)

    def __setstate__(self, state):
        self.__dict__.update(state)
        Path(self.folder, f"{os.getpid()}-{time.monotonic_ns()}").touch()


def total(counted, value):
    return float(counted.numbers.sum()) + value


def total_of(array, value):
    return float(array.sum()) + value


# ------------------------------------------------------------------------------- ends


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def die_once(folder, value):
    """Kill the worker while it works, the first time that any task is asked."""
    try:
        Path(folder, "died").touch(exist_ok=False)
    except FileExistsError:
        return value
    kill(os.getpid())


def die(folder, value):
    if value == 3:
        Path(folder, str(os.getpid())).touch()
        kill(os.getpid())
    return value


class Deadly:
    """Shared data that kill the first worker that unpacks them."""

    def __init__(self, folder):
        self.folder = folder
        self.numbers = np.arange(1000.0)

    def __setstate__(self, state):
        self.__dict__.update(state)
        die_once(self.folder, None)


def touch_at_exit(folder, value):
    atexit.register(Path(folder, str(os.getpid())).touch)
    return os.getpid()


held: list[np.ndarray] = []


def grow(value):
    """Make the worker so large that joblib replaces it, which it looks at once a second."""
    if value > 1:  # joblib compares with the size after the first task
        held.append(np.zeros(45_000_000))
        held[-1][::512] = 1.0  # a number a page, or it would only be promised
        time.sleep(1.1)
    return value, os.getpid()


# --------------------------------------------------------------------------- failures, waits


class OddError(Exception):
    """Cannot be unpickled: its constructor wants more than it keeps."""

    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")
        self.handle = threading.Lock()


def fail(value):
    if value == 2:
        raise KeyError("two")
    if value == 4:
        raise OddError(1, 2)
    return value


class Unreadable:
    def __setstate__(self, state):
        raise ImportError("no such module there")

    def __init__(self):
        self.a = 1


def fail_after(path, value):
    wait_for(path)
    return fail(value)


def touch_and_wait(folder, name):
    Path(folder, f"{name}-{os.getpid()}").touch()
    if name:
        wait_for(Path(folder, "never"))


def gather(folder, name, others):
    Path(folder, name).touch()
    for other in others:
        wait_for(Path(folder, other))
    return name


def meet(folder, name, others):
    """Return the worker's id when all have come, which takes as many workers as there are names."""
    Path(folder, name).touch()
    for other in others:
        wait_for(Path(folder, other))
    return os.getpid()


def meet_with_data(array, folder, name, others):
    assert array.sum() == 499500.0
    return meet(folder, name, others)


def total_after(array, path, value):
    if path is not None:
        wait_for(path)
    return total_of(array, value)
