"""A hidden unit square seen through a tall matrix whose rows form three clusters."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from informed.datasets._blocks import equal_blocks
from informed.validation import check_count, check_number, random_source

__all__ = ["HiddenSquare", "make_hidden_square"]

_CLUSTER_MEANS = np.array([[1 / 3, 1.0], [1 / 3, -1.0], [-1.0, -3.0]])


@dataclass(frozen=True, eq=False)
class HiddenSquare:
    """Points of the unit square and what is seen of them.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        Observed samples, ``hidden @ transformation.T`` plus noise.
    hidden : array of shape (n_samples, 2)
        Points of the unit square; each coordinate has variance 1/12.
    transformation : array of shape (n_features, 2)
        The matrix A.
    feature_labels : int array of shape (n_features,)
        Block of A that the feature belongs to.
    cluster_means : array of shape (3, 2)
        Means that the rows of the three blocks scatter about.
    """

    X: NDArray[np.float64] = field(repr=False)
    hidden: NDArray[np.float64] = field(repr=False)
    transformation: NDArray[np.float64] = field(repr=False)
    feature_labels: NDArray[np.intp] = field(repr=False)
    cluster_means: NDArray[np.float64]


def make_hidden_square(
    n_samples: int = 500,
    n_features: int = 1200,
    *,
    spread: float = 0.1,
    noise: float = 0.0,
    random_state: int | RandomState | None = None,
) -> HiddenSquare:
    """Draw points of the unit square and map them linearly into many features.

    Parameters
    ----------
    n_samples : int
        Number of points.
    n_features : int
        Number of rows of A, split into three blocks of equal size (up to one).
    spread : float
        Standard deviation of the entries of A about the mean of their block.
    noise : float
        Standard deviation of Gaussian noise on each observed value.
    random_state : int, RandomState or None
        Seed. A is drawn before the points, so it does not depend on ``n_samples``.

    Returns
    -------
    HiddenSquare
        Observed and hidden samples, A, and the block of each feature.

    Examples
    --------
    >>> square = make_hidden_square(50, 30, random_state=0)
    >>> square.X.shape, square.hidden.shape, square.transformation.shape
    ((50, 30), (50, 2), (30, 2))
    """
    n_samples = check_count("n_samples", n_samples, 2)
    n_features = check_count("n_features", n_features, 3, why="one for each of the three blocks")
    spread = check_number("spread", spread)
    noise = check_number("noise", noise)
    rng = random_source(random_state)

    labels = equal_blocks(n_features, 3)
    transformation = _CLUSTER_MEANS[labels] + spread * rng.standard_normal((n_features, 2))
    hidden = rng.uniform(size=(n_samples, 2))
    X = hidden @ transformation.T + noise * rng.standard_normal((n_samples, n_features))
    return HiddenSquare(
        X=X,
        hidden=hidden,
        transformation=transformation,
        feature_labels=labels,
        cluster_means=_CLUSTER_MEANS.copy(),
    )
