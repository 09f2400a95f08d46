"""The same fit on a real cluster of worker processes: same bits, and it outlives its workers.

Nothing here waits for a time to pass: a task that must meet an event waits for a file.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import joblib
import numpy as np
import pytest
from by_hand import clustered_data
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal
from worker_tasks import (
    Counted,
    Deadly,
    die,
    die_once,
    kill,
    meet,
    meet_with_data,
    total,
    total_after,
    total_of,
    wait_for,
)

from informed import LocalInformedMahalanobis
from informed.gap import neighborhood_gap
from informed.metrics import local_metric as local_module
from informed.parallel import WorkersLostError, iterate_tasks, run_tasks

X, _ = clustered_data(0, n_samples=120, sizes=(60, 50, 40, 50), spread=1.0)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def workers(client):
    """Process ids of the two workers."""
    return sorted(client.run(os.getpid).values())


@pytest.fixture
def doomed() -> Iterator[tuple[Client, list[int]]]:
    """A cluster of its own for a test that kills workers, and their process ids.

    Not all that are killed come back: a nanny may miss it. No test here may need that one does.
    """
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(2)
        yield client, sorted(client.run(os.getpid).values())


def make():
    return LocalInformedMahalanobis(15, 3, 4, random_state=0)


def test_a_cluster_gives_the_bits_of_one_process(client):
    here = make().fit(X)
    with joblib.parallel_config("dask"):
        there = make().fit(X)
        distances = there.pairwise_distances(X[:7] + 0.1)
    assert_array_equal(there.components_, here.components_)
    assert_array_equal(there.labels_, here.labels_)
    assert_array_equal(distances, here.pairwise_distances(X[:7] + 0.1))


def test_the_work_is_done_by_both_workers(client, workers, tmp_path):
    with joblib.parallel_config("dask"):
        pids = run_tasks(meet, [(tmp_path, "a", ["b"]), (tmp_path, "b", ["a"])])
    assert sorted(pids) == workers


def test_the_gap_statistic_too(client):
    options = {"n_neighborhoods": 4, "n_references": 2, "n_init": 1, "random_state": 0}
    here = neighborhood_gap(X, [6, 12], 4, **options)
    with joblib.parallel_config("dask"):
        there = neighborhood_gap(X, [6, 12], 4, **options)
    assert_array_equal(there.gaps, here.gaps)


def test_shared_data_travel_once_to_each_worker(client, workers, tmp_path):
    with joblib.parallel_config("dask"):
        found = run_tasks(total, [(i,) for i in range(30)], shared=(Counted(tmp_path),))
    assert found == [499500.0 + i for i in range(30)]
    unpacked = [int(path.name.split("-")[0]) for path in tmp_path.iterdir()]
    assert set(unpacked) <= set(workers)
    assert len(unpacked) == len(set(unpacked))


# ------------------------------------------------------------------------------- lost workers


def test_a_worker_that_dies_at_work_is_survived(doomed, tmp_path):
    client, _ = doomed
    with joblib.parallel_config("dask", client=client):
        found = run_tasks(die_once, [(tmp_path, i) for i in range(8)])
    assert found == list(range(8))
    assert (tmp_path / "died").exists()


@pytest.mark.parametrize("which", [0, 1])
def test_a_worker_killed_in_the_middle_of_a_fit_is_survived(doomed, monkeypatch, which):
    client, workers = doomed
    here = make().fit(X)

    def killing(*args, **options):
        for i, result in enumerate(iterate_tasks(*args, **options)):
            if i == 0:
                kill(workers[which])
            yield result

    monkeypatch.setattr(local_module, "iterate_tasks", killing)
    with joblib.parallel_config("dask", client=client):
        there = make().fit(X)
    assert_array_equal(there.components_, here.components_)
    assert_array_equal(there.labels_, here.labels_)


def test_a_worker_killed_before_the_data_arrive_is_survived(doomed):
    client, workers = doomed
    here = make().fit(X)
    kill(workers[0])
    with joblib.parallel_config("dask", client=client):
        there = make().fit(X)
    assert_array_equal(there.components_, here.components_)


def test_a_worker_killed_while_the_data_arrive_is_survived(doomed, tmp_path):
    client, _ = doomed
    with joblib.parallel_config("dask", client=client):
        found = run_tasks(total, [(i,) for i in range(6)], shared=(Deadly(tmp_path),))
    assert found == [499500.0 + i for i in range(6)]
    assert (tmp_path / "died").exists()


def test_all_workers_lost_at_once_are_replaced_by_others(doomed):
    client, workers = doomed
    with joblib.parallel_config("dask", client=client, wait_for_workers_timeout=300):
        results = iterate_tasks(total_of, [(i,) for i in range(6)], shared=(np.ones(9),))
        found = [next(results)]
        for pid in workers:
            kill(pid)
        client.cluster.scale(4)
        found += results
    assert found == [9.0 + i for i in range(6)]


def test_a_task_that_kills_every_worker_ends_with_one_clear_error(doomed, tmp_path):
    client, _ = doomed
    # Either the scheduler has seen enough, or no worker is left: both are told the same way.
    with (
        joblib.parallel_config("dask", client=client),
        pytest.raises(WorkersLostError, match=r"(killed every|no) worker .* memory"),
    ):
        run_tasks(die, [(tmp_path, 3)])


def fail(value):
    if value == 2:
        raise TimeoutError("my own")
    return value


def test_an_error_of_a_task_is_raised_as_it_is(client, workers):
    with joblib.parallel_config("dask"), pytest.raises(TimeoutError, match="my own"):
        run_tasks(fail, [(i,) for i in range(5)])


def test_a_run_that_is_left_takes_its_tasks_back(client, workers, tmp_path):
    # One task holds one worker, since the scheduler may begin with any of them.
    tasks = [(None, 0), (tmp_path / "go", 1), *[(None, i) for i in range(50)]]
    with joblib.parallel_config("dask"):
        results = iterate_tasks(total_after, tasks, shared=(X,))
        next(results)
        results.close()
        (tmp_path / "go").touch()
        assert run_tasks(abs, [(-1,)]) == [1]
    # The client says that it no longer wants them when its own thread comes to it.
    while client.futures:
        time.sleep(0.01)


# --------------------------------------------------- clusters that are not there, or not yet


@pytest.fixture
def empty_cluster() -> Iterator[LocalCluster]:
    """A scheduler without workers."""
    with LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=":0") as cluster:
        yield cluster


def test_workers_that_come_late_get_the_data_when_they_need_them(empty_cluster, tmp_path):
    def later():
        empty_cluster.scale(1)
        wait_for(tmp_path / "a")  # the first worker has the data and a task
        empty_cluster.scale(2)

    thread = threading.Thread(target=later)
    thread.start()
    # Long without a worker: as on a cluster whose machines are being started.
    with (
        Client(empty_cluster) as client,
        joblib.parallel_config("dask", client=client, wait_for_workers_timeout=200),
    ):
        pids = run_tasks(
            meet_with_data,
            [(tmp_path, "a", ["b"]), (tmp_path, "b", ["a"])],
            shared=(np.arange(1000.0),),
        )
    thread.join()
    assert len(set(pids)) == 2


def test_no_worker_at_all_is_an_error(empty_cluster):
    with (
        Client(empty_cluster) as client,
        joblib.parallel_config("dask", client=client, wait_for_workers_timeout=0.5),
        pytest.raises(WorkersLostError, match=r"no worker for 0\.5 seconds.*n_jobs"),
    ):
        run_tasks(abs, [(-1,)])


def test_a_scheduler_that_goes_away_is_an_error(tmp_path):
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    client = Client(cluster, timeout=5)
    try:
        with joblib.parallel_config("dask", client=client):
            results = iterate_tasks(
                total_after, [(None, 0), (tmp_path / "never", 1)], shared=(np.ones(9),)
            )
            assert next(results) == 9.0
            cluster.close()
            with pytest.raises(WorkersLostError, match=r"gone|no worker"):
                next(results)
    finally:
        client.close()
        cluster.close()
