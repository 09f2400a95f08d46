"""Tasks on processes of this machine: same bits, nothing waits for ever, nothing is left behind.

Faults are real: workers are killed, grow too large, raise. What must meet an event waits for a
file, so that no test depends on how quick the machine is.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import psutil
import pytest
from by_hand import clustered_data
from conftest import ROOT
from joblib import parallel_config
from joblib.externals.loky import process_executor, reusable_executor
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_info, threadpool_limits
from worker_tasks import (
    Unreadable,
    die,
    die_once,
    fail,
    fail_after,
    gather,
    grow,
    kill,
    overwrite,
    own_pid,
    scaled,
    touch_and_wait,
    touch_at_exit,
)

from informed import LocalInformedMahalanobis
from informed.metrics import local_metric as local_module
from informed.parallel import (
    TRIES,
    WorkersLostError,
    _load,
    _store,
    iterate_tasks,
    one_thread,
    run_tasks,
)

posix = pytest.mark.skipif(os.name != "posix", reason="kills processes by POSIX signals")


def workers():
    """Worker processes of this process."""
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if any("popen_loky" in word for word in child.cmdline()):
                found.append(child.pid)
        except psutil.Error:  # it has just ended
            continue
    return found


def workers_that_stay():
    """Worker processes that do not end, though nobody needs them; a busy machine takes its time."""
    _, alive = psutil.wait_procs(list(map(psutil.Process, workers())), timeout=120)
    return alive


# ---------------------------------------------------------------------------- what is the same


def test_large_arrays_travel_both_ways_in_order():
    data = np.arange(500_000.0)
    found = run_tasks(scaled, [(i,) for i in range(6)], shared=(data,), n_jobs=2)
    for i, (array, pid) in enumerate(found):
        assert_array_equal(array, data * i)
        assert pid != os.getpid()
        array += 1  # the caller's own


@pytest.mark.parametrize("size", [10, 1_000_000])
def test_what_a_task_writes_into_shared_data_is_seen_by_no_other(size):
    data = np.ones(size)
    assert run_tasks(overwrite, [(i,) for i in range(4)], shared=(data,), n_jobs=2) == [size] * 4
    assert_array_equal(data, 1)


def test_functions_of_a_notebook_and_threads_work_too():
    factor = 3
    for backend in ("loky", "threading", "sequential"):
        with parallel_config(backend, n_jobs=2):
            assert run_tasks(lambda x: x * factor, [(i,) for i in range(4)]) == [0, 3, 6, 9]


@pytest.mark.parametrize(
    "value",
    [
        None,
        {"a": [1, 2.5, "three"]},
        np.arange(20_000.0).reshape(100, 200),
        np.asfortranarray(np.arange(20_000).reshape(100, 200)),
        np.arange(20_000)[::3],
        np.array(["x" * 500] * 10, dtype=object),
        np.zeros((0, 5)),
        [np.arange(3000, dtype=np.int8), "y" * 5000, np.ones(1)],
    ],
    ids=str,
)
def test_what_is_stored_comes_back(value, tmp_path):
    stored = _store(value, str(tmp_path))
    again, once_more = _load(stored), _load(stored, keep=False)
    for found in (again, once_more):
        for ours, theirs in zip(
            value if isinstance(value, list) else [value],
            found if isinstance(found, list) else [found],
            strict=True,
        ):
            assert type(ours) is type(theirs)
            if isinstance(ours, np.ndarray):
                assert_array_equal(theirs, ours, strict=True)
            else:
                assert theirs == ours
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", [0, 10, 1_000, 2_000, 3_000, 100_000])
def test_a_message_is_so_short_that_a_pipe_takes_it_whole(size, tmp_path):
    for value in (bytes(size), np.zeros(size, np.int8), ValueError("x" * size)):
        assert len(pickle.dumps([_store(value, str(tmp_path))])) < 4096 - 1024


def test_nothing_is_left_in_the_folder_of_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    run_tasks(scaled, [(1,), (2,)], shared=(np.ones(10_000),), n_jobs=2)
    assert [path for path in tmp_path.iterdir() if path.name.startswith("informed-")] == []


# -------------------------------------------------------------------------------- lost workers


@posix
def test_a_worker_that_dies_at_work_is_replaced(tmp_path):
    found = run_tasks(die_once, [(tmp_path, i) for i in range(12)], n_jobs=2)
    assert found == list(range(12))
    assert (tmp_path / "died").exists()


X, _ = clustered_data(0, n_samples=120, sizes=(60, 50, 40, 50), spread=1.0)


def make(n_jobs):
    return LocalInformedMahalanobis(15, 3, 4, random_state=0, n_jobs=n_jobs)


@posix
@pytest.mark.parametrize(("when", "which"), [(1, min), (4, max), (15, min)])
def test_a_worker_killed_in_the_middle_of_a_fit_changes_no_bit(monkeypatch, when, which):
    expected = make(1).fit(X)

    def killing(*args, **options):
        for i, result in enumerate(iterate_tasks(*args, **options), start=1):
            if i == when:
                kill(which(workers()))
            yield result

    monkeypatch.setattr(local_module, "iterate_tasks", killing)
    found = make(2).fit(X)
    assert_array_equal(found.components_, expected.components_)
    assert_array_equal(found.labels_, expected.labels_)


@posix
def test_a_worker_killed_between_two_runs_is_replaced():
    run_tasks(abs, [(-1,), (-2,)], n_jobs=2)
    for pid in workers():
        kill(pid)
    assert run_tasks(abs, [(-1,), (-2,)], n_jobs=2) == [1, 2]


@posix
def test_a_task_that_kills_its_worker_each_time_ends_with_one_clear_error(tmp_path):
    results = iterate_tasks(die, [(tmp_path, i) for i in range(6)], n_jobs=2)
    with pytest.raises(WorkersLostError, match=r"died 3 times in a row.*memory.*n_jobs=1"):
        list(results)
    assert len(list(tmp_path.iterdir())) >= TRIES
    assert workers() == []


def kill_one_as_they_leave(which):
    """Have one of two idle workers killed as soon as they are told to leave.

    The first one that waits for work holds the lock of the queue. Stopped, both miss the word to
    leave; then one is killed, and the other may go on: it waits for the lock, or has it.
    """
    executor = reusable_executor._executor
    lock = executor._call_queue._rlock
    while lock.acquire(block=False):
        lock.release()
    pids = sorted(executor._processes)
    assert len(pids) == 2
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    manager = executor._executor_manager_thread
    say_leave = manager.shutdown_workers

    def say_leave_and_kill_one():
        say_leave()
        if pids:
            kill(pids.pop(which))
            os.kill(pids.pop(), signal.SIGCONT)

    manager.shutdown_workers = say_leave_and_kill_one


@posix
@pytest.mark.parametrize("which", [0, 1])
def test_a_worker_killed_while_the_pool_is_taken_down_keeps_nobody_waiting(which):
    run_tasks(abs, [(-1,), (-2,)], n_jobs=2)
    kill_one_as_they_leave(which)
    reusable_executor._executor.shutdown(wait=True)
    assert workers() == []


@posix
@pytest.mark.parametrize("which", [0, 1])
def test_a_worker_killed_at_the_end_of_the_program_does_not_keep_it_from_ending(which):
    script = f"""
        import sys
        sys.path[:0] = [{str(ROOT / "tests")!r}, {str(ROOT)!r}]
        from test_parallel import kill_one_as_they_leave, run_tasks
        assert run_tasks(abs, [(-1,), (-2,)], n_jobs=2) == [1, 2]
        kill_one_as_they_leave({which})
    """
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@posix
def test_workers_that_leave_by_themselves_are_not_killed(tmp_path):
    found = run_tasks(touch_at_exit, [(tmp_path, i) for i in range(6)], n_jobs=2)
    reusable_executor._executor.shutdown(wait=True)
    assert {int(path.name) for path in tmp_path.iterdir()} == set(found)


def test_another_number_of_workers_is_another_pool():
    # To change the number loky waits until all are alive, also for one that was killed meanwhile.
    tasks = [(i,) for i in range(9)]
    two = set(run_tasks(own_pid, tasks, n_jobs=2))
    assert set(run_tasks(own_pid, tasks, n_jobs=2)) <= {*two, *workers()}
    three = set(run_tasks(own_pid, tasks, n_jobs=3))
    assert not two & three
    assert len(workers()) == 3


def test_a_worker_that_stops_early_stops_no_run_where_warnings_are_errors():
    # Before, the warning of joblib's own thread killed this thread, and the run waited for ever.
    found = run_tasks(grow, [(i,) for i in range(8)], n_jobs=2)
    assert [value for value, _ in found] == list(range(8))
    assert len({pid for _, pid in found}) > 2


def test_the_manager_thread_does_not_die_of_a_warning_whatever_the_filters():
    run_tasks(abs, [(-1,), (-2,)], n_jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        process_executor.warnings.warn("A worker stopped", UserWarning)
    with pytest.warns(UserWarning, match="A worker stopped"):
        process_executor.warnings.warn("A worker stopped", UserWarning)


# ---------------------------------------------------------------------- failures, interruptions


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_first_failing_task_in_order_is_the_one_that_is_raised(n_jobs):
    results = iterate_tasks(fail, [(i,) for i in range(6)], n_jobs=n_jobs)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(KeyError, match="two") as caught:
        next(results)
    if n_jobs == 2:
        assert "in fail" in str(caught.value.__cause__)
    assert list(results) == []


def test_a_failing_run_leaves_no_process_behind():
    with pytest.raises(KeyError):
        run_tasks(fail, [(2,)] * 8, n_jobs=2)
    assert workers_that_stay() == []


def test_a_run_that_fails_after_all_tasks_are_done_leaves_no_process_behind():
    results = iterate_tasks(fail, [(0,), (0,), (2,)], n_jobs=2)
    next(results)
    time.sleep(1.1)  # the other two come to an end, whether or not anybody asks for them
    next(results)
    with pytest.raises(KeyError):
        next(results)
    assert workers() == []


def test_an_error_that_cannot_travel_is_told_in_words():
    with pytest.raises(RuntimeError, match="OddError: 1 and 2"):
        run_tasks(fail, [(3,), (4,)], n_jobs=2)


def test_what_cannot_travel_is_named():
    lock = threading.Lock()
    with pytest.raises(pickle.PicklingError, match="lock"):
        run_tasks(abs, [(lock,), (lock,)], n_jobs=2)


def test_what_a_worker_cannot_read_is_named():
    with pytest.raises(pickle.UnpicklingError, match="no such module there"):
        run_tasks(abs, [(Unreadable(),), (1,)], n_jobs=2)


def test_a_run_that_is_left_leaves_no_process_behind(tmp_path):
    results = iterate_tasks(touch_and_wait, [(tmp_path, i) for i in range(6)], n_jobs=2)
    next(results)
    results.close()
    assert workers() == []


@posix
@pytest.mark.parametrize("options", [[], ["-W", "error"]], ids=["", "-W error"])
def test_an_interrupted_run_leaves_no_process_behind(tmp_path, options):
    script = f"""
        import signal, sys
        # The children of a shell in the background ignore interruptions; this one must not.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.path[:0] = [{str(ROOT / "tests")!r}, {str(ROOT)!r}]
        from worker_tasks import touch_and_wait
        from informed.parallel import run_tasks
        run_tasks(touch_and_wait, [({str(tmp_path)!r}, i) for i in (1, 2, 3, 4)], n_jobs=2)
    """
    process = subprocess.Popen(
        [sys.executable, *options, "-c", textwrap.dedent(script)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(pids := [int(path.name.split("-")[1]) for path in tmp_path.iterdir()]) < 2:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, words = process.communicate()
    assert process.returncode != 0
    assert "KeyboardInterrupt" in words
    while any(psutil.pid_exists(pid) for pid in pids):
        time.sleep(0.02)


def test_a_run_is_not_harmed_by_another_one_that_fails_beside_it(tmp_path):
    def failing():
        with pytest.raises(KeyError):
            run_tasks(fail_after, [(tmp_path / "started", 2)] * 2, n_jobs=2)
        (tmp_path / "failed").touch()

    thread = threading.Thread(target=failing)
    results = iterate_tasks(
        gather, [(tmp_path, "started", []), (tmp_path, "b", ["failed"])], n_jobs=2
    )
    found = [next(results)]
    thread.start()
    found += results
    thread.join()
    assert found == ["started", "b"]


# ------------------------------------------------------------------------------------- threads


def blas_threads():
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def test_overlapping_blocks_of_two_threads_keep_one_thread_and_then_give_the_others_back():
    first_in, second_in, first_out = (threading.Event() for _ in range(3))
    seen = {}

    def first():
        with one_thread():
            first_in.set()
            second_in.wait()
        first_out.set()

    def second():
        first_in.wait()
        with one_thread():
            second_in.set()
            first_out.wait()
            seen["inside"] = blas_threads()

    with threadpool_limits(2, user_api="blas"):
        assert blas_threads() == {2}
        threads = [threading.Thread(target=work) for work in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seen["after"] = blas_threads()
    assert seen == {"inside": {1}, "after": {2}}


def test_one_thread_is_given_back_after_an_error():
    def failing():
        with one_thread():
            raise KeyError

    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(KeyError):
            failing()
        assert blas_threads() == {2}
