"""The global fit with thousands of features: beside SVD and k-means, and beside its own floor."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

import numpy as np
from measure import medians
from report import Report
from scipy import linalg
from sklearn.cluster import KMeans

from informed import InformedMahalanobis
from informed.clusters import large as large_kmeans
from informed.directions import exact_directions


def many_features(report: Report, n: int, p: int) -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(n, p))
    clustered = 0.7 * rng.normal(size=(n, 7))[:, rng.integers(7, size=p)] + noise
    for name, X in (("features in clusters", clustered), ("noise, where k-means is slow", noise)):
        ours, svd, kmeans = medians(
            lambda X=X: InformedMahalanobis(5, random_state=0).fit(X),
            lambda X=X: linalg.svd(X - X.mean(axis=0), full_matrices=False),
            lambda X=X: KMeans(6, n_init=10, random_state=0).fit((X - X.mean(axis=0)).T),
            repeats=min(report.repeats, 3),
        )
        report.add(
            "many features",
            f"thin SVD + KMeans over global fit, {n} × {p}, {name}",
            (svd + kmeans) / ours,
        )
        again, floor = medians(
            lambda X=X: InformedMahalanobis(5, random_state=0).fit(X),
            products_of_a_fit(X),
            repeats=min(report.repeats, 3),
        )
        report.add(
            "many features",
            f"global fit over its products alone, {n} × {p}, {name}",
            again / floor,
            note="the floor: features with the centres that were compared with them in each round "
            "and for the starts, and samples with samples",
        )
    labels = InformedMahalanobis(5, random_state=0).fit(clustered).labels_
    exact, gram, svd = medians(
        lambda: exact_directions(clustered, labels, 5),
        lambda: clustered @ clustered.T,
        lambda: linalg.svdvals(clustered),
        repeats=report.repeats,
    )
    report.add(
        "many features",
        f"exact directions over the product of samples with samples, {n} × {p}",
        exact / gram,
        note=f"the singular values from the data themselves take {svd / gram:.0f} such products",
    )
    ours, one = medians(
        lambda: InformedMahalanobis(5, directions="penalized", random_state=0).fit(clustered),
        lambda: InformedMahalanobis(5, random_state=0).fit(clustered),
        repeats=min(report.repeats, 3),
    )
    report.add(
        "many features",
        f"penalised fit, weight chosen in 5 folds, over exact fit, {n} × {p}",
        ours / one,
        note="it clusters the features six times, once for each fold and once for all",
    )


def products_of_a_fit(X: np.ndarray) -> Callable[[], None]:
    """Return what does the products of a global fit, and nothing else of it.

    K-means compares features with centres, and draws its starts by comparing them with other
    features; the variances take the product of the samples with each other.
    """
    sizes: list[tuple[int, int]] = []
    assign, distances = large_kmeans._assign, large_kmeans._squared_distances

    def watched_assign(rows: np.ndarray, several: list[np.ndarray]) -> object:
        sizes.append((len(rows), sum(each.shape[1] for each in several)))
        return assign(rows, several)

    def watched_distances(rows: np.ndarray, squares: np.ndarray, chosen: np.ndarray) -> object:
        sizes.append((len(rows), len(chosen)))
        return distances(rows, squares, chosen)

    with (
        patch.object(large_kmeans, "_assign", watched_assign),
        patch.object(large_kmeans, "_squared_distances", watched_distances),
    ):
        InformedMahalanobis(5, random_state=0).fit(X)
    rows = np.ascontiguousarray(X.T)

    def floor() -> None:
        X @ X.T
        for n_points, n_centers in sizes:
            part = max(1, large_kmeans.BLOCK // max(n_centers, 1))
            for start in range(0, n_points, part):
                X.T[:n_centers] @ rows[start : min(start + part, n_points)].T

    assert sizes, "k-means of so few points goes another way"
    return floor
