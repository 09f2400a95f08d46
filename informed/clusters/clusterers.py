r"""Ways to group features: k-means, Ward's tree, or any clusterer; what they look at; given names.

A feature's *profile* is the row of its values over the samples, and what is done to it beforehand
decides which features count as alike:

* ``"as-is"``: the values themselves. Features of different *levels* are apart. The clusters do not
  change when every feature gets the same offset, when every sample adds a constant of its own to
  all of its features (an array effect), or when all features change their common unit.
* ``"centered"``: less the feature's mean. In addition the clusters do not change when a constant is
  added to single features: only rising and falling together counts.
* ``"standardized"``: less the mean, over the standard deviation. Nothing changes when single
  features change unit and origin, by a positive factor; the squared distance of two profiles is
  :math:`2(n-1)(1-r)` with their correlation *r*. A constant of each sample does change something.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.cluster import hierarchy
from sklearn.base import clone
from sklearn.utils import check_random_state

from informed.centering import center, warn_about_constant_features
from informed.clusters.features import (
    check_distinct_rows,
    cluster_rows_twice,
    relabel_by_first_occurrence,
)
from informed.validation import (
    Allowed,
    Array,
    check_choice,
    check_count,
    check_matrix,
    check_values,
    random_source,
)

__all__ = [
    "Grouping",
    "check_clustering",
    "check_feature_labels",
    "cluster_features",
    "group_features",
    "profiles_of",
]

ClusteringName = Literal["kmeans", "ward"]
ProfilesName = Literal["as-is", "centered", "standardized"]
CLUSTERINGS: tuple[ClusteringName, ...] = get_args(ClusteringName)
PROFILES: tuple[ProfilesName, ...] = get_args(ProfilesName)
CLUSTERING = Allowed(CLUSTERINGS, objects=True)


@runtime_checkable
class FeatureClusterer(Protocol):
    """An object that groups points when it is fitted, such as those of :mod:`sklearn.cluster`."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Find the groups."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """Clusters of features, and what another seed would have said.

    Attributes
    ----------
    labels : int array of shape (n_features,)
        Cluster of each feature, numbered in the order of first occurrence.
    rival : int array of shape (n_features,) or None
        The answer of another seed, in any numbering; None if there is none to compare with.
    seeded : bool
        Whether the answer depends on a seed at all.
    """

    labels: NDArray[np.intp]
    rival: NDArray[np.intp] | None
    seeded: bool


def cluster_features(
    X: Array,
    n_clusters: int,
    *,
    clustering: ClusteringName | FeatureClusterer = "kmeans",
    profiles: ProfilesName = "centered",
    n_init: int = 10,
    random_state: int | RandomState | None = None,
) -> NDArray[np.intp]:
    """Group the features of ``X``, by k-means unless told otherwise.

    Each feature is centred first: features that rise and fall together belong together, whatever
    their level. So the clusters, like the covariance that they inform, do not change when a
    constant is added to a feature, and all constant features share a cluster. Where the level says
    which features belong together, ``profiles="as-is"`` keeps it.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data.
    n_clusters : int
        Number of clusters, at most the number of features.
    clustering : {"kmeans", "ward"} or clusterer, default="kmeans"
        How: k-means, Ward's tree, or an object with the interface of :mod:`sklearn.cluster`.
    profiles : {"as-is", "centered", "standardized"}, default="centered"
        What is done to the features before; see ``informed.clusters.clusterers`` for what each
        is invariant to.
    n_init : int
        Number of k-means restarts; the one with the lowest cost wins.
    random_state : int, RandomState or None
        Seed of the restarts.

    Returns
    -------
    labels : int array of shape (n_features,)
        Cluster of each feature, numbered in the order of first occurrence.

    Examples
    --------
    >>> X = [[0, 5, 1, 0], [1, 3, 2, 0], [2, 1, 3, 9]]
    >>> cluster_features(X, 3, random_state=0)
    array([0, 1, 0, 2])
    >>> cluster_features(X, 2, clustering="ward")
    array([0, 0, 0, 1])
    """
    X = check_matrix(X)
    n_features = X.shape[1]
    n_clusters = check_count("n_clusters", n_clusters, 1, n_features, f"n_features={n_features}")
    n_init = check_count("n_init", n_init, 1)
    source = random_source(random_state)
    warn_about_constant_features(X)
    return group_features(
        X,
        n_clusters,
        clustering=check_clustering(clustering),
        profiles=check_choice("profiles", profiles, PROFILES),
        n_init=n_init,
        random_state=source,
    ).labels


