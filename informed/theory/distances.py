r"""From directions to distances: what the metric makes of two new samples.

Two samples that were not used for the fit differ by :math:`A w + \varepsilon`: *A* holds the
loadings of the features, *w* the difference of the hidden variables, and :math:`\varepsilon` has
variance :math:`2\sigma^2` in each feature. The metric is
:math:`\tilde d^2 = \lVert W^\top(x-y)\rVert^2` with :math:`W = \tilde U\Lambda^{-1/2}`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from informed.spiked import inflated_variance, limiting_cosine
from informed.validation import Array, check_matrix, check_number

__all__ = ["AxisRoles", "axis_roles", "distance_moments"]


def distance_moments(
    directions: Array, variances: Array, loadings: Array, noise: float, difference: Array
) -> tuple[Array, Array]:
    r"""Mean and variance of the squared distance of new samples, the fit being given. Exact.

    With :math:`b = W^\top A w` and :math:`G = W^\top W`, the mean is
    :math:`\lVert b\rVert^2 + 2\sigma^2\operatorname{tr}G` and the variance
    :math:`8\sigma^2\,b^\top G\,b + 8\sigma^4\lVert G\rVert_F^2`.

    Parameters
    ----------
    directions : array of shape (n_features, d)
        Directions of the metric.
    variances : array of shape (d,)
        What their squared coordinates are divided by.
    loadings : array of shape (n_features, k)
        Coefficients *A* of the features on the hidden variables.
    noise : float
        Standard deviation of the noise.
    difference : array of shape (n_pairs, k)
        Differences *w* of the hidden variables, one pair per row.

    Returns
    -------
    mean, variance : arrays of shape (n_pairs,)

    Examples
    --------
    >>> U = np.array([[1.0], [0.0]])
    >>> mean, variance = distance_moments(U, np.array([5.0]), 2 * U, 1.0, np.array([[0.0], [1.0]]))
    >>> mean, variance
    (array([0.4, 1.2]), array([0.32, 1.6 ]))
    """
    directions = check_matrix(directions, "directions", min_samples=1)
    loadings = check_matrix(loadings, "loadings", min_samples=1)
    difference = check_matrix(difference, "difference", min_samples=1)
    noise = check_number("noise", noise)
    W = directions / np.sqrt(variances)
    G = W.T @ W
    b = difference @ (W.T @ loadings).T
    mean: Array = np.sum(b**2, axis=1) + 2 * noise**2 * np.trace(G)
    variance: Array = 8 * noise**2 * np.sum((b @ G) * b, axis=1) + 8 * noise**4 * np.sum(G**2)
    return mean, variance


@dataclass(frozen=True, eq=False)
class AxisRoles:
    r"""Factors that a squared distance picks up along one axis, in the limit of large data.

    A pair of new samples whose hidden variable differs by *w* gets, along this axis,
    :math:`\text{slope}\cdot w^2 + \text{offset}` on average.

    Attributes
    ----------
    signal_share : array
        ℓ/(ℓ + σ²): even the true variance has the noise in it.
    cosine : array
        Squared cosine between the axis and the true direction.
    inflation : array
        How many times too large the variance is that one divides by.
    slope : array
        ``signal_share * cosine / inflation``.
    offset : array
        What the noise of the two samples adds to every pair, whatever their hidden variables.
    shrinkage : array
        Variance of new samples along the axis after division; one for a metric that whitens.
    """

    signal_share: Array
    cosine: Array
    inflation: Array
    slope: Array
    offset: Array
    shrinkage: Array


def axis_roles(
    strength: ArrayLike, noise: float, direction_aspect: float, variance_aspect: float
) -> AxisRoles:
    r"""Roles of direction, variance and noise along the axes of a metric.

    Parameters
    ----------
    strength : array-like
        Variances ℓ of the signal along the true directions.
    noise : float
        Standard deviation of the noise.
    direction_aspect : float
        Aspect of the PCA that gave the directions: p/n, or K/n for informed ones.
    variance_aspect : float
        Aspect of the PCA that gave the variances: p/n for the paper's choice, K/n for own ones.

    Returns
    -------
    AxisRoles

    Notes
    -----
    For PCA's directions and variances the shrinkage is :math:`(1 + \gamma\sigma^2/\ell)^{-2}`: one
    factor because the axis has turned away from the signal, one because its variance is inflated.
    For informed directions with PCA's variances only the second one is left.

    Examples
    --------
    >>> roles = axis_roles(2.0, 1.0, direction_aspect=2.0, variance_aspect=2.0)
    >>> float(roles.inflation), float(roles.shrinkage)
    (2.0, 0.25)
    """
    noise = check_number("noise", noise, open_low=True)
    strength = np.asarray(strength, float)
    cosine = limiting_cosine(strength, direction_aspect, noise**2)
    divisor = inflated_variance(strength, variance_aspect, noise**2)
    total = strength + noise**2
    return AxisRoles(
        signal_share=strength / total,
        cosine=cosine,
        inflation=divisor / total,
        slope=strength * cosine / divisor,
        offset=2 * noise**2 / divisor,
        shrinkage=(strength * cosine + noise**2) / divisor,
    )
