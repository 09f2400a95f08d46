"""One large computation in a process of its own: prints its CPU time and its peak memory.

``python benchmarks/large.py local 100000 50`` or ``… whole 500 20000`` or ``… nothing 0 0``.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from informed import DiffusionMap, InformedMahalanobis, LocalInformedMahalanobis
from informed.datasets import make_curved_manifold

N_NEIGHBORS = 20


def local(n_samples: int, n_features: int) -> dict[str, float]:
    """Fit local models, build the graph of the ten nearest, embed it. All in single precision."""
    X = make_curved_manifold(n_samples, n_features, noise=0.1, random_state=0).X
    X = X.astype(np.float32)
    steps = [time.process_time()]
    metric = LocalInformedMahalanobis(N_NEIGHBORS, 2, 3, search="trees", random_state=0).fit(X)
    steps.append(time.process_time())
    graph = metric.kneighbors_graph(10, n_candidates=N_NEIGHBORS - 1)
    steps.append(time.process_time())
    embedding = DiffusionMap(2, metric="precomputed").fit_transform(graph)
    steps.append(time.process_time())
    assert graph.dtype == embedding.dtype == np.float32
    assert np.isfinite(embedding).all()
    fit, build, embed = np.diff(steps)
    return {"fit": fit, "graph": build, "map": embed, "n_numbers": metric.components_.size}


def whole(n_samples: int, n_features: int) -> dict[str, float]:
    """Fit one model to a wide matrix and map the samples."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 6)) @ rng.normal(size=(6, n_features))
    X += rng.normal(size=X.shape)
    start = time.process_time()
    InformedMahalanobis(6, random_state=0).fit(X).pairwise_distances(X)
    return {"fit": time.process_time() - start}


def nothing(n_samples: int, n_features: int) -> dict[str, float]:
    """Only import, to know what the interpreter and the libraries take."""
    return {}


def peak_mb() -> float:
    """Return the peak memory of this process in megabytes.

    On Linux ``ru_maxrss`` of a child starts at the size of its parent, which would hide everything
    smaller; the kernel's own high-water mark starts anew.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().split("\n") if line.startswith("VmHWM"))
        return int(line.split()[1]) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # bytes on macOS


if __name__ == "__main__":
    name, *sizes = sys.argv[1:]
    found = {"local": local, "whole": whole, "nothing": nothing}[name](*map(int, sizes))
    print(json.dumps(found | {"peak_mb": peak_mb()}))
