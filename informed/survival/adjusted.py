"""The hazard ratio of two groups, adjusted for what else is known about the subjects."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from informed.extras import import_extra
from informed.survival.checks import check_confidence, check_follow_up, check_groups
from informed.survival.hazard import HazardRatio

__all__ = ["adjusted_hazard_ratio"]


def adjusted_hazard_ratio(
    durations: ArrayLike,
    events: ArrayLike,
    groups: ArrayLike,
    covariates: Mapping[str, ArrayLike],
    *,
    confidence: float = 0.95,
) -> HazardRatio:
    """Estimate how many times higher the risk is in one of two groups, other things being equal.

    The ratio is that of a Cox model with the group and the covariates (Efron's rule for ties, Wald
    interval): between two subjects who agree in all covariates.

    Parameters
    ----------
    durations, events : array of shape (n_subjects,)
        As in :func:`compare_survival`.
    groups : array of shape (n_subjects,)
        Exactly two different labels. The first of the sorted labels is the reference.
    covariates : mapping from str to array of shape (n_subjects,)
        Numbers, or True and False; each must vary.
    confidence : float
        Level of the interval.

    Returns
    -------
    result : HazardRatio

    Examples
    --------
    >>> durations = [2, 3, 5, 7, 8, 11, 6, 9, 12, 14, 15, 20]
    >>> events = [1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0]
    >>> age = [61, 70, 55, 64, 50, 48, 66, 58, 71, 45, 52, 49]
    >>> found = adjusted_hazard_ratio(durations, events, [1] * 6 + [0] * 6, {"age": age})
    >>> bool(found.lower < found.ratio < found.upper)
    True
    """
    times, observed = check_follow_up(durations, events)
    labels, codes = check_groups(groups, times, observed)
    level = check_confidence(confidence)
    if len(labels) != 2:
        raise ValueError(f"groups must name exactly two groups, got {len(labels)}: {labels}")
    columns = {}
    for name, values in covariates.items():
        column = np.asarray(values, dtype=float)
        if column.shape != times.shape or not np.isfinite(column).all():
            raise ValueError(
                f"covariates: {name!r} must hold a finite number for each of the {len(times)} "
                "subjects"
            )
        if np.ptp(column) == 0:
            raise ValueError(f"covariates: {name!r} is {column[0]:g} for every subject")
        columns[name] = column
    lifelines = import_extra("lifelines", "a hazard ratio with covariates")
    table = import_extra("pandas", "a hazard ratio with covariates").DataFrame(
        {"": codes == 1, **columns}, dtype=float
    )
    # Names that no covariate can have, since a mapping has each key once and these are not texts.
    table[0], table[1] = times, observed
    fitted = lifelines.CoxPHFitter().fit(table, 0, 1)
    log_ratio, error = float(fitted.params_[""]), float(fitted.standard_errors_[""])
    width = float(norm.isf((1.0 - level) / 2)) * error
    return HazardRatio(
        ratio=math.exp(log_ratio),
        lower=math.exp(log_ratio - width),
        upper=math.exp(log_ratio + width),
        confidence=level,
        p_value=float(2 * norm.sf(abs(log_ratio) / error)),
        group=labels[1],
        reference=labels[0],
    )
