"""From data to the factor of the metric: the step that the global and the local estimator share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray

from informed.centering import row_squares
from informed.clusters.clusterers import (
    PROFILES,
    ClusteringName,
    FeatureClusterer,
    Grouping,
    ProfilesName,
    check_clustering,
    check_feature_labels,
    group_features,
)
from informed.directions.registry import DIRECTIONS, SOLVERS, VARIANCES, Solver, VariancesName
from informed.directions.solvers import unit_columns
from informed.directions.weights import DirectionWeights
from informed.exceptions import IgnoredParameterWarning
from informed.spiked import shrunk_variances
from informed.validation import (
    Array,
    Penalty,
    PenaltyRule,
    check_choice,
    check_count,
    check_penalty,
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

    def group(
        self, samples: Array, random_state: int | RandomState | None, *, centered: bool = False
    ) -> Grouping:
        """Group the features over some samples.

        Parameters
        ----------
        samples : array of shape (n_samples, n_features)
            Samples.
        random_state : int, RandomState or None
            Seed.
        centered : bool
            Whether the samples are centred already.

        Returns
        -------
        Grouping
        """
        grouping = group_features(
            samples,
            self.n_clusters or None,
            clustering=self.clustering,
            profiles="as-is" if centered and self.profiles == "centered" else self.profiles,
            n_init=self.n_init,
            random_state=random_state,
        )
        found = int(grouping.labels.max()) + 1
        why = f"clustering={self.clustering!r} found {found} clusters"
        check_count("n_components", self.n_components, 1, found, why)
        return grouping

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


def takes_sparse(asked: Any) -> bool:
    """Tell whether no step needs dense samples.

    Penalised directions need the samples and the clusters side by side; Ward's tree and clusterer
    objects need the profiles of the features; a choice by held-out samples needs both.
    """
    names = (asked.clustering, asked.profiles)
    by_kmeans = all(isinstance(name, str) for name in names) and names == ("kmeans", "centered")
    chosen = (asked.n_components, asked.n_clusters, asked.directions, asked.variances)
    return by_kmeans and not any(isinstance(c, str) and c in ("auto", "penalized") for c in chosen)


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
    n_samples, n_features = shape
    labels = None
    if feature_labels is not None:
        labels = check_feature_labels(feature_labels, n_features)
    solver = SOLVERS[check_choice("directions", asked.directions, DIRECTIONS)]
    variances = check_choice("variances", asked.variances, VARIANCES)
    if variances == "shrunk" and solver.penalized:
        raise ValueError(
            f"variances='shrunk' has no formula for directions={asked.directions!r}: it must be "
            "'pca' or 'own' there"
        )
    n_init = check_count("n_init", asked.n_init, 1)
    penalty = check_penalty(asked.penalty)
    groups = check_clustering(clustering)
    looks = check_choice("profiles", profiles, PROFILES)
    rank = min(n_samples - 1, n_features)
    d = check_count(
        "n_components",
        n_components,
        1,
        rank,
        f"the rank of {n_samples} centred samples with n_features={n_features} is at most {rank}",
    )
    k, wanted = 0, asked.n_clusters
    if solver.informed and labels is None and not (wanted is None and not isinstance(groups, str)):
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
    return labels, Recipe(d, k, solver, variances, penalty, n_init, groups, looks)


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
        total = float(row_squares(centered).sum()) / (len(centered) - 1)
        searched = int(labels.max()) + 1 if labels is not None and clusters else centered.shape[1]
        variances = shrunk_variances(variances, total, centered.shape[1], searched, len(centered))
    directions = unit_columns(found.directions)
    factor = (directions / np.sqrt(variances)).T
    return Model(directions, variances, factor, found.penalty, found.n_iter)
