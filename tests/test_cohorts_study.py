"""The study of several cohorts: every step against another way, and the claims of its table."""

from __future__ import annotations

import importlib
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2
from sklearn.metrics import adjusted_rand_score

from informed import plots
from informed.datasets import load_cohort, make_risk_cohort, top_variance
from informed.diffusion import DiffusionMap
from informed.directions import penalized_directions
from informed.experiments import cohort_sensitivity, cohorts, load_result
from informed.gap import neighborhood_gap
from informed.groups import bipartition
from informed.metrics import LocalInformedMahalanobis
from informed.metrics.neighborhoods import cluster_from_scratch
from informed.studies.cli import main
from informed.studies.experiments.cohorts import CohortStudy, _effects, _median_penalty
from informed.studies.experiments.splits import SplitSettings
from informed.survival import (
    hazard_ratio,
    log_rank_p_value,
    permutation_p_value,
    proportional_hazards_p_value,
    restricted_mean_difference,
)

# A sweep over all directions gives each of them a weight, which only one of them reads.
pytestmark = pytest.mark.filterwarnings("ignore::informed.IgnoredParameterWarning")

METHODS = ("euclidean", "local pca", "averaged", "exact", "penalized")


def small_cohort(seed, name, effect=3.0):
    cohort = make_risk_cohort(40, 60, effect=effect, random_state=seed)
    object.__setattr__(cohort, "name", name)
    return cohort


COHORTS = [small_cohort(0, "one"), small_cohort(1, "two"), small_cohort(2, "three", effect=0.0)]
OPTIONS = {
    "n_genes": 40,
    "n_components": 3,
    "n_clusters": 5,
    "sizes": (8, 14),
    "n_permutations": 199,
    "n_repeats": 2,
    "leave_out": ("two",),
}


@pytest.fixture(scope="module")
def study():
    return cohorts(COHORTS, **OPTIONS)


@pytest.fixture(scope="module")
def sensitivity():
    return cohort_sensitivity(
        COHORTS[0],
        genes=(20, 40),
        sizes=(8, 14),
        components=(2, 5),
        clusters=(3, 5),
        n_genes=40,
        n_neighbors=14,
        n_components=3,
        n_clusters=5,
    )


def test_groups_are_those_of_the_estimator(study):
    """The study clusters once for all metrics; the estimator does it for each."""
    for cohort in COHORTS:
        row = study.cohorts.index(cohort.name)
        X = top_variance(cohort.X, 40)
        for method, found in zip(METHODS[1:], study.groups[cohort.name][1:], strict=True):
            local = LocalInformedMahalanobis(
                int(study.sizes[row]),
                3,
                5,
                directions="pca" if method == "local pca" else method,
                penalty=float(study.penalties[row]),
                random_state=np.random.RandomState(0).randint(2**31 - 1),
            ).fit(X)
            embedding = DiffusionMap(2, scale=2.0, metric="precomputed").fit_transform(
                local.pairwise_distances()
            )
            assert adjusted_rand_score(bipartition(embedding), found) == 1


@pytest.mark.parametrize("directions", ["pca", "averaged", "exact", "penalized"])
def test_shared_clusters_give_the_estimators_distances(directions):
    X = COHORTS[0].X[:, :30]
    clustered = SplitSettings(12, 3, 4).fit(X, 5)
    shared = clustered.with_directions(directions, penalty=0.7).pairwise_distances()
    local = LocalInformedMahalanobis(12, 3, 4, directions=directions, penalty=0.7, random_state=5)
    assert_allclose(shared, local.fit(X).pairwise_distances(), rtol=1e-8, atol=1e-8)


def test_size_is_the_smallest_that_the_gap_proposes(study):
    seed = np.random.RandomState(0).randint(2**31 - 1)
    for row, cohort in enumerate(COHORTS[:2]):
        gap = neighborhood_gap(
            top_variance(cohort.X, 40),
            [8, 14],
            5,
            n_neighborhoods=40,
            n_references=3,
            n_init=2,
            random_state=seed,
        )
        assert study.proposed[row] == (gap.proposed is not None)
        assert study.sizes[row] == (14 if gap.proposed is None else gap.proposed[0])


