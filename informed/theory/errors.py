r"""How far the estimated directions are from the true ones.

The error is :math:`\lVert\sin\Theta\rVert_F^2 = d - \lVert\hat U^\top U\rVert_F^2`: the sum of the
squared sines of the angles between the two spaces, or the number of directions that are missing.
The functions take the *dimension* in which PCA is done: p for PCA, K for the exact directions with
known clusters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from informed.clusters import average_over_clusters
from informed.spiked import limiting_cosine
from informed.validation import Array, check_count, check_labels, check_matrix, check_number

__all__ = [
    "error_bound",
    "error_floor",
    "expected_errors",
    "first_order_errors",
    "misfit",
    "samples_needed",
    "split_error",
]


def expected_errors(n_samples: int, dimension: int, strengths: ArrayLike, noise: float) -> Array:
    r"""Squared sine of each direction that PCA finds, by the limits of the spiked model.

    Parameters
    ----------
    n_samples : int
        Number of samples, at least d + 3.
    dimension : int
        Dimension in which PCA is done: p, or K with known clusters.
    strengths : array-like of shape (d,)
        Variances ℓ of the signal along the directions.
    noise : float
        Standard deviation of the noise in each feature.

    Returns
    -------
    errors : array of shape (d,)
        One for a direction below the threshold of visibility.

    Notes
    -----
    The limit takes the aspect :math:`\gamma = (q - d)/\nu` with :math:`\nu = n - d - 2`. It is the
    same limit as with q/n; at finite size d dimensions are the signal's own, and the mean of an
    inverse Wishart matrix brings in ν.

    Examples
    --------
    >>> expected_errors(64, 300, [150.0, 6.0], 1.0).round(3)
    array([0.032, 0.528])
    >>> expected_errors(64, 6, [150.0, 6.0], 1.0).round(4)
    array([0.0004, 0.0128])
    """
    strengths, noise, degrees = _checked(n_samples, dimension, strengths, noise)
    aspect = (dimension - len(strengths)) / degrees
    errors: Array = 1 - limiting_cosine(strengths, aspect, noise**2)
    return errors


def first_order_errors(n_samples: int, dimension: int, strengths: ArrayLike, noise: float) -> Array:
    r"""Leading term for many samples, :math:`(q-d)\sigma^2(\ell_k+\sigma^2)/(\nu\ell_k^2)`.

    It is also the inverse of the Fisher information: in the limit no estimate has a smaller error
    in the worst case. Parameters as in :func:`expected_errors`.

    Examples
    --------
    >>> first_order_errors(64, 6, [150.0, 6.0], 1.0).round(4)
    array([0.0004, 0.013 ])
    """
    strengths, noise, degrees = _checked(n_samples, dimension, strengths, noise)
    scale = (dimension - len(strengths)) * noise**2 / degrees
    errors: Array = scale * (strengths + noise**2) / strengths**2
    return errors


def error_bound(n_samples: int, dimension: int, strengths: ArrayLike, noise: float) -> float:
    r"""Upper bound of the expected error that holds for every number of samples.

    For any t > 0 let

    .. math:: \varrho_t = \frac{\sigma^2\,(1 + \sqrt{(q-d)/(n-1)} + t/\sqrt{n-1})^2}
              {(\ell_d + \sigma^2)\,(1 - \sqrt{d/(n-1)} - t/\sqrt{n-1})^2} .

    If :math:`\varrho_t < 1`,

    .. math:: \mathbb E\lVert\sin\Theta\rVert_F^2 \le \frac{\sigma^2 (q-d)}{n-d-2}
              \sum_k \frac{1}{\ell_k + \sigma^2}\,\frac{1}{(1-\varrho_t)^2} + 2d\,e^{-t^2/2} .

    The least value over t is returned, or the trivial bound min(d, q − d) if that is lower.
    Parameters as in :func:`expected_errors`.

    Examples
    --------
    >>> round(error_bound(512, 6, [150.0, 6.0], 1.0), 4)
    0.0038
    >>> error_bound(64, 300, [150.0, 6.0], 1.0)
    2.0
    """
    strengths, noise, degrees = _checked(n_samples, dimension, strengths, noise)
    d, N = len(strengths), n_samples - 1
    trivial = float(min(d, dimension - d))
    leading = noise**2 * (dimension - d) / degrees * np.sum(1 / (strengths + noise**2))
    t = np.linspace(0.0, np.sqrt(N) - np.sqrt(d), 2001)[1:-1]
    above = noise**2 * (1 + np.sqrt((dimension - d) / N) + t / np.sqrt(N)) ** 2
    below = (strengths.min() + noise**2) * (1 - np.sqrt(d / N) - t / np.sqrt(N)) ** 2
    gap = 1 - above / below
    if not np.any(gap > 0):
        return trivial
    bounds = leading / gap[gap > 0] ** 2 + 2 * d * np.exp(-(t[gap > 0] ** 2) / 2)
    return float(min(bounds.min(), trivial))


def error_floor(
    n_samples: int, dimension: int, strength: float, noise: float, n_components: int = 1
) -> float:
    r"""Lower bound of the worst-case error of any estimate of d directions of one strength.

    .. math:: \min\Bigl\{\frac1{20}, \frac{d\,(q-d)\,\sigma^2(\ell+\sigma^2)}{32\,n\,\ell^2}\Bigr\}

    Whatever is computed from the samples, there are directions for which the expected error is at
    least this. Parameters as in :func:`expected_errors`, with one strength for all directions, and
    ``n_components`` for their number d, below the dimension.

    Examples
    --------
    >>> round(error_floor(64, 300, 6.0, 1.0), 4), round(error_floor(64, 6, 6.0, 1.0), 5)
    (0.0284, 0.00047)
    >>> round(error_floor(64, 6, 6.0, 1.0, n_components=3), 5)
    0.00085
    """
    n_samples = check_count("n_samples", n_samples, 1)
    dimension = check_count("dimension", dimension, 2)
    d = check_count("n_components", n_components, 1, dimension - 1)
    strength = check_number("strength", strength, open_low=True)
    noise = check_number("noise", noise)
    leading = d * (dimension - d) * noise**2 * (strength + noise**2) / strength**2 / n_samples
    return min(1 / 20, leading / 32)


def samples_needed(dimension: int, strength: float, noise: float, error: float = 0.5) -> float:
    r"""Return the number of samples at which the squared sine of a direction falls to ``error``.

    The limit solved for n: :math:`n = q\,r\,(r + 1 - s)/s` with :math:`r = \sigma^2/\ell` and *s*
    the ``error``. ``error=1`` gives the threshold of visibility, :math:`q\,r^2`.

    Examples
    --------
    >>> round(samples_needed(300, 6.0, 1.0)), round(samples_needed(300, 6.0, 1.0, error=1.0))
    (67, 8)
    """
    dimension = check_count("dimension", dimension, 1)
    strength = check_number("strength", strength, open_low=True)
    noise = check_number("noise", noise)
    error = check_number("error", error, open_low=True)
    if error > 1:
        raise ValueError(f"error={error} is out of range: a squared sine is at most 1")
    inverse = noise**2 / strength
    return dimension * inverse * (inverse + 1 - error) / error


# ------------------------------------------------------------------------- clusters that do not fit


def misfit(truth: Array, labels: NDArray[np.integer]) -> float:
    r"""Return what clusters cut off of the true directions, :math:`\lVert(I - HH^\top)U\rVert_F^2`.

    Parameters
    ----------
    truth : array of shape (n_features, d)
        Orthonormal true directions *U*.
    labels : int array of shape (n_features,)
        Cluster of each feature.

    Examples
    --------
    >>> U = np.array([[1.0], [1.0], [1.0], [-1.0]]) / 2
    >>> misfit(U, [0, 0, 0, 1]), round(misfit(U, [0, 0, 1, 1]), 3)
    (0.0, 0.5)
    """
    truth = check_matrix(truth, "truth", min_samples=1)
    labels = check_labels(labels, len(truth))
    return float(np.sum((truth - average_over_clusters(truth, labels)) ** 2))


def split_error(
    directions: Array, truth: Array, labels: NDArray[np.integer]
) -> tuple[float, float]:
    r"""Error of directions in the span of the clusters: misfit, and what is lost within the span.

    For orthonormal :math:`\tilde U` in the span of *H*, the error is the sum of both, exactly:
    :math:`\lVert\sin\Theta\rVert_F^2 = \lVert(I-HH^\top)U\rVert_F^2 +
    \lVert(I-\tilde U\tilde U^\top)HH^\top U\rVert_F^2`.

    Examples
    --------
    >>> U = np.array([[1.0], [1.0], [1.0], [-1.0]]) / 2
    >>> found = np.array([[1.0], [1.0], [1.0], [1.0]]) / 2
    >>> [round(part, 3) for part in split_error(found, U, [0, 0, 1, 1])]
    [0.5, 0.25]
    """
    directions = check_matrix(directions, "directions", min_samples=1)
    outside = misfit(truth, labels)
    inside = average_over_clusters(np.asarray(truth, float), np.asarray(labels))
    missed = inside - directions @ (directions.T @ inside)
    return outside, float(np.sum(missed**2))


def _checked(
    n_samples: int, dimension: int, strengths: ArrayLike, noise: float
) -> tuple[Array, float, int]:
    values = np.atleast_1d(np.asarray(strengths, float))
    if values.ndim != 1 or not np.all(np.isfinite(values)) or np.any(values <= 0):
        raise ValueError(
            f"strengths={strengths!r} must hold positive variances, one for each direction"
        )
    check_count("dimension", dimension, len(values), why="at least one dimension per direction")
    n_samples = check_count("n_samples", n_samples, len(values) + 3, why="d + 3")
    return values, check_number("noise", noise), n_samples - len(values) - 2
