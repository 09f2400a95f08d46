"""Directions that trade reconstruction error against the clusters, and the weight between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import linalg
from sklearn.model_selection import KFold

from informed.centering import center
from informed.clusters.features import average_over_clusters
from informed.directions.result import Directions
from informed.directions.solvers import (
    check_problem,
    cluster_coordinates,
    exact_directions,
    fix_signs,
    leading_variances,
    pca_directions,
    variances_along,
)
from informed.directions.weights import DirectionWeights, direction_weights, weighted_rows
from informed.spiked import detection_threshold, limiting_cosine, spikes_from_variances
from informed.validation import (
    PENALTY_RULES,
    Array,
    Penalty,
    PenaltyRule,
    check_choice,
    check_count,
    check_labels,
    check_matrix,
    check_number,
    check_penalty,
)


def penalized_directions(
    X: Array,
    labels: NDArray[np.integer],
    n_components: int,
    penalty: Penalty | DirectionWeights,
    *,
    n_folds: int = 5,
    recluster: Callable[[Array], NDArray[np.intp]] | None = None,
    random_state: int | RandomState | None = None,
    check_input: bool = True,
) -> Directions:
    r"""Orthonormal directions that trade reconstruction error against distance to the clusters.

    Minimises :math:`R(U) + \eta\lVert(I-HH^\top)U\rVert_F^2`. For orthonormal *U* this is the
    same as maximising :math:`\operatorname{tr}[U^\top(\hat\Sigma + \eta HH^\top)U]`, so *U* holds
    the leading left singular vectors of :math:`[X_c^\top/\sqrt{n-1}\;|\;\sqrt\eta H]`. η = 0 is
    PCA and η → ∞ the hard constraint of :func:`exact_directions`.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    labels : int array of shape (n_features,)
        Cluster of each feature.
    n_components : int
        Number of directions, at most the number of clusters and the rank of the centred data.
    penalty : float, "cv", "capped", "per-direction" or DirectionWeights
        η, in the units of the variances; ``numpy.inf`` is allowed. A name lets
        :func:`choose_penalty` find it from the data. With
        :class:`~informed.directions.DirectionWeights` each direction has a weight of its own.
    n_folds, recluster, random_state
        Passed to :func:`choose_penalty` when ``penalty`` is a name.
    check_input : bool
        False for a caller that has checked everything and centred ``X``.

    Returns
    -------
    Directions
        With the η that was used as ``penalty``; the largest of the weights if there are several.

    Notes
    -----
    Beyond :math:`\lambda_1/\sqrt\varepsilon`, with λ₁ the leading variance and ε the machine
    precision, the solution differs from the hard constraint by less than rounding lets one compute,
    and the hard constraint is returned.
    """
    centered = X
    if check_input:
        centered, labels, n_components = check_problem(X, labels, n_components)
    chosen = penalty if isinstance(penalty, DirectionWeights) else check_penalty(penalty)
    if isinstance(chosen, str):
        chosen = choose_penalty(
            X,
            labels,
            n_components,
            chosen,
            n_folds=n_folds,
            recluster=recluster,
            random_state=random_state,
        )
    weights = chosen if isinstance(chosen, DirectionWeights) else _one_weight(chosen, labels)
    weight = float(max(weights.base, weights.weights.max(initial=0.0)))
    pca_variances = leading_variances(centered, n_components)
    limit = float(pca_variances[0] / np.sqrt(np.finfo(centered.dtype).eps))
    if weights.base >= limit:
        hard = exact_directions(
            centered, labels, n_components, pca_variances=False, check_input=False
        )
        return Directions(hard.directions, hard.variances, pca_variances, penalty=weight)
    stacked = weighted_rows(centered, labels, weights, limit)
    U = fix_signs(_leading_right_vectors(stacked, n_components))
    return Directions(U, variances_along(centered, U), pca_variances, penalty=weight)


def _leading_right_vectors(rows: Array, n_components: int) -> Array:
    """Leading right singular vectors of wide rows, in columns.

    From the triangular factor of a QR decomposition, without the orthogonal one, which would cost
    most. What that loses is the ratio of the singular values times a rounding error: here at most
    the root of λ₁ over the larger of η and λ_d, because each of the K ≥ d indicators adds η.
    """
    if len(rows) >= rows.shape[1]:
        right: Array = linalg.svd(rows, full_matrices=False, check_finite=False)[2]
        return right[:n_components].T
    triangle = linalg.qr(rows.T, mode="r", check_finite=False)[0][: len(rows)]
    left, singular, _ = linalg.svd(triangle.T, full_matrices=False, check_finite=False)
    if singular[n_components - 1] <= singular[0] * np.sqrt(np.finfo(rows.dtype).eps):
        right = linalg.svd(rows, full_matrices=False, check_finite=False)[2]
        return right[:n_components].T
    vectors: Array = rows.T @ (left[:, :n_components] / singular[:n_components])
    return vectors


def _one_weight(weight: float, labels: NDArray[np.integer]) -> DirectionWeights:
    """Return the single penalty: no target stands out."""
    return DirectionWeights(np.empty((int(labels.max()) + 1, 0)), np.empty(0), weight)


# ---------------------------------------------------------------------------- choosing the penalty


def choose_penalty(
    X: Array,
    labels: NDArray[np.integer],
    n_components: int,
    rule: PenaltyRule,
    *,
    n_folds: int = 5,
    recluster: Callable[[Array], NDArray[np.intp]] | None = None,
    random_state: int | RandomState | None = None,
) -> float | DirectionWeights:
    r"""Choose the weight, or one weight for each direction, from the data.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data.
    labels : int array of shape (n_features,)
        Cluster of each feature.
    n_components : int
        Number of directions.
    rule : {"cv", "capped", "per-direction"}
        How it is chosen:

        - ``"cv"``: the weight with the least held-out reconstruction error, see
          :func:`penalty_path`.
        - ``"capped"``: the smaller of that weight and :func:`analytic_penalty`. Each of the two
          overrates the clusters now and then, for different reasons.
        - ``"per-direction"``: the weights of :func:`~informed.directions.direction_weights`, none
          above a cap. The cap is the one with the least held-out reconstruction error.
    n_folds, recluster, random_state
        As in :func:`penalty_path`.

    Returns
    -------
    penalty : float or DirectionWeights

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat(np.arange(4), 25)
    >>> X = rng.normal(size=(30, 4))[:, labels] + rng.normal(size=(30, 100))
    >>> one = choose_penalty(X, labels, 3, "capped")
    >>> one <= penalty_path(X, labels, 3).best
    True
    >>> choose_penalty(X, labels, 3, "per-direction").weights.shape
    (3,)
    """
    check_choice("rule", rule, PENALTY_RULES)
    return PenaltyChoice(X, n_components, rule, recluster, n_folds, random_state)(labels)


@dataclass(eq=False)
class PenaltyChoice:
    """The choice of :func:`choose_penalty` for one set of samples and any clustering.

    Clusters that are found anew in each fold do not depend on those of all samples. So the folds
    are looked at once, however many clusterings are asked about.

    Attributes
    ----------
    X, n_components, rule, recluster, n_folds, random_state
        As in :func:`choose_penalty`. A number as rule is a weight that needs no choice; asked
        nevertheless, the choice is that of ``"cv"``.
    """

    X: Array
    n_components: int
    rule: Penalty
    recluster: Callable[[Array], NDArray[np.intp]] | None = None
    n_folds: int = 5
    random_state: int | RandomState | None = None
    _held_out: float | None = field(default=None, init=False)

    def __call__(self, labels: NDArray[np.integer]) -> float | DirectionWeights:
        """Choose the weight, or one for each direction, for a clustering of the features."""
        X = check_matrix(self.X, min_samples=3)
        labels = check_labels(labels, X.shape[1])
        d = check_count("n_components", self.n_components, 1, int(labels.max()) + 1, "clusters")
        best = self._held_out
        if best is None:
            best = self._least_held_out(X, labels, d)
            self._held_out = None if self.recluster is None else best
        if self.rule == "per-direction":
            return direction_weights(X, labels, d).capped(best)
        return min(best, analytic_penalty(X, labels, d)) if self.rule == "capped" else best

    def _least_held_out(self, X: Array, labels: NDArray[np.intp], n_components: int) -> float:
        """Weight, or cap on the weights, with the least held-out error."""
        grid = default_grid(float(leading_variances(center(X)[0], 1)[0]))
        errors_of = cap_errors if self.rule == "per-direction" else held_out_errors
        errors = [
            errors_of(*fold, n_components, grid)
            for fold in held_out_folds(X, labels, self.n_folds, self.recluster, self.random_state)
        ]
        return PenaltyPath(grid, np.column_stack(errors)).best


@dataclass(frozen=True, eq=False)
class PenaltyPath:
    """Held-out reconstruction error along a path of penalties.

    Attributes
    ----------
    penalties : array of shape (n_penalties,)
        Increasing weights η.
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
    if penalties is None:
        grid = default_grid(float(leading_variances(center(X)[0], 1)[0]))
    else:
        grid = np.array([check_number("penalties", w, finite=False) for w in penalties])
        if len(grid) == 0 or np.any(grid[1:] <= grid[:-1]):
            raise ValueError(f"penalties={penalties!r} must hold increasing weights")
    errors = [
        held_out_errors(*fold, n_components, grid)
        for fold in held_out_folds(X, labels, n_folds, recluster, random_state)
    ]
    return PenaltyPath(grid, np.column_stack(errors))


