"""The local fit on Dask clusters of one and of two worker processes.

Prints the clock's ratio, and how much of the processor time is the client's and how much the
workers': the part that is the client's cannot be shared out, whatever else the machine does.
"""

from __future__ import annotations

import json
import sys
import time

import joblib
from distributed import Client, LocalCluster

from informed import LocalInformedMahalanobis
from informed.datasets import make_curved_manifold


def seconds(n_workers: int, n_samples: int) -> tuple[float, float, float]:
    """Clock time of a fit, CPU time of client and workers, after a fit that starts the imports."""
    X = make_curved_manifold(n_samples, 50, noise=0.1, random_state=0).X
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        LocalInformedMahalanobis(20, 2, 3, random_state=0).fit(X[:200])
        start, busy = time.perf_counter(), time.process_time()
        before = sum(client.run(time.process_time).values())
        LocalInformedMahalanobis(20, 2, 3, random_state=0).fit(X)
        clock, client_busy = time.perf_counter() - start, time.process_time() - busy
        return clock, client_busy, sum(client.run(time.process_time).values()) - before


if __name__ == "__main__":
    n_samples = int(sys.argv[1])
    (one, client, workers), (two, *_) = seconds(1, n_samples), seconds(2, n_samples)
    print(json.dumps({"ratio": one / two, "client": client, "workers": workers, "one": one}))
