"""The global informed distance against explicit matrices, and the invariances that it must have."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest
from by_hand import SAMPLE_VARIANCES, clustered_data, mahalanobis_matrix_by_hand
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from informed import InformedMahalanobis
from informed.directions.registry import DIRECTIONS
from informed.metrics import MahalanobisMetric

# A sweep over all directions gives each of them a weight, which only one of them reads.
pytestmark = pytest.mark.filterwarnings("ignore::informed.IgnoredParameterWarning")

# The same examples in every run: a red build must stay red until it is mended.
property_test = settings(max_examples=15, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("variances", SAMPLE_VARIANCES)
@pytest.mark.parametrize("directions", DIRECTIONS)
@pytest.mark.parametrize(("seed", "n_samples"), [(0, 60), (1, 15)])
def test_distance_is_the_explicit_quadratic_form(directions, variances, seed, n_samples):
    X, labels = clustered_data(seed, n_samples)
    metric = InformedMahalanobis(
        3,
        4,
        directions=directions,
        variances=variances,
        penalty=2.0,
        random_state=seed,
    ).fit(X)
    VI = mahalanobis_matrix_by_hand(X, labels, 3, directions, variances, 2.0)
    new = np.random.default_rng(seed).normal(size=(7, X.shape[1]))

    assert_allclose(metric.get_mahalanobis_matrix(), VI, atol=1e-8 * abs(VI).max())
    # SciPy takes the root of a rounded zero for a sample and itself; hence not the diagonal.
    assert_allclose(metric.pairwise_distances(X, new), cdist(X, new, "mahalanobis", VI=VI))
    assert_allclose(
        metric.pairwise_distances(X)[np.triu_indices(n_samples, 1)],
        pdist(X, "mahalanobis", VI=VI),
    )
    if directions == "pca":
        assert metric.labels_ is None
    else:
        assert_array_equal(metric.labels_, labels)


@pytest.mark.parametrize("seed", range(3))
def test_with_all_directions_it_is_the_pseudo_inverse_of_the_covariance(seed):
    X, _ = clustered_data(seed, n_samples=9)
    metric = InformedMahalanobis(8, directions="pca").fit(X)
    VI = np.linalg.pinv(np.cov(X, rowvar=False), hermitian=True, rcond=1e-10)
    assert_allclose(metric.get_mahalanobis_matrix(), VI, atol=1e-9 * abs(VI).max())
    # With all directions of n ≤ p samples, every pair is equally far: √(2(n − 1)).
    assert_allclose(pdist(metric.transform(X)), 4.0)


@pytest.mark.parametrize("directions", ["exact", "gradient", "penalized", "pca"])
@pytest.mark.parametrize("variances", SAMPLE_VARIANCES)
def test_covariance_and_mahalanobis_matrix_are_pseudo_inverses(directions, variances):
    X, _ = clustered_data(3)
    metric = InformedMahalanobis(
        3, 4, directions=directions, variances=variances, penalty=1.0, random_state=0
    ).fit(X)
    assert_allclose(metric.directions_.T @ metric.directions_, np.eye(3), atol=1e-7)
    covariance, inverse = metric.get_covariance(), metric.get_mahalanobis_matrix()
    expected = np.linalg.pinv(covariance, hermitian=True, rcond=1e-10)
    assert_allclose(inverse, expected, atol=1e-6 * abs(expected).max())
    assert_allclose(covariance @ inverse @ covariance, covariance, atol=1e-6 * covariance.max())
    assert_allclose(inverse @ covariance @ inverse, inverse, atol=1e-6 * inverse.max())


def test_averaged_directions_are_scaled_to_unit_length_but_not_orthogonal():
    X, labels = clustered_data(4, n_samples=12, spread=2.0)
    metric = InformedMahalanobis(3, directions="averaged", feature_labels=labels).fit(X)
    gram = metric.directions_.T @ metric.directions_
    assert_allclose(np.diag(gram), 1.0)
    assert abs(gram - np.eye(3)).max() > 1e-3


def test_transform_is_centred_on_the_training_mean():
    X, _ = clustered_data(5)
    metric = InformedMahalanobis(3, random_state=0).fit(X)
    assert_allclose(metric.mean_, X.mean(axis=0))
    assert_allclose(metric.transform(X).mean(axis=0), 0.0, atol=1e-12)
    assert_allclose(metric.transform(metric.mean_[None]), 0.0, atol=1e-12)
    assert_allclose(metric.transform(X), metric.fit_transform(X))


def test_own_variances_whiten_the_training_samples():
    X, _ = clustered_data(6)
    Z = InformedMahalanobis(3, variances="own", random_state=0).fit_transform(X)
    assert_allclose(np.cov(Z, rowvar=False), np.eye(3), atol=1e-10)


def test_pca_is_whitened_pca_of_scikit_learn():
    X, _ = clustered_data(7)
    ours = InformedMahalanobis(4, directions="pca").fit_transform(X)
    theirs = PCA(4, whiten=True).fit_transform(X)
    assert_allclose(abs(ours), abs(theirs), atol=1e-9)


def test_known_labels_replace_k_means():
    X, labels = clustered_data(8)
    found = InformedMahalanobis(3, 4, random_state=0).fit(X)
    given_labels = InformedMahalanobis(3, feature_labels=labels).fit(X)
    assert_array_equal(found.labels_, labels)
    assert_allclose(found.components_, given_labels.components_)
    # Other labels give another metric, and are kept as they were given.
    other = InformedMahalanobis(3, feature_labels=3 - labels[::-1]).fit(X)
    assert_array_equal(other.labels_, 3 - labels[::-1])
    assert abs(other.pairwise_distances(X) - found.pairwise_distances(X)).max() > 0.1


def test_clusters_are_those_of_k_means_on_centred_features():
    X, _ = clustered_data(9, spread=1.0)
    metric = InformedMahalanobis(3, 5, n_init=4, random_state=1).fit(X)
    model = KMeans(5, n_init=4, random_state=1).fit((X - X.mean(axis=0)).T)
    # The same partition, whatever the numbers.
    assert len(set(zip(metric.labels_, model.labels_, strict=True))) == 5
    _, first = np.unique(metric.labels_, return_index=True)
    assert_array_equal(np.argsort(first), np.arange(5))


def test_the_default_number_of_clusters_is_one_more_than_the_directions():
    X, _ = clustered_data(10)
    assert InformedMahalanobis(3, random_state=0).fit(X).labels_.max() + 1 == 4
    # … but there are no more clusters than features.
    assert InformedMahalanobis(2, random_state=0).fit(X[:, :2]).labels_.max() + 1 == 2


def test_penalty_is_reported():
    X, labels = clustered_data(11)
    kept = {"feature_labels": labels, "random_state": 0}
    assert InformedMahalanobis(2, directions="pca").fit(X).penalty_ == 0
    assert InformedMahalanobis(2).fit(X).penalty_ == np.inf
    assert InformedMahalanobis(2, directions="penalized", penalty=3, **kept).fit(X).penalty_ == 3
    chosen = InformedMahalanobis(2, directions="penalized", **kept).fit(X)
    again = InformedMahalanobis(2, directions="penalized", penalty=chosen.penalty_, **kept).fit(X)
    assert_allclose(chosen.components_, again.components_)


def test_the_penalty_is_chosen_from_the_data():
    # Within a cluster the features load unequally, or are equal up to noise.
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 20)
    hidden = rng.normal(size=(40, 3))
    noise = rng.normal(size=(40, 60))
    unequal = hidden[:, labels] * rng.normal(1, 1, size=60) + 0.1 * noise
    equal = hidden[:, labels] + noise
    kept = {"directions": "penalized", "feature_labels": labels}
    loose = InformedMahalanobis(3, **kept).fit(unequal)
    tight = InformedMahalanobis(3, **kept).fit(equal)
    assert loose.penalty_ / loose.variances_[0] < tight.penalty_ / tight.variances_[0]


def test_the_penalty_is_chosen_with_clusters_found_anew_in_each_fold():
    # Pure noise: with clusters kept from all samples, the held-out ones seem to follow them.
    X = np.random.default_rng(0).normal(size=(20, 60))
    anew = InformedMahalanobis(3, 4, directions="penalized", random_state=0).fit(X)
    kept = InformedMahalanobis(3, directions="penalized", feature_labels=anew.labels_).fit(X)
    assert anew.penalty_ != kept.penalty_


# ------------------------------------------------------------------------------ other ways to ask


def test_pair_distance_and_metric_agree_with_pairwise_distances():
    X, _ = clustered_data(12)
    metric = InformedMahalanobis(3, random_state=0).fit(X)
    D = metric.pairwise_distances(X)
    pairs = np.stack([X[:-1], X[1:]], axis=1)
    assert_allclose(metric.pair_distance(pairs), np.diag(D, 1))
    call = metric.get_metric()
    assert_allclose([call(u, v) for u, v in pairs], np.diag(D, 1))
    assert_allclose(metric.pairwise_distances(X, X[:4], squared=True), D[:, :4] ** 2, atol=1e-10)
    assert_array_equal(np.diag(D), 0.0)
    assert_allclose(D, D.T, rtol=1e-12)


def test_metric_outlives_its_estimator():
    X, _ = clustered_data(13)
    estimator = InformedMahalanobis(3, random_state=0).fit(X)
    call = estimator.get_metric()
    before = call(X[0], X[1])
    estimator.components_ *= 2
    estimator.fit(X[:, ::-1] ** 3)
    assert call(X[0], X[1]) == before
    assert estimator.get_metric()(X[0], X[1]) != before
    assert pickle.loads(pickle.dumps(call))(X[0], X[1]) == before
    with pytest.raises(ValueError, match="read-only"):
        call.components[0, 0] = 1.0
    assert isinstance(call(list(X[0]), list(X[1])), float)
    assert MahalanobisMetric(np.eye(2))([0, 0], [3, 4]) == 5.0


def test_estimator_survives_pickling():
    X, _ = clustered_data(14)
    metric = InformedMahalanobis(2, random_state=0).fit(X)
    assert_array_equal(pickle.loads(pickle.dumps(metric)).transform(X), metric.transform(X))


def test_nothing_works_before_fit():
    metric = InformedMahalanobis()
    X = np.zeros((3, 4))
    for ask in (
        lambda: metric.transform(X),
        lambda: metric.pairwise_distances(X),
        lambda: metric.pair_distance(np.zeros((1, 2, 4))),
        metric.get_metric,
        metric.get_mahalanobis_matrix,
        metric.get_covariance,
    ):
        with pytest.raises(NotFittedError):
            ask()


# ------------------------------------------------------------------------------------ invariances


@st.composite
def invertible(draw, size):
    """A matrix of condition number at most 100."""
    rng = np.random.default_rng(draw(seeds))
    Q, R = (np.linalg.qr(rng.normal(size=(size, size)))[0] for _ in range(2))
    exponents = draw(st.lists(st.floats(-1, 1), min_size=size, max_size=size))
    return Q @ np.diag(10.0 ** np.array(exponents)) @ R


def hidden_and_observed(seed, transformation, exact_clusters):
    """Samples hidden in three dimensions, and what is observed of them: c = A x (Theorem 2.1)."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(30, 3)) @ transformation
    loadings = rng.normal(size=(4, 3))[rng.permutation(np.repeat(np.arange(4), 10))]
    if not exact_clusters:
        loadings = loadings + 0.3 * rng.normal(size=loadings.shape)
    return hidden, hidden @ loadings.T


