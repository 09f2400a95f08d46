"""Beyond the paper: metrics compared with each other on the same patients of real cohorts.

A cohort is cut into random halves, many times. Everything that a metric needs is learnt from one
half: genes, neighbourhoods, clusters, directions, the diffusion map, and which of its two ends has
the higher risk, the only thing that survival decides. The other half is where it is tested. So no
subject is tested by what was learnt from it, and all metrics are tested on the same subjects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from informed.datasets import (
    COHORT_NAMES,
    Cohort,
    DirectorsChallenge,
    load_cohort,
    load_directors_challenge,
)
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.carried import CARRIED_METHODS, carry
from informed.studies.experiments.cohorts import horizon_of
from informed.studies.experiments.results import Result, Table
from informed.studies.experiments.splits import SplitSettings
from informed.survival import RandomEffects, random_effects
from informed.survival.concordance import first_known, share_in_order
from informed.survival.restricted import mean_up_to
from informed.validation import Array, check_choice, check_count

__all__ = ["CohortComparison", "cohort_comparison"]

# Differences between metrics that count as none; the chapter says where they come from.
MARGINS = {"concordance": 0.02, "separation": 0.03}
MEASURES = tuple(MARGINS)
DIRECTORS_CHALLENGE = "directors-challenge"


@dataclass(frozen=True, eq=False)
class CohortComparison(Result):
    """How well metrics order new patients by their survival, and how much two metrics differ.

    Arrays of shape (n_cohorts, n_halves, n_methods) hold a value for each half on which a metric
    was tested; halves 2i and 2i + 1 belong together.

    Attributes
    ----------
    cohorts, methods : tuples of str
        Names of the cohorts and of the metrics.
    independent : tuple of str
        The cohorts that share no patients, over which one may summarise.
    n_samples, n_events : int arrays of shape (n_cohorts,)
        Subjects and events.
    horizons : array of shape (n_cohorts,)
        Horizon of the restricted means, in months.
    n_strata : int array of shape (n_cohorts,)
        Number of strata within which the adjusted values compare; 1 where nothing is known.
    n_neighbors : int
        Size of the neighbourhoods of the local metrics.
    concordance, adjusted_concordance : arrays of shape (n_cohorts, n_halves, n_methods)
        Concordance index of the first diffusion coordinate; among all pairs, and among those of
        one stratum.
    separation, adjusted_separation : arrays of shape (n_cohorts, n_halves, n_methods)
        Restricted mean survival of the group called better minus that of the other, as a share of
        the horizon; over all, and as a weighted mean over strata.
    """

    name: ClassVar[str] = "cohort_comparison"
    cohorts: tuple[str, ...]
    methods: tuple[str, ...]
    independent: tuple[str, ...]
    n_samples: NDArray[np.intp]
    n_events: NDArray[np.intp]
    horizons: Array
    n_strata: NDArray[np.intp]
    n_neighbors: int
    concordance: Array
    adjusted_concordance: Array
    separation: Array
    adjusted_separation: Array

    def values(self, measure: str = "concordance", *, adjusted: bool = True) -> Array:
        """Return the values of one measure.

        Parameters
        ----------
        measure : {"concordance", "separation"}
            What is measured.
        adjusted : bool
            Whether within strata; where none are known, both are the same.

        Returns
        -------
        values : array of shape (n_cohorts, n_halves, n_methods)
        """
        check_choice("measure", measure, MEASURES)
        found: Array = getattr(self, f"adjusted_{measure}" if adjusted else measure)
        return found

    def levels(self, measure: str = "concordance", *, adjusted: bool = True) -> tuple[Array, Array]:
        """Mean of a measure over halves and its standard error, for each cohort and metric.

        Parameters
        ----------
        measure, adjusted
            As in :meth:`values`.

        Returns
        -------
        means, errors : arrays of shape (n_cohorts, n_methods)
        """
        return _mean_and_error(self.values(measure, adjusted=adjusted))

    def differences(
        self, one: str, other: str, measure: str = "concordance", *, adjusted: bool = True
    ) -> tuple[Array, Array]:
        """Mean difference of two metrics over the same halves and its standard error.

        Parameters
        ----------
        one, other : str
            Two of ``methods``.
        measure, adjusted
            As in :meth:`values`.

        Returns
        -------
        means, errors : arrays of shape (n_cohorts,)
        """
        values = self.values(measure, adjusted=adjusted)
        i, j = (
            self.methods.index(check_choice(word, name, self.methods))
            for word, name in (("one", one), ("other", other))
        )
        return _mean_and_error(values[:, :, i] - values[:, :, j])

    def summary(
        self,
        one: str,
        other: str,
        measure: str = "concordance",
        *,
        adjusted: bool = True,
        without: Sequence[str] = (),
    ) -> RandomEffects:
        """Difference of two metrics over the independent cohorts, by random effects.

        Parameters
        ----------
        one, other, measure, adjusted
            As in :meth:`differences`.
        without : sequence of str
            Independent cohorts to leave out.

        Returns
        -------
        RandomEffects
        """
        for name in without:
            check_choice("without", name, self.independent)
        means, errors = self.differences(one, other, measure, adjusted=adjusted)
        kept = [
            i
            for i, name in enumerate(self.cohorts)
            if name in self.independent and name not in without
        ]
        return random_effects(means[kept], errors[kept])

    def summary_table(
        self, measure: str = "concordance", *, other: str = "euclidean", adjusted: bool = True
    ) -> Table:
        """Every metric against one of them: mean difference, its interval and a prediction.

        Parameters
        ----------
        measure, adjusted
            As in :meth:`values`.
        other : str
            The metric that is subtracted.
        """
        rows = []
        for method in self.methods:
            if method != other:
                found = self.summary(method, other, measure, adjusted=adjusted)
                rows.append(
                    (
                        method,
                        f"{found.mean:+.3f}",
                        f"{found.lower:+.3f} to {found.upper:+.3f}",
                        f"{found.predicted_lower:+.3f} to {found.predicted_upper:+.3f}",
                    )
                )
        return Table((f"minus {other}", "mean", "95 % interval", "a new cohort"), rows)

    @property
    def table(self) -> Table:
        """Concordance of every metric in every cohort, with its standard error."""
        return self.level_table("concordance")

    def level_table(self, measure: str = "concordance", *, adjusted: bool = True) -> Table:
        """Return means ± standard errors, a row for each cohort.

        Parameters
        ----------
        measure, adjusted
            As in :meth:`values`.
        """
        means, errors = self.levels(measure, adjusted=adjusted)
        return Table(
            ("cohort", *self.methods),
            [
                (name, *(f"{m:.2f} ± {e:.2f}" for m, e in zip(mean, error, strict=True)))
                for name, mean, error in zip(self.cohorts, means, errors, strict=True)
            ],
        )

    def __str__(self) -> str:
        parts = []
        for measure in MEASURES:
            parts += [
                f"{measure}, mean over halves ± standard error:\n{self.level_table(measure)}",
                f"difference over {', '.join(self.independent)}:\n{self.summary_table(measure)}",
            ]
        return "\n\n".join(parts)


def cohort_comparison(
    names: Sequence[str | Cohort] = COHORT_NAMES,
    *,
    n_splits: int = 15,
    n_genes: int = 200,
    n_neighbors: int = 20,
    n_components: int = 6,
    n_clusters: int = 7,
    scale: float = 2.0,
    horizon: float = 60.0,
    leave_out: Sequence[str] = ("vdv",),
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> CohortComparison:
    """Compare metrics on the same patients: learnt from one half of a cohort, tested on the other.

    Parameters
    ----------
    names : sequence of str or Cohort
        Names that :func:`informed.datasets.load_cohort` knows, "directors-challenge", or cohorts.
    n_splits : int
        How often every cohort is cut in halves; each half is the test half once.
    n_genes : int
        Genes of highest variance in the half that is learnt from.
    n_neighbors, n_components, n_clusters : int
        Neighbours N, directions d and gene clusters K.
    scale : float
        Kernel scale over the median squared distance.
    horizon : float
        Horizon of the restricted means in months; where fewer than a tenth of the subjects are
        seen for so long, the time for which a tenth are.
    leave_out : sequence of str
        Cohorts that share patients with another one and are kept out of summaries.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    CohortComparison

    Examples
    --------
    >>> from informed.datasets import make_risk_cohort
    >>> study = cohort_comparison(
    ...     [make_risk_cohort(60, 70, effect=3.0, random_state=0)],
    ...     n_splits=2, n_genes=70, n_neighbors=12)
    >>> bool(study.levels()[0][0, 0] > 0.6)
    True
    """
    n_splits = check_count("n_splits", n_splits, 1)
    settings = SplitSettings(n_neighbors, n_components, n_clusters, scale=scale)
    loaded = [one if isinstance(one, Cohort) else _load(one) for one in names]
    known = [cohort.name for cohort in loaded]
    if not known or len(set(known)) < len(known):
        raise ValueError(f"names={known} must hold at least one cohort, and each only once")
    # The same seeds for every cohort: what one gives does not depend on which others are asked for.
    drawn = seeds(random_state, n_splits)
    strata = [strata_of(cohort) for cohort in loaded]
    horizons = [horizon_of(cohort, horizon) for cohort in loaded]
    found = run_tasks(
        _compare_halves,
        [(i, seed) for i in range(len(loaded)) for seed in drawn],
        n_jobs=n_jobs,
        verbose=verbose,
        label="cohort_comparison",
        shared=(loaded, strata, horizons, settings, n_genes),
    )
    values = np.array(found).reshape(len(loaded), 2 * n_splits, len(CARRIED_METHODS), 4)
    return CohortComparison(
        cohorts=tuple(known),
        methods=CARRIED_METHODS,
        independent=tuple(name for name in known if name not in leave_out),
        n_samples=np.array([len(cohort.X) for cohort in loaded]),
        n_events=np.array([int(cohort.events.sum()) for cohort in loaded]),
        horizons=np.array(horizons),
        n_strata=np.array([len(np.unique(labels)) for labels in strata]),
        n_neighbors=n_neighbors,
        concordance=values[..., 0],
        adjusted_concordance=values[..., 1],
        separation=values[..., 2],
        adjusted_separation=values[..., 3],
    )


def strata_of(cohort: Cohort) -> NDArray[np.intp]:
    """Strata within which patients are comparable: treatment, or stage and hospital, where known.

    Examples
    --------
    >>> strata_of(load_cohort("chop"))[[0, 180, 181, 413]]
    array([0, 0, 1, 1])
    """
    if isinstance(cohort, DirectorsChallenge):
        labels = np.char.add(cohort.sites, cohort.tnm_stage)
    elif cohort.treatment is not None:
        labels = cohort.treatment
    else:
        return np.zeros(len(cohort.X), dtype=np.intp)
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


# ------------------------------------------------------------------------------------------- steps


def _load(name: str) -> Cohort:
    if name == DIRECTORS_CHALLENGE:
        return load_directors_challenge()
    return load_cohort(name)


def _compare_halves(
    cohorts: list[Cohort],
    strata: list[NDArray[np.intp]],
    horizons: list[float],
    settings: SplitSettings,
    n_genes: int,
    which: int,
    seed: int,
) -> Array:
    """Test every metric on both halves of one split: an array of shape (2, n_methods, 4)."""
    cohort, labels, horizon = cohorts[which], strata[which], horizons[which]
    order = check_random_state(seed).permutation(len(cohort.X))
    halves = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    X = _without_hospitals(cohort)
    times, observed = cohort.months, cohort.events == 1
    results = np.empty((2, len(CARRIED_METHODS), 4))
    for i, (learnt, tested) in enumerate((halves, halves[::-1])):
        at_home = first_known(times[learnt], observed[learnt])
        known = first_known(times[tested], observed[tested])
        alike = known & (labels[tested][:, None] == labels[tested])
        carried = carry(X[learnt], X[tested], settings, n_genes, seed)
        for j, (own, risks) in enumerate(carried.values()):
            if share_in_order(at_home, own) < 0.5:
                risks = -risks
            follow_up = times[tested], observed[tested], risks > 0
            results[i, j] = (
                share_in_order(known, risks),
                share_in_order(alike, risks),
                separation(*follow_up, np.zeros(len(tested), dtype=np.intp), horizon),
                separation(*follow_up, labels[tested], horizon),
            )
    return results


def _without_hospitals(cohort: Cohort) -> Array:
    """Take off every hospital's mean of each gene: hospitals differ in how they measured."""
    if not isinstance(cohort, DirectorsChallenge):
        return cohort.X
    X = cohort.X.copy()
    for site in np.unique(cohort.sites):
        own = cohort.sites == site
        X[own] -= X[own].mean(axis=0)
    return X


