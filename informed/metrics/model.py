"""From data to the factor of the metric: the step that the global and the local estimator share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from informed.clusters import center
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
from informed.validation import (
    Array,
    check_choice,
    check_count,
    check_labels,
    check_matrix,
    check_number,
)

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


def validate_samples(estimator: BaseEstimator, X: ArrayLike, *, reset: bool) -> Array:
    """Check samples as every function does, text included, and as scikit-learn's estimators do."""
    samples = check_matrix(X, min_samples=2 if reset else 1)
    # The values are checked; this looks at the number of features and their names.
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return samples


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
    labels: NDArray[np.intp] | None,
    recluster: Callable[[Array], NDArray[np.intp]] | None,
) -> tuple[Directions, Array]:
    """Return directions and variances of ``X`` for the given feature labels.

    ``recluster`` finds labels from part of the samples when a penalty is cross-validated; None
    keeps the labels, because they are known from elsewhere.
    """
    centered = center(X)
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
            weight = penalty_path(X, labels, recipe.n_components, recluster=recluster).best
        found = find_penalized(centered, labels, recipe.n_components, weight)
    variances = found.pca_variances if recipe.variances == "pca" else found.variances
    return found, variances


def factor(found: Directions, variances: Array) -> Array:
    r"""Return :math:`\Lambda^{-1/2}\tilde U^\top`, d × p, whose columns of Ũ have unit length."""
    components: Array = (unit_columns(found.directions) / np.sqrt(variances)).T
    return components


def check_feature_labels(feature_labels: object, n_features: int) -> NDArray[np.intp] | None:
    """Check a known clustering, or pass None on."""
    if feature_labels is None:
        return None
    return check_labels(feature_labels, n_features, "feature_labels")
