r"""Which direction a wide kernel shows first when all variances are equal.

Whitened samples :math:`z_1, \dots, z_n` in :math:`\mathbb R^d` (mean zero, covariance the identity)
have no direction of largest variance, so the leading term of a diffusion map with a wide kernel
prefers none. The next term does. With the sample moments
:math:`\kappa_{ab\cdots} = \tfrac1{n-1}\sum_i z_{ia} z_{ib} \cdots` let

.. math:: B = S - F, \qquad S_{ab} = \sum_{c,e} \kappa_{ace}\,\kappa_{bce}, \qquad
          F_{ab} = \sum_c \kappa_{abcc} .

As :math:`\varepsilon \to \infty` the first diffusion coordinate tends to :math:`Z b`, where
:math:`b` is the leading eigenvector of :math:`B`: third moments count for a direction, fourth
moments against it, and among symmetric independent axes that of the smallest kurtosis wins. The
proof is in the chapter *Critical reading* of the book.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from informed.validation import Array, check_count, check_matrix, check_number

__all__ = ["kurtosis_samples", "predicted_agreement", "wide_kernel_matrix"]


def wide_kernel_matrix(Z: ArrayLike) -> Array:
    """Return the matrix whose leading eigenvector breaks the tie of whitened samples.

    Parameters
    ----------
    Z : array of shape (n_samples, d)
        Whitened samples: columns of mean zero, uncorrelated, of variance one (divisor n − 1).

    Returns
    -------
    B : array of shape (d, d)
        Symmetric. If β₁ > β₂ ≥ … are its eigenvalues, the first diffusion coordinate of a wide
        kernel is about ``Z @ b`` with b that of β₁. If column k of Z is shrunk to variance
        1 − ηₖ/ε, take ``B - np.diag(eta)``.

    Examples
    --------
    A coin beside a normal variable: the coin, whose kurtosis is the smallest there is, comes first.

    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.normal(size=4000), rng.choice([-1.0, 1.0], 4000)])
    >>> X -= X.mean(axis=0)
    >>> Z = X @ np.linalg.inv(np.linalg.cholesky(np.cov(X, rowvar=False))).T
    >>> np.abs(np.linalg.eigh(wide_kernel_matrix(Z))[1][:, -1]).round(1)
    array([0., 1.])
    """
    Z = check_matrix(Z, "Z")
    n, d = Z.shape
    off = max(
        float(np.abs(Z.mean(axis=0)).max()),
        float(np.abs(Z.T @ Z / (n - 1) - np.eye(d)).max()),
    )
    if off > 1e-6:
        raise ValueError(
            "Z must be whitened: columns of mean zero, uncorrelated, of variance one (divisor "
            f"n − 1); it is off by {off:.2g}"
        )
    squares = np.sum(Z**2, axis=1)
    fourth = (Z * squares[:, None]).T @ Z / (n - 1)
    # One slice of the third moments at a time: a d × d matrix for each axis.
    third = np.array([((Z * column[:, None]).T @ Z).ravel() for column in Z.T]) / (n - 1)
    B: Array = third @ third.T - fourth
    return B


def kurtosis_samples(n_components: int, kurtosis: float) -> float:
    r"""Predict the number of samples from which an axis of small kurtosis shows.

    Among *d* whitened axes let one have the kurtosis :math:`\kappa < 3` and the others be normal.
    In the matrix of :func:`wide_kernel_matrix` it is ahead by :math:`3 - \kappa`, while the entries
    of the matrix scatter with the variance :math:`2(d + 4)/n`. A symmetric random matrix hides what
    is ahead by less than :math:`\sqrt d` of its entries' standard deviations. So the axis begins to
    show at

    .. math:: n^* = \frac{2 d\,(d + 4)}{(3 - \kappa)^2} .

    Parameters
    ----------
    n_components : int
        Number *d* of whitened axes.
    kurtosis : float
        Fourth moment of the axis; from 1 (a coin) to below 3.

    Returns
    -------
    n_samples : float

    Examples
    --------
    >>> kurtosis_samples(17, 1.0)
    178.5
    """
    d = check_count("n_components", n_components, 1)
    kurtosis = check_number("kurtosis", kurtosis, 1.0)
    if kurtosis >= 3:
        raise ValueError(
            f"kurtosis={kurtosis:g} is out of range: it must lie below 3, or the axis is behind"
        )
    return float(2 * d * (d + 4) / (3 - kurtosis) ** 2)


def predicted_agreement(n_samples: int, n_components: int, kurtosis: float) -> float:
    r"""Predict how often the sign of the first coordinate is that of the axis of small kurtosis.

    Above :math:`n^*` of :func:`kurtosis_samples` the squared cosine between the leading eigenvector
    and the axis is about :math:`\rho^2 = 1 - n^*/n`. If the axis is nearly a coin, the first
    coordinate is :math:`\pm\rho` plus a normal variable of variance :math:`1 - \rho^2`, and its
    sign is right with the probability :math:`\Phi\bigl(\rho/\sqrt{1 - \rho^2}\bigr)`.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    n_components, kurtosis
        As in :func:`kurtosis_samples`.

    Returns
    -------
    agreement : float
        From one half (nothing to be seen) to one. A limit for many axes and samples: with few of
        either, chance lets something show below :math:`n^*` too.

    Examples
    --------
    >>> [round(predicted_agreement(n, 17, 1.0), 2) for n in (100, 300, 1000)]
    [0.5, 0.8, 0.98]
    """
    n = check_count("n_samples", n_samples, 2)
    ratio = kurtosis_samples(n_components, kurtosis) / n
    return float(norm.cdf(np.sqrt(1 / ratio - 1))) if ratio < 1 else 0.5
