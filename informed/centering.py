"""Centring of the features: one rule, for functions and estimators alike."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from informed.exceptions import ConstantFeatureWarning
from informed.validation import Array


class CenteredSparse:
    r"""Sparse samples minus their mean, without ever forming it: :math:`X - \mathbf 1\mu^\top`.

    Products with dense matrices are those of the sparse samples and a correction of rank one. For
    samples whose mean is large against their spread the correction cancels digits; such samples are
    not sparse in any useful sense, and dense ones are centred before anything else.

    Parameters
    ----------
    X : csr_array of shape (n_samples, n_features)
        Samples.
    mean : array of shape (n_features,)
        What is subtracted.

    Examples
    --------
    >>> X = sparse.csr_array([[0.0, 4.0], [2.0, 0.0]])
    >>> CenteredSparse(X, np.array([1.0, 2.0])) @ np.eye(2)
    array([[-1.,  2.],
           [ 1., -2.]])
    """

    # NumPy leaves products from the left to us.
    __array_ufunc__ = None

    def __init__(self, X: Any, mean: Array, *, transposed: bool = False) -> None:
        self._X, self._mean, self._transposed = X, mean, transposed
        self.dtype = X.dtype
        self.shape: tuple[int, int] = X.shape[::-1] if transposed else X.shape

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def T(self) -> CenteredSparse:
        """The transpose."""
        return CenteredSparse(self._X, self._mean, transposed=not self._transposed)

    def __matmul__(self, other: Array) -> Array:
        product: Array
        if self._transposed:
            product = self._X.T @ other
            product -= np.multiply.outer(self._mean, other.sum(axis=0))
        else:
            product = self._X @ other
            product -= self._mean @ other
        return product

    def __rmatmul__(self, other: Any) -> Array:
        dense: Array = other.toarray() if sparse.issparse(other) else other
        product: Array = (self.T @ dense.T).T
        return product

    def total(self) -> float:
        """Sum of all squares."""
        return float(self.row_squares().sum())

    def row_squares(self) -> Array:
        """Squared length of each row."""
        X = self._X
        squares = X.data**2
        if self._transposed:
            sums = np.bincount(X.indices, squares, X.shape[1])
            total = np.bincount(X.indices, X.data, X.shape[1])
            lengths = sums - 2 * self._mean * total + X.shape[0] * self._mean**2
        else:
            rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
            sums = np.bincount(rows, squares, X.shape[0])
            lengths = sums - 2 * (X @ self._mean) + np.sum(self._mean**2)
        squared: Array = np.maximum(lengths, 0.0)
        return squared


def row_squares(centered: Array | CenteredSparse) -> Array:
    """Squared length of each row, of dense samples or sparse ones.

    Examples
    --------
    >>> row_squares(np.array([[3.0, 4.0], [0.0, 1.0]]))
    array([25.,  1.])
    """
    if isinstance(centered, CenteredSparse):
        return centered.row_squares()
    squares: Array = np.einsum("ij,ij->i", centered, centered)
    return squares


def subtract(X: Any, mean: Array) -> Any:
    """Return samples minus a given mean: an array, or :class:`CenteredSparse` if sparse."""
    return CenteredSparse(X, mean) if sparse.issparse(X) else X - mean


def center(X: Any) -> tuple[Any, Array]:
    """Subtract the mean of each feature.

    The first sample is subtracted before, so that constant features become exactly zero instead of
    what rounding makes of their mean, and samples far from zero keep their digits.

    Parameters
    ----------
    X : array of shape (n_samples, n_features), or csr_array
        Samples.

    Returns
    -------
    centered : array of shape (n_samples, n_features)
        Samples minus the mean; :class:`CenteredSparse` if they are sparse.
    mean : array of shape (n_features,)
        The mean.

    Examples
    --------
    >>> import numpy as np
    >>> centered, mean = center(np.array([[0.1, 1.0], [0.1, 3.0], [0.1, 5.0]]))
    >>> centered
    array([[ 0., -2.],
           [ 0.,  0.],
           [ 0.,  2.]])
    >>> mean
    array([0.1, 3. ])
    """
    if sparse.issparse(X):
        # Sums in double precision: a mean of many single-precision numbers would lose digits.
        mean = np.bincount(X.indices, X.data, X.shape[1]).astype(X.dtype) / X.dtype.type(X.shape[0])
        return CenteredSparse(X, mean), mean
    first = X[0]
    centered: Array = X - first
    above_first = centered.mean(axis=0)
    centered -= above_first
    return centered, first + above_first


def warn_about_constant_features(X: Any, *, stacklevel: int = 3) -> None:
    """Warn when features of ``X`` never vary: they are all alike after centring.

    The warning points at the caller of the function that asks, or higher up.
    """
    highest, lowest = (
        side.toarray().ravel() if sparse.issparse(X) else side
        for side in (X.max(axis=0), X.min(axis=0))
    )
    constant = (highest == lowest).nonzero()[0]
    if len(constant):
        warnings.warn(
            f"X has {len(constant)} constant feature(s), the first at index {constant[0]}: "
            "they carry no information and cluster together",
            ConstantFeatureWarning,
            stacklevel=stacklevel,
        )
