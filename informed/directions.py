r"""Principal directions of the samples, with and without clusters of features.

Write :math:`X_c` for the centred data (n samples, p features) and
:math:`\Sigma = X_c^\top X_c/(n-1)`. Each function finds d directions, the columns of a p × d matrix
*U*, that keep the reconstruction error

.. math:: R(U) = \operatorname{tr}\bigl[(I-UU^\top)\,\Sigma\,(I-UU^\top)\bigr]

low, and differs in what it asks of *U*: nothing (PCA), to be an average over clusters of PCA's, to
lie in the span of the cluster indicators *H* (paper's iteration, or closed form), or to lie close
to it (penalty). No p × p matrix is ever formed.

Signs: the largest entry of each direction, in absolute value, is positive; among entries that tie
to one part in a million the first one counts. (Averaged directions keep the signs of those that
were averaged.) Directions whose variances tie are determined only up to a rotation among
themselves; then the subspace, not the single direction, is what can be relied on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from informed.clusters import (
    average_over_clusters,
    center,
    cluster_coordinates,
    from_cluster_coordinates,
)
from informed.validation import (
    Array,
    check_choice,
    check_count,
    check_labels,
    check_matrix,
    check_number,
)

__all__ = [
    "Directions",
    "PenaltyPath",
    "analytic_penalty",
    "averaged_directions",
    "exact_directions",
    "gradient_directions",
    "pca_directions",
    "penalized_directions",
    "penalty_path",
    "reconstruction_error",
    "reconstruction_gradient",
    "subspace_error",
]


@dataclass(frozen=True, eq=False)
class Directions:
    """Directions of the samples and the variances along them.

    Attributes
    ----------
    directions : array of shape (n_features, d)
        One direction a column.
    variances : array of shape (d,)
        Sample variance along each direction, whatever the length of the column.
    pca_variances : array of shape (d,)
        The d largest eigenvalues of the sample covariance.
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
    history: Array = field(default_factory=lambda: np.empty(0))
    converged: bool = True
    penalty: float = np.inf


# --------------------------------------------------------------------------------- what is
# minimised


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
    centered = center(X)
    residual = centered - (centered @ U) @ U.T
    return float(np.sum(residual**2) / (len(X) - 1))


