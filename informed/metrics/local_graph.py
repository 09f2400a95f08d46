"""Distances under many local models, and the graph of nearest samples that they give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from informed.metrics.neighborhoods import blocks_of
from informed.metrics.neighbors import NeighborSearch
from informed.validation import Array, KeepsFloat32Mixin, check_choice, check_count

Found = tuple[NDArray[np.intp], Array]


class LocalGraphMixin(KeepsFloat32Mixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Nearest training samples by a local distance, as scikit-learn's neighbours give them.

    As a transformer it is used like :class:`sklearn.neighbors.KNeighborsTransformer`: it turns
    samples into a sparse graph of distances to training samples, which any estimator with
    ``metric="precomputed"`` takes.
    """

    mean_: Array
    components_: Array
    neighbors_: NDArray[np.intp]
    n_neighbors_: int
    n_candidates: int | None
    _X: Array
    _search: NeighborSearch

    def fit_transform(self, X: ArrayLike, y: object = None) -> sparse.csr_array:
        """Fit, and return the graph of the training samples; see :meth:`transform`.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Training samples.
        y : ignored
            For use in pipelines.

        Returns
        -------
        graph : csr_array of shape (n_samples, n_samples)
        """
        self.fit(X)
        return self._graph(*self._with_themselves(*self._nearest_of_training(None)))

    def transform(self, X: ArrayLike) -> sparse.csr_array:
        """Sparse graph of the local distances from samples to their nearest training samples.

        A row has ``n_neighbors`` entries: a training sample itself, at distance 0, which is stored,
        and the ``n_neighbors`` − 1 others that are nearest; for a new sample as many. This is what
        :class:`sklearn.neighbors.KNeighborsTransformer` returns for ``n_neighbors`` − 1.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        graph : csr_array of shape (n_samples, n_training_samples)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from sklearn.pipeline import make_pipeline
        >>> from informed import LocalInformedMahalanobis
        >>> X, y = load_iris(return_X_y=True)
        >>> metric = LocalInformedMahalanobis(30, 2, 3, random_state=0)
        >>> metric.fit_transform(X[::2]).shape
        (75, 75)
        >>> model = make_pipeline(metric, KNeighborsClassifier(5, metric="precomputed"))
        >>> bool(model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9)
        True
        """
        check_is_fitted(self)
        points, factors = self._models_of(X)
        return self._graph(*self._nearest_of_points(points, factors, self.n_neighbors_, None))

    @overload
    def kneighbors(
        self,
        X: ArrayLike | None = None,
        n_neighbors: int | None = None,
        return_distance: Literal[True] = True,
        *,
        n_candidates: int | None = None,
    ) -> tuple[Array, NDArray[np.intp]]: ...

    @overload
    def kneighbors(
        self,
        X: ArrayLike | None = None,
        n_neighbors: int | None = None,
        *,
        return_distance: Literal[False],
        n_candidates: int | None = None,
    ) -> NDArray[np.intp]: ...

    def kneighbors(
        self,
        X: ArrayLike | None = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
        *,
        n_candidates: int | None = None,
    ) -> Any:
        """Nearest training samples by the local distance, in the manner of scikit-learn.

        Parameters
        ----------
        X : array of shape (n_samples, n_features) or None
            Samples; None means the training samples, each without itself.
        n_neighbors : int or None
            How many; None means ``n_neighbors`` of the estimator less one, a neighbourhood without
            the sample in its middle.
        return_distance : bool
            Whether to return the distances too.
        n_candidates : int or None
            As in :meth:`kneighbors_graph`.

        Returns
        -------
        distances : array of shape (n_samples, n_neighbors)
            Rising along each row; only if ``return_distance``.
        neighbors : int array of shape (n_samples, n_neighbors)
        """
        check_is_fitted(self)
        count = self.n_neighbors_ - 1 if n_neighbors is None else n_neighbors
        n_samples = len(self._X)
        if X is None:
            count = check_count("n_neighbors", count, 1, n_samples - 1, f"{n_samples} samples")
            neighbors, distances = self._nearest_of_training(n_candidates, count)
        else:
            count = check_count("n_neighbors", count, 1, n_samples, f"{n_samples} samples")
            points, factors = self._models_of(X)
            neighbors, distances = self._nearest_of_points(points, factors, count, n_candidates)
        return (distances, neighbors) if return_distance else neighbors

    def pairwise_distances_chunked(self, *, squared: bool = False) -> Iterator[Array]:
        """Yield the rows of :meth:`pairwise_distances` of the training set, some at a time.

        For what does not fit into memory as a whole.

        Parameters
        ----------
        squared : bool
            Whether to yield squared distances.

        Yields
        ------
        distances : array of shape (n_rows, n_samples)
            The next rows, from first to last.

        Examples
        --------
        >>> from sklearn.datasets import make_swiss_roll
        >>> from informed import LocalInformedMahalanobis
        >>> X, _ = make_swiss_roll(100, random_state=0)
        >>> local = LocalInformedMahalanobis(10, n_components=2, n_clusters=3, random_state=0)
        >>> nearest = [
        ...     row
        ...     for chunk in local.fit(X).pairwise_distances_chunked()
        ...     for row in np.argsort(chunk, axis=1)[:, 1]
        ... ]
        >>> len(nearest)
        100
        """
        check_is_fitted(self)
        X, factors = self._X, self.components_
        for rows in blocks_of(len(X), len(X)):
            total = half_distances(X[rows], factors[rows], X)
            total += half_distances(X, factors, X[rows]).T
            total[np.arange(len(rows)), rows] = 0.0
            yield total if squared else np.sqrt(total)

    def kneighbors_graph(
        self, n_neighbors: int, *, mode: str = "distance", n_candidates: int | None = None
    ) -> sparse.csr_array:
        """Sparse graph of the nearest training samples of each training sample.

        Parameters
        ----------
        n_neighbors : int
            Number of neighbours of each sample, itself not counted.
        mode : {"distance", "connectivity"}
            Whether the entries are distances or ones.
        n_candidates : int or None
            Search only among this many nearest samples by the Euclidean distance: linear in the
            number of samples, and exact when they contain the answer. None means that of the
            estimator, whose default searches all samples: exact, and quadratic in their number.

        Returns
        -------
        graph : csr_array of shape (n_samples, n_samples)
            Row *i* holds the neighbours of sample *i*. Distances of zero are stored.
        """
        check_is_fitted(self)
        n_samples = len(self._X)
        n_neighbors = check_count(
            "n_neighbors", n_neighbors, 1, n_samples - 1, f"{n_samples} training samples"
        )
        check_choice("mode", mode, ["distance", "connectivity"])
        neighbors, distances = self._nearest_of_training(n_candidates, n_neighbors)
        return self._graph(neighbors, distances if mode == "distance" else np.ones_like(distances))

    def _graph(self, neighbors: NDArray[np.intp], values: Array) -> sparse.csr_array:
        n_rows, n_neighbors = neighbors.shape
        starts = np.arange(0, n_rows * n_neighbors + 1, n_neighbors)
        return sparse.csr_array(
            (values.ravel(), neighbors.ravel(), starts), shape=(n_rows, len(self._X))
        )

    @property
    def _n_features_out(self) -> int:
        return len(self._X)

    def _nearest_of_training(
        self, n_candidates: int | None, n_neighbors: int | None = None
    ) -> Found:
        """Nearest others of each training sample; one less than a neighbourhood holds if None."""
        count = self.n_neighbors_ - 1 if n_neighbors is None else n_neighbors
        limit = self._check_candidates(n_candidates, count, len(self._X) - 1)
        found = self._search_all(count) if limit is None else self._search_near(count, limit)
        neighbors, distances = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return neighbors, distances

    def _nearest_of_points(
        self, points: Array, factors: Array, n_neighbors: int, n_candidates: int | None
    ) -> Found:
        """Nearest training samples of centred points; a point that is one of them finds itself."""
        n_samples = len(self._X)
        limit = self._check_candidates(n_candidates, n_neighbors, n_samples)
        # A training sample is a candidate itself, beside as many others as in its own search.
        candidates = self._search.of(points, 1 if limit is None else min(limit + 1, n_samples))
        numbers = n_samples if limit is None else candidates.shape[1] * factors[0].size
        size = np.abs(self._X).max(axis=0) + np.abs(self.mean_)
        rounding = 4 * np.finfo(points.dtype).eps * size
        found = []
        for rows in blocks_of(len(points), numbers):
            here, near = points[rows], candidates[rows]
            if limit is None:
                squared = half_distances(here, factors[rows], self._X)
                squared += half_distances(self._X, self.components_, here).T
            else:
                squared = self._squared_to(here, factors[rows], near)
            # Rounding must not put a training sample away from itself.
            same = np.all(np.abs(self._X[near[:, 0]] - here) <= rounding, axis=1).nonzero()[0]
            squared[same, near[same, 0] if limit is None else 0] = 0.0
            found.append(_nearest(squared, n_neighbors, None if limit is None else near))
        neighbors, distances = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return neighbors, distances

    def _with_themselves(self, neighbors: NDArray[np.intp], distances: Array) -> Found:
        own = np.arange(len(neighbors))[:, None]
        return np.hstack([own, neighbors]), np.hstack([np.zeros_like(distances[:, :1]), distances])

    def _check_candidates(
        self, n_candidates: int | None, n_neighbors: int, most: int
    ) -> int | None:
        """Return how many candidates to look at, or None for all."""
        wanted = self.n_candidates if n_candidates is None else n_candidates
        if wanted is None:
            return None
        return check_count(
            "n_candidates", wanted, n_neighbors, most, f"n_neighbors={n_neighbors} are asked for"
        )

    def _search_all(self, n_neighbors: int) -> Iterator[tuple[NDArray[np.intp], Array]]:
        first = 0
        for squared in self.pairwise_distances_chunked(squared=True):
            own = np.arange(len(squared))
            squared[own, first + own] = np.inf
            first += len(squared)
            yield _nearest(squared, n_neighbors, None)

    def _search_near(
        self, n_neighbors: int, n_candidates: int
    ) -> Iterator[tuple[NDArray[np.intp], Array]]:
        X, factors = self._X, self.components_
        known = n_candidates < self.neighbors_.shape[1]
        candidates = self.neighbors_ if known else self._search.of_training(n_candidates + 1)
        for rows in blocks_of(len(X), (n_candidates + 1) * factors.shape[1] * X.shape[1]):
            near = candidates[rows, 1 : n_candidates + 1]
            yield _nearest(self._squared_to(X[rows], factors[rows], near), n_neighbors, near)

    def _squared_to(self, points: Array, factors: Array, near: NDArray[np.intp]) -> Array:
        """Squared distances of each point to some training samples of its own."""
        difference = self._X[near] - points[:, None]
        own = np.einsum("idp,icp->icd", factors, difference, optimize=True)
        other = np.einsum("icdp,icp->icd", self.components_[near], difference, optimize=True)
        squared: Array = 0.5 * (np.sum(own**2, axis=2) + np.sum(other**2, axis=2))
        return squared


