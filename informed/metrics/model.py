"""From data to the factor of the metric: the step that the global and the local estimator share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from informed.clusters import cluster_rows
from informed.directions import (
    Directions,
    find_averaged,
    find_by_gradient,
    find_exact,
    find_pca,
    find_penalized,
    penalty_path,
    unit_columns,
)
from informed.validation import Array, check_choice, check_count, check_labels, check_number

DIRECTIONS = ("exact", "gradient", "averaged", "penalized", "pca")
VARIANCES = ("pca", "own")


@dataclass(frozen=True)
class Recipe:
    """Checked parameters of one model: how to find clusters, directions and variances."""

    n_components: int
    n_clusters: int
    directions: str
    variances: str
    penalty: float | str
    n_init: int


def make_recipe(
    *,
    n_components: object,
    n_clusters: object,
    directions: object,
    variances: object,
    penalty: object,
    n_init: object,
    n_samples: int,
    n_features: int,
    feature_labels: NDArray[np.intp] | None = None,
) -> Recipe:
    """Check the parameters against each other and the shape of the data."""
    directions = check_choice("directions", directions, DIRECTIONS)
    variances = check_choice("variances", variances, VARIANCES)
    n_init = check_count("n_init", n_init, 1)
    if isinstance(penalty, str):
        weight: float | str = check_choice("penalty", penalty, ["cv"])
    else:
        weight = check_number("penalty", penalty, finite=False)
    rank = min(n_samples - 1, n_features)
    d = check_count(
        "n_components",
        n_components,
        1,
        rank,
        f"the rank of {n_samples} centred samples with n_features={n_features} is at most {rank}",
    )
    if directions == "pca":
        k = 0
    elif feature_labels is not None:
        k = int(feature_labels.max()) + 1
        if n_clusters is not None and n_clusters != k:
            raise ValueError(
                f"n_clusters={n_clusters!r} contradicts feature_labels, which hold {k} clusters: "
                "leave n_clusters out"
            )
        check_count("n_components", d, 1, k, f"feature_labels hold {k} clusters")
    else:
        k = check_count(
            "n_clusters",
            min(d + 1, n_features) if n_clusters is None else n_clusters,
            d,
            n_features,
            f"n_components={d}, n_features={n_features}",
        )
    return Recipe(d, k, directions, variances, weight, n_init)


def find_model(
    X: Array,
    recipe: Recipe,
    random_state: int | RandomState | None,
    feature_labels: NDArray[np.intp] | None = None,
) -> tuple[Array, NDArray[np.intp] | None, Directions, Array]:
    """Return mean, feature labels, directions (unit columns) and variances of ``X``."""
    mean = X.mean(axis=0)
    centered = X - mean
    # The mean is rounded at the level of the data. Without what that leaves behind, copies of a
    # sample would span a direction of their own.
    centered -= centered.mean(axis=0)
    centered[:, X.max(axis=0) == X.min(axis=0)] = 0
    labels = feature_labels
    if labels is None and recipe.directions != "pca":
        labels = cluster_rows(centered.T, recipe.n_clusters, recipe.n_init, random_state)
    if recipe.directions == "pca" or labels is None:
        found = find_pca(centered, recipe.n_components)
    elif recipe.directions == "averaged":
        found = find_averaged(centered, labels, recipe.n_components)
    elif recipe.directions == "gradient":
        found = find_by_gradient(centered, labels, recipe.n_components)
    elif recipe.directions == "exact":
        found = find_exact(centered, labels, recipe.n_components)
    else:
        weight = recipe.penalty
        if isinstance(weight, str):
            # Clusters found from the data are found anew in each fold; known ones are kept.
            recluster = None if feature_labels is not None else partial(_cluster_again, recipe)
            weight = penalty_path(X, labels, recipe.n_components, recluster=recluster).best
        found = find_penalized(centered, labels, recipe.n_components, weight)
    variances = found.pca_variances if recipe.variances == "pca" else found.variances
    return mean, labels, found, variances


def factor(found: Directions, variances: Array) -> Array:
    r"""Return :math:`\Lambda^{-1/2}\tilde U^\top`, d × p, whose columns of Ũ have unit length."""
    components: Array = (unit_columns(found.directions) / np.sqrt(variances)).T
    return components


def _cluster_again(recipe: Recipe, train: Array) -> NDArray[np.intp]:
    rows = (train - train.mean(axis=0)).T
    return cluster_rows(rows, recipe.n_clusters, recipe.n_init, 0)


def check_feature_labels(feature_labels: object, n_features: int) -> NDArray[np.intp] | None:
    """Check a known clustering, or pass None on."""
    if feature_labels is None:
        return None
    return check_labels(feature_labels, n_features, "feature_labels")
