"""Limits of what an answer may take: time, and memory where thrift is what an exercise is about.

An answer runs in a thread of its own while the caller waits, on every system and in every thread
that may call, the main one of a notebook as well as others. A thread that takes too long is stopped
from outside: Python delivers an exception to it at its next instruction. What hangs inside a
library written in C cannot be stopped so; it is left behind, and the check goes on without it. The
grading of a class puts a process around all this, which can always be ended.
"""

from __future__ import annotations

import contextvars
import ctypes
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

__all__ = ["PATIENCE", "SECONDS", "TimeIsUp", "quiet", "with_peak", "within"]

SECONDS = 20.0
"""Time that one check may take. Published solutions need hundredths of a second."""

PATIENCE = 6
"""How many times as long a check may wait, for an answer that works elsewhere or not at all."""

Result = TypeVar("Result")


class TimeIsUp(BaseException):
    """An answer did not come to an end; not an `Exception`, so that few answers catch it."""


@contextmanager
def quiet() -> Iterator[None]:
    """Keep back warnings about a student's numbers: what comes of them (a NaN, say) is reported."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def within(seconds: float, task: Callable[[], Result]) -> Result:
    """Return what a task returns, or raise `TimeIsUp` after some seconds of work.

    The task must raise nothing. An interruption of the caller ends the task, too.
    """
    outcome: list[Result] = []
    context = contextvars.copy_context()
    thread = threading.Thread(
        target=lambda: outcome.append(context.run(task)), name="answer", daemon=True
    )
    try:
        thread.start()
    except RuntimeError:  # a system without threads, as in a browser
        return task()
    try:
        spent, begun = time.process_time(), time.monotonic()
        while thread.is_alive():
            thread.join(0.05)
            # Work is counted, not waiting: on a busy machine a right answer may take its time.
            waited = time.monotonic() - begun
            if time.process_time() - spent > seconds or waited > PATIENCE * seconds:
                raise TimeIsUp
    except BaseException:
        _stop(thread)
        raise
    return outcome[0]


def _stop(thread: threading.Thread) -> None:
    # More than once, for a loop that catches all exceptions.
    for _ in range(20):
        if not thread.is_alive():
            return
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident or 0), ctypes.py_object(TimeIsUp)
        )
        thread.join(0.05)


def with_peak(function: Callable[..., Any], *arguments: Any) -> tuple[Any, int]:
    """Call a function; return its result and the bytes that it held at once, at most.

    A function that stands for one in another process measures there: it has a method `with_peak`.
    """
    if remote := getattr(function, "with_peak", None):
        result, peak = remote(*arguments)
        return result, int(peak)
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        result = function(*arguments)
        return result, tracemalloc.get_traced_memory()[1] - before
    finally:
        if not tracing:
            tracemalloc.stop()
