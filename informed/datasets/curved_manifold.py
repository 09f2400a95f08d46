r"""A sheet that is bent in space and seen through many features: the non-linear case.

The hidden unit square is rolled, without stretching, onto a cylinder of curvature :math:`\kappa`,

.. math:: \varphi(x) = \left(\tfrac{\sin \kappa x_1}{\kappa},\; x_2,\;
          \tfrac{1 - \cos \kappa x_1}{\kappa}\right),

and feature :math:`i` of cluster :math:`k` reads off :math:`f_i(x) = a_i \cdot \varphi(x)` with
:math:`a_i` close to the mean :math:`(\cos\alpha_k, \sin\alpha_k, 1/\sqrt2)` of its cluster. The
angles :math:`\alpha_k` are equally spaced, which makes these means a tight frame: up to a common
factor and the spread of the :math:`a_i`, the map keeps lengths, so that a ball of near samples is a
disc of the square. Then a local metric errs for two reasons only: with few neighbours it follows
the noise, with many it treats a bent piece as flat.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from informed.datasets._blocks import equal_blocks
from informed.validation import check_count, check_number, random_source

__all__ = ["CurvedManifold", "make_curved_manifold"]

# Turns the frame so that no two clusters mirror each other in a coordinate plane: they would
# respond alike somewhere on the sheet.
_FRAME_ANGLE = 0.3


@dataclass(frozen=True, eq=False)
class CurvedManifold:
    """Samples near a bent sheet, with the sheet itself.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        Observed samples, ``f(hidden)`` plus noise.
    hidden : array of shape (n_samples, 2)
        Points of the unit square.
    feature_labels : int array of shape (n_features,)
        Cluster of each feature.
    transformation : array of shape (n_features, 3)
        The vectors :math:`a_i`, one in each row.
    curvature : float
        Curvature κ of the sheet along the first hidden coordinate.
    noise : float
        Standard deviation of the noise on each observed value.
    """

    X: NDArray[np.float64] = field(repr=False)
    hidden: NDArray[np.float64] = field(repr=False)
    feature_labels: NDArray[np.intp] = field(repr=False)
    transformation: NDArray[np.float64] = field(repr=False)
    curvature: float
    noise: float

    def surface(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return φ(x): where the hidden points ``x``, of shape (…, 2), lie on the sheet in space.

        Examples
        --------
        >>> flat = make_curved_manifold(5, 6, curvature=0.0, random_state=0)
        >>> flat.surface([0.5, 0.25])
        array([0.5 , 0.25, 0.  ])
        """
        return _rolled(_points(x), self.curvature)

    def f(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the noise-free features of the hidden points ``x``: shape (…, n_features).

        Examples
        --------
        >>> sheet = make_curved_manifold(5, 6, random_state=0)
        >>> sheet.f(sheet.hidden).shape
        (5, 6)
        """
        features: NDArray[np.float64] = self.surface(x) @ self.transformation.T
        return features

    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the derivative of ``f`` at the hidden points ``x``: shape (…, n_features, 2).

        Examples
        --------
        >>> sheet = make_curved_manifold(5, 6, random_state=0)
        >>> sheet.jacobian(sheet.hidden).shape
        (5, 6, 2)
        """
        angle = self.curvature * _points(x)[..., 0]
        zero, one = np.zeros_like(angle), np.ones_like(angle)
        by_first = np.stack([np.cos(angle), zero, np.sin(angle)], axis=-1)
        by_second = np.stack([zero, one, zero], axis=-1)
        derivative: NDArray[np.float64] = self.transformation @ np.stack(
            [by_first, by_second], axis=-1
        )
        return derivative


def make_curved_manifold(
    n_samples: int = 400,
    n_features: int = 600,
    *,
    n_clusters: int = 3,
    curvature: float = 4.0,
    spread: float = 0.1,
    noise: float = 0.2,
    random_state: int | RandomState | None = None,
) -> CurvedManifold:
    """Draw points of the unit square, bend the square, and observe it through clustered features.

    Parameters
    ----------
    n_samples : int
        Number of points.
    n_features : int
        Number of features, split into clusters of equal size (up to one).
    n_clusters : int
        Number of clusters of features, at least 3: fewer could not show three dimensions.
    curvature : float
        The sheet is an arc of this many radians, from 0 (flat) to 2π (a closed cylinder).
    spread : float
        Standard deviation of a feature's vector about the mean of its cluster, in each coordinate.
    noise : float
        Standard deviation of Gaussian noise on each observed value.
    random_state : int, RandomState or None
        Seed. The features are drawn before the points, so they do not depend on ``n_samples``.

    Returns
    -------
    CurvedManifold
        Observed and hidden samples with the map between them and its Jacobian.

    Examples
    --------
    >>> sheet = make_curved_manifold(50, 30, noise=0.0, random_state=0)
    >>> bool(np.array_equal(sheet.X, sheet.f(sheet.hidden)))
    True
    """
    n_samples = check_count("n_samples", n_samples, 2)
    n_clusters = check_count("n_clusters", n_clusters, 3)
    n_features = check_count("n_features", n_features, n_clusters, why=f"n_clusters={n_clusters}")
    curvature = check_number("curvature", curvature)
    if curvature > 2 * np.pi:
        raise ValueError(
            f"curvature={curvature} is out of range: beyond 2π the sheet would overlap itself"
        )
    spread = check_number("spread", spread)
    noise = check_number("noise", noise)
    rng = random_source(random_state)

    labels = equal_blocks(n_features, n_clusters)
    angles = _FRAME_ANGLE + 2 * np.pi * np.arange(n_clusters) / n_clusters
    means = np.column_stack([np.cos(angles), np.sin(angles), np.full(n_clusters, np.sqrt(0.5))])
    transformation = means[labels] + spread * rng.standard_normal((n_features, 3))
    hidden = rng.uniform(size=(n_samples, 2))
    X = _rolled(hidden, curvature) @ transformation.T
    X += noise * rng.standard_normal((n_samples, n_features))
    return CurvedManifold(
        X=X,
        hidden=hidden,
        feature_labels=labels,
        transformation=transformation,
        curvature=curvature,
        noise=noise,
    )


def _rolled(x: NDArray[np.float64], curvature: float) -> NDArray[np.float64]:
    first, second = x[..., 0], x[..., 1]
    # Written with sinc(t) = sin(πt)/(πt), both forms hold for a flat sheet too.
    along = first * np.sinc(curvature * first / np.pi)
    height = curvature * first**2 / 2 * np.sinc(curvature * first / (2 * np.pi)) ** 2
    return np.stack([along, second, height], axis=-1)


def _points(x: NDArray[np.float64]) -> NDArray[np.float64]:
    points = np.asarray(x, dtype=float)
    if points.ndim == 0 or points.shape[-1] != 2:
        raise ValueError(f"x has shape {points.shape}: its last axis must hold 2 coordinates")
    return points
