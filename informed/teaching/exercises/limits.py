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
import sys
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
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
    ended: SimpleQueue[None] = SimpleQueue()
    leave: SimpleQueue[None] = SimpleQueue()
    context = contextvars.copy_context()

    def answer() -> None:
        begun = False
        while True:
            # What is sent to stop the answer may arrive at any instruction, once more after the
            # answer has ended. All of it must end here: in the last lines of a thread, which
            # belong to Python, it would leave a lock taken that every other thread needs.
            try:
                if not begun:
                    begun = True
                    outcome.append(context.run(task))
                ended.put(None)
                leave.get()
                return
            except TimeIsUp:
                pass

    thread = threading.Thread(target=answer, name="answer", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # a system without threads, as in a browser
        return task()
    try:
        spent, begun = time.process_time(), time.monotonic()
        while thread.is_alive():
            try:
                ended.get(timeout=0.05)
                break
            except Empty:
                pass
            # Work is counted, not waiting: on a busy machine a right answer may take its time.
            waited = time.monotonic() - begun
            if time.process_time() - spent > seconds or waited > PATIENCE * seconds:
                raise TimeIsUp
    except BaseException:
        _stop(thread, ended, leave)
        raise
    leave.put(None)
    thread.join()
    return outcome[0]


def _stop(
    thread: threading.Thread, ended: SimpleQueue[None], leave: SimpleQueue[None], tries: int = 20
) -> None:
    # While an exception waits for a thread that does not run, a traced or profiled thread of Python
    # 3.11 never gets past the start of a function (it checks for work there, and is not the one to
    # do it). So from the first sending to the last, nothing is called here but C, which has no such
    # start, and a profiler that is a function, and so would be called, is put aside.
    send = ctypes.pythonapi.PyThreadState_SetAsyncExc
    other, me = ctypes.c_ulong(thread.ident or 0), ctypes.c_ulong(threading.get_ident())
    error, nothing = ctypes.py_object(TimeIsUp), None
    profiler = sys.getprofile()
    watched = sys.gettrace() is not None or profiler is not None
    has_ended = False
    if callable(profiler):
        sys.setprofile(None)
    try:
        for _ in range(tries):  # more than once, for a loop that catches all exceptions
            send(other, error)
            try:
                ended.get(timeout=0.05)
                has_ended = True
                break
            except Empty:
                pass
        if watched and not has_ended:
            send(other, nothing)
            send(me, error)  # who takes it tells Python that none is waiting any more
    except TimeIsUp:
        pass
    if callable(profiler):
        sys.setprofile(profiler)
    # Twice: one that was sent last may arrive when the thread has leave to end.
    leave.put(None)
    leave.put(None)
    if has_ended:
        thread.join()


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
