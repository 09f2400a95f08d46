"""Train at one hospital, test at the others: what a single cohort cannot show.

A split is learnt at one hospital from expression alone: genes, neighbourhoods, clusters,
directions, embedding, cut. Subjects of another hospital get their distances to those of the first,
each with the local model of its own nearest training subjects, and their coordinate by the Nyström
extension. Which side of the cut is called the worse one is the only thing that survival decides,
and it is the survival of the training hospital.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from informed.datasets import DirectorsChallenge
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.own_patients import fingerprint
from informed.studies.experiments.results import Result, Table
from informed.studies.experiments.risk import RISK_METHODS
from informed.studies.experiments.site_steps import (
    PREPARATIONS,
    age_and_stage,
    carry_over,
    draw_again,
    explained_by_site,
    nearest_alike,
    prepare,
    worse_first,
)
from informed.survival import (
    adjusted_hazard_ratio,
    hazard_ratio,
    log_rank_p_value,
    proportional_hazards_p_value,
    restricted_mean_difference,
    truncate_follow_up,
)
from informed.validation import Array, check_choice, check_count

__all__ = ["SiteTransfer", "site_transfer"]


@dataclass(frozen=True, eq=False)
class SiteTransfer(Result):
    """Hazard ratios of splits that were learnt at one hospital and tested at another.

    Arrays of shape (n_preparations, n_pairs, n_methods) hold the values of the first k-means seed.
    A ratio above 1 means that the group that fared worse at the training hospital also does so at
    the other one.

    Attributes
    ----------
    fingerprint : str
        What the numbers of the study hash to.
    sites : tuple of str
        The hospitals.
    n_samples, n_events : int arrays of shape (n_sites,)
        Subjects and deaths at each.
    n_events_tested : int array of shape (n_sites,)
        Deaths within the horizon.
    horizon : float
        End of follow-up in months; later deaths are censored there.
    preparations : tuple of str
        ``"centred"``: the mean of every gene is subtracted at each hospital; ``"as measured"``.
    explained, nearest : arrays of shape (n_preparations,)
        Batch effect: share of the genes' variance that the hospital explains (mean over genes), and
        share of subjects whose nearest other subject is of the same hospital.
    nearest_by_chance : float
        That share if expression knew nothing of the hospital.
    methods : tuple of str
        Euclidean distance, local PCA, informed metric (exact directions).
    train, test : int arrays of shape (n_pairs,)
        The pairs, as indices of ``sites``.
    worse : int array of shape (n_preparations, n_pairs, n_methods)
        Subjects of the test hospital in the group called worse.
    p_values : array of shape (n_preparations, n_pairs, n_methods)
        Log-rank p at the test hospital.
    ratios, lower, upper : arrays of shape (n_preparations, n_pairs, n_methods)
        Hazard ratio at the test hospital with its 95 % interval.
    adjusted, adjusted_lower, adjusted_upper : arrays of shape (n_preparations, n_pairs, n_methods)
        The same, adjusted for age and stage.
    proportional : array of shape (n_preparations, n_pairs, n_methods)
        P-value of the test that this ratio is the same at all times (not adjusted).
    lost, lost_lower, lost_upper : arrays of shape (n_preparations, n_pairs, n_methods)
        Months that the group called worse lives less, of the time up to the horizon (difference of
        restricted means), with the 95 % interval; this needs no constant ratio.
    at_home : array of shape (n_preparations, n_sites, n_methods)
        Hazard ratio at the training hospital itself, at least 1 because it names the groups.
    seed_ratios : array of shape (n_preparations, n_pairs, n_repeats)
        Ratios of the informed metric for every k-means seed.
    draws : array of shape (n_preparations, n_draws, n_methods)
        Mean log ratio over all pairs when the test subjects of every hospital are drawn again; the
        splits stay.
    lost_draws : array of shape (n_preparations, n_draws, n_methods)
        Mean of the months lost over all pairs, in the same draws.
    """

    name: ClassVar[str] = "site_transfer"
    fingerprint: str
    sites: tuple[str, ...]
    n_samples: NDArray[np.intp]
    n_events: NDArray[np.intp]
    n_events_tested: NDArray[np.intp]
    horizon: float
    preparations: tuple[str, ...]
    explained: Array
    nearest: Array
    nearest_by_chance: float
    methods: tuple[str, ...]
    train: NDArray[np.intp]
    test: NDArray[np.intp]
    worse: NDArray[np.intp]
    p_values: Array
    ratios: Array
    lower: Array
    upper: Array
    adjusted: Array
    adjusted_lower: Array
    adjusted_upper: Array
    proportional: Array
    lost: Array
    lost_lower: Array
    lost_upper: Array
    at_home: Array
    seed_ratios: Array
    draws: Array
    lost_draws: Array

    @property
    def table(self) -> Table:
        """One row for each pair of hospitals, with hazard ratios adjusted for age and stage."""
        return self.pair_table("centred")

    def pair_table(self, preparation: str = "centred", *, adjusted: bool = True) -> Table:
        """One row per pair, one column per metric: hazard ratio with its 95 % interval.

        Parameters
        ----------
        preparation : str
            One of ``preparations``.
        adjusted : bool
            Whether for age and stage.
        """
        parts = (
            (self.adjusted, self.adjusted_lower, self.adjusted_upper)
            if adjusted
            else (self.ratios, self.lower, self.upper)
        )
        return self._with_intervals(preparation, parts, ".2f")

    def lost_table(self, preparation: str = "centred") -> Table:
        """One row per pair, one column per metric: months lost by the worse group.

        Parameters
        ----------
        preparation : str
            One of ``preparations``.
        """
        return self._with_intervals(
            preparation, (self.lost, self.lost_lower, self.lost_upper), "z.1f"
        )

    def _with_intervals(
        self, preparation: str, parts: tuple[Array, Array, Array], digits: str
    ) -> Table:
        row = self.preparations.index(check_choice("preparation", preparation, self.preparations))
        return Table(
            ("train", "test", "n", "deaths", *self.methods),
            [
                (
                    self.sites[a],
                    self.sites[b],
                    int(self.n_samples[b]),
                    int(self.n_events_tested[b]),
                    *(
                        "{:{d}} ({:{d}} to {:{d}})".format(
                            *(part[row, i, j] for part in parts), d=digits
                        )
                        for j in range(len(self.methods))
                    ),
                )
                for i, (a, b) in enumerate(zip(self.train, self.test, strict=True))
            ],
        )

    @property
    def batch_table(self) -> Table:
        """How much of the expression tells the hospital, before and after centring."""
        return Table(
            ("expression", "variance explained", "nearest of the same hospital", "by chance"),
            [
                (name, float(explained), float(nearest), self.nearest_by_chance)
                for name, explained, nearest in zip(
                    self.preparations, self.explained, self.nearest, strict=True
                )
            ],
        )

    def summary(self, preparation: str = "centred") -> Table:
        """One row for each metric: how the twelve pairs turn out together.

        The mean ratio is the geometric one; its interval, and that of the mean of the months lost,
        is from drawing test subjects again.
        """
        row = self.preparations.index(check_choice("preparation", preparation, self.preparations))
        rows = []
        for j, method in enumerate(self.methods):
            low, high = np.exp(np.quantile(self.draws[row, :, j], [0.025, 0.975]))
            mean = float(np.exp(np.mean(np.log(self.ratios[row, :, j]))))
            rows.append(
                (
                    method,
                    int(np.sum(self.ratios[row, :, j] > 1)),
                    int(np.sum(self.lower[row, :, j] > 1)),
                    int(np.sum(self.adjusted[row, :, j] > 1)),
                    int(np.sum(self.adjusted_lower[row, :, j] > 1)),
                    f"{mean:.2f} ({low:.2f} to {high:.2f})",
                    "{:{d}} ({:{d}} to {:{d}})".format(
                        np.mean(self.lost[row, :, j]),
                        *np.quantile(self.lost_draws[row, :, j], [0.025, 0.975]),
                        d="z.1f",
                    ),
                )
            )
        return Table(
            (
                *("metric", "above 1", "interval above 1", "adjusted above 1"),
                *("adjusted interval above 1", "mean ratio (95 %)", "months lost (95 %)"),
            ),
            rows,
        )

    def difference(
        self, one: str = "informed", other: str = "euclidean", preparation: str = "centred"
    ) -> tuple[float, float, float]:
        """Ratio of the mean hazard ratios of two metrics, with its 95 % interval.

        Parameters
        ----------
        one, other : str
            Two of ``methods``.
        preparation : str
            One of ``preparations``.

        Returns
        -------
        ratio, lower, upper : float
        """
        row = self.preparations.index(check_choice("preparation", preparation, self.preparations))
        i, j = (
            self.methods.index(check_choice("one", name, self.methods)) for name in (one, other)
        )
        logs = np.log(self.ratios[row])
        drawn = self.draws[row, :, i] - self.draws[row, :, j]
        low, high = np.exp(np.quantile(drawn, [0.025, 0.975]))
        return float(np.exp(np.mean(logs[:, i] - logs[:, j]))), float(low), float(high)

    def __str__(self) -> str:
        parts = [str(self.batch_table)]
        for preparation in self.preparations:
            parts += [
                f"{preparation}, adjusted for age and stage:\n{self.pair_table(preparation)}",
                f"{preparation}, not adjusted:\n{self.pair_table(preparation, adjusted=False)}",
                f"{preparation}, together:\n{self.summary(preparation)}",
                "{}, informed over Euclidean: {:.2f} ({:.2f} to {:.2f})".format(
                    preparation, *self.difference(preparation=preparation)
                ),
            ]
        return "\n\n".join(parts)


def site_transfer(
    cohort: DirectorsChallenge,
    *,
    n_genes: int = 200,
    skip: int = 1,
    n_neighbors: int = 20,
    n_components: int = 6,
    n_clusters: int = 7,
    scale: float = 2.0,
    horizon: float = 60.0,
    n_repeats: int = 10,
    n_draws: int = 1000,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> SiteTransfer:
    """Learn a split at one hospital, carry it to each of the others and test it there.

    Parameters
    ----------
    cohort : DirectorsChallenge
        Subjects of several hospitals.
    n_genes, skip : int
        Genes of highest standard deviation at the training hospital, after leaving out ``skip``.
    n_neighbors, n_components, n_clusters : int
        Of :class:`informed.LocalInformedMahalanobis`.
    scale : float
        Kernel scale over the median squared distance.
    horizon : float
        End of follow-up in months; later deaths are censored there.
    n_repeats : int
        Number of k-means seeds; the tables show the first.
    n_draws : int
        How often the test subjects are drawn again for the intervals of means.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    SiteTransfer
    """
    n_repeats = check_count("n_repeats", n_repeats, 1)
    n_draws = check_count("n_draws", n_draws, 1)
    sites = tuple(dict.fromkeys(cohort.sites.tolist()))
    if len(sites) < 2:
        raise ValueError(f"cohort holds the hospital {sites} only: at least two are needed")
    rows = {site: np.flatnonzero(cohort.sites == site) for site in sites}
    durations, events = truncate_follow_up(cohort.months, cohort.events, horizon)
    prepared = [prepare(cohort.X, rows, preparation) for preparation in PREPARATIONS]
    drawn = seeds(random_state, n_repeats)
    local = (n_neighbors, n_components, n_clusters, scale)
    tasks = [
        (i, site, method, seed)
        for i in range(len(PREPARATIONS))
        for site in sites
        for method in RISK_METHODS
        for seed in (drawn if method == "informed" else drawn[:1])
    ]
    found = run_tasks(
        carry_over,
        tasks,
        n_jobs=n_jobs,
        verbose=verbose,
        label="site_transfer",
        shared=(prepared, rows, (n_genes, skip), local),
    )
    groups = {
        task: worse_first(durations, events, labels, rows[task[1]])
        for task, labels in zip(tasks, found, strict=True)
    }
    pairs = list(permutations(range(len(sites)), 2))

    def each(
        compute: Callable[[NDArray[np.intp], NDArray[np.intp]], Any], home: bool = False
    ) -> Array:
        """Collect a number from the test subjects of every preparation, pair and method."""
        where = [(a, a) for a in range(len(sites))] if home else pairs
        return np.array(
            [
                [
                    [
                        compute(groups[i, sites[a], method, drawn[0]], rows[sites[b]])
                        for method in RISK_METHODS
                    ]
                    for a, b in where
                ]
                for i in range(len(PREPARATIONS))
            ]
        )

    def crude(labels: NDArray[np.intp], test: NDArray[np.intp]) -> tuple[float, float, float]:
        result = hazard_ratio(durations[test], events[test], labels[test])
        return result.ratio, result.lower, result.upper

    def beside(labels: NDArray[np.intp], test: NDArray[np.intp]) -> tuple[float, float, float]:
        result = adjusted_hazard_ratio(
            durations[test], events[test], labels[test], age_and_stage(cohort, test)
        )
        return result.ratio, result.lower, result.upper

    def lives_less(labels: NDArray[np.intp], test: NDArray[np.intp]) -> tuple[float, float, float]:
        result = restricted_mean_difference(durations[test], events[test], 1 - labels[test])
        return result.difference, result.lower, result.upper

    again = draw_again(
        durations, events, groups, rows, sites, pairs, drawn[0], n_draws, float(horizon)
    )
    ratios, adjusted, lost = each(crude), each(beside), each(lives_less)
    return SiteTransfer(
        fingerprint=fingerprint(cohort),
        sites=sites,
        n_samples=np.array([len(rows[site]) for site in sites]),
        n_events=np.array([cohort.events[rows[site]].sum() for site in sites]),
        n_events_tested=np.array([np.sum(events[rows[site]]) for site in sites], dtype=np.intp),
        horizon=float(horizon),
        preparations=PREPARATIONS,
        explained=np.array([explained_by_site(X, rows) for X in prepared]),
        nearest=np.array([nearest_alike(X, cohort.sites) for X in prepared]),
        nearest_by_chance=float(
            sum(len(own) * (len(own) - 1) for own in rows.values())
            / (len(cohort.X) * (len(cohort.X) - 1))
        ),
        methods=RISK_METHODS,
        train=np.array([a for a, _ in pairs]),
        test=np.array([b for _, b in pairs]),
        worse=each(lambda labels, test: int(labels[test].sum())),
        p_values=each(
            lambda labels, test: log_rank_p_value(durations[test], events[test], labels[test])
        ),
        ratios=ratios[..., 0],
        lower=ratios[..., 1],
        upper=ratios[..., 2],
        adjusted=adjusted[..., 0],
        adjusted_lower=adjusted[..., 1],
        adjusted_upper=adjusted[..., 2],
        proportional=each(
            lambda labels, test: proportional_hazards_p_value(
                durations[test], events[test], labels[test]
            )
        ),
        lost=lost[..., 0],
        lost_lower=lost[..., 1],
        lost_upper=lost[..., 2],
        at_home=each(crude, home=True)[..., 0],
        seed_ratios=np.array(
            [
                [
                    [
                        crude(groups[i, sites[a], "informed", seed], rows[sites[b]])[0]
                        for seed in drawn
                    ]
                    for a, b in pairs
                ]
                for i in range(len(PREPARATIONS))
            ]
        ),
        draws=again[0],
        lost_draws=again[1],
    )
