"""The generators: their statistics against theory, their geometry against finite differences."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from informed.datasets import make_curved_manifold, make_hidden_square, make_two_types
from informed.datasets.curved_manifold import _rolled

GENERATORS = {
    "square": lambda **kw: make_hidden_square(20, 9, noise=0.1, **kw),
    "types": lambda **kw: make_two_types(20, borders=[0, 3, 7], loading_sd=0.5, **kw),
    "curved": lambda **kw: make_curved_manifold(20, 9, **kw),
}


def projector(vectors):
    return vectors @ vectors.T


# ------------------------------------------------------------------------ What all generators share


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
def test_same_seed_same_bits(make):
    first, second, other = make(random_state=3), make(random_state=3), make(random_state=4)
    for name, value in vars(first).items():
        np.testing.assert_array_equal(value, getattr(second, name), err_msg=name)
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
def test_random_state_instance_is_used_and_advanced(make):
    source = np.random.RandomState(3)
    first, second = make(random_state=source), make(random_state=source)
    np.testing.assert_array_equal(first.X, make(random_state=3).X)
    assert not np.array_equal(first.X, second.X)
    assert make(random_state=None).X.shape == first.X.shape


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
@pytest.mark.parametrize("seed", ["zero", 1.5, -1])
def test_bad_random_state_is_named(make, seed):
    with pytest.raises(ValueError, match=r"random_state=.*RandomState"):
        make(random_state=seed)


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
def test_results_are_frozen(make):
    with pytest.raises(FrozenInstanceError):
        make(random_state=0).X = None


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: make_hidden_square(1), ValueError, r"n_samples=1 .*>= 2"),
        (lambda: make_hidden_square(10.0), TypeError, r"n_samples must be an integer"),
        (lambda: make_hidden_square(10, 2), ValueError, r"n_features=2 .*>= 3"),
        (lambda: make_hidden_square(10, noise=-1), ValueError, r"noise=-1"),
        (lambda: make_hidden_square(10, spread=np.nan), ValueError, r"spread=nan"),
        (lambda: make_two_types(1), ValueError, r"n_samples=1"),
        (lambda: make_two_types(rho=1.1), ValueError, r"rho=1.1 .*sigma2=1.0"),
        (lambda: make_two_types(rho=-0.1), ValueError, r"rho=-0.1"),
        (lambda: make_two_types(rho="0.6"), TypeError, r"rho must be"),
        (lambda: make_two_types(sigma2=0), ValueError, r"sigma2=0"),
        (lambda: make_two_types(loading_sd=-1), ValueError, r"loading_sd=-1"),
        (lambda: make_two_types(shuffle="yes"), TypeError, r"shuffle must be True or False"),
        (lambda: make_two_types(borders=[0]), ValueError, r"borders=\[0\]"),
        (lambda: make_two_types(borders=[1, 5]), ValueError, r"borders=\[1, 5\].*start with 0"),
        (lambda: make_two_types(borders=[0, 5, 5]), ValueError, r"borders=.*increase"),
        (lambda: make_two_types(borders=[0, 2.5]), ValueError, r"borders=.*integers"),
        (lambda: make_two_types(borders=[[0, 2]]), ValueError, r"borders="),
        (lambda: make_curved_manifold(1), ValueError, r"n_samples=1"),
        (lambda: make_curved_manifold(n_clusters=2), ValueError, r"n_clusters=2 .*>= 3"),
        (lambda: make_curved_manifold(10, 4, n_clusters=5), ValueError, r"n_features=4 .*>= 5"),
        (lambda: make_curved_manifold(curvature=-1), ValueError, r"curvature=-1"),
        (lambda: make_curved_manifold(curvature=6.3), ValueError, r"curvature=6.3 .*overlap"),
        (lambda: make_curved_manifold(noise=np.inf), ValueError, r"noise=inf"),
        (lambda: make_curved_manifold(spread=-0.1), ValueError, r"spread=-0.1"),
    ],
)
def test_bad_arguments_are_named_with_what_is_allowed(call, error, match):
    with pytest.raises(error, match=match):
        call()


# ------------------------------------------------------------------------------------ Hidden square


def test_hidden_square_defaults_are_the_papers():
    square = make_hidden_square(random_state=0)
    assert square.X.shape == (500, 1200)
    np.testing.assert_array_equal(np.bincount(square.feature_labels), [400, 400, 400])
    np.testing.assert_allclose(square.X, square.hidden @ square.transformation.T, atol=1e-14)
    assert square.hidden.min() >= 0
    assert square.hidden.max() <= 1
    np.testing.assert_allclose(square.cluster_means, [[1 / 3, 1], [1 / 3, -1], [-1, -3]])


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_a_scatter_about_their_block_means_with_covariance_001(seed):
    square = make_hidden_square(10, 30_000, random_state=seed)
    for block, mean in enumerate(square.cluster_means):
        rows = square.transformation[square.feature_labels == block]
        np.testing.assert_allclose(rows.mean(axis=0), mean, atol=5 * 0.1 / np.sqrt(len(rows)))
        np.testing.assert_allclose(np.cov(rows.T), 0.01 * np.eye(2), atol=5 * 0.01 / 100)


def test_hidden_square_spread_and_noise_are_standard_deviations():
    exact = make_hidden_square(4, 9, spread=0.0, random_state=0)
    np.testing.assert_array_equal(exact.transformation, np.repeat(exact.cluster_means, 3, axis=0))
    noisy = make_hidden_square(2000, 30, noise=0.7, random_state=0)
    residual = noisy.X - noisy.hidden @ noisy.transformation.T
    assert residual.std() == pytest.approx(0.7, rel=0.02)


def test_hidden_coordinates_have_variance_one_twelfth():
    hidden = make_hidden_square(50_000, 3, random_state=0).hidden
    np.testing.assert_allclose(np.cov(hidden.T), np.eye(2) / 12, atol=2e-3)


def test_transformation_does_not_depend_on_the_number_of_samples():
    few, many = (make_hidden_square(n, 30, random_state=0) for n in (5, 50))
    np.testing.assert_array_equal(few.transformation, many.transformation)


@given(n_features=st.integers(3, 40))
@settings(max_examples=20, deadline=None)
def test_blocks_are_in_order_and_of_nearly_equal_size(n_features):
    labels = make_hidden_square(2, n_features, random_state=0).feature_labels
    sizes = np.bincount(labels, minlength=3)
    assert len(labels) == n_features
    assert sizes.max() - sizes.min() <= 1
    assert (np.diff(labels) >= 0).all()


# ---------------------------------------------------------------------------------------- Two types


def direct_covariance(toy):
    """Σ entry by entry from the model's definition, an independent way."""
    same = toy.feature_labels[:, None] == toy.feature_labels[None, :]
    within = np.where(same, toy.rho * np.outer(toy.loadings, toy.loadings), 0.0)
    within += (toy.sigma2 - toy.rho) * np.eye(len(same))
    gap = toy.mean_a - toy.mean_b
    return within + 0.25 * np.outer(gap, gap)


