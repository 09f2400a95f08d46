"""Speed side by side with the alternatives: ratios from one run, never promises of seconds.

Every line alternates the two sides in one process and compares medians of CPU time. Run by
``make bench``; ``python benchmarks/run.py --quick`` takes fewer repeats.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from informed.clusters import indicator
from informed.datasets import make_risk_cohort, make_two_types
from informed.diffusion import DiffusionMap
from informed.directions import exact_directions, find_exact, subspace_error
from informed.experiments import neighborhood_sweep
from informed.groups import bipartition
from informed.metrics import InformedMahalanobis, LocalInformedMahalanobis
from informed.survival import log_rank_p_value


def median_times(*functions: Callable[[], Any], repeats: int) -> list[float]:
    """Median CPU seconds of each function, runs taken in turn."""
    seconds = np.empty((repeats, len(functions)))
    for i in range(repeats):
        for j, function in enumerate(functions):
            start = time.process_time()
            function()
            seconds[i, j] = time.process_time() - start
    return [float(value) for value in np.median(seconds, axis=0)]


def paper_directions(X: np.ndarray, labels: np.ndarray, d: int, n_steps: int) -> np.ndarray:
    """Find directions the paper's way: p × p covariance, p × p projector, constant-length steps."""
    covariance = np.cov(X, rowvar=False)
    H = indicator(labels)
    projector = H @ H.T
    U = np.linalg.eigh(covariance)[1][:, ::-1][:, :d]
    eye = np.eye(len(U))
    for step in range(n_steps):
        outside = eye - U @ U.T
        G = outside @ covariance @ U + covariance @ outside @ U
        # At PCA's own directions the gradient is rounding noise: the first step only averages.
        U = projector @ (U + (0.1 * G / np.linalg.norm(G, 2) if step else 0))
    return U / np.linalg.norm(U, axis=0)


def paper_local_distances(X: np.ndarray, n_neighbors: int, d: int, k: int) -> np.ndarray:
    """Compute d_ILM as a plain loop: p × p matrices, a double loop over pairs.

    The directions are the closed form, so that the loop is not slowed down by an iteration that
    nobody needs.
    """
    centered = X - X.mean(axis=0)
    neighbors = (
        NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors(X, return_distance=False)
    )
    inverses = []
    for near in neighbors:
        rows = centered[near]
        labels = KMeans(k, n_init=10, random_state=0).fit_predict(rows.T)
        found = find_exact(rows - rows.mean(axis=0), labels.astype(np.intp), d)
        U = found.directions
        inverses.append(U @ np.diag(1 / found.pca_variances) @ U.T)
    squared = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for j in range(i):
            c = X[i] - X[j]
            squared[i, j] = squared[j, i] = 0.5 * c @ (inverses[i] + inverses[j]) @ c
    return np.sqrt(squared)


def line(what: str, ratio: float, reading: str) -> None:
    print(f"{what:<78} {ratio:>10.2f}  {reading}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    repeats = 3 if parser.parse_args().quick else 7
    print(f"{os.cpu_count()} cores; every computation on one thread; medians of {repeats} runs\n")
    rng = np.random.default_rng(0)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)

        X = rng.normal(size=(1000, 200))
        metric = InformedMahalanobis(6, random_state=0).fit(X)
        Z = metric.transform(X)
        VI = metric.get_mahalanobis_matrix()
        ours, floor, scipy_time = median_times(
            lambda: metric.pairwise_distances(X),
            lambda: euclidean_distances(Z),
            lambda: cdist(X, X, "mahalanobis", VI=VI),
            repeats=repeats,
        )
        line(
            "pairwise_distances, 1000 × 200, over euclidean_distances on 6 coordinates",
            ours / floor,
            "of the floor",
        )
        line(
            "cdist(mahalanobis, VI) over pairwise_distances, 1000 × 200",
            scipy_time / ours,
            "times faster",
        )

        for n, p in ((100, 1000), (200, 4000)):
            X = rng.normal(size=(n, 6)) @ rng.normal(size=(6, p)) + rng.normal(size=(n, p))
            ours, svd, kmeans = median_times(
                lambda X=X: InformedMahalanobis(6, random_state=0).fit(X),
                lambda X=X: linalg.svd(X - X.mean(axis=0), full_matrices=False),
                lambda X=X: KMeans(7, n_init=10, random_state=0).fit((X - X.mean(axis=0)).T),
                repeats=repeats,
            )
            line(
                f"global fit, {n} × {p}, over thin SVD + KMeans",
                ours / (svd + kmeans),
                "of the floor",
            )

        toy = make_two_types(100, shuffle=False, random_state=0)
        steps = 20
        ours, theirs = median_times(
            lambda: exact_directions(toy.X, toy.feature_labels, 18),
            lambda: paper_directions(toy.X, toy.feature_labels, 18, steps),
            repeats=3,
        )
        line(
            f"{steps} gradient steps with p × p matrices over the closed form, toy",
            theirs / ours,
            "times faster",
        )
        left = subspace_error(
            paper_directions(toy.X, toy.feature_labels, 18, 200),
            exact_directions(toy.X, toy.feature_labels, 18).directions,
        )
        print(f"    and 200 such steps still leave a projector distance of {left:.2g}")

        cohort = make_risk_cohort(random_state=0)
        for p, n_neighbors in ((200, 20), (200, 40)):
            X = cohort.X[:, :p]

            def plain(X: np.ndarray = X, n_neighbors: int = n_neighbors) -> None:
                distances = paper_local_distances(X, n_neighbors, 6, 7)
                groups = bipartition(
                    DiffusionMap(2, scale=2, metric="precomputed").fit_transform(distances)
                )
                log_rank_p_value(cohort.durations, cohort.events, groups)

            def quick(X: np.ndarray = X, n_neighbors: int = n_neighbors) -> None:
                local = LocalInformedMahalanobis(n_neighbors, 6, 7, random_state=0).fit(X)
                distances = local.pairwise_distances()
                groups = bipartition(
                    DiffusionMap(2, scale=2, metric="precomputed").fit_transform(distances)
                )
                log_rank_p_value(cohort.durations, cohort.events, groups)

            slow, fast = median_times(plain, quick, repeats=3)
            line(
                f"one p-value, 82 × {p}, N = {n_neighbors}: plain loop over the library",
                slow / fast,
                "times faster",
            )

        start = time.perf_counter()
        paper_local_distances(cohort.X, 20, 6, 7)
        plain_seconds = time.perf_counter() - start
    start = time.perf_counter()
    neighborhood_sweep(cohort, n_jobs=2)
    sweep_seconds = time.perf_counter() - start
    line(
        "220 × one plain loop over the whole sweep on 2 workers, gap curve included",
        plain_seconds * 220 / sweep_seconds,
        "times faster",
    )


if __name__ == "__main__":
    main()
