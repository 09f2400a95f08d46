"""The other uses: densities against SciPy's, studies by hand, searches that see no test sample."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal
from sklearn.cluster import FeatureAgglomeration
from sklearn.covariance import OAS, LedoitWolf
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from informed import InformedMahalanobis, plots
from informed.clusters import cluster_features, indicator
from informed.datasets import make_two_types
from informed.directions import exact_directions
from informed.parallel import seeds
from informed.studies.cli import main
from informed.studies.experiments import (
    SpikedCovariance,
    classification_study,
    covariance_study,
    load_result,
    spiked_covariance,
    uses,
)


def correlated(rng, n_samples=40, n_features=6):
    return rng.normal(size=(n_samples, n_features)) @ rng.normal(size=(n_features, n_features)) + 3


def dense(model):
    """Return the covariance that the model never forms."""
    U, p = model.directions, len(model.mean)
    return U @ np.diag(model.variances - model.noise) @ U.T + model.noise * np.eye(p)


@pytest.fixture(scope="module")
def digits_study():
    return classification_study(train_sizes=(50, 60), n_splits=2, random_state=3)


@pytest.fixture(scope="module")
def likelihoods():
    return covariance_study(data_names=("toy", "NSBCD"), train_sizes=(20, 24), n_splits=2)


# --------------------------------------------------------------------------- the spiked covariance


@settings(deadline=None)
@given(
    p=st.integers(2, 9),
    data=st.data(),
    seed=st.integers(0, 2**32 - 1),
    noise=st.floats(0.01, 100),
)
def test_score_is_the_mean_gaussian_log_density(p, data, seed, noise):
    d = data.draw(st.integers(1, p - 1))
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(rng.normal(size=(p, d)))[0]
    model = SpikedCovariance(rng.normal(size=p), U, rng.uniform(0.01, 100, size=d), noise)
    X = rng.normal(size=(5, p))
    density = multivariate_normal(model.mean, dense(model))
    assert model.score(X) == pytest.approx(density.logpdf(X).mean(), rel=1e-8)
    assert model.score(X[:1]) == pytest.approx(density.logpdf(X[0]), rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("d", [1, 3, 5])
def test_principal_directions_give_probabilistic_pca(d, seed):
    X = correlated(np.random.default_rng(seed))
    held_out = correlated(np.random.default_rng(seed + 10))
    expected = PCA(d, svd_solver="full").fit(X).score(held_out)
    assert spiked_covariance(X, d).score(held_out) == pytest.approx(expected, rel=1e-9)


def test_all_directions_but_one_give_the_sample_covariance():
    X = correlated(np.random.default_rng(0))
    assert_allclose(dense(spiked_covariance(X, 5)), np.cov(X, rowvar=False), rtol=1e-9)


def test_clusters_of_one_feature_change_nothing():
    X = correlated(np.random.default_rng(1))
    assert_allclose(
        dense(spiked_covariance(X, 2, np.arange(6))), dense(spiked_covariance(X, 2)), rtol=1e-9
    )


@pytest.mark.parametrize("seed", range(2))
def test_total_variance_is_kept_and_directions_are_informed(seed):
    toy = make_two_types(30, random_state=seed)
    model = spiked_covariance(toy.X, 4, toy.feature_labels)
    assert model.variances.sum() + (900 - 4) * model.noise == pytest.approx(
        np.trace(np.cov(toy.X, rowvar=False))
    )
    H = indicator(toy.feature_labels)
    assert_allclose(H @ (H.T @ model.directions), model.directions, atol=1e-12)
    assert_array_equal(model.directions, exact_directions(toy.X, toy.feature_labels, 4).directions)


def test_with_many_samples_it_is_the_truth():
    toy = make_two_types(6000, random_state=0)
    found = dense(spiked_covariance(toy.X, 18, toy.feature_labels))
    truth = toy.covariance()
    assert np.linalg.norm(found - truth) < 0.05 * np.linalg.norm(truth)


def test_variances_are_those_of_maximum_likelihood():
    X = correlated(np.random.default_rng(2))
    model = spiked_covariance(X, 2, [0, 0, 1, 1, 2, 2])

    def cost(logs):
        *along, across = np.exp(logs)
        return -SpikedCovariance(model.mean, model.directions, np.array(along), across).score(X)

    best = np.exp(minimize(cost, np.zeros(3), tol=1e-12).x)
    divisor = (len(X) - 1) / len(X)
    assert_allclose([*model.variances * divisor, model.noise * divisor], best, rtol=1e-3)


@pytest.mark.parametrize(
    ("n_samples", "d", "labels", "message"),
    [
        (10, 0, None, "n_components=0"),
        (10, 6, None, "n_components=6"),
        (4, 3, None, "n_components=3 leaves no variance"),
        (10, 2, [0, 1], "labels"),
    ],
)
def test_bad_spikes(n_samples, d, labels, message):
    X = correlated(np.random.default_rng(0), n_samples)
    with pytest.raises(ValueError, match=message):
        spiked_covariance(X, d, labels)


@pytest.mark.parametrize("bad", [[[np.nan] * 6], [1.0] * 6])
def test_bad_samples_to_score(bad):
    model = spiked_covariance(correlated(np.random.default_rng(0)), 2)
    with pytest.raises(ValueError, match="X"):
        model.score(bad)


# ------------------------------------------------------------------------------ nearest neighbours


def test_accuracies_by_scikit_learn(digits_study):
    X, y = load_digits(return_X_y=True)
    for k, seed in enumerate(seeds(3, 2)[:1]):
        split = StratifiedShuffleSplit(1, train_size=60, test_size=500, random_state=seed)
        train, test = next(split.split(X, y))
        candidates = {
            "euclidean": [KNeighborsClassifier(n) for n in (1, 3, 5)],
            "pca": [
                make_pipeline(PCA(d, whiten=w, svd_solver="full"), KNeighborsClassifier(n))
                for d in (5, 10, 20)
                for w in (False, True)
                for n in (1, 3, 5)
            ],
            "agglomeration": [
                make_pipeline(VarianceThreshold(), FeatureAgglomeration(K), KNeighborsClassifier(n))
                for K in (21, 32)
                for n in (1, 3, 5)
            ],
            "agglomeration + pca": [
                make_pipeline(
                    VarianceThreshold(),
                    FeatureAgglomeration(K),
                    PCA(d, whiten=w, svd_solver="full"),
                    KNeighborsClassifier(n),
                )
                for K in (21, 32)
                for d in (5, 10, 20)
                for w in (False, True)
                for n in (1, 3, 5)
            ],
            "lda": [
                make_pipeline(
                    VarianceThreshold(), LinearDiscriminantAnalysis(solver="lsqr", shrinkage=s)
                )
                for s in ("auto", 0.5)
            ],
        }
        for method, models in candidates.items():
            means = [cross_val_score(m, X[train], y[train], cv=3).mean() for m in models]
            best = models[int(np.argmax(means))].fit(X[train], y[train])
            found = digits_study.accuracy[digits_study.methods.index(method), 1, k]
            assert found == pytest.approx(best.score(X[test], y[test]), abs=1e-12)


def varying_digits(n_samples=60):
    X = load_digits().data[:n_samples]
    return X[:, X.std(axis=0) > 0]


def gram(Z):
    Z = Z - Z.mean(axis=0)
    return Z @ Z.T


@pytest.mark.parametrize("method", ["pca", "shrunk pca", "informed"])
def test_factors_are_metrics_along_the_directions(method):
    X = varying_digits()
    factors = list(uses._factors(method, X, 5))
    expected = []
    if method == "pca":
        for d, whiten in product((5, 10, 20), (False, True)):
            expected.append(PCA(d, svd_solver="full", whiten=whiten).fit_transform(X))
    elif method == "shrunk pca":
        for d in (5, 10, 20):
            metric = InformedMahalanobis(d, directions="pca", variances="shrunk").fit(X)
            expected.append(metric.transform(X))
    else:
        for K, d, whiten in product((21, 32), (5, 10, 20), (False, True)):
            labels = cluster_features(X, K, n_init=3, random_state=5)
            Z = X @ exact_directions(X, labels, d).directions
            expected.append(Z / (Z.std(axis=0, ddof=1) if whiten else 1))
    assert len(factors) == len(expected)
    for factor, Z in zip(factors, expected, strict=True):
        assert_allclose(gram(X @ factor), gram(Z), atol=1e-8 * np.abs(gram(Z)).max())


def test_ledoit_wolf_metric():
    X = correlated(np.random.default_rng(0))
    (factor,) = uses._factors("ledoit-wolf", X, 0)
    Z = (X - X.mean(axis=0)) @ factor
    assert_allclose((Z**2).sum(axis=1), LedoitWolf().fit(X).mahalanobis(X), rtol=1e-9)


def test_choices_see_no_test_sample(monkeypatch):
    chosen, judged = [], []
    choose, judge = uses._choose, uses._accuracies

    def recorded(method, seen, seed):
        chosen.append({row.tobytes() for row in seen[0]})
        return choose(method, seen, seed)

    def watched(method, seen, new, *options):
        judged.append([{row.tobytes() for row in part[0]} for part in (seen, new)])
        return judge(method, seen, new, *options)

    monkeypatch.setattr(uses, "CLASSIFIERS", ("euclidean", "agglomeration"))
    monkeypatch.setattr(uses, "_choose", recorded)
    monkeypatch.setattr(uses, "_accuracies", watched)
    uses._classify(50, 3)
    assert [len(rows) for rows in chosen] == [50, 50]
    # Three folds, then the test samples, for each of two methods.
    assert [len(new) for _, new in judged] == [17, 17, 16, 500] * 2
    for seen, new in judged:
        assert not seen & new
    for rows, (_, test) in zip(chosen, judged[3::4], strict=True):
        assert not rows & test


def test_differences_are_paired(digits_study):
    found = digits_study.differences("pca", "lda")
    assert digits_study.methods[1] == "pca"
    assert digits_study.methods[-1] == "lda"
    assert_allclose(found, digits_study.accuracy[1] - digits_study.accuracy[-1])
    assert_array_equal(digits_study.differences("euclidean"), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="method='kernel'"):
        digits_study.differences("kernel")
    with pytest.raises(ValueError, match="other='kernel'"):
        digits_study.differences("pca", "kernel")


def test_digits_study_is_the_same_again_and_is_saved(digits_study, tmp_path):
    assert digits_study.accuracy.shape == (8, 2, 2)
    # The plain metric by hand: its search has chosen one of three numbers of neighbours.
    split = StratifiedShuffleSplit(1, train_size=50, test_size=500, random_state=seeds(3, 2)[0])
    digits = load_digits()
    train, test = next(split.split(digits.data, digits.target))
    order = np.argsort(cdist(digits.data[test], digits.data[train]), axis=1)
    votes = digits.target[train][order]
    by_hand = [
        np.mean([np.bincount(row[:k]).argmax() for row in votes] == digits.target[test])
        for k in (1, 3, 5)
    ]
    assert digits_study.accuracy[0, 0, 0] in by_hand
    again = classification_study(train_sizes=(60,), n_splits=2, random_state=3)
    assert_array_equal(again.accuracy[:, 0], digits_study.accuracy[:, 1])
    digits_study.save(tmp_path / "study")
    loaded = load_result(tmp_path / "study")
    assert_array_equal(loaded.accuracy, digits_study.accuracy)
    assert str(loaded) == str(digits_study)
    rows = digits_study.table.as_dicts()
    assert [row["method"] for row in rows] == list(digits_study.methods)
    assert float(str(rows[5]["n = 60"]).split()[0]) == pytest.approx(
        digits_study.accuracy[digits_study.methods.index("informed"), 1].mean(), abs=1e-3
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_sizes": (49,)}, "train_sizes=49"),
        ({"train_sizes": (1201,)}, "train_sizes=1201"),
        ({"train_sizes": ()}, "train_sizes is empty"),
        ({"n_splits": 0}, "n_splits=0"),
    ],
)
def test_bad_digits_study(options, message):
    with pytest.raises(ValueError, match=message):
        classification_study(**options)


# --------------------------------------------------------------------- covariances that predict


def test_scores_by_hand(likelihoods):
    X = make_two_types(200, random_state=0).X
    for k, seed in enumerate(seeds(0, 2)):
        train, test = train_test_split(X, train_size=24, random_state=seed)
        for method, estimate in (("ledoit-wolf", LedoitWolf()), ("oas", OAS())):
            estimate.fit(train)
            density = multivariate_normal(estimate.location_, estimate.covariance_)
            found = likelihoods.scores[0, 1, likelihoods.methods.index(method), k]
            assert found == pytest.approx(density.logpdf(test).mean() / 900, rel=1e-6)


def test_spikes_are_chosen_by_held_out_training_samples(likelihoods):
    X = make_two_types(200, random_state=0).X
    for k, seed in enumerate(seeds(0, 2)):
        train, test = train_test_split(X, train_size=24, random_state=seed)
        options = [spiked_covariance(train, d).score(test) / 900 for d in uses.SPIKES if d <= 14]
        found = likelihoods.scores[0, 1, 2, k]
        assert np.min(np.abs(np.array(options) - found)) < 1e-12


def test_choice_sees_training_samples_only(monkeypatch):
    X = make_two_types(200, random_state=0).X
    train, test = train_test_split(X, train_size=30, random_state=5)
    # Other held-out samples: what is estimated must be the same.
    rows = {row.tobytes() for row in train}
    seen = []
    estimate = uses.spiked_covariance

    def recorded(X, *options):
        seen.extend(row.tobytes() for row in X)
        return estimate(X, *options)

    monkeypatch.setattr(uses, "spiked_covariance", recorded)
    uses._held_out_scores(X, 30, 5)
    assert set(seen) == rows
    assert not rows & {row.tobytes() for row in test}


def test_true_number_of_spikes_is_found():
    model = uses._best_spiked(make_two_types(120, random_state=0).X, "informed", 0)
    assert model.directions.shape[1] == 18
    # Fewer samples than the largest numbers of the grid need: they are left out.
    few_samples = make_two_types(20, random_state=0).X
    few = uses._best_spiked(make_two_types(20, random_state=0).X, "pca", 0)
    assert few.directions.shape[1] <= 11
    # Agglomerated features alone: a direction for each cluster, of which 20 are too many.
    assert uses._best_spiked(few_samples, "agglomeration", 0).directions.shape[1] == 10


@pytest.mark.parametrize("d", [3, 18])
def test_shrunk_covariance_is_that_of_the_estimator(d):
    X, new = np.split(make_two_types(80, random_state=2).X, 2)
    metric = InformedMahalanobis(d, directions="pca", variances="shrunk").fit(X)
    model = uses._spiked(X, d, None, "shrunk pca")
    assert_allclose(model.variances, metric.variances_)
    assert model.noise == pytest.approx(metric.noise_variance_)
    assert model.score(new) == pytest.approx(metric.score(new))


def test_clusters_are_those_of_feature_agglomeration():
    X = make_two_types(24, random_state=0).X[:, ::9]
    found = uses._clusters(X, 10, "agglomeration + pca", 0)
    theirs = FeatureAgglomeration(10).fit(X).labels_
    assert_array_equal(found[:, None] == found, theirs[:, None] == theirs)
    assert_array_equal(
        uses._clusters(X, 10, "informed", 3), cluster_features(X, 10, n_init=3, random_state=3)
    )
    assert uses._clusters(X, None, "pca", 0) is None


def test_clusters_predict_the_toy_best(likelihoods):
    gains = dict(zip(likelihoods.methods, likelihoods.gains[0, 1].mean(axis=1), strict=True))
    assert gains["ledoit-wolf"] == 0
    assert gains["informed"] > gains["pca"] > 0


def test_covariance_study_is_the_same_again_and_is_saved(likelihoods, tmp_path):
    assert likelihoods.scores.shape == (2, 2, 7, 2)
    assert np.isfinite(likelihoods.scores).all()
    again = covariance_study(data_names=("NSBCD",), train_sizes=(24,), n_splits=2)
    assert_array_equal(again.scores[0, 0], likelihoods.scores[1, 1])
    likelihoods.save(tmp_path / "study")
    loaded = load_result(tmp_path / "study")
    assert_array_equal(loaded.scores, likelihoods.scores)
    assert loaded.data_names == ("toy", "NSBCD")
    rows = likelihoods.table.as_dicts()
    assert [(row["data"], row["n"]) for row in rows] == [
        ("toy", 20),
        ("toy", 24),
        ("NSBCD", 20),
        ("NSBCD", 24),
    ]
    assert float(str(rows[1]["informed"]).split()[0]) == pytest.approx(
        np.mean(likelihoods.scores[0, 1, -1] - likelihoods.scores[0, 1, 0]), rel=0.01
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_sizes": (19,)}, "train_sizes=19"),
        ({"train_sizes": (199,), "data_names": ("toy",)}, "train_sizes has 199, and toy has 200"),
        ({"train_sizes": ()}, "must not be empty"),
        ({"data_names": ()}, "must not be empty"),
        ({"data_names": ("nobody",)}, "nobody"),
        ({"n_splits": 0}, "n_splits=0"),
    ],
)
def test_bad_covariance_study(options, message):
    with pytest.raises(ValueError, match=message):
        covariance_study(**options)


# ------------------------------------------------------------------------- figures, command line


def test_figure_of_the_digits(digits_study):
    figure = plots.classification_study(digits_study)
    left, right = figure.axes
    assert [line.get_label() for line in left.lines] == [
        "Euclidean",
        "PCA",
        "PCA, shrunk variances",
        "feature agglomeration",
        "agglomeration + PCA",
        "informed",
        "Ledoit–Wolf",
        "LDA with shrinkage",
    ]
    for line, accuracy in zip(left.lines, digits_study.accuracy, strict=True):
        assert_allclose(line.get_ydata(), accuracy.mean(axis=1))
    assert_allclose(right.lines[8].get_ydata(), digits_study.differences("informed").ravel())
    assert_allclose(right.lines[9].get_ydata(), digits_study.differences("informed").mean(axis=1))
    assert [tick.get_text() for tick in right.get_xticklabels()] == ["50", "60"]


def test_figure_of_the_likelihoods(likelihoods):
    figure = plots.covariance_study(likelihoods)
    assert [ax.get_title() for ax in figure.axes] == ["toy", "NSBCD"]
    for k, ax in enumerate(figure.axes):
        assert_allclose(ax.lines[10].get_ydata(), likelihoods.gains[k, :, -1].ravel())
        assert_allclose(ax.lines[11].get_ydata(), likelihoods.gains[k, :, -1].mean(axis=1))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "OAS",
        "PCA",
        "PCA, shrunk variances",
        "feature agglomeration",
        "agglomeration + PCA",
        "informed",
    ]


def test_command_line(capsys, tmp_path):
    words = ["--data-names", "NSBCD", "--train-sizes", "20", "--n-splits", "1", "--quiet"]
    assert main(["run", "covariance_study", *words, "--out", str(tmp_path)]) == 0
    assert "NSBCD" in capsys.readouterr().out
    assert (tmp_path / "covariance_study-covariance_study.png").stat().st_size > 1000
    assert main(["run", "classification_study", "--train-sizes", "10"]) == 2
    assert "train_sizes=10" in capsys.readouterr().err
