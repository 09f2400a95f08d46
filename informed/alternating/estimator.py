"""The estimator and its cost: rounds in which the two clusterings are found anew in turn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Literal, Self, get_args

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.exceptions import ConvergenceWarning

from informed.block_noise import fit_tiles, settle_by_noise
from informed.centering import center, warn_about_constant_features
from informed.clusters.features import relabel_by_first_occurrence, sum_over_clusters
from informed.clusters.kmeans import best_partition, spread_partitions
from informed.directions.solvers import cluster_coordinates, from_cluster_coordinates
from informed.validation import (
    Array,
    check_choice,
    check_count,
    check_labels,
    check_matrix,
    random_source,
    validate_samples,
)

__all__ = ["AlternatingInformedClustering", "checkerboard_cost"]

Labels = NDArray[np.intp]
StartName = Literal["pca", "random", "both"]
STARTS: tuple[StartName, ...] = get_args(StartName)
NoiseName = Literal["equal", "blocks"]
NOISES: tuple[NoiseName, ...] = get_args(NoiseName)

# Costs that differ by less than this part of the total sum of squares differ by rounding.
ROUNDING = 1e-12


def checkerboard_cost(
    X: Array,
    row_labels: NDArray[np.integer],
    column_labels: NDArray[np.integer],
    n_components: int | None = None,
) -> float:
    r"""Squared distance of the centred data from the nearest checkerboard with given tiles.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data; features are centred here.
    row_labels : int array of shape (n_samples,)
        Cluster of each sample.
    column_labels : int array of shape (n_features,)
        Cluster of each feature.
    n_components : int or None
        Largest rank of the matrix of tiles; None means no limit.

    Returns
    -------
    cost : float
        :math:`\lVert X - RR^\top XCC^\top\rVert_F^2`, with the tiles cut to their leading
        ``n_components`` singular directions if that is fewer than there are.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0, 4.0], [1.0, 1.0, 4.0], [3.0, 3.0, 0.0]])
    >>> round(checkerboard_cost(X, [0, 0, 1], [0, 0, 1]), 12)
    0.0
    >>> round(checkerboard_cost(X, [0, 1, 1], [0, 0, 1]), 12)
    12.0
    """
    X = check_matrix(X)
    rows = check_labels(row_labels, X.shape[0], "row_labels")
    columns = check_labels(column_labels, X.shape[1], "column_labels")
    limit = min(int(rows.max()), int(columns.max())) + 1
    d = limit if n_components is None else check_count("n_components", n_components, 1, limit)
    centered = center(X)[0].astype(np.float64)
    captured = _tile_directions(centered, rows, columns, d).captured
    return max(float(np.sum(centered**2)) - captured, 0.0)


class AlternatingInformedClustering(BiclusterMixin, BaseEstimator):
    r"""Cluster samples and features in turn, each with a metric informed by the other.

    Clusters of features give *d* directions in feature space that are constant on each cluster;
    samples are clustered by k-means along them. The clusters of samples give *d* directions in
    sample space, along which the features are clustered, and so on. Each k-means starts from the
    clusters that it had before, and once more afresh, and keeps what costs less. So the squared
    distance of the data from a checkerboard falls in each round, and when it no longer falls the
    labels have settled. As there are finitely many labels, this always happens.

    Parameters
    ----------
    n_row_clusters : int, default=2
        Number of clusters of samples.
    n_column_clusters : int, default=2
        Number of clusters of features.
    n_components : int or None, default=None
        Number of directions *d*, at most min(n_row_clusters − 1, n_column_clusters), which is what
        None means (n_column_clusters − 1 with ``center_rows``). With fewer, the matrix of tiles is
        kept at that rank.
    start : {"pca", "random", "both"}, default="pca"
        Where a run begins: with each feature as a cluster of its own, that is, from principal
        components; from clusters drawn at random on both sides; or in turn from one and the other.
        Principal components are the better start unless some features or samples are much noisier
        than others.
    center_rows : bool, default=False
        Whether to subtract from each sample its mean over the features, besides that of each
        feature. For tables in which samples differ in level, as arrays and batches do, for reasons
        that have nothing to do with the clusters.
    noise : {"equal", "blocks"}, default="equal"
        Whether the noise is of one size in the whole table, or each tile has a variance of its own.
        With ``"blocks"`` every run goes on from where its labels have settled: samples and features
        move to their most likely clusters, and the run that ends with the largest likelihood wins.
        Better where tiles differ in their noise; ``n_components`` must be None.
    n_init : int, default=10
        Number of runs; the one that ends with the lowest cost wins.
    max_iter : int, default=100
        Largest number of rounds of a run. One round clusters samples, then features.
    random_state : int, RandomState or None, default=None
        Seed of the k-means starts.

    Attributes
    ----------
    row_labels_ : int array of shape (n_samples,)
        Cluster of each sample, numbered by first occurrence.
    column_labels_ : int array of shape (n_features,)
        Cluster of each feature, numbered by first occurrence.
    rows_, columns_ : bool arrays of shape (n_row_clusters * n_column_clusters, …)
        Members of each tile, as scikit-learn's biclustering has them; tile
        ``i * n_column_clusters + j`` is that of sample cluster *i* and feature cluster *j*.
    block_means_ : array of shape (n_row_clusters, n_column_clusters)
        Mean of the data over each tile.
    block_variances_ : array of shape (n_row_clusters, n_column_clusters)
        Variance of the centred data over each tile.
    directions_ : array of shape (n_features, d)
        Orthonormal directions, constant on clusters of features, along which samples are compared.
    history_ : array of shape (n_iter_ + 1,)
        Cost after the start and after each round; it never rises.
    deviance_history_ : array
        With ``noise="blocks"``, minus twice the log-likelihood where that cost had settled and
        after each further round; it never rises either. Empty otherwise.
    n_iter_ : int
        Rounds of the winning run. The last one, which found nothing better, counts; those of the
        deviance do not.
    converged_ : bool
        Whether the labels had settled before ``max_iter``.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    informed.alternating.checkerboard_cost : The cost.
    informed.InformedMahalanobis : The metric for known clusters, as ``feature_labels``.

    Notes
    -----
    Features are centred: their level does not count, only how they vary over the samples, as in
    :func:`informed.clusters.cluster_features`. The level of a sample does count, unless
    ``center_rows`` is set.

    Without a limit on the directions the cost is that of double k-means, and what this adds to it
    is the start. With ``noise="blocks"`` the likelihood is that of a latent block model whose
    memberships are all or nothing.

    Directions are *not* scaled to unit variance, as a Mahalanobis distance would do. Scaling gives
    a direction of noise the same voice as one that tells clusters apart, and as the scale would
    change from round to round, there would be no cost that falls.

    Examples
    --------
    >>> X = np.array([[5, 0, 5, 1], [4, 1, 5, 0], [0, 5, 1, 4]])
    >>> model = AlternatingInformedClustering(random_state=0).fit(X)
    >>> model.row_labels_, model.column_labels_
    (array([0, 0, 1]), array([0, 1, 0, 1]))
    >>> model.block_means_
    array([[4.75, 0.5 ],
           [0.5 , 4.5 ]])
    """

    def __init__(
        self,
        n_row_clusters: int = 2,
        n_column_clusters: int = 2,
        *,
        n_components: int | None = None,
        start: StartName = "pca",
        center_rows: bool = False,
        noise: NoiseName = "equal",
        n_init: int = 10,
        max_iter: int = 100,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_row_clusters = n_row_clusters
        self.n_column_clusters = n_column_clusters
        self.n_components = n_components
        self.start = start
        self.center_rows = center_rows
        self.noise = noise
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find both clusterings.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The data.
        y : ignored
            For use in pipelines.

        Returns
        -------
        self
        """
        data = validate_samples(self, X, reset=True)
        n_samples, n_features = data.shape
        n_rows = check_count(
            "n_row_clusters", self.n_row_clusters, 2, n_samples, f"n_samples={n_samples}"
        )
        n_columns = check_count(
            "n_column_clusters", self.n_column_clusters, 2, n_features, f"n_features={n_features}"
        )
        start = check_choice("start", self.start, STARTS)
        by_tiles = check_choice("noise", self.noise, NOISES) == "blocks"
        limit = min(n_rows - 1, n_columns - bool(self.center_rows))
        d = limit
        if self.n_components is not None:
            if by_tiles:
                raise ValueError(
                    f"n_components={self.n_components} limits the tiles, and with noise='blocks' "
                    "they are free: leave n_components None"
                )
            why = f"n_row_clusters={n_rows}, n_column_clusters={n_columns}"
            d = check_count("n_components", self.n_components, 1, limit, why)
        n_init = check_count("n_init", self.n_init, 1)
        max_iter = check_count("max_iter", self.max_iter, 1)
        random_state = random_source(self.random_state)
        warn_about_constant_features(data)
        centered = center(data)[0].astype(np.float64)
        if self.center_rows:
            centered -= centered.mean(axis=1, keepdims=True)
        _check_distinct(centered, "n_row_clusters", n_rows, "samples")
        _check_distinct(centered.T, "n_column_clusters", n_columns, "features")

        principal = linalg.svd(centered, full_matrices=False, check_finite=False)[2][:d].T
        runs = []
        for number in range(n_init):
            at_random = start == "random" or (start == "both" and number % 2 == 1)
            if at_random:
                begin = (
                    _random_labels(n_samples, n_rows, random_state),
                    _random_labels(n_features, n_columns, random_state),
                )
            else:
                begin = _labels_from_pca(centered, principal, n_rows, n_columns, d, random_state)
            run = _run(centered, *begin, n_rows, n_columns, d, max_iter, random_state)
            runs.append(_by_noise(centered, run, max_iter) if by_tiles else run)
        # Among runs that end alike the first one wins, so that rounding does not choose.
        slack = ROUNDING * (centered.size if by_tiles else float(np.sum(centered**2)))
        enough = min(run.final for run in runs) + slack
        best = next(run for run in runs if run.final <= enough)
        if not best.converged:
            warnings.warn(
                f"the labels had not settled after max_iter={max_iter} rounds: raise max_iter",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.row_labels_ = relabel_by_first_occurrence(best.rows)
        self.column_labels_ = relabel_by_first_occurrence(best.columns)
        tiles = np.arange(n_rows * n_columns)[:, None]
        self.rows_ = self.row_labels_ == tiles // n_columns
        self.columns_ = self.column_labels_ == tiles % n_columns
        self.block_means_ = _block_means(data, self.row_labels_, self.column_labels_)
        tiles_found = fit_tiles(centered, self.row_labels_, self.column_labels_)
        self.block_variances_ = tiles_found.variances
        self.directions_ = _tile_directions(
            centered, self.row_labels_, self.column_labels_, d
        ).of_features
        self.history_ = np.array(best.history)
        self.deviance_history_ = np.array(best.deviances)
        self.n_iter_ = len(best.history) - 1
        self.converged_ = best.converged
        return self


@dataclass(frozen=True)
class _TileDirections:
    """Leading directions of a checkerboard, and the sum of squares that they capture."""

    of_samples: Array
    of_features: Array
    captured: float


@dataclass(frozen=True)
class _Run:
    rows: Labels
    columns: Labels
    history: list[float]
    converged: bool
    deviances: list[float] = field(default_factory=list)

    @property
    def final(self) -> float:
        """The number by which runs are compared."""
        return (self.deviances or self.history)[-1]


def _by_noise(centered: Array, run: _Run, max_iter: int) -> _Run:
    """Go on from a run by the likelihood in which each tile has a variance of its own."""
    found = settle_by_noise(centered, run.rows, run.columns, max_iter)
    settled = run.converged and found.converged
    return _Run(found.rows, found.columns, run.history, settled, found.history)


def _labels_from_pca(
    centered: Array,
    principal: Array,
    n_rows: int,
    n_columns: int,
    d: int,
    random_state: RandomState,
) -> tuple[Labels, Labels]:
    """Cluster samples along principal directions, then features along what follows from them."""
    rows = _recluster(centered @ principal, None, n_rows, random_state)
    by_samples = linalg.svd(cluster_coordinates(centered, rows), full_matrices=False)[0][:, :d]
    of_samples = from_cluster_coordinates(by_samples, rows)
    return rows, _recluster(centered.T @ of_samples, None, n_columns, random_state)


def _random_labels(size: int, n_clusters: int, random_state: RandomState) -> Labels:
    """Draw clusters of equal size at random."""
    drawn: Labels = random_state.permutation(np.arange(size) % n_clusters)
    return drawn


def _run(
    centered: Array,
    rows: Labels,
    columns: Labels,
    n_rows: int,
    n_columns: int,
    d: int,
    max_iter: int,
    random_state: RandomState,
) -> _Run:
    """Alternate from given clusters until a round no longer lowers the cost."""
    total = float(np.sum(centered**2))
    found = _tile_directions(centered, rows, columns, d)
    history = [total - found.captured]
    for _ in range(max_iter):
        new_rows = _recluster(centered @ found.of_features, rows, n_rows, random_state)
        of_samples = _tile_directions(centered, new_rows, columns, d).of_samples
        new_columns = _recluster(centered.T @ of_samples, columns, n_columns, random_state)
        new = _tile_directions(centered, new_rows, new_columns, d)
        if new.captured <= found.captured + ROUNDING * total:
            # Other labels may cost the same; those that were there first stay.
            history.append(history[-1])
            return _Run(rows, columns, history, True)
        rows, columns, found = new_rows, new_columns, new
        history.append(total - found.captured)
    return _Run(rows, columns, history, False)


def _tile_directions(centered: Array, rows: Labels, columns: Labels, d: int) -> _TileDirections:
    r"""Leading singular vectors of :math:`R^\top XC`, as directions among samples and features."""
    tiles = cluster_coordinates(cluster_coordinates(centered, rows).T, columns).T
    left, singular, right = linalg.svd(tiles, full_matrices=False, check_finite=False)
    return _TileDirections(
        from_cluster_coordinates(left[:, :d], rows),
        from_cluster_coordinates(right[:d].T, columns),
        float(np.sum(singular[:d] ** 2)),
    )


def _recluster(
    points: Array, labels: Labels | None, n_clusters: int, random_state: RandomState
) -> Labels:
    """K-means from the present labels and from one fresh start; the cheaper result."""
    starts = spread_partitions(points, n_clusters, 1, random_state)
    if labels is not None:
        starts = np.vstack([labels, starts])
    return _fill_empty(best_partition(points, starts, n_clusters)[0], n_clusters)


def _fill_empty(labels: Labels, n_clusters: int) -> Labels:
    """Give each empty cluster a member of the largest one, which never raises the cost.

    Points that differ may coincide along the directions, and then k-means can run out of places.
    """
    sizes = np.bincount(labels, minlength=n_clusters)
    if sizes.all():
        return labels
    labels = labels.copy()
    for k in np.flatnonzero(sizes == 0):
        donor = int(np.argmax(sizes))
        labels[np.flatnonzero(labels == donor)[-1]] = k
        sizes[donor] -= 1
        sizes[k] = 1
    return labels


def _block_means(X: Array, rows: Labels, columns: Labels) -> Array:
    sums = sum_over_clusters(sum_over_clusters(X, rows).T, columns).T
    means: Array = sums / np.outer(np.bincount(rows), np.bincount(columns))
    return means


def _check_distinct(points: Array, name: str, n_clusters: int, what: str) -> None:
    n_distinct = len(np.unique(points, axis=0))
    if n_distinct < n_clusters:
        raise ValueError(
            f"{name}={n_clusters} is out of range: after centring the {what} take only "
            f"{n_distinct} distinct values, so {name} must be at most {n_distinct}"
        )
