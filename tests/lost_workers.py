"""Workers that are lost, and those who wait for something."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def wait_for(path):
    while not Path(path).exists():
        time.sleep(0.005)


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def die_once(folder, value):
    """Kill the worker while it works, the first time that any task is asked."""
    try:
        Path(folder, "died").touch(exist_ok=False)
    except FileExistsError:
        return value
    kill(os.getpid())