def reconstruction_gradient(X: Array, U: Array) -> Array:
    r"""Gradient of :func:`reconstruction_error` in ``U``.

    :math:`\nabla R = -2\,[(I-UU^\top)\Sigma U + \Sigma(I-UU^\top)U]`, computed through the data so
    that no covariance matrix is formed.
    """
    X, U = _check_pair(X, U)
    centered = center(X)
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
        Frobenius norm (the paper's e_F) or spectral norm (e_2).

    Examples
    --------
    >>> U, V = np.eye(3)[:, :1], np.eye(3)[:, 1:2]
    >>> round(subspace_error(U, V), 6), round(subspace_error(U, V, norm=2), 6)
    (1.414214, 1.0)
    """
    U, V = check_matrix(U, "U", min_samples=1), check_matrix(V, "V", min_samples=1)
    if len(U) != len(V):
        raise ValueError(f"U has {len(U)} rows and V has {len(V)}: they must have one a feature")
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


# ---------------------------------------------------------------------------------- the five
# choices


def pca_directions(X: Array, n_components: int) -> Directions:
    """Leading principal directions.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    n_components : int
        Number of directions, at most the rank of the centred data.

    Returns
    -------
    Directions

    Examples
    --------
    >>> X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> pca_directions(X, 1).directions.T
    array([[1., 0.]])
    """
    centered, n_components = _prepare(X, n_components)
    return find_pca(centered, n_components)


def averaged_directions(X: Array, labels: NDArray[np.integer], n_components: int) -> Directions:
    r"""PCA's directions averaged over clusters of features, :math:`\tilde U = HH^\top U`.

    The columns are piecewise constant over the clusters. They are shorter than one and no longer
    orthogonal; they are returned as the formula gives them.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    labels : int array of shape (n_features,)
        Cluster of each feature.
    n_components : int
        Number of directions, at most the number of clusters and the rank of the centred data.

    Returns
    -------
    Directions
    """
    centered, n_components, labels = _prepare_with_labels(X, labels, n_components)
    return find_averaged(centered, labels, n_components)


def exact_directions(X: Array, labels: NDArray[np.integer], n_components: int) -> Directions:
    r"""Orthonormal directions in the span of the indicators with the least reconstruction error.

    For :math:`U = HT` with orthonormal *T*, :math:`R = \operatorname{tr}\Sigma -
    \operatorname{tr}(T^\top H^\top\Sigma H T)`. So *T* holds the leading eigenvectors of
    :math:`H^\top\Sigma H`: the left singular vectors of :math:`B = H^\top X_c^\top`, the K × n
    matrix of cluster means, each times the root of the cluster's size. This is PCA of the cluster
    means. It is what the paper's iteration, :func:`gradient_directions`, converges to.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    labels : int array of shape (n_features,)
        Cluster of each feature.
    n_components : int
        Number of directions, at most the rank of the cluster means.

    Returns
    -------
    Directions

    Examples
    --------
    >>> X = np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> exact_directions(X, [0, 0, 1], 1).directions.round(3).T
    array([[0.707, 0.707, 0.   ]])
    """
    centered, n_components, labels = _prepare_with_labels(X, labels, n_components)
    return find_exact(centered, labels, n_components)


def gradient_directions(
    X: Array,
    labels: NDArray[np.integer],
    n_components: int,
    *,
    step: str = "constant",
    max_iter: int = 50_000,
    tol: float = 1e-10,
) -> Directions:
    r"""Directions by gradient projection from PCA's, scaled to unit length, as in the paper.

    Each step is :math:`U \leftarrow HH^\top(U + \alpha G)` with
    :math:`G = -\tfrac12\nabla R = (I-UU^\top)\Sigma U + \Sigma(I-UU^\top)U`. At PCA's directions
    *G* is zero, so the first step only averages over the clusters.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    labels : int array of shape (n_features,)
        Cluster of each feature.
    n_components : int
        Number of directions, at most the number of clusters and the rank of the centred data.
    step : {"constant", "paper"}
        ``"constant"`` takes :math:`\alpha = 1/(4\lambda)`, λ the largest eigenvalue of
        :math:`H^\top\Sigma H`: the longest step at which the length of the leading direction does
        not overshoot. ``"paper"`` takes :math:`\alpha = 0.1/\lVert G\rVert_2`, the authors' rule:
        where the clusters fit well, *G* vanishes at the solution, its normalised version does not,
        and the iteration circles around the solution instead of settling.
    max_iter : int
        Largest number of steps; a :class:`~sklearn.exceptions.ConvergenceWarning` says when it was
        reached first.
    tol : float
        Stop when a step moves the directions by less than this (Frobenius norm).

    Returns
    -------
    Directions
        ``history`` holds :func:`reconstruction_error` at PCA's directions and after each step,
        before the final scaling.

    Notes
    -----
    After the first projection :math:`U = HT`, so the iteration runs on the K × d matrix *T* alone
    and needs from the data only :math:`H^\top\Sigma H` and, for the paper's rule,
    :math:`H^\top\Sigma(I-HH^\top)\Sigma H`.

    The columns are scaled, never orthogonalised, as in the paper. At the solution they are
    orthonormal anyway and span what :func:`exact_directions` spans; single columns may be rotated
    among each other. The exception: if averaging makes PCA's directions linearly dependent, no step
    can part them again, and the iteration stops at a saddle point.
    """
    centered, n_components, labels = _prepare_with_labels(X, labels, n_components)
    check_choice("step", step, ["constant", "paper"])
    max_iter = check_count("max_iter", max_iter, 1)
    tol = check_number("tol", tol)
    return find_by_gradient(centered, labels, n_components, step, max_iter, tol)


def penalized_directions(
    X: Array,
    labels: NDArray[np.integer],
    n_components: int,
    penalty: float | str,
    *,
    n_folds: int = 5,
    recluster: Callable[[Array], NDArray[np.intp]] | None = None,
    random_state: int | RandomState | None = None,
) -> Directions:
    r"""Orthonormal directions that trade reconstruction error against distance to the clusters.

    Minimises :math:`R(U) + \lambda\lVert(I-HH^\top)U\rVert_F^2`. For orthonormal *U* this is the
    same as maximising :math:`\operatorname{tr}[U^\top(\Sigma + \lambda HH^\top)U]`, so *U* holds
    the leading left singular vectors of :math:`[X_c^\top/\sqrt{n-1}\;|\;\sqrt\lambda H]`. λ = 0 is
    PCA and λ → ∞ the hard constraint of :func:`exact_directions`.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    labels : int array of shape (n_features,)
        Cluster of each feature.
    n_components : int
        Number of directions, at most the number of clusters and the rank of the centred data.
    penalty : float or "cv"
        λ, in the units of the variances; ``numpy.inf`` is allowed. ``"cv"`` takes the λ with the
        least held-out reconstruction error, see :func:`penalty_path`. A weight without folds is
        :func:`~informed.directions.analytic_penalty`.
    n_folds, recluster, random_state
        Passed to :func:`penalty_path` when ``penalty="cv"``.

    Returns
    -------
    Directions
        With the λ that was used as ``penalty``.

    Notes
    -----
    Beyond :math:`\lambda_1/\sqrt\varepsilon`, with λ₁ the leading variance and ε the machine
    precision, the solution differs from the hard constraint by less than rounding lets one compute,
    and the hard constraint is returned.
    """
    centered, n_components, labels = _prepare_with_labels(X, labels, n_components)
    if isinstance(penalty, str):
        check_choice("penalty", penalty, ["cv"])
        weight = penalty_path(
            X,
            labels,
            n_components,
            n_folds=n_folds,
            recluster=recluster,
            random_state=random_state,
        ).best
    else:
        weight = check_number("penalty", penalty, finite=False)
    return find_penalized(centered, labels, n_components, weight)


# ------------------------------------------------------- the same on centred data, without the
# checks


def find_pca(centered: Array, n_components: int) -> Directions:
    """Leading principal directions of centred data."""
    _, singular, Vt = linalg.svd(centered, full_matrices=False, check_finite=False)
    _check_rank(singular, centered, n_components)
    variances = singular[:n_components] ** 2 / (len(centered) - 1)
    return Directions(fix_signs(Vt[:n_components].T), variances, variances, penalty=0.0)


def find_averaged(centered: Array, labels: NDArray[np.intp], n_components: int) -> Directions:
    """Principal directions of centred data averaged over clusters."""
    pca = find_pca(centered, n_components)
    U = average_over_clusters(pca.directions, labels)
    return Directions(U, _variances_along(centered, U), pca.variances)


def find_exact(centered: Array, labels: NDArray[np.intp], n_components: int) -> Directions:
    """Principal directions of the cluster means of centred data."""
    B = cluster_coordinates(centered.T, labels)
    T, singular, _ = linalg.svd(B, full_matrices=False, check_finite=False)
    _check_rank(singular, B, n_components, "the cluster means")
    U = fix_signs(from_cluster_coordinates(T[:, :n_components], labels))
    variances = singular[:n_components] ** 2 / (len(centered) - 1)
    return Directions(U, variances, _pca_variances(centered, n_components))


def find_by_gradient(
    centered: Array,
    labels: NDArray[np.intp],
    n_components: int,
    step: str = "constant",
    max_iter: int = 50_000,
    tol: float = 1e-10,
) -> Directions:
    """Gradient projection on centred data, in the coordinates of the indicators."""
    degrees = len(centered) - 1
    pca = find_pca(centered, n_components)
    total = float(np.sum(centered**2) / degrees)
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
            stacklevel=3,
        )
    U = fix_signs(unit_columns(from_cluster_coordinates(T, labels))).astype(centered.dtype)
    return Directions(
        U,
        _variances_along(centered, U),
        pca.variances,
        n_iter=len(history) - 1,
        history=np.array(history),
        converged=converged,
    )


def find_penalized(
    centered: Array, labels: NDArray[np.intp], n_components: int, weight: float
) -> Directions:
    """Penalised directions of centred data for a given weight."""
    pca_variances = _pca_variances(centered, n_components)
    if weight * np.sqrt(np.finfo(centered.dtype).eps) >= pca_variances[0]:
        hard = find_exact(centered, labels, n_components)
        return Directions(hard.directions, hard.variances, pca_variances, penalty=weight)
    identity = np.eye(int(labels.max()) + 1, dtype=centered.dtype)
    Ht = from_cluster_coordinates(identity, labels).T
    stacked = np.vstack([centered / np.sqrt(len(centered) - 1), np.sqrt(weight) * Ht])
    Vt = linalg.svd(stacked.astype(centered.dtype), full_matrices=False, check_finite=False)[2]
    U = fix_signs(Vt[:n_components].T)
    return Directions(U, _variances_along(centered, U), pca_variances, penalty=weight)


# ---------------------------------------------------------------------------- choosing the penalty


@dataclass(frozen=True, eq=False)
class PenaltyPath:
    """Held-out reconstruction error along a path of penalties.

    Attributes
    ----------
    penalties : array of shape (n_penalties,)
        Increasing weights λ.
    errors : array of shape (n_penalties, n_folds)
        Mean squared error of the held-out samples of each fold.
    """

    penalties: Array
    errors: Array

    @property
    def best(self) -> float:
        """The penalty with the least mean error; the smallest one among ties."""
        return float(self.penalties[np.argmin(self.errors.mean(axis=1))])


def penalty_path(
    X: Array,
    labels: NDArray[np.integer],
    n_components: int,
    *,
    penalties: Sequence[float] | None = None,
    n_folds: int = 5,
    recluster: Callable[[Array], NDArray[np.intp]] | None = None,
    random_state: int | RandomState | None = None,
) -> PenaltyPath:
    r"""Held-out reconstruction error of :func:`penalized_directions` for each penalty.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data.
    labels : int array of shape (n_features,)
        Cluster of each feature.
    n_components : int
        Number of directions.
    penalties : sequence of float, optional
        Increasing weights. By default 0, 29 weights from 10⁻⁴ to 10³ times the leading variance,
        and ∞.
    n_folds : int
        Number of folds of samples; with fewer samples than that, each one is a fold.
    recluster : callable, optional
        Maps training samples to labels. Needed for an honest choice whenever ``labels`` were found
        from ``X``: the held-out samples were coordinates of the points that k-means grouped, so
        with the labels kept they look closer to the clusters than new samples will be. Leave it out
        when the labels are known from elsewhere.
    random_state : int, RandomState or None
        Seed of the folds; None means the fixed seed 0, so that the choice is always reproducible.

    Returns
    -------
    PenaltyPath
    """
    X = check_matrix(X, min_samples=3)
    labels = check_labels(labels, X.shape[1])
    n_components = check_count("n_components", n_components, 1, int(labels.max()) + 1, "clusters")
    n_folds = check_count("n_folds", n_folds, 2)
    if penalties is None:
        grid = _default_grid(float(_pca_variances(center(X), 1)[0]))
    else:
        grid = np.array([check_number("penalties", w, finite=False) for w in penalties])
        if len(grid) == 0 or np.any(grid[1:] <= grid[:-1]):
            raise ValueError(f"penalties={penalties!r} must hold increasing weights")
    folds = KFold(
        min(n_folds, len(X)),
        shuffle=True,
        random_state=0 if random_state is None else random_state,
    )
    errors = [
        held_out_errors(
            X[train],
            X[test],
            labels
            if recluster is None
            else check_labels(recluster(X[train]), X.shape[1], "recluster(X)"),
            n_components,
            grid,
        )
        for train, test in folds.split(X)
    ]
    return PenaltyPath(grid, np.column_stack(errors))


def analytic_penalty(X: Array, labels: NDArray[np.integer], n_components: int) -> float:
    r"""Penalty of an empirical Bayes argument: noise over signal outside the clusters.

    Let direction *i* have variance :math:`\ell_i` above noise of variance :math:`\sigma^2` in every
    direction, :math:`\Delta_i = \ell_i - \sigma^2`. What PCA finds outside the span of the
    indicators is the true part, of squared length :math:`s_i`, plus noise, of squared length
    :math:`\nu_i`. A penalty λ shortens both by about
    :math:`f_i = \Delta_i/(\Delta_i + \lambda)`. The λ returned makes
    :math:`\sum_i (1 - f_i)^2 s_i + f_i^2 \nu_i` least. For a single direction that is
    :math:`\lambda = \Delta\,\nu/s`, with :math:`f = s/(s + \nu)`: the factor of the posterior
    mean when the true part has a normal prior whose variance is estimated from the data.

    Variances and noise come from the asymptotics of spiked covariance matrices, where PCA's
    variances are inflated and its directions turned by known amounts. Directions too weak to be
    seen at all are left out; without any other the penalty is infinite.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    labels : int array of shape (n_features,)
        Cluster of each feature. The argument takes them as known: labels found from ``X`` have
        adapted to its noise, and make the penalty too large.
    n_components : int
        Number of directions.

    Returns
    -------
    penalty : float
        One of the default weights of :func:`penalty_path`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat(np.arange(4), 25)
    >>> X = rng.normal(size=(30, 4))[:, labels] + rng.normal(size=(30, 100))
    >>> wrong = np.arange(100) % 4
    >>> bool(analytic_penalty(X, labels, 3) > 50 * analytic_penalty(X, wrong, 3))
    True
    """
    centered, n_components, labels = _prepare_with_labels(X, labels, n_components)
    n_features, n_clusters = centered.shape[1], int(labels.max()) + 1
    pca = find_pca(centered, n_components)
    U, aspect = pca.directions, n_features / (len(centered) - 1)
    total = float(np.sum(centered**2) / (len(centered) - 1))
    strength, noise = _without_inflation(pca.variances, total, n_features, aspect)
    seen = strength > np.sqrt(aspect) * noise
    excess, noise_ratio = strength[seen], noise / strength[seen]
    # Squared cosine between PCA's direction and the true one.
    cosine = (1 - aspect * noise_ratio**2) / (1 + aspect * noise_ratio)
    misfit = np.sum((U - average_over_clusters(U, labels)) ** 2, axis=0)[seen]
    nu = (1 - cosine) / cosine * (1 - n_clusters / n_features)
    signal = np.maximum(misfit / cosine - nu, 0.0)
    grid = _default_grid(float(pca.variances[0]))
    shrinkage = excess / (excess + grid[:, None])
    loss = np.sum((1 - shrinkage) ** 2 * signal + shrinkage**2 * nu, axis=1)
    return float(grid[np.argmin(loss)]) if seen.any() else np.inf


def _without_inflation(
    variances: Array, total: float, n_features: int, aspect: float
) -> tuple[Array, float]:
    """Variance of each direction above the noise, and the noise, from PCA's variances.

    A true variance ℓ shows as ℓ (1 + aspect · noise / (ℓ − noise)). The equation is solved for ℓ,
    then the noise is what is left of the total, and so on until both agree.
    """
    excess = np.zeros_like(variances)
    noise = (total - float(variances.sum())) / max(n_features - len(variances), 1)
    for _ in range(50):
        half = (variances - noise - aspect * noise) / 2
        excess = half + np.sqrt(np.maximum(half**2 - aspect * noise**2, 0.0))
        excess = np.where(half > np.sqrt(aspect) * noise, excess, 0.0)
        noise = (total - float(excess.sum())) / n_features
    return excess, noise


def _default_grid(leading: float) -> Array:
    """Weights from none to infinite, in proportion to the leading variance."""
    return np.concatenate([[0.0], leading * np.logspace(-4, 3, 29), [np.inf]])


def held_out_errors(
    train: Array, test: Array, labels: NDArray[np.intp], n_components: int, grid: Array
) -> Array:
    r"""Mean held-out error for each weight, through one small eigenproblem a weight.

    With :math:`C = X_c/\sqrt{n-1}` and :math:`M = [C;\ \sqrt\lambda H^\top]` the directions are
    :math:`M^\top w/\sigma` for the leading eigenvectors *w* of :math:`MM^\top`, which needs only
    :math:`CC^\top` and :math:`CH`. If n > p, *C* is first replaced by its triangular factor.
    """
    mean = train.mean(axis=0)
    C = (train - mean) / np.sqrt(len(train) - 1)
    if len(C) > C.shape[1]:
        C = linalg.qr(C, mode="r")[0][: C.shape[1]]
    fresh = (test - mean).T
    n_rows, n_clusters = len(C), int(labels.max()) + 1
    gram, cross = C @ C.T, cluster_coordinates(C.T, labels).T
    seen = np.vstack([C @ fresh, cluster_coordinates(fresh, labels)])
    energy = np.sum(fresh**2)

    errors = np.empty(len(grid))
    for i, weight in enumerate(grid):
        if np.isinf(weight):
            T = linalg.svd(cross.T, full_matrices=False)[0][:, :n_components]
            kept = np.sum((T.T @ seen[n_rows:]) ** 2)
        else:
            root = np.sqrt(weight)
            M = np.block([[gram, root * cross], [root * cross.T, weight * np.eye(n_clusters)]])
            size = len(M)
            values, W = linalg.eigh(M, subset_by_index=[max(size - n_components, 0), size - 1])
            # Directions without any weight (a fold may have lower rank) reconstruct nothing.
            solid = values > values[-1] * size * np.finfo(M.dtype).eps
            scores = W[:n_rows].T @ seen[:n_rows] + root * (W[n_rows:].T @ seen[n_rows:])
            kept = np.sum(scores[solid] ** 2 / values[solid, None])
        errors[i] = (energy - kept) / len(test)
    return errors


# -------------------------------------------------------------------------------------------
# helpers


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


def _check_pair(X: Array, U: Array) -> tuple[Array, Array]:
    X, U = check_matrix(X), check_matrix(U, "U", min_samples=1)
    if len(U) != X.shape[1]:
        raise ValueError(
            f"U has {len(U)} rows: it must have one for each of X's {X.shape[1]} features"
        )
    return X, U


def _prepare(X: Array, n_components: int) -> tuple[Array, int]:
    X = check_matrix(X)
    n_components = check_count(
        "n_components", n_components, 1, min(len(X) - 1, X.shape[1]), _rank_limits(X)
    )
    return center(X), n_components


def _prepare_with_labels(
    X: Array, labels: NDArray[np.integer], n_components: int
) -> tuple[Array, int, NDArray[np.intp]]:
    centered, n_components = _prepare(X, n_components)
    labels = check_labels(labels, centered.shape[1])
    n_clusters = int(labels.max()) + 1
    check_count("n_components", n_components, 1, n_clusters, f"labels hold {n_clusters} clusters")
    return centered, n_components, labels


def _rank_limits(X: Array) -> str:
    return f"centred data of shape {X.shape} has rank at most {min(len(X) - 1, X.shape[1])}"


def _check_rank(
    singular: Array, matrix: Array, n_components: int, what: str = "the centred data"
) -> None:
    tolerance = singular[0] * max(matrix.shape) * np.finfo(matrix.dtype).eps
    rank = int(np.sum(singular > tolerance))
    if n_components > rank:
        raise ValueError(
            f"n_components={n_components} is out of range: the rank of {what} is {rank}, "
            "and a direction without variance has no Mahalanobis scale"
        )


def _pca_variances(centered: Array, n_components: int) -> Array:
    singular = linalg.svdvals(centered, check_finite=False)
    _check_rank(singular, centered, n_components)
    variances: Array = singular[:n_components] ** 2 / (len(centered) - 1)
    return variances


def _variances_along(centered: Array, U: Array) -> Array:
    lengths = np.sum(U**2, axis=0)
    lengths[lengths == 0] = 1
    variances: Array = np.sum((centered @ U) ** 2, axis=0) / lengths / (len(centered) - 1)
    return variances


def _reduced_error(total: float, S1: Array, T: Array) -> float:
    C = T.T @ S1 @ T
    return total - 2.0 * float(np.trace(C)) + float(np.sum(C * (T.T @ T)))