def profiles_of(X: Any, profiles: ProfilesName) -> Any:
    """Return what of each feature is compared with others: one row for each feature.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data.
    profiles : {"as-is", "centered", "standardized"}
        What is done to the features.

    Returns
    -------
    rows : array of shape (n_features, n_samples)

    Examples
    --------
    >>> profiles_of(np.array([[1.0, 6.0], [3.0, 2.0]]), "standardized").round(3)
    array([[-0.707,  0.707],
           [ 0.707, -0.707]])
    """
    if profiles == "as-is":
        return X.T
    centered, _ = center(X)
    if profiles == "standardized":
        centered /= deviations_of(centered)
    return centered.T


def deviations_of(centered: Array) -> Array:
    """Return the standard deviation of each feature; one for a feature that never varies.

    Such a feature is zero already and stays so.

    Examples
    --------
    >>> deviations_of(np.array([[-1.0, 0.0], [1.0, 0.0]])).round(3)
    array([1.414, 1.   ])
    """
    deviations = centered.std(axis=0, ddof=1)
    scale: Array = np.where(deviations > 0, deviations, deviations.dtype.type(1))
    return scale


def check_clustering(clustering: object) -> ClusteringName | FeatureClusterer:
    """Return the name of a clustering, or an object that can be fitted."""
    checked: ClusteringName | FeatureClusterer = check_values(
        {"clustering": clustering}, {"clustering": CLUSTERING}
    )["clustering"]
    return checked


def group_features(
    X: Any,
    n_clusters: int | None,
    *,
    clustering: ClusteringName | FeatureClusterer = "kmeans",
    profiles: ProfilesName = "centered",
    n_init: int = 10,
    random_state: int | RandomState | None = None,
    with_rival: bool = True,
) -> Grouping:
    """Group features by any of the ways; no checks of the names, for callers that did them.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data.
    n_clusters : int or None
        Number of clusters; None leaves it to a clusterer object.
    clustering, profiles, n_init, random_state
        As in :class:`informed.InformedMahalanobis`.
    with_rival : bool
        Whether an object with a seed is asked a second time, with another one.

    Returns
    -------
    Grouping
    """
    rows = profiles_of(X, profiles)
    if clustering == "kmeans":
        assert n_clusters is not None
        return Grouping(*cluster_rows_twice(rows, n_clusters, n_init, random_state), n_clusters > 1)
    if clustering == "ward":
        assert n_clusters is not None
        check_distinct_rows(rows, n_clusters)
        return Grouping(ward_labels(rows, [n_clusters])[0], None, False)
    return _group_by_object(rows, n_clusters, clustering, random_state, with_rival)


def ward_labels(rows: Array, counts: list[int]) -> list[NDArray[np.intp]]:
    """Cut the tree of Ward into several numbers of clusters; the tree is built once.

    Takes memory for the distances of all pairs of rows.

    Examples
    --------
    >>> [cut.tolist() for cut in ward_labels(np.array([[0.0], [5.0], [0.1]]), [2, 3])]
    [[0, 1, 0], [0, 1, 2]]
    """
    if len(rows) == 1:
        return [np.zeros(1, dtype=np.intp) for _ in counts]
    merges = hierarchy.ward(rows)[:, :2].astype(np.intp)
    return [_after_merges(merges[: len(rows) - count], len(rows)) for count in counts]


def _after_merges(merges: NDArray[np.intp], n_rows: int) -> NDArray[np.intp]:
    """Say to which group each row belongs after some merges of a tree."""
    top = np.arange(n_rows + len(merges))
    for step, pair in enumerate(merges):
        top[pair] = n_rows + step
    # A later merge may swallow an earlier one: walk down from the last.
    for node in range(n_rows + len(merges) - 1, -1, -1):
        top[node] = top[top[node]]
    return relabel_by_first_occurrence(top[:n_rows])


def _group_by_object(
    rows: Array,
    n_clusters: int | None,
    clusterer: FeatureClusterer,
    random_state: int | RandomState | None,
    with_rival: bool,
) -> Grouping:
    parameters = _parameters(clusterer)
    wanted: dict[str, object] = {}
    if n_clusters is not None:
        if "n_clusters" not in parameters:
            raise ValueError(
                f"n_clusters={n_clusters} cannot be given to {clusterer!r}, which has no such "
                "parameter: leave n_clusters out"
            )
        wanted["n_clusters"] = n_clusters
    seeded = "random_state" in parameters
    random = check_random_state(random_state)
    found: list[NDArray[np.intp]] = []
    for _ in range(2 if seeded and with_rival else 1):
        # The first answer is the one that the object gives by itself, if it has a seed.
        if seeded and (found or parameters["random_state"] is None):
            wanted["random_state"] = int(random.randint(2**31 - 1))
        found.append(_labels_of(clusterer, wanted, rows))
    return Grouping(found[0], found[1] if len(found) > 1 else None, seeded)


