"""Calls that were answered with a wrong word or a message from deep inside: a table of them.

Each row is a call, the error or warning that it gives, and words of the message that name the
argument and say what is allowed.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from by_hand import clustered_data
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info, threadpool_limits

import informed
from informed import (
    AlternatingInformedClustering,
    ConstantFeatureWarning,
    DiffusionMap,
    IgnoredParameterWarning,
    InformedMahalanobis,
    LocalInformedMahalanobis,
)
from informed.clusters import average_over_clusters, cluster_features
from informed.directions import exact_directions, pca_directions
from informed.gap import gap_statistic, neighborhood_gap
from informed.survival.log_rank import permutation_p_value
from informed.validation import check_matrix

X, LABELS = clustered_data(0, n_samples=20)


def whole(**options):
    return InformedMahalanobis(2, 3, n_init=1, **options)


def local(**options):
    return LocalInformedMahalanobis(8, 2, 3, n_init=1, **options)


def distance(maker, u, v):
    return maker().fit(X).get_metric()(u, v)


SEED = r"random_state={} is unknown: it must be None, an integer from 0 to 2\*\*32 - 1"
WORKERS = "n_jobs must be None, a number of workers >= 1, or negative: -1 for all cores"
TOO_LARGE = r"X holds values up to \de\+20\d in size, whose squares float64 cannot hold: scale it"
TOO_SMALL = (
    r"X holds values up to \de-(199|200) in size, whose squares float64 cannot hold: scale it"
)


def test_squares_must_not_leave_the_range_of_floats_together_either():
    largest = float(np.sqrt(np.finfo(float).max / 800))
    assert check_matrix(np.full((40, 20), 0.99 * largest)).shape == (40, 20)
    assert check_matrix(np.full((4, 20), 1.01 * largest)).shape == (4, 20)
    with pytest.raises(ValueError, match="squares float64 cannot hold"):
        check_matrix(np.full((40, 20), 1.01 * largest))


REFUSED = {
    "whole seed": (lambda: whole(random_state="a").fit(X), ValueError, SEED.format("'a'")),
    "local seed": (lambda: local(random_state="a").fit(X), ValueError, SEED.format("'a'")),
    "both ways seed": (
        lambda: AlternatingInformedClustering(random_state=-1).fit(X),
        ValueError,
        SEED.format("-1"),
    ),
    "clusters seed": (
        lambda: cluster_features(X, 3, random_state=1.5),
        ValueError,
        SEED.format("1.5"),
    ),
    "gap seed": (lambda: gap_statistic(X, [2], random_state="a"), ValueError, SEED.format("'a'")),
    "relabelling seed": (
        lambda: permutation_p_value([1, 2, 3, 4], [1] * 4, [0, 0, 1, 1], random_state="a"),
        ValueError,
        SEED.format("'a'"),
    ),
    "workers by word": (lambda: local(n_jobs="all").fit(X), TypeError, f"{WORKERS}.*'all'"),
    "no workers": (lambda: local(n_jobs=0).fit(X), ValueError, "n_jobs=0 is out of range"),
    "workers by half": (lambda: local(n_jobs=1.5).fit(X), TypeError, f"{WORKERS}.* 1.5"),
    "workers by truth": (lambda: local(n_jobs=True).fit(X), TypeError, f"{WORKERS}.* True"),
    "gap workers": (lambda: gap_statistic(X, [2], n_jobs="all"), TypeError, WORKERS),
    "curve workers": (
        lambda: neighborhood_gap(X, [4, 8], 2, n_jobs=0),
        ValueError,
        "n_jobs=0 is out of range",
    ),
    "bar by word": (
        lambda: local(verbose="no").fit(X),
        TypeError,
        "verbose must be True or False, got 'no' of type str",
    ),
    "curve bar by word": (
        lambda: neighborhood_gap(X, [4, 8], 2, n_neighborhoods=2, verbose="no"),
        TypeError,
        "verbose must be True or False, got 'no'",
    ),
    "whole squared": (
        lambda: whole().fit(X).pairwise_distances(X, squared="no"),
        TypeError,
        "squared must be True or False, got 'no'",
    ),
    "local squared": (
        lambda: local().fit(X).pairwise_distances(X, squared="no"),
        TypeError,
        "squared must be True or False, got 'no'",
    ),
    "whole too large": (lambda: whole().fit(1e200 * X), ValueError, TOO_LARGE),
    "whole too small": (lambda: whole().fit(1e-200 * X), ValueError, TOO_SMALL),
    "local too large": (lambda: local().fit(1e200 * X), ValueError, TOO_LARGE),
    "local too small": (lambda: local().fit(1e-200 * X), ValueError, TOO_SMALL),
    "map too large": (lambda: DiffusionMap().fit(1e200 * X), ValueError, TOO_LARGE),
    "clusters too large": (lambda: cluster_features(1e200 * X, 3), ValueError, TOO_LARGE),
    "directions too small": (lambda: pca_directions(1e-200 * X, 2), ValueError, TOO_SMALL),
    "single precision": (
        lambda: whole().fit(np.float32(1e30) * X.astype(np.float32)),
        ValueError,
        r"X holds values up to \de\+3\d in size, whose squares float32 cannot hold",
    ),
    "nothing to whole": (
        lambda: whole().fit(X).pairwise_distances(None),
        ValueError,
        r"X must be a dense matrix of finite real numbers .*: got None",
    ),
    "nothing to fit": (lambda: local().fit(None), ValueError, "X must be a dense .*: got None"),
    "short first": (
        lambda: distance(whole, X[0, :3], X[1]),
        ValueError,
        r"u has shape \(3,\): it must hold one number for each of the 24 features",
    ),
    "short second": (
        lambda: distance(whole, X[0], X[1, :3]),
        ValueError,
        r"v has shape \(3,\): it must hold one number for each of the 24 features",
    ),
    "both short": (lambda: distance(whole, X[0, 1:], X[1, 1:]), ValueError, r"u has shape \(23,\)"),
    "local short": (lambda: distance(local, X[0], X[1, 1:]), ValueError, r"v has shape \(23,\)"),
    "tables": (lambda: distance(local, X[:2], X[2:4]), ValueError, r"u has shape \(2, 24\)"),
    "a word": (lambda: distance(whole, "a", X[0]), ValueError, "u must be a vector of real num"),
    "ragged": (lambda: distance(local, [[1], [1, 2]], X[0]), ValueError, "u must be a vector of"),
    "not a number": (
        lambda: distance(whole, X[0], np.nan * X[1]),
        ValueError,
        "v contains NaN or infinity",
    ),
    "labels too few": (
        lambda: exact_directions(X, LABELS[:3], 2),
        ValueError,
        r"labels has shape \(3,\): it must hold one cluster number for each of the 24 features",
    ),
    "vector too short": (
        lambda: average_over_clusters(X[0, :3], LABELS),
        ValueError,
        r"labels has shape \(24,\): .* each of the 3 features",
    ),
    "not square, negative": (
        lambda: DiffusionMap(metric="precomputed").fit(X),
        ValueError,
        r"X has shape \(20, 24\): precomputed distances must be square",
    ),
}


@pytest.mark.parametrize(("call", "error", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_the_message_names_what_to_mend(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_what_is_just_within_the_limits_is_taken():
    for scale in (1e-140, 1e140):
        found = whole(random_state=0).fit(scale * X)
        np.testing.assert_array_equal(found.labels_, whole(random_state=0).fit(X).labels_)
        np.testing.assert_allclose(
            found.pairwise_distances(scale * X), whole(random_state=0).fit(X).pairwise_distances(X)
        )
    assert whole().fit(np.zeros_like(X) + X).n_features_in_ == 24
    # All zeros are constant features, not numbers that are too small.
    with (
        pytest.warns(ConstantFeatureWarning),
        pytest.raises(ValueError, match="distinct profiles"),
    ):
        whole().fit(np.zeros_like(X))


@pytest.mark.parametrize("maker", [whole, local])
@pytest.mark.parametrize("directions", ["exact", "averaged", "pca"])
def test_a_weight_that_nobody_reads_is_told(maker, directions):
    message = f"penalty=5 has no effect with directions='{directions}'"
    with pytest.warns(IgnoredParameterWarning, match=message) as caught:
        maker(directions=directions, penalty=5).fit(X)
    assert [warning.filename for warning in caught] == [__file__]


def test_a_weight_that_counts_is_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = local(directions="penalized", penalty=5.0).fit(X)
    with pytest.warns(IgnoredParameterWarning, match="penalty=2 has no effect") as caught:
        fitted.with_directions("averaged", penalty=2.0)
    assert caught[0].filename == __file__


# ------------------------------------------------------------------------- warnings of their own


def with_constants():
    data = X.copy()
    data[:, [3, 7]] = 1.5, 0.1
    return data


@pytest.mark.parametrize(
    "fit",
    [
        lambda data: whole().fit(data),
        lambda data: whole(directions="penalized").fit_transform(data),
        lambda data: local().fit(data),
        lambda data: local(directions="penalized", penalty=1.0).fit(data),
        lambda data: AlternatingInformedClustering().fit(data),
        lambda data: cluster_features(data, 4),
    ],
)
def test_constant_features_are_told_once_in_a_fit(fit):
    with pytest.warns(ConstantFeatureWarning, match=r"2 constant feature") as caught:
        fit(with_constants())
    assert len(caught) == 1


def test_a_grid_search_can_be_kept_quiet_about_them():
    search = GridSearchCV(whole(), {"n_components": [1, 2]}, cv=3)
    with pytest.warns(ConstantFeatureWarning) as caught:
        search.fit(with_constants())
    assert len(caught) == 2 * 3 + 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        search.fit(with_constants())


def test_warnings_are_public_and_of_the_usual_kind():
    for kind in (ConstantFeatureWarning, IgnoredParameterWarning):
        assert issubclass(kind, UserWarning)
        assert getattr(informed, kind.__name__) is kind


# ---------------------------------------------------------------------------------------- threads


def test_fits_in_threads_give_the_threads_of_linear_algebra_back():
    def threads():
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        assert threads() == {2}
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda seed: local(random_state=0).fit(X).components_, range(8)))
        assert threads() == {2}
    for components in found:
        np.testing.assert_array_equal(components, found[0])
