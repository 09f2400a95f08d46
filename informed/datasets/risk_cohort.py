r"""A synthetic cohort of the shape of CAN/DF: a hidden risk drives expression and survival.

Each patient has a risk :math:`z`, uniform on [−1, 1]. Seven clusters of genes respond to it, each
in its own curved way (one not at all), and a gene reads

.. math:: x_i = b_i + g_i\,(r_k(z) + 0.6\, u_k) + \tau e_i,

where :math:`u_k` is the patient's own deviation in cluster :math:`k`, :math:`b_i` a level and
:math:`g_i` a gain of the gene, and :math:`e_i` noise. The hazard of death at time :math:`t` is
proportional to :math:`t^{0.3} \exp(\beta z)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from informed.datasets._blocks import equal_blocks
from informed.datasets.cohort import Cohort
from informed.validation import Array, check_count, check_number, random_source

__all__ = ["RiskCohort", "make_risk_cohort"]

_N_CLUSTERS = 7
_OWN_SD = 0.6  # of a patient's deviation in a cluster
_GAIN_SD = 0.2  # of a gene's gain about 1
_SHAPE, _SCALE = 1.3, 110.0  # Weibull times in months, at risk 0
_DEATH_RATE = 35 / 82  # of CAN/DF


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RiskCohort(Cohort):
    """A synthetic cohort whose hidden risk and gene clusters are known.

    Attributes
    ----------
    risk : array of shape (n_samples,)
        Hidden risk of each patient, from −1 to 1.
    feature_labels : int array of shape (n_features,)
        True cluster of each gene.

    Notes
    -----
    The other attributes are those of :class:`Cohort`.
    """

    risk: NDArray[np.float64]
    feature_labels: NDArray[np.intp]

    def select_features(self, indices: Array) -> Self:
        """Return the cohort with the given columns of ``X`` only, in the given order."""
        return replace(
            super().select_features(indices), feature_labels=self.feature_labels[indices]
        )


def make_risk_cohort(
    n_samples: int = 82,
    n_features: int = 200,
    *,
    n_deaths: int | None = None,
    effect: float = 1.5,
    noise: float = 1.6,
    random_state: int | RandomState | None = None,
) -> RiskCohort:
    """Draw a cohort in which a hidden risk drives gene expression and survival.

    Parameters
    ----------
    n_samples : int
        Number of patients.
    n_features : int
        Number of genes, in seven clusters of equal size (up to one), in random order.
    n_deaths : int or None
        Number of deaths; None means 35 of 82 patients, rounded. Follow-up times are drawn up to a
        common factor, and the factor is set so that exactly this many die before they end.
    effect : float
        Log hazard ratio β for one unit of risk; 0 makes survival independent of expression.
    noise : float
        Standard deviation τ of the noise of a gene.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    RiskCohort
        Expression and survival in months, with the hidden risk and the true clusters.

    Examples
    --------
    >>> cohort = make_risk_cohort(random_state=0)
    >>> cohort
    <RiskCohort 'risk': 82 samples × 200 features, 35 events, durations in months>
    """
    n_samples = check_count("n_samples", n_samples, 2)
    n_features = check_count("n_features", n_features, _N_CLUSTERS, why="one for each cluster")
    if n_deaths is None:
        n_deaths = max(1, round(_DEATH_RATE * n_samples))
    n_deaths = check_count("n_deaths", n_deaths, 1, n_samples, f"n_samples={n_samples}")
    effect = check_number("effect", effect)
    noise = check_number("noise", noise)
    rng = random_source(random_state)

    risk = rng.uniform(-1, 1, n_samples)
    labels = rng.permutation(equal_blocks(n_features, _N_CLUSTERS))
    levels = rng.normal(8, 1, n_features)
    gains = rng.normal(1, _GAIN_SD, n_features)
    activity = _responses(risk) + _OWN_SD * rng.standard_normal((n_samples, _N_CLUSTERS))
    X = levels + gains * activity[:, labels] + noise * rng.standard_normal((n_samples, n_features))

    # The cumulative hazard at the time of death is standard exponential.
    times = _SCALE * (rng.exponential(size=n_samples) * np.exp(-effect * risk)) ** (1 / _SHAPE)
    follow_up = rng.uniform(0.25, 1.75, n_samples)
    follow_up *= _factor_for_deaths(times / follow_up, n_deaths)
    digits = len(str(n_features))
    return RiskCohort(
        X=X,
        durations=np.minimum(times, follow_up),
        events=(times <= follow_up).astype(np.intp),
        feature_names=tuple(f"gene_{gene:0{digits}}" for gene in range(1, n_features + 1)),
        sample_names=tuple(f"patient_{patient}" for patient in range(1, n_samples + 1)),
        name="risk",
        disease="none (synthetic)",
        endpoint="death (synthetic)",
        time_unit="months",
        source="informed.datasets.make_risk_cohort",
        citation="none (synthetic)",
        risk=risk,
        feature_labels=labels,
    )


def _responses(risk: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean activity of each cluster at the given risks: shape (n_samples, 7)."""
    return np.column_stack(
        [
            np.tanh(3 * risk),  # switched on
            -np.tanh(3 * risk),  # switched off
            np.logaddexp(0, 6 * risk) / 3 - 1,  # rises at high risk only
            1 - np.logaddexp(0, -6 * risk) / 3,  # falls at low risk only
            2 * np.exp(-((2 * risk) ** 2)) - 1,  # active in the middle only
            np.sin(np.pi * risk),  # there and back
            np.zeros_like(risk),  # not concerned
        ]
    )


def _factor_for_deaths(ratios: NDArray[np.float64], n_deaths: int) -> float:
    """Return a factor that exactly ``n_deaths`` of the ratios do not exceed."""
    ordered = np.append(np.sort(ratios), np.inf)
    last, following = ordered[n_deaths - 1], ordered[n_deaths]
    # Halfway between the two on a log scale; the minimum is for when nobody is left to follow.
    return float(np.sqrt(last * min(following, 4 * last)))
