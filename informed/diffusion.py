r"""Diffusion maps (Coifman and Lafon 2006) of samples or of precomputed distances.

Kernel :math:`k_{ij} = \exp(-d_{ij}^2/\varepsilon)`, Markov matrix :math:`P_{ij} = k_{ij}/D_i` with
the row sums :math:`D_i`. Its right eigenvectors φ come from the symmetric matrix with the entries
:math:`k_{ij}/\sqrt{D_i D_j}`, which has the same eigenvalues. They are scaled to unit length under
the stationary distribution :math:`\pi_i = D_i/\sum_j D_j`, so that the trivial one is constantly 1.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from informed.centering import center
from informed.directions.solvers import fix_signs
from informed.validation import Array, check_choice, check_count, check_matrix, check_number

__all__ = ["DiffusionMap"]


class DiffusionMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Diffusion map embedding.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates, below the number of samples.
    epsilon : float or "median", default="median"
        Kernel scale ε in :math:`\exp(-d^2/\varepsilon)`. ``"median"`` means ``scale`` times the
        median of the squared distances between different samples (of the stored ones, if the graph
        is sparse).
    scale : float, default=1.0
        Factor of the median; not used when ``epsilon`` is a number.
    alpha : float, default=0.0
        Density exponent: the kernel is divided by :math:`(q_iq_j)^\alpha`, *q* its row sums, before
        the rows are normalised. 0 keeps the density of the samples, 1 removes it.
    metric : {"euclidean", "precomputed"}, default="euclidean"
        Whether ``X`` holds samples or distances (not squared). Precomputed distances may be a
        sparse graph: what is not stored is infinitely far, stored zeros are distances of zero, and
        a pair stored in one direction only counts in both. Such a graph must be symmetric where
        both directions are stored.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        Coordinates :math:`\xi_k\varphi_k`, without the trivial one.
    eigenvalues_ : array of shape (n_components,)
        :math:`\xi_k`, without the trivial 1.
    eigenvectors_ : array of shape (n_samples, n_components)
        :math:`\varphi_k`.
    epsilon_ : float
        Kernel scale that was used.
    n_features_in_ : int
        Number of columns of ``X``.

    Notes
    -----
    Signs: the largest entry of each eigenvector, in absolute value, is positive; the first among
    entries that tie to one part in a million. Eigenvectors whose eigenvalues tie are determined
    only up to a rotation.

    Examples
    --------
    >>> line = np.linspace(0, 1, 20)[:, None]
    >>> first = DiffusionMap(n_components=1).fit_transform(line)[:, 0]
    >>> bool(np.all(np.diff(first) < 0) or np.all(np.diff(first) > 0))
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        epsilon: float | str = "median",
        scale: float = 1.0,
        alpha: float = 0.0,
        metric: str = "euclidean",
    ) -> None:
        self.n_components = n_components
        self.epsilon = epsilon
        self.scale = scale
        self.alpha = alpha
        self.metric = metric

    def fit(self, X: Any, y: object = None) -> Self:
        """Compute the embedding of the samples.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or distances of shape (n_samples, n_samples)
            Samples, or distances if ``metric="precomputed"``.
        y : ignored
            For use in pipelines.

        Returns
        -------
        self
        """
        check_choice("metric", self.metric, ["euclidean", "precomputed"])
        alpha = check_number("alpha", self.alpha)
        scale = check_number("scale", self.scale, open_low=True)
        if isinstance(self.epsilon, str):
            check_choice("epsilon", self.epsilon, ["median"])
        else:
            check_number("epsilon", self.epsilon, open_low=True)
        X = self._validate(X, reset=True)
        n_samples = X.shape[0]
        n_components = check_count(
            "n_components", self.n_components, 1, n_samples - 1, f"n_samples={n_samples}"
        )
        squared = self._squared_distances(X, reset=True)
        self.epsilon_ = (
            _median_scale(squared, scale) if isinstance(self.epsilon, str) else float(self.epsilon)
        )
        kernel = _kernel(squared, self.epsilon_)
        self._density = _row_sums(kernel) ** alpha
        kernel = _divide(kernel, self._density, self._density)
        row_sums = _row_sums(kernel)
        roots = np.sqrt(row_sums)
        trivial = roots / np.sqrt(row_sums.sum())
        self.eigenvalues_, vectors = _leading_eigenvectors(
            _divide(kernel, roots, roots), trivial, n_components
        )
        self.eigenvectors_ = fix_signs(vectors / trivial[:, None])
        self.embedding_ = self.eigenvectors_ * self.eigenvalues_
        return self

    def fit_transform(self, X: Any, y: object = None) -> Array:
        """Compute the embedding and return it.

        Parameters
        ----------
        X : array of shape (n_samples, n_features), or distances of shape (n_samples, n_samples)
            Samples or distances.
        y : ignored
            For use in pipelines.

        Returns
        -------
        embedding : array of shape (n_samples, n_components)
        """
        return self.fit(X).embedding_

    def transform(self, X: Any) -> Array:
        r"""Extend the embedding to new samples (Nyström).

        :math:`\varphi_k(x) = \xi_k^{-1}\sum_j P(x, j)\,\varphi_k(j)`, so that the coordinate
        :math:`\xi_k\varphi_k(x)` is the mean of :math:`\varphi_k` under one step of the Markov
        chain from *x*. On the training samples this is the embedding.

        Parameters
        ----------
        X : array of shape (n_new, n_features), or distances of shape (n_new, n_samples)
            New samples, or their distances to the training samples. In a sparse graph a training
            sample's distance to itself must be stored as a zero.

        Returns
        -------
        embedding : array of shape (n_new, n_components)
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        kernel = _kernel(self._squared_distances(X, reset=False), self.epsilon_, diagonal=False)
        reached = _row_sums(kernel)
        if not np.all(reached > 0):
            raise ValueError(
                f"X[{int(np.argmin(reached))}] is too far from every training sample for the "
                f"kernel of scale epsilon={self.epsilon_:g}"
            )
        # The new row's own density cancels when the row is normalised.
        kernel = _divide(kernel, None, self._density)
        extended: Array = (kernel @ self.eigenvectors_) / _row_sums(kernel)[:, None]
        return extended

    def _validate(self, X: Any, *, reset: bool) -> Any:
        precomputed = self.metric == "precomputed"
        n_rows = 2 if reset else 1
        if precomputed and sparse.issparse(X):
            X = validate_data(
                self,
                X,
                dtype=[np.float64, np.float32],
                accept_sparse="csr",
                ensure_min_samples=n_rows,
                reset=reset,
            )
        else:
            # The values are checked once; validate_data looks at the features and their names.
            samples = check_matrix(X, min_samples=n_rows)
            validate_data(self, X, reset=reset, skip_check_array=True)
            X = samples
        if precomputed:
            if reset and X.shape[0] != X.shape[1]:
                raise ValueError(f"X has shape {X.shape}: precomputed distances must be square")
            entries = X.data if sparse.issparse(X) else X
            if entries.size and entries.min() < 0:
                raise ValueError(
                    f"Negative values in data passed as X: the distance {entries.min():g} occurs, "
                    "and distances must be >= 0"
                )
        return X

    def _squared_distances(self, X: Any, *, reset: bool) -> Any:
        if self.metric == "euclidean":
            if reset:
                self._X, self._center = center(X)
                return euclidean_distances(self._X, squared=True)
            return euclidean_distances(X - self._center, self._X, squared=True)
        if not sparse.issparse(X):
            if reset and not np.allclose(X, X.T, rtol=1e-5, atol=1e-8 * np.max(X)):
                raise ValueError("X is not symmetric: precomputed distances must be")
            return X**2
        graph = sparse.csr_array(X)
        graph.data = graph.data**2
        return _symmetric_graph(graph) if reset else graph

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        precomputed = self.metric == "precomputed"
        tags.input_tags.pairwise = precomputed
        tags.input_tags.sparse = precomputed
        tags.input_tags.positive_only = precomputed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _symmetric_graph(squared: sparse.csr_array) -> sparse.csr_array:
    """Store each pair in both directions, and each sample's distance 0 to itself."""
    n = squared.shape[0]
    coo = squared.tocoo()
    between = coo.row != coo.col
    rows, columns, values = coo.row[between], coo.col[between], coo.data[between]
    # One number a pair, whichever direction it is stored in.
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    pairs, which = np.unique(low.astype(np.int64) * n + high, return_inverse=True)
    least = np.full(len(pairs), np.inf, dtype=values.dtype)
    most = np.zeros_like(least)
    np.minimum.at(least, which, values)
    np.maximum.at(most, which, values)
    if np.any(most - least > 1e-5 * most):
        raise ValueError(
            "X is not symmetric: the two directions of a pair store different distances"
        )
    low, high, itself = pairs // n, pairs % n, np.arange(n)
    return sparse.csr_array(
        (
            np.concatenate([most, most, np.zeros_like(values, shape=n)]),
            (np.concatenate([low, high, itself]), np.concatenate([high, low, itself])),
        ),
        shape=(n, n),
    )


