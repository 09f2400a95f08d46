"""Cohorts: the container, the choice of genes, the synthetic cohort and those of SurvSet."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import types

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from informed.datasets import (
    COHORT_NAMES,
    Cohort,
    RiskCohort,
    load_cohort,
    make_risk_cohort,
    top_variance,
    variance_order,
)


def small_cohort(**changes):
    given = {
        "X": np.array([[0.0, 5, 1], [1, 1, 3], [2, 9, 2], [4, 0, 2]]),
        "durations": [1.0, 2.0, 0.0, 4.0],
        "events": [1, 0, 1, 0],
        "feature_names": ["a", "b", "c"],
        "sample_names": ["p", "q", "r", "s"],
        "name": "small",
        "disease": "none",
        "endpoint": "death",
        "time_unit": "years",
        "source": "invented",
        "citation": "none",
    }
    return Cohort(**(given | changes))


# ------------------------------------------------------------------------------------ The container


def test_cohort_holds_arrays_and_tuples():
    cohort = small_cohort(events=[True, False, True, False])
    assert cohort.durations.dtype == float
    np.testing.assert_array_equal(cohort.events, [1, 0, 1, 0])
    assert cohort.events.dtype == np.intp
    assert cohort.feature_names == ("a", "b", "c")
    assert repr(cohort) == "<Cohort 'small': 4 samples × 3 features, 2 events, durations in years>"
    with pytest.raises(dataclasses.FrozenInstanceError):
        cohort.name = "other"


@pytest.mark.parametrize(
    ("unit", "factor"), [("days", 12 / 365.25), ("months", 1.0), ("years", 12.0)]
)
def test_durations_in_months(unit, factor):
    cohort = small_cohort(time_unit=unit)
    np.testing.assert_allclose(cohort.months, np.array([1, 2, 0, 4]) * factor)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"X": np.full((4, 3), np.nan)}, "X contains NaN"),
        ({"durations": [1.0, 2.0]}, r"durations .*\(2,\).* 4 samples"),
        ({"events": [1, 0]}, r"events .*\(2,\).* 4 samples"),
        ({"durations": [1.0, -2.0, 1.0, 1.0]}, "durations holds -2.0"),
        ({"durations": [1.0, np.nan, 1.0, 1.0]}, "durations holds nan"),
        ({"events": [1, 2, 0, 0]}, "events holds .*2.* 1 for an event"),
        ({"time_unit": "weeks"}, "time_unit='weeks' .*'years'"),
        ({"feature_names": ["a"]}, "feature_names holds 1 names.*needs 3"),
        ({"sample_names": ["p"]}, "sample_names holds 1 names.*needs 4"),
    ],
)
def test_cohort_refuses_what_does_not_fit(changes, match):
    with pytest.raises(ValueError, match=match):
        small_cohort(**changes)


# -------------------------------------------------------------------------- The most variable genes


def test_top_variance_of_a_cohort_takes_the_names_along():
    cohort = small_cohort()
    top = top_variance(cohort, 2)
    assert top.feature_names == ("b", "a")
    np.testing.assert_array_equal(top.X, cohort.X[:, [1, 0]])
    assert (top.name, top.sample_names) == (cohort.name, cohort.sample_names)
    assert top_variance(cohort, 2, skip=1).feature_names == ("a", "c")


def test_top_variance_of_a_risk_cohort_takes_the_true_clusters_along():
    cohort = make_risk_cohort(random_state=0)
    top = top_variance(cohort, 20)
    assert isinstance(top, RiskCohort)
    for name, label in zip(top.feature_names, top.feature_labels, strict=True):
        assert cohort.feature_labels[cohort.feature_names.index(name)] == label
    np.testing.assert_array_equal(top.risk, cohort.risk)


@given(
    X=hnp.arrays(
        float,
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=8),
        elements=st.floats(-1e3, 1e3, width=16),
    ),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_top_variance_keeps_the_largest_in_order(X, data):
    skip = data.draw(st.integers(0, X.shape[1] - 1))
    n_features = data.draw(st.integers(1, X.shape[1] - skip))
    ranked = sorted(range(X.shape[1]), key=lambda j: (-X[:, j].std(), j))
    np.testing.assert_array_equal(variance_order(X), ranked)
    np.testing.assert_array_equal(
        top_variance(X, n_features, skip), X[:, ranked[skip : skip + n_features]]
    )


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda: top_variance(small_cohort(), 4), ValueError, r"n_features=4 .*1 to 3"),
        (lambda: top_variance(small_cohort(), 3, skip=1), ValueError, r"n_features=3 .*1 to 2"),
        (lambda: top_variance(small_cohort(), 1, skip=3), ValueError, r"skip=3 .*0 to 2"),
        (lambda: top_variance(np.ones((3, 2)), 1.0), TypeError, r"n_features must be"),
        (lambda: top_variance([[np.nan], [1.0]], 1), ValueError, "NaN"),
    ],
)
def test_top_variance_says_what_is_allowed(call, error, match):
    with pytest.raises(error, match=match):
        call()


# ----------------------------------------------------------------------------- The synthetic cohort


def log_rank_statistic(durations, events, group):
    """Squared log-rank score for a 0/1 group, from its definition: about χ²(1) without effect."""
    score = variance = 0.0
    for time in np.unique(durations[events == 1]):
        at_risk = durations >= time
        n, n_group = at_risk.sum(), (at_risk & (group == 1)).sum()
        dying = (durations == time) & (events == 1)
        d = dying.sum()
        score += (dying & (group == 1)).sum() - d * n_group / n
        if n > 1:
            variance += d * n_group * (n - n_group) * (n - d) / (n**2 * (n - 1))
    return score**2 / variance


def concordance(durations, events, risk):
    """Share of comparable pairs in which the patient of higher risk dies first."""
    concordant = comparable = 0
    for i in np.flatnonzero(events):
        later = durations > durations[i]
        comparable += later.sum()
        concordant += (later & (risk < risk[i])).sum()
    return concordant / comparable


def test_risk_cohort_has_the_shape_of_candf():
    cohort = make_risk_cohort(random_state=0)
    assert cohort.X.shape == (82, 200)
    assert cohort.events.sum() == 35
    assert cohort.time_unit == "months"
    assert (cohort.durations > 0).all()
    sizes = np.bincount(cohort.feature_labels)
    assert len(sizes) == 7
    assert sizes.max() - sizes.min() <= 1
    assert not (np.diff(cohort.feature_labels) >= 0).all()
    assert cohort.feature_names[0] == "gene_001"
    assert len(set(cohort.feature_names)) == 200


@pytest.mark.parametrize("random_state", [7, 0])
def test_risk_cohort_is_deterministic(random_state):
    first, second = (make_risk_cohort(random_state=random_state) for _ in range(2))
    for field in dataclasses.fields(RiskCohort):
        np.testing.assert_array_equal(getattr(first, field.name), getattr(second, field.name))
    assert not np.array_equal(first.X, make_risk_cohort(random_state=random_state + 1).X)


@given(n_samples=st.integers(2, 60), seed=st.integers(0, 1000), data=st.data())
@settings(max_examples=60, deadline=None)
def test_exactly_the_asked_number_dies(n_samples, seed, data):
    n_deaths = data.draw(st.integers(1, n_samples))
    cohort = make_risk_cohort(n_samples, 7, n_deaths=n_deaths, random_state=seed)
    assert cohort.events.sum() == n_deaths


@pytest.mark.parametrize(("n_samples", "n_deaths"), [(82, 35), (164, 70), (2, 1)])
def test_death_rate_is_that_of_candf_by_default(n_samples, n_deaths):
    assert make_risk_cohort(n_samples, 7, random_state=1).events.sum() == n_deaths


def test_risk_is_tied_to_survival():
    scores, statistics = [], []
    for seed in range(12):
        cohort = make_risk_cohort(random_state=seed)
        scores.append(concordance(cohort.durations, cohort.events, cohort.risk))
        statistics.append(
            log_rank_statistic(cohort.durations, cohort.events, (cohort.risk > 0).astype(int))
        )
    assert np.mean(scores) > 0.65
    assert min(scores) > 0.5
    assert np.median(statistics) > 6.63  # The 1 % point of χ²(1).


def test_without_effect_risk_and_survival_are_independent():
    cohorts = [make_risk_cohort(effect=0.0, random_state=seed) for seed in range(40)]
    scores = [concordance(c.durations, c.events, c.risk) for c in cohorts]
    statistics = [
        log_rank_statistic(c.durations, c.events, (c.risk > 0).astype(int)) for c in cohorts
    ]
    assert abs(np.mean(scores) - 0.5) < 4 * np.std(scores) / np.sqrt(40)
    assert np.mean(statistics) < 2  # Its expectation is 1, its standard error 0.22.


def test_hazard_ratio_is_the_effect():
    """Without censoring, Weibull times raised to their shape are exponential with rate exp(βz)."""
    cohort = make_risk_cohort(20_000, 7, n_deaths=20_000, effect=0.8, random_state=0)
    slope, _ = np.polyfit(cohort.risk, np.log(cohort.durations) * 1.3, 1)
    # The log of an exponential has standard deviation π/√6, the risk 1/√3.
    assert slope == pytest.approx(-0.8, abs=5 * np.pi / np.sqrt(6) * np.sqrt(3 / 20_000))


def test_clusters_respond_to_risk_each_in_its_way():
    cohort = make_risk_cohort(4000, 70, noise=0.1, random_state=0)
    centered = cohort.X - cohort.X.mean(axis=0)
    means = np.column_stack(
        [centered[:, cohort.feature_labels == cluster].mean(axis=1) for cluster in range(7)]
    )
    high, middle, low = (
        means[(cohort.risk > a) & (cohort.risk < b)].mean(axis=0)
        for a, b in [(0.8, 1), (-0.1, 0.1), (-1, -0.8)]
    )
    assert high[0] > middle[0] + 0.5 > low[0] + 1  # On,
    assert high[1] < middle[1] - 0.5 < low[1] - 1  # off,
    assert high[2] - middle[2] > 2 * (middle[2] - low[2]) > 0  # late,
    assert middle[3] - low[3] > 2 * (high[3] - middle[3]) > 0  # early,
    assert middle[4] > max(high[4], low[4]) + 1  # in the middle,
    half_up = means[np.abs(cohort.risk - 0.5) < 0.1].mean(axis=0)
    assert half_up[5] > max(high[5], middle[5]) + 0.4  # there and back,
    assert max(abs(high[6]), abs(middle[6]), abs(low[6])) < 0.2  # not at all.


def test_genes_of_a_cluster_move_together():
    cohort = make_risk_cohort(500, 70, random_state=0)
    correlation = np.corrcoef(cohort.X.T)
    same = cohort.feature_labels[:, None] == cohort.feature_labels
    np.fill_diagonal(same, False)
    others = cohort.feature_labels[:, None] != cohort.feature_labels
    assert correlation[same].mean() > 0.1
    assert correlation[same].mean() > 3 * abs(correlation[others].mean())


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"n_samples": 1}, "n_samples=1"),
        ({"n_features": 6}, "n_features=6 .*>= 7"),
        ({"n_deaths": 0}, "n_deaths=0 .*1 to 82"),
        ({"n_deaths": 83}, "n_deaths=83 .*n_samples=82"),
        ({"effect": -1}, "effect=-1"),
        ({"noise": np.nan}, "noise=nan"),
        ({"random_state": "seed"}, "random_state='seed'"),
    ],
)
def test_risk_cohort_names_bad_arguments(arguments, match):
    with pytest.raises(ValueError, match=match):
        make_risk_cohort(**arguments)


# ------------------------------------------------------------------------------------------ SurvSet

SIZES = {
    "vdv": (78, 4705, 34, "years"),
    "NSBCD": (115, 549, 38, "months"),
    "DBCD": (295, 4919, 79, "years"),
    "MCLcleaned": (92, 574, 64, "years"),
    "AML_Bull": (116, 6283, 67, "days"),
    "DLBCL": (240, 7399, 138, "years"),
    "chop": (414, 3824, 165, "years"),
}


def test_cohort_names():
    assert set(COHORT_NAMES) == set(SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_real_cohorts_hold_genes_and_survival_only(name):
    pytest.importorskip("SurvSet")
    cohort = load_cohort(name)
    n_samples, n_features, n_events, unit = SIZES[name]
    assert cohort.X.shape == (n_samples, n_features)
    assert cohort.events.sum() == n_events
    assert (cohort.name, cohort.time_unit) == (name, unit)
    assert len(set(cohort.feature_names)) == n_features
    assert len(set(cohort.sample_names)) == n_samples
    assert not any(gene.startswith(("num_", "fac_", "AFFX")) for gene in cohort.feature_names)
    # Expression takes many values; a clinical code would take few.
    assert min(len(np.unique(column)) for column in cohort.X.T) > 20
    # Follow-up of cancer patients: median between one and twelve years, whatever the unit.
    assert 6 < np.median(cohort.months) < 144
    assert cohort.months.max() < 12 * 25
    for text in (cohort.disease, cohort.endpoint, cohort.citation, cohort.notes):
        assert text
    assert cohort.source.startswith("SurvSet, https://")


def test_notes_about_vdv_are_true():
    pytest.importorskip("SurvSet")
    cohort = load_cohort("vdv")
    events = cohort.events == 1
    assert cohort.durations[events].max() < 5 < cohort.durations[~events].min()


def test_real_cohort_is_the_table_of_survset():
    survset = pytest.importorskip("SurvSet.data")
    cohort = load_cohort("MCLcleaned")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)
        table = survset.SurvLoader().load_dataset("MCLcleaned")["df"]
    np.testing.assert_array_equal(cohort.X[:, 5], table["num_" + cohort.feature_names[5]])
    np.testing.assert_array_equal(cohort.durations, table["time"])
    np.testing.assert_array_equal(cohort.events, table["event"])
    assert cohort.sample_names == tuple(table["pid"])


@pytest.mark.parametrize("name", ["nki", "VDV", 3, None])
def test_unknown_cohort_lists_the_known_ones(name):
    with pytest.raises(ValueError, match=r"name=.*'AML_Bull'.*'vdv'"):
        load_cohort(name)


def hide(monkeypatch, package):
    for module in [key for key in sys.modules if key.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)


def test_missing_survset_names_the_extra(monkeypatch):
    hide(monkeypatch, "SurvSet")
    with pytest.raises(ImportError, match=r"'vdv'.*SurvSet: pip install \"informed\[data\]\""):
        load_cohort("vdv")


def test_another_missing_package_is_not_blamed_on_survset(monkeypatch, tmp_path):
    package = tmp_path / "SurvSet"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "data.py").write_text("import a_package_that_is_not_there\n")
    hide(monkeypatch, "SurvSet")
    monkeypatch.delitem(sys.modules, "SurvSet")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_package_that_is_not_there"):
        load_cohort("vdv")


def fake_survset(monkeypatch, change):
    """Stand in for SurvSet with a table of vdv's size that ``change`` has altered."""
    n_samples, n_features, n_events, _ = SIZES["vdv"]
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        rng.normal(size=(n_samples, n_features)),
        columns=[f"num_g{gene}" for gene in range(n_features)],
    )
    table.insert(0, "time", rng.exponential(size=n_samples))
    table.insert(0, "event", (np.arange(n_samples) < n_events).astype(int))
    table.insert(0, "pid", np.arange(n_samples))
    table = change(table)
    module = types.ModuleType("SurvSet.data")
    module.SurvLoader = lambda: types.SimpleNamespace(
        load_dataset=lambda _: {"df": table, "ref": "https://example.org"}
    )
    monkeypatch.setitem(sys.modules, "SurvSet", types.ModuleType("SurvSet"))
    monkeypatch.setitem(sys.modules, "SurvSet.data", module)


def test_stand_in_for_survset_is_accepted_unaltered(monkeypatch):
    fake_survset(monkeypatch, lambda table: table)
    assert load_cohort("vdv").feature_names[:2] == ("g0", "g1")


def blank_one_gene(table):
    table.iloc[3, 10] = np.nan
    return table


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda table: table.assign(fac_grade=1), r"'vdv' is not the one.*'fac_grade'"),
        (lambda table: table.iloc[1:], r"\(77, 4705, 33.*expected \(78, 4705, 34"),
        (lambda table: table.drop(columns="num_g7"), r"\(78, 4704, 34"),
        (lambda table: table.assign(event=0), r"\(78, 4705, 0"),
        (blank_one_gene, "1 missing values"),
    ],
)
def test_changed_tables_are_refused(monkeypatch, change, match):
    fake_survset(monkeypatch, change)
    with pytest.raises(ValueError, match=match):
        load_cohort("vdv")


def test_importing_datasets_does_not_import_what_only_loaders_need():
    code = (
        "import sys, informed.datasets\n"
        "heavy = {'SurvSet', 'xlrd', 'pooch', 'requests', 'matplotlib', 'lifelines'}\n"
        "print(*heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
