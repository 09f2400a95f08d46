"""Samples with two kinds of directions: some follow clusters of features, some do not."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState

from informed.datasets.blurred import CLUSTER_SIZES, N_FEATURES, RHO, samples_and_directions
from informed.validation import Array, check_count, check_number, random_source

__all__ = ["mixed_toy"]

N_FREE = 3
N_STEPS = 3


def mixed_toy(
    n_samples: int,
    blur: float,
    *,
    steps: bool = False,
    random_state: int | RandomState | None = None,
) -> tuple[Array, Array]:
    """Draw samples with clustered directions and, as strong as these, three free ones.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    blur : float
        Standard deviation of the loadings within a cluster, relative to their size between
        clusters; infinite for no clusters at all.
    steps : bool
        False: each of the clusters of :func:`informed.datasets.blurred_toy` has a factor of its
        own. True: three factors that all clusters follow, each with a level of its own, so that the
        clusters are harder to find.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    X : array of shape (n_samples, 144)
        The samples.
    truth : array of shape (144, 9), or (144, 6) with ``steps``
        Leading eigenvectors of their true covariance.

    Examples
    --------
    >>> X, truth = mixed_toy(20, 0.4, random_state=0)
    >>> X.shape, truth.shape
    ((20, 144), (144, 9))
    """
    blur = check_number("blur", blur, finite=False)
    n_samples = check_count("n_samples", n_samples, 2)
    rng = np.random.default_rng(random_source(random_state).randint(2**31 - 1))
    labels = np.repeat(np.arange(len(CLUSTER_SIZES)), CLUSTER_SIZES)
    strength = RHO * max(CLUSTER_SIZES)
    n_strong = N_STEPS if steps else sum(size == max(CLUSTER_SIZES) for size in CLUSTER_SIZES)
    if np.isinf(blur):
        clustered = rng.standard_normal((N_FEATURES, n_strong))
        clustered *= np.sqrt(strength / N_FEATURES)
    elif steps:
        levels = rng.standard_normal((len(CLUSTER_SIZES), N_STEPS))[labels]
        clustered = levels + blur * rng.standard_normal((N_FEATURES, N_STEPS))
        clustered *= np.sqrt(strength) / np.linalg.norm(clustered, axis=0)
    else:
        clustered = np.zeros((N_FEATURES, len(CLUSTER_SIZES)))
        loadings = 1 + blur * rng.standard_normal(N_FEATURES)
        clustered[np.arange(N_FEATURES), labels] = np.sqrt(RHO) * loadings
    free = rng.standard_normal((N_FEATURES, N_FREE)) * np.sqrt(strength / N_FEATURES)
    loadings = np.hstack([clustered, free])
    X, truth = samples_and_directions(n_samples, loadings, rng)
    return X, truth[:, : n_strong + N_FREE]
