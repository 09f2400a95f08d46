"""A Cox model with several covariates, for predictions that learn from survival."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from informed.extras import import_extra
from informed.survival.checks import FloatArray, check_follow_up
from informed.validation import check_matrix, check_number

__all__ = ["cox_coefficients"]


def cox_coefficients(
    durations: ArrayLike, events: ArrayLike, covariates: ArrayLike, *, penalty: float = 0.0
) -> FloatArray:
    r"""Coefficients of a Cox model: the log hazard ratio of one unit of each covariate.

    They maximise the partial log-likelihood (Efron's rule for ties), divided by the number of
    subjects, minus :math:`\tfrac12\,\text{penalty}\,\lVert\beta\rVert^2`, with covariates scaled to
    variance one inside the penalty. Computed by lifelines.

    Parameters
    ----------
    durations, events : array of shape (n_subjects,)
        As in :func:`compare_survival`.
    covariates : array of shape (n_subjects, n_covariates)
        One column per covariate.
    penalty : float
        Weight of the penalty; at least 0. Some is needed when covariates are many.

    Returns
    -------
    coefficients : array of shape (n_covariates,)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(500, 2))
    >>> cox_coefficients(rng.exponential(np.exp(-Z[:, 0])), np.ones(500), Z).round(1)
    array([ 0.9, -0.1])
    """
    times, observed = check_follow_up(durations, events)
    Z = check_matrix(covariates, "covariates")
    penalty = check_number("penalty", penalty)
    if len(Z) != len(times):
        raise ValueError(
            f"durations and covariates must have the same length, got {len(times)} and {len(Z)}"
        )
    if not observed.any():
        raise ValueError(f"events: all {len(observed)} subjects are censored")
    lifelines = import_extra("lifelines", "a Cox model")
    table = import_extra("pandas", "a Cox model").DataFrame(Z)
    table["time"], table["event"] = times, observed
    fitted = lifelines.CoxPHFitter(penalizer=penalty).fit(table, "time", "event")
    return np.asarray(fitted.params_, dtype=float)
