"""The paper's own patients: Algorithm 2 as printed, and everything that might explain a difference.

The cohort is the paper's, CAN/DF, but its expression comes from other hands: 500 genes instead of
22,283 probes. So the question is not whether the published numbers come out again, but how far the
finding depends on steps that the paper leaves open. Each is varied alone, all others staying as
the paper and its authors' program (informedMetricCode) have them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from informed.datasets import Cohort
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.own_steps import (
    HORIZON,
    N_COMPONENTS,
    OWN_METHODS,
    UNCHANGED,
    VARIATIONS,
    Steps,
    find_groups,
    follow_up,
)
from informed.studies.experiments.results import Result, Table
from informed.studies.experiments.splits import check_sizes
from informed.survival import log_rank_p_value, permutation_p_value
from informed.validation import Array, check_choice, check_count

__all__ = ["OWN_METHODS", "PUBLISHED", "OwnPatients", "fingerprint", "own_patients"]

PAPERS_COHORT = "CAN/DF"  # As load_candf names it; the published curve is of these patients only.
_LAST: dict[str, Any] = {"scale": 2.0, "split": "sign", "late": "drop"}
_N_VARIED = 10  # seeds of a variation; the curve takes all of them

PUBLISHED: dict[str, Array] = {
    "sizes": np.arange(10, 61, 5),
    "informed": np.array(
        [0.05, 0.067, 0.015, 0.017, 0.009, 0.008, 0.049, 0.022, 0.13, 0.056, 0.053]
    ),
    "local pca": np.array(
        [0.217, 0.118, 0.067, 0.079, 0.022, 0.168, 0.168, 0.075, 0.097, 0.042, 0.042]
    ),
}
"""The p-values of the authors' figure, read by eye, at each neighbourhood size."""

PUBLISHED_P = {"informed": 0.0056, "local pca": 0.0219}
"""The p-values of the paper's text, N = 20."""


