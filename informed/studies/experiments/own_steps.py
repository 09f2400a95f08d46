"""From the table of expression to two groups of patients, every step of it open to a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state

from informed.clusters.features import cluster_columns_from, cluster_rows, cluster_rows_from
from informed.clusters.kmeans import spread_partitions
from informed.datasets import Cohort, variance_order
from informed.diffusion import DiffusionMap
from informed.directions import averaged_directions, exact_directions, pca_directions
from informed.groups import bipartition
from informed.metrics.local_graph import half_distances
from informed.studies.experiments.paper_gradient import paper_gradient
from informed.survival import drop_late_deaths, truncate_follow_up
from informed.validation import Array

OWN_METHODS = ("euclidean", "local pca", "averaged", "gradient", "exact")
UNCHANGED = "as the paper has it"
N_COMPONENTS, N_CLUSTERS, HORIZON = 6, 7, 60.0
_N_STARTS = 10
_EMBEDDING = 5  # coordinates, where a split looks at more than the first


class Steps(NamedTuple):
    """Every step from the table to the p-value; the defaults are those of the paper."""

    values: str = "log"
    ranked: str = "here"
    ranks: tuple[int, int] = (2, 201)
    rows: str = "over all"
    starts: str = "shared"
    covariances: str = "centred"
    variances: str = "pca"
    scale: float = 2.0
    split: str = "sign"
    late: str = "drop"
    n_neighbors: int = 20


PAPER_SETTINGS: dict[str, Any] = {
    "n_genes": Steps().ranks[1] - Steps().ranks[0] + 1,
    "skip": Steps().ranks[0] - 1,
    "n_neighbors": Steps().n_neighbors,
    "n_components": N_COMPONENTS,
    "n_clusters": N_CLUSTERS,
    "variances": Steps().variances,
    "scale": Steps().scale,
    "horizon": HORIZON,
    "late_deaths": Steps().late,
}
"""The same settings in the words of ``risk_groups``."""

VARIATIONS: dict[str, dict[str, Any]] = {
    UNCHANGED: {},
    "values on a linear scale": {"values": "linear"},
    "each gene scaled to variance 1": {"values": "unit variance"},
    "genes 1-200: the top one kept": {"ranks": (1, 200)},
    "genes 2-101": {"ranks": (2, 101)},
    "genes 2-401": {"ranks": (2, 401)},
    "genes ranked on a linear scale": {"ranked": "linear"},
    "genes ranked over all hospitals": {"ranked": "table"},
    "rows centred in the neighbourhood": {"rows": "in the neighbourhood"},
    "rows not centred": {"rows": "as they are"},
    "rows standardised": {"rows": "standardised"},
    "covariances not centred": {"covariances": "as printed"},
    "k-means: one start each": {"starts": "one"},
    "k-means: ten starts each": {"starts": "ten"},
    "variances along the new directions": {"variances": "own"},
    "kernel half as wide": {"scale": 1.0},
    "kernel twice as wide": {"scale": 4.0},
    "split at the median": {"split": "median"},
    "split by two-means": {"split": "two-means"},
    "split by the embedding's component": {"split": "component"},
    "late deaths censored": {"late": "censor"},
    "all follow-up": {"late": "keep"},
    "N = 34 as in the program": {"n_neighbors": 34},
}


def follow_up(cohort: Cohort, late: str) -> tuple[Array, Array, Array]:
    """Return months, deaths and who is kept, by what becomes of late deaths."""
    everybody = np.ones(len(cohort.X), dtype=bool)
    if late == "drop":
        return drop_late_deaths(cohort.months, cohort.events, HORIZON)
    if late == "censor":
        return *truncate_follow_up(cohort.months, cohort.events, HORIZON), everybody
    return cohort.months, cohort.events, everybody


def find_groups(X: Array, several: Sequence[Steps], seed: int) -> list[NDArray[np.intp]]:
    """Return the groups of the subjects, one row per method, for chains that share distances."""
    distances = _distances(X, several[0], seed)
    return [np.array([_split(each, steps) for each in distances]) for steps in several]


def _distances(X: Array, steps: Steps, seed: int) -> list[Array]:
    """Return the distances between the subjects under every method."""
    genes = _genes(X, steps)
    plain = squareform(pdist(genes))
    # Itself first, then the nearest others.
    neighbors = np.argsort(plain - 2 * np.eye(len(plain)), axis=1, kind="stable")
    near = genes[neighbors[:, : steps.n_neighbors]]
    labels = _labels(genes, near, steps, seed)
    samples = near if steps.covariances == "as printed" else near - near.mean(axis=1, keepdims=True)
    centered = genes - genes.mean(axis=0)
    distances = [plain]
    for method in OWN_METHODS[1:]:
        halves = half_distances(centered, _factors(samples, labels, method, steps), centered)
        np.fill_diagonal(halves, 0.0)
        distances.append(np.sqrt(halves + halves.T))
    return distances


def _genes(X: Array, steps: Steps) -> Array:
    values = 2.0**X if steps.values == "linear" else X
    if steps.ranked == "table":  # The table has its genes by falling variance over all hospitals.
        order = np.arange(X.shape[1])
    else:
        order = variance_order(2.0**X if steps.ranked == "linear" else values)
    first, last = steps.ranks
    chosen = values[:, order[first - 1 : last]]
    return chosen / chosen.std(axis=0) if steps.values == "unit variance" else chosen


def _labels(genes: Array, near: Array, steps: Steps, seed: int) -> NDArray[np.intp]:
    """Gene clusters of every neighbourhood: one row per subject."""
    if steps.rows == "over all":
        near = near - genes.mean(axis=0)
    elif steps.rows != "as they are":
        near = near - near.mean(axis=1, keepdims=True)
        if steps.rows == "standardised":
            near = near / near.std(axis=1, keepdims=True)
    # Drawn as LocalInformedMahalanobis draws, so that nothing changed means nothing changed.
    random = check_random_state(check_random_state(seed).randint(2**31 - 1))
    if steps.starts != "shared":
        n_init = 1 if steps.starts == "one" else _N_STARTS
        return np.array([cluster_rows(own.T, N_CLUSTERS, n_init, random) for own in near])
    landmarks = random.choice(len(near), min(_N_STARTS, len(near)), replace=False)
    starts = []
    for own in near[landmarks]:
        scattered = spread_partitions(own.T, N_CLUSTERS, _N_STARTS, random)
        starts.append(cluster_rows_from(own.T, scattered, N_CLUSTERS))
    return cluster_columns_from(near, np.array(starts), N_CLUSTERS)


def _factors(samples: Array, labels: NDArray[np.intp], method: str, steps: Steps) -> Array:
    """Factor of every local model, of shape (n_samples, d, n_genes)."""
    if method == "gradient":
        directions, pca_variances = paper_gradient(samples, labels, N_COMPONENTS)
        variances = (
            np.sum((samples @ directions) ** 2, axis=1) / (samples.shape[1] - 1)
            if steps.variances == "own"
            else pca_variances
        )
        return np.swapaxes(directions / np.sqrt(variances)[:, None, :], 1, 2)
    factors = []
    for own, own_labels in zip(samples, labels, strict=True):
        if method == "local pca":
            found = pca_directions(own, N_COMPONENTS, check_input=False)
        elif method == "averaged":
            found = averaged_directions(own, own_labels, N_COMPONENTS, check_input=False)
        else:
            found = exact_directions(own, own_labels, N_COMPONENTS, check_input=False)
        variances = found.variances if steps.variances == "own" else found.pca_variances
        lengths = np.linalg.norm(found.directions, axis=0)
        factors.append((found.directions / (lengths * np.sqrt(variances))).T)
    return np.array(factors)


def _split(distances: Array, steps: Steps) -> NDArray[np.intp]:
    mapped = DiffusionMap(_EMBEDDING, scale=steps.scale, metric="precomputed")
    embedding = mapped.fit_transform(distances)
    if steps.split == "median":
        return bipartition(embedding[:, 0] - np.median(embedding[:, 0]))
    if steps.split == "two-means":
        model = KMeans(2, n_init=_N_STARTS, random_state=0).fit(embedding[:, :2])
        return np.asarray(model.labels_, dtype=np.intp)
    if steps.split == "component":
        centered = embedding - embedding.mean(axis=0)
        return bipartition(np.linalg.svd(centered, full_matrices=False)[0][:, :1])
    return bipartition(embedding)
