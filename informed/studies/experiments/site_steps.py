"""The steps of a split that travels from one hospital to another, and drawing subjects again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from informed.datasets import DirectorsChallenge, variance_order
from informed.diffusion import DiffusionMap
from informed.metrics import LocalInformedMahalanobis
from informed.studies.experiments.risk import RISK_METHODS
from informed.survival import hazard_ratio
from informed.survival.restricted import mean_up_to
from informed.validation import Array

PREPARATIONS = ("centred", "as measured")


def prepare(X: Array, rows: dict[str, NDArray[np.intp]], preparation: str) -> Array:
    """Subtract the mean of every gene at each hospital, or leave the expression as measured."""
    if preparation == "as measured":
        return X
    prepared = X.copy()
    for own in rows.values():
        prepared[own] -= prepared[own].mean(axis=0)
    return prepared


def explained_by_site(X: Array, rows: dict[str, NDArray[np.intp]]) -> float:
    """Mean over genes of the share of variance between hospitals."""
    total = np.sum((X - X.mean(axis=0)) ** 2, axis=0)
    within = sum(np.sum((X[own] - X[own].mean(axis=0)) ** 2, axis=0) for own in rows.values())
    return float(np.mean(1 - within / total))


def nearest_alike(X: Array, sites: NDArray[np.str_]) -> float:
    """Share of subjects whose nearest other subject is of the same hospital."""
    distances = cdist(X, X)
    np.fill_diagonal(distances, np.inf)
    return float(np.mean(sites[distances.argmin(axis=1)] == sites))


def carry_over(
    prepared: list[Array],
    rows: dict[str, NDArray[np.intp]],
    genes: tuple[int, int],
    local: tuple[int, int, int, float],
    preparation: int,
    site: str,
    method: str,
    seed: int,
) -> NDArray[np.intp]:
    """Learn a split at a hospital and return the side of every subject of the study."""
    X = prepared[preparation]
    n_genes, skip = genes
    n_neighbors, n_components, n_clusters, scale = local
    X = X[:, variance_order(X[rows[site]])[skip : skip + n_genes]]
    training = X[rows[site]]
    if method == "euclidean":
        embedding = DiffusionMap(1, scale=scale).fit(training)
        return (embedding.transform(X)[:, 0] > 0).astype(np.intp)
    metric = LocalInformedMahalanobis(
        n_neighbors,
        n_components,
        n_clusters,
        directions="pca" if method == "local pca" else "exact",
        random_state=seed,
    ).fit(training)
    embedding = DiffusionMap(1, scale=scale, metric="precomputed").fit(metric.pairwise_distances())
    coordinates = embedding.transform(metric.pairwise_distances(Y=X).T)
    coordinates[rows[site]] = embedding.embedding_
    return (coordinates[:, 0] > 0).astype(np.intp)


def worse_first(
    durations: Array, events: Array, labels: NDArray[np.intp], home: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Call 1 the group that fares worse at the training hospital."""
    ratio = hazard_ratio(durations[home], events[home], labels[home]).ratio
    return labels if ratio >= 1 else 1 - labels


def age_and_stage(cohort: DirectorsChallenge, test: NDArray[np.intp]) -> dict[str, Array]:
    """Return the covariates of some subjects; a stage that none of them has is none."""
    columns = {
        "decades": cohort.age[test] / 10,
        "stage II": (cohort.tnm_stage[test] == "II").astype(float),
        "stage III": (cohort.tnm_stage[test] == "III").astype(float),
    }
    return {name: column for name, column in columns.items() if np.ptp(column) > 0}


def draw_again(
    durations: Array,
    events: Array,
    groups: dict[tuple[int, str, str, int], NDArray[np.intp]],
    rows: dict[str, NDArray[np.intp]],
    sites: tuple[str, ...],
    pairs: list[tuple[int, int]],
    seed: int,
    n_draws: int,
    horizon: float,
) -> Array:
    """Mean log ratio and mean months lost over the pairs, every hospital's subjects drawn anew.

    A subject enters all pairs that are tested at its hospital, and all metrics: so one draw of
    subjects serves them all, and what they share is not counted as independent. Where the last
    subject of a group leaves observation before the horizon, its curve is carried on level.
    """
    random = check_random_state(seed)
    means = np.empty((2, len(PREPARATIONS), n_draws, len(RISK_METHODS)))
    for draw in range(n_draws):
        drawn = {site: random.choice(own, len(own)) for site, own in rows.items()}
        for i in range(len(PREPARATIONS)):
            for j, method in enumerate(RISK_METHODS):
                tested = [
                    (
                        durations[drawn[sites[b]]],
                        events[drawn[sites[b]]],
                        groups[i, sites[a], method, seed][drawn[sites[b]]],
                    )
                    for a, b in pairs
                ]
                means[0, i, draw, j] = np.mean([log_ratio(*one) for one in tested])
                means[1, i, draw, j] = np.mean([months_lost(*one, horizon) for one in tested])
    return means


def months_lost(
    durations: Array, events: NDArray[np.bool_], groups: NDArray[np.intp], horizon: float
) -> float:
    """How much less group 1 lives than group 0, of the time up to the horizon."""
    better, worse = (
        mean_up_to(durations[groups == g], events[groups == g], horizon).mean for g in (0, 1)
    )
    return better - worse


def log_ratio(durations: Array, events: Array, groups: NDArray[np.intp]) -> float:
    """Log hazard ratio of group 1 over group 0, with Efron's rule for ties.

    That of :func:`informed.survival.hazard_ratio`, without its checks and interval: for many
    samples. A group without deaths, which has no finite ratio, is held at a ratio of e⁵.

    Examples
    --------
    >>> round(log_ratio(np.array([1.0, 2, 3, 4]), np.ones(4), np.array([1, 0, 1, 0])), 4)
    0.9406
    """
    times = np.unique(durations[events == 1])
    at_risk = durations >= times[:, None]
    dying = (durations == times[:, None]) & (events == 1)
    member = groups == 1
    deaths = dying.sum(axis=1)
    # One entry a death: those that tie leave the risk set bit by bit.
    entry = np.repeat(np.arange(len(times)), deaths)
    gone = (np.arange(len(entry)) - np.repeat(np.cumsum(deaths) - deaths, deaths)) / deaths[entry]
    ones = at_risk[:, member].sum(axis=1)[entry] - gone * dying[:, member].sum(axis=1)[entry]
    zeros = at_risk[:, ~member].sum(axis=1)[entry] - gone * dying[:, ~member].sum(axis=1)[entry]
    observed = int(np.sum(member & (events == 1)))
    beta = 0.0
    for _ in range(50):
        share = ones / (ones + zeros * np.exp(-beta))
        information = float(np.sum(share * (1 - share)))
        if information == 0:
            break
        step = (observed - float(np.sum(share))) / information
        beta = min(5.0, max(-5.0, beta + min(1.0, max(-1.0, step))))
        if abs(step) < 1e-10:
            break
    return beta
