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
from informed.datasets import blurred_toy, make_curved_manifold, mixed_toy
from informed.datasets.blurred import N_DIRECTIONS, N_FEATURES
from informed.directions import (
    DirectionWeights,
    PenaltyPath,
    analytic_penalty,
    direction_weights,
    pca_directions,
)
from informed.directions.penalty import (
    cap_errors,
    default_grid,
    held_out_errors,
    held_out_folds,
)
from informed.metrics import LocalInformedMahalanobis
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.locality import scaled_error
from informed.studies.experiments.results import Result, Table, spread
from informed.validation import Array, check_choice, check_count, check_number, check_some

__all__ = [
    "LocalPenaltyStudy",
    "PenaltyStudy",
    "local_penalty_study",
    "penalty_study",
]

METHODS = ("pca", "hard", "penalized", "analytic", "capped", "per-direction", "oracle")
DESIGNS = ("toy", "mixed", "steps")
# Directions of the design that has most of them; as many clusters are needed.
MOST_DIRECTIONS = 9


@dataclass(frozen=True, eq=False)
class PenaltyStudy(Result):
    """Errors of PCA, of the hard constraint and of penalties in between.

    Attributes
    ----------
    designs : tuple of str
        Kinds of data, see :func:`penalty_study`.
    blurs : array of shape (n_blurs,)
        Standard deviation of the loadings within a cluster; infinite without clusters.
    sizes : int array of shape (n_sizes,)
        Numbers of samples.
    counts : int array of shape (n_counts,)
        Numbers of clusters that k-means was asked for; the data have 12.
    methods : tuple of str
        ``"pca"``, ``"hard"``, ``"penalized"`` (one weight by cross-validation), ``"analytic"`` (one
        by :func:`informed.directions.analytic_penalty`), ``"capped"`` (the smaller of these two
        weights), ``"per-direction"`` (a weight for each direction) and ``"oracle"`` (the one weight
        with the least error, which only the truth knows).
    errors : array of shape (n_methods, n_designs, n_blurs, n_sizes, n_counts, n_repeats)
        Error :math:`e_F` of the span of the directions.
    penalties : array of shape (n_designs, n_blurs, n_sizes, n_counts, n_repeats)
        Cross-validated weight in units of PCA's leading variance.
    """

    name: ClassVar[str] = "penalty_study"
    designs: tuple[str, ...]
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
        ratios : array of shape (n_designs, n_blurs, n_sizes, n_counts)
        """
        ratios: Array = self._of(method).mean(axis=-1) / self._better().mean(axis=-1)
        return ratios

    def standard_errors(self, method: str = "penalized") -> Array:
        """Return the standard error of each of the ratios, from the spread over the data sets.

        To first order that of the mean of a − r·b, over the mean of b, where a are the errors of
        the method, b those of the better of PCA and the hard constraint, and r is the ratio.

        Parameters
        ----------
        method : str
            One of ``methods``.

        Returns
        -------
        errors : array of shape (n_designs, n_blurs, n_sizes, n_counts)
        """
        better = self._better()
        rest = self._of(method) - self.ratios(method)[..., None] * better
        n_repeats = better.shape[-1]
        errors: Array = rest.std(axis=-1, ddof=1) / np.sqrt(n_repeats) / better.mean(axis=-1)
        return errors

    def worst(self, method: str = "penalized", design: str | None = None) -> tuple[float, float]:
        """Return the largest ratio of a method, and its standard error.

        Parameters
        ----------
        method : str
            One of ``methods``.
        design : str, optional
            One of ``designs``; all of them by default.
        """
        chosen = slice(None) if design is None else [self.designs.index(design)]
        ratios, spread_of = self.ratios(method)[chosen], self.standard_errors(method)[chosen]
        at = np.unravel_index(np.argmax(ratios), ratios.shape)
        return float(ratios[at]), float(spread_of[at])

    def mean_ratio(self, method: str = "penalized", design: str | None = None) -> float:
        """Return the mean of the ratios over the same cells as :meth:`worst`.

        Parameters
        ----------
        method, design
            As in :meth:`worst`.
        """
        chosen = slice(None) if design is None else [self.designs.index(design)]
        return float(self.ratios(method)[chosen].mean())

    def _of(self, method: str) -> Array:
        found: Array = self.errors[self.methods.index(method)]
        return found

    def _better(self) -> Array:
        """Errors of PCA or of the hard constraint, whichever is lower on average in the cell."""
        free, hard = self._of("pca"), self._of("hard")
        hard_wins = hard.mean(axis=-1) < free.mean(axis=-1)
        better: Array = np.where(hard_wins[..., None], hard, free)
        return better

    @property
    def table(self) -> Table:
        """Mean :math:`e_F` of each method, and the ratio of the weights for each direction."""
        shown = "per-direction" if "per-direction" in self.methods else "penalized"
        mean, ratios = self.errors.mean(axis=-1), self.ratios(shown)
        return Table(
            ("design", "blur", "n", "K", *self.methods, "ratio"),
            [
                (
                    self.designs[cell[0]],
                    f"{self.blurs[cell[1]]:g}" if np.isfinite(self.blurs[cell[1]]) else "none",
                    int(self.sizes[cell[2]]),
                    int(self.counts[cell[3]]),
                    *(f"{value:.2f}" for value in mean[(slice(None), *cell)]),
                    f"{ratios[cell]:.3f}",
                )
                for cell in np.ndindex(ratios.shape)
            ],
        )


def penalty_study(
    *,
    designs: Sequence[str] = DESIGNS,
    blurs: Sequence[float] = (0.0, 0.4, 0.8, np.inf),
    sizes: Sequence[int] = (20, 40, 80),
    counts: Sequence[int] = (12,),
    n_init: int = 3,
    n_repeats: int = 20,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> PenaltyStudy:
    """Error of the directions by PCA, by the hard constraint and by penalties in between.

    Three designs with 12 clusters of features:

    - ``"toy"``: :func:`informed.datasets.blurred_toy`. All of the seven directions follow the
      clusters, more or less.
    - ``"mixed"``: :func:`informed.datasets.mixed_toy`. Six directions follow the clusters, three
      have nothing to do with them.
    - ``"steps"``: the same with three directions that follow clusters and three that do not. The
      clusters show in three directions only and are hard to find.

    The clusters are found by k-means, anew in each fold of a cross-validation.

    Parameters
    ----------
    designs : sequence of str
        Kinds of data.
    blurs : sequence of float
        Standard deviations of the loadings within a cluster; infinite for no clusters at all.
    sizes : sequence of int
        Numbers of samples.
    counts : sequence of int
        Numbers of clusters that k-means is asked for.
    n_init : int
        Number of k-means restarts.
    n_repeats : int
        Number of data sets of a cell. The same ones serve all numbers of clusters.
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
    designs = [check_choice("designs", design, DESIGNS) for design in designs]
    blurs = [check_number("blurs", blur, finite=False) for blur in blurs]
    sizes = [check_count("sizes", size, 2 * N_DIRECTIONS) for size in sizes]
    counts = [check_count("counts", k, MOST_DIRECTIONS, N_FEATURES, "features") for k in counts]
    given: dict[str, Sequence[object]] = {
        "designs": designs,
        "blurs": blurs,
        "sizes": sizes,
        "counts": counts,
    }
    for name, values in given.items():
        check_some(name, values)
    n_init = check_count("n_init", n_init, 1)
    n_repeats = check_count("n_repeats", n_repeats, 1)
    drawn = seeds(random_state, n_repeats)
    tasks = [
        (design, n, blur, k, n_init, seed)
        for design in designs
        for blur in blurs
        for n in sizes
        for k in counts
        for seed in drawn
    ]
    runs = run_tasks(
        _errors_of_one_cell, tasks, n_jobs=n_jobs, verbose=verbose, label="penalty_study"
    )
    shape = (*(len(values) for values in given.values()), n_repeats, len(METHODS) + 1)
    found = np.moveaxis(np.reshape(runs, shape), -1, 0)
    return PenaltyStudy(
        designs=tuple(designs),
        blurs=np.array(blurs),
        sizes=np.array(sizes),
        counts=np.array(counts),
        methods=METHODS,
        errors=found[:-1],
        penalties=found[-1],
    )


