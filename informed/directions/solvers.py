"""The closed forms and the paper's iteration: PCA, averaged, exact and gradient directions.

Every solver checks and centres its input, unless the caller has done both (``check_input=False``,
as in scikit-learn).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.exceptions import ConvergenceWarning

from informed.centering import CenteredSparse, center, row_squares
from informed.clusters.features import average_over_clusters
from informed.directions.result import Directions
from informed.validation import (
    Array,
    check_choice,
    check_count,
    check_labels,
    check_matrix,
    check_number,
)

# Down to this share of the leading eigenvalue a Gram matrix gives the others accurately enough.
GRAM_TRUST = 1e-4
# Sparse samples with so few rows or columns are small when dense.
DENSE_SIDE = 200


class RankError(ValueError):
    """More directions were asked for than the data have.

    Attributes
    ----------
    rank : int
        How many there are.
    """

    def __init__(self, message: str, rank: int) -> None:
        super().__init__(message)
        self.rank = rank


def pca_directions(X: Array, n_components: int, *, check_input: bool = True) -> Directions:
    """Leading principal directions.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    n_components : int
        Number of directions, at most the rank of the centred data.
    check_input : bool
        False for a caller that has checked everything and centred ``X``.

    Returns
    -------
    Directions

    Examples
    --------
    >>> X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> pca_directions(X, 1).directions.T
    array([[1., 0.]])
    """
    centered: Any = X
    if check_input:
        centered, n_components = _check_and_center(X, n_components)
    if isinstance(centered, CenteredSparse):
        singular, Vt = _leading_right_vectors(centered, n_components)
    else:
        _, singular, Vt = linalg.svd(centered, full_matrices=False, check_finite=False)
    _check_rank(singular, centered, n_components)
    variances = singular[:n_components] ** 2 / (len(centered) - 1)
    return Directions(fix_signs(Vt[:n_components].T), variances, variances, penalty=0.0)


def averaged_directions(
    X: Array,
    labels: NDArray[np.integer],
    n_components: int,
    *,
    check_input: bool = True,
) -> Directions:
    r"""PCA's directions averaged over clusters of features, :math:`\tilde U = HH^\top U`.

    The columns are piecewise constant over the clusters. None is longer than one, and they need
    not be orthogonal; they are returned as the formula gives them.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    labels : int array of shape (n_features,)
        Cluster of each feature.
    n_components : int
        Number of directions, at most the number of clusters and the rank of the centred data.
    check_input : bool
        False for a caller that has checked everything and centred ``X``.

    Returns
    -------
    Directions
    """
    centered = X
    if check_input:
        centered, labels, n_components = check_problem(X, labels, n_components)
    pca = pca_directions(centered, n_components, check_input=False)
    U = average_over_clusters(pca.directions, labels)
    return Directions(U, variances_along(centered, U), pca.variances)


def exact_directions(
    X: Array,
    labels: NDArray[np.integer],
    n_components: int,
    *,
    pca_variances: bool = True,
    check_input: bool = True,
) -> Directions:
    r"""Orthonormal directions in the span of the indicators with the least reconstruction error.

    For :math:`U = HT` with orthonormal *T*, :math:`R = \operatorname{tr}\hat\Sigma -
    \operatorname{tr}(T^\top H^\top\hat\Sigma H T)`. So *T* holds the leading eigenvectors of
    :math:`H^\top\hat\Sigma H`: the left singular vectors of :math:`B = H^\top X_c^\top`, the K × n
    matrix of cluster means, each times the root of the cluster's size. This is PCA of the cluster
    means. The paper's iteration, :func:`gradient_directions`, converges to its span from almost
    all starts if the constant step is short enough; the columns may be rotated.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    labels : int array of shape (n_features,)
        Cluster of each feature.
    n_components : int
        Number of directions, at most the rank of the cluster means.
    pca_variances : bool
        Whether to compute PCA's variances too. They take singular values of the whole data, which
        cost more than the directions.
    check_input : bool
        False for a caller that has checked everything and centred ``X``.

    Returns
    -------
    Directions

    Examples
    --------
    >>> X = np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> exact_directions(X, [0, 0, 1], 1).directions.round(3).T
    array([[0.707, 0.707, 0.   ]])
    """
    centered = X
    if check_input:
        centered, labels, n_components = check_problem(X, labels, n_components)
    B = cluster_coordinates(centered.T, labels)
    T, singular, _ = linalg.svd(B, full_matrices=False, check_finite=False)
    U = from_cluster_coordinates(T[:, :n_components], labels)
    _check_rank(singular, B, n_components, "the cluster means")
    variances = singular[:n_components] ** 2 / (len(centered) - 1)
    spectrum = leading_variances(centered, n_components) if pca_variances else np.empty(0)
    return Directions(fix_signs(U), variances, spectrum)


def gradient_directions(
    X: Array,
    labels: NDArray[np.integer],
    n_components: int,
    *,
    step: str = "constant",
    max_iter: int = 50_000,
    tol: float = 1e-10,
    check_input: bool = True,
) -> Directions:
    r"""Directions by gradient projection from PCA's, scaled to unit length, as in the paper.

    Each step is :math:`U \leftarrow HH^\top(U + \alpha G)` with
    :math:`G = -\tfrac12\nabla R = (I-UU^\top)\hat\Sigma U + \hat\Sigma(I-UU^\top)U`. At PCA's
    directions *G* is zero, so the first step only averages over the clusters.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    labels : int array of shape (n_features,)
        Cluster of each feature.
    n_components : int
        Number of directions, at most the number of clusters and the rank of the centred data.
    step : {"constant", "paper"}
        ``"constant"`` takes :math:`\alpha = 1/(4 s_1)`, :math:`s_1` the largest eigenvalue of
        :math:`H^\top\hat\Sigma H`: the longest step for which the book proves that it converges
        from averaged directions. ``"paper"`` takes :math:`\alpha = 0.1/\lVert G\rVert_2`, the
        authors' rule: where the clusters fit well, *G* vanishes at the solution, its normalised
        version does not, and the iteration circles around the solution instead of settling.
    max_iter : int
        Largest number of steps; a :class:`~sklearn.exceptions.ConvergenceWarning` says when it was
        reached first.
    tol : float
        Stop when a step moves the directions by less than this (Frobenius norm).
    check_input : bool
        False for a caller that has checked everything and centred ``X``.

    Returns
    -------
    Directions
        ``history`` holds :func:`reconstruction_error` at PCA's directions and after each step,
        before the final scaling.

    Notes
    -----
    After the first projection :math:`U = HT`, so the iteration runs on the K × d matrix *T* alone
    and needs from the data only :math:`H^\top\hat\Sigma H` and, for the paper's rule,
    :math:`H^\top\hat\Sigma(I-HH^\top)\hat\Sigma H`.

    The columns are scaled, never orthogonalised, as in the paper. At the solution they are
    orthonormal anyway and span what :func:`exact_directions` spans; single columns may be rotated
    among each other. The exception: if averaging makes PCA's directions linearly dependent, no step
    can separate them again, and the iteration stops at a saddle point.
    """
    centered = X
    if check_input:
        centered, labels, n_components = check_problem(X, labels, n_components)
    check_choice("step", step, ["constant", "paper"])
    max_iter = check_count("max_iter", max_iter, 1)
    tol = check_number("tol", tol)
    degrees = len(centered) - 1
    pca = pca_directions(centered, n_components, check_input=False)
    total = float(row_squares(centered).sum() / degrees)
    B = cluster_coordinates(centered.T, labels)
    S1 = B @ B.T / degrees
    SH = (B @ centered).T / degrees
    outside = SH - average_over_clusters(SH, labels)
    S2 = outside.T @ outside
    largest = float(linalg.eigvalsh(S1)[-1])
    alpha = 1.0 / (4.0 * largest)
    rounding = 1000 * float(np.finfo(centered.dtype).eps) * largest

    # In double precision for float32 data too: rounding would otherwise keep the steps longer than
    # any useful tol.
    T = cluster_coordinates(pca.directions, labels).astype(np.float64)
    history = [total - float(pca.variances.sum()), _reduced_error(total, S1, T)]
    converged = False
    while not converged and len(history) <= max_iter:
        SU, gram = S1 @ T, T.T @ T
        C = T.T @ SU
        G = 2.0 * SU - T @ C - SU @ gram
        if step == "paper":
            # In full space the gradient has a part outside the span too, which counts in its norm.
            A = 2.0 * np.eye(n_components) - gram
            squared = G.T @ G + A @ (T.T @ S2 @ T) @ A
            length = float(np.sqrt(linalg.eigvalsh(squared)[-1]))
            # A gradient that is all rounding must not be scaled up to a step.
            alpha = 0.1 / length if length > rounding else 0.0
        T = T + alpha * G
        history.append(_reduced_error(total, S1, T))
        converged = bool(alpha * np.linalg.norm(G) <= tol)
    if not converged:
        warnings.warn(
            f"gradient_directions stopped after max_iter={max_iter} steps before a step became "
            f"shorter than tol={tol:g}: raise max_iter, or use exact_directions",
            ConvergenceWarning,
            stacklevel=2,
        )
    U = fix_signs(unit_columns(from_cluster_coordinates(T, labels))).astype(centered.dtype)
    return Directions(
        U,
        variances_along(centered, U),
        pca.variances,
        n_iter=len(history) - 1,
        history=np.array(history),
        converged=converged,
    )


# ----------------------------------------------------------- to the span of the clusters, and back


def cluster_coordinates(columns: Array, labels: NDArray[np.integer]) -> Array:
    r"""Coordinates :math:`H^\top U` of the columns in the span of the indicators.

    A sparse product reads the columns once, and knows samples that are never made dense.
    """
    ones = np.ones(len(labels), dtype=columns.dtype)
    members = sparse.csr_array((ones, labels, np.arange(len(labels) + 1)))
    root_sizes = np.sqrt(np.bincount(labels)).astype(columns.dtype)
    coordinates: Array = (members.T @ columns) / root_sizes[:, None]
    return coordinates


def from_cluster_coordinates(coordinates: Array, labels: NDArray[np.integer]) -> Array:
    r"""Vectors :math:`HT` of feature space with the given coordinates ``T``."""
    root_sizes = np.sqrt(np.bincount(labels)).astype(coordinates.dtype)
    expanded: Array = (coordinates / root_sizes[:, None])[labels]
    return expanded


# -------------------------------------------------------------------------- checks and small steps


def check_problem(
    X: Array, labels: NDArray[np.integer], n_components: int
) -> tuple[Array, NDArray[np.intp], int]:
    """Centre ``X`` and check the number of directions against its shape and the clusters."""
    centered, n_components = _check_and_center(X, n_components)
    labels = check_labels(labels, centered.shape[1])
    n_clusters = int(labels.max()) + 1
    check_count("n_components", n_components, 1, n_clusters, f"labels hold {n_clusters} clusters")
    return centered, labels, n_components


def _check_and_center(X: Array, n_components: int) -> tuple[Array, int]:
    X = check_matrix(X)
    rank = min(len(X) - 1, X.shape[1])
    why = f"centred data of shape {X.shape} has rank at most {rank}"
    n_components = check_count("n_components", n_components, 1, rank, why)
    return center(X)[0], n_components


def _check_rank(
    singular: Array, matrix: Array, n_components: int, what: str = "the centred data"
) -> None:
    tolerance = singular[0] * max(matrix.shape) * np.finfo(matrix.dtype).eps
    rank = int(np.sum(singular > tolerance))
    if n_components > rank:
        raise RankError(
            f"n_components={n_components} is out of range: the rank of {what} is {rank}, "
            "and a direction without variance has no Mahalanobis scale",
            rank,
        )


def fix_signs(U: Array) -> Array:
    """Flip columns so that the largest entry of each is positive (first among near ties)."""
    size = np.abs(U)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    signs = np.where(U[first, np.arange(U.shape[1])] < 0, -1, 1).astype(U.dtype)
    flipped: Array = U * signs
    return flipped


def unit_columns(U: Array) -> Array:
    """Scale each column to length one."""
    lengths = np.linalg.norm(U, axis=0)
    zero = lengths <= np.finfo(U.dtype).eps
    if zero.any():
        raise ValueError(
            f"direction {int(np.argmax(zero))} averages to zero over the clusters: lower "
            "n_components, or use directions='exact'"
        )
    scaled: Array = U / lengths
    return scaled


def leading_variances(centered: Any, n_components: int) -> Array:
    r"""Leading eigenvalues of the sample covariance, without its eigenvectors.

    They are those of the Gram matrix of the smaller side, which takes a fraction of the time that
    singular values take. Rounding changes an eigenvalue of it by about
    :math:`\varepsilon\lambda_1`, so :math:`\lambda_d` has a relative error of about
    :math:`\varepsilon\lambda_1/\lambda_d`: at most 1e-11 as long as it is trusted, that is down to
    :data:`GRAM_TRUST`. Below, singular values are computed.
    """
    if isinstance(centered, CenteredSparse):
        singular = _leading_right_vectors(centered, n_components)[0]
    else:
        wide = centered if len(centered) <= centered.shape[1] else centered.T
        wide = wide.astype(np.float64, copy=False)
        size = len(wide)
        values = linalg.eigh(
            wide @ wide.T,
            eigvals_only=True,
            subset_by_index=[max(size - n_components, 0), size - 1],
            overwrite_a=True,
            check_finite=False,
        )[::-1]
        if len(values) == n_components and values[-1] > GRAM_TRUST * values[0]:
            trusted: Array = (values / (len(centered) - 1)).astype(centered.dtype)
            return trusted
        singular = linalg.svdvals(centered, check_finite=False)
    _check_rank(singular, centered, n_components)
    variances: Array = singular[:n_components] ** 2 / (len(centered) - 1)
    return variances


def _leading_right_vectors(centered: CenteredSparse, n_components: int) -> tuple[Array, Array]:
    """Leading singular values and right singular vectors of samples that are never made dense.

    By Lanczos' iteration on the Gram matrix of the smaller side, from a fixed start. What is
    smaller than the leading value by the root of the rounding error is noise there, and is zero.
    """
    if min(centered.shape) <= DENSE_SIDE:
        narrow = centered if centered.shape[1] <= len(centered) else centered.T
        dense = narrow @ np.eye(narrow.shape[1], dtype=centered.dtype)
        dense = dense if narrow is centered else dense.T
        _, singular, Vt = linalg.svd(dense, full_matrices=False, check_finite=False)
        return singular, Vt
    operator = LinearOperator(
        centered.shape,
        matvec=lambda v: centered @ v,
        rmatvec=lambda v: centered.T @ v,
        matmat=lambda V: centered @ V,
        rmatmat=lambda V: centered.T @ V,
        dtype=centered.dtype,
    )
    start = np.random.RandomState(0).uniform(0.5, 1.0, min(centered.shape))
    _, singular, Vt = svds(operator, k=n_components, v0=start.astype(centered.dtype))
    order = np.argsort(singular)[::-1]
    singular, Vt = singular[order], Vt[order]
    noise = np.sqrt(max(centered.shape) * np.finfo(centered.dtype).eps) * singular[0]
    return np.where(singular > noise, singular, 0.0), Vt


def variances_along(centered: Array, U: Array) -> Array:
    """Sample variance along each column, whatever its length."""
    lengths = np.sum(U**2, axis=0)
    lengths[lengths == 0] = 1
    variances: Array = np.sum((centered @ U) ** 2, axis=0) / lengths / (len(centered) - 1)
    return variances


def variance_across(centered: Array, U: Array, total: float, along: Array | None = None) -> float:
    """Mean variance of the samples across the span of the columns; exactly zero if none is left.

    Parameters
    ----------
    centered : array of shape (n_samples, n_features)
        Samples minus their mean.
    U : array of shape (n_features, d)
        Directions.
    total : float
        Sum of the squares of all samples, known to the caller.
    along : array of shape (d,) or None
        Variances along the directions, if others than those of the samples are to count.
    """
    n_samples, n_features = centered.shape
    basis = np.linalg.qr(U)[0]
    left = total - float(((centered @ basis) ** 2).sum())
    if n_features == basis.shape[1] or left <= 1e-10 * total:
        return 0.0
    if along is not None:
        left = total - float(along.sum()) * (n_samples - 1)
    return float(left / (n_samples - 1) / (n_features - basis.shape[1]))


def _reduced_error(total: float, S1: Array, T: Array) -> float:
    C = T.T @ S1 @ T
    return total - 2.0 * float(np.trace(C)) + float(np.sum(C * (T.T @ T)))
