r"""One estimate from several independent studies that need not agree.

Study *i* reports an estimate :math:`y_i` with the standard error :math:`s_i`. In the model of
random effects :math:`y_i` is normal around :math:`\vartheta_i` with the variance :math:`s_i^2`, and
the truths :math:`\vartheta_i` of the studies are normal around :math:`\vartheta` with the variance
:math:`\tau^2`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.stats import t as student

from informed.survival.checks import FloatArray, check_confidence

__all__ = ["RandomEffects", "random_effects"]


@dataclass(frozen=True)
class RandomEffects:
    """Result of :func:`random_effects`.

    Attributes
    ----------
    mean : float
        Estimate of the mean over all studies that might have been made.
    lower, upper : float
        Its confidence interval.
    between : float
        Estimated standard deviation τ of the truths of the studies.
    predicted_lower, predicted_upper : float
        Where the truth of one more study lies, at the same level.
    confidence : float
        Level of both intervals.
    n_studies : int
        Number of studies.
    """

    mean: float
    lower: float
    upper: float
    between: float
    predicted_lower: float
    predicted_upper: float
    confidence: float
    n_studies: int

    def __str__(self) -> str:
        return (
            f"{self.mean:.3g} ({100 * self.confidence:g} % interval {self.lower:.3g} to "
            f"{self.upper:.3g}) over {self.n_studies} studies; one more would have "
            f"{self.predicted_lower:.3g} to {self.predicted_upper:.3g}"
        )


def random_effects(
    estimates: ArrayLike, errors: ArrayLike, *, confidence: float = 0.95
) -> RandomEffects:
    r"""Summarise independent studies whose truths may differ.

    Parameters
    ----------
    estimates : array of shape (n_studies,)
        One estimate of each study; at least two.
    errors : array of shape (n_studies,)
        Their standard errors; positive.
    confidence : float
        Level of the intervals.

    Returns
    -------
    result : RandomEffects

    Notes
    -----
    With weights :math:`w_i = 1/(s_i^2 + \tau^2)` and :math:`\hat\vartheta = \sum w_i y_i/\sum w_i`,
    :math:`\tau^2` is the number at which :math:`\sum w_i(y_i - \hat\vartheta)^2 = k - 1`, and zero
    if the sum is smaller already there (Paule and Mandel). The confidence interval takes Student's
    law with k − 1 degrees of freedom (Hartung and Knapp; never narrower than the weights say). The
    prediction has the variance of :math:`\hat\vartheta` plus :math:`\tau^2` and k − 2 degrees of
    freedom (Higgins, Thompson and Spiegelhalter). It trusts the estimate of :math:`\tau`, which few
    studies hardly determine: with six or seven of them it covers 88 to 99 % instead of 95 %.

    Examples
    --------
    >>> print(random_effects([0.1, 0.3, 0.8], [0.1, 0.1, 0.2]))
    0.37 (95 % interval -0.492 to 1.23) over 3 studies; one more would have -4.42 to 5.16
    """
    y, s = np.asarray(estimates, dtype=float), np.asarray(errors, dtype=float)
    if y.ndim != 1 or len(y) < 2 or s.shape != y.shape:
        raise ValueError(
            f"estimates and errors have shapes {y.shape} and {s.shape}: each must hold one number "
            "for each of at least two studies"
        )
    if not (np.isfinite(y).all() and np.isfinite(s).all() and (s > 0).all()):
        raise ValueError("estimates must be finite and errors finite and positive")
    level = check_confidence(confidence)
    variance = _between(y, s**2)
    weights = 1 / (s**2 + variance)
    mean = float(weights @ y / weights.sum())
    surplus = float(weights @ (y - mean) ** 2) / (len(y) - 1)
    error = math.sqrt(max(1.0, surplus) / weights.sum())
    quantile, wider = (
        float(student.isf((1 - level) / 2, max(len(y) - used, 1))) for used in (1, 2)
    )
    spread = wider * math.hypot(error, math.sqrt(variance))
    return RandomEffects(
        mean=mean,
        lower=mean - quantile * error,
        upper=mean + quantile * error,
        between=math.sqrt(variance),
        predicted_lower=mean - spread,
        predicted_upper=mean + spread,
        confidence=level,
        n_studies=len(y),
    )


def _between(y: FloatArray, variances: FloatArray) -> float:
    """Paule and Mandel's variance between studies; what is left over falls as it grows."""

    def left_over(between: float) -> float:
        weights = 1 / (variances + between)
        mean = weights @ y / weights.sum()
        return float(weights @ (y - mean) ** 2) - (len(y) - 1)

    if left_over(0.0) <= 0:
        return 0.0
    # With this variance every weight is below 1/Σ(y − ȳ)², so that less than 1 ≤ k − 1 is left.
    high = float(np.sum((y - y.mean()) ** 2))
    return float(brentq(left_over, 0.0, high, xtol=1e-14 * high))
