"""From data to the factor of the metric: the step that the global and the local estimator share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from informed.centering import row_squares
from informed.clusters.clusterers import (
    CLUSTERING,
    PROFILES,
    ClusteringName,
    FeatureClusterer,
    ProfilesName,
    check_feature_labels,
)
from informed.directions.registry import DIRECTIONS, SOLVERS, VARIANCES, Solver, VariancesName
from informed.directions.solvers import unit_columns
from informed.directions.weights import DirectionWeights
from informed.exceptions import IgnoredParameterWarning
from informed.spiked import shrunk_variances
from informed.validation import (
    PENALTY,
    Allowed,
    Array,
    Penalty,
    PenaltyRule,
    check_count,
    check_values,
)


@dataclass(frozen=True)
class Recipe:
    """Checked parameters of one model: how to find clusters, directions and variances.

    Attributes
    ----------
    n_components : int
        Number of directions.
    n_clusters : int
        Number of clusters of features; 0 where the directions ignore them, or where a clusterer
        object has its own number.
    solver : Solver
        What finds the directions.
    variances, penalty, n_init, clustering, profiles
        As in :class:`informed.InformedMahalanobis`.
    """

    n_components: int
    n_clusters: int
    solver: Solver
    variances: VariancesName
    penalty: Penalty
    n_init: int
    clustering: ClusteringName | FeatureClusterer = "kmeans"
    profiles: ProfilesName = "centered"

    @property
    def penalty_rule(self) -> PenaltyRule:
        """How the penalty is chosen; for a given one, how it would be."""
        return self.penalty if isinstance(self.penalty, str) else "cv"


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


# What the parameters of a model may be, whatever the others are.
PARAMETERS = {
    "directions": Allowed(DIRECTIONS),
    "variances": Allowed(VARIANCES),
    "n_init": Allowed(low=1),
    "penalty": PENALTY,
    "clustering": CLUSTERING,
    "profiles": Allowed(PROFILES),
    "n_components": Allowed(low=1, high="rank"),
}


def check_parameters(
    asked: Any,
    shape: tuple[int, int],
    n_components: int | None,
    feature_labels: ArrayLike | None = None,
    clustering: object = "kmeans",
    profiles: object = "centered",
) -> tuple[NDArray[np.intp] | None, Recipe]:
    """Check parameters against each other and the shape of the samples that one model gets.

    Parameters
    ----------
    asked : object
        What holds the parameters as attributes; the user may have set anything, so each is checked.
    shape : tuple of int
        Number of samples from which one model is estimated, and number of features.
    n_components : int or None
        Number of directions, which the local metric finds out where it is not given.
    feature_labels : array of shape (n_features,) or None
        Clusters of the features, if they are known.
    clustering, profiles
        How the features are clustered.

    Returns
    -------
    labels : int array of shape (n_features,) or None
    recipe : Recipe
    """
    values = {
        "directions": asked.directions,
        "variances": asked.variances,
        "n_init": asked.n_init,
        "penalty": asked.penalty,
        "clustering": clustering,
        "profiles": profiles,
        "n_components": n_components,
    }
    checked = check_values(values, PARAMETERS, shape)
    return make_recipe(checked, asked.n_clusters, shape[1], feature_labels)


def make_recipe(
    checked: Mapping[str, Any],
    n_clusters: int | None,
    n_features: int,
    feature_labels: ArrayLike | None,
) -> tuple[NDArray[np.intp] | None, Recipe]:
    """Check parameters against each other, when each by itself is one that :data:`PARAMETERS` has.

    Parameters
    ----------
    checked : mapping
        A checked value for each of :data:`PARAMETERS`.
    n_clusters : int or None
        Number of clusters; None means one more than directions.
    n_features : int
        Number of features.
    feature_labels : array of shape (n_features,) or None
        Clusters of the features, if they are known.

    Returns
    -------
    labels : int array of shape (n_features,) or None
    recipe : Recipe
    """
    d, groups, solver = (
        checked["n_components"],
        checked["clustering"],
        SOLVERS[checked["directions"]],
    )
    if checked["variances"] == "shrunk" and solver.penalized:
        raise ValueError(
            f"variances='shrunk' has no formula for directions={checked['directions']!r}: it must "
            "be 'pca' or 'own' there"
        )
    k, labels = 0, None
    if feature_labels is not None:
        labels = check_feature_labels(feature_labels, n_features)
    if solver.informed and labels is not None:
        k = int(labels.max()) + 1
        if n_clusters is not None and n_clusters != k:
            raise ValueError(
                f"n_clusters={n_clusters!r} contradicts feature_labels, which hold {k} clusters: "
                "leave n_clusters out"
            )
        check_count("n_components", d, 1, k, f"feature_labels hold {k} clusters")
    elif solver.informed and n_clusters is not None:
        why = f"n_components={d}, n_features={n_features}"
        k = check_count("n_clusters", n_clusters, d, n_features, why)
    elif solver.informed and isinstance(groups, str):
        k = min(d + 1, n_features)
    return labels, Recipe(
        d,
        k,
        solver,
        checked["variances"],
        checked["penalty"],
        checked["n_init"],
        groups,
        checked["profiles"],
    )


def warn_about_ignored_penalty(recipe: Recipe, directions: object, *, stacklevel: int = 3) -> None:
    """Warn when a weight was given to a solver that takes none.

    The warning points at the caller of the method that asks, or higher up.
    """
    penalty = recipe.penalty
    if penalty != "cv" and not recipe.solver.penalized:
        given = repr(penalty) if isinstance(penalty, str) else f"{penalty:g}"
        warnings.warn(
            f"penalty={given} has no effect with directions={directions!r}: give "
            "directions='penalized', or leave penalty out",
            IgnoredParameterWarning,
            stacklevel=stacklevel,
        )


def find_model(
    centered: Array,
    recipe: Recipe,
    labels: NDArray[np.intp] | None,
    choose_penalty: Callable[[NDArray[np.intp]], float | DirectionWeights],
    total: float | None = None,
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
        Chooses the penalty for the labels by the recipe's rule; called only if it has one.
    total : float or None
        Sum of the squares of all samples, where the caller knows it.
    """
    solver = recipe.solver
    clusters = () if labels is None or not solver.informed else (labels,)
    options: dict[str, object] = {}
    if solver.penalized:
        by_rule = isinstance(recipe.penalty, str)
        options["penalty"] = choose_penalty(*clusters) if by_rule else recipe.penalty
    if solver.skips_pca:
        options["pca_variances"] = recipe.variances == "pca"
    found = solver.find(centered, *clusters, recipe.n_components, **options, check_input=False)
    variances = found.pca_variances if recipe.variances == "pca" else found.variances
    if recipe.variances == "shrunk":
        total = float(row_squares(centered).sum()) if total is None else total
        searched = int(labels.max()) + 1 if labels is not None and clusters else centered.shape[1]
        variances = shrunk_variances(
            variances, total / (len(centered) - 1), centered.shape[1], searched, len(centered)
        )
    directions = unit_columns(found.directions)
    factor = (directions / np.sqrt(variances)).T
    return Model(directions, variances, factor, found.penalty, found.n_iter)