@property_test
@given(seed=seeds, transformation=invertible(3), directions=st.sampled_from(DIRECTIONS))
def test_theorem_2_1_the_hidden_mahalanobis_distance_is_recovered(seed, transformation, directions):
    hidden, X = hidden_and_observed(seed, transformation, exact_clusters=True)
    plain, _ = hidden_and_observed(seed, np.eye(3), exact_clusters=True)
    metric = InformedMahalanobis(3, 4, directions=directions, n_init=2, random_state=0).fit(X)
    expected = pdist(hidden, "mahalanobis", VI=np.linalg.inv(np.cov(hidden, rowvar=False)))
    assert_allclose(pdist(metric.transform(X)), expected, rtol=1e-6)
    # … and so the transformation of the hidden samples cannot be seen.
    unmoved = pdist(plain, "mahalanobis", VI=np.linalg.inv(np.cov(plain, rowvar=False)))
    assert_allclose(pdist(metric.transform(X)), unmoved, rtol=1e-6)


@property_test
@given(seed=seeds, transformation=invertible(3))
def test_theorem_2_1_needs_no_clusters_for_pca(seed, transformation):
    hidden, X = hidden_and_observed(seed, transformation, exact_clusters=False)
    metric = InformedMahalanobis(3, directions="pca").fit(X)
    expected = pdist(hidden, "mahalanobis", VI=np.linalg.inv(np.cov(hidden, rowvar=False)))
    assert_allclose(pdist(metric.transform(X)), expected, rtol=1e-6)


