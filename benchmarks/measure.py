"""How the benchmark measures: functions in turn, medians, and memory in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
# Set before NumPy is loaded in a child; in this process threadpoolctl does the same.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def medians(*functions: Callable[[], Any], repeats: int) -> list[float]:
    """Median CPU time of each function, after a run that is not counted, runs taken in turn.

    CPU time and not the clock's, because other programs on the machine then count for less.
    """
    seconds = np.empty((repeats + 1, len(functions)))
    for i in range(repeats + 1):
        for j, function in enumerate(functions):
            start = time.process_time()
            function()
            seconds[i, j] = time.process_time() - start
    return [float(value) for value in np.median(seconds[1:], axis=0)]


def once(function: Callable[[], Any]) -> tuple[float, Any]:
    """CPU time of a single run, and what it returned."""
    start = time.process_time()
    value = function()
    return time.process_time() - start, value


def in_own_process(
    script: str, *arguments: object, python: str = sys.executable, timeout: float = 600
) -> Any:
    """Run a script of this folder in a fresh process and return the JSON of its last line."""
    done = subprocess.run(
        [python, str(ROOT / "benchmarks" / script), *map(str, arguments)],
        env=os.environ | ONE_THREAD | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{script} {arguments} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])