def held_out_folds(
    X: Array,
    labels: NDArray[np.intp],
    n_folds: int,
    recluster: Callable[[Array], NDArray[np.intp]] | None,
    random_state: int | RandomState | None,
) -> Iterator[tuple[Array, Array, NDArray[np.intp]]]:
    """Training samples, held-out samples and labels that know nothing of the latter."""
    n_folds = check_count("n_folds", n_folds, 2)
    folds = KFold(
        min(n_folds, len(X)),
        shuffle=True,
        random_state=0 if random_state is None else random_state,
    )
    for train, test in folds.split(X):
        own = labels
        if recluster is not None:
            own = check_labels(recluster(X[train]), X.shape[1], "recluster(X)")
        yield X[train], X[test], own


def analytic_penalty(X: Array, labels: NDArray[np.integer], n_components: int) -> float:
    r"""Penalty of an empirical Bayes argument: noise over signal outside the clusters.

    Let direction *i* have a signal of variance :math:`\ell_i` above noise of variance
    :math:`\sigma^2` in every direction. What PCA finds outside the span of the
    indicators is the true part, of squared length :math:`s_i`, plus noise, of squared length
    :math:`\nu_i`. A penalty η shortens both by about
    :math:`f_i = \ell_i/(\ell_i + \eta)`. The η returned makes
    :math:`\sum_i (1 - f_i)^2 s_i + f_i^2 \nu_i` least. For a single direction that is
    :math:`\eta = \ell\,\nu/s`, with :math:`f = s/(s + \nu)`: the factor of the posterior
    mean when the true part has a normal prior whose variance is estimated from the data.

    Variances and noise come from the asymptotics of spiked covariance matrices, where PCA's
    variances are inflated and its directions turned by known amounts. Directions too weak to be
    seen at all are left out; without any other the penalty is infinite.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    labels : int array of shape (n_features,)
        Cluster of each feature. The formula takes them as known: labels found from ``X`` have
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
    centered, labels, n_components = check_problem(X, labels, n_components)
    n_features, n_clusters = centered.shape[1], int(labels.max()) + 1
    pca = pca_directions(centered, n_components, check_input=False)
    U, aspect = pca.directions, n_features / (len(centered) - 1)
    total = float(np.sum(centered**2) / (len(centered) - 1))
    strength, noise = spikes_from_variances(pca.variances, total, n_features, aspect)
    seen = strength > detection_threshold(aspect, noise)
    excess = strength[seen]
    cosine = limiting_cosine(excess, aspect, noise)
    misfit = np.sum((U - average_over_clusters(U, labels)) ** 2, axis=0)[seen]
    nu = (1 - cosine) / cosine * (1 - n_clusters / n_features)
    signal = np.maximum(misfit / cosine - nu, 0.0)
    grid = default_grid(float(pca.variances[0]))
    shrinkage = excess / (excess + grid[:, None])
    loss = np.sum((1 - shrinkage) ** 2 * signal + shrinkage**2 * nu, axis=1)
    return float(grid[np.argmin(loss)]) if seen.any() else np.inf


def default_grid(leading: float) -> Array:
    """Weights from none to infinite, in proportion to the leading variance."""
    return np.concatenate([[0.0], leading * np.logspace(-4, 3, 29), [np.inf]])


def held_out_errors(
    train: Array,
    test: Array,
    labels: NDArray[np.intp],
    n_components: int,
    grid: Array | Sequence[DirectionWeights],
) -> Array:
    r"""Mean held-out error for each penalty, through one small eigenproblem per penalty.

    With :math:`C = X_c/\sqrt{n-1}`, the symmetric root *S* of the weights (:math:`\sqrt\eta\,I` for
    a single one) and :math:`M = [C;\ SH^\top]` the directions are :math:`M^\top w/\sigma` for the
    leading eigenvectors *w* of :math:`MM^\top`, which needs only :math:`CC^\top` and :math:`CH`. If
    n > p, *C* is first replaced by its triangular factor.
    """
    centered, mean = center(train)
    C = centered / np.sqrt(len(train) - 1)
    if len(C) > C.shape[1]:
        C = linalg.qr(C, mode="r")[0][: C.shape[1]]
    fresh = (test - mean).T
    n_rows = len(C)
    gram, cross = C @ C.T, cluster_coordinates(C.T, labels).T
    seen = np.vstack([C @ fresh, cluster_coordinates(fresh, labels)])
    energy = np.sum(fresh**2)
    # The trace bounds the leading variance, beyond which weights act as if they were infinite.
    limit = float(np.trace(gram)) / np.sqrt(np.finfo(np.float64).eps)

    errors = np.empty(len(grid))
    for i, penalty in enumerate(grid):
        weights = (
            penalty
            if isinstance(penalty, DirectionWeights)
            else _one_weight(float(penalty), labels)
        )
        if np.isinf(weights.base):
            T = linalg.svd(cross.T, full_matrices=False)[0][:, :n_components]
            kept = np.sum((T.T @ seen[n_rows:]) ** 2)
        else:
            S = weights.root(max(limit, weights.base))
            M = np.block([[gram, cross @ S], [S @ cross.T, S @ S]])
            size = len(M)
            values, W = linalg.eigh(M, subset_by_index=[max(size - n_components, 0), size - 1])
            # Directions without any weight (a fold may have lower rank) reconstruct nothing.
            solid = values > values[-1] * size * np.finfo(M.dtype).eps
            scores = W[:n_rows].T @ seen[:n_rows] + W[n_rows:].T @ (S @ seen[n_rows:])
            kept = np.sum(scores[solid] ** 2 / values[solid, None])
        errors[i] = (energy - kept) / len(test)
    return errors


def cap_errors(
    train: Array, test: Array, labels: NDArray[np.intp], n_components: int, caps: Array
) -> Array:
    """Mean held-out error of the weights for each direction, for each cap on them."""
    centered = center(train)[0]
    n_seen = min(n_components, len(train) - 1, train.shape[1])
    formula = direction_weights(centered, labels, n_seen, check_input=False)
    largest = float(formula.weights.max(initial=formula.base))
    # Caps above the largest weight change nothing, so one of them stands for all.
    distinct = int(np.searchsorted(caps, largest))
    weights = [formula.capped(float(cap)) for cap in caps[: distinct + 1]]
    errors = held_out_errors(train, test, labels, n_components, weights)
    return np.concatenate([errors, np.full(len(caps) - len(errors), errors[-1])])
