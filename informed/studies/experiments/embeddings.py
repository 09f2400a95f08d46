"""The rivals of the informed metric: the coordinates of each, and the density of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from sklearn.covariance import ledoit_wolf_shrinkage

from informed.centering import center
from informed.clusters.clusterers import CLUSTERINGS, group_features, profiles_of, ward_labels
from informed.clusters.features import sum_over_clusters
from informed.directions.registry import VariancesName
from informed.directions.solvers import cluster_coordinates
from informed.metrics.choice import held_out_scores
from informed.spiked import shrunk_variances
from informed.validation import Array

METHODS = (
    "euclidean",
    "pca",
    "whitened pca",
    "shrunk pca",
    "agglomeration",
    "agglomeration + pca",
    "ledoit-wolf",
    "informed directions",
    "informed",
)
# Whitening changes a distance and not the density that belongs to it.
DENSITIES = tuple(name for name in METHODS if name not in ("whitened pca", "informed directions"))
DIRECTION_COUNTS = (2, 5, 10, 20)
CLUSTER_COUNTS = (5, 10, 20, 40)
N_RESTARTS = 3


class Setting(NamedTuple):
    """What a method may choose; a part that it does not have is None."""

    d: int | None = None
    K: int | None = None
    clustering: str | None = None
    variances: str | None = None

    def __str__(self) -> str:
        parts = [f"d = {self.d}" * (self.d is not None), f"K = {self.K}" * (self.K is not None)]
        parts += [self.clustering or "", f"{self.variances} variances" * bool(self.variances)]
        return ", ".join(part for part in parts if part) or "–"


class _Split:
    """Training and other samples, centred by the training samples' mean, and shared steps."""

    def __init__(self, train: Array, other: Array, seed: int) -> None:
        varies = train.max(axis=0) > train.min(axis=0)
        self.raw, self.seed = train[:, varies], seed
        self.train, mean = center(self.raw)
        self.other = other[:, varies] - mean
        self.n, self.p = self.train.shape
        self.total = float((self.train**2).sum()) / (self.n - 1)

    @property
    def counts(self) -> list[int]:
        """Numbers of directions that the samples allow."""
        most = min(self.n - 2, self.p - 1)
        return [d for d in DIRECTION_COUNTS if d <= most] or [1]

    @property
    def cluster_counts(self) -> list[int]:
        return [K for K in CLUSTER_COUNTS if self.p > K] or [self.p]

    def principal(self) -> tuple[Array, Array]:
        """Principal directions and variances, all of them."""
        _, singular, Vt = linalg.svd(self.train, full_matrices=False, check_finite=False)
        return Vt.T, singular**2 / (self.n - 1)

    def pooled(self) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Clusters of FeatureAgglomeration, which looks at the features as they are."""
        counts = self.cluster_counts
        yield from zip(counts, ward_labels(profiles_of(self.raw, "as-is"), counts), strict=True)

    def informed(self) -> Iterator[tuple[str, int, NDArray[np.intp]]]:
        """Clusters as the informed metric finds them."""
        counts = self.cluster_counts
        for clustering in CLUSTERINGS:
            if clustering == "ward":
                cuts = ward_labels(self.train.T, counts)
                yield from (("ward", K, cut) for K, cut in zip(counts, cuts, strict=True))
                continue
            for K in counts:
                found = group_features(
                    self.train, K, clustering=clustering, n_init=N_RESTARTS, random_state=self.seed
                )
                yield clustering, K, found.labels


def coordinates(
    method: str, train: Array, other: Array, seed: int
) -> Iterator[tuple[Setting, Array, Array]]:
    """Yield the coordinates of training and other samples for each setting of a method.

    Everything is learnt from the training samples. Features that do not vary there are left out.

    Parameters
    ----------
    method : str
        One of ``METHODS``.
    train, other : arrays of shape (n_samples, n_features)
        Samples to learn from, and samples to map.
    seed : int
        Seed of k-means.

    Yields
    ------
    setting : Setting
    train, other : arrays of shape (n_samples, d)
    """
    split = _Split(train, other, seed)
    for setting, factor in _factors(method, split):
        if callable(factor):
            yield setting, factor(split.train), factor(split.other)
        else:
            yield setting, split.train @ factor, split.other @ factor


def _factors(method: str, split: _Split) -> Iterator[tuple[Setting, Any]]:
    """Yield a matrix for each setting, or a function where the matrix would be p × p."""
    if method == "euclidean":
        yield Setting(), np.asarray
    elif method == "ledoit-wolf":
        yield Setting(), _ledoit_wolf(split)[0]
    elif method.startswith("agglomeration"):
        yield from _agglomerated(method, split)
    elif method.startswith("informed"):
        yield from _informed(method, split)
    else:
        V, spectrum = split.principal()
        for d in split.counts:
            scale: Array = np.ones(d)
            if method == "whitened pca":
                scale = spectrum[:d]
            elif method == "shrunk pca":
                scale = shrunk_variances(spectrum[:d], split.total, split.p, split.p, split.n)
            yield Setting(d=d), V[:, :d] / np.sqrt(scale)


def _agglomerated(method: str, split: _Split) -> Iterator[tuple[Setting, Any]]:
    for K, labels in split.pooled():
        sizes = np.bincount(labels)
        means = (labels[:, None] == np.arange(K)) / sizes
        if method == "agglomeration":
            yield Setting(K=K), means
            continue
        pooled = sum_over_clusters(split.train.T, labels).T / sizes
        _, singular, Vt = linalg.svd(pooled, full_matrices=False, check_finite=False)
        for d in (d for d in split.counts if d < K):
            yield Setting(d, K, variances="no"), means @ Vt[:d].T
            deviations = singular[:d] / np.sqrt(split.n - 1)
            if deviations[-1] > 1e-10 * deviations[0]:
                yield Setting(d, K, variances="own"), means @ (Vt[:d].T / deviations)


def _informed(method: str, split: _Split) -> Iterator[tuple[Setting, Any]]:
    principal = linalg.svdvals(split.train, check_finite=False) ** 2 / (split.n - 1)
    for clustering, K, labels in split.informed():
        T, singular, _ = linalg.svd(
            cluster_coordinates(split.train.T, labels), full_matrices=False, check_finite=False
        )
        H = (labels[:, None] == np.arange(K)) / np.sqrt(np.bincount(labels))
        usable = int(np.sum(singular > 1e-10 * singular[0]))
        for d in (d for d in split.counts if d < K and d <= usable):
            U = H @ T[:, :d]
            if method == "informed directions":
                yield Setting(d, K, clustering), U
                continue
            yield Setting(d, K, clustering, "pca"), U / np.sqrt(principal[:d])
            own = singular[:d] ** 2 / (split.n - 1)
            yield Setting(d, K, clustering, "own"), U / np.sqrt(own)


def _ledoit_wolf(split: _Split) -> tuple[Any, float]:
    """Whitening by the covariance of Ledoit and Wolf, which is not formed, and its log-det."""
    alpha = float(ledoit_wolf_shrinkage(split.train, assume_centered=True))
    _, singular, Vt = linalg.svd(split.train, full_matrices=False, check_finite=False)
    floor = alpha * float((singular**2).sum()) / split.n / split.p
    eigenvalues = (1 - alpha) * singular**2 / split.n + floor
    if floor <= 0:
        raise ValueError("the shrinkage of Ledoit and Wolf is zero: the samples are too few")

    def whiten(samples: Array) -> Array:
        stretch = 1 / np.sqrt(eigenvalues) - 1 / np.sqrt(floor)
        whitened: Array = samples / np.sqrt(floor) + ((samples @ Vt.T) * stretch) @ Vt
        return whitened

    log_det = np.log(eigenvalues).sum() + (split.p - len(eigenvalues)) * np.log(floor)
    return whiten, float(log_det)


def log_likelihoods(
    method: str, train: Array, other: Array, seed: int
) -> Iterator[tuple[Setting, float]]:
    """Yield the mean Gaussian log-likelihood of other samples for each setting of a method.

    Without a number of directions the noise is even; the other methods have a few directions over
    an even floor. Agglomerated features alone keep a direction for each cluster.

    Parameters
    ----------
    method : str
        One of ``DENSITIES``.
    train, other : arrays of shape (n_samples, n_features)
        Samples to learn from, and to judge by. All features must vary in the former.
    seed : int
        Seed of k-means.

    Yields
    ------
    setting : Setting
    score : float
    """
    split = _Split(train, other, seed)
    constant = split.p * np.log(2 * np.pi)
    if method == "euclidean":
        noise = split.total / split.p
        energy = float((split.other**2).sum(axis=1).mean())
        yield Setting(), -0.5 * (constant + split.p * np.log(noise) + energy / noise)
    elif method == "ledoit-wolf":
        whiten, log_det = _ledoit_wolf(split)
        squares = float((whiten(split.other) ** 2).sum(axis=1).mean())
        yield Setting(), -0.5 * (constant + log_det + squares)
    elif method in ("pca", "shrunk pca"):
        kind: VariancesName = "own" if method == "pca" else "shrunk"
        scores = held_out_scores(split.train, split.other, None, split.counts[-1], [kind])[0]
        yield from ((Setting(d=d), float(scores[d - 1])) for d in split.counts)
    elif method == "agglomeration":
        for K, labels in split.pooled():
            score = held_out_scores(split.train, split.other, labels, K, ["own"])[0, -1]
            yield Setting(K=K), float(score)
    elif method == "agglomeration + pca":
        for K, labels in split.pooled():
            scores = held_out_scores(split.train, split.other, labels, split.counts[-1], ["own"])
            for d in (d for d in split.counts if d < K):
                yield Setting(d, K, variances="own"), float(scores[0, d - 1])
    else:
        kinds: tuple[VariancesName, ...] = ("pca", "own")
        for clustering, K, labels in split.informed():
            scores = held_out_scores(split.train, split.other, labels, split.counts[-1], kinds)
            for row, name in enumerate(kinds):
                for d in (d for d in split.counts if d < K):
                    yield Setting(d, K, clustering, name), float(scores[row, d - 1])