def test_largest_size_when_the_gap_still_rises(monkeypatch):
    class Rising:
        proposed = None

    # The package has a function of the module's name.
    module = importlib.import_module("informed.studies.experiments.cohorts")
    monkeypatch.setattr(module, "neighborhood_gap", lambda *args, **kwargs: Rising())
    study = cohorts([COHORTS[0]], **{**OPTIONS, "n_repeats": 1})
    assert study.sizes.tolist() == [14]
    assert study.proposed.tolist() == [False]


def test_penalty_is_the_median_of_the_neighbourhoods():
    X = top_variance(COHORTS[0].X, 40)
    local = SplitSettings(14, 3, 5).fit(X, 4)
    neighbors, labels, recipe = local.neighbors_, local.labels_, local._ground.recipe
    centered = X - X.mean(axis=0)
    chosen = np.random.RandomState(4).permutation(40)[:7]
    weights = [
        penalized_directions(
            centered[neighbors[i]],
            labels[i],
            3,
            "cv",
            recluster=lambda samples: cluster_from_scratch(samples, recipe),
        ).penalty
        for i in chosen
    ]
    found = _median_penalty(local, len(X), 4)
    assert_allclose(found, sorted(weights)[3])


def test_survival_columns(study):
    for row, cohort in enumerate(COHORTS):
        follow_up = cohort.durations, cohort.events
        for column, groups in enumerate(study.groups[cohort.name]):
            assert study.p_values[row, column] == log_rank_p_value(*follow_up, groups)
            assert study.seed_p_values[row, column, 0] == study.p_values[row, column]
            assert study.smaller_group[row, column] == min(groups.sum(), 40 - groups.sum())
            by_relabeling = permutation_p_value(
                *follow_up,
                groups,
                n_permutations=199,
                random_state=np.random.RandomState(0).randint(2**31 - 1),
            )
            assert study.permutation_p_values[row, column] == by_relabeling
            assert study.agreement[row, column] == adjusted_rand_score(
                study.groups[cohort.name][0], groups
            )
    assert study.n_samples.tolist() == [40, 40, 40]
    assert study.n_events.tolist() == [cohort.events.sum() for cohort in COHORTS]


def test_strong_risk_is_found_and_absent_risk_is_not(study):
    assert (study.p_values[:2, 0] < 0.05).all()
    assert (study.p_values[2] > 0.05).all()


def test_effects_are_turned_towards_the_worse_group():
    cohort = COHORTS[0]
    groups = (cohort.risk > 0).astype(int)
    for labels in (groups, 1 - groups):
        *ratio, lost, low, high, proportional = _effects(cohort.months, cohort.events, labels, 30.0)
        plain = hazard_ratio(cohort.months, cohort.events, groups)
        assert_allclose(ratio, [plain.ratio, plain.lower, plain.upper])
        assert 1 < ratio[1] < ratio[0] < ratio[2]
        # Group 1 has the higher risk: it loses what the other lives longer.
        longer = restricted_mean_difference(cohort.months, cohort.events, 1 - groups, 30.0)
        assert_allclose([lost, low, high], [longer.difference, longer.lower, longer.upper])
        assert 0 < low < lost < high
        expected = proportional_hazards_p_value(cohort.months, cohort.events, groups)
        assert proportional == pytest.approx(expected, rel=1e-6)


def test_every_ratio_comes_with_a_time_and_a_test(study):
    for row, cohort in enumerate(COHORTS):
        horizon = min(60.0, float(np.quantile(cohort.months, 0.9)))
        assert study.horizons[row] == horizon
        for column, labels in enumerate(study.groups[cohort.name]):
            expected = _effects(cohort.months, cohort.events, labels, horizon)
            found = [
                getattr(study, name)[row, column]
                for name in ("ratios", "lower", "upper", "lost", "lost_lower", "lost_upper")
            ]
            assert_allclose(found, expected[:6])
            assert study.proportional[row, column] == pytest.approx(expected[6], rel=1e-6)
    first = study.table.as_dicts()[0]
    assert first["months lost (95 %)"].split()[0] == f"{study.lost[0, 0]:.1f}"
    assert first["proportional p"] == study.proportional[0, 0]