def with_seed(
    clustering: ClusteringName | FeatureClusterer, seed: int
) -> ClusteringName | FeatureClusterer:
    """Return a clusterer that gives the same answer whenever it is asked.

    An object that has a seed and was given none gets this one; anything else stays as it is.
    """
    if isinstance(clustering, str) or _parameters(clustering).get("random_state", 0) is not None:
        return clustering
    own: Any = clone(clustering, safe=False)
    seeded: FeatureClusterer = own.set_params(random_state=seed)
    return seeded


def _parameters(clusterer: FeatureClusterer) -> dict[str, Any]:
    get = getattr(clusterer, "get_params", None)
    return {} if get is None else dict(get(deep=False))


def _labels_of(
    clusterer: FeatureClusterer, wanted: dict[str, object], rows: Array
) -> NDArray[np.intp]:
    if len(rows) == 1:
        return np.zeros(1, dtype=np.intp)
    own: Any = clone(clusterer, safe=False)
    if wanted:
        own.set_params(**wanted)
    if hasattr(own, "fit_predict"):
        found = own.fit_predict(rows)
    else:
        # FeatureAgglomeration and its like take the samples and group the columns.
        found = getattr(own.fit(rows.T), "labels_", None)
    if found is None:
        raise TypeError(f"clustering={clusterer!r} left no labels_ after fit")
    labels = check_feature_labels(found, len(rows), f"what clustering={clusterer!r} found")
    return relabel_by_first_occurrence(labels)


def check_feature_labels(
    labels: ArrayLike, n_features: int, name: str = "feature_labels"
) -> NDArray[np.intp]:
    """Return given clusters as numbers 0 … K − 1 with no gap.

    Numbers that leave none out stay as they are. Otherwise clusters are numbered in the order of
    first occurrence: names, such as those of pathways, and numbers with gaps. A feature that is in
    no cluster (−1, None or NaN) is a cluster by itself: nothing is said about it, so the directions
    are free there.

    Parameters
    ----------
    labels : array of shape (n_features,)
        Numbers or names.
    n_features : int
        Number of features.
    name : str
        For messages.

    Returns
    -------
    labels : int array of shape (n_features,)

    Examples
    --------
    >>> check_feature_labels(["cycle", "repair", None, "cycle", None], 5)
    array([0, 1, 2, 0, 3])
    >>> check_feature_labels([7, -1, 7, 2], 4)
    array([0, 1, 0, 2])
    """
    # NumPy would turn a list of names and gaps into text, gaps included.
    values = np.asarray(labels, dtype=None if hasattr(labels, "dtype") else object)
    if values.shape != (n_features,):
        raise ValueError(
            f"{name} has shape {values.shape}: it must hold one cluster for each of the "
            f"{n_features} features"
        )
    if values.dtype.kind in "iu":
        return _numbered(values, name)
    if values.dtype.kind not in "OUS":
        raise TypeError(f"{name} must hold integers or names, got an array of dtype {values.dtype}")
    codes = np.full(n_features, -1, dtype=np.intp)
    numbers: dict[str, int] = {}
    some_are_numbers = False
    for i, value in enumerate(values.tolist()):
        if type(value) is not bool and isinstance(value, Integral):
            codes[i] = int(value)
            some_are_numbers |= value != -1
        elif isinstance(value, str) and value.strip():
            codes[i] = numbers.setdefault(value, len(numbers))
        elif not (value is None or (isinstance(value, float) and np.isnan(value))):
            raise ValueError(
                f"{name} holds {value!r} at index {i}: it must be a name or an integer; None "
                "stands for a feature that is in no cluster"
            )
    if numbers and some_are_numbers:
        raise ValueError(f"{name} holds both names and numbers: they must be of one kind")
    return _numbered(codes, name)


def _numbered(given: NDArray[np.integer], name: str) -> NDArray[np.intp]:
    values = given.astype(np.intp)
    if values.min() < -1:
        raise ValueError(
            f"{name} holds {values.min()}: clusters have numbers from 0, and -1 stands for a "
            "feature that is in no cluster"
        )
    found = np.unique(values)
    if np.array_equal(found, np.arange(len(found))):
        return values
    alone = np.flatnonzero(values == -1)
    own = values.copy()
    own[alone] = values.max() + 1 + np.arange(len(alone))
    return relabel_by_first_occurrence(own)
