"""The toy with blurred clusters: features follow their cluster's factor unequally."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState

from informed.datasets.two_types import make_two_types
from informed.validation import Array, check_count, check_number, random_source

__all__ = ["blurred_toy"]

# Seven strong directions, the factors of six large clusters and the difference of the types, and
# six weak ones, the factors of small clusters. With as many directions as clusters every basis of
# the span of the right clusters would be free of error; with a number in the middle of the strong
# ones the truth itself would be ill determined.
CLUSTER_SIZES = (20,) * 6 + (4,) * 6
N_DIRECTIONS = 7
# PCA's direction then carries noise of squared length 10.8/n, about that of the paper's toy, 12/n,
# which has more and larger clusters.
RHO = 0.4
BORDERS = (0, *(int(border) for border in np.cumsum(CLUSTER_SIZES)))
N_FEATURES = BORDERS[-1]


def blurred_toy(
    n_samples: int, blur: float, *, random_state: int | RandomState | None = None
) -> tuple[Array, Array]:
    """Draw samples whose features follow their cluster's factor more or less unequally.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    blur : float
        Standard deviation of the loadings within a cluster, whose mean is 1. Infinite: each feature
        follows seven common factors with loadings of its own, and there are no clusters.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, 144)
        The samples.
    truth : array of shape (144, 7)
        Leading eigenvectors of their true covariance.

    Examples
    --------
    >>> X, truth = blurred_toy(20, 0.4, random_state=0)
    >>> X.shape, truth.shape
    ((20, 144), (144, 7))
    """
    blur = check_number("blur", blur, finite=False)
    if np.isfinite(blur):
        toy = make_two_types(
            n_samples, borders=BORDERS, rho=RHO, loading_sd=blur, random_state=random_state
        )
        return toy.X, toy.eigenvectors(N_DIRECTIONS)
    n_samples = check_count("n_samples", n_samples, 2)
    rng = np.random.default_rng(random_source(random_state).randint(2**31 - 1))
    # As strong as the large clusters' factors, over noise as strong as the toy's.
    scale = np.sqrt(RHO * max(CLUSTER_SIZES) / N_FEATURES)
    loadings = scale * rng.standard_normal((N_FEATURES, N_DIRECTIONS))
    return samples_and_directions(n_samples, loadings, rng)


def samples_and_directions(
    n_samples: int, loadings: Array, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Draw factors, and noise as strong as the toy's; return samples and leading eigenvectors."""
    X = rng.standard_normal((n_samples, loadings.shape[1])) @ loadings.T
    X += np.sqrt(1 - RHO) * rng.standard_normal(X.shape)
    return X, np.linalg.svd(loadings, full_matrices=False)[0]
