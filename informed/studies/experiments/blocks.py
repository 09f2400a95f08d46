"""Rows and columns in turn against double k-means and the latent block model, on many tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from informed.alternating import choose_block_numbers
from informed.datasets import make_block_data
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.alternation import METHODS, true_numbers
from informed.studies.experiments.results import Result, Table
from informed.validation import Array, check_choice, check_count, check_some

__all__ = ["BlockStudy", "block_study"]

# Each case is a family of tables and a strength at which neither all nor nothing is found.
CASES = {
    "equal blocks": ("checkerboard", 0.3),
    "low signal": ("checkerboard", 0.25),
    "row effects": ("row effects", 0.4),
    "unequal blocks": ("unequal blocks", 0.4),
    "unequal noise": ("unequal noise", 0.4),
    "unequal numbers": ("unequal numbers", 0.4),
    "no structure": ("no structure", 0.0),
}
BLOCK_METHODS = (
    "k-means",
    "pca",
    "double, random",
    "double, pca",
    "latent blocks",
    "alternating",
    "rows centred",
    "tile noise",
)
N_CLUSTERS = 4


@dataclass(frozen=True, eq=False)
class BlockStudy(Result):
    """Agreement with the truth on tables of several kinds, and chosen numbers of clusters.

    Attributes
    ----------
    cases : tuple of str
        Kinds of tables.
    methods : tuple of str
        Ways to cluster.
    rows : array of shape (n_cases, n_methods, n_repeats)
        Adjusted Rand index of the clusters of samples; NaN where there are none to find.
    columns : array of shape (n_cases, n_methods, n_repeats)
        The same for the clusters of features.
    true_numbers : int array of shape (n_cases, 2)
        True numbers of clusters of samples and of features; one where there are none.
    chosen_numbers : int array of shape (n_cases, n_chosen, 2)
        Numbers that :func:`informed.alternating.choose_block_numbers` found in the first tables,
        samples centred.
    """

    name: ClassVar[str] = "block_study"
    cases: tuple[str, ...]
    methods: tuple[str, ...]
    rows: Array
    columns: Array
    true_numbers: NDArray[np.intp]
    chosen_numbers: NDArray[np.intp]

    def scores(self, case: str, method: str) -> tuple[Array, Array]:
        """Return the indices of samples and of features, each of shape (n_repeats,).

        Parameters
        ----------
        case : str
            One of ``cases``.
        method : str
            One of ``methods``.
        """
        i = self.cases.index(check_choice("case", case, self.cases))
        j = self.methods.index(check_choice("method", method, self.methods))
        return self.rows[i, j], self.columns[i, j]

    def difference(self, case: str, one: str, other: str) -> tuple[Array, Array]:
        """Return mean and standard error of the paired differences, samples and features.

        Parameters
        ----------
        case : str
            One of ``cases``.
        one, other : str
            Two of ``methods``; positive where the first is better.
        """
        pairs = zip(self.scores(case, one), self.scores(case, other), strict=True)
        gaps = np.array([mine - theirs for mine, theirs in pairs])
        return gaps.mean(axis=1), gaps.std(axis=1, ddof=1) / np.sqrt(gaps.shape[1])

    @property
    def table(self) -> Table:
        """Mean ± standard error, samples above, features below."""
        lines: list[tuple[object, ...]] = []
        for i, case in enumerate(self.cases):
            for side, scores in (("samples", self.rows[i]), ("features", self.columns[i])):
                cells = ["none" if np.isnan(one).any() else _with_error(one) for one in scores]
                lines.append((case, side, *cells))
        return Table(("data", "side", *self.methods), lines)


def _with_error(values: Array) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.2f} ± {error:.2f}"


def block_study(
    *,
    cases: Sequence[str] = tuple(CASES),
    n_repeats: int = 30,
    n_chosen: int = 5,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> BlockStudy:
    """Compare ways to cluster rows and columns on tables of several kinds.

    Seven kinds of tables, from the checkerboard for which the cost was made to mere noise, see
    :func:`informed.datasets.make_block_data`. All ways are told the numbers of clusters, and each
    has ten starts. In the first tables the numbers are chosen from the data, too.

    Parameters
    ----------
    cases : sequence of str
        Kinds of tables.
    n_repeats : int
        Number of tables of each kind.
    n_chosen : int
        Number of tables of each kind in which the numbers of clusters are chosen.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    BlockStudy
    """
    chosen = [check_choice("cases", case, tuple(CASES)) for case in cases]
    check_some("cases", chosen)
    n_repeats = check_count("n_repeats", n_repeats, 1)
    n_chosen = check_count("n_chosen", n_chosen, 0, n_repeats, f"n_repeats={n_repeats}")
    drawn = seeds(random_state, n_repeats)
    tasks = [(case, seed, i < n_chosen) for case in chosen for i, seed in enumerate(drawn)]
    runs = run_tasks(_one_table, tasks, n_jobs=n_jobs, verbose=verbose, label="block_study")
    shape = (len(chosen), n_repeats)
    scores = np.array([run[0] for run in runs]).reshape(*shape, len(BLOCK_METHODS), 2)
    numbers = np.array([run[1] for run in runs], dtype=np.intp).reshape(*shape, 2)
    return BlockStudy(
        cases=tuple(chosen),
        methods=BLOCK_METHODS,
        rows=scores[..., 0].transpose(0, 2, 1),
        columns=scores[..., 1].transpose(0, 2, 1),
        true_numbers=np.array([_true_numbers(case) for case in chosen]),
        chosen_numbers=numbers[:, :n_chosen],
    )


def _true_numbers(case: str) -> tuple[int, int]:
    family = CASES[case][0]
    if family == "no structure":
        return 1, 1
    return true_numbers(family, N_CLUSTERS)


def _one_table(
    case: str, seed: int, choose: bool
) -> tuple[list[tuple[float, float]], tuple[int, int]]:
    family, signal = CASES[case]
    data = make_block_data(family, signal, n_clusters=N_CLUSTERS, random_state=seed)
    numbers = true_numbers(family, N_CLUSTERS)
    scores = []
    for method in BLOCK_METHODS:
        found = METHODS[method](data.X, numbers, seed)
        of_rows = np.nan
        if data.row_labels is not None:
            of_rows = float(adjusted_rand_score(data.row_labels, found.rows))
        scores.append((of_rows, float(adjusted_rand_score(data.column_labels, found.columns))))
    if not choose:
        return scores, (0, 0)
    picked = choose_block_numbers(data.X, 7, center_rows=True, n_init=3, random_state=seed)
    return scores, (picked.n_row_clusters, picked.n_column_clusters)