def test_no_effect_where_a_group_has_no_event_or_is_not_followed(study):
    months, events = np.array([1.0, 2.0, 3.0]), np.array([1, 0, 0])
    assert np.isnan(_effects(months, events, np.array([0, 1, 1]), 2.0)).all()
    cohort = COHORTS[0]
    labels = (cohort.risk > 0).astype(int)
    found = _effects(cohort.months, cohort.events, labels, 1e6)
    assert np.isnan(found).tolist() == [False] * 3 + [True] * 3 + [False]
    fields = {**vars(study), "ratios": np.full_like(study.ratios, np.nan)}
    assert "none" in str(CohortStudy(**fields))


def test_stability_is_the_mean_over_pairs_of_seeds(study):
    assert_array_equal(study.stability[:, :2], 1.0)
    assert (study.stability[:, 2:] <= 1).all()
    X = top_variance(COHORTS[0].X, 40)
    random = np.random.RandomState(0)
    found = []
    for seed in random.randint(2**31 - 1, size=2):
        local = LocalInformedMahalanobis(
            int(study.sizes[0]), 3, 5, directions="exact", random_state=int(seed)
        ).fit(X)
        embedding = DiffusionMap(2, scale=2.0, metric="precomputed").fit_transform(
            local.pairwise_distances()
        )
        found.append(bipartition(embedding))
    pairs = [adjusted_rand_score(a, b) for a, b in combinations(found, 2)]
    assert_allclose(study.stability[0, METHODS.index("exact")], np.mean(pairs))


def test_one_seed_has_no_stability():
    study = cohorts(COHORTS[:1], **{**OPTIONS, "n_repeats": 1})
    assert np.isnan(study.stability).all()


def test_combined_p_values_by_their_formulas(study):
    assert study.independent == ("one", "three")
    for column, method in enumerate(METHODS):
        p = study.permutation_p_values[[0, 2], column]
        fisher, harmonic = study.combine(method)
        assert_allclose(fisher, chi2.sf(-2 * np.log(p).sum(), 4))
        assert_allclose(harmonic, 2 / (1 / p).sum())
        # With one cohort left, both rules return its p-value.
        assert_allclose(study.combine(method, without=("one",)), [p[1], p[1]])
    row = study.combined.as_dicts()[0]
    assert_allclose(row["Fisher, worst"], study.permutation_p_values[[0, 2], 0].max())
    # Nothing can be smaller than what relabellings can tell.
    smallest = chi2.sf(-4 * np.log(1 / 200), 4)
    assert min(row["Fisher"] for row in study.combined.as_dicts()) >= smallest * (1 - 1e-9)


def test_saved_and_loaded(study, sensitivity, tmp_path):
    for result in (study, sensitivity):
        result.save(tmp_path / result.name)
        again = load_result(tmp_path / result.name)
        assert str(again) == str(result)
        assert again._repr_html_() == result._repr_html_()
    assert "combined over one, three" in str(study)
    assert study._repr_html_().count("<table>") == 2


def test_one_real_cohort_by_name():
    study = cohorts(["vdv"], n_genes=30, sizes=(10,), n_repeats=1, n_permutations=99, leave_out=())
    assert study.n_samples.tolist() == [78]
    assert study.groups["vdv"].shape == (5, 78)
    vdv = load_cohort("vdv")
    assert study.p_values[0, 0] == log_rank_p_value(
        vdv.durations, vdv.events, study.groups["vdv"][0]
    )


