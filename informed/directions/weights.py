r"""One weight for each direction: targets in the span of the clusters, and how firmly they pull.

A single penalty η treats all directions alike, those that follow the clusters and those that do
not. Here every target :math:`h_j`, a unit vector in the span of the indicators *H*, has a weight
:math:`\eta_j` of its own, and

.. math:: R(U) + \sum_j \eta_j \lVert (I - UU^\top) h_j \rVert^2

is least for the leading eigenvectors of :math:`\hat\Sigma + \sum_j \eta_j h_j h_j^\top`, because
:math:`\lVert (I - UU^\top) h_j \rVert^2 = 1 - h_j^\top UU^\top h_j` for orthonormal *U*. With a
basis of the span as targets and equal weights this is the single penalty again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from informed.directions.solvers import (
    check_problem,
    cluster_coordinates,
    from_cluster_coordinates,
)
from informed.spiked import detection_threshold, limiting_cosine, spikes_from_variances
from informed.validation import Array


@dataclass(frozen=True, eq=False)
class DirectionWeights:
    r"""Targets in the span of the indicators, and their weights.

    Attributes
    ----------
    targets : array of shape (n_clusters, n_targets)
        Orthonormal columns: coordinates of the targets :math:`h_j = H t_j`.
    weights : array of shape (n_targets,)
        Weight :math:`\eta_j` of each target, in the units of the variances; it may be infinite.
    base : float
        Weight of the rest of the span, at most the smallest of ``weights``.
    """

    targets: Array
    weights: Array
    base: float

    def capped(self, cap: float) -> DirectionWeights:
        """Return the same targets with no weight above ``cap``.

        A cap that is small enough makes all weights equal: then this is the single penalty ``cap``.

        Examples
        --------
        >>> mixed = DirectionWeights(np.eye(3)[:, :2], np.array([4.0, 0.5]), 0.5)
        >>> mixed.capped(1.0).weights, mixed.capped(0.1).base
        (array([1. , 0.5]), 0.1)
        """
        return DirectionWeights(
            self.targets, np.minimum(self.weights, cap), float(min(self.base, cap))
        )

    def root(self, limit: float) -> Array:
        r"""Symmetric root of the matrix of weights, those above ``limit`` replaced by it.

        The matrix of weights is
        :math:`\eta_0 I + T\operatorname{diag}(\eta_j - \eta_0)\,T^\top`, K × K.

        Examples
        --------
        >>> DirectionWeights(np.eye(2)[:, :1], np.array([9.0]), 4.0).root(np.inf)
        array([[3., 0.],
               [0., 2.]])
        """
        base = np.sqrt(min(self.base, limit))
        excess = np.sqrt(np.minimum(self.weights, limit)) - base
        identity = np.eye(len(self.targets), dtype=self.targets.dtype)
        root: Array = base * identity + (self.targets * excess) @ self.targets.T
        return root


def direction_weights(
    X: Array, labels: NDArray[np.integer], n_components: int, *, check_input: bool = True
) -> DirectionWeights:
    r"""Weights by an empirical Bayes argument, one for each direction.

    PCA's directions are rotated among themselves so that the first lies as close to the span of the
    indicators as any, the next as close as any orthogonal to it, and so on: the columns become
    :math:`a_j + b_j`, where the parts :math:`a_j` inside the span are orthogonal to each other and
    the parts :math:`b_j` outside are, too. The misfit :math:`\mu_j = \lVert b_j\rVert^2` holds
    noise :math:`n_j`, which the asymptotics of spiked covariance matrices predict, and signal. The
    best factor for :math:`b_j` is signal over both, :math:`f_j = (1 - n_j/\mu_j)_+`, and the weight
    that shrinks by this factor is :math:`\eta_j = \ell_j (1 - f_j)/f_j`, with the strength
    :math:`\ell_j` of the direction. The targets are :math:`h_j = a_j/\lVert a_j\rVert`.

    Directions that are too weak to be told from noise have no target. The rest of the span has the
    smallest of the weights, so that it never pulls harder than a target does; without any direction
    that can be seen, all weights are infinite, the hard constraint.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    labels : int array of shape (n_features,)
        Cluster of each feature, taken as known: labels found from ``X`` have adapted to its noise,
        which makes the weights too large. ``penalized_directions(X, labels, d, "per-direction")``
        therefore caps them by held-out samples.
    n_components : int
        Number of directions.
    check_input : bool
        False for a caller that has checked everything and centred ``X``.

    Returns
    -------
    DirectionWeights

    Examples
    --------
    One direction is constant on the two clusters, the other one has nothing to do with them:

    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], 50)
    >>> loadings = np.column_stack([2.0 * labels - 1, rng.choice([-1.0, 1.0], 100)])
    >>> X = rng.normal(size=(60, 2)) @ loadings.T + rng.normal(size=(60, 100))
    >>> clustered, free = direction_weights(X, labels, 2).weights
    >>> bool(clustered > 100 * free)
    True
    """
    centered = X
    if check_input:
        centered, labels, n_components = check_problem(X, labels, n_components)
    degrees, n_features = len(centered) - 1, centered.shape[1]
    n_clusters = int(labels.max()) + 1
    singular, Vt = linalg.svd(centered, full_matrices=False, check_finite=False)[1:]
    variances = singular[:n_components] ** 2 / degrees
    aspect = n_features / degrees
    total = float(np.sum(singular**2) / degrees)
    strength, noise = spikes_from_variances(variances, total, n_features, aspect)
    seen = strength > detection_threshold(aspect, noise)
    if not seen.any():
        return DirectionWeights(np.empty((n_clusters, 0), centered.dtype), np.empty(0), np.inf)
    strength = strength[seen]
    inside = cluster_coordinates(Vt[:n_components][seen].T, labels)
    cosines, rotation = linalg.eigh(inside.T @ inside)
    misfit = np.clip(1 - cosines, 0.0, 1.0)
    blend = rotation**2
    turned = (1 - limiting_cosine(strength, aspect, noise)) * (1 - n_clusters / n_features)
    noise_outside, strengths = blend.T @ turned, blend.T @ strength
    signal = np.maximum(misfit - noise_outside, 0.0)
    # A misfit of zero without any noise asks for no correction: weight zero, not 0/0.
    weights = np.divide(
        strengths * noise_outside,
        signal,
        out=np.where(noise_outside > 0, np.inf, 0.0),
        where=signal > 0,
    )
    # A direction without any part inside the span has no target there.
    reached = cosines > np.sqrt(np.finfo(centered.dtype).eps)
    targets = (inside @ rotation)[:, reached] / np.sqrt(cosines[reached])
    # Closest to the clusters first.
    return DirectionWeights(
        np.ascontiguousarray(targets[:, ::-1]), weights[reached][::-1], float(weights.min())
    )


def weighted_rows(
    centered: Array, labels: NDArray[np.integer], weights: DirectionWeights, limit: float
) -> Array:
    r"""Rows whose leading right singular vectors solve the problem: samples, and invented ones."""
    root = weights.root(limit)
    invented = from_cluster_coordinates(root, labels).T
    rows: Array = np.vstack([centered / np.sqrt(len(centered) - 1), invented])
    return rows.astype(centered.dtype)
