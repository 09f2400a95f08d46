"""The paper's own patients, and splits carried from one hospital to another."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from informed import LocalInformedMahalanobis, plots
from informed.datasets import (
    DirectorsChallenge,
    find_directors_challenge,
    load_candf,
    load_directors_challenge,
    make_risk_cohort,
    top_variance,
)
from informed.experiments import (
    OwnPatients,
    SiteTransfer,
    load_result,
    own_patients,
    risk_groups,
    site_transfer,
)
from informed.parallel import seeds
from informed.studies.experiments.own_patients import (
    PAPERS_COHORT,
    PUBLISHED,
    PUBLISHED_P,
    fingerprint,
)
from informed.studies.experiments.own_steps import (
    UNCHANGED,
    VARIATIONS,
)
from informed.studies.experiments.site_steps import age_and_stage, log_ratio
from informed.survival import (
    adjusted_hazard_ratio,
    hazard_ratio,
    proportional_hazards_p_value,
    restricted_mean_difference,
)

RESULTS = Path(__file__).resolve().parent.parent / "book" / "results"
REAL = find_directors_challenge()
needs_files = pytest.mark.skipif(
    REAL is None, reason="the files of the Director's Challenge are not on this machine"
)


@pytest.fixture(scope="module")
def cohort():
    return make_risk_cohort(50, 420, random_state=0)


# ------------------------------------------------------------------------- What the study returns


@pytest.fixture(scope="module")
def small(cohort):
    names = [UNCHANGED, "late deaths censored", "all follow-up", "split at the median"]
    return own_patients(cohort, sizes=(10, 20), variations=names, n_repeats=2, n_permutations=99)


def test_result_fits_together(small, cohort, tmp_path):
    assert small.changed.shape == (4, 5, 2)
    assert small.dropped.shape == small.censored.shape == (5, 2, 2)
    # At N = 20 the curve and the table of changes are the same runs.
    np.testing.assert_array_equal(small.changed[0], small.dropped[:, 1])
    np.testing.assert_array_equal(small.changed[1], small.censored[:, 1])
    assert (small.changed[:, 0, 0] == small.changed[:, 0, 1]).all()
    assert small.agreement[0] == 1
    assert small.fingerprint == fingerprint(cohort)
    assert [row["N"] for row in small.curve_table().as_dicts()] == [10, 20]
    assert UNCHANGED in str(small)
    for table, p in ((small.table, small.dropped), (small.censored_table, small.censored)):
        for row, own in zip(table.as_dicts(), p[:, 1], strict=True):
            expected = np.median(own), np.mean(own), np.std(own)
            np.testing.assert_allclose(
                [row[c] for c in ("median p", "mean p", "sd of p")], expected
            )
    small.save(tmp_path / "own")
    again = load_result(tmp_path / "own")
    assert isinstance(again, OwnPatients)
    assert str(again) == str(small)


def test_published_numbers_stand_beside_the_papers_patients_only(small):
    theirs = dataclasses.replace(small, cohort=PAPERS_COHORT)
    rows = theirs.curve_table().as_dicts()
    assert [row["published ILM"] for row in rows] == [0.05, 0.015]
    assert [row["published LM"] for row in rows] == [0.217, 0.067]
    assert PUBLISHED_P == {"informed": 0.0056, "local pca": 0.0219}
    assert "0.0056 (informed), 0.0219 (local pca)" in str(theirs)
    assert "ublished" not in str(small)
    assert "0.0056" not in str(small)
    other = dataclasses.replace(theirs, sizes=np.array([12, 60]))
    assert np.isnan(other.curve_table().as_dicts()[0]["published LM"])
    assert other.curve_table().as_dicts()[1]["published LM"] == 0.042


def test_without_the_papers_size_the_table_has_the_seeds_of_the_variations(small):
    other = dataclasses.replace(small, sizes=np.array([10, 25]), changed=small.changed + 1)
    assert other.censored_table is None
    assert [row["mean p"] for row in other.table.as_dicts()] == pytest.approx(
        other.changed[0].mean(axis=1)
    )
    assert "late deaths censored, p" not in str(other)
    alone = dataclasses.replace(small, variations=(UNCHANGED,), changed=small.changed[:1])
    assert "one change at a time" not in str(alone)


def test_late_deaths_change_the_p_value_and_nothing_else(small, cohort):
    full = risk_groups(cohort, skip=1, n_repeats=2, random_state=0)
    np.testing.assert_allclose(small.changed[2, 4], full.p_values["informed"])
    cut = risk_groups(cohort, skip=1, n_repeats=2, horizon=60, late_deaths="drop", random_state=0)
    np.testing.assert_allclose(small.changed[0, 4], cut.p_values["informed"])


def test_own_patients_refuses_what_it_cannot_run(cohort):
    with pytest.raises(ValueError, match="must start with"):
        own_patients(cohort, sizes=(20,), variations=["split at the median"])
    with pytest.raises(ValueError, match="variations='nothing'"):
        own_patients(cohort, sizes=(20,), variations=["nothing"])
    with pytest.raises(ValueError, match="has 50 genes: the variations need 401"):
        own_patients(top_variance(cohort, 50), sizes=(20,))
    with pytest.raises(ValueError, match="sizes is empty"):
        own_patients(cohort, sizes=())


# --------------------------------------------------------------------- From one hospital to another


def hospitals(offset=0.0, random_state=0):
    """Three hospitals of one synthetic cohort; all values of the second are shifted."""
    one = make_risk_cohort(120, 60, effect=2.0, random_state=random_state)
    rng = np.random.default_rng(random_state)
    sites = np.repeat(["A", "B", "C"], [50, 40, 30])
    X = one.X + np.where(sites == "B", offset, 0.0)[:, None] * np.linspace(-1, 1, 60)
    return DirectorsChallenge(
        **{
            field.name: getattr(one, field.name)
            for field in dataclasses.fields(one)
            if field.name not in ("X", "risk", "feature_labels")
        },
        X=X,
        sites=sites,
        age=rng.normal(60, 10, 120),
        sex=np.repeat("F", 120),
        stage=np.repeat("I_II", 120),
        tnm_stage=rng.choice(["I", "II"], 120),
        grade=np.ones(120, dtype=int),
    )


OPTIONS = {"n_genes": 40, "skip": 0, "n_repeats": 2, "n_draws": 10}


@pytest.fixture(scope="module")
def transfer():
    return site_transfer(hospitals(), **OPTIONS)


def test_every_ordered_pair_is_tested_once(transfer):
    pairs = list(zip(transfer.train.tolist(), transfer.test.tolist(), strict=True))
    assert pairs == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    assert transfer.ratios.shape == (2, 6, 3)
    assert (transfer.at_home >= 1).all()
    np.testing.assert_allclose(transfer.seed_ratios[:, :, 0], transfer.ratios[:, :, 2])
    assert ((transfer.lower < transfer.ratios) & (transfer.ratios < transfer.upper)).all()


def test_carried_split_is_the_nystrom_extension_by_hand(transfer):
    cohort = hospitals()
    home, away = cohort.at("A"), cohort.at("C")
    order = np.argsort(-home.X.std(axis=0), kind="stable")[:40]
    seed = seeds(0, 2)[0]
    metric = LocalInformedMahalanobis(20, 6, 7, random_state=seed).fit(home.X[:, order])
    known = metric.pairwise_distances()
    epsilon = 2 * np.median(known[np.triu_indices(50, 1)] ** 2)
    kernel = np.exp(-(known**2) / epsilon)
    values, vectors = np.linalg.eig(kernel / kernel.sum(axis=1, keepdims=True))
    leading = vectors[:, np.argsort(-values.real)[1]].real
    new = np.exp(-(metric.pairwise_distances(Y=away.X[:, order]).T ** 2) / epsilon)
    side = (new @ leading) / new.sum(axis=1) > 0
    died = home.months <= 60
    at_home = hazard_ratio(np.minimum(home.months, 60), home.events * died, leading > 0).ratio
    side = side if at_home > 1 else ~side
    row = transfer.preparations.index("as measured")
    assert int(side.sum()) == transfer.worse[row, 1, 2]
    tested = hazard_ratio(np.minimum(away.months, 60), away.events * (away.months <= 60), side)
    assert transfer.ratios[row, 1, 2] == pytest.approx(tested.ratio)
    follow_up = np.minimum(away.months, 60), away.events * (away.months <= 60)
    lost = restricted_mean_difference(*follow_up, ~side)
    assert transfer.lost[row, 1, 2] == pytest.approx(lost.difference)
    assert transfer.lost_upper[row, 1, 2] == pytest.approx(lost.upper)
    changing = proportional_hazards_p_value(*follow_up, side)
    assert transfer.proportional[row, 1, 2] == pytest.approx(changing, rel=1e-6)


def test_centring_takes_a_shift_of_a_hospital_out(transfer):
    shifted = site_transfer(hospitals(offset=3.0), **OPTIONS)
    row = transfer.preparations.index("centred")
    np.testing.assert_allclose(shifted.ratios[row], transfer.ratios[row], rtol=1e-6)
    raw = transfer.preparations.index("as measured")
    assert shifted.explained[raw] > 3 * transfer.explained[raw]
    # All of B, and those of A and C who happen to be nearest to their own.
    assert shifted.nearest[raw] > transfer.nearest[raw] + 0.2
    assert shifted.explained[row] == pytest.approx(0, abs=1e-12)


def test_summary_counts_what_the_tables_show(transfer, tmp_path):
    rows = transfer.summary().as_dicts()
    row = transfer.preparations.index("centred")
    assert [r["above 1"] for r in rows] == np.sum(transfer.ratios[row] > 1, axis=0).tolist()
    means = [float(r["months lost (95 %)"].split()[0]) for r in rows]
    np.testing.assert_allclose(means, transfer.lost[row].mean(axis=0), atol=0.051)
    assert len(transfer.lost_table("as measured").rows) == 6
    ratio, low, high = transfer.difference("informed", "informed")
    assert (ratio, low, high) == (1, 1, 1)
    assert len(transfer.pair_table("as measured", adjusted=False).rows) == 6
    transfer.save(tmp_path / "sites")
    assert str(load_result(tmp_path / "sites")) == str(transfer)


def test_one_hospital_is_not_enough():
    with pytest.raises(ValueError, match="at least two are needed"):
        site_transfer(hospitals().at("A"))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.booleans())
def test_quick_log_ratio_is_that_of_the_library(seed, ties):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat([0, 1], [14, 16]))
    durations = rng.exponential(20, 30) * np.exp(-0.5 * groups)
    durations = np.ceil(durations) if ties else durations
    events = (rng.random(30) < 0.7).astype(int)
    try:
        expected = np.log(hazard_ratio(durations, events, groups).ratio)
    except ValueError:
        return
    if abs(expected) < 4.9:
        assert log_ratio(durations, events, groups) == pytest.approx(expected, abs=1e-6)


def test_group_without_deaths_is_held_at_a_finite_ratio():
    durations, groups = np.arange(1.0, 11), np.repeat([0, 1], 5)
    assert log_ratio(durations, (groups == 0).astype(int), groups) == -5
    assert log_ratio(durations[::-1], (groups == 1).astype(int), groups) == 5


def test_adjusted_ratio_maximises_the_partial_likelihood():
    cohort = hospitals(random_state=3)
    groups = np.random.default_rng(0).integers(0, 2, 120)
    test = np.flatnonzero(cohort.sites == "A")
    found = adjusted_hazard_ratio(
        cohort.durations[test], cohort.events[test], groups[test], age_and_stage(cohort, test)
    )
    Z = np.column_stack([groups, cohort.age / 10, cohort.tnm_stage == "II"])[test].astype(float)
    Z -= Z.mean(axis=0)
    times, died = cohort.durations[test], cohort.events[test] == 1
    assert len(np.unique(times)) == len(times)

    def loss(beta):
        risk = Z @ beta
        return -sum(
            risk[i] - np.log(np.sum(np.exp(risk[times >= times[i]]))) for i in np.flatnonzero(died)
        )

    best = minimize(loss, np.zeros(3), method="BFGS", options={"gtol": 1e-8})
    assert np.log(found.ratio) == pytest.approx(best.x[0], abs=1e-4)
    # The curvature at the maximum gives the interval.
    step = 1e-3 * np.eye(3)
    hessian = [
        [
            (loss(best.x + a + b) - loss(best.x + a) - loss(best.x + b) + loss(best.x)) / 1e-6
            for b in step
        ]
        for a in step
    ]
    error = np.sqrt(np.linalg.inv(hessian)[0, 0])
    assert np.log(found.upper / found.lower) == pytest.approx(2 * 1.96 * error, rel=1e-2)


def test_adjustment_refuses_covariates_that_say_nothing():
    follow_up = (np.arange(1.0, 9), np.ones(8), np.repeat([0, 1], 4))
    for bad, match in (
        (np.ones(8), "'age' is 1 for every subject"),
        (np.ones(7), "'age' must hold a finite number for each of the 8"),
        (np.r_[np.nan, np.arange(7)], "'age' must hold a finite number"),
    ):
        with pytest.raises(ValueError, match=match):
            adjusted_hazard_ratio(*follow_up, {"age": bad})
    with pytest.raises(ValueError, match="exactly two groups"):
        adjusted_hazard_ratio(*follow_up[:2], np.arange(8), {"age": np.arange(8)})


def test_figures_show_what_was_computed(small, transfer):
    curve = plots.own_patients(dataclasses.replace(small, cohort=PAPERS_COHORT))
    drawn = curve.axes[1].get_lines()[:5]
    np.testing.assert_allclose(drawn[4].get_ydata(), small.dropped[4].mean(axis=1))
    np.testing.assert_allclose(curve.axes[0].get_lines()[1].get_ydata(), PUBLISHED["informed"])
    # Published numbers are of the paper's patients: beside others they are not drawn.
    others = plots.own_patients(small).axes
    assert len(others) == 2
    np.testing.assert_allclose(others[0].get_lines()[4].get_ydata(), drawn[4].get_ydata())
    rows = plots.own_variations(small).axes[0]
    assert [text.get_text() for text in rows.texts] == list(small.variations)
    # A name stands above its own dots, and below those of the row before.
    heights = [text.get_position()[1] for text in rows.texts]
    np.testing.assert_allclose(np.diff(heights), -1.0)
    assert 0.3 < heights[-1] < 0.7
    forest = plots.site_transfer(transfer, preparation="as measured")
    assert len(forest.axes) == 3
    np.testing.assert_allclose(
        forest.axes[2].containers[0].lines[0].get_xdata(), transfer.adjusted[1, :, 2]
    )


# ------------------------------------------------------------------------------ What the book shows


@pytest.fixture(scope="module")
def stored():
    return load_result(RESULTS / "own_patients"), load_result(RESULTS / "site_transfer")


def test_stored_results_are_of_the_full_runs(stored):
    own, sites = stored
    assert isinstance(own, OwnPatients)
    assert isinstance(sites, SiteTransfer)
    assert (own.n_samples, own.n_events, own.n_late) == (82, 35, 7)
    assert own.variations == tuple(VARIATIONS)
    assert own.sizes.tolist() == PUBLISHED["sizes"].tolist()
    assert own.dropped.shape == (5, 11, 20)
    assert own.changed.shape == (len(VARIATIONS), 5, 10)
    assert sites.sites == ("DFCI", "HLM", "MI", "MSKCC")
    assert sites.n_samples.tolist() == [82, 79, 177, 104]
    assert sites.n_events.tolist() == [35, 60, 102, 39]
    assert (len(sites.train), sites.seed_ratios.shape[2], sites.draws.shape[1]) == (12, 10, 1000)


@needs_files
def test_stored_patients_are_what_the_files_give(stored):
    own, _ = stored
    cohort = load_candf(source="directors-challenge", folder=REAL)
    assert own.fingerprint == fingerprint(cohort)
    names = [UNCHANGED, "values on a linear scale", "rows not centred", "all follow-up"]
    again = own_patients(cohort, sizes=(20, 60), variations=names, n_repeats=1)
    chosen = [own.variations.index(name) for name in names]
    np.testing.assert_allclose(again.changed[:, :, 0], own.changed[chosen, :, 0], rtol=1e-6)
    columns = [own.sizes.tolist().index(size) for size in (20, 60)]
    np.testing.assert_allclose(again.dropped[:, :, 0], own.dropped[:, columns, 0], rtol=1e-6)
    np.testing.assert_allclose(again.censored[:, :, 0], own.censored[:, columns, 0], rtol=1e-6)
    np.testing.assert_allclose(again.permutation, own.permutation)


@needs_files
def test_stored_pairs_of_hospitals_are_what_the_files_give(stored):
    _, sites = stored
    cohort = load_directors_challenge(REAL)
    assert sites.fingerprint == fingerprint(cohort)
    again = site_transfer(cohort, n_repeats=1, n_draws=1)
    for name in ("ratios", "lower", "adjusted", "adjusted_upper", "p_values", "worse", "at_home"):
        np.testing.assert_allclose(getattr(again, name), getattr(sites, name), rtol=1e-6)
    for name in ("lost", "lost_lower", "lost_upper"):
        np.testing.assert_allclose(getattr(again, name), getattr(sites, name), atol=1e-8)
    np.testing.assert_allclose(again.proportional, sites.proportional, rtol=1e-4)
    np.testing.assert_allclose(again.lost_draws[:, 0], sites.lost_draws[:, 0], atol=1e-8)
    np.testing.assert_allclose(again.explained[1], sites.explained[1])
    np.testing.assert_allclose(again.draws[:, 0], sites.draws[:, 0], rtol=1e-6)