def test_two_types_defaults_are_the_papers():
    toy = make_two_types(shuffle=False, random_state=0)
    assert toy.X.shape == (100, 900)
    np.testing.assert_array_equal(toy.types, np.repeat([0, 1], 50))
    np.testing.assert_array_equal(
        np.bincount(toy.feature_labels),
        [50, 70, 70, 30, 65, 35, 35, 45, 70, 30, 45, 58, 39, 58, 35, 65, 50, 50],
    )
    assert toy.mean_a[0] == pytest.approx(5 + 5 * 0.2**4)
    assert toy.mean_a[-1] == pytest.approx(10)
    assert toy.mean_b[-1] == pytest.approx(0, abs=1e-12)
    # Cluster 5 has x = 0.2 + 5 · 0.8/17.
    assert toy.mean_b[300] == pytest.approx(5 - 5 * (0.2 + 4 / 17) ** 4)
    np.testing.assert_array_equal(toy.loadings, 1)
    assert (toy.rho, toy.sigma2) == (0.6, 1.0)


@pytest.mark.parametrize("n_samples", [7, 8])
def test_half_of_the_samples_is_of_each_type(n_samples):
    types = make_two_types(n_samples, borders=[0, 2], random_state=0).types
    np.testing.assert_array_equal(np.bincount(types), [n_samples - n_samples // 2, n_samples // 2])


def test_true_covariance_without_loadings_has_the_papers_blocks():
    toy = make_two_types(4, borders=[0, 2, 5], rho=0.3, sigma2=2.0, shuffle=False, random_state=0)
    gap = (toy.mean_a - toy.mean_b) / 2
    expected = np.outer(gap, gap)
    expected[:2, :2] += [[2, 0.3], [0.3, 2]]
    expected[2:, 2:] += [[2, 0.3, 0.3], [0.3, 2, 0.3], [0.3, 0.3, 2]]
    np.testing.assert_allclose(toy.covariance(), expected, atol=1e-14)


@pytest.mark.parametrize("loading_sd", [0.0, 0.6])
@pytest.mark.parametrize("shuffle", [False, True])
def test_sample_covariance_approaches_the_analytic_one(loading_sd, shuffle):
    toy = make_two_types(
        60_000, borders=[0, 3, 5, 9], loading_sd=loading_sd, shuffle=shuffle, random_state=1
    )
    truth = toy.covariance()
    np.testing.assert_allclose(truth, direct_covariance(toy), atol=1e-13)
    # The variance of an entry of the sample covariance is at most (s_ii s_jj + s_ij²)/n.
    scale = np.sqrt((np.outer(truth.diagonal(), truth.diagonal()) + truth**2) / len(toy.X))
    assert (np.abs(np.cov(toy.X.T) - truth) < 5 * scale).all()


@pytest.mark.parametrize("seed", range(3))
def test_each_type_has_its_mean_and_the_within_type_covariance(seed):
    toy = make_two_types(40_000, borders=[0, 3, 7], loading_sd=0.4, random_state=seed)
    gap = toy.mean_a - toy.mean_b
    within = toy.covariance() - 0.25 * np.outer(gap, gap)
    for kind, mean in enumerate((toy.mean_a, toy.mean_b)):
        sample = toy.X[toy.types == kind]
        error = np.sqrt(within.diagonal() / len(sample))
        assert (np.abs(sample.mean(axis=0) - mean) < 5 * error).all()
        np.testing.assert_allclose(np.cov(sample.T), within, atol=0.1)


@pytest.mark.parametrize(
    ("loading_sd", "shuffle", "borders"),
    [
        (0.6, True, None),  # The paper's 900 features.
        (0.0, True, range(0, 95, 5)),
        (0.0, False, [0, 4, 5, 9, *range(12, 57, 3)]),
        (0.6, False, range(0, 95, 5)),
    ],
)
def test_eigenpairs_agree_with_a_dense_decomposition(loading_sd, shuffle, borders):
    clusters = {} if borders is None else {"borders": list(borders)}
    toy = make_two_types(10, loading_sd=loading_sd, shuffle=shuffle, random_state=2, **clusters)
    n_features = toy.X.shape[1]
    values, vectors = np.linalg.eigh(direct_covariance(toy))
    values, vectors = values[::-1], vectors[:, ::-1]
    rank = 18 if loading_sd == 0 else 19
    np.testing.assert_allclose(toy.eigenvalues(n_features), values, rtol=1e-10)
    found = toy.eigenvectors(rank)
    np.testing.assert_allclose(found.T @ found, np.eye(rank), atol=1e-12)
    np.testing.assert_allclose(projector(found), projector(vectors[:, :rank]), atol=1e-10)
    residual = toy.covariance() @ found - found * toy.eigenvalues(rank)
    assert np.abs(residual).max() < 1e-10 * values[0]
    # The fewest that a gap in the spectrum sets apart.
    np.testing.assert_allclose(
        projector(toy.eigenvectors(1)), projector(vectors[:, :1]), atol=1e-10
    )
    with pytest.raises(ValueError, match=rf"n_components={rank + 1} .*1 to {rank}"):
        toy.eigenvectors(rank + 1)


def test_leading_eigenvectors_span_the_cluster_indicators():
    toy = make_two_types(10, random_state=0)
    indicator = np.eye(18)[toy.feature_labels]
    indicator /= np.linalg.norm(indicator, axis=0)
    np.testing.assert_allclose(projector(toy.eigenvectors(18)), projector(indicator), atol=1e-12)


def test_unequal_loadings_leave_the_span_of_the_indicators():
    toy = make_two_types(10, loading_sd=0.6, random_state=0)
    indicator = np.eye(18)[toy.feature_labels]
    indicator /= np.linalg.norm(indicator, axis=0)
    assert np.linalg.norm(projector(toy.eigenvectors(18)) - projector(indicator)) > 1
    assert toy.loadings.std() == pytest.approx(0.6, rel=0.1)
    assert toy.loadings.mean() == pytest.approx(1, abs=0.1)


@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    rho=st.floats(0, 1),
    loading_sd=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 100),
)
@settings(max_examples=60, deadline=None)
def test_spectrum_for_any_clusters_and_correlation(sizes, rho, loading_sd, seed):
    borders = np.concatenate([[0], np.cumsum(sizes)])
    toy = make_two_types(4, borders=borders, rho=rho, loading_sd=loading_sd, random_state=seed)
    expected = np.linalg.eigvalsh(direct_covariance(toy))[::-1]
    np.testing.assert_allclose(toy.eigenvalues(sum(sizes)), expected, atol=1e-8 * expected[0])
    first = toy.eigenvectors(1)[:, 0]
    assert first[np.argmax(np.abs(first))] > 0
    np.testing.assert_allclose(
        direct_covariance(toy) @ first, expected[0] * first, atol=1e-8 * expected[0]
    )


