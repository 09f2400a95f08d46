"""Metrics compared on the same patients: each step another way, and what the stored table says."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lifelines import KaplanMeierFitter
from lifelines.utils import concordance_index as lifelines_index
from lifelines.utils import restricted_mean_survival_time
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2, norm
from scipy.stats import t as student

from informed import plots
from informed.datasets import (
    COHORT_NAMES,
    find_directors_challenge,
    load_cohort,
    make_risk_cohort,
    top_variance,
)
from informed.experiments import cohort_comparison, load_result
from informed.metrics import InformedMahalanobis, LocalInformedMahalanobis
from informed.studies.cli import main
from informed.studies.experiments.carried import CARRIED_METHODS, carry
from informed.studies.experiments.cohort_comparison import (
    MARGINS,
    _mean_and_error,
    separation,
    strata_of,
)
from informed.studies.experiments.splits import SplitSettings, embed
from informed.survival import concordance_index, log_rank_p_value, random_effects

STORED = Path(__file__).parents[1] / "book/results/cohort_comparison"
SETTINGS = SplitSettings(12, 3, 5)

# Tuberculosis and death with and without the BCG vaccine: thirteen trials (Colditz et al. 1994),
# cases and others among the vaccinated, cases and others among the rest.
BCG = np.array(
    [
        *([4, 119, 11, 128], [6, 300, 29, 274], [3, 228, 11, 209], [62, 13536, 248, 12619]),
        *([33, 5036, 47, 5761], [180, 1361, 372, 1079], [8, 2537, 10, 619]),
        *([505, 87886, 499, 87892], [29, 7470, 45, 7232], [17, 1699, 65, 1600]),
        *([186, 50448, 141, 27197], [5, 2493, 3, 2338], [27, 16886, 29, 17825]),
    ]
)


def named(seed, name, **options):
    cohort = make_risk_cohort(44, 60, random_state=seed, **options)
    object.__setattr__(cohort, "name", name)
    return cohort


COHORTS = [named(0, "one", effect=3.0), named(1, "two", effect=3.0), named(2, "three", effect=0.0)]
OPTIONS = {"n_splits": 2, "n_genes": 50, "n_neighbors": 12, "n_components": 3, "n_clusters": 5}


@pytest.fixture(scope="module")
def study():
    return cohort_comparison(COHORTS, leave_out=("two",), **OPTIONS)


@pytest.fixture(scope="module")
def stored():
    return load_result(STORED)


# ------------------------------------------------------------------------------------- concordance


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(4, 40))
def test_concordance_is_that_of_lifelines(seed, n):
    rng = np.random.default_rng(seed)
    durations, events = rng.exponential(size=n), rng.random(n) < 0.7
    risks = rng.integers(0, 5, n).astype(float)
    if events.sum() < 2 or np.argmin(durations) in np.flatnonzero(~events):
        events[np.argmin(durations)] = True
    expected = lifelines_index(durations, -risks, events)
    assert_allclose(concordance_index(durations, events, risks), expected)


@pytest.mark.parametrize("seed", range(4))
def test_concordance_within_strata_counts_pairs_of_one_stratum(seed):
    rng = np.random.default_rng(seed)
    n = 25
    durations, events = rng.integers(1, 9, n), rng.random(n) < 0.7
    risks, strata = rng.integers(0, 6, n), rng.integers(0, 3, n)
    counted = right = 0.0
    for i, j in combinations(range(n), 2):
        for a, b in ((i, j), (j, i)):
            first = durations[a] < durations[b] or (durations[a] == durations[b] and not events[b])
            if events[a] and first and strata[a] == strata[b]:
                counted += 1
                right += 1.0 if risks[a] > risks[b] else 0.5 if risks[a] == risks[b] else 0.0
    assert_allclose(concordance_index(durations, events, risks, strata), right / counted)


def test_concordance_does_not_care_for_the_scale_and_turns_with_the_sign():
    rng = np.random.default_rng(0)
    durations, events, risks = rng.exponential(size=30), rng.random(30) < 0.6, rng.normal(size=30)
    index = concordance_index(durations, events, risks)
    assert index == concordance_index(durations, events, np.exp(3 * risks))
    assert_allclose(concordance_index(durations, events, -risks), 1 - index)
    assert np.isnan(concordance_index(durations, np.zeros(30), risks))


@pytest.mark.parametrize(
    ("risks", "strata", "message"),
    [([1, 2], None, "risks"), ([1, 2, np.nan], None, "risks"), ([1, 2, 3], ["a"], "strata")],
)
def test_concordance_refuses_what_does_not_fit(risks, strata, message):
    with pytest.raises(ValueError, match=message):
        concordance_index([1, 2, 3], [1, 0, 1], risks, strata)


# -------------------------------------------------------------------------------- stratified test


@pytest.mark.parametrize("seed", range(3))
def test_stratified_log_rank_adds_up_by_hand(seed):
    rng = np.random.default_rng(seed)
    n = 60
    durations, events = rng.integers(1, 12, n), rng.integers(0, 2, n)
    groups, strata = rng.integers(0, 2, n), rng.integers(0, 3, n)
    assert_allclose(
        log_rank_p_value(durations, events, groups, strata),
        chi2.sf(stratified(durations, events, groups, strata), 1),
        rtol=1e-8,
    )
    assert_allclose(
        log_rank_p_value(durations, events, groups, np.zeros(n)),
        log_rank_p_value(durations, events, groups),
    )


def stratified(durations, events, groups, strata):
    """Statistic of the stratified log-rank test, patient by patient."""
    U = V = 0.0
    for stratum in set(strata.tolist()):
        people = [i for i in range(len(strata)) if strata[i] == stratum]
        for time in {durations[i] for i in people if events[i]}:
            at_risk = [i for i in people if durations[i] >= time]
            now = [i for i in at_risk if durations[i] == time and events[i]]
            n, d, ones = len(at_risk), len(now), sum(groups[i] for i in at_risk)
            U += sum(groups[i] for i in now) - d * ones / n
            if n > 1:
                V += d * ones / n * (1 - ones / n) * (n - d) / (n - 1)
    return U**2 / V


def test_strata_that_hold_one_group_say_nothing():
    assert log_rank_p_value([1, 2, 3, 4], [1, 1, 1, 1], [0, 0, 1, 1], [5, 5, 6, 6]) == 1.0
    with pytest.raises(ValueError, match="strata"):
        log_rank_p_value([1, 2, 3, 4], [1, 1, 1, 1], [0, 0, 1, 1], [5, 5])


# ----------------------------------------------------------------------------------------- pooling


def test_random_effects_on_the_bcg_trials():
    """The example of every textbook: log ratio −0.71 and τ² 0.318 by Paule and Mandel."""
    a, b, c, d = BCG.T
    y = np.log(a / (a + b) / (c / (c + d)))
    s = np.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))
    found = random_effects(y, s)
    assert_allclose(found.between**2, 0.3181, atol=1e-4)
    assert_allclose(found.mean, -0.715, atol=1e-3)
    # The equation that defines it, and the interval by hand.
    weights = 1 / (s**2 + found.between**2)
    assert_allclose(weights @ (y - found.mean) ** 2, 12, rtol=1e-9)
    width = student.isf(0.025, 12) / np.sqrt(weights.sum())
    assert_allclose([found.lower, found.upper], [found.mean - width, found.mean + width])
    assert found.predicted_lower < found.lower < found.upper < found.predicted_upper


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 9), st.floats(0.1, 10), st.floats(-5, 5))
def test_random_effects_move_with_the_data(seed, k, scale, shift):
    rng = np.random.default_rng(seed)
    y, s = rng.normal(size=k), rng.uniform(0.2, 2, k)
    one, other = random_effects(y, s), random_effects(scale * y + shift, scale * s)
    for field in ("mean", "lower", "upper", "predicted_lower", "predicted_upper"):
        assert_allclose(getattr(other, field), scale * getattr(one, field) + shift, atol=1e-7)
    assert_allclose(other.between, scale * one.between, atol=1e-7)


@pytest.mark.parametrize(("between", "low", "high"), [(0.5, 0.84, 0.92), (1.5, 0.89, 0.97)])
def test_intervals_of_random_effects_cover(between, low, high):
    """Six studies whose truths scatter: the mean, and what the docstring says of a new study."""
    rng = np.random.default_rng(0)
    s = np.linspace(0.3, 1.0, 6)
    hits, repeats = np.zeros(2), 500
    for _ in range(repeats):
        truths = between * rng.normal(size=7)
        found = random_effects(truths[:6] + s * rng.normal(size=6), s)
        hits += [
            found.lower <= 0 <= found.upper,
            found.predicted_lower <= truths[6] <= found.predicted_upper,
        ]
    assert 0.92 < hits[0] / repeats < 0.99
    assert low < hits[1] / repeats < high


@pytest.mark.parametrize("errors", [[1.0], [1.0, 0.0], [1.0, np.nan], [1.0, 2.0, 3.0]])
def test_random_effects_refuse_what_makes_no_sense(errors):
    with pytest.raises(ValueError, match="errors"):
        random_effects([0.1, 0.2], errors)


# ---------------------------------------------------------------------------------- halves, errors


@pytest.mark.parametrize("n", [6, 8, 10])
def test_spread_of_means_over_halves_is_the_standard_error(n):
    """All halves of n numbers, one by one: the statement of the chapter, exactly."""
    values = np.random.default_rng(n).normal(size=n) ** 3
    means = [values[list(half)].mean() for half in combinations(range(n), n // 2)]
    assert_allclose(np.var(means), values.var(ddof=1) / n)


def test_mean_and_error_of_the_study_are_those_of_the_halves():
    values = np.random.default_rng(0).normal(size=(3, 10, 2))
    mean, error = _mean_and_error(values)
    assert_allclose(mean, values.mean(axis=1))
    assert_allclose(error**2, values.var(axis=1, ddof=1) * 1.1)


def test_half_sample_errors_tell_how_studies_scatter():
    """Sixty cohorts of one kind: the error that each reports against how they scatter."""
    reported, found = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = 80
        hidden = rng.normal(size=n)
        scores = hidden[:, None] + rng.normal(size=(n, 2)) * [0.6, 1.2]
        times = rng.exponential(np.exp(-hidden))
        halves = []
        for _ in range(30):
            half = rng.permutation(n)[: n // 2]
            index = [
                concordance_index(times[half], np.ones(n // 2), scores[half, j]) for j in (0, 1)
            ]
            halves.append(index[0] - index[1])
        mean, error = _mean_and_error(np.array(halves)[None, :])
        found.append(mean[0])
        reported.append(error[0])
    assert 0.75 < np.sqrt(np.mean(np.square(reported))) / np.std(found, ddof=1) < 1.3


@pytest.mark.parametrize("seed", range(3))
def test_separation_is_the_difference_of_restricted_means(seed):
    rng = np.random.default_rng(seed)
    times, observed = rng.exponential(size=40), rng.random(40) < 0.7
    worse, strata = rng.random(40) < 0.5, rng.integers(0, 2, 40)

    def mean(own):
        fitted = KaplanMeierFitter().fit(times[own], observed[own])
        return restricted_mean_survival_time(fitted, t=0.8)

    plain = (mean(~worse) - mean(worse)) / 0.8
    assert_allclose(separation(times, observed, worse, np.zeros(40, int), 0.8), plain, rtol=1e-6)
    parts, weights = [], []
    for k in (0, 1):
        a, b = worse & (strata == k), ~worse & (strata == k)
        parts.append((mean(b) - mean(a)) / 0.8)
        weights.append(a.sum() * b.sum() / (a.sum() + b.sum()))
    found = separation(times, observed, worse, strata, 0.8)
    assert_allclose(found, np.average(parts, weights=weights), rtol=1e-6)
    assert separation(times, observed, np.ones(40, bool), strata, 0.8) == 0.0


# ------------------------------------------------------------------------------------ carried over


def test_nothing_is_learnt_from_the_tested_half():
    cohort = COHORTS[0]
    learnt, tested = cohort.X[:24], cohort.X[24:].copy()
    before = carry(learnt, tested, SETTINGS, 50, 0)
    tested[3:] += 100.0 * np.random.default_rng(0).normal(size=tested[3:].shape).clip(-0.01, 0.01)
    after = carry(learnt, tested, SETTINGS, 50, 0)
    assert list(before) == list(CARRIED_METHODS)
    for method, (own, carried) in before.items():
        assert_array_equal(own, after[method][0], err_msg=method)
        assert_allclose(carried[:3], after[method][1][:3], rtol=1e-7, err_msg=method)
        assert np.abs(carried[3:] - after[method][1][3:]).max() > 1e-6, method


def test_subjects_that_were_learnt_from_are_carried_to_themselves():
    X = COHORTS[1].X[:30]
    for method, (own, carried) in carry(X, X, SETTINGS, 50, 0).items():
        assert_allclose(carried, own, atol=1e-6 * np.abs(own).max(), err_msg=method)


@pytest.mark.parametrize("method", ["local pca", "averaged", "exact", "global exact"])
def test_coordinates_are_those_of_the_estimators(method):
    X = top_variance(COHORTS[0].X, 50)
    found = carry(COHORTS[0].X, COHORTS[0].X[:2], SETTINGS, 50, 7, (method,))[method][0]
    if method == "global exact":
        metric = InformedMahalanobis(3, 5, random_state=7).fit(X)
        distances = metric.pairwise_distances(X)
    else:
        metric = LocalInformedMahalanobis(
            12,
            3,
            5,
            directions="pca" if method == "local pca" else method,
            random_state=7,
        ).fit(X)
        distances = metric.pairwise_distances()
    expected = embed(distances, 2.0)[:, 0]
    assert_allclose(found * np.sign(found @ expected), expected, atol=1e-8)


def test_shrunk_pca_whitens_new_samples_where_pca_does_not():
    """Along a strong direction of the spiked model: variance 1 for new samples, not below."""
    rng = np.random.default_rng(0)
    u = np.linalg.qr(rng.normal(size=(300, 2)))[0]

    def draw(n):
        return rng.normal(size=(n, 2)) * [12.0, 7.0] @ u.T + rng.normal(size=(n, 300))

    from informed.studies.experiments.carried import _shrunk_pca

    training, fresh = draw(60), draw(4000)
    # The true variance along PCA's own axis, over the variance that it is divided by.
    shown = _shrunk_pca(training, 2)(fresh).var(axis=0)
    directions = np.linalg.svd(training - training.mean(axis=0))[2][:2]
    divisors = (training - training.mean(axis=0)) @ directions.T
    plain = (fresh @ directions.T).var(axis=0) / divisors.var(axis=0, ddof=1)
    assert (shown > plain).all()
    assert 0.7 < shown[1] < 1.4


def test_what_cannot_be_told_from_noise_is_left_out():
    from informed.studies.experiments.carried import _shrunk_pca

    X = np.random.default_rng(0).normal(size=(40, 30))
    X[:, 0] += 20 * np.random.default_rng(1).normal(size=40)
    assert _shrunk_pca(X, 3)(X).shape[1] < 3


# ----------------------------------------------------------------------------------------- studies


def test_a_half_by_hand(study):
    """Split, learn, name the risky end, test: written out for one half of one cohort."""
    seed = np.random.RandomState(0).randint(2**31 - 1, size=2)[1]
    cohort = COHORTS[2]
    order = np.random.RandomState(seed).permutation(44)
    learnt, tested = np.sort(order[22:]), np.sort(order[:22])
    carried = carry(cohort.X[learnt], cohort.X[tested], SETTINGS, 50, int(seed))
    for j, (own, risks) in enumerate(carried.values()):
        at_home = concordance_index(cohort.durations[learnt], cohort.events[learnt], own)
        risks = risks if at_home >= 0.5 else -risks
        index = concordance_index(cohort.durations[tested], cohort.events[tested], risks)
        assert_allclose(study.concordance[2, 3, j], index)


def test_a_cohort_does_not_depend_on_its_company(study):
    alone = cohort_comparison([COHORTS[1]], **OPTIONS)
    assert_array_equal(alone.concordance[0], study.concordance[1])
    assert_array_equal(alone.separation[0], study.separation[1])


def test_only_independent_cohorts_are_summarised(study):
    assert study.independent == ("one", "three")
    means, errors = study.differences("exact", "euclidean")
    expected = random_effects(means[[0, 2]], errors[[0, 2]])
    assert study.summary("exact", "euclidean") == expected
    assert len(study.summary_table().rows) == len(CARRIED_METHODS) - 1
    with pytest.raises(ValueError, match="without"):
        study.summary("exact", "euclidean", without=("two",))


def test_strata_are_treatments():
    chop = load_cohort("chop")
    assert_array_equal(np.bincount(strata_of(chop)), [181, 233])
    assert_array_equal(np.unique(chop.treatment[:181]), ["CHOP"])
    assert not strata_of(load_cohort("vdv")).any()


def test_study_is_saved_loaded_and_drawn(study, tmp_path):
    study.save(tmp_path / "study")
    again = load_result(tmp_path / "study")
    assert_array_equal(again.adjusted_separation, study.adjusted_separation)
    assert str(again) == str(study)
    figure = plots.cohort_comparison(study)
    assert len(figure.axes) == 2


@pytest.mark.parametrize(
    ("options", "message"), [({"names": []}, "names"), ({"n_splits": 0}, "n_splits")]
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        cohort_comparison(**{"names": [COHORTS[0]], **options})


def test_command_line_runs_it(tmp_path):
    words = ["--names", "NSBCD,MCLcleaned", "--n-splits", "1", "--n-genes", "20"]
    words += ["--n-neighbors", "8", "--n-components", "2", "--n-clusters", "3"]
    assert main(["run", "cohort_comparison", *words, "--out", str(tmp_path)]) == 0
    found = load_result(tmp_path / "cohort_comparison")
    assert found.cohorts == ("NSBCD", "MCLcleaned")
    assert found.concordance.shape == (2, 2, len(CARRIED_METHODS))


# ------------------------------------------------------------------------------------ stored table


def test_stored_table_is_complete(stored):
    assert stored.cohorts == (*COHORT_NAMES, "Director's Challenge")
    assert stored.independent == stored.cohorts[1:]  # vdv shares patients with DBCD
    assert stored.methods == CARRIED_METHODS
    assert stored.concordance.shape == (8, 30, 8)
    assert stored.n_samples.tolist() == [78, 115, 295, 92, 116, 240, 414, 442]
    assert stored.n_strata.tolist() == [1, 1, 1, 1, 1, 1, 2, 11]
    assert_allclose(stored.concordance[:6], stored.adjusted_concordance[:6])
    assert not np.allclose(stored.concordance[6:], stored.adjusted_concordance[6:])


def test_stored_table_comes_out_again(stored):
    again = cohort_comparison(["MCLcleaned"], n_splits=1)
    row = stored.cohorts.index("MCLcleaned")
    assert_allclose(again.concordance[0], stored.concordance[row, :2], atol=1e-6)
    assert_allclose(again.separation[0], stored.separation[row, :2], atol=1e-6)
    assert_allclose(again.horizons, stored.horizons[row])


@pytest.mark.skipif(find_directors_challenge() is None, reason="the files are not here")
def test_stored_lung_cancers_come_out_again(stored):
    again = cohort_comparison(["directors-challenge"], n_splits=1)
    assert_allclose(again.adjusted_concordance[0], stored.adjusted_concordance[-1, :2], atol=1e-6)
    assert_allclose(again.adjusted_separation[0], stored.adjusted_separation[-1, :2], atol=1e-6)


def within(found, margin):
    return -margin < found.lower < found.upper < margin


def test_stored_table_says_what_the_chapter_says(stored):
    """The verdicts in words: each fails if the table is changed so that it no longer holds."""
    margin = MARGINS["concordance"]
    exact = stored.summary("exact", "euclidean")
    assert within(exact, margin)
    assert within(stored.summary("global exact", "euclidean"), margin)
    assert not within(stored.summary("exact", "euclidean", "separation"), MARGINS["separation"])
    for one, other in (("local pca", "euclidean"), ("exact", "local pca")):
        found = stored.summary(one, other)
        assert not within(found, margin)
        assert found.lower < 0 < found.upper
    for method in ("shrunk pca", "agglomeration", "agglomeration + pca"):
        assert stored.summary(method, "euclidean").lower < -margin
        assert stored.summary(method, "euclidean").mean < 0
    # Without either breast cancer cohort the verdict on exact and Euclidean falls.
    for name in ("NSBCD", "DBCD"):
        assert not within(stored.summary("exact", "euclidean", without=(name,)), margin)
    chop = stored.cohorts.index("chop")
    means, errors = stored.levels()
    for method in ("local pca", "averaged"):
        j = CARRIED_METHODS.index(method)
        assert means[chop, j] - 2 * errors[chop, j] > 0.5
        assert means[chop, j] > means[chop, 0] + 0.08


def test_margins_are_the_advantage_that_the_paper_reports():
    """Concordance of two equal groups in proportional hazards, drawn and by the formula."""
    ratios = np.exp(norm.isf(np.array([0.0056, 0.0219]) / 2) * 2 / np.sqrt(35))
    index = 0.25 + 0.5 * ratios / (1 + ratios)
    assert 0.8 * MARGINS["concordance"] < index[0] - index[1] < MARGINS["concordance"]
    rng = np.random.default_rng(0)
    worse = np.arange(3000) % 2
    times = rng.exponential(1 / np.where(worse, ratios[0], 1.0))
    assert_allclose(concordance_index(times, np.ones(3000), worse), index[0], atol=0.01)


@pytest.mark.parametrize("n", [20, 300])
def test_a_bootstrap_draw_holds_as_many_copies_as_stated(n):
    rng = np.random.default_rng(0)
    drawn = rng.integers(n, size=(4000, n))
    copied = np.mean([np.bincount(row, minlength=n)[row[0]] > 1 for row in drawn])
    assert_allclose(copied, 1 - (1 - 1 / n) ** (n - 1), atol=0.03)
