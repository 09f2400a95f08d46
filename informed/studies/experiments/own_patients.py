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
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from informed.clusters.features import cluster_columns_from, cluster_rows, cluster_rows_from
from informed.clusters.kmeans import spread_partitions
from informed.datasets import Cohort, variance_order
from informed.diffusion import DiffusionMap
from informed.directions import averaged_directions, exact_directions, pca_directions
from informed.groups import bipartition
from informed.metrics.local_graph import half_distances
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.paper_gradient import paper_gradient
from informed.studies.experiments.results import Result, Table
from informed.studies.experiments.splits import check_sizes
from informed.survival import (
    drop_late_deaths,
    log_rank_p_value,
    permutation_p_value,
    truncate_follow_up,
)
from informed.validation import Array, check_choice, check_count

__all__ = ["OWN_METHODS", "PUBLISHED", "OwnPatients", "fingerprint", "own_patients"]

OWN_METHODS = ("euclidean", "local pca", "averaged", "gradient", "exact")
_N_COMPONENTS, _N_CLUSTERS, _HORIZON = 6, 7, 60.0
_N_STARTS = 10
_EMBEDDING = 5  # coordinates, where a split looks at more than the first
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


class _Steps(NamedTuple):
    """Every step from the table to the p-value; the defaults are those of the paper."""

    values: str = "log"
    ranked: str = "here"
    ranks: tuple[int, int] = (2, 201)
    rows: str = "over all"
    starts: str = "shared"
    covariances: str = "centred"
    variances: str = "pca"
    scale: float = 2.0
    split: str = "sign"
    late: str = "drop"
    n_neighbors: int = 20


_LAST: dict[str, Any] = {"scale": 2.0, "split": "sign", "late": "drop"}
_VARIATIONS: dict[str, dict[str, Any]] = {
    "as the paper has it": {},
    "values on a linear scale": {"values": "linear"},
    "each gene scaled to variance 1": {"values": "unit variance"},
    "genes 1-200: the top one kept": {"ranks": (1, 200)},
    "genes 2-101": {"ranks": (2, 101)},
    "genes 2-401": {"ranks": (2, 401)},
    "genes ranked on a linear scale": {"ranked": "linear"},
    "genes ranked over all hospitals": {"ranked": "table"},
    "rows centred in the neighbourhood": {"rows": "in the neighbourhood"},
    "rows not centred": {"rows": "as they are"},
    "rows standardised": {"rows": "standardised"},
    "covariances not centred": {"covariances": "as printed"},
    "k-means: one start each": {"starts": "one"},
    "k-means: ten starts each": {"starts": "ten"},
    "variances along the new directions": {"variances": "own"},
    "kernel half as wide": {"scale": 1.0},
    "kernel twice as wide": {"scale": 4.0},
    "split at the median": {"split": "median"},
    "split by two-means": {"split": "two-means"},
    "split by the embedding's component": {"split": "component"},
    "late deaths censored": {"late": "censor"},
    "all follow-up": {"late": "keep"},
    "N = 34 as in the program": {"n_neighbors": 34},
}


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
        """One row for each metric at N = 20 with nothing changed, over all seeds."""
        base = self.changed[0]
        if 20 in self.sizes:
            base = self.dropped[:, self.sizes.tolist().index(20)]
        return Table(
            (
                *(f"{self.cohort}, N = 20", "smaller group", "median p", "mean p"),
                *("permutation p", "ARI Euclidean"),
            ),
            [
                (
                    method,
                    int(self.smaller_group[i]),
                    float(np.median(base[i])),
                    float(np.mean(base[i])),
                    float(self.permutation[i]),
                    float(self.agreement[i]),
                )
                for i, method in enumerate(self.methods)
            ],
        )

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
        """One row a neighbourhood size: the mean p, as the paper averages, beside the published."""
        p = self.dropped if late_deaths == "drop" else self.censored
        published = {
            int(size): (float(informed), float(local))
            for size, informed, local in zip(
                PUBLISHED["sizes"], PUBLISHED["informed"], PUBLISHED["local pca"], strict=True
            )
        }
        nothing = (np.nan, np.nan)
        return Table(
            ("N", *self.methods, "published ILM", "published LM"),
            [
                (
                    int(size),
                    *(float(np.mean(p[j, i])) for j in range(len(self.methods))),
                    *published.get(int(size), nothing),
                )
                for i, size in enumerate(self.sizes)
            ],
        )

    def __str__(self) -> str:
        return (
            f"{self.table}\n\none change at a time, median p:\n{self.variation_table}\n\n"
            f"along N, late deaths dropped, mean p:\n{self.curve_table()}\n\n"
            f"along N, late deaths censored, mean p:\n{self.curve_table('censor')}"
        )


