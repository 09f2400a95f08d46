"""Future work 1: a penalty between PCA and the clusters, on clusters that blur."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from informed.clusters import cluster_features
from informed.datasets import blurred_toy, make_curved_manifold
from informed.datasets.blurred import N_DIRECTIONS, N_FEATURES
from informed.directions import analytic_penalty, pca_directions, penalty_path
from informed.directions.penalty import held_out_errors
from informed.metrics import LocalInformedMahalanobis
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.locality import scaled_error
from informed.studies.experiments.results import Result, Table, spread
from informed.validation import Array, check_count, check_number

__all__ = [
    "LocalPenaltyStudy",
    "PenaltyStudy",
    "local_penalty_study",
    "penalty_study",
]

METHODS = ("pca", "hard", "penalized", "analytic", "capped", "oracle")


@dataclass(frozen=True, eq=False)
class PenaltyStudy(Result):
    """Errors of PCA, of the hard constraint and of penalties in between.

    Attributes
    ----------
    blurs : array of shape (n_blurs,)
        Standard deviation of the loadings within a cluster; infinite without clusters.
    sizes : int array of shape (n_sizes,)
        Numbers of samples.
    counts : int array of shape (n_counts,)
        Numbers of clusters that k-means was asked for; the toy has 12.
    methods : tuple of str
        ``"pca"``, ``"hard"``, ``"penalized"`` (weight by cross-validation), ``"analytic"`` (weight
        by :func:`informed.directions.analytic_penalty`), ``"capped"`` (the smaller of these two
        weights) and ``"oracle"`` (the weight with the least error, which only the truth knows).
    errors : array of shape (n_methods, n_blurs, n_sizes, n_counts, n_repeats)
        Error e_F of seven directions.
    penalties : array of shape (n_blurs, n_sizes, n_counts, n_repeats)
        Cross-validated weight in units of PCA's leading variance.
    """

    name: ClassVar[str] = "penalty_study"
    blurs: Array
    sizes: NDArray[np.intp]
    counts: NDArray[np.intp]
    methods: tuple[str, ...]
    errors: Array
    penalties: Array

    def ratios(self, method: str = "penalized") -> Array:
        """Mean error of a method over that of the better of PCA and the hard constraint.

        Parameters
        ----------
        method : str
            One of ``methods``.

        Returns
        -------
        ratios : array of shape (n_blurs, n_sizes, n_counts)
        """
        mean = self.errors.mean(axis=-1)
        better = np.minimum(mean[self.methods.index("pca")], mean[self.methods.index("hard")])
        ratios: Array = mean[self.methods.index(method)] / better
        return ratios

    @property
    def worst_ratio(self) -> float:
        """Largest of the ratios of the cross-validated penalty, data without clusters included."""
        return float(self.ratios().max())

    @property
    def mean_ratio(self) -> float:
        """Mean of the ratios of the cross-validated penalty where there are clusters."""
        return float(self.ratios()[np.isfinite(self.blurs)].mean())

    @property
    def table(self) -> Table:
        """Mean e_F of each method, and the ratio of the cross-validated penalty."""
        mean, ratios = self.errors.mean(axis=-1), self.ratios()
        return Table(
            ("blur", "n", "K", *self.methods, "ratio"),
            [
                (
                    f"{blur:g}" if np.isfinite(blur) else "no clusters",
                    int(size),
                    int(count),
                    *(f"{value:.2f}" for value in mean[:, i, j, k]),
                    f"{ratios[i, j, k]:.3f}",
                )
                for i, blur in enumerate(self.blurs)
                for j, size in enumerate(self.sizes)
                for k, count in enumerate(self.counts)
            ],
        )


def penalty_study(
    *,
    blurs: Sequence[float] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, np.inf),
    sizes: Sequence[int] = (20, 40, 80, 160, 320, 500),
    counts: Sequence[int] = (8, 12, 24),
    n_init: int = 10,
    n_repeats: int = 4,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> PenaltyStudy:
    """Error of seven directions by PCA, by the hard constraint and by penalties in between.

    The data are those of :func:`informed.datasets.blurred_toy`, with 12 clusters. The weight is
    cross-validated with clusters found anew in each fold. Held-out reconstruction counts strong
    directions more than weak ones, the analytic weight takes fitted clusters as known: each is too
    large now and then, for different reasons, so the smaller of the two is the safer choice.

    Parameters
    ----------
    blurs : sequence of float
        Standard deviations of the loadings within a cluster; infinite for no clusters at all.
    sizes : sequence of int
        Numbers of samples.
    counts : sequence of int
        Numbers of clusters that k-means is asked for.
    n_init : int
        Number of k-means restarts.
    n_repeats : int
        Number of data sets for each blur and size. The same ones serve all numbers of clusters.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    PenaltyStudy
    """
    blurs = [check_number("blurs", blur, finite=False) for blur in blurs]
    sizes = [check_count("sizes", size, 2 * N_DIRECTIONS) for size in sizes]
    counts = [check_count("counts", k, N_DIRECTIONS, N_FEATURES, "features") for k in counts]
    for name, values in (("blurs", blurs), ("sizes", sizes), ("counts", counts)):
        if not values:
            raise ValueError(f"{name} is empty: give at least one value")
    n_init = check_count("n_init", n_init, 1)
    n_repeats = check_count("n_repeats", n_repeats, 1)
    drawn = seeds(random_state, n_repeats)
    tasks = [
        (n, blur, k, n_init, seed)
        for blur in blurs
        for n in sizes
        for k in counts
        for seed in drawn
    ]
    runs = run_tasks(
        _errors_of_one_blur, tasks, n_jobs=n_jobs, verbose=verbose, label="penalty_study"
    )
    shape = (len(blurs), len(sizes), len(counts), n_repeats, len(METHODS) + 1)
    found = np.moveaxis(np.reshape(runs, shape), -1, 0)
    return PenaltyStudy(
        blurs=np.array(blurs),
        sizes=np.array(sizes),
        counts=np.array(counts),
        methods=METHODS,
        errors=found[:-1],
        penalties=found[-1],
    )


def _errors_of_one_blur(
    n_samples: int, blur: float, n_clusters: int, n_init: int, seed: int
) -> list[float]:
    """Errors of all methods, and the cross-validated weight."""
    X, truth = blurred_toy(n_samples, blur, random_state=seed)
    again = partial(cluster_features, n_clusters=n_clusters, n_init=n_init, random_state=seed)
    labels = again(X)
    path = penalty_path(X, labels, N_DIRECTIONS, recluster=again)
    analytic = analytic_penalty(X, labels, N_DIRECTIONS)
    weights = np.array([0.0, np.inf, path.best, analytic, min(path.best, analytic)])
    picked = span_errors(X, labels, truth, weights)
    oracle = span_errors(X, labels, truth, path.penalties).min()
    relative = path.best / pca_directions(X, 1).variances[0]
    return [*(float(error) for error in picked), float(oracle), float(relative)]


def span_errors(X: Array, labels: NDArray[np.intp], truth: Array, penalties: Array) -> Array:
    r"""Error e_F of the penalised directions against the truth, for each weight.

    For orthonormal *U* and *V* with d columns,
    :math:`\lVert UU^\top - VV^\top\rVert_F^2 = 2(d - \lVert U^\top V\rVert_F^2)`: twice the energy
    that *U* misses of the columns of *V*, which are therefore reconstructed like fresh samples.
    """
    d = truth.shape[1]
    missed = d * held_out_errors(X, X.mean(axis=0) + truth.T, labels, d, penalties)
    errors: Array = np.sqrt(np.maximum(2 * missed, 0.0))
    return errors


# --------------------------------------------------------------------------------- the local metric


@dataclass(frozen=True, eq=False)
class LocalPenaltyStudy(Result):
    """Errors of local distances on a bent sheet, by the directions of the local models.

    Attributes
    ----------
    spreads : array of shape (n_spreads,)
        Standard deviations of a feature's response within its cluster.
    sizes : int array of shape (n_sizes,)
        Neighbourhood sizes N.
    methods : tuple of str
        ``"local pca"``, ``"exact"`` (the hard constraint) and ``"penalized"``.
    errors : array of shape (n_methods, n_spreads, n_sizes, n_repeats)
        Relative error of the distances between near pairs, after the best common scale.
    """

    name: ClassVar[str] = "local_penalty_study"
    spreads: Array
    sizes: NDArray[np.intp]
    methods: tuple[str, ...]
    errors: Array

    @property
    def table(self) -> Table:
        """Mean error ± standard deviation, one row for each spread and size."""
        return Table(
            ("spread", "N", *self.methods),
            [
                (f"{width:g}", int(size), *(spread(e) for e in self.errors[:, i, j]))
                for i, width in enumerate(self.spreads)
                for j, size in enumerate(self.sizes)
            ],
        )


def local_penalty_study(
    *,
    spreads: Sequence[float] = (0.1, 0.5, 1.0),
    sizes: Sequence[int] = (8, 16, 32),
    n_samples: int = 150,
    n_features: int = 120,
    noise: float = 0.3,
    reach: float = 0.25,
    n_repeats: int = 3,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> LocalPenaltyStudy:
    """Error of local distances with PCA's, clustered and penalised directions.

    Parameters
    ----------
    spreads : sequence of float
        How far the features of a cluster differ, as in
        :func:`informed.datasets.make_curved_manifold`.
    sizes : sequence of int
        Neighbourhood sizes N.
    n_samples, n_features, noise
        Of :func:`informed.datasets.make_curved_manifold`.
    reach : float
        Pairs count as near when their hidden points are closer than this.
    n_repeats : int
        Number of data sets.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    LocalPenaltyStudy
    """
    n_samples = check_count("n_samples", n_samples, 4)
    spreads = [check_number("spreads", width) for width in spreads]
    sizes = [check_count("sizes", size, 4, n_samples, f"n_samples={n_samples}") for size in sizes]
    for name, values in (("spreads", spreads), ("sizes", sizes)):
        if not values:
            raise ValueError(f"{name} is empty: give at least one value")
    reach = check_number("reach", reach, open_low=True)
    n_repeats = check_count("n_repeats", n_repeats, 1)
    drawn = seeds(random_state, n_repeats)
    tasks = [
        (n_samples, n_features, width, noise, reach, size, seed)
        for width in spreads
        for size in sizes
        for seed in drawn
    ]
    runs = run_tasks(
        _errors_of_one_sheet, tasks, n_jobs=n_jobs, verbose=verbose, label="local_penalty_study"
    )
    shape = (len(spreads), len(sizes), n_repeats, 3)
    return LocalPenaltyStudy(
        spreads=np.array(spreads),
        sizes=np.array(sizes),
        methods=("local pca", "exact", "penalized"),
        errors=np.moveaxis(np.reshape(runs, shape), -1, 0),
    )


def _errors_of_one_sheet(
    n_samples: int,
    n_features: int,
    width: float,
    noise: float,
    reach: float,
    size: int,
    seed: int,
) -> list[float]:
    sheet = make_curved_manifold(
        n_samples, n_features, spread=width, noise=noise, random_state=seed
    )
    hidden = pdist(sheet.hidden)
    near = hidden < reach
    local = LocalInformedMahalanobis(size, 2, 3, n_init=3, random_state=seed)
    errors = []
    for directions in ("pca", "exact", "penalized"):
        distances = local.set_params(directions=directions).fit(sheet.X).pairwise_distances()
        observed = squareform(distances, checks=False)[near]
        errors.append(scaled_error(observed, hidden[near]))
    return errors
