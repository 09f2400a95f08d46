"""X4: risk groups from gene expression, found without looking at survival."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from informed.clusters import cluster_features
from informed.datasets import Cohort, top_variance
from informed.directions.registry import DirectionsName, VariancesName
from informed.gap import neighborhood_gap
from informed.groups import bipartition
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.results import Result, Table, spread
from informed.studies.experiments.splits import SplitSettings, embed_cohort
from informed.survival import (
    SurvivalComparison,
    compare_survival,
    drop_late_deaths,
    log_rank_p_value,
    restricted_mean_difference,
    truncate_follow_up,
)
from informed.validation import Array, check_choice, check_count, check_some

__all__ = ["NeighborhoodSweep", "RiskGroups", "neighborhood_sweep", "risk_groups"]

RISK_METHODS = ("euclidean", "local pca", "informed")


@dataclass(frozen=True, eq=False)
class RiskGroups(Result):
    """Two groups of subjects under three metrics, and their survival.

    Attributes
    ----------
    cohort : str
        Name of the cohort.
    time_unit : str
        Unit of the durations.
    expression : array of shape (n_samples, n_genes)
        Expression of the chosen genes, falling by standard deviation.
    gene_clusters : int array of shape (n_genes,)
        K-means clusters of the genes over all subjects.
    durations, events : arrays of shape (n_kept,)
        Follow-up that entered the comparison.
    kept : bool array of shape (n_samples,)
        Subjects that entered it; all, unless late deaths were dropped.
    methods : tuple of str
        ``"euclidean"``, ``"local pca"`` (:math:`d_{LM}`) and ``"informed"``
        (:math:`d_{ILM}`).
    embeddings : dict of arrays of shape (n_samples, 2)
        Diffusion maps; of the first k-means seed for the informed metric.
    groups : dict of int arrays of shape (n_repeats, n_samples)
        Group of each subject for each k-means seed; one row where k-means plays no part.
    p_values : dict of arrays of shape (n_repeats,)
        Log-rank p-values of those groups.
    """

    name: ClassVar[str] = "risk_groups"
    cohort: str
    time_unit: str
    expression: Array
    gene_clusters: NDArray[np.intp]
    durations: Array
    events: Array
    kept: Array
    methods: tuple[str, ...]
    embeddings: dict[str, Array]
    groups: dict[str, Array]
    p_values: dict[str, Array]

    @property
    def table(self) -> Table:
        """Log-rank p by metric, and the time that the worse group loses, with its 95 % interval.

        Both of the first k-means seed, with the spread of p over all of them. Time is counted up to
        the longest horizon that the groups of every metric allow.
        """
        horizon = min(self.survival(method).horizon for method in self.methods)
        rows = []
        for method in self.methods:
            p = self.p_values[method]
            groups = self.groups[method][0][self.kept]
            sizes = np.bincount(groups, minlength=2)
            lost = restricted_mean_difference(self.durations, self.events, groups, horizon)
            # Which group is called 1 has no meaning: report the one that lives longer.
            sign = 1 if lost.difference >= 0 else -1
            low, high = sorted((sign * lost.lower, sign * lost.upper))
            rows.append(
                (
                    method,
                    f"{sizes[0]} + {sizes[1]}",
                    float(p[0]),
                    float(np.median(p)),
                    spread(p) if len(p) > 1 else "",
                    f"{abs(lost.difference):.3g} ({low:.3g} to {high:.3g})",
                )
            )
        return Table(
            (
                self.cohort,
                "groups",
                "p, first seed",
                "median p",
                "mean ± sd",
                f"{self.time_unit} lost of {horizon:.3g} (95 %)",
            ),
            rows,
        )

    def survival(self, method: str) -> SurvivalComparison:
        """Kaplan–Meier curves and log-rank test of the two groups (first k-means seed).

        Parameters
        ----------
        method : str
            One of ``methods``.
        """
        check_choice("method", method, self.methods)
        return compare_survival(self.durations, self.events, self.groups[method][0][self.kept])


def risk_groups(
    cohort: Cohort,
    *,
    n_genes: int = 200,
    skip: int = 0,
    n_neighbors: int = 20,
    n_components: int = 6,
    n_clusters: int = 7,
    directions: DirectionsName = "exact",
    variances: VariancesName = "pca",
    scale: float = 2.0,
    horizon: float | None = None,
    late_deaths: str = "censor",
    n_repeats: int = 20,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> RiskGroups:
    """Split a cohort in two by its gene expression and compare the survival of the halves.

    Expression → genes of highest variance → distance → diffusion map → sign of its first
    coordinate. Survival is looked at only after that.

    Parameters
    ----------
    cohort : Cohort
        Expression and follow-up.
    n_genes, skip : int
        Take ``n_genes`` genes of highest standard deviation after leaving out the first ``skip``
        (authors' code, informedMetricCode: 1).
    n_neighbors, n_components, n_clusters, directions, variances
        Of :class:`informed.LocalInformedMahalanobis` (paper: 20, 6, 7).
    scale : float
        Kernel scale over the median squared distance (paper: 2).
    horizon : float or None
        End of follow-up, in the cohort's time unit.
    late_deaths : {"censor", "drop"}
        What becomes of deaths after the horizon: ``"censor"`` counts the subject as alive at the
        horizon; ``"drop"`` removes the subject, as the authors' code does, and so selects on the
        outcome.
    n_repeats : int
        Number of k-means seeds for the informed metric (paper: 20).
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    RiskGroups
    """
    n_repeats = check_count("n_repeats", n_repeats, 1)
    durations, events, kept = _follow_up(cohort, horizon, late_deaths)
    X = top_variance(cohort.X, n_genes, skip=skip)
    drawn = seeds(random_state, n_repeats)
    settings = SplitSettings(n_neighbors, n_components, n_clusters, directions, variances, scale)
    tasks = [(X, method, settings, drawn[0]) for method in ("euclidean", "local pca")]
    tasks += [(X, "informed", settings, seed) for seed in drawn]
    runs = run_tasks(embed_cohort, tasks, n_jobs=n_jobs, verbose=verbose, label="risk_groups")
    by_method = {"euclidean": runs[:1], "local pca": runs[1:2], "informed": runs[2:]}
    groups = {m: np.array([bipartition(e) for e in found]) for m, found in by_method.items()}
    return RiskGroups(
        cohort=cohort.name,
        time_unit=cohort.time_unit,
        expression=X,
        gene_clusters=cluster_features(X, n_clusters, random_state=drawn[0]),
        durations=durations,
        events=events,
        kept=kept,
        methods=RISK_METHODS,
        embeddings={m: found[0] for m, found in by_method.items()},
        groups=groups,
        p_values={
            m: np.array([log_rank_p_value(durations, events, g[kept]) for g in found])
            for m, found in groups.items()
        },
    )


@dataclass(frozen=True, eq=False)
class NeighborhoodSweep(Result):
    """Log-rank p-values and the gap statistic against the size of the neighbourhoods.

    Attributes
    ----------
    cohort : str
        Name of the cohort.
    sizes : int array of shape (n_sizes,)
        Neighbourhood sizes N.
    p_local_pca : array of shape (n_sizes,)
        :math:`p_{LM}`, which involves no k-means.
    p_informed : array of shape (n_sizes, n_repeats)
        :math:`p_{ILM}` for each k-means seed.
    p_euclidean : float
        p of the Euclidean distance, which has no N.
    gap, gap_error : arrays of shape (n_sizes,)
        Gap statistic g(N, K) of the genes, and its standard error.
    proposed : tuple of int
        Smallest and largest N proposed by the gap statistic alone; empty if it proposes none.
    """

    name: ClassVar[str] = "neighborhood_sweep"
    cohort: str
    sizes: NDArray[np.intp]
    p_local_pca: Array
    p_informed: Array
    p_euclidean: float
    gap: Array
    gap_error: Array
    proposed: tuple[int, ...]

    @property
    def table(self) -> Table:
        """One row for each size; a star marks the sizes that the gap statistic proposes."""
        low, high = self.proposed or (np.inf, np.inf)
        return Table(
            (f"{self.cohort}: N", "p local pca", "p informed", "p euclidean", "gap", "proposed"),
            [
                (
                    int(size),
                    float(self.p_local_pca[i]),
                    spread(self.p_informed[i]),
                    self.p_euclidean,
                    float(self.gap[i]),
                    "*" if low <= size <= high else "",
                )
                for i, size in enumerate(self.sizes)
            ],
        )


def neighborhood_sweep(
    cohort: Cohort,
    *,
    sizes: Sequence[int] = tuple(range(10, 61, 5)),
    n_genes: int = 200,
    skip: int = 0,
    n_components: int = 6,
    n_clusters: int = 7,
    directions: DirectionsName = "exact",
    variances: VariancesName = "pca",
    scale: float = 2.0,
    horizon: float | None = None,
    late_deaths: str = "censor",
    n_repeats: int = 20,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> NeighborhoodSweep:
    """Repeat :func:`risk_groups` for several neighbourhood sizes, beside the gap statistic.

    Parameters
    ----------
    cohort : Cohort
        Expression and follow-up.
    sizes : sequence of int
        Neighbourhood sizes (authors: 10, 15, …, 60).
    n_genes, skip, n_components, n_clusters, directions, variances, scale, horizon, late_deaths
        As in :func:`risk_groups`.
    n_repeats, random_state, n_jobs, verbose
        As in :func:`risk_groups`.

    Returns
    -------
    NeighborhoodSweep
    """
    n_repeats = check_count("n_repeats", n_repeats, 1)
    n_samples = len(cohort.X)
    sizes = [check_count("sizes", size, n_components + 1, n_samples) for size in sizes]
    check_some("sizes", sizes, "neighbourhood size")
    durations, events, kept = _follow_up(cohort, horizon, late_deaths)
    X = top_variance(cohort.X, n_genes, skip=skip)
    drawn = seeds(random_state, n_repeats)
    settings = [
        SplitSettings(size, n_components, n_clusters, directions, variances, scale)
        for size in sizes
    ]
    tasks = [(X, "euclidean", settings[0], drawn[0])]
    tasks += [(X, "local pca", one, drawn[0]) for one in settings]
    tasks += [(X, "informed", one, seed) for one in settings for seed in drawn]
    runs = run_tasks(embed_cohort, tasks, n_jobs=n_jobs, verbose=verbose, label="sweep")
    p = np.array([log_rank_p_value(durations, events, bipartition(e)[kept]) for e in runs])
    gap = neighborhood_gap(
        X, sizes, n_clusters, random_state=drawn[0], n_jobs=n_jobs, verbose=verbose
    )
    return NeighborhoodSweep(
        cohort=cohort.name,
        sizes=np.array(sizes),
        p_local_pca=p[1 : 1 + len(sizes)],
        p_informed=p[1 + len(sizes) :].reshape(len(sizes), n_repeats),
        p_euclidean=float(p[0]),
        gap=gap.gap,
        gap_error=gap.standard_error,
        proposed=gap.proposed or (),
    )


def _follow_up(
    cohort: Cohort, horizon: float | None, late_deaths: str
) -> tuple[Array, Array, Array]:
    check_choice("late_deaths", late_deaths, ["censor", "drop"])
    everybody = np.ones(len(cohort.X), dtype=bool)
    if horizon is None:
        return cohort.durations, cohort.events, everybody
    if late_deaths == "drop":
        return drop_late_deaths(cohort.durations, cohort.events, horizon)
    return *truncate_follow_up(cohort.durations, cohort.events, horizon), everybody