def own_patients(
    cohort: Cohort,
    *,
    sizes: Sequence[int] = tuple(range(10, 61, 5)),
    variations: Sequence[str] = tuple(_VARIATIONS),
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
    widths = check_sizes(sizes, _N_COMPONENTS)
    check_count("sizes", max(widths), 1, n_samples, f"{n_samples} subjects")
    tried = [check_choice("variations", name, list(_VARIATIONS)) for name in variations]
    unchanged = next(iter(_VARIATIONS))
    if tried[:1] != [unchanged] or len(set(tried)) < len(tried):
        raise ValueError(
            f"variations={tuple(variations)} must start with {unchanged!r} and name each once"
        )
    drawn = seeds(random_state, n_repeats)
    chains = [_Steps(**_VARIATIONS[name]) for name in tried]
    last = max(steps.ranks[1] for steps in chains)
    if n_genes < last:
        raise ValueError(f"cohort has {n_genes} genes: the variations need {last}")
    chains += [_Steps(n_neighbors=width) for width in widths]
    curve, unvaried = chains[len(tried) :], chains[0]
    # Steps that come after the distances share them.
    ends: dict[_Steps, dict[_Steps, None]] = {}
    for steps in chains:
        ends.setdefault(_Steps(**steps._asdict() | _LAST), {})[steps._replace(late="drop")] = None
    full = {unvaried, *curve}
    tasks = [
        (tuple(several), seed)
        for several in ends.values()
        for seed in (drawn if full & set(several) else drawn[:_N_VARIED])
    ]
    found = run_tasks(
        _groups,
        tasks,
        n_jobs=n_jobs,
        verbose=verbose,
        label="own_patients",
        shared=(cohort.X,),
    )
    groups: dict[_Steps, list[Array]] = {}
    for (several, _), parts in zip(tasks, found, strict=True):
        for steps, part in zip(several, parts, strict=True):
            groups.setdefault(steps, []).append(part)

    def p_values(steps: _Steps, late: str, n_seeds: int = n_repeats) -> Array:
        durations, events, kept = _follow_up(cohort, late)
        return np.array(
            [
                [log_rank_p_value(durations, events, labels[kept]) for labels in method]
                for method in np.swapaxes(groups[steps._replace(late="drop")][:n_seeds], 0, 1)
            ]
        )

    base = groups[unvaried][0]
    durations, events, kept = _follow_up(cohort, "drop")
    return OwnPatients(
        cohort=cohort.name,
        fingerprint=fingerprint(cohort),
        n_samples=n_samples,
        n_events=int(cohort.events.sum()),
        n_late=int(np.sum((cohort.events == 1) & (cohort.months > _HORIZON))),
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


# ------------------------------------------------------------------- from the table to two groups


def _follow_up(cohort: Cohort, late: str) -> tuple[Array, Array, Array]:
    everybody = np.ones(len(cohort.X), dtype=bool)
    if late == "drop":
        return drop_late_deaths(cohort.months, cohort.events, _HORIZON)
    if late == "censor":
        return *truncate_follow_up(cohort.months, cohort.events, _HORIZON), everybody
    return cohort.months, cohort.events, everybody


def _groups(X: Array, several: Sequence[_Steps], seed: int) -> list[NDArray[np.intp]]:
    """Return the groups of the subjects, one row per method, for chains that share distances."""
    distances = _distances(X, several[0], seed)
    return [np.array([_split(each, steps) for each in distances]) for steps in several]


def _distances(X: Array, steps: _Steps, seed: int) -> list[Array]:
    """Return the distances between the subjects under every method."""
    genes = _genes(X, steps)
    plain = squareform(pdist(genes))
    # Itself first, then the nearest others.
    neighbors = np.argsort(plain - 2 * np.eye(len(plain)), axis=1, kind="stable")
    near = genes[neighbors[:, : steps.n_neighbors]]
    labels = _labels(genes, near, steps, seed)
    samples = near if steps.covariances == "as printed" else near - near.mean(axis=1, keepdims=True)
    centered = genes - genes.mean(axis=0)
    distances = [plain]
    for method in OWN_METHODS[1:]:
        halves = half_distances(centered, _factors(samples, labels, method, steps), centered)
        np.fill_diagonal(halves, 0.0)
        distances.append(np.sqrt(halves + halves.T))
    return distances


def _genes(X: Array, steps: _Steps) -> Array:
    values = 2.0**X if steps.values == "linear" else X
    if steps.ranked == "table":  # The table has its genes by falling variance over all hospitals.
        order = np.arange(X.shape[1])
    else:
        order = variance_order(2.0**X if steps.ranked == "linear" else values)
    first, last = steps.ranks
    chosen = values[:, order[first - 1 : last]]
    return chosen / chosen.std(axis=0) if steps.values == "unit variance" else chosen


def _labels(genes: Array, near: Array, steps: _Steps, seed: int) -> NDArray[np.intp]:
    """Gene clusters of every neighbourhood: one row per subject."""
    if steps.rows == "over all":
        near = near - genes.mean(axis=0)
    elif steps.rows != "as they are":
        near = near - near.mean(axis=1, keepdims=True)
        if steps.rows == "standardised":
            near = near / near.std(axis=1, keepdims=True)
    # Drawn as LocalInformedMahalanobis draws, so that nothing changed means nothing changed.
    random = check_random_state(check_random_state(seed).randint(2**31 - 1))
    if steps.starts != "shared":
        n_init = 1 if steps.starts == "one" else _N_STARTS
        return np.array([cluster_rows(own.T, _N_CLUSTERS, n_init, random) for own in near])
    landmarks = random.choice(len(near), min(_N_STARTS, len(near)), replace=False)
    starts = []
    for own in near[landmarks]:
        scattered = spread_partitions(own.T, _N_CLUSTERS, _N_STARTS, random)
        starts.append(cluster_rows_from(own.T, scattered, _N_CLUSTERS))
    return cluster_columns_from(near, np.array(starts), _N_CLUSTERS)


def _factors(samples: Array, labels: NDArray[np.intp], method: str, steps: _Steps) -> Array:
    """Factor of every local model, of shape (n_samples, d, n_genes)."""
    if method == "gradient":
        directions, pca_variances = paper_gradient(samples, labels, _N_COMPONENTS)
        variances = (
            np.sum((samples @ directions) ** 2, axis=1) / (samples.shape[1] - 1)
            if steps.variances == "own"
            else pca_variances
        )
        return np.swapaxes(directions / np.sqrt(variances)[:, None, :], 1, 2)
    factors = []
    for own, own_labels in zip(samples, labels, strict=True):
        if method == "local pca":
            found = pca_directions(own, _N_COMPONENTS, check_input=False)
        elif method == "averaged":
            found = averaged_directions(own, own_labels, _N_COMPONENTS, check_input=False)
        else:
            found = exact_directions(own, own_labels, _N_COMPONENTS, check_input=False)
        variances = found.variances if steps.variances == "own" else found.pca_variances
        lengths = np.linalg.norm(found.directions, axis=0)
        factors.append((found.directions / (lengths * np.sqrt(variances))).T)
    return np.array(factors)


def _split(distances: Array, steps: _Steps) -> NDArray[np.intp]:
    mapped = DiffusionMap(_EMBEDDING, scale=steps.scale, metric="precomputed")
    embedding = mapped.fit_transform(distances)
    if steps.split == "median":
        return bipartition(embedding[:, 0] - np.median(embedding[:, 0]))
    if steps.split == "two-means":
        model = KMeans(2, n_init=_N_STARTS, random_state=0).fit(embedding[:, :2])
        return np.asarray(model.labels_, dtype=np.intp)
    if steps.split == "component":
        centered = embedding - embedding.mean(axis=0)
        return bipartition(np.linalg.svd(centered, full_matrices=False)[0][:, :1])
    return bipartition(embedding)
