"""K-means of features, the numbers of their groups, and averages over groups."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from informed.clusters.kmeans import best_partition, best_partitions
from informed.clusters.large import run_many
from informed.clusters.wide import best_wide_partition
from informed.validation import Array, check_labels, check_matrix

__all__ = ["average_over_clusters", "indicator"]


# From so many numbers on all restarts run together, which takes a fraction of the time; below it
# scikit-learn's own code is as quick.
MANY = 1_000_000
# From so many points on a first look in single precision pays.
WIDE = 2000


def cluster_rows(
    rows: Array, n_clusters: int, n_init: int, random_state: int | RandomState | None
) -> NDArray[np.intp]:
    """K-means of the rows, labels by first occurrence; no checks, for callers that did them."""
    return cluster_rows_twice(rows, n_clusters, n_init, random_state)[0]


def cluster_rows_twice(
    rows: Array, n_clusters: int, n_init: int, random_state: int | RandomState | None
) -> tuple[NDArray[np.intp], NDArray[np.intp] | None]:
    """Return the labels of k-means, and those of the half of the restarts that did not win.

    The restarts are run in two halves from one stream of random numbers. So the better half is what
    a single run would have returned, and the other an independent answer at no cost, numbered as it
    came; None if there is one restart only.
    """
    random = check_random_state(random_state)
    halves = [n for n in (n_init - n_init // 2, n_init // 2) if n]
    runs: list[tuple[NDArray[np.integer], float]] = []
    for n in halves:
        if not isinstance(rows, np.ndarray) or rows.size >= MANY:
            runs.append(run_many(rows, n_clusters, n, random))
            continue
        with warnings.catch_warnings():
            # scikit-learn only warns when rows coincide so that clusters stay empty; we stop below.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = KMeans(n_clusters, n_init=n, random_state=random).fit(rows)
        runs.append((model.labels_, float(model.inertia_)))
    runs.sort(key=lambda run: run[1])
    rival = runs[1][0].astype(np.intp) if len(runs) > 1 else None
    return relabel_by_first_occurrence(runs[0][0], n_clusters), rival


def cluster_rows_from(rows: Array, starts: NDArray[np.intp], n_clusters: int) -> NDArray[np.intp]:
    """K-means of the rows from given partitions, for one of many similar problems; no checks."""
    rows = rows.astype(np.float64)
    check_distinct_rows(rows, n_clusters)
    if len(rows) < WIDE:
        labels, _ = best_partition(rows, starts, n_clusters)
    else:
        labels, _ = best_wide_partition(rows.T, starts, n_clusters)
    return relabel_by_first_occurrence(labels, n_clusters)


def cluster_columns_from(
    problems: Array, starts: NDArray[np.intp], n_clusters: int
) -> NDArray[np.intp]:
    """Do the same for the columns of each of several problems; one row of labels for each."""
    problems = problems.astype(np.float64)
    found: Iterable[NDArray[np.intp]]
    if problems.shape[2] < WIDE:
        found, _ = best_partitions(problems, starts, n_clusters)
    else:
        found = (best_wide_partition(columns, starts, n_clusters)[0] for columns in problems)
    return np.array([relabel_by_first_occurrence(labels) for labels in found])


def check_distinct_rows(rows: Array, n_clusters: int) -> None:
    """Refuse rows that coincide: a cluster of one of several copies would cost nothing."""
    if len(rows) <= n_clusters or len(np.unique(rows[:, 0])) <= n_clusters:
        n_distinct = len(np.unique(rows, axis=0))
        if n_distinct < n_clusters:
            raise _too_few_profiles(n_distinct, n_clusters)


def _too_few_profiles(n_distinct: int, n_clusters: int) -> ValueError:
    return ValueError(
        f"n_clusters={n_clusters} is out of range: after centring the features take only "
        f"{n_distinct} distinct profiles, so n_clusters must be at most {n_distinct}"
    )


def relabel_by_first_occurrence(
    labels: NDArray[np.integer], n_clusters: int | None = None
) -> NDArray[np.intp]:
    """Renumber labels so that they appear as 0, 1, 2, … when read from the start.

    With ``n_clusters``, fewer of them are refused: then rows coincide.

    Examples
    --------
    >>> relabel_by_first_occurrence(np.array([7, 2, 7, 5]))
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    if n_clusters is not None and len(first) < n_clusters:
        raise _too_few_profiles(len(first), n_clusters)
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