def test_bulk_vanishes_when_rho_is_sigma2():
    toy = make_two_types(6, borders=[0, 3, 6], rho=2.0, sigma2=2.0, random_state=0)
    assert toy.eigenvalues(6)[2:].max() < 1e-12
    for cluster in range(2):
        members = toy.X[:, toy.feature_labels == cluster]
        np.testing.assert_allclose(members, members[:, [0, 0, 0]])


def test_shuffling_permutes_everything_alike():
    ordered = make_two_types(12, borders=[0, 4, 9], loading_sd=0.5, shuffle=False, random_state=5)
    mixed = make_two_types(12, borders=[0, 4, 9], loading_sd=0.5, shuffle=True, random_state=5)
    # Loadings are distinct, so they tell where each feature went; rows are told by their values.
    columns = [int(np.flatnonzero(ordered.loadings == value)[0]) for value in mixed.loadings]
    rows = [int(np.flatnonzero(ordered.X[:, columns[0]] == value)[0]) for value in mixed.X[:, 0]]
    assert sorted(columns) == list(range(9))
    assert columns != sorted(columns)
    assert sorted(rows) == list(range(12))
    assert rows != sorted(rows)
    np.testing.assert_array_equal(mixed.X, ordered.X[np.ix_(rows, columns)])
    np.testing.assert_array_equal(mixed.types, ordered.types[rows])
    for name in ("feature_labels", "mean_a", "mean_b"):
        np.testing.assert_array_equal(getattr(mixed, name), getattr(ordered, name)[columns])
    np.testing.assert_allclose(
        mixed.covariance(), ordered.covariance()[np.ix_(columns, columns)], atol=1e-14
    )


