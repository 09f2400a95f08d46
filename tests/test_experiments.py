"""The experiments of the paper: their claims in small, and that a result survives saving."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform
from sklearn.cross_decomposition import CCA
from threadpoolctl import threadpool_limits

from informed.clusters import cluster_features
from informed.datasets import make_curved_manifold, make_risk_cohort, make_two_types, top_variance
from informed.diffusion import DiffusionMap
from informed.directions import exact_directions, pca_directions, subspace_error
from informed.experiments import (
    Table,
    canonical_correlations,
    cluster_count_error,
    covariance_stairs,
    direction_error,
    hidden_space,
    load_result,
    locality_tradeoff,
    neighborhood_sweep,
    risk_groups,
    type_embedding,
)
from informed.groups import bipartition
from informed.metrics import InformedMahalanobis, LocalInformedMahalanobis
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.locality import scaled_error
from informed.survival import compare_survival, log_rank_p_value

COHORT = make_risk_cohort(random_state=0)


@pytest.fixture(scope="module")
def square():
    return hidden_space(n_samples=200, n_features=300, n_repeats=3)


@pytest.fixture(scope="module")
def errors():
    return direction_error(sizes=(20, 60), n_repeats=3)


@pytest.fixture(scope="module")
def counts():
    return cluster_count_error(counts=(10, 18, 30), n_repeats=2, methods=("averaged", "exact"))


@pytest.fixture(scope="module")
def stairs():
    return covariance_stairs()


@pytest.fixture(scope="module")
def types():
    return type_embedding(n_repeats=4)


@pytest.fixture(scope="module")
def locality():
    return locality_tradeoff(sizes=(6, 24, 96), n_samples=150, n_features=90, n_repeats=2)


@pytest.fixture(scope="module")
def risk():
    return risk_groups(COHORT, n_repeats=2)


@pytest.fixture(scope="module")
def sweep():
    return neighborhood_sweep(COHORT, sizes=(12, 20, 40), n_repeats=2)


ALL = ["square", "errors", "counts", "stairs", "types", "locality", "risk", "sweep"]


# --- what the paper claims


def test_mahalanobis_finds_the_hidden_square_and_euclid_does_not(square):
    euclidean, pca, informed = range(3)
    assert square.methods == ("euclidean", "pca", "informed")
    assert np.all(square.correlations[[pca, informed]] > 0.98)
    assert np.all(square.correlations[euclidean] < 0.9)
    assert np.all(square.recovery[[pca, informed]] > 0.97)
    assert np.all(square.recovery[euclidean] < 0.5)


def test_the_recovered_scale_is_that_of_a_uniform_variable(square):
    """Erratum 5: variance 1/12, so the slope is √12 and not 1."""
    assert_allclose(square.slopes[1:].mean(axis=1), np.sqrt(12), rtol=0.1)


def test_hidden_space_reports_the_distances_of_its_first_repeat(square):
    assert_allclose(pdist(square.hidden), square.hidden_distances)
    for i, method in enumerate(square.methods):
        correlation = np.corrcoef(square.distances[method], square.hidden_distances)[0, 1]
        assert square.correlations[i, 0] == pytest.approx(correlation)


def test_informed_directions_err_less_than_pca_and_known_clusters_not_at_all(errors):
    by_method = dict(zip(errors.methods, errors.e_fro, strict=True))
    for method in (
        "averaged, k-means",
        "gradient, k-means",
        "exact, k-means",
        "penalized, k-means",
    ):
        assert np.all(by_method[method] < by_method["pca"])
    assert by_method["exact, known"].max() < 1e-10
    assert errors.e_two[errors.methods.index("exact, known")].max() < 1e-10
    # The paper's iteration, stopped after 200 steps, is not there yet.
    assert by_method["gradient, known"].min() > 1e-3


def test_direction_error_is_the_distance_of_the_projectors(errors):
    seed = seeds(0, 6)[0]
    data = make_two_types(20, random_state=seed)
    truth = data.eigenvectors(18)
    U = pca_directions(data.X, 18).directions
    explicit = np.linalg.norm(truth @ truth.T - U @ U.T)
    assert errors.e_fro[0, 0, 0] == pytest.approx(explicit)
    labels = cluster_features(data.X, 18, random_state=seed)
    U = exact_directions(data.X, labels, 18).directions
    at = errors.methods.index("exact, k-means")
    assert errors.e_fro[at, 0, 0] == pytest.approx(subspace_error(truth, U))


def test_too_few_clusters_cannot_hold_all_directions(counts):
    at = counts.methods.index("exact, k-means")
    # Ten directions against eighteen: at least √8 apart.
    assert counts.e_fro[at, 0].min() > np.sqrt(8) - 1e-6
    assert counts.e_fro[at, 1].mean() < counts.e_fro[at, 0].mean()


def test_informed_stairs_are_flat(stairs):
    rows = {row["covariance"]: row for row in stairs.table.as_dicts()}
    assert rows["informed"]["noise on stairs"] < 0.05 * rows["pca"]["noise on stairs"]
    assert rows["informed"]["relative error"] < rows["pca"]["relative error"]
    true = stairs.covariances["true"]
    # The stairs are those of C + ¼(μ_A − μ_B)(μ_A − μ_B)ᵀ with the paper's numbers.
    x = np.linspace(0.2, 1, 18)
    assert true[899, 898] == pytest.approx(0.6 + 25 * x[17] ** 8)
    assert true[899, 0] == pytest.approx(25 * x[17] ** 4 * x[0] ** 4)


def test_the_separation_of_types_comes_from_pca_variances(types):
    mean = dict(zip(types.methods, types.agreement.mean(axis=1), strict=True))
    assert mean["informed"] >= 0.95
    assert mean["pca"] < 0.8
    assert mean["informed, own variances"] < 0.85
    assert mean["euclidean"] >= 0.95
    svm = dict(zip(types.methods, types.svm.mean(axis=1), strict=True))
    assert svm["informed"] > svm["pca"]
    for method, agreement in zip(types.methods, types.agreement[:, 0], strict=True):
        right = np.mean((types.embeddings[method][:, 0] > 0) == types.types)
        assert agreement == max(right, 1 - right)


def test_type_embedding_follows_the_authors_kernel(types):
    seed = seeds(0, 4)[0]
    data = make_two_types(100, random_state=seed)
    metric = InformedMahalanobis(17, 18, random_state=seed).fit(data.X)
    d = metric.pairwise_distances(data.X)
    s = np.median(squareform(d, checks=False))
    embedding = DiffusionMap(2, epsilon=2 * s**2, metric="precomputed").fit_transform(d)
    assert_allclose(types.embeddings["informed"], embedding, atol=1e-6)
    agreement = np.mean(bipartition(embedding) == data.types)
    assert types.agreement[2, 0] == max(agreement, 1 - agreement)


def test_small_neighbourhoods_are_where_clusters_help(locality):
    local_pca, informed = locality.errors
    assert np.all(informed[0] < 0.8 * local_pca[0])
    assert_allclose(informed[-1], local_pca[-1], rtol=0.1)
    assert locality.best_sizes[1] <= locality.best_sizes[0]


def test_locality_errors_by_hand(locality):
    seed = seeds(0, 2)[0]
    data = make_curved_manifold(150, 90, random_state=seed)
    hidden = pdist(data.hidden)
    d = LocalInformedMahalanobis(24, 2, 3, n_init=3, random_state=seed).fit(data.X)
    near = hidden < 0.25
    observed = squareform(d.pairwise_distances(), checks=False)[near]
    best = min(
        np.linalg.norm(s * observed - hidden[near]) / np.linalg.norm(hidden[near])
        for s in np.linspace(0, 2, 20001) * (hidden[near] @ observed) / (observed @ observed)
    )
    assert locality.errors[1, 1, 0] == pytest.approx(best, rel=1e-6)


def test_scaled_error_does_not_depend_on_the_scale():
    rng = np.random.default_rng(0)
    a, b = rng.uniform(size=(2, 50))
    assert scaled_error(7 * a, b) == pytest.approx(scaled_error(a, b))


def test_canonical_correlations_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((80, 2))
    B = A @ rng.standard_normal((2, 2)) + rng.standard_normal((80, 2))
    a, b = CCA(2, max_iter=5000, tol=1e-12).fit_transform(A, B)
    expected = [np.corrcoef(a[:, i], b[:, i])[0, 1] for i in range(2)]
    assert_allclose(canonical_correlations(A, B), expected, atol=1e-5)


# --- risk groups


def test_risk_groups_follow_the_paper_step_by_step(risk):
    X = top_variance(COHORT.X, 200)
    assert_array_equal(risk.expression, X)
    d = squareform(pdist(X))
    embedding = DiffusionMap(2, scale=2.0, metric="precomputed").fit_transform(d)
    groups = bipartition(embedding)
    assert_array_equal(risk.groups["euclidean"][0], groups)
    expected = compare_survival(COHORT.durations, COHORT.events, groups).p_value
    assert risk.p_values["euclidean"][0] == pytest.approx(expected)
    local = LocalInformedMahalanobis(20, 6, directions="pca").fit(X)
    embedding = DiffusionMap(2, scale=2.0, metric="precomputed").fit_transform(
        local.pairwise_distances()
    )
    assert_array_equal(risk.groups["local pca"][0], bipartition(embedding))
    local = LocalInformedMahalanobis(20, 6, 7, random_state=seeds(0, 2)[1]).fit(X)
    embedding = DiffusionMap(2, scale=2.0, metric="precomputed").fit_transform(
        local.pairwise_distances()
    )
    assert_array_equal(risk.groups["informed"][1], bipartition(embedding))


def test_survival_of_a_result_is_that_of_its_groups(risk):
    comparison = risk.survival("informed")
    assert comparison.p_value == pytest.approx(risk.p_values["informed"][0])
    with pytest.raises(ValueError, match="method='best' is unknown"):
        risk.survival("best")


def test_late_deaths_are_censored_or_dropped():
    horizon = float(np.quantile(COHORT.durations[COHORT.events == 1], 0.6))
    late = (COHORT.events == 1) & (COHORT.durations > horizon)
    assert late.sum() > 3
    settings = {"n_repeats": 1, "horizon": horizon}
    censored = risk_groups(COHORT, **settings)
    assert censored.kept.all()
    assert censored.events.sum() == COHORT.events.sum() - late.sum()
    assert censored.durations.max() <= horizon
    dropped = risk_groups(COHORT, late_deaths="drop", **settings)
    assert_array_equal(dropped.kept, ~late)
    assert len(dropped.durations) == len(COHORT.X) - late.sum()
    p = log_rank_p_value(dropped.durations, dropped.events, dropped.groups["euclidean"][0][~late])
    assert dropped.p_values["euclidean"][0] == pytest.approx(p)


def test_skip_leaves_out_the_most_variable_genes():
    result = risk_groups(COHORT, n_genes=50, skip=1, n_repeats=1)
    order = np.argsort(-COHORT.X.std(axis=0), kind="stable")
    assert_array_equal(result.expression, COHORT.X[:, order[1:51]])


def test_the_sweep_repeats_risk_groups(sweep, risk):
    at = list(sweep.sizes).index(20)
    assert sweep.p_local_pca[at] == risk.p_values["local pca"][0]
    assert_array_equal(sweep.p_informed[at], risk.p_values["informed"])
    assert sweep.p_euclidean == risk.p_values["euclidean"][0]


@pytest.mark.parametrize(
    ("proposed", "marks"),
    [((), ["", "", ""]), ((20, 40), ["", "*", "*"]), ((12, 12), ["*", "", ""])],
)
def test_the_table_of_the_sweep_marks_the_proposed_sizes_only(sweep, proposed, marks):
    table = dataclasses.replace(sweep, proposed=proposed).table
    assert [row["proposed"] for row in table.as_dicts()] == marks


# --- the same, saved, printed


@pytest.mark.parametrize("name", ALL)
def test_a_result_prints_a_table_and_survives_saving(name, request, tmp_path):
    result = request.getfixturevalue(name)
    text = str(result)
    assert len(text.splitlines()) >= 4
    assert result._repr_html_().count("<tr>") == len(result.table.rows) + 1
    npz, plain = result.save(tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([npz.name, plain.name])
    loaded = load_result(tmp_path / name)
    assert type(loaded) is type(result)
    assert str(loaded) == text
    for field in dataclasses.fields(result):
        before, after = getattr(result, field.name), getattr(loaded, field.name)
        if isinstance(before, dict):
            assert list(before) == list(after)
            for key in before:
                assert_array_equal(before[key], after[key])
        elif isinstance(before, np.ndarray):
            assert_array_equal(before, after)
            assert before.dtype == after.dtype
        else:
            assert before == after


def test_loading_never_unpickles(square, tmp_path):
    square.save(tmp_path / "r")
    evil = np.array([{"not": "data"}], dtype=object)
    np.savez(tmp_path / "r.npz", hidden=evil)
    with pytest.raises(ValueError, match="allow_pickle"):
        load_result(tmp_path / "r")


def test_an_unknown_kind_of_result_is_refused(square, tmp_path):
    _, plain = square.save(tmp_path / "r")
    plain.write_text(json.dumps({"result": "Other", "fields": {}}))
    with pytest.raises(ValueError, match="kind 'Other'"):
        load_result(tmp_path / "r")


def test_an_interrupted_save_leaves_no_file(square, tmp_path, monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", stop)
    with pytest.raises(KeyboardInterrupt):
        square.save(tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


def test_a_result_with_a_field_that_json_cannot_hold_is_refused(square, tmp_path):
    odd = dataclasses.replace(square, methods=(object(),))
    with pytest.raises(TypeError, match="cannot save"):
        odd.save(tmp_path / "r")


def test_numbers_stand_on_the_right_unless_their_column_holds_a_word():
    table = Table(("n", "mixed"), [(1, 2), (100, "none")])
    assert str(table).splitlines() == ["  n  mixed", "---  -----", "  1  2", "100  none"]


def test_table_escapes_html():
    assert "<b>" not in Table(("<b>",), [("<b>",)])._repr_html_()


@pytest.mark.parametrize(
    "run",
    [
        lambda n: hidden_space(n_samples=80, n_features=60, n_repeats=2, n_jobs=n).distances["pca"],
        lambda n: direction_error(sizes=(20,), n_repeats=2, n_jobs=n).e_fro,
        lambda n: type_embedding(n_samples=40, n_repeats=2, n_jobs=n).embeddings["informed"],
        lambda n: neighborhood_sweep(COHORT, sizes=(12,), n_repeats=2, n_jobs=n).p_informed,
        lambda n: (
            locality_tradeoff(
                sizes=(12,), n_samples=60, n_features=30, n_repeats=1, n_jobs=n
            ).errors
        ),
    ],
)
def test_same_seed_same_bits_for_any_number_of_workers_and_threads(run):
    with threadpool_limits(1):
        one = run(1)
    with threadpool_limits(2):
        two = run(2)
    assert_array_equal(one, two)


def test_seeds_change_the_result():
    first = direction_error(sizes=(20,), n_repeats=1, methods=(), random_state=0)
    second = direction_error(sizes=(20,), n_repeats=1, methods=(), random_state=1)
    assert first.e_fro[0, 0, 0] != second.e_fro[0, 0, 0]


def test_progress_bar_on_request(capfd):
    run_tasks(int, [("1",), ("2",)], verbose=True, label="counting")
    assert "counting" in capfd.readouterr().err
    run_tasks(int, [("1",)])
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hidden_space(n_fit=600), "n_fit=600 is out of range"),
        (lambda: hidden_space(n_repeats=0), "n_repeats=0"),
        (lambda: direction_error(sizes=(10,)), "sizes=10 is out of range"),
        (lambda: direction_error(sizes=()), "n_samples are empty"),
        (lambda: direction_error(methods=("magic",)), "methods='magic' is unknown"),
        (lambda: cluster_count_error(counts=(0,)), "counts=0"),
        (lambda: covariance_stairs(section=900), "section=900"),
        (lambda: covariance_stairs(zoom=(800, 700)), "zoom=700"),
        (lambda: type_embedding(n_samples=10), "n_samples=10"),
        (lambda: locality_tradeoff(sizes=(2,)), "sizes=2"),
        (lambda: locality_tradeoff(sizes=()), "sizes is empty"),
        (lambda: locality_tradeoff(reach=0.0), "reach=0.0"),
        (lambda: risk_groups(COHORT, late_deaths="hide"), "late_deaths='hide'"),
        (lambda: risk_groups(COHORT, n_genes=500), "500"),
        (lambda: neighborhood_sweep(COHORT, sizes=(100,)), "sizes=100"),
        (lambda: neighborhood_sweep(COHORT, sizes=()), "sizes is empty"),
    ],
)
def test_bad_input_is_refused_before_any_work(call, message):
    with pytest.raises(ValueError, match=message):
        call()
