r"""Formulas of the spiked covariance model: what noise does to leading variances and directions.

Samples in q dimensions have noise of variance :math:`\sigma^2` in every direction and, along one
direction, a signal of variance :math:`\ell` on top, its *strength*. When the dimension and the
number of samples grow together, q/n → γ (the *aspect*), the leading eigenvalue of the sample
covariance and its eigenvector go to limits that are not the true ones:

* nothing is seen of the direction unless :math:`\ell > \sigma^2\sqrt\gamma`;
* above, the squared cosine between found and true direction tends to
  :math:`(1 - \gamma\sigma^4/\ell^2)/(1 + \gamma\sigma^2/\ell)`,
* and the variance found tends to :math:`(\ell + \sigma^2)(1 + \gamma\sigma^2/\ell)`: it is too
  large by the factor :math:`1 + \gamma\sigma^2/\ell`.

Johnstone (2001) proposed the model; Baik, Ben Arous and Péché (2005) found the threshold. The
book's chapter *When clusters help* proves the limits for normal samples. Only formulas live here;
what follows from them for clusters of features is in :mod:`informed.theory`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from informed.validation import Array

__all__ = [
    "detection_threshold",
    "inflated_variance",
    "limiting_cosine",
    "shrunk_variances",
    "spikes_from_variances",
    "strength_from_variance",
]


def detection_threshold(aspect: ArrayLike, noise_variance: ArrayLike = 1.0) -> Array:
    r"""Strength :math:`\sigma^2\sqrt\gamma` below which PCA sees nothing of a direction.

    Examples
    --------
    >>> float(detection_threshold(4.0))
    2.0
    """
    threshold: Array = np.asarray(noise_variance) * np.sqrt(aspect)
    return threshold


def limiting_cosine(
    strength: ArrayLike, aspect: ArrayLike, noise_variance: ArrayLike = 1.0
) -> Array:
    r"""Limit of the squared cosine between a direction and PCA's estimate of it.

    Parameters
    ----------
    strength : array-like
        Variance ℓ of the signal along the direction, without the noise.
    aspect : array-like
        Dimension over number of samples, γ.
    noise_variance : array-like
        Variance of the noise in each direction.

    Returns
    -------
    squared cosine : array
        Zero up to the threshold.

    Examples
    --------
    >>> limiting_cosine([1.0, 2.0, 8.0], 1.0).round(3)
    array([0.   , 0.5  , 0.875])
    """
    strength, aspect, noise = np.broadcast_arrays(
        *(np.asarray(value, float) for value in (strength, aspect, noise_variance))
    )
    seen = strength > np.sqrt(aspect) * noise
    # Noise over strength, not the reverse: data without any noise are allowed.
    inverse = noise / np.where(seen, strength, 1.0)
    cosine: Array = np.where(seen, (1 - aspect * inverse**2) / (1 + aspect * inverse), 0.0)
    return cosine


def inflated_variance(
    strength: ArrayLike, aspect: ArrayLike, noise_variance: ArrayLike = 1.0
) -> Array:
    r"""Limit of the sample variance along PCA's estimate of a direction.

    Above the threshold :math:`(\ell + \sigma^2)(1 + \gamma\sigma^2/\ell)`; below it the upper
    edge of the noise, :math:`\sigma^2(1 + \sqrt\gamma)^2`, whatever the strength.

    Examples
    --------
    >>> inflated_variance([0.5, 1.0, 4.0], 1.0)
    array([4.  , 4.  , 6.25])
    """
    strength, aspect, noise = np.broadcast_arrays(
        *(np.asarray(value, float) for value in (strength, aspect, noise_variance))
    )
    seen = strength > np.sqrt(aspect) * noise
    safe = np.where(seen, strength, 1.0)
    inflated = (safe + noise) * (1 + aspect * noise / safe)
    variance: Array = np.where(seen, inflated, noise * (1 + np.sqrt(aspect)) ** 2)
    return variance


def strength_from_variance(
    variance: ArrayLike, aspect: ArrayLike, noise_variance: ArrayLike = 1.0
) -> Array:
    """Strength whose :func:`inflated_variance` is the given one; zero inside the noise.

    Examples
    --------
    >>> strength_from_variance([3.0, 4.0, 6.25], 1.0)
    array([0., 0., 4.])
    """
    variance, aspect, noise = (
        np.asarray(value, float) for value in (variance, aspect, noise_variance)
    )
    half = (variance - noise - aspect * noise) / 2
    root = np.sqrt(np.maximum(half**2 - aspect * noise**2, 0.0))
    strength: Array = np.where(half > np.sqrt(aspect) * noise, half + root, 0.0)
    return strength


def spikes_from_variances(
    variances: Array, total: float, n_features: int, aspect: float
) -> tuple[Array, float]:
    """Strength of each direction and variance of the noise, from PCA's leading variances.

    Parameters
    ----------
    variances : array of shape (d,)
        Leading eigenvalues of the sample covariance.
    total : float
        Its trace.
    n_features : int
        Its size.
    aspect : float
        Number of features over number of samples.

    Returns
    -------
    strengths : array of shape (d,)
        Zero for a direction that cannot be told from noise.
    noise_variance : float

    Notes
    -----
    The inflation is undone with a guess of the noise, then the noise is what is left of the total,
    and so on until both agree.
    """
    strengths = np.zeros_like(variances)
    noise = (total - float(variances.sum())) / max(n_features - len(variances), 1)
    for _ in range(50):
        before = noise
        strengths = strength_from_variance(variances, aspect, noise)
        noise = (total - float(strengths.sum())) / n_features
        if abs(noise - before) <= 1e-14 * noise:
            break
    return strengths, noise


def shrunk_variances(
    variances: Array, total: float, n_features: int, dimension: int, n_samples: int
) -> Array:
    r"""Variances to expect of new samples along directions that few samples found.

    A direction that was found leans towards the noise of its samples. New samples with noise of
    variance :math:`\sigma^2` and a signal of strength :math:`\ell` have the variance
    :math:`\sigma^2 + \ell c^2` along it, where :math:`c^2` is the squared cosine between found and
    true direction. Among all variances for these directions it gives new samples the largest
    expected Gaussian likelihood. Strength, cosine and noise follow from the variances found by the
    limits above, where the aspect is that of the space in which the directions were sought: all
    features for PCA, the span of the clusters for informed directions.

    Parameters
    ----------
    variances : array of shape (d,)
        Sample variances along the directions, the leading ones of the space that was searched.
    total : float
        Trace of the sample covariance of all features.
    n_features : int
        Number of features.
    dimension : int
        Number of dimensions of the space that was searched: features, or clusters of them.
    n_samples : int
        Number of samples; their mean was subtracted.

    Returns
    -------
    shrunk : array of shape (d,)
        At most the variances given.

    Examples
    --------
    >>> found = np.array([9.0, 3.0])
    >>> shrunk_variances(found, 30.0, 20, 20, 21).round(2)
    array([6.43, 1.18])
    >>> shrunk_variances(found, 30.0, 20, 4, 21).round(2)
    array([8.54, 2.36])
    """
    aspect = dimension / (n_samples - 1)
    strengths, noise = spikes_from_variances(variances, total, n_features, aspect)
    cosines = limiting_cosine(strengths, aspect, noise)
    shrunk: Array = np.minimum(noise + strengths * cosines, variances).astype(variances.dtype)
    return shrunk
