"""What a solver returns, and how good directions are: reconstruction error, distance of spans."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np
from scipy import linalg

from informed.centering import center
from informed.validation import Array, check_matrix


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of the samples and the variances along them.

    Attributes
    ----------
    directions : array of shape (n_features, d)
        One direction per column.
    variances : array of shape (d,)
        Sample variance along each direction, whatever the length of the column.
    pca_variances : array of shape (d,)
        The d largest eigenvalues of the sample covariance; empty if they were not asked for.
    n_iter : int
        Number of steps taken; 0 for a closed form.
    history : array
        Reconstruction error at the start and after each step; empty for a closed form.
    converged : bool
        Whether an iteration stopped by itself; True for a closed form.
    penalty : float
        Weight of the distance to the span of the indicators: 0 for PCA, infinite under the hard
        constraint.
    """

    directions: Array
    variances: Array
    pca_variances: Array
    n_iter: int = 0
    history: Array = field(default_factory=partial(np.empty, 0))
    converged: bool = True
    penalty: float = np.inf


def reconstruction_error(X: Array, U: Array) -> float:
    r"""Mean squared error of replacing each centred sample *c* by :math:`UU^\top c`.

    The mean divides by n − 1, as the covariance does. The columns of ``U`` need not be orthonormal.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    >>> round(reconstruction_error(X, np.array([[0.0], [1.0]])), 3)
    0.667
    """
    X, U = _check_pair(X, U)
    centered, _ = center(X)
    residual = centered - (centered @ U) @ U.T
    return float(np.sum(residual**2) / (len(X) - 1))


def reconstruction_gradient(X: Array, U: Array) -> Array:
    r"""Gradient of :func:`reconstruction_error` in ``U``.

    :math:`\nabla R = -2\,[(I-UU^\top)\hat\Sigma U + \hat\Sigma(I-UU^\top)U]`, computed through the
    data so that no covariance matrix is formed.
    """
    X, U = _check_pair(X, U)
    centered, _ = center(X)
    SU: Array = centered.T @ (centered @ U) / (len(X) - 1)
    gradient: Array = -2.0 * (2.0 * SU - U @ (U.T @ SU) - SU @ (U.T @ U))
    return gradient


def subspace_error(U: Array, V: Array, norm: str | int = "fro") -> float:
    r"""Distance :math:`\lVert UU^\top - VV^\top\rVert` of two sets of directions.

    Parameters
    ----------
    U, V : arrays of shape (n_features, d) and (n_features, d')
        The columns need not be orthonormal: the matrices are compared as they are.
    norm : {"fro", 2}
        Frobenius norm (the paper's :math:`e_F`) or spectral norm (:math:`e_2`).

    Examples
    --------
    >>> U, V = np.eye(3)[:, :1], np.eye(3)[:, 1:2]
    >>> round(subspace_error(U, V), 6), round(subspace_error(U, V, norm=2), 6)
    (1.414214, 1.0)
    """
    U, V = check_matrix(U, "U", min_samples=1), check_matrix(V, "V", min_samples=1)
    if len(U) != len(V):
        raise ValueError(
            f"U has {len(U)} rows and V has {len(V)}: they must have one for each feature"
        )
    order: Literal["fro", 2]
    if norm == "fro":
        order = "fro"
    elif norm == 2:
        order = 2
    else:
        raise ValueError(f"norm={norm!r} is unknown: it must be 'fro' or 2")
    # With [U V] = QR the difference is Q (R_U R_Uᵀ − R_V R_Vᵀ) Qᵀ; Q changes neither norm.
    R = linalg.qr(np.hstack([U, V]), mode="economic")[1]
    R_U, R_V = R[:, : U.shape[1]], R[:, U.shape[1] :]
    return float(np.linalg.norm(R_U @ R_U.T - R_V @ R_V.T, ord=order))


def _check_pair(X: Array, U: Array) -> tuple[Array, Array]:
    X, U = check_matrix(X), check_matrix(U, "U", min_samples=1)
    if len(U) != X.shape[1]:
        raise ValueError(
            f"U has {len(U)} rows: it must have one for each of X's {X.shape[1]} features"
        )
    return X, U