def _median_scale(squared: Any, scale: float) -> float:
    if sparse.issparse(squared):
        coo = squared.tocoo()
        off_diagonal = coo.data[coo.row < coo.col]
    else:
        off_diagonal = squared[np.triu_indices(len(squared), k=1)]
    median = float(np.median(off_diagonal)) if off_diagonal.size else 0.0
    if median <= 0:
        raise ValueError(
            "epsilon='median' cannot be used: at least half of the distances are zero (or none is "
            "stored); give epsilon as a number"
        )
    return scale * median


def _kernel(squared: Any, epsilon: float, *, diagonal: bool = True) -> Any:
    if not sparse.issparse(squared):
        kernel = np.exp(-squared / epsilon)
        if diagonal:
            np.fill_diagonal(kernel, 1.0)
        return kernel
    kernel = squared.copy()
    kernel.data = np.exp(-kernel.data / epsilon)
    return kernel


def _row_sums(kernel: Any) -> Array:
    return np.asarray(kernel.sum(axis=1)).ravel()


def _divide(kernel: Any, rows: Array | None, columns: Array) -> Any:
    """Divide entry (i, j) by rows[i] · columns[j]."""
    if sparse.issparse(kernel):
        scaled = kernel @ sparse.diags_array(1.0 / columns)
        return scaled if rows is None else sparse.diags_array(1.0 / rows) @ scaled
    scaled = kernel / columns
    return scaled if rows is None else scaled / rows[:, None]


