"""The comparison with rivals: each against scikit-learn, nothing seen that should not be."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.cluster import FeatureAgglomeration
from sklearn.covariance import LedoitWolf
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import informed
from informed import InformedMahalanobis, plots
from informed.datasets import make_two_types
from informed.metrics import spiked_covariance
from informed.studies.cli import main
from informed.studies.experiments import comparison as module
from informed.studies.experiments import load_result, rivals
from informed.studies.experiments.embeddings import (
    DENSITIES,
    Setting,
    coordinates,
    log_likelihoods,
)
from informed.teaching.assessment.items import Draw

TOY = make_two_types(48, random_state=0)
X = TOY.X[:, ::30]
WINE, CULTIVARS = load_wine(return_X_y=True)


def views(method, train=X[:30], other=X[30:]):
    return {setting: (a, b) for setting, a, b in coordinates(method, train, other, 0)}


def same_distances(ours, theirs):
    assert_allclose(pdist(ours), pdist(theirs), rtol=1e-8)


# --------------------------------------------------------------------------------------- the rivals


def test_what_is_left_of_the_variance_is_a_share_whatever_the_scale() -> None:
    X = np.random.default_rng(0).normal(size=(20, 2)) @ np.eye(2, 5) + 1.0
    for scale in (1e-6, 1.0, 1e6):
        with pytest.raises(ValueError, match="leaves no variance across"):
            spiked_covariance(scale * X, 2)
        assert np.isfinite(spiked_covariance(scale * X, 1).score(scale * X))


def test_euclidean_coordinates_are_the_samples():
    same_distances(views("euclidean")[Setting()][1], X[30:])


@pytest.mark.parametrize(("method", "whiten"), [("pca", False), ("whitened pca", True)])
def test_pca_is_that_of_scikit_learn(method, whiten):
    for setting, (_, ours) in views(method).items():
        theirs = PCA(setting.d, whiten=whiten, svd_solver="full").fit(X[:30])
        same_distances(ours, theirs.transform(X[30:]))


def test_shrunk_pca_is_the_metric_with_shrunk_variances():
    for setting, (_, ours) in views("shrunk pca").items():
        metric = InformedMahalanobis(setting.d, directions="pca", variances="shrunk").fit(X[:30])
        same_distances(ours, metric.transform(X[30:]))


def test_agglomeration_is_that_of_scikit_learn():
    for setting, (_, ours) in views("agglomeration").items():
        theirs = FeatureAgglomeration(setting.K).fit(X[:30])
        same_distances(ours, theirs.transform(X[30:]))
    for setting, (_, ours) in views("agglomeration + pca").items():
        pooling = FeatureAgglomeration(setting.K).fit(X[:30])
        whiten = setting.variances == "own"
        theirs = PCA(setting.d, whiten=whiten, svd_solver="full").fit(pooling.transform(X[:30]))
        same_distances(ours, theirs.transform(pooling.transform(X[30:])))


@pytest.mark.parametrize("features", [30, 12])
def test_ledoit_wolf_is_that_of_scikit_learn(features):
    train, other = X[:30, :features], X[30:, :features]
    theirs = LedoitWolf().fit(train)
    factor = np.linalg.cholesky(theirs.precision_)
    same_distances(views("ledoit-wolf", train, other)[Setting()][1], other @ factor)
    score = dict(log_likelihoods("ledoit-wolf", train, other, 0))[Setting()]
    assert score == pytest.approx(theirs.score(other))


def test_informed_is_the_estimator():
    metrics = views("informed")
    assert {setting.clustering for setting in metrics} == {"kmeans", "ward"}
    scores = dict(log_likelihoods("informed", X[:30], X[30:], 0))
    for setting in list(metrics)[::7]:
        metric = InformedMahalanobis(
            setting.d,
            setting.K,
            clustering=setting.clustering,
            variances=setting.variances,
            n_init=3,
            random_state=0,
        ).fit(X[:30])
        same_distances(metrics[setting][1], metric.transform(X[30:]))
        assert scores[setting] == pytest.approx(metric.score(X[30:]))


def test_densities_are_those_of_fitted_models():
    for setting, score in log_likelihoods("pca", X[:30], X[30:], 0):
        assert score == pytest.approx(spiked_covariance(X[:30], setting.d).score(X[30:]))
    (noise,) = (score for _, score in log_likelihoods("euclidean", X[:30], X[30:], 0))
    variance = X[:30].var(axis=0, ddof=1).mean()
    squares = ((X[30:] - X[:30].mean(axis=0)) ** 2).sum(axis=1).mean()
    expected = -0.5 * (30 * np.log(2 * np.pi * variance) + squares / variance)
    assert noise == pytest.approx(expected)
    for setting, score in log_likelihoods("agglomeration", X[:30], X[30:], 0):
        labels = FeatureAgglomeration(setting.K).fit(X[:30]).labels_
        if setting.K < 29:
            model = spiked_covariance(X[:30], setting.K, labels)
            assert score == pytest.approx(model.score(X[30:]))


# ------------------------------------------------------------------------------------- the protocol


def test_votes_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    train, other = rng.normal(size=(40, 3)), rng.normal(size=(15, 3))
    y, truth = rng.integers(0, 4, size=40), rng.integers(0, 4, size=15)
    for k in module.NEIGHBOR_COUNTS:
        model = KNeighborsClassifier(k).fit(train, y)
        found = y[model.kneighbors(other, return_distance=False)]
        assert module._score(found, truth, "classes") == model.score(other, truth)
        numbers = KNeighborsRegressor(k).fit(train, y.astype(float))
        found = y[numbers.kneighbors(other, return_distance=False)].astype(float)
        expected = numbers.score(other, truth.astype(float))
        assert module._score(found, truth, "numbers") == pytest.approx(expected)


def test_test_samples_take_no_part_in_any_choice():
    """A method must choose the same whatever the test samples are."""
    rng = np.random.default_rng(0)
    train, test = np.arange(36), np.arange(36, 48)
    changed = X.copy()
    changed[test] = rng.normal(size=(12, X.shape[1]))
    for kind, target in (("classes", TOY.types), ("none", None)):
        names = ("shrunk pca", "agglomeration + pca", "informed")
        chosen = [
            module._judge(data, target, kind, names, train, test, 0)[2] for data in (X, changed)
        ]
        assert chosen[0] == chosen[1]


@pytest.mark.parametrize("seed", range(3))
def test_what_was_chosen_is_told_of_each_method(seed):
    order = np.random.default_rng(seed).permutation(len(WINE))
    train, test = order[:60], order[60:90]
    methods = ("euclidean", "pca")
    told = module._judge(WINE, CULTIVARS, "classes", methods, train, test, seed)[2]
    folds = list(KFold(module.N_INNER_FOLDS, shuffle=True, random_state=seed).split(train))
    accuracy = {
        f"k = {k}": np.mean(
            [
                KNeighborsClassifier(k)
                .fit(WINE[train[fit]], CULTIVARS[train[fit]])
                .score(WINE[train[held_out]], CULTIVARS[train[held_out]])
                for fit, held_out in folds
            ]
        )
        for k in module.NEIGHBOR_COUNTS
    }
    assert accuracy[told[0]] == pytest.approx(max(accuracy.values()))
    assert re.fullmatch(r"d = \d+, k = \d+", told[1])
    told = module._judge(WINE, None, "none", methods, train, test, seed)[2]
    assert told[0] == "–"
    assert re.fullmatch(r"d = \d+", told[1])


def test_classes_of_the_toy_and_their_shuffle():
    right = informed.compare(X, TOY.types, methods=["pca", "informed"], n_splits=3)
    assert right.methods == ("euclidean", "pca", "informed")
    assert right.scores.min() > 0.8
    shuffled = np.random.default_rng(1).permutation(TOY.types)
    wrong = informed.compare(X, shuffled, methods=["pca"], n_splits=6)
    assert abs(wrong.scores.mean() - 0.5) < 0.15


def test_same_seed_same_result_whatever_the_workers():
    one, two = (
        informed.compare(X, TOY.types, methods=["pca"], n_splits=2, n_jobs=n) for n in (1, 2)
    )
    assert_array_equal(one.scores, two.scores)
    assert_array_equal(one.stability, two.stability)
    assert one.settings == two.settings


def test_numbers_names_and_likelihood():
    hidden = X @ np.random.default_rng(0).normal(size=30)
    numbers = informed.compare(X, hidden, methods=["pca"], n_splits=2)
    assert (numbers.task, numbers.measure) == ("numbers", "R² of nearest neighbours")
    names = np.array(["luminal", "basal"])[TOY.types.astype(int)]
    named = informed.compare(X, names, methods=["pca"], n_splits=2)
    plain = informed.compare(X, TOY.types, methods=["pca"], n_splits=2)
    assert named.task == plain.task == "classes"
    densities = informed.compare(X, n_splits=2)
    assert densities.methods == DENSITIES
    assert densities.differences("agglomeration + pca").mean() > 0
    assert densities.differences("informed").mean() > 0
    assert np.all(densities.stability[np.isfinite(densities.stability)] <= 1 + 1e-12)


def test_the_item_on_splits_takes_the_rule_of_the_code():
    # A quarter is held out: one test sample for three training samples.
    path = Path(__file__).resolve().parent.parent / "course" / "items" / "other-uses.py"
    item = runpy.run_path(str(path))["error_of_splits"](Draw("any", "splits"))
    n_splits = int(re.search(r"In (\d+) random splits a quarter", item.text)[1])
    deviation = float(re.search(r"standard deviation of ([\d.]+)", item.text)[1])
    ups_and_downs = np.resize([1.0, -1.0], n_splits)
    differences = deviation * ups_and_downs / ups_and_downs.std(ddof=1)
    assert module.TEST_SHARE == 0.25
    made = module.Comparison(
        task="classes",
        methods=("euclidean", "pca"),
        scores=np.vstack([np.zeros(n_splits), differences]),
        stability=np.ones((2, n_splits)),
        settings=("", ""),
        n_samples=100,
        n_features=5,
        n_train=75,
    )
    assert made.standard_error("pca") == pytest.approx(item.answer)


def test_standard_error_is_corrected_for_overlap():
    result = informed.compare(WINE[::2], CULTIVARS[::2], methods=["pca"], n_splits=4)
    differences = result.scores[1] - result.scores[0]
    train = result.n_train
    expected = np.sqrt(differences.var(ddof=1) * (1 / 4 + (89 - train) / train))
    assert result.standard_error("pca") == pytest.approx(expected)
    with pytest.raises(ValueError, match="method='lda' is unknown"):
        result.differences("lda")


def test_result_prints_plots_and_saves(tmp_path):
    result = informed.compare(WINE[::3], CULTIVARS[::3], methods=["pca", "informed"], n_splits=2)
    assert str(result).startswith("accuracy of nearest neighbours, 2 splits of 60 samples (45 to")
    assert [row["method"] for row in result.table.as_dicts()] == list(result.methods)
    figure = result.plot()
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["PCA", "informed"]
    result.save(tmp_path / "wine")
    again = load_result(tmp_path / "wine")
    assert str(again) == str(result)
    assert plots.comparison(again).axes[0].get_xlabel() == figure.axes[0].get_xlabel()


def test_features_that_do_not_vary_are_left_out():
    wide = np.column_stack([X, np.full(48, 3.0), np.arange(48) == 0])
    result = informed.compare(wide, TOY.types, methods=["ledoit-wolf", "informed"], n_splits=2)
    assert np.isfinite(result.scores).all()
    assert np.isfinite(informed.compare(wide, n_splits=2).scores).all()


# ---------------------------------------------------------------------------- tables of the book

RESULTS = Path(__file__).resolve().parent.parent / "book" / "results"


def test_the_stored_table_of_rivals():
    stored = load_result(RESULTS / "rival_study")
    assert stored.data_names == rivals.RIVAL_DATA
    again = informed.compare(*rivals._load("wine"), methods=["pca"], n_splits=5)
    wine = stored.comparison("wine")
    for method in ("euclidean", "pca"):
        assert_allclose(
            again.scores[again.methods.index(method)], wine.scores[wine.methods.index(method)]
        )
    # What the chapter says: ahead of Euclidean nowhere, of shrunk PCA in no likelihood.
    for name in rivals.RIVAL_DATA[:3]:
        assert stored.comparison(name).differences("informed").mean() < 0.005
    for name in rivals.RIVAL_DATA[3:]:
        assert stored.comparison(name).differences("informed", "shrunk pca").mean() < 0


def test_the_stored_table_of_gene_expression():
    stored = load_result(RESULTS / "rival_study_genes")
    assert stored.data_names == ("Khan", "NCI60", "PBMC")
    assert stored.n_samples.tolist() == [83, 57, 144]
    # What the chapter says: behind the Euclidean distance in all three, PCA within one error.
    for name in stored.data_names:
        result = stored.comparison(name)
        assert result.differences("informed").mean() < 0
        assert abs(result.differences("pca").mean()) < result.standard_error("pca")
    if importlib.util.find_spec("ISLP") is None:
        return
    again = informed.compare(*rivals._load("Khan"), methods=["pca"], n_splits=5)
    assert_allclose(again.scores, stored.comparison("Khan").scores[:2])


def test_of_package_data_the_features_that_vary_most_are_kept(monkeypatch):
    made = np.random.default_rng(0).normal(size=(30, 8)) * [1, 9, 2, 8, 3, 7, 4, 6]
    kinds = np.arange(30) % 3
    monkeypatch.setattr(rivals, "read_package_data", lambda name: (made, kinds))
    monkeypatch.setattr(rivals, "N_GENES", 4)
    monkeypatch.setattr(rivals, "N_SAMPLES", 24)
    found, classes = rivals._load("Khan")
    rows = [int(np.flatnonzero(made[:, 1] == value)[0]) for value in found[:, 0]]
    assert len(set(rows)) == 24
    assert_array_equal(found, made[rows][:, [1, 3, 5, 7]])
    assert_array_equal(classes, kinds[rows])


def test_rivals_of_one_data_set(monkeypatch):
    monkeypatch.setattr(rivals, "_load", lambda name: (WINE[::4], CULTIVARS[::4]))
    study = rivals.rival_study(data_names=["wine"], n_splits=2)
    assert study.table.header == ("above Euclidean", "wine")
    assert plots.rival_study(study).axes[0].get_title() == "wine"
    with pytest.raises(ValueError, match="data_names is empty"):
        rivals.rival_study(data_names=[])


# ---------------------------------------------------------------------------------------- bad input

Y = np.arange(48) % 2
BAD = [
    ((X[:10],), {}, ValueError, "X must .* at least 16 row"),
    ((np.where(X[0, 0] == X, np.nan, X),), {}, ValueError, "X contains NaN"),
    ((X.astype(str),), {}, ValueError, "X must .* text"),
    ((np.ones((20, 4)),), {}, ValueError, "X is constant"),
    ((X, Y[:-1]), {}, ValueError, r"y has shape \(47,\): .* each of the 48 samples"),
    ((X, np.column_stack([Y, Y])), {}, ValueError, r"y has shape \(48, 2\)"),
    ((X, np.zeros(48)), {}, ValueError, "y holds one class only"),
    ((X, np.where(np.arange(48) < 3, 1, 0)), {}, ValueError, "class '1' of y has 3 samples"),
    ((X, np.arange(48)), {}, ValueError, "has 1 samples: each class .* task='numbers'"),
    ((X, np.where(Y, np.nan, 0.5)), {}, ValueError, "y contains NaN or infinity"),
    ((X, [None, *Y[1:]]), {}, TypeError, "y must hold names or numbers, not both"),
    ((X, 1j * Y), {}, TypeError, "y must hold classes or numbers, got .* complex128"),
    ((X, np.full(48, "a")), {"task": "numbers"}, TypeError, "y holds names"),
    ((X, np.zeros(48)), {"task": "numbers"}, ValueError, "y is constant"),
    ((X, Y), {"task": "ranks"}, ValueError, "task='ranks' is unknown"),
    ((X, Y), {"methods": "pca"}, TypeError, "methods must be a list of names"),
    ((X, Y), {"methods": ["lda"]}, ValueError, "methods='lda' is unknown"),
    ((X,), {"methods": ["whitened pca"]}, ValueError, "methods='whitened pca' is unknown"),
    ((X, Y), {"n_splits": 1}, ValueError, "n_splits=1 is out of range"),
    ((X, Y), {"n_splits": 2.0}, TypeError, "n_splits must be"),
]


@pytest.mark.parametrize(("arguments", "options", "error", "message"), BAD)
def test_bad_input(arguments, options, error, message, monkeypatch):
    monkeypatch.setattr(module, "run_tasks", lambda *args, **kwargs: pytest.fail("work was done"))
    with pytest.raises(error, match=f"(?s){message}"):
        informed.compare(*arguments, **options)


# --------------------------------------------------------------------------------- the command line


def written(path, rows, header):
    path.write_text("\n".join([header, *rows]) + "\n")
    return str(path)


@pytest.fixture
def wine(tmp_path):
    names = [f"c{j}" for j in range(13)]
    rows = [
        ",".join([f"wine {k}", "ABC"[y], *map(repr, map(float, x))])
        for k, (x, y) in enumerate(zip(WINE[::3], CULTIVARS[::3], strict=True))
    ]
    return written(tmp_path / "wine.csv", rows, ",".join(["bottle", "cultivar", *names]))


def test_command_compares_by_a_column_of_text(wine, tmp_path, capsys):
    out = tmp_path / "out"
    words = ["--target", "cultivar", "--n-splits", "2", "--quiet", "--out", str(out)]
    words += ["--methods", "pca,agglomeration + pca"]
    assert main(["compare", wine, *words]) == 0
    said = capsys.readouterr().out
    assert "60 samples, 13 features" in said
    expected = informed.compare(
        WINE[::3],
        np.array(list("ABC"))[CULTIVARS[::3]],
        methods=["pca", "agglomeration + pca"],
        n_splits=2,
        random_state=0,
    )
    assert str(expected) in said
    assert (out / "comparison-comparison.png").read_bytes().startswith(b"\x89PNG")
    assert_array_equal(load_result(out / "comparison").scores, expected.scores)


def test_command_without_a_target_and_as_json(wine, capsys):
    assert (
        main(["compare", wine, "--drop", "cultivar", "--n-splits", "2", "--quiet", "--json"]) == 0
    )
    rows = json.loads(capsys.readouterr().out)
    assert [row["method"] for row in rows] == list(DENSITIES)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--target", "colour"], "--target='colour' is no column"),
        ([], "column(s) ['cultivar'] hold text"),
        (["--target", "c0", "--drop", "cultivar", "--task", "classes"], "each class must have"),
        (["--target", "cultivar", "--task", "numbers"], "y holds names"),
        (["--target", "cultivar", "--n-splits", "0"], "n_splits=0 is out of range"),
    ],
)
def test_command_refuses(wine, words, message, capsys):
    assert main(["compare", wine, *words]) == 2
    assert message in capsys.readouterr().err


def test_command_refuses_gaps_in_the_target(tmp_path, capsys):
    rows = [f"{'' if k == 3 else 'AB'[k % 2]},{k % 7},{k % 5}.5" for k in range(20)]
    table = written(tmp_path / "gaps.csv", rows, "kind,a,b")
    assert main(["compare", table, "--target", "kind"]) == 2
    assert "--target='kind' has no value in row 4 (1 in all)" in capsys.readouterr().err
    alone = written(tmp_path / "alone.csv", [row[0] or "A" for row in rows], "kind")
    assert main(["compare", alone, "--target", "kind"]) == 2
