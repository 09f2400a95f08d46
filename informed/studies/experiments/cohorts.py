"""Beyond the paper: one protocol, fixed beforehand, on every real cohort.

Nothing in the protocol looks at survival: the genes are those of highest variance, the size of the
neighbourhoods comes from the gap statistic, the penalty from held-out reconstruction error, and the
groups from the sign of the first diffusion coordinate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.stats import combine_pvalues, hmean
from sklearn.metrics import adjusted_rand_score

from informed.datasets import COHORT_NAMES, Cohort, load_cohort, top_variance
from informed.gap import neighborhood_gap
from informed.metrics import LocalInformedMahalanobis
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.results import Result, Table
from informed.studies.experiments.splits import (
    SplitSettings,
    check_sizes,
    split_with_shared_clusters,
)
from informed.survival import (
    hazard_ratio,
    log_rank_p_value,
    permutation_p_value,
    proportional_hazards_p_value,
    restricted_mean_difference,
)
from informed.validation import Array, check_choice, check_count

__all__ = ["CohortStudy", "cohorts"]

_PLAIN = ("euclidean", "local pca")
_INFORMED = ("averaged", "exact", "penalized")
COHORT_METHODS = _PLAIN + _INFORMED

# Cost of the choices that precede the groups; enough for a stable answer, see the chapter.
_GAP_NEIGHBORHOODS = 40
_GAP_REFERENCES = 3
_GAP_INIT = 2
_PENALTY_NEIGHBORHOODS = 7  # odd, so that the median is one of the chosen penalties


class _First(NamedTuple):
    """What the first k-means seed gives for one cohort."""

    size: int
    proposed: bool
    penalty: float
    groups: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CohortStudy(Result):
    """Two groups of every cohort under five metrics, and how their survival differs.

    Arrays of shape (n_cohorts, n_methods) have a row for each of ``cohorts`` and a column for each
    of ``methods``.

    Attributes
    ----------
    cohorts, methods : tuples of str
        Names of the cohorts and of the metrics.
    n_samples, n_events : int arrays of shape (n_cohorts,)
        Subjects and events.
    sizes : int array of shape (n_cohorts,)
        Size N of the neighbourhoods.
    proposed : bool array of shape (n_cohorts,)
        Whether the gap statistic proposed that N; otherwise it is the largest that was tried.
    penalties : array of shape (n_cohorts,)
        Penalty η of the penalised directions.
    smaller_group : int array of shape (n_cohorts, n_methods)
        Subjects in the smaller group.
    p_values, permutation_p_values : arrays of shape (n_cohorts, n_methods)
        Log-rank p by the chi-squared law and by relabelling.
    ratios, lower, upper : arrays of shape (n_cohorts, n_methods)
        Hazard of the group that fares worse over that of the other, with its 95 % interval;
        NaN where it has no finite estimate.
    horizons : array of shape (n_cohorts,)
        Five years in months, or, where fewer than a tenth of the subjects are followed so long, the
        time for which a tenth are.
    lost, lost_lower, lost_upper : arrays of shape (n_cohorts, n_methods)
        Months of that time that the same group loses against the other, with their 95 % interval;
        NaN where a group is not followed so long.
    proportional : array of shape (n_cohorts, n_methods)
        p-value of the test that the ratio is the same at all times; NaN where there is no ratio.
    agreement : array of shape (n_cohorts, n_methods)
        Adjusted Rand index with the groups of the Euclidean distance.
    stability : array of shape (n_cohorts, n_methods)
        Mean adjusted Rand index between the groups of any two k-means seeds; 1 where k-means plays
        no part, NaN where there is only one seed.
    seed_p_values : array of shape (n_cohorts, n_methods, n_repeats)
        Log-rank p for every k-means seed; the first is that of ``p_values``.
    groups : dict of int arrays of shape (n_methods, n_samples)
        For each cohort, the group of every subject under every metric.
    independent : tuple of str
        The cohorts that share no patients, whose p-values may be combined.
    """

    name: ClassVar[str] = "cohorts"
    cohorts: tuple[str, ...]
    methods: tuple[str, ...]
    n_samples: NDArray[np.intp]
    n_events: NDArray[np.intp]
    sizes: NDArray[np.intp]
    proposed: NDArray[np.bool_]
    penalties: Array
    smaller_group: NDArray[np.intp]
    p_values: Array
    permutation_p_values: Array
    ratios: Array
    lower: Array
    upper: Array
    horizons: Array
    lost: Array
    lost_lower: Array
    lost_upper: Array
    proportional: Array
    agreement: Array
    stability: Array
    seed_p_values: Array
    groups: dict[str, Array]
    independent: tuple[str, ...]

    @property
    def table(self) -> Table:
        """One row for each cohort and metric."""
        rows = []
        for i, cohort in enumerate(self.cohorts):
            for j, method in enumerate(self.methods):
                rows.append(
                    (
                        cohort,
                        method,
                        int(self.n_samples[i]),
                        int(self.n_events[i]),
                        int(self.sizes[i]),
                        int(self.smaller_group[i, j]),
                        float(self.p_values[i, j]),
                        float(self.permutation_p_values[i, j]),
                        _interval(self.ratios[i, j], self.lower[i, j], self.upper[i, j], 2),
                        float(self.proportional[i, j]),
                        _interval(self.lost[i, j], self.lost_lower[i, j], self.lost_upper[i, j], 1),
                        float(self.agreement[i, j]),
                        float(self.stability[i, j]),
                    )
                )
        header = ("cohort", "metric", "n", "events", "N", "smaller", "log-rank p", "permutation p")
        effects = ("hazard ratio (95 %)", "proportional p", "months lost (95 %)")
        return Table((*header, *effects, "ARI Euclidean", "ARI seeds"), rows)

    @property
    def combined(self) -> Table:
        """Permutation p of the independent cohorts, combined by two rules; one row for each metric.

        ``worst`` is the largest combined p when any one of these cohorts is left out as well.
        """
        rows = []
        for method in self.methods:
            p = self.combine(method)
            without = [
                self.combine(method, without=(name,))
                for name in self.independent
                if len(self.independent) > 1
            ]
            worst = np.max(without or [p], axis=0)
            rows.append((method, p[0], float(worst[0]), p[1], float(worst[1])))
        header = ("metric", "Fisher", "Fisher, worst", "harmonic mean", "harmonic mean, worst")
        return Table(header, rows)

    def combine(self, method: str, *, without: Sequence[str] = ()) -> tuple[float, float]:
        """Combine the permutation p-values of the independent cohorts.

        Not those of the chi-squared law: its tail is an approximation, and far out, where combined
        p-values come from, it says nothing about a cohort of a hundred patients.

        Parameters
        ----------
        method : str
            One of ``methods``.
        without : sequence of str
            Independent cohorts to leave out.

        Returns
        -------
        fisher, harmonic : float
            Fisher's p-value, valid for independent cohorts, and the harmonic mean, which is nearly
            a p-value when it is small, even if they depend on each other.
        """
        column = self.methods.index(check_choice("method", method, self.methods))
        for name in without:
            check_choice("without", name, self.independent)
        kept = [name for name in self.independent if name not in without]
        if not kept:
            raise ValueError(
                f"without={tuple(without)} leaves no cohort out of {self.independent} to combine"
            )
        p = self.permutation_p_values[[self.cohorts.index(name) for name in kept], column]
        return float(combine_pvalues(p, method="fisher").pvalue), float(hmean(p))

    def __str__(self) -> str:
        names = ", ".join(self.independent)
        return f"{self.table}\n\ncombined over {names}:\n{self.combined}"

    def _repr_html_(self) -> str:
        return self.table._repr_html_() + self.combined._repr_html_()


def cohorts(
    names: Sequence[str | Cohort] = COHORT_NAMES,
    *,
    n_genes: int = 200,
    n_components: int = 6,
    n_clusters: int = 7,
    sizes: Sequence[int] = (10, 20, 40, 60),
    scale: float = 2.0,
    leave_out: Sequence[str] = ("vdv",),
    n_permutations: int = 9999,
    n_repeats: int = 10,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> CohortStudy:
    """Split every real cohort in two by one fixed protocol, under five metrics.

    The size N of the neighbourhoods is the smallest that the gap statistic proposes, the same for
    all metrics of a cohort; if the curve still rises at its end, it is the largest size that was
    tried. The penalty is the median of those that cross-validation chooses in a few neighbourhoods.

    Parameters
    ----------
    names : sequence of str or Cohort
        Names that :func:`informed.datasets.load_cohort` knows, or cohorts.
    n_genes : int
        Number of genes of highest variance.
    n_components, n_clusters : int
        Directions d and gene clusters K of the local models.
    sizes : sequence of int
        Increasing sizes that the gap statistic may choose from; each above ``n_components``.
    scale : float
        Kernel scale over the median squared distance.
    leave_out : sequence of str
        Cohorts that share patients with another one and are kept out of the combined p-values.
    n_permutations : int
        Relabellings for the permutation p-values.
    n_repeats : int
        Number of k-means seeds. The table is that of the first; the others show the stability.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show progress bars.

    Returns
    -------
    CohortStudy

    Examples
    --------
    >>> from informed.datasets import make_risk_cohort
    >>> study = cohorts(
    ...     [make_risk_cohort(60, 70, effect=3.0, random_state=0)],
    ...     n_genes=70, sizes=(10, 20), n_permutations=99, n_repeats=1)
    >>> dict(zip(study.methods, study.p_values[0] < 0.01))["euclidean"]
    np.True_
    """
    n_repeats = check_count("n_repeats", n_repeats, 1)
    n_permutations = check_count("n_permutations", n_permutations, 1)
    widths = check_sizes(sizes, n_components)
    loaded = [one if isinstance(one, Cohort) else load_cohort(one) for one in names]
    known = [cohort.name for cohort in loaded]
    if not known or len(set(known)) < len(known):
        raise ValueError(f"names={known} must hold at least one cohort, and each only once")
    independent = tuple(name for name in known if name not in leave_out)
    if not independent:
        raise ValueError(f"leave_out={tuple(leave_out)} leaves none of {known} to combine")
    # The size of the neighbourhoods is chosen for each cohort; the first only holds its place.
    settings = SplitSettings(widths[0], n_components, n_clusters, scale=scale)
    drawn = seeds(random_state, n_repeats)
    genes = [top_variance(cohort.X, n_genes) for cohort in loaded]

    # The first seed decides on N and on the penalty; the others take them over.
    firsts = run_tasks(
        _first_split,
        [(X, widths, settings, drawn[0]) for X in genes],
        n_jobs=n_jobs,
        verbose=verbose,
        label="first seed",
    )
    others = run_tasks(
        _informed_split,
        [
            (X, first.size, first.penalty, settings, seed)
            for X, first in zip(genes, firsts, strict=True)
            for seed in drawn[1:]
        ],
        n_jobs=n_jobs,
        verbose=verbose,
        label="other seeds",
    )
    # One array for each cohort: seeds × methods × subjects. No seed enters the plain metrics.
    groups = [
        np.array(
            [
                first.groups,
                *(
                    np.concatenate([first.groups[: len(_PLAIN)], informed])
                    for informed in others[i * (n_repeats - 1) : (i + 1) * (n_repeats - 1)]
                ),
            ]
        )
        for i, first in enumerate(firsts)
    ]
    rows = run_tasks(
        _evaluate,
        [
            (cohort.months, cohort.events, found, horizon_of(cohort), n_permutations, drawn[0])
            for cohort, found in zip(loaded, groups, strict=True)
        ],
        n_jobs=n_jobs,
        verbose=verbose,
        label="survival",
    )
    return CohortStudy(
        cohorts=tuple(known),
        methods=COHORT_METHODS,
        n_samples=np.array([len(X) for X in genes]),
        n_events=np.array([cohort.events.sum() for cohort in loaded]),
        sizes=np.array([first.size for first in firsts]),
        proposed=np.array([first.proposed for first in firsts]),
        penalties=np.array([first.penalty for first in firsts]),
        groups={name: found[0] for name, found in zip(known, groups, strict=True)},
        independent=independent,
        horizons=np.array([horizon_of(cohort) for cohort in loaded]),
        **{key: np.array([row[key] for row in rows]) for key in rows[0]},
    )


def horizon_of(cohort: Cohort, months: float = 60.0) -> float:
    """Return the horizon of restricted means: where few are followed so long, an earlier one.

    Examples
    --------
    >>> from informed.datasets import make_risk_cohort
    >>> horizon_of(make_risk_cohort(random_state=0), 12.0)
    12.0
    """
    return float(min(months, np.quantile(cohort.months, 0.9)))


# ------------------------------------------------------------------------------ steps of the study


def _first_split(X: Array, sizes: list[int], settings: SplitSettings, seed: int) -> _First:
    gap = neighborhood_gap(
        X,
        sizes,
        settings.n_clusters,
        n_neighborhoods=min(_GAP_NEIGHBORHOODS, len(X)),
        n_references=_GAP_REFERENCES,
        n_init=_GAP_INIT,
        random_state=seed,
    )
    size = sizes[-1] if gap.proposed is None else gap.proposed[0]
    local = replace(settings, n_neighbors=size).fit(X, seed)
    penalty = _median_penalty(local, len(X), seed)
    groups = split_with_shared_clusters(X, COHORT_METHODS, local, penalty, settings.scale)
    return _First(size, gap.proposed is not None, penalty, groups)


def _informed_split(
    X: Array, size: int, penalty: float, settings: SplitSettings, seed: int
) -> NDArray[np.intp]:
    local = replace(settings, n_neighbors=size).fit(X, seed)
    return split_with_shared_clusters(X, _INFORMED, local, penalty, settings.scale)


def _median_penalty(local: LocalInformedMahalanobis, n_samples: int, seed: int) -> float:
    """Median of the penalties that cross-validation chooses in a few neighbourhoods."""
    chosen = np.random.RandomState(seed).permutation(n_samples)[:_PENALTY_NEIGHBORHOODS]
    weights = [local.penalty_path(int(sample)).best for sample in chosen]
    return float(np.sort(weights)[len(weights) // 2])


def _evaluate(
    months: Array,
    events: Array,
    groups: NDArray[np.intp],
    horizon: float,
    n_permutations: int,
    seed: int,
) -> dict[str, Array]:
    """One row of every array of the study, from the groups of one cohort."""
    first = groups[0]
    effects = np.array([_effects(months, events, labels, horizon) for labels in first])
    names = ("ratios", "lower", "upper", "lost", "lost_lower", "lost_upper", "proportional")
    return {
        "smaller_group": np.array([np.bincount(labels, minlength=2).min() for labels in first]),
        "p_values": np.array([log_rank_p_value(months, events, labels) for labels in first]),
        "permutation_p_values": np.array(
            [
                permutation_p_value(
                    months, events, labels, n_permutations=n_permutations, random_state=seed
                )
                for labels in first
            ]
        ),
        **dict(zip(names, effects.T, strict=True)),
        "agreement": np.array([adjusted_rand_score(first[0], labels) for labels in first]),
        "stability": np.array([_stability(groups[:, j]) for j in range(len(first))]),
        "seed_p_values": np.array(
            [
                [log_rank_p_value(months, events, labels) for labels in groups[:, j]]
                for j in range(len(first))
            ]
        ),
    }


def _effects(
    months: Array, events: Array, groups: NDArray[np.intp], horizon: float
) -> tuple[float, ...]:
    """Hazard ratio, months lost, each with interval, and p of proportional hazards.

    Turned so that the ratio is at least one: time is lost by the group that has the higher hazard.
    """
    nothing = (np.nan, np.nan, np.nan)
    try:
        found = hazard_ratio(months, events, groups)
    except ValueError:  # one group has no event while the other is at risk
        return *nothing, *nothing, np.nan
    worse = groups if found.ratio >= 1 else 1 - groups
    ratio = (found.ratio, found.lower, found.upper)
    if found.ratio < 1:
        ratio = (1 / found.ratio, 1 / found.upper, 1 / found.lower)
    proportional = proportional_hazards_p_value(months, events, worse)
    try:
        lost = restricted_mean_difference(months, events, 1 - worse, horizon)
    except ValueError:  # one group is not followed so long
        return *ratio, *nothing, proportional
    return *ratio, lost.difference, lost.lower, lost.upper, proportional


def _stability(groups: NDArray[np.intp]) -> float:
    pairs = [adjusted_rand_score(a, b) for a, b in combinations(groups, 2)]
    return float(np.mean(pairs)) if pairs else np.nan


def _interval(value: float, lower: float, upper: float, digits: int) -> str:
    if np.isnan(value):
        return "none"
    return f"{value:.{digits}f} ({lower:.{digits}f} to {upper:.{digits}f})"
