"""Choosing what a metric is made of by the likelihood that it gives to samples held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.model_selection import KFold

from informed.centering import center
from informed.clusters.clusterers import (
    CLUSTERINGS,
    PROFILES,
    ClusteringName,
    FeatureClusterer,
    ProfilesName,
    check_clustering,
    group_features,
    profiles_of,
    ward_labels,
)
from informed.clusters.features import check_distinct_rows
from informed.directions.registry import VARIANCES, DirectionsName, VariancesName
from informed.directions.solvers import cluster_coordinates
from informed.spiked import shrunk_variances
from informed.validation import Array, check_choice, check_count

__all__ = ["Settings", "choose_settings", "held_out_scores"]

Auto = Literal["auto"]
AUTO: Auto = "auto"
# What "auto" tries. Numbers of directions are nested in one decomposition, so all are tried.
MOST_DIRECTIONS = 30
CLUSTER_COUNTS = (2, 3, 5, 8, 13, 21, 34, 55)
# With the paper's rule K = d + 1 each number of directions takes a clustering of its own.
RULED_DIRECTIONS = (1, 2, 3, 5, 8, 13, 20)
MAY_BE_OPEN = (
    "n_components",
    "n_clusters",
    "clustering",
    "profiles",
    "directions",
    "variances",
)
N_FOLDS = 3
N_RESTARTS = 3
_DIRECTIONS: tuple[DirectionsName, ...] = ("exact", "pca")


@dataclass(frozen=True)
class Settings:
    """What a metric is made of; every part may be left to :func:`choose_settings` as "auto".

    Attributes
    ----------
    n_components, n_clusters, clustering, profiles, directions, variances, penalty, n_init
        As in :class:`informed.InformedMahalanobis`.
    """

    n_components: Any
    n_clusters: Any
    clustering: Any
    profiles: Any
    directions: Any
    variances: Any
    penalty: Any
    n_init: Any

    @property
    def open(self) -> list[str]:
        """Names of the parts that are to be chosen."""
        values = [(name, getattr(self, name)) for name in MAY_BE_OPEN]
        return [name for name, value in values if isinstance(value, str) and value == AUTO]


@dataclass(frozen=True)
class _Candidate:
    """A clustering (or none, for principal directions) and where it holds its clusters."""

    directions: DirectionsName
    clustering: ClusteringName | FeatureClusterer | None = None
    profiles: ProfilesName = "centered"
    n_clusters: int | None = None


def choose_settings(
    X: Array, wanted: Settings, labels: NDArray[np.intp] | None = None
) -> tuple[Settings, float]:
    """Fill in what is "auto" by three-fold cross-validation of the likelihood.

    Everything is found anew in each fold: clusters, directions, variances. The directions that are
    tried are exact and principal ones; where ``wanted.directions`` names another kind, the rest is
    chosen with exact ones.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Samples, at least six.
    wanted : Settings
        What is known, and "auto" for the rest.
    labels : int array of shape (n_features,) or None
        Clusters of the features, if they are known.

    Returns
    -------
    chosen : Settings
    score : float
        Mean held-out log-likelihood of a sample.
    """
    n_samples, n_features = X.shape
    if n_samples < 2 * N_FOLDS:
        raise ValueError(
            f"{', '.join(wanted.open)}='auto' needs samples to hold out: X has {n_samples}, and it "
            f"must have at least {2 * N_FOLDS}"
        )
    splits = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(X))
    most = min(min(len(fit) for fit, _ in splits) - 2, n_features - 1)
    if wanted.n_components == AUTO:
        counts = list(range(1, max(1, min(most, MOST_DIRECTIONS)) + 1))
    else:
        why = f"{n_samples} samples in {N_FOLDS} folds, n_features={n_features}"
        counts = [check_count("n_components", wanted.n_components, 1, max(most, 1), why)]
    kinds: Sequence[VariancesName] = (
        VARIANCES
        if wanted.variances == AUTO
        else [check_choice("variances", wanted.variances, VARIANCES)]
    )
    totals: dict[_Candidate, Array] = {}
    for fit, held_out in splits:
        principal = principal_variances(X[fit])
        for candidate, found in _candidates(X[fit], wanted, counts, labels):
            scores = held_out_scores(X[fit], X[held_out], found, counts[-1], kinds, principal)
            totals[candidate] = totals.get(candidate, 0.0) + _allowed(
                scores, candidate, wanted, counts
            )
    best, chosen = -np.inf, None
    for candidate, total in totals.items():
        kind, d = np.unravel_index(int(np.argmax(total)), total.shape)
        if total[kind, d] > best:
            best = float(total[kind, d])
            chosen = candidate, kinds[int(kind)], int(d) + 1
    if chosen is None:
        raise ValueError(
            f"{', '.join(wanted.open)}='auto': no choice has a likelihood on samples held out; "
            "X may have too few samples that differ"
        )
    return _filled(wanted, *chosen, labels), best / N_FOLDS


def _filled(
    wanted: Settings,
    candidate: _Candidate,
    kind: VariancesName,
    d: int,
    labels: NDArray[np.intp] | None,
) -> Settings:
    chosen: dict[str, Any] = {"n_components": d, "variances": kind}
    if wanted.directions == AUTO:
        chosen["directions"] = candidate.directions
    if labels is None and candidate.clustering is not None:
        chosen["clustering"] = candidate.clustering
        chosen["profiles"] = candidate.profiles
        chosen["n_clusters"] = candidate.n_clusters
    else:
        # Nothing is clustered: any name will do, and no number may contradict given labels.
        names = ("clustering", "kmeans"), ("profiles", "centered"), ("n_clusters", None)
        chosen |= {name: value for name, value in names if getattr(wanted, name) == AUTO}
    return replace(wanted, **chosen)


def _allowed(
    scores: Array, candidate: _Candidate, wanted: Settings, counts: Sequence[int]
) -> Array:
    """Rule out numbers of directions that were not asked for, or that the clusters cannot have."""
    allowed = np.isin(np.arange(1, scores.shape[1] + 1), counts)
    clusters = candidate.n_clusters
    if wanted.n_components == AUTO and clusters is not None:
        numbers = np.arange(1, scores.shape[1] + 1)
        # K directions in K clusters would be nothing but the clusters.
        allowed &= numbers == clusters - 1 if wanted.n_clusters is None else numbers < clusters
    return np.where(allowed, scores, -np.inf)


def _candidates(
    X: Array, wanted: Settings, counts: Sequence[int], labels: NDArray[np.intp] | None
) -> Iterator[tuple[_Candidate, NDArray[np.intp] | None]]:
    """Yield what is tried on one fold, with the clusters that it has there."""
    if wanted.directions != "pca" and labels is not None:
        yield _Candidate("exact"), labels
    elif wanted.directions != "pca":
        every = CLUSTERINGS if wanted.clustering == AUTO else [check_clustering(wanted.clustering)]
        looks = (
            PROFILES
            if wanted.profiles == AUTO
            else [check_choice("profiles", wanted.profiles, PROFILES)]
        )
        numbers = _cluster_counts(wanted, counts, X.shape[1])
        for look in looks:
            for clustering in every:
                for number, found in _groupings(X, clustering, look, numbers, wanted.n_init):
                    yield _Candidate("exact", clustering, look, number), found
    if wanted.directions in ("pca", AUTO):
        yield _Candidate("pca"), None


def _cluster_counts(
    wanted: Settings, counts: Sequence[int], n_features: int
) -> Sequence[int | None]:
    given = wanted.n_clusters
    by_object = not isinstance(wanted.clustering, str)
    if by_object and (given is None or not hasattr(wanted.clustering, "n_clusters")):
        return [None]
    if given is None:
        ruled = [d for d in counts if d in RULED_DIRECTIONS] if len(counts) > 1 else counts
        return [d + 1 for d in ruled if d < n_features] or [n_features]
    if given != AUTO:
        return [check_count("n_clusters", given, counts[0], n_features, f"n_features={n_features}")]
    return [K for K in CLUSTER_COUNTS if counts[0] < K <= n_features] or [n_features]


def _groupings(
    X: Array,
    clustering: ClusteringName | FeatureClusterer,
    profiles: ProfilesName,
    numbers: Sequence[int | None],
    n_init: object,
) -> Iterator[tuple[int | None, NDArray[np.intp]]]:
    rows = profiles_of(X, profiles)
    restarts = min(check_count("n_init", n_init, 1), N_RESTARTS)
    if clustering == "ward":
        usable = [number for number in numbers if number and _has_profiles(rows, number)]
        yield from zip(usable, ward_labels(rows, usable), strict=True)
        return
    for number in numbers:
        if number is not None and not _has_profiles(rows, number):
            continue
        found = group_features(
            X, number, clustering=clustering, profiles=profiles, n_init=restarts, random_state=0
        ).labels
        yield number, found


def _has_profiles(rows: Array, number: int) -> bool:
    try:
        check_distinct_rows(rows, number)
    except ValueError:
        return False
    return True


def principal_variances(X: Array) -> Array:
    """Return the eigenvalues of the sample covariance that need not be zero, largest first."""
    centered, _ = center(X.astype(np.float64))
    variances: Array = linalg.svdvals(centered, check_finite=False) ** 2 / (len(X) - 1)
    return variances


def held_out_scores(
    fit: Array,
    held_out: Array,
    labels: NDArray[np.intp] | None,
    most: int,
    kinds: Sequence[VariancesName],
    principal: Array | None = None,
) -> Array:
    """Log-likelihood of samples for each kind of variances and each number of directions.

    The directions for d are the first d of those for more, so that one decomposition serves all.

    Parameters
    ----------
    fit, held_out : arrays of shape (n_samples, n_features)
        Samples to learn from, and to judge by.
    labels : int array of shape (n_features,) or None
        Clusters of the features; None for principal directions.
    most : int
        Largest number of directions.
    kinds : sequence of str
        Kinds of variances.
    principal : array or None
        The principal variances of ``fit``, if they are known already.

    Returns
    -------
    scores : array of shape (n_kinds, most)
        Mean log-likelihood of a held-out sample; −∞ where there is no such direction, or nothing is
        left across.
    """
    centered, mean = center(fit.astype(np.float64))
    others = held_out.astype(np.float64) - mean
    (n_samples, p), degrees = fit.shape, len(fit) - 1
    total = float((centered**2).sum()) / degrees
    reduced = centered.T if labels is None else cluster_coordinates(centered.T, labels)
    turn, singular, _ = linalg.svd(reduced, full_matrices=False, check_finite=False)
    spectrum = singular**2 / degrees
    if labels is None:
        principal, along = spectrum, others @ turn
    else:
        if principal is None:
            principal = principal_variances(fit)
        along = cluster_coordinates(others.T, labels).T @ turn
    usable = int(np.sum(spectrum > 1e-10 * spectrum[0])) if total > 0 else 0
    found, energy = (along**2).mean(axis=0), float((others**2).sum(axis=1).mean())
    scores = np.full((len(kinds), most), -np.inf)
    for d in range(1, min(most, usable, p - 1) + 1):
        for row, kind in enumerate(kinds):
            variances, across = spectrum[:d], spectrum[:d].sum()
            if kind == "pca":
                variances = principal[:d]
            elif kind == "shrunk":
                variances = shrunk_variances(spectrum[:d], total, p, len(reduced), n_samples)
                across = variances.sum()
            noise = (total - float(across)) / (p - d)
            if noise <= 1e-10 * total / p:
                continue
            log_det = np.log(variances).sum() + (p - d) * np.log(noise)
            squares = (found[:d] / variances).sum() + (energy - found[:d].sum()) / noise
            scores[row, d - 1] = -0.5 * (p * np.log(2 * np.pi) + log_det + squares)
    return scores