@pytest.mark.parametrize("bad", [0, 901])
def test_number_of_eigenvalues_is_checked(bad):
    with pytest.raises(ValueError, match=rf"n_components={bad} .*from 1 to 900"):
        make_two_types(2, random_state=0).eigenvalues(bad)


# ---------------------------------------------------------------------------------- Curved manifold


def test_curved_manifold_is_what_it_says():
    sheet = make_curved_manifold(random_state=0)
    assert sheet.X.shape == (400, 600)
    assert sheet.hidden.shape == (400, 2)
    assert ((sheet.hidden >= 0) & (sheet.hidden <= 1)).all()
    np.testing.assert_array_equal(np.bincount(sheet.feature_labels), [200, 200, 200])
    residual = sheet.X - sheet.f(sheet.hidden)
    assert residual.std() == pytest.approx(sheet.noise, rel=0.01)
    assert abs(residual.mean()) < 0.01


@pytest.mark.parametrize("curvature", [0.0, 1e-9, 1.0, 4.0, 2 * np.pi])
def test_sheet_is_an_arc_that_keeps_lengths(curvature):
    sheet = make_curved_manifold(5, 3, curvature=curvature, random_state=0)
    line = np.column_stack([np.linspace(0, 1, 2001), np.full(2001, 0.3)])
    steps = np.linalg.norm(np.diff(sheet.surface(line), axis=0), axis=1)
    np.testing.assert_allclose(steps, 1 / 2000, rtol=1e-5)
    if curvature > 0.5:  # All points lie at the radius 1/κ from the axis.
        axis = np.array([0, 0.3, 1 / curvature])
        radii = np.linalg.norm(sheet.surface(line) - axis, axis=1)
        np.testing.assert_allclose(radii, 1 / curvature, rtol=1e-10)
    else:
        np.testing.assert_allclose(sheet.surface(line)[:, 2], 0, atol=1e-8)


@pytest.mark.parametrize("curvature", [0.0, 1.0, 4.0])
def test_jacobian_agrees_with_finite_differences(curvature):
    sheet = make_curved_manifold(30, 12, curvature=curvature, random_state=1)
    step = 1e-6
    for axis in range(2):
        shift = step * np.eye(2)[axis]
        difference = (sheet.f(sheet.hidden + shift) - sheet.f(sheet.hidden - shift)) / (2 * step)
        np.testing.assert_allclose(sheet.jacobian(sheet.hidden)[..., axis], difference, atol=1e-8)
    np.testing.assert_array_equal(sheet.jacobian(sheet.hidden[4]), sheet.jacobian(sheet.hidden)[4])
    np.testing.assert_allclose(sheet.f(sheet.hidden[4]), sheet.f(sheet.hidden)[4], atol=1e-14)


