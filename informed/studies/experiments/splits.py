"""From expression to two groups: distances, a diffusion map, the sign of its first coordinate.

One way for all experiments on cohorts. Survival plays no part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from informed.diffusion import DiffusionMap
from informed.directions.registry import DIRECTIONS, SOLVERS, DirectionsName, VariancesName
from informed.groups import bipartition
from informed.metrics import LocalInformedMahalanobis
from informed.validation import Array, Penalty, check_choice, check_count, check_some


@dataclass(frozen=True)
class SplitSettings:
    """What stays the same while methods and seeds change.

    Attributes
    ----------
    n_neighbors, n_components, n_clusters, directions, variances
        Of :class:`informed.LocalInformedMahalanobis`.
    scale : float
        Kernel scale of the diffusion map over the median squared distance.
    """

    n_neighbors: int
    n_components: int
    n_clusters: int
    directions: DirectionsName = "exact"
    variances: VariancesName = "pca"
    scale: float = 2.0

    def fit(
        self, X: Array, seed: int, *, directions: DirectionsName | None = None
    ) -> LocalInformedMahalanobis:
        """Fit the local metric with these settings."""
        return LocalInformedMahalanobis(
            self.n_neighbors,
            self.n_components,
            self.n_clusters,
            directions=directions or self.directions,
            variances=self.variances,
            random_state=seed,
        ).fit(X)


def embed_cohort(X: Array, method: str, settings: SplitSettings, seed: int) -> Array:
    """Diffusion map of the subjects under one metric, of two coordinates.

    Parameters
    ----------
    X : array of shape (n_samples, n_genes)
        Expression.
    method : {"euclidean", "local pca", "informed"}
        The metric; "informed" takes the directions of the settings.
    settings : SplitSettings
        Settings of the local metric and of the map.
    seed : int
        Seed of k-means.
    """
    if method == "euclidean":
        return embed(squareform(pdist(X)), settings.scale)
    directions = settings.directions if method == "informed" else directions_of(method)
    return embed(settings.fit(X, seed, directions=directions).pairwise_distances(), settings.scale)


def directions_of(method: str) -> DirectionsName:
    """Directions of a local metric by the name that tables give it."""
    return "pca" if method == "local pca" else check_choice("method", method, DIRECTIONS)


def embed(distances: Array, scale: float) -> Array:
    """Diffusion map of two coordinates from all distances."""
    embedding: Array = DiffusionMap(2, scale=scale, metric="precomputed").fit_transform(distances)
    return embedding


def split(distances: Array, scale: float) -> NDArray[np.intp]:
    """Two groups from all distances."""
    return bipartition(embed(distances, scale))


def split_with_shared_clusters(
    X: Array,
    methods: tuple[str, ...],
    local: LocalInformedMahalanobis,
    penalty: Penalty,
    scale: float,
) -> NDArray[np.intp]:
    """Return the groups under several metrics, one row for each.

    Clusters of genes take most of the time, so those of one fit serve all metrics.

    Parameters
    ----------
    X : array of shape (n_samples, n_genes)
        Expression.
    methods : tuple of str
        ``"euclidean"``, ``"local pca"`` or names of directions.
    local : LocalInformedMahalanobis
        A metric that was fitted on ``X``, with clusters.
    penalty : float or "cv"
        Of the penalised directions.
    scale : float
        Kernel scale of the diffusion maps.
    """
    groups = []
    for method in methods:
        if method == "euclidean":
            distances = squareform(pdist(X))
        else:
            directions = directions_of(method)
            weight = penalty if SOLVERS[directions].penalized else "cv"
            other = local.with_directions(directions, penalty=weight)
            distances = other.pairwise_distances()
        groups.append(split(distances, scale))
    return np.array(groups)


def check_sizes(sizes: Sequence[int], n_components: int) -> list[int]:
    """Check neighbourhood sizes: each must hold more samples than there are directions."""
    widths = [
        check_count("sizes", size, n_components + 1, why=f"n_components={n_components}")
        for size in sizes
    ]
    check_some("sizes", widths, "neighbourhood size")
    return widths