cases = st.builds(
    lambda seed, directions, variances: (seed, directions, variances),
    seeds,
    st.sampled_from(DIRECTIONS),
    st.sampled_from(SAMPLE_VARIANCES),
)


def distances(X, directions, variances, penalty=2.0, labels=None):
    metric = InformedMahalanobis(
        3,
        None if labels is not None else 4,
        directions=directions,
        variances=variances,
        penalty=penalty,
        feature_labels=labels,
        n_init=2,
        random_state=0,
    )
    return metric.fit(X).pairwise_distances(X)


@property_test
@given(case=cases)
def test_order_of_features_does_not_matter(case):
    seed, directions, variances = case
    X, labels = clustered_data(seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    expected = distances(X, directions, variances)
    assert_allclose(distances(X[:, order], directions, variances), expected, atol=1e-6)
    known = distances(X[:, order], directions, variances, labels=labels[order])
    assert_allclose(known, expected, atol=1e-6)


@property_test
@given(case=cases)
def test_order_of_samples_does_not_matter(case):
    seed, directions, variances = case
    X, _ = clustered_data(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    expected = distances(X, directions, variances)[np.ix_(order, order)]
    assert_allclose(distances(X[order], directions, variances), expected, atol=1e-6)


@property_test
@given(case=cases, exponent=st.floats(-6, 6), negative=st.booleans())
def test_unit_of_measurement_does_not_matter(case, exponent, negative):
    seed, directions, variances = case
    X, _ = clustered_data(seed)
    scale = 10.0**exponent * (-1 if negative else 1)
    expected = distances(X, directions, variances)
    # A penalty is in the units of the variances.
    scaled = distances(scale * X, directions, variances, penalty=2.0 * scale**2)
    assert_allclose(scaled, expected, atol=1e-6)
    if directions == "penalized":
        chosen = distances(X, directions, variances, penalty="cv")
        assert_allclose(distances(scale * X, directions, variances, "cv"), chosen, atol=1e-6)


@property_test
@given(case=cases, size=st.floats(0, 6))
def test_origin_does_not_matter(case, size):
    seed, directions, variances = case
    X, _ = clustered_data(seed)
    shift = 10.0**size * np.random.default_rng(seed).normal(size=X.shape[1])
    expected = distances(X, directions, variances)
    assert_allclose(distances(X + shift, directions, variances), expected, atol=1e-6)


@property_test
@given(case=cases)
def test_axioms_of_a_pseudo_metric(case):
    seed, directions, variances = case
    X, _ = clustered_data(seed, n_samples=20)
    D = distances(X, directions, variances)
    assert (D >= 0).all()
    assert_array_equal(np.diag(D), 0.0)
    assert_allclose(D, D.T, rtol=1e-12)
    assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-10).all()


def test_different_samples_may_be_at_distance_zero():
    X, labels = clustered_data(15)
    metric = InformedMahalanobis(3, feature_labels=labels).fit(X)
    across = np.zeros(X.shape[1])
    pair = np.flatnonzero(labels == 0)[:2]
    across[pair] = 1.0, -1.0  # has mean zero over every cluster
    assert_allclose(metric.pairwise_distances(X[:1], X[:1] + across), 0.0, atol=1e-12)


# ----------------------------------------------------------------------------- the hidden square


def hidden_square(seed):
    """Unit square seen through 1200 features in three clusters (§3.3 of the paper)."""
    rng = np.random.default_rng(seed)
    hidden = rng.uniform(size=(500, 2))
    means = np.array([[1 / 3, 1], [1 / 3, -1], [-1, -3]])
    loadings = np.repeat(means, 400, axis=0) + 0.1 * rng.normal(size=(1200, 2))
    return hidden, hidden @ loadings.T


def test_hidden_distances_of_the_square_are_recovered():
    correlations, ratios = [], []
    for seed in range(10):
        hidden, X = hidden_square(seed)
        truth = pdist(hidden)
        for directions in ("pca", "exact"):
            metric = InformedMahalanobis(2, 3, directions=directions, n_init=1, random_state=seed)
            found = pdist(metric.fit(X[:50]).transform(X))
            correlations.append(np.corrcoef(found, truth)[0, 1])
            ratios.append(np.median(found / truth))
    means = np.reshape(correlations, (10, 2)).mean(axis=0)
    assert (means >= 0.98).all(), means
    # A uniform variable on [0, 1] has variance 1/12: the recovered distance is √12 times larger.
    assert_allclose(np.mean(ratios), np.sqrt(12), rtol=0.05)


# --------------------------------------------------------------------------------- dtype, memory


@pytest.mark.parametrize("directions", DIRECTIONS)
def test_float32_stays_float32(directions):
    X, _ = clustered_data(16)
    single = X.astype(np.float32)
    metric = InformedMahalanobis(3, 4, directions=directions, random_state=0).fit(single)
    # scikit-learn's own PCA keeps it in the same places.
    pca = PCA(3).fit(single)
    assert pca.components_.dtype == pca.transform(single).dtype == np.float32
    for array in (
        metric.mean_,
        metric.directions_,
        metric.variances_,
        metric.components_,
        metric.transform(single),
        metric.pairwise_distances(single),
        metric.pair_distance(np.stack([single, single[::-1]], axis=1)),
        metric.get_covariance(),
        metric.get_mahalanobis_matrix(),
    ):
        assert array.dtype == np.float32
    double = InformedMahalanobis(3, 4, directions=directions, random_state=0).fit(X)
    assert double.components_.dtype == np.float64
    assert_allclose(metric.pairwise_distances(single), double.pairwise_distances(X), atol=2e-3)


@pytest.mark.parametrize("directions", DIRECTIONS)
def test_no_matrix_of_features_by_features(directions):
    n_samples, n_features = 20, 3000
    X = np.random.default_rng(0).normal(size=(n_samples, n_features))
    metric = InformedMahalanobis(2, 3, directions=directions, penalty=1.0, n_init=1, random_state=0)
    tracemalloc.start()
    try:
        metric.fit(X).pairwise_distances(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * n_features**2 / 4


def test_memory_of_a_wide_fit():
    pytest.importorskip("resource")
    # A process of its own: the peak of this one has seen other tests.
    script = """
        import resource
        import sys
        import numpy as np
        import psutil
        from informed import InformedMahalanobis

        rng = np.random.default_rng(0)
        X = rng.normal(size=(500, 20_000))
        for label, profile in enumerate(rng.normal(size=(3, 500, 1))):
            X[:, label::3] += 3 * profile
        InformedMahalanobis(n_init=1, random_state=0).fit(X[:10, :10])
        before = psutil.Process().memory_info().rss
        InformedMahalanobis(random_state=0).fit(X)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(peak * (1 if sys.platform == "darwin" else 1024) - before)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    added = int(done.stdout)
    # At least the centred copy of the data; far less than one of the 20,000 × 20,000 matrices.
    assert 8 * 500 * 20_000 < added < 10**9, added