@pytest.mark.parametrize("n_clusters", [3, 5, 8])
def test_map_keeps_lengths_up_to_a_factor(n_clusters):
    sheet = make_curved_manifold(
        40, 40 * n_clusters, n_clusters=n_clusters, spread=0.0, random_state=0
    )
    jacobians = sheet.jacobian(sheet.hidden)
    metric = np.swapaxes(jacobians, 1, 2) @ jacobians
    half = 40 * n_clusters / 2
    np.testing.assert_allclose(metric, np.broadcast_to(half * np.eye(2), metric.shape), atol=1e-9)


def test_features_of_a_cluster_respond_alike():
    sheet = make_curved_manifold(50, 60, noise=0.0, random_state=0)
    centered = sheet.X - sheet.X.mean(axis=0)
    for cluster in range(3):
        members = centered[:, sheet.feature_labels == cluster]
        others = centered[:, sheet.feature_labels != cluster]
        center = members.mean(axis=1, keepdims=True)
        assert np.linalg.norm(members - center, axis=0).max() < np.min(
            np.linalg.norm(others - center, axis=0)
        )


def test_averaged_jacobian_metric_recovers_hidden_distance_to_fourth_order():
    """The expansion behind the local distance: halving a step divides the error by about 16."""
    sheet = make_curved_manifold(5, 30, noise=0.0, random_state=0)
    start, direction = np.array([0.3, 0.4]), np.array([0.8, 0.6])
    errors = []
    for step in (0.2, 0.1, 0.05):
        end = start + step * direction
        gap = sheet.f(end) - sheet.f(start)
        ends = [np.linalg.pinv(sheet.jacobian(x)) @ gap for x in (start, end)]
        errors.append(abs(0.5 * sum(moved @ moved for moved in ends) - step**2))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, 4, atol=0.2)


def local_distance_errors(sheet, sizes):
    """Error of local PCA distances between near points, by the definition, for each N."""
    squares = np.sum((sheet.X[:, None] - sheet.X[None, :]) ** 2, axis=-1)
    hidden = np.linalg.norm(sheet.hidden[:, None] - sheet.hidden[None, :], axis=-1)
    near = np.triu(hidden < 0.2, 1)
    errors = []
    for size in sizes:
        total = np.zeros_like(squares)
        for i, neighbors in enumerate(np.argsort(squares, axis=1)[:, :size]):
            _, singular, axes = np.linalg.svd(
                sheet.X[neighbors] - sheet.X[neighbors].mean(axis=0), full_matrices=False
            )
            projected = (sheet.X - sheet.X[i]) @ axes[:2].T / singular[:2] * np.sqrt(size - 1)
            total[i] = np.sum(projected**2, axis=1)
        found, truth = np.sqrt((total + total.T) / 2)[near], hidden[near]
        found *= found @ truth / (found @ found)
        errors.append(np.linalg.norm(found - truth) / np.linalg.norm(truth))
    return errors


@pytest.mark.parametrize("seed", range(2))
def test_local_distances_err_with_few_neighbours_and_with_many(seed):
    sheet = make_curved_manifold(110, 60, noise=0.15, random_state=seed)
    few, some, many = local_distance_errors(sheet, [5, 24, 100])
    assert some < 0.7 * few
    assert some < 0.9 * many


@pytest.mark.parametrize("bad", [0.5, [0.1, 0.2, 0.3]])
def test_points_must_have_two_coordinates(bad):
    sheet = make_curved_manifold(5, 6, random_state=0)
    for method in (sheet.f, sheet.jacobian, sheet.surface):
        with pytest.raises(ValueError, match="2 coordinates"):
            method(bad)


@pytest.mark.parametrize("curvature", [4.0, 1.0, 0.01])
def test_the_sheet_is_rolled_on_a_cylinder(curvature):
    """Arc length t on a circle of radius 1/κ: sin(κt)/κ along, (1 − cos κt)/κ above."""
    hidden = np.random.default_rng(0).uniform(-1, 1, size=(50, 2))
    t = hidden[:, 0]
    height = (1 - np.cos(curvature * t)) / curvature
    expected = [np.sin(curvature * t) / curvature, hidden[:, 1], height]
    np.testing.assert_allclose(_rolled(hidden, curvature), np.transpose(expected), atol=1e-12)


def test_a_sheet_without_curvature_is_flat():
    hidden = np.random.default_rng(0).uniform(-1, 1, size=(50, 2))
    np.testing.assert_allclose(_rolled(hidden, 0.0), np.column_stack([hidden, np.zeros(50)]))