@dataclass(frozen=True, eq=False)
class OwnPatients(Result):
    """Log-rank p-values of the paper's cohort, along N and under one change at a time.

    Attributes
    ----------
    cohort, fingerprint : str
        Name of the cohort, and what its numbers hash to.
    n_samples, n_events, n_late : int
        Subjects, deaths, and deaths after 60 months.
    methods : tuple of str
        Euclidean distance, local PCA, and the informed metric with averaged, gradient and exact
        directions.
    sizes : int array of shape (n_sizes,)
        Neighbourhood sizes N of the curve.
    dropped, censored : arrays of shape (n_methods, n_sizes, n_repeats)
        p along N, with late deaths dropped as in the authors' program, or censored. Methods without
        k-means repeat their one value.
    variations : tuple of str
        Names of the changes; the first is none.
    changed : array of shape (n_variations, n_methods, n_varied)
        p under each change for the first ten seeds, at N = 20 unless the change is of N.
    permutation : array of shape (n_methods,)
        Permutation p of the first seed's groups, nothing changed.
    smaller_group : int array of shape (n_methods,)
        Subjects in the smaller of these groups.
    agreement : array of shape (n_methods,)
        Adjusted Rand index of these groups with those of the Euclidean distance.
    """

    name: ClassVar[str] = "own_patients"
    cohort: str
    fingerprint: str
    n_samples: int
    n_events: int
    n_late: int
    methods: tuple[str, ...]
    sizes: NDArray[np.intp]
    dropped: Array
    censored: Array
    variations: tuple[str, ...]
    changed: Array
    permutation: Array
    smaller_group: NDArray[np.intp]
    agreement: Array

    @property
    def table(self) -> Table:
        """One row for each metric at N = 20 over all seeds; late deaths dropped."""
        base = self.dropped[:, self._column] if self._column is not None else self.changed[0]
        return Table(
            (
                *(self._head, "smaller group", "median p", "mean p", "sd of p"),
                *("permutation p", "ARI Euclidean"),
            ),
            [
                (
                    *(method, int(self.smaller_group[i]), *_summary(base[i])),
                    *(float(self.permutation[i]), float(self.agreement[i])),
                )
                for i, method in enumerate(self.methods)
            ],
        )

    @property
    def censored_table(self) -> Table | None:
        """The p-values of the same groups with late deaths censored; None if no size is 20."""
        if self._column is None:
            return None
        return Table(
            (self._head, "median p", "mean p", "sd of p"),
            [
                (method, *_summary(p))
                for method, p in zip(self.methods, self.censored[:, self._column], strict=True)
            ],
        )

    @property
    def _head(self) -> str:
        return f"{self.cohort}, N = {Steps().n_neighbors}"

    @property
    def _column(self) -> int | None:
        """Where the curve passes the paper's neighbourhood size."""
        found = np.flatnonzero(self.sizes == Steps().n_neighbors)
        return int(found[0]) if len(found) else None

    @property
    def variation_table(self) -> Table:
        """One row for each change, with the median p of each metric."""
        return Table(
            ("changed", *self.methods),
            [
                (name, *(float(np.median(p)) for p in row))
                for name, row in zip(self.variations, self.changed, strict=True)
            ],
        )

    def curve_table(self, late_deaths: str = "drop") -> Table:
        """One row for each neighbourhood size: the mean p, as the paper averages.

        Beside it the published one, if these are the paper's patients.
        """
        p = self.dropped if late_deaths == "drop" else self.censored
        published: dict[str, dict[int, float]] = {}
        if self.cohort == PAPERS_COHORT:
            for head, name in (("published ILM", "informed"), ("published LM", "local pca")):
                pairs = zip(PUBLISHED["sizes"].tolist(), PUBLISHED[name].tolist(), strict=True)
                published[head] = dict(pairs)
        return Table(
            ("N", *self.methods, *published),
            [
                (
                    int(size),
                    *(float(np.mean(p[j, i])) for j in range(len(self.methods))),
                    *(known.get(int(size), np.nan) for known in published.values()),
                )
                for i, size in enumerate(self.sizes)
            ],
        )

    def __str__(self) -> str:
        n_seeds = self.dropped.shape[2]
        parts = [f"late deaths dropped, p over {n_seeds} seed(s):\n{self.table}"]
        if self.cohort == PAPERS_COHORT:
            words = ", ".join(f"{p} ({name})" for name, p in PUBLISHED_P.items())
            parts[0] += f"\nin the paper's text, other preprocessing: {words}"
        if self.censored_table is not None:
            parts.append(f"late deaths censored, p over {n_seeds} seed(s):\n{self.censored_table}")
        if len(self.variations) > 1:
            parts.append(f"one change at a time, median p:\n{self.variation_table}")
        parts.append(f"along N, late deaths dropped, mean p:\n{self.curve_table()}")
        parts.append(f"along N, late deaths censored, mean p:\n{self.curve_table('censor')}")
        return "\n\n".join(parts)