def test_sensitivity_meets_the_study_at_its_own_setting(sensitivity):
    X = {m: top_variance(COHORTS[0].X, m) for m in (20, 40)}
    seed = np.random.RandomState(0).randint(2**31 - 1)

    def p_value(m, n, directions, d, k):
        local = LocalInformedMahalanobis(n, d, k, directions=directions, random_state=seed)
        embedding = DiffusionMap(1, scale=2.0, metric="precomputed").fit_transform(
            local.fit(X[m]).pairwise_distances()
        )
        return log_rank_p_value(COHORTS[0].durations, COHORTS[0].events, bipartition(embedding))

    assert sensitivity.p_exact[0, 1] == p_value(20, 14, "exact", 3, 5)
    assert sensitivity.p_local_pca[1, 0] == p_value(40, 8, "pca", 3, 5)
    assert sensitivity.p_rank[0, 1] == p_value(40, 14, "exact", 2, 5)
    assert np.isnan(sensitivity.p_rank[1, 0])  # five directions, three clusters
    assert np.isfinite(sensitivity.p_rank[1, 1])
    embedding = DiffusionMap(1, scale=2.0).fit_transform(X[20])
    assert sensitivity.p_euclidean[0] == log_rank_p_value(
        COHORTS[0].durations, COHORTS[0].events, bipartition(embedding)
    )
    assert [row["settings"] for row in sensitivity.table.as_dicts()] == [2, 4, 4, 3]


def test_forest_shows_every_ratio_and_p_value(study):
    axes = plots.cohort_forest(study).axes[0]
    markers = [line for line in axes.lines if len(line.get_xdata()) == 1]
    assert_allclose([line.get_xdata()[0] for line in markers], study.ratios.ravel())
    texts = [text.get_text() for text in axes.texts]
    assert all(f"{p:.1g}" in texts for p in study.p_values.ravel())
    assert len(axes.get_legend().get_texts()) == len(METHODS)


def test_heat_maps_show_the_p_values_and_frame_the_protocol(sensitivity):
    figure = plots.cohort_sensitivity(sensitivity)
    first, second, third = figure.axes[:3]
    assert_array_equal(first.images[0].get_array(), sensitivity.p_local_pca)
    assert_array_equal(second.images[0].get_array(), sensitivity.p_exact)
    assert third.images[0].get_array().mask[1, 0]
    (frame,) = first.patches
    assert frame.get_xy() == (0.53, 0.53)  # around m = 40, N = 14: second row, second column
    assert not third.patches  # d = 3 is not on the grid
    assert len(third.texts) == 3


def test_command_line(tmp_path, capsys):
    words = "run cohorts --names vdv,NSBCD --n-genes 30 --sizes 10 --n-repeats 1 --quiet"
    options = ["--n-permutations", "99", "--leave-out", "vdv", "--out", str(tmp_path)]
    assert main([*words.split(), *options]) == 0
    assert "combined over NSBCD" in capsys.readouterr().out
    assert (tmp_path / "cohorts-cohort_forest.png").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_repeats": 0}, "n_repeats=0"),
        ({"n_permutations": 0}, "n_permutations=0"),
        ({"sizes": (3, 10)}, "sizes=3"),
        ({"sizes": ()}, "sizes is empty"),
        ({"leave_out": ("one", "two", "three")}, "leaves none of"),
        ({"n_genes": 61}, "n_features=61"),
    ],
)
def test_bad_settings_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        cohorts(COHORTS, **{**OPTIONS, **change})


def test_bad_cohorts_are_refused(study):
    with pytest.raises(ValueError, match="at least one cohort"):
        cohorts([])
    with pytest.raises(ValueError, match="each only once"):
        cohorts([COHORTS[0], COHORTS[0]])
    with pytest.raises(ValueError, match="nowhere"):
        cohorts(["nowhere"])
    with pytest.raises(ValueError, match="method='best'"):
        study.combine("best")
    with pytest.raises(ValueError, match="without='two'"):
        study.combine("exact", without=("two",))
    with pytest.raises(ValueError, match="leaves no cohort"):
        study.combine("exact", without=("one", "three"))
    with pytest.raises(ValueError, match="sizes=2"):
        cohort_sensitivity(COHORTS[0], sizes=(2,))
