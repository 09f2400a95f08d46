"""From data to the factor of the metric: the step that the global and the local estimator share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from informed.directions.registry import (
    DIRECTIONS,
    SOLVERS,
    VARIANCES,
    DirectionsName,
    Solver,
    VariancesName,
)
from informed.directions.solvers import unit_columns
from informed.exceptions import IgnoredParameterWarning
from informed.validation import (
    Array,
    Penalty,
    check_choice,
    check_count,
    check_labels,
    check_penalty,
    random_source,
)


class ModelParameters(Protocol):
    """What an estimator is asked for; the user may have set anything, so it is checked first."""

    n_components: int | None
    n_clusters: int | None
    directions: DirectionsName
    variances: VariancesName
    penalty: Penalty
    n_init: int
    random_state: int | RandomState | None


@dataclass(frozen=True)
class Recipe:
    """Checked parameters of one model: how to find clusters, directions and variances.

    Attributes
    ----------
    n_components : int
        Number of directions.
    n_clusters : int
        Number of clusters of features; 0 where the directions ignore them.
    solver : Solver
        What finds the directions.
    variances, penalty, n_init
        As in :class:`informed.InformedMahalanobis`.
    """

    n_components: int
    n_clusters: int
    solver: Solver
    variances: VariancesName
    penalty: Penalty
    n_init: int


@dataclass(frozen=True, eq=False)
class Model:
    r"""What is known after a fit.

    Attributes
    ----------
    directions : array of shape (n_features, d)
        Unit directions Ũ.
    variances : array of shape (d,)
        The diagonal of Λ.
    factor : array of shape (d, n_features)
        The factor :math:`\Lambda^{-1/2}\tilde U^\top` of the metric.
    penalty : float
        The penalty that was used.
    n_iter : int
        Steps that were taken.
    """

    directions: Array
    variances: Array
    factor: Array
    penalty: float
    n_iter: int


def check_parameters(
    estimator: ModelParameters,
    shape: tuple[int, int],
    n_components: int | None,
    feature_labels: ArrayLike | None = None,
) -> tuple[NDArray[np.intp] | None, Recipe]:
    """Check parameters against each other and the shape of the samples that one model gets.

    Parameters
    ----------
    estimator : estimator
        Its parameters are checked.
    shape : tuple of int
        Number of samples from which one model is estimated, and number of features.
    n_components : int or None
        Number of directions, which the local metric finds out where it is not given.
    feature_labels : int array of shape (n_features,) or None
        Clusters of the features, if they are known.

    Returns
    -------
    labels : int array of shape (n_features,) or None
    recipe : Recipe
    """
    n_samples, n_features = shape
    labels = None
    if feature_labels is not None:
        labels = check_labels(feature_labels, n_features, "feature_labels")
    solver = SOLVERS[check_choice("directions", estimator.directions, DIRECTIONS)]
    variances = check_choice("variances", estimator.variances, VARIANCES)
    n_init = check_count("n_init", estimator.n_init, 1)
    penalty = check_penalty(estimator.penalty)
    random_source(estimator.random_state)
    rank = min(n_samples - 1, n_features)
    d = check_count(
        "n_components",
        n_components,
        1,
        rank,
        f"the rank of {n_samples} centred samples with n_features={n_features} is at most {rank}",
    )
    k, wanted = 0, estimator.n_clusters
    if solver.informed and labels is None:
        k = check_count(
            "n_clusters",
            min(d + 1, n_features) if wanted is None else wanted,
            d,
            n_features,
            f"n_components={d}, n_features={n_features}",
        )
    elif solver.informed and labels is not None:
        k = int(labels.max()) + 1
        if wanted is not None and wanted != k:
            raise ValueError(
                f"n_clusters={wanted!r} contradicts feature_labels, which hold {k} clusters: "
                "leave n_clusters out"
            )
        check_count("n_components", d, 1, k, f"feature_labels hold {k} clusters")
    return labels, Recipe(d, k, solver, variances, penalty, n_init)


def warn_about_ignored_penalty(
    directions: DirectionsName, penalty: Penalty, *, stacklevel: int = 3
) -> None:
    """Warn that a weight was given to a solver that takes none.

    The warning points at the caller of the method that asks, or higher up.
    """
    warnings.warn(
        f"penalty={penalty:g} has no effect with directions={directions!r}: give "
        "directions='penalized', or leave penalty out",
        IgnoredParameterWarning,
        stacklevel=stacklevel,
    )


def find_model(
    centered: Array,
    recipe: Recipe,
    labels: NDArray[np.intp] | None,
    choose_penalty: Callable[[NDArray[np.intp]], float],
) -> Model:
    """Return unit directions and variances of centred samples.

    Parameters
    ----------
    centered : array of shape (n_samples, n_features)
        Samples minus their mean.
    recipe : Recipe
        Checked parameters.
    labels : int array of shape (n_features,) or None
        Clusters of the features; None where the directions ignore them.
    choose_penalty : callable
        Chooses the penalty for the labels by cross-validation; called only if the recipe asks.
    """
    solver = recipe.solver
    clusters = () if labels is None or not solver.informed else (labels,)
    options: dict[str, object] = {}
    if solver.penalized:
        cross_validated = recipe.penalty == "cv"
        options["penalty"] = choose_penalty(*clusters) if cross_validated else recipe.penalty
    if solver.skips_pca:
        options["pca_variances"] = recipe.variances == "pca"
    found = solver.find(centered, *clusters, recipe.n_components, **options, check_input=False)
    variances = found.pca_variances if recipe.variances == "pca" else found.variances
    directions = unit_columns(found.directions)
    factor = (directions / np.sqrt(variances)).T
    return Model(directions, variances, factor, found.penalty, found.n_iter)
