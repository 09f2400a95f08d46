"""Peak memory of a fit and a transform on sparse samples: ``python benchmarks/sparse.py``.

20,000 samples of 30,000 features, 5 % of them not zero, would be 4.8 GB when dense. The peak is the
kernel's own mark for this process (Linux). The features fall into six groups that rise and fall
together; with ``--n-init 10``, the default of the estimator, memory is the same and time grows.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from informed import InformedMahalanobis


def samples(n_samples, n_features, density, seed=0):
    rng = np.random.default_rng(seed)
    per_row = int(density * n_features)
    levels = np.exp(0.7 * rng.normal(size=(n_samples, 6)))
    group = rng.integers(6, size=n_features)
    indices = np.empty((n_samples, per_row), dtype=np.int32)
    data = np.empty((n_samples, per_row))
    for i in range(n_samples):
        indices[i] = np.sort(rng.integers(n_features, size=per_row))
        data[i] = levels[i, group[indices[i]]] * rng.exponential(size=per_row)
    starts = np.arange(0, indices.size + 1, per_row)
    X = sparse.csr_array((data.ravel(), indices.ravel(), starts), shape=(n_samples, n_features))
    X.sum_duplicates()
    return X


def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", type=int, nargs=2, default=(20_000, 30_000))
    parser.add_argument("--density", type=float, default=0.05)
    parser.add_argument("--n-init", type=int, default=1)
    options = parser.parse_args()
    X = samples(*options.shape, options.density)
    held = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e9
    dense = X.shape[0] * X.shape[1] * 8 / 1e9
    print(f"{X.shape}, {X.nnz:,} numbers: {held:.2f} GB, {dense:.2f} GB if dense", flush=True)
    print(f"peak after making them: {peak():.2f} GB", flush=True)
    start = time.process_time()
    metric = InformedMahalanobis(5, n_init=options.n_init, random_state=0).fit(X)
    print(f"fit: {time.process_time() - start:.0f} s of processor time, peak {peak():.2f} GB")
    coordinates = metric.transform(X)
    metric.score(X)
    print(f"transform {coordinates.shape} and score: peak {peak():.2f} GB")


if __name__ == "__main__":
    main()
