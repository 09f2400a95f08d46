"""Nearest neighbours of every sample: exactly, or in time that is linear in their number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast, get_args

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from informed.threads import one_thread_of_process
from informed.validation import Array, check_choice, check_count

SearchName = Literal["exact", "trees"]
SEARCHES: tuple[SearchName, ...] = get_args(SearchName)


@dataclass(frozen=True)
class RandomTrees:
    """How to search for neighbours by random trees, in time linear in the number of samples.

    Parameters
    ----------
    n_trees : int, default=8
        Number of trees. Each looks at different pairs: more of them miss fewer neighbours, and take
        longer in proportion.
    leaf_size : int, default=512
        How many samples are compared with each other; more of them miss fewer neighbours, too, and
        take longer in proportion.

    Notes
    -----
    A leaf is a smaller share of more samples, so the recall falls as their number grows. For 15
    neighbours in 50 dimensions ``benchmarks/recall.py`` found

    ====================  ============  =============  =============  ==================
    samples               number        defaults       32 trees       leaves of 2,048
    ====================  ============  =============  =============  ==================
    in 20 clusters        4,000         1.00           1.00           1.00
    in 20 clusters        16,000        0.99           1.00           1.00
    without structure     4,000         0.88           1.00           1.00
    without structure     16,000        0.60           0.97           0.92
    ====================  ============  =============  =============  ==================

    Where each neighbour matters, raise both numbers, or hand another search to
    :class:`informed.LocalInformedMahalanobis`: packages for approximate neighbours find more of
    them in the same time.

    Examples
    --------
    >>> from informed import LocalInformedMahalanobis
    >>> LocalInformedMahalanobis(search=RandomTrees(n_trees=20)).search.n_trees
    20
    """

    n_trees: int = 8
    leaf_size: int = 512


class NeighborTransformer(Protocol):
    """What ``search`` may be: a transformer that turns samples into a sparse graph of distances.

    :class:`sklearn.neighbors.KNeighborsTransformer` is one; packages for approximate search have
    others.
    """

    def fit(self, X: Array) -> Any:
        """Learn the training samples."""

    def transform(self, X: Array) -> Any:
        """Return the distances of samples to their nearest training samples, as a sparse graph."""


Search = SearchName | RandomTrees | NeighborTransformer


def check_search(search: object) -> Search:
    """Return ``search`` if it can search, or say what it may be."""
    if isinstance(search, RandomTrees):
        check_count("n_trees", search.n_trees, 1)
        check_count("leaf_size", search.leaf_size, 2)
        return search
    if all(callable(getattr(search, name, None)) for name in ("fit", "transform")):
        if getattr(search, "mode", "distance") != "distance":
            raise ValueError(
                f"search has mode={search.mode!r}: it must give distances"  # type: ignore[attr-defined]
            )
        return cast(NeighborTransformer, search)
    return check_choice("search", search, SEARCHES)


class NeighborSearch:
    """Nearest training samples by the Euclidean distance, found as the user asks.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Training samples.
    search : {"exact", "trees"}, RandomTrees or transformer
        Checked by :func:`check_search`.
    seed : int
        Seed of the trees.
    """

    def __init__(self, X: Array, search: Search, seed: int) -> None:
        self._X, self._seed = X, seed
        self._trees, self._transformer = None, None
        if search == "trees":
            self._trees = RandomTrees()
        elif isinstance(search, RandomTrees):
            self._trees = search
        elif search != "exact":
            self._transformer = clone(search).fit(X)
        # New samples are few, so trees are not worth their while.
        self._exact = None if self._transformer else NearestNeighbors().fit(X)

    def of_training(self, n_neighbors: int) -> NDArray[np.intp]:
        """Nearest training samples of each training sample, itself first."""
        if self._trees is not None:
            return neighbors_by_trees(
                self._X, n_neighbors, np.random.RandomState(self._seed), self._trees
            )
        return include_self(self.of(self._X, n_neighbors))

    def of(self, points: Array, n_neighbors: int) -> NDArray[np.intp]:
        """Nearest training samples of each point, nearest first."""
        if self._exact is not None:
            with one_thread_of_process():
                found: NDArray[np.intp] = self._exact.kneighbors(
                    points, n_neighbors, return_distance=False
                )
            return found
        graph = self._transformer.transform(points)  # type: ignore[union-attr]
        return nearest_in_graph(graph, n_neighbors, len(self._X))


def nearest_in_graph(graph: Any, n_neighbors: int, n_samples: int) -> NDArray[np.intp]:
    """Nearest training samples of each row of a graph of distances, nearest first.

    Examples
    --------
    >>> from scipy import sparse
    >>> graph = sparse.csr_array([[0.0, 3.0, 1.0], [2.0, 4.0, 1.0]])
    >>> nearest_in_graph(graph, 2, 3)
    array([[2, 1],
           [2, 0]])
    """
    graph = sparse.csr_array(graph)
    if graph.shape[1] != n_samples:
        raise ValueError(
            f"search gave a graph of shape {graph.shape}: it must have one column for each of the "
            f"{n_samples} training samples"
        )
    stored = np.diff(graph.indptr)
    if stored.min(initial=n_neighbors) < n_neighbors:
        raise ValueError(
            f"search found {stored.min()} neighbour(s) of a sample where {n_neighbors} are needed "
            "(itself included): raise the number that it looks for"
        )
    # Sorted by row, then by distance, then by number: the first of each row are its nearest.
    rows = np.repeat(np.arange(len(stored)), stored)
    order = np.lexsort((graph.indices, graph.data, rows))
    first = graph.indptr[:-1, None] + np.arange(n_neighbors)
    nearest: NDArray[np.intp] = graph.indices[order[first]].astype(np.intp)
    return nearest


def neighbors_by_trees(
    X: Array, n_neighbors: int, random_state: RandomState, trees: RandomTrees | None = None
) -> NDArray[np.intp]:
    """Nearest samples of each sample, itself first, among those that it shares a leaf with.

    A tree splits the samples in equal halves, across the line through two of them drawn at random,
    until at most a few hundred are left together; within such a leaf all distances are computed.
    What one tree separates another keeps together: the best of several trees is the answer. With so
    few samples that no split is needed it is exact.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Samples.
    n_neighbors : int
        Number of neighbours, the sample included.
    random_state : RandomState
        Source of the draws.
    trees : RandomTrees or None
        How many trees, with how large leaves; its defaults if None.

    Returns
    -------
    neighbors : int array of shape (n_samples, n_neighbors)
        Nearest first.

    Examples
    --------
    >>> neighbors_by_trees(np.array([[0.0], [1.0], [3.0], [3.5]]), 2, np.random.RandomState(0))
    array([[0, 1],
           [1, 0],
           [2, 3],
           [3, 2]])
    """
    n_samples = len(X)
    trees = RandomTrees() if trees is None else trees
    leaf = max(trees.leaf_size, 4 * n_neighbors)
    neighbors = np.empty((n_samples, 0), dtype=np.intp)
    distances = np.empty((n_samples, 0))
    for _ in range(trees.n_trees if n_samples > leaf else 1):
        found = np.empty((n_samples, n_neighbors), dtype=np.intp)
        how_far = np.empty((n_samples, n_neighbors))
        for rows in _leaves(X, leaf, random_state):
            squared = euclidean_distances(X[rows].astype(np.float64), squared=True)
            # A sample comes first even among copies of itself.
            np.fill_diagonal(squared, -1.0)
            nearest = np.argpartition(squared, n_neighbors - 1, axis=1)[:, :n_neighbors]
            found[rows] = rows[nearest]
            how_far[rows] = np.take_along_axis(squared, nearest, axis=1)
        neighbors, distances = _nearest_of(
            np.hstack([neighbors, found]), np.hstack([distances, how_far]), n_neighbors
        )
    return neighbors


def include_self(neighbors: NDArray[np.intp]) -> NDArray[np.intp]:
    """Put each sample first among its own neighbours, where duplicates may have pushed it out.

    Examples
    --------
    >>> include_self(np.array([[1, 0, 2], [0, 2, 3]]))
    array([[0, 1, 2],
           [1, 0, 2]])
    """
    own = np.arange(len(neighbors))
    others = neighbors != own[:, None]
    # A row without its own index loses its last, farthest entry instead.
    others[others.all(axis=1), -1] = False
    return np.column_stack([own, neighbors[others].reshape(len(neighbors), -1)])


def _leaves(X: Array, size: int, random_state: RandomState) -> Iterator[NDArray[np.intp]]:
    """Split the samples into groups of at most ``size`` that lie together."""
    waiting = [np.arange(len(X))]
    while waiting:
        rows = waiting.pop()
        if len(rows) <= size:
            yield rows
            continue
        one, other = X[random_state.choice(rows, 2, replace=False)]
        order = np.argpartition(X[rows] @ (one - other), len(rows) // 2)
        waiting += [rows[half] for half in np.split(order, [len(rows) // 2])]


def _nearest_of(
    neighbors: NDArray[np.intp], distances: Array, n_neighbors: int
) -> tuple[NDArray[np.intp], Array]:
    """Keep the nearest of each row, sorted, each name once."""
    order = np.argsort(neighbors, axis=1)
    neighbors = np.take_along_axis(neighbors, order, axis=1)
    distances = np.take_along_axis(distances, order, axis=1)
    distances[:, 1:][neighbors[:, 1:] == neighbors[:, :-1]] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return np.take_along_axis(neighbors, order, axis=1), np.take_along_axis(distances, order, 1)
