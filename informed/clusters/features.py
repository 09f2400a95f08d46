"""Group the features, number the groups, and move between features and groups."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from informed.centering import center, warn_about_constant_features
from informed.clusters.kmeans import best_partition, best_partitions
from informed.clusters.large import cluster_many_rows
from informed.validation import Array, check_count, check_labels, check_matrix, random_source

__all__ = ["average_over_clusters", "cluster_features", "indicator"]


# From so many numbers on all restarts run together, which takes a fraction of the time; below it
# scikit-learn's own code is as quick.
MANY = 1_000_000


def cluster_features(
    X: Array, n_clusters: int, *, n_init: int = 10, random_state: int | RandomState | None = None
) -> NDArray[np.intp]:
    """Group the features of ``X`` by k-means.

    Each feature is centred first: features that rise and fall together belong together, whatever
    their level. So the clusters, like the covariance that they inform, do not change when a
    constant is added to a feature, and all constant features share a cluster.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data.
    n_clusters : int
        Number of clusters, at most the number of features.
    n_init : int
        Number of k-means restarts; the one with the lowest cost wins.
    random_state : int, RandomState or None
        Seed of the restarts.

    Returns
    -------
    labels : int array of shape (n_features,)
        Cluster of each feature, numbered in the order of first occurrence.

    Examples
    --------
    >>> cluster_features([[0, 5, 1, 0], [1, 3, 2, 0], [2, 1, 3, 9]], 3, random_state=0)
    array([0, 1, 0, 2])
    """
    X = check_matrix(X)
    n_features = X.shape[1]
    n_clusters = check_count("n_clusters", n_clusters, 1, n_features, f"n_features={n_features}")
    n_init = check_count("n_init", n_init, 1)
    source = random_source(random_state)
    warn_about_constant_features(X)
    return cluster_rows(center(X)[0].T, n_clusters, n_init, source)


def cluster_rows(
    rows: Array, n_clusters: int, n_init: int, random_state: int | RandomState | None
) -> NDArray[np.intp]:
    """K-means of the rows, labels by first occurrence; no checks, for callers that did them."""
    if not isinstance(rows, np.ndarray) or rows.size >= MANY:
        found = cluster_many_rows(rows, n_clusters, n_init, random_state)
        return _numbered(found, n_clusters)
    model = KMeans(n_clusters, n_init=n_init, random_state=random_state)
    with warnings.catch_warnings():
        # scikit-learn only warns when rows coincide so that clusters stay empty; we stop below.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = model.fit_predict(rows)
    return _numbered(found, n_clusters)


def cluster_rows_from(rows: Array, starts: NDArray[np.intp], n_clusters: int) -> NDArray[np.intp]:
    """K-means of the rows from given partitions, for one of many similar problems; no checks."""
    rows = rows.astype(np.float64)
    check_distinct_rows(rows, n_clusters)
    return _numbered(best_partition(rows, starts, n_clusters)[0], n_clusters)


def cluster_columns_from(
    problems: Array, starts: NDArray[np.intp], n_clusters: int
) -> NDArray[np.intp]:
    """Do the same for the columns of each of several problems; one row of labels for each."""
    found = best_partitions(problems.astype(np.float64), starts, n_clusters)[0]
    return np.array([relabel_by_first_occurrence(labels) for labels in found])


def check_distinct_rows(rows: Array, n_clusters: int) -> None:
    """Refuse rows that coincide: a cluster of one of several copies would cost nothing."""
    if len(rows) <= n_clusters or len(np.unique(rows[:, 0])) <= n_clusters:
        _check_distinct(len(np.unique(rows, axis=0)), n_clusters)


def _numbered(found: NDArray[np.integer], n_clusters: int) -> NDArray[np.intp]:
    labels = relabel_by_first_occurrence(found)
    _check_distinct(int(labels.max()) + 1, n_clusters)
    return labels


def _check_distinct(n_distinct: int, n_clusters: int) -> None:
    if n_distinct < n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} is out of range: after centring the features take only "
            f"{n_distinct} distinct profiles, so n_clusters must be at most {n_distinct}"
        )


def relabel_by_first_occurrence(labels: NDArray[np.integer]) -> NDArray[np.intp]:
    """Renumber labels so that they appear as 0, 1, 2, … when read from the start.

    Examples
    --------
    >>> relabel_by_first_occurrence(np.array([7, 2, 7, 5]))
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def indicator(labels: NDArray[np.integer]) -> NDArray[np.float64]:
    r"""Orthonormal indicator matrix ``H`` of a clustering.

    Parameters
    ----------
    labels : int array of shape (n_features,)
        Cluster of each feature, 0 … K − 1.

    Returns
    -------
    H : array of shape (n_features, K)
        :math:`H_{jk} = 1/\sqrt{m_k}` if feature *j* is in cluster *k*, else 0.

    Examples
    --------
    >>> indicator([0, 1, 0, 0, 0]).T @ indicator([0, 1, 0, 0, 0])
    array([[1., 0.],
           [0., 1.]])
    """
    labels = check_labels(labels, max(np.size(labels), 1))
    sizes = np.bincount(labels)
    H = np.zeros((len(labels), len(sizes)))
    H[np.arange(len(labels)), labels] = 1.0 / np.sqrt(sizes[labels])
    return H


def average_over_clusters(U: Array, labels: NDArray[np.integer]) -> Array:
    r"""Replace each row of ``U`` by the mean over its cluster: :math:`HH^\top U`.

    Parameters
    ----------
    U : array of shape (n_features,) or (n_features, d)
        A vector or the columns to average.
    labels : int array of shape (n_features,)
        Cluster of each feature.

    Returns
    -------
    averaged : array of the shape of ``U``

    Examples
    --------
    >>> average_over_clusters(np.array([1.0, 3.0, 10.0]), [0, 0, 1])
    array([ 2.,  2., 10.])
    """
    columns = check_matrix(np.reshape(U, (-1, 1)) if np.ndim(U) == 1 else U, "U", min_samples=1)
    labels = check_labels(labels, len(columns))
    sizes = np.bincount(labels).astype(columns.dtype)
    means = sum_over_clusters(columns, labels) / sizes[:, None]
    averaged: Array = means[labels].reshape(np.shape(U))
    return averaged


def sum_over_clusters(columns: Array, labels: NDArray[np.integer]) -> Array:
    """Sum the rows of ``columns`` within each cluster, at the cost of reading them once."""
    n_features = len(labels)
    membership = sparse.csr_array(
        (np.ones(n_features, dtype=columns.dtype), labels, np.arange(n_features + 1))
    )
    sums: Array = membership.T @ columns
    return sums


def cluster_coordinates(columns: Array, labels: NDArray[np.integer]) -> Array:
    r"""Coordinates :math:`H^\top U` of the columns in the span of the indicators."""
    root_sizes = np.sqrt(np.bincount(labels)).astype(columns.dtype)
    coordinates: Array = sum_over_clusters(columns, labels) / root_sizes[:, None]
    return coordinates


def from_cluster_coordinates(coordinates: Array, labels: NDArray[np.integer]) -> Array:
    r"""Vectors :math:`HT` of feature space with the given coordinates ``T``."""
    root_sizes = np.sqrt(np.bincount(labels)).astype(coordinates.dtype)
    expanded: Array = (coordinates / root_sizes[:, None])[labels]
    return expanded
