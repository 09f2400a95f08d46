"""Bad input of every estimator: which error, and that its message names what to mend.

Every kind of bad input has its rows here. Unless the fault can only be seen in the numbers
(a rank, coinciding features), the error comes before any work is done.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from by_hand import clustered_data
from scipy import sparse
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.preprocessing import StandardScaler

from informed import (
    DiffusionMap,
    FewerDirectionsWarning,
    InformedMahalanobis,
    LocalInformedMahalanobis,
    diffusion,
)
from informed.groups import bipartition
from informed.metrics import global_metric as global_module
from informed.metrics import neighborhoods, neighbors

X, LABELS = clustered_data(0, n_samples=20)
DISTANCES = squareform(pdist(X))


def whole(n_components=2, n_clusters=3, **options):
    return InformedMahalanobis(n_components, n_clusters, n_init=1, **options)


def local(n_neighbors=8, n_components=2, n_clusters=3, **options):
    return LocalInformedMahalanobis(n_neighbors, n_components, n_clusters, n_init=1, **options)


def precomputed(**options):
    return DiffusionMap(metric="precomputed", **options)


def replaced(data, value):
    data = data.copy()
    data[1, 2] = value
    return data


MAKERS = [whole, local, DiffusionMap]

BAD_DATA = {
    "nan": (replaced(X, np.nan), ValueError, "X contains NaN"),
    "inf": (replaced(X, np.inf), ValueError, "X contains infinity"),
    "one sample": (X[:1], ValueError, r"X must .* at least 2 row.* 1 sample"),
    "no features": (X[:, :0], ValueError, r"X must .* 0 feature\(s\)"),
    "one dimension": (X[0], ValueError, "X must .* Expected 2D array, got 1D"),
    "three dimensions": (X[None], ValueError, "X must .* dim 3"),
    "sparse": (sparse.csr_array(X), TypeError, "Sparse data was passed for X"),
    "words": (np.full((20, 24), "gene"), ValueError, "X must .* real numbers .* text"),
    "numbers as text": (X.astype(str), ValueError, "X must .* real numbers .* text"),
    "objects with text": (replaced(X.astype(object), "1"), ValueError, "X must .* text"),
    "missing": (replaced(X.astype(object), None), ValueError, "X must .* NaN"),
    "complex": (X + 1j, ValueError, "X must .* Complex data not supported"),
}


@pytest.fixture
def no_work(monkeypatch):
    """Let the first step of the computation fail, so that an error must come before it."""

    def work(*args, **kwargs):
        raise AssertionError("work was done before the input was checked")

    monkeypatch.setattr(global_module, "find_model", work)
    monkeypatch.setattr(neighborhoods, "find_model", work)
    monkeypatch.setattr(neighbors, "NearestNeighbors", work)
    monkeypatch.setattr(diffusion, "_kernel", work)


@pytest.mark.usefixtures("no_work")
def test_work_would_be_seen():
    for maker in MAKERS:
        with pytest.raises(AssertionError, match="work was done"):
            maker().fit(X)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize(("data", "error", "message"), BAD_DATA.values(), ids=BAD_DATA.keys())
def test_data(maker, data, error, message):
    if sparse.issparse(data) and maker is whole:
        pytest.skip("the global metric takes sparse samples: tests/test_sparse.py")
    with pytest.raises(error, match=f"(?s){message}"):
        maker().fit(data)


BAD_PARAMETERS = [
    # n_components above the rank, and what is no count at all
    (whole, {"n_components": 0}, ValueError, r"n_components=0 .* 1 to 19 .* n_features=24"),
    (whole, {"n_components": -1}, ValueError, "n_components=-1 .* 1 to 19"),
    (whole, {"n_components": 20, "n_clusters": 24}, ValueError, "n_components=20 .* 1 to 19"),
    (whole, {"n_components": 20, "directions": "pca"}, ValueError, "n_components=20 .* 1 to 19"),
    (whole, {"n_components": 2.0}, TypeError, "n_components must .* integer .* 2.0 of type float"),
    (whole, {"n_components": True}, TypeError, "n_components must .* True of type bool"),
    (whole, {"n_components": None}, TypeError, "n_components must .* None of type NoneType"),
    (local, {"n_components": 0}, ValueError, "n_components=0 .* integer >= 1"),
    (local, {"n_components": "2"}, TypeError, "n_components must .* '2' of type str"),
    (DiffusionMap, {"n_components": 0}, ValueError, "n_components=0 .* 1 to 19 .*n_samples=20"),
    (DiffusionMap, {"n_components": 20}, ValueError, "n_components=20 .* 1 to 19 .*n_samples=20"),
    (DiffusionMap, {"n_components": 1.5}, TypeError, "n_components must .* 1.5 of type float"),
    # n_clusters above n_features, below 1, below n_components
    (whole, {"n_clusters": 25}, ValueError, "n_clusters=25 .* 2 to 24 .*n_features=24"),
    (whole, {"n_clusters": 0}, ValueError, "n_clusters=0 .* 2 to 24 .*n_components=2"),
    (whole, {"n_clusters": 1}, ValueError, "n_clusters=1 .* 2 to 24 .*n_components=2"),
    (whole, {"n_clusters": 3.0}, TypeError, "n_clusters must .* 3.0 of type float"),
    (local, {"n_clusters": 25}, ValueError, "n_clusters=25 .* 2 to 24 .*n_features=24"),
    (local, {"n_clusters": -3}, ValueError, "n_clusters=-3 .* 2 to 24"),
    (local, {"n_clusters": 1}, ValueError, "n_clusters=1 .* 2 to 24 .*n_components=2"),
    # n_neighbors above n_samples or not above n_components
    (local, {"n_neighbors": 21}, ValueError, "n_neighbors=21 .* 2 to 20 .*n_samples=20"),
    (local, {"n_neighbors": 1}, ValueError, "n_neighbors=1 .* 2 to 20"),
    (local, {"n_neighbors": 2}, ValueError, "n_neighbors=2 .* above n_components=2"),
    (local, {"n_neighbors": 8.0}, TypeError, "n_neighbors must .* 8.0 of type float"),
    # a known clustering
    (
        whole,
        {"n_clusters": None, "feature_labels": LABELS[:-1]},
        ValueError,
        r"feature_labels has shape \(23,\): .* each of the 24 features",
    ),
    (
        whole,
        {"n_clusters": None, "feature_labels": LABELS[:, None]},
        ValueError,
        r"feature_labels has shape \(24, 1\)",
    ),
    (
        whole,
        {"n_clusters": None, "feature_labels": LABELS - 2},
        ValueError,
        "feature_labels holds -2: clusters have numbers from 0, and -1 stands for",
    ),
    (
        whole,
        {"n_clusters": None, "feature_labels": ["cycle"] * 23 + [" "]},
        ValueError,
        "feature_labels holds ' ' at index 23: it must be a name or an integer; None",
    ),
    (
        whole,
        {"n_clusters": None, "feature_labels": [b"a", *[None] * 23]},
        ValueError,
        "feature_labels holds b'a' at index 0",
    ),
    (
        whole,
        {"n_clusters": None, "feature_labels": ["a", *LABELS[1:]]},
        ValueError,
        "feature_labels holds both names and numbers",
    ),
    (
        whole,
        {"n_clusters": None, "feature_labels": LABELS / 1.0},
        TypeError,
        "feature_labels must hold integers or names, got .* float64",
    ),
    # ways to cluster, and what is chosen by itself
    (whole, {"clustering": "k-means"}, ValueError, r"'k-means' .* \['auto', 'kmeans', 'ward'\]"),
    (whole, {"clustering": 3}, TypeError, "clustering must be .* method fit, got 3 of type int"),
    (whole, {"clustering": KMeans}, TypeError, "clustering must be .* of type "),
    (whole, {"clustering": DBSCAN()}, ValueError, "n_clusters=3 cannot be given to DBSCAN"),
    (
        whole,
        {"clustering": DBSCAN(eps=1e9), "n_clusters": None},
        ValueError,
        r"n_components=2 .* 1 to 1 .*DBSCAN\(.*\) found 1 clusters",
    ),
    (
        whole,
        {"clustering": AgglomerativeClustering(), "n_components": 3, "n_clusters": None},
        ValueError,
        r"n_components=3 .* 1 to 2 \(clustering=Agglom.*\) found 2 clusters",
    ),
    (whole, {"clustering": StandardScaler(), "n_clusters": None}, TypeError, "left no labels_"),
    (whole, {"profiles": "raw"}, ValueError, r"'raw' .* \['as-is', 'auto', 'centered',"),
    (whole, {"directions": "exat"}, ValueError, r"'exat' .* \['auto', 'averaged', 'exact',"),
    (
        whole,
        {"variances": "shrunk", "directions": "penalized"},
        ValueError,
        "variances='shrunk' has no formula for directions='penalized'",
    ),
    (whole, {"n_components": 30, "n_clusters": "auto"}, ValueError, "n_components=30 .* 3 folds"),
    (whole, {"n_components": "auto", "n_clusters": 0}, ValueError, "n_clusters=0 .* 1 to 24"),
    (whole, {"directions": "auto", "variances": "x"}, ValueError, "variances='x' is unknown"),
    (
        whole,
        {"n_clusters": 5, "feature_labels": LABELS},
        ValueError,
        "n_clusters=5 contradicts feature_labels, which hold 4 clusters",
    ),
    (
        whole,
        {"n_components": 5, "n_clusters": None, "feature_labels": LABELS},
        ValueError,
        "n_components=5 .* 1 to 4 .*feature_labels hold 4 clusters",
    ),
    # choices and numbers
    (whole, {"directions": "best"}, ValueError, "directions='best' .*'averaged', 'exact'"),
    (whole, {"directions": 1}, ValueError, "directions=1 .* one of"),
    (
        whole,
        {"variances": "none"},
        ValueError,
        r"'none' .* \['auto', 'own', 'pca', 'shrunk'\]",
    ),
    (whole, {"penalty": "auto"}, ValueError, r"penalty='auto' .*'capped', 'cv', 'per-direction'"),
    (whole, {"penalty": -1.0}, ValueError, "penalty=-1.0 .* number >= 0"),
    (whole, {"penalty": np.nan}, ValueError, "penalty=nan .* number >= 0"),
    (whole, {"penalty": None}, TypeError, "penalty must .* None of type NoneType"),
    (local, {"directions": "best"}, ValueError, "directions='best' .* one of"),
    (local, {"variances": "none"}, ValueError, "variances='none' .* one of"),
    (local, {"penalty": -1}, ValueError, "penalty=-1.0 .* number >= 0"),
    (DiffusionMap, {"metric": "cosine"}, ValueError, "metric='cosine' .*'euclidean', 'precomp"),
    (DiffusionMap, {"epsilon": "mean"}, ValueError, r"epsilon='mean' .* \['median'\]"),
    (DiffusionMap, {"epsilon": 0}, ValueError, "epsilon=0.0 .* finite number > 0"),
    (DiffusionMap, {"epsilon": -2.0}, ValueError, "epsilon=-2.0 .* finite number > 0"),
    (DiffusionMap, {"epsilon": np.inf}, ValueError, "epsilon=inf .* finite number > 0"),
    (DiffusionMap, {"epsilon": None}, TypeError, "epsilon must .* None of type NoneType"),
    (DiffusionMap, {"scale": 0.0}, ValueError, "scale=0.0 .* finite number > 0"),
    (DiffusionMap, {"scale": np.nan}, ValueError, "scale=nan .* finite number > 0"),
    (DiffusionMap, {"alpha": -0.5}, ValueError, "alpha=-0.5 .* finite number >= 0"),
    (DiffusionMap, {"alpha": "1"}, TypeError, "alpha must .* '1' of type str"),
]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(("maker", "options", "error", "message"), BAD_PARAMETERS)
def test_parameters(maker, options, error, message):
    with pytest.raises(error, match=message):
        maker(**options).fit(X)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("estimator", [InformedMahalanobis, LocalInformedMahalanobis])
def test_number_of_restarts(estimator):
    with pytest.raises(ValueError, match=r"n_init=0 .* integer >= 1"):
        estimator(n_components=2, n_clusters=3, n_init=0).fit(X)


def test_the_limits_themselves_are_allowed():
    whole(19, directions="pca").fit(X)
    whole(2, 24).fit(X)
    whole(2, 2).fit(X)
    local(20).fit(X)
    local(3).fit(X)
    DiffusionMap(19).fit(X)


# ------------------------------------------------------------- what only the numbers can tell


@pytest.mark.parametrize("directions", ["exact", "gradient", "averaged", "penalized", "pca"])
def test_n_components_above_the_rank_of_the_numbers(directions):
    rng = np.random.default_rng(0)
    flat = rng.normal(size=(20, 2)) @ rng.normal(size=(2, 24)) + 100
    with pytest.raises(ValueError, match=r"n_components=3 is out of range: the rank .* is 2"):
        whole(3, 4, directions=directions).fit(flat)
    whole(2, 4, directions=directions).fit(flat)


def test_n_components_above_the_rank_of_a_neighbourhood():
    flat = X.copy()
    flat[:9] = np.outer(np.arange(9), np.arange(24)) / 100
    message = r"9 of 20 neighbourhoods span fewer than 2 directions"
    with pytest.warns(FewerDirectionsWarning, match=message) as caught:
        fitted = local().fit(flat)
    assert caught[0].filename == __file__
    assert not fitted.components_[:9, 1].any()
    assert fitted.components_[:9, 0].any(axis=1).all()


def test_n_clusters_above_the_number_of_distinct_features():
    doubled = X[:, [0, 1, 0, 1]]
    with pytest.raises(ValueError, match=r"n_clusters=3 is out of range: .* only 2 distinct"):
        whole(2, 3).fit(doubled)


@pytest.mark.parametrize("maker", [whole, local])
def test_constant_features_warn_and_cluster_together(maker):
    data = X.copy()
    data[:, [3, 7]] = 1.5, 0.1
    with pytest.warns(UserWarning, match=r"X has 2 constant feature.* index 3") as caught:
        fitted = maker(n_clusters=5, random_state=0).fit(data)
    assert caught[0].filename == __file__
    labels = np.atleast_2d(fitted.labels_)
    assert (labels[:, 3] == labels[:, 7]).all()
    assert np.isfinite(fitted.components_).all()


# --------------------------------------------------------------------------- after the fit


@pytest.mark.parametrize(
    ("ask", "takes_sparse"),
    [
        (lambda data: whole().fit(X).transform(data), True),
        (lambda data: whole().fit(X).pairwise_distances(data), True),
        (lambda data: whole().fit(X).pairwise_distances(X, data), True),
        (lambda data: local().fit(X).pairwise_distances(data), False),
        (lambda data: local().fit(X).pairwise_distances(X, data), False),
        (lambda data: DiffusionMap().fit(X).transform(data), False),
    ],
)
def test_data_after_the_fit(ask, takes_sparse):
    with pytest.raises(ValueError, match=r"X has 23 features, but .* is expecting 24 features"):
        ask(X[:, 1:])
    with pytest.raises(ValueError, match="X contains NaN"):
        ask(replaced(X, np.nan))
    with pytest.raises(ValueError, match=r"X must .* text"):
        ask(X.astype(str))
    if not takes_sparse:
        with pytest.raises(TypeError, match="Sparse data was passed for X"):
            ask(sparse.csr_array(X))


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (X, r"pairs has shape \(20, 24\): it must be \(n_pairs, 2, 24\)"),
        (np.zeros((4, 3, 24)), r"pairs has shape \(4, 3, 24\)"),
        (np.zeros((4, 2, 23)), r"pairs has shape \(4, 2, 23\)"),
        (np.full((4, 2, 24), np.nan), "pairs contains NaN"),
    ],
)
def test_pairs(pairs, message):
    with pytest.raises(ValueError, match=message):
        whole().fit(X).pair_distance(pairs)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_neighbors": 0}, ValueError, "n_neighbors=0 .* 1 to 19 .*20 training samples"),
        ({"n_neighbors": 20}, ValueError, "n_neighbors=20 .* 1 to 19 .*20 training samples"),
        ({"n_neighbors": 2.5}, TypeError, "n_neighbors must .* 2.5 of type float"),
        ({"n_neighbors": 3, "mode": "both"}, ValueError, "mode='both' .*'connectivity', 'dist"),
        ({"n_neighbors": 3, "n_candidates": 2}, ValueError, "n_candidates=2 .* 3 to 19"),
        ({"n_neighbors": 3, "n_candidates": 20}, ValueError, "n_candidates=20 .* 3 to 19"),
    ],
)
def test_arguments_of_the_graph(arguments, error, message):
    fitted = local().fit(X)
    with pytest.raises(error, match=message):
        fitted.kneighbors_graph(**arguments)


# ----------------------------------------------------------------------- precomputed distances


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize("as_graph", [False, True])
def test_precomputed_distances(as_graph):
    convert = sparse.csr_array if as_graph else np.asarray
    with pytest.raises(ValueError, match=re.escape("X has shape (20, 24): precomputed distances")):
        precomputed().fit(convert(abs(X)))
    with pytest.raises(ValueError, match=r"Negative values .* X: the distance -3 occurs"):
        precomputed().fit(convert(replaced(DISTANCES, -3.0)))
    with pytest.raises(ValueError, match="X is not symmetric"):
        precomputed().fit(convert(replaced(DISTANCES, 1e-3)))
    with pytest.raises(ValueError, match="X contains NaN"):
        precomputed().fit(convert(replaced(DISTANCES, np.nan)))


def test_distances_to_the_training_samples():
    fitted = precomputed().fit(DISTANCES)
    with pytest.raises(ValueError, match=r"Negative values .* X: the distance -3 occurs"):
        fitted.transform(replaced(DISTANCES, -3.0))
    with pytest.raises(ValueError, match=r"X has 19 features, but .* is expecting 20"):
        fitted.transform(DISTANCES[:, 1:])
    # A row of a graph without entries reaches nothing.
    with pytest.raises(ValueError, match=r"X\[0\] is too far from every training sample"):
        fitted.transform(sparse.csr_array((2, 20)))


def test_median_of_zero_cannot_be_a_scale():
    same = np.zeros((6, 2))
    same[0] = 1
    with pytest.raises(ValueError, match=r"epsilon='median' cannot be used: .* distances are zero"):
        DiffusionMap().fit(same)
    with pytest.raises(ValueError, match=r"epsilon='median' cannot be used: .* none is stored"):
        precomputed().fit(sparse.csr_array((5, 5)))
    DiffusionMap(epsilon=1.0).fit(same)


# -------------------------------------------------------------------------------------- groups


@pytest.mark.parametrize(
    ("embedding", "message"),
    [
        ([[0.1], [np.nan]], "embedding .* NaN"),
        ([0.1, np.inf], "embedding .* infinity"),
        ([[0.1, 0.2]], "embedding .* 1 sample"),
        (["a", "b"], "embedding .* text"),
        (np.zeros((2, 2, 2)), "embedding .* dim 3"),
        (1.0, "embedding .* scalar"),
        (np.zeros((3, 0)), r"embedding .* 0 feature\(s\)"),
    ],
)
def test_bipartition(embedding, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        bipartition(embedding)