def _leading_eigenvectors(symmetric: Any, trivial: Array, count: int) -> tuple[Array, Array]:
    """Largest eigenvalues, falling, and their eigenvectors, apart from the trivial one.

    The trivial eigenvalue is moved from 1 to −1, below all others. So what is found is orthogonal
    to the trivial eigenvector even where unconnected parts give the eigenvalue 1 several times.
    """
    n = symmetric.shape[0]
    # Entries below the rounding of the leading eigenvalue connect nothing.
    links = symmetric > np.finfo(symmetric.dtype).eps
    n_parts = connected_components(links, directed=False, return_labels=False)
    if n_parts > 1:
        warnings.warn(
            f"the samples fall into {n_parts} unconnected parts: the leading coordinates only "
            "tell them apart; raise epsilon or, in a sparse graph, store more neighbours",
            UserWarning,
            stacklevel=3,
        )
    if sparse.issparse(symmetric) and count < n - 1:
        rest = LinearOperator(
            (n, n),
            matvec=lambda v: symmetric @ v - 2 * trivial * (trivial @ v),
            dtype=symmetric.dtype,
        )
        # A fixed start makes the iteration deterministic.
        start = np.random.RandomState(0).uniform(0.5, 1.0, n)
        values, vectors = eigsh(rest, k=count, which="LA", v0=start)
        order = np.argsort(values)[::-1]
        return values[order], vectors[:, order]
    dense = symmetric.toarray() if sparse.issparse(symmetric) else symmetric
    values, vectors = linalg.eigh(
        dense - 2 * np.outer(trivial, trivial), subset_by_index=[n - count, n - 1]
    )
    return values[::-1], vectors[:, ::-1]