def design_data(design: str, n_samples: int, blur: float, seed: int) -> tuple[Array, Array]:
    """Draw the samples of a design, and the true directions that are to be found."""
    if design == "toy":
        return blurred_toy(n_samples, blur, random_state=seed)
    return mixed_toy(n_samples, blur, steps=design == "steps", random_state=seed)


def _errors_of_one_cell(
    design: str, n_samples: int, blur: float, n_clusters: int, n_init: int, seed: int
) -> list[float]:
    """Errors of all methods on one data set, and the cross-validated weight."""
    X, truth = design_data(design, n_samples, blur, seed)
    d = truth.shape[1]
    again = partial(cluster_features, n_clusters=n_clusters, n_init=n_init, random_state=seed)
    labels = again(X)
    leading = float(pca_directions(X, 1).variances[0])
    grid = default_grid(leading)
    # The folds of ``choose_penalty``, once for all rules.
    folds = list(held_out_folds(X, labels, 5, again, None))
    path, caps = (
        PenaltyPath(grid, np.column_stack([errors_of(*fold, d, grid) for fold in folds]))
        for errors_of in (held_out_errors, cap_errors)
    )
    analytic = analytic_penalty(X, labels, d)
    weights = np.array([0.0, np.inf, path.best, analytic, min(path.best, analytic)])
    single = span_errors(X, labels, truth, weights)
    several = span_errors(X, labels, truth, [direction_weights(X, labels, d).capped(caps.best)])
    oracle = span_errors(X, labels, truth, grid).min()
    return [float(error) for error in (*single, *several, oracle, path.best / leading)]


def span_errors(
    X: Array,
    labels: NDArray[np.intp],
    truth: Array,
    penalties: Array | Sequence[DirectionWeights],
) -> Array:
    r"""Error e_F of the penalised directions against the truth, for each penalty.

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
    check_some("spreads", spreads)
    check_some("sizes", sizes)
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
