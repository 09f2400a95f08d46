"""The same fit on a real cluster of two worker processes: same bits, and it outlives a worker."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import joblib
import numpy as np
import pytest
from by_hand import clustered_data
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal

from informed import LocalInformedMahalanobis
from informed.gap import neighborhood_gap
from informed.metrics import local as local_module
from informed.running import iterate_tasks, run_tasks

X, _ = clustered_data(0, n_samples=120, sizes=(60, 50, 40, 50), spread=1.0)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def make():
    return LocalInformedMahalanobis(15, 3, 4, random_state=0)


def pid_after(seconds):
    time.sleep(seconds)
    return os.getpid()


def sum_after(array, seconds, value):
    time.sleep(seconds)
    return float(array.sum()) + value


def test_a_cluster_gives_the_bits_of_one_process(client):
    here = make().fit(X)
    with joblib.parallel_config("dask"):
        there = make().fit(X)
        distances = there.pairwise_distances(X[:7] + 0.1)
    assert_array_equal(there.components_, here.components_)
    assert_array_equal(there.labels_, here.labels_)
    assert_array_equal(distances, here.pairwise_distances(X[:7] + 0.1))


def test_the_work_is_done_by_both_workers(client):
    with joblib.parallel_config("dask"):
        pids = run_tasks(pid_after, [(0.05,)] * 16)
    assert os.getpid() not in pids
    assert len(set(pids)) == 2


def test_the_gap_statistic_too(client):
    options = {"n_neighborhoods": 4, "n_references": 2, "n_init": 1, "random_state": 0}
    here = neighborhood_gap(X, [6, 12], 4, **options)
    with joblib.parallel_config("dask"):
        there = neighborhood_gap(X, [6, 12], 4, **options)
    assert_array_equal(there.gaps, here.gaps)


def test_shared_data_travel_once_to_each_worker(client, monkeypatch):
    sent = []
    scatter = Client.scatter

    def recording(self, data, *args, **options):
        sent.append((data, options.get("broadcast", False)))
        return scatter(self, data, *args, **options)

    monkeypatch.setattr(Client, "scatter", recording)
    with joblib.parallel_config("dask"):
        local = make().fit(X)
    # One call for all of the fit, and none for a task.
    [(data, broadcast)] = sent
    assert broadcast
    assert [id(array) for array in data] == [
        id(array) for array in (local._X, local.neighbors_, local._starts)
    ]


def test_a_killed_worker_is_survived(client):
    doomed = min(client.run(os.getpid).values())
    killer = threading.Timer(0.5, os.kill, (doomed, signal.SIGKILL))
    killer.start()
    with joblib.parallel_config("dask"):
        found = run_tasks(sum_after, [(0.1, i) for i in range(20)], shared=(np.ones(1000),))
    killer.join()
    assert found == [1000.0 + i for i in range(20)]
    client.wait_for_workers(2, timeout=60)
    assert doomed not in client.run(os.getpid).values()


@pytest.mark.parametrize("which", [min, max])
def test_a_worker_killed_in_the_middle_of_a_fit_is_survived(client, monkeypatch, which):
    here = make().fit(X)
    client.wait_for_workers(2, timeout=60)
    doomed = which(client.run(os.getpid).values())

    def killing(*args, **options):
        for i, result in enumerate(iterate_tasks(*args, **options)):
            if i == 0:
                os.kill(doomed, signal.SIGKILL)
            yield result

    monkeypatch.setattr(local_module, "iterate_tasks", killing)
    with joblib.parallel_config("dask"):
        there = make().fit(X)
    assert_array_equal(there.components_, here.components_)
    assert_array_equal(there.labels_, here.labels_)
