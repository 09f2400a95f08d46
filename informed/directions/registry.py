"""The solvers by name: what estimators, experiments and the command line choose from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from informed.directions.penalty import penalized_directions
from informed.directions.result import Directions
from informed.directions.solvers import (
    averaged_directions,
    exact_directions,
    gradient_directions,
    pca_directions,
)

DirectionsName = Literal["exact", "gradient", "averaged", "penalized", "pca"]
VariancesName = Literal["pca", "own", "shrunk"]


@dataclass(frozen=True)
class Solver:
    """A way to find directions, and what it takes.

    Attributes
    ----------
    find : callable
        Takes the samples, the labels if ``informed``, and the number of directions.
    informed : bool
        Whether it looks at the clusters of features.
    penalized : bool
        Whether it takes a ``penalty``.
    unit_length : bool
        Whether the columns that it returns have length one.
    skips_pca : bool
        Whether ``pca_variances=False`` saves it the singular values of the whole data.
    """

    find: Callable[..., Directions]
    informed: bool = True
    penalized: bool = False
    unit_length: bool = True
    skips_pca: bool = False


SOLVERS: dict[DirectionsName, Solver] = {
    "exact": Solver(exact_directions, skips_pca=True),
    "gradient": Solver(gradient_directions),
    "averaged": Solver(averaged_directions, unit_length=False),
    "penalized": Solver(penalized_directions, penalized=True),
    "pca": Solver(pca_directions, informed=False),
}
DIRECTIONS: tuple[DirectionsName, ...] = tuple(SOLVERS)
VARIANCES: tuple[VariancesName, ...] = get_args(VariancesName)
