"""Centring of the features: one rule, for functions and estimators alike."""

from __future__ import annotations

import warnings

from informed.exceptions import ConstantFeatureWarning
from informed.validation import Array


def center(X: Array) -> tuple[Array, Array]:
    """Subtract the mean of each feature.

    The first sample is subtracted before, so that constant features become exactly zero instead of
    what rounding makes of their mean, and samples far from zero keep their digits.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Samples.

    Returns
    -------
    centered : array of shape (n_samples, n_features)
        Samples minus the mean.
    mean : array of shape (n_features,)
        The mean.

    Examples
    --------
    >>> import numpy as np
    >>> centered, mean = center(np.array([[0.1, 1.0], [0.1, 3.0], [0.1, 5.0]]))
    >>> centered
    array([[ 0., -2.],
           [ 0.,  0.],
           [ 0.,  2.]])
    >>> mean
    array([0.1, 3. ])
    """
    first = X[0]
    centered: Array = X - first
    above_first = centered.mean(axis=0)
    centered -= above_first
    return centered, first + above_first


def warn_about_constant_features(X: Array, *, stacklevel: int = 3) -> None:
    """Warn when features of ``X`` never vary: they are all alike after centring.

    The warning points at the caller of the function that asks, or higher up.
    """
    constant = (X.max(axis=0) == X.min(axis=0)).nonzero()[0]
    if len(constant):
        warnings.warn(
            f"X has {len(constant)} constant feature(s), the first at index {constant[0]}: "
            "they carry no information and cluster together",
            ConstantFeatureWarning,
            stacklevel=stacklevel,
        )
