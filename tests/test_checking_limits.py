"""The limits of a self-check: endless loops, calls that hang, threads, warnings, memory."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import tracemalloc
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from small_checks import means, numbers, own_checks, right

from informed.exercises import check
from informed.teaching.exercises import limits
from informed.teaching.exercises.checking import (
    Thrift,
    function_check,
)
from informed.teaching.exercises.engine import judge


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_checks(monkeypatch):
        yield


def endless(X, factor):
    while True:
        X = X + 1


def stubborn(X, factor):
    k = 0
    while k < 5:
        try:
            while True:
                pass
        except BaseException:
            k += 1
    while True:
        pass


class NoEnd:
    def __iter__(self) -> Iterator[int]:
        while True:
            pass
        yield 0


@pytest.mark.parametrize("answer", [endless, stubborn])
def test_an_endless_loop_is_stopped_and_told(answer: Any) -> None:
    means()
    verdict = judge("ex-means", answer, seconds=0.2)
    assert verdict.status == "Wrong"
    assert "on an input with `X` of shape (5, 3), `factor` = 2 your function had" in verdict.message
    assert "not come to an end after 0.2 seconds" in verdict.message
    assert not [thread for thread in threading.enumerate() if thread.name == "answer"]


def test_an_answer_that_cannot_be_read_to_its_end() -> None:
    numbers()
    verdict = judge("ex-numbers", NoEnd(), seconds=0.2)
    assert "your answer had not come to an end" in verdict.message
    assert "you give 10000 numbers" in check("ex-numbers", itertools.count()).message


def test_a_call_that_cannot_be_stopped_is_left_behind() -> None:
    means()
    release = threading.Event()
    verdict = judge("ex-means", lambda X, factor: release.wait() and X.mean(axis=0), seconds=0.1)
    assert "not come to an end" in verdict.message
    release.set()


WATCHED = """
import cProfile
import sys
import threading
from informed.teaching.exercises import limits
release = threading.Event()
{watch}
try:
    limits.within(0.1, release.wait)
except limits.TimeIsUp:
    print("left behind")
release.set()
"""


@pytest.mark.parametrize(
    "watch",
    [
        "cProfile.Profile().enable()",
        "sys.setprofile(lambda frame, event, argument: None)",
        "sys.settrace(lambda frame, event, argument: None)",
    ],
)
def test_a_profiler_does_not_keep_a_check_from_leaving_such_a_call_behind(watch: str) -> None:
    """In a process of its own: as it was, nothing in Python could end the wait."""
    done = subprocess.run(
        [sys.executable, "-c", WATCHED.format(watch=watch)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.stdout.strip() == "left behind", done.stderr


def test_checks_work_in_other_threads() -> None:
    means()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(check, "ex-means", right).result()
        assert not pool.submit(judge, "ex-means", endless, seconds=0.1).result()


def test_the_one_who_waits_may_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    means()

    def interrupted() -> float:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(limits.time, "process_time", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check("ex-means", endless)
    assert not [thread for thread in threading.enumerate() if thread.name == "answer"]


def test_without_threads_a_check_has_no_limit_but_works(monkeypatch: pytest.MonkeyPatch) -> None:
    means()

    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert check("ex-means", right)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError])
def test_nothing_that_an_answer_raises_escapes(error: type[BaseException]) -> None:
    means()
    numbers()

    def raises(X, factor):
        raise error

    class Hostile:
        def __float__(self) -> float:
            raise error

        def __repr__(self) -> str:
            raise ValueError

    assert f"stopped with {error.__name__}" in check("ex-means", raises).message
    assert not check("ex-numbers", [Hostile(), 1, 2, 3])
    assert not check("ex-means", lambda X, factor: [Hostile()] * 3)


def test_the_callers_warnings_stay_as_they_were() -> None:
    means()
    release = threading.Event()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        judge("ex-means", lambda X, factor: release.wait(), seconds=0.05)
        assert list(warnings.filters) == before
    release.set()


def thrifty() -> None:
    """Register an exercise: the squared length of each row, without all pairs of rows."""
    function_check(
        "ex-thrift",
        inputs=lambda rng: (rng.normal(size=(5, 3)),),
        thrift=[
            Thrift(
                lambda rng: (rng.normal(size=(1000, 3)),),
                lambda X: len(X) ** 2 // 2,
                "do not form a matrix of all pairs.",
            )
        ],
    )(lambda X: np.array([row @ row for row in X]))


def test_waste_of_memory_is_told() -> None:
    thrifty()
    verdict = check("ex-thrift", lambda X: np.diag(X @ X.T).copy())
    assert verdict.status == "Wrong"
    assert "7.6 megabytes at once, where 0.5 are plenty: do not form" in verdict.message
    assert "`X` of shape (1000, 3)" in verdict.message
    assert check("ex-thrift", lambda X: np.sum(X**2, axis=1))
    assert (
        "0 of 5 values" in check("ex-thrift", lambda X: np.diag(X @ X.T) + np.arange(1, 6)).message
    )


def test_memory_is_measured_while_somebody_else_measures() -> None:
    thrifty()
    tracemalloc.start()
    try:
        waste = np.ones(10**6)
        assert check("ex-thrift", lambda X: np.sum(X**2, axis=1))
        assert not check("ex-thrift", lambda X: np.diag(X @ X.T).copy())
        assert tracemalloc.is_tracing()
        assert waste.size
    finally:
        tracemalloc.stop()


def test_a_function_elsewhere_measures_its_own_memory() -> None:
    class Elsewhere:
        peak = 100

        def __call__(self, X):
            return np.sum(X**2, axis=1)

        def with_peak(self, X):
            return self(X), self.peak

    thrifty()
    remote = Elsewhere()
    assert check("ex-thrift", remote)
    remote.peak = 10**9
    assert "953.7 megabytes" in check("ex-thrift", remote).message
