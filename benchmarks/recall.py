"""Recall of the search by random trees: how many of the true neighbours it finds.

``python benchmarks/recall.py 4000 16000`` prints one line for each number of samples, structure and
setting. It takes a minute or two; the table is in the notes of ``informed.metrics.RandomTrees``.
"""

from __future__ import annotations

import sys

import numpy as np

from informed.metrics import RandomTrees
from informed.metrics.neighbors import neighbors_by_trees

N_NEIGHBORS, N_FEATURES, N_ASKED = 15, 50, 300
SETTINGS = (RandomTrees(), RandomTrees(n_trees=32), RandomTrees(leaf_size=2048))


def samples(n_samples, structure, rng):
    X = rng.normal(size=(n_samples, N_FEATURES))
    if structure == "clusters":
        X += 3 * rng.normal(size=(20, N_FEATURES))[rng.integers(20, size=n_samples)]
    return X


def recall(X, trees, rng):
    asked = rng.choice(len(X), N_ASKED, replace=False)
    squared = (X**2).sum(axis=1) - 2 * X[asked] @ X.T
    squared[np.arange(N_ASKED), asked] = -np.inf
    exact = np.argpartition(squared, N_NEIGHBORS - 1, axis=1)[:, :N_NEIGHBORS]
    found = neighbors_by_trees(X, N_NEIGHBORS, np.random.RandomState(0), trees)[asked]
    shared = sum(len(set(a) & set(b)) for a, b in zip(found, exact, strict=True))
    return shared / exact.size


if __name__ == "__main__":
    for n_samples in map(int, sys.argv[1:] or ["4000"]):
        for structure in ("clusters", "none"):
            for trees in SETTINGS:
                X = samples(n_samples, structure, np.random.default_rng(0))
                share = recall(X, trees, np.random.default_rng(1))
                print(f"{n_samples:7d}  {structure:8s}  {trees}  {share:.2f}", flush=True)