def separation(
    times: Array,
    observed: NDArray[np.bool_],
    worse: NDArray[np.bool_],
    strata: NDArray[np.intp],
    horizon: float,
) -> float:
    """Restricted mean survival of the better group minus that of the worse, over the horizon.

    Within each stratum, then averaged with the weights ab/(a + b) for groups of a and b subjects,
    which are the inverse variances if all subjects scatter alike. A stratum with one group only has
    no weight, and a split that puts everybody into one group separates nothing.

    Examples
    --------
    >>> worse = np.array([True, True, False, False])
    >>> times, alive = np.array([1.0, 3, 4, 4]), np.array([True, True, False, False])
    >>> separation(times, alive, worse, np.zeros(4, dtype=int), 4.0)
    0.5
    """
    total = weights = 0.0
    for stratum in np.unique(strata):
        groups = [(strata == stratum) & worse, (strata == stratum) & ~worse]
        a, b = (int(own.sum()) for own in groups)
        if a and b:
            bad, good = (mean_up_to(times[own], observed[own], horizon).mean for own in groups)
            weight = a * b / (a + b)
            total += weight * (good - bad)
            weights += weight
    return total / weights / horizon if weights else 0.0


def _mean_and_error(values: Array) -> tuple[Array, Array]:
    """Mean over the halves (second axis) and its standard error.

    The spread of a mean over random halves of n numbers, drawn without replacement, is the standard
    error of their mean; the mean over finitely many halves adds a little.
    """
    n_halves = values.shape[1]
    spread = values.std(axis=1, ddof=1)
    return values.mean(axis=1), spread * np.sqrt(1 + 1 / n_halves)