def half_distances(anchors: Array, factors: Array, points: Array) -> Array:
    r"""Half the squared distance from each anchor to each point under the anchor's model.

    Entry (i, j) is :math:`\tfrac12\lVert F_i(c_j - a_i)\rVert^2`, the part of the squared local
    distance that anchor *i* contributes.
    """
    n_anchors, d, n_features = factors.shape
    # The shift changes no difference, and keeps the products small for data far from zero.
    shift = anchors.mean(axis=0)
    anchors, points = anchors - shift, points - shift
    halves = np.empty((n_anchors, len(points)), dtype=np.result_type(factors, points))
    for rows in blocks_of(n_anchors, len(points) * d):
        block = factors[rows]
        seen = block.reshape(-1, n_features) @ points.T
        seen -= np.einsum("idp,ip->id", block, anchors[rows]).reshape(-1, 1)
        halves[rows] = 0.5 * np.sum(seen.reshape(len(rows), d, -1) ** 2, axis=1)
    return halves


def _nearest(
    squared: Array, n_neighbors: int, names: NDArray[np.intp] | None
) -> tuple[NDArray[np.intp], Array]:
    order = np.argsort(squared, axis=1, kind="stable")[:, :n_neighbors]
    distances = np.sqrt(np.take_along_axis(squared, order, axis=1))
    return (order if names is None else np.take_along_axis(names, order, axis=1)), distances