def own_patients(
    cohort: Cohort,
    *,
    sizes: Sequence[int] = tuple(range(10, 61, 5)),
    variations: Sequence[str] = tuple(VARIATIONS),
    n_repeats: int = 20,
    n_permutations: int = 9999,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> OwnPatients:
    """Run the paper's gene experiment on its own patients, and vary every open step alone.

    Parameters
    ----------
    cohort : Cohort
        CAN/DF, from :func:`informed.datasets.load_candf`; any cohort with 401 genes will do.
    sizes : sequence of int
        Neighbourhood sizes of the curve.
    variations : sequence of str
        Names of the changes to try, all by default; the first must be "as the paper has it".
    n_repeats : int
        Number of k-means seeds (paper: 20); the variations take the first ten at most.
    n_permutations : int
        Relabellings for the permutation p-values.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    OwnPatients
    """
    n_repeats = check_count("n_repeats", n_repeats, 1)
    n_samples, n_genes = cohort.X.shape
    widths = check_sizes(sizes, N_COMPONENTS)
    check_count("sizes", max(widths), 1, n_samples, f"{n_samples} subjects")
    tried = [check_choice("variations", name, list(VARIATIONS)) for name in variations]
    if tried[:1] != [UNCHANGED] or len(set(tried)) < len(tried):
        raise ValueError(
            f"variations={tuple(variations)} must start with {UNCHANGED!r} and name each once"
        )
    drawn = seeds(random_state, n_repeats)
    chains = [Steps(**VARIATIONS[name]) for name in tried]
    last = max(steps.ranks[1] for steps in chains)
    if n_genes < last:
        raise ValueError(f"cohort has {n_genes} genes: the variations need {last}")
    chains += [Steps(n_neighbors=width) for width in widths]
    curve, unvaried = chains[len(tried) :], chains[0]
    # Steps that come after the distances share them.
    ends: dict[Steps, dict[Steps, None]] = {}
    for steps in chains:
        ends.setdefault(Steps(**steps._asdict() | _LAST), {})[steps._replace(late="drop")] = None
    full = {unvaried, *curve}
    tasks = [
        (tuple(several), seed)
        for several in ends.values()
        for seed in (drawn if full & set(several) else drawn[:_N_VARIED])
    ]
    found = run_tasks(
        find_groups,
        tasks,
        n_jobs=n_jobs,
        verbose=verbose,
        label="own_patients",
        shared=(cohort.X,),
    )
    groups: dict[Steps, list[Array]] = {}
    for (several, _), parts in zip(tasks, found, strict=True):
        for steps, part in zip(several, parts, strict=True):
            groups.setdefault(steps, []).append(part)

    def p_values(steps: Steps, late: str, n_seeds: int = n_repeats) -> Array:
        durations, events, kept = follow_up(cohort, late)
        return np.array(
            [
                [log_rank_p_value(durations, events, labels[kept]) for labels in method]
                for method in np.swapaxes(groups[steps._replace(late="drop")][:n_seeds], 0, 1)
            ]
        )

    base = groups[unvaried][0]
    durations, events, kept = follow_up(cohort, "drop")
    return OwnPatients(
        cohort=cohort.name,
        fingerprint=fingerprint(cohort),
        n_samples=n_samples,
        n_events=int(cohort.events.sum()),
        n_late=int(np.sum((cohort.events == 1) & (cohort.months > HORIZON))),
        methods=OWN_METHODS,
        sizes=np.array(widths),
        dropped=np.swapaxes([p_values(steps, "drop") for steps in curve], 0, 1),
        censored=np.swapaxes([p_values(steps, "censor") for steps in curve], 0, 1),
        variations=tuple(tried),
        changed=np.array(
            [p_values(steps, steps.late, _N_VARIED) for steps in chains[: len(tried)]]
        ),
        permutation=np.array(
            [
                permutation_p_value(
                    durations,
                    events,
                    labels[kept],
                    n_permutations=n_permutations,
                    random_state=drawn[0],
                )
                for labels in base
            ]
        ),
        smaller_group=np.array([np.bincount(labels, minlength=2).min() for labels in base]),
        agreement=np.array([adjusted_rand_score(base[0], labels) for labels in base]),
    )


def fingerprint(cohort: Cohort) -> str:
    """Return what the numbers of a cohort hash to: equal data, equal text, on every machine.

    Examples
    --------
    >>> from informed.datasets import make_risk_cohort
    >>> one, other = (make_risk_cohort(20, 14, random_state=seed) for seed in (0, 1))
    >>> fingerprint(one) == fingerprint(one), fingerprint(one) == fingerprint(other)
    (True, False)
    """
    digest = hashlib.sha256()
    for numbers in (cohort.X, cohort.durations, cohort.events):
        digest.update(np.ascontiguousarray(numbers, dtype="<f8").tobytes())
    return digest.hexdigest()


def _summary(p: Array) -> tuple[float, float, float]:
    """Median, mean and standard deviation; zero, not a rounding error, if all are equal."""
    return float(np.median(p)), float(np.mean(p)), float(np.std(p)) if np.ptp(p) else 0.0
