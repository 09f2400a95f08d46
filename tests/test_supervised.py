"""A score that survival taught: the Cox model, and its way from hospital to hospital."""

from __future__ import annotations

import numpy as np
import pytest
from follow_ups import cohort as follow_up
from scipy.optimize import minimize
from test_own_patients import REAL, RESULTS, hospitals, needs_files

from informed.datasets import load_directors_challenge
from informed.experiments import load_result, supervised_transfer
from informed.studies.experiments.own_patients import fingerprint
from informed.survival import (
    cox_coefficients,
    hazard_ratio,
    log_rank_p_value,
    restricted_mean_difference,
    truncate_follow_up,
)


@pytest.mark.parametrize("penalty", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_cox_coefficients_maximise_the_penalised_likelihood(seed: int, penalty: float) -> None:
    durations, events, _ = follow_up(seed, 80)
    Z = np.random.default_rng(seed).normal(size=(80, 3)) * [1.0, 2.0, 0.5]
    durations = durations * np.exp(-0.5 * Z[:, 0])
    scale = Z.std(axis=0, ddof=1)

    def minus(beta: np.ndarray) -> float:
        score = Z @ beta
        total = sum(
            score[i] - np.log(np.exp(score[durations >= durations[i]]).sum())
            for i in np.flatnonzero(events)
        )
        return float(-total / 80 + penalty / 2 * np.sum((beta * scale) ** 2))

    best = minimize(minus, np.zeros(3), method="BFGS", options={"gtol": 1e-8}).x
    found = cox_coefficients(durations, events, Z, penalty=penalty)
    np.testing.assert_allclose(found, best, atol=2e-3)


def test_cox_coefficient_of_a_group_is_its_log_hazard_ratio() -> None:
    durations, events, groups = follow_up(3, 100)
    (found,) = cox_coefficients(durations, events, groups[:, None].astype(float))
    ratio = hazard_ratio(durations, events, groups).ratio
    assert found == pytest.approx(np.log(ratio), abs=1e-4)


def test_cox_coefficients_check_their_input() -> None:
    with pytest.raises(ValueError, match="same length, got 3 and 2"):
        cox_coefficients([1, 2, 3], [1, 1, 1], [[1.0], [2.0]])
    with pytest.raises(ValueError, match="all 3 subjects are censored"):
        cox_coefficients([1, 2, 3], [0, 0, 0], [[1.0], [2.0], [0.0]])
    with pytest.raises(ValueError, match="penalty"):
        cox_coefficients([1, 2, 3], [1, 1, 1], [[1.0], [2.0], [0.0]], penalty=-1)


def test_score_is_learnt_at_home_and_tested_elsewhere(tmp_path) -> None:
    study = hospitals()
    result = supervised_transfer(study, train=("A", "B"), test=("C",), counts=(1, 3))
    # By hand, one component: the sign of the leading direction that is worse at home.
    X = study.X.copy()
    for site in "ABC":
        X[study.sites == site] -= X[study.sites == site].mean(axis=0)
    home, away = study.sites != "C", study.sites == "C"
    first = X @ np.linalg.svd(X[home], full_matrices=False)[2][0]
    durations, events = truncate_follow_up(study.months, study.events, 60)
    upper = first > np.median(first[home])
    if cox_coefficients(durations[home], events[home], first[home, None])[0] < 0:
        upper = first < np.median(first[home])
    part = durations[away], events[away], upper[away].astype(int)
    assert result.worse[0, 0] == upper[away].sum()
    assert result.p_values[0, 0] == pytest.approx(log_rank_p_value(*part))
    assert result.ratios[0, 0] == pytest.approx(hazard_ratio(*part).ratio)
    lost = restricted_mean_difference(part[0], part[1], 1 - part[2])
    assert result.lost[0, 0] == pytest.approx(lost.difference)
    assert result.ratios.shape == (2, 1)
    result.save(tmp_path / "supervised")
    assert str(load_result(tmp_path / "supervised")) == str(result)


def test_survival_elsewhere_teaches_nothing() -> None:
    study = hospitals()
    away = study.sites == "C"
    events = study.events.copy()
    events[away] = 1 - events[away]
    other = type(study)(**{**vars(study), "events": events})
    options = {"train": ("A", "B"), "test": ("C",), "counts": (3,)}
    one, two = supervised_transfer(study, **options), supervised_transfer(other, **options)
    assert one.worse[0, 0] == two.worse[0, 0]
    assert one.ratios[0, 0] != two.ratios[0, 0]


def test_hospitals_are_checked() -> None:
    with pytest.raises(ValueError, match="no hospital 'Z'"):
        supervised_transfer(hospitals(), train=("A",), test=("Z",))
    with pytest.raises(ValueError, match="must differ"):
        supervised_transfer(hospitals(), train=("A", "B"), test=("B",))


@needs_files
def test_stored_scores_are_what_the_files_give() -> None:
    cohort = load_directors_challenge(REAL)
    stored = load_result(RESULTS / "supervised_transfer")
    assert stored.fingerprint == fingerprint(cohort)
    again = supervised_transfer(cohort, counts=(1, 10))
    for name in ("worse", "p_values", "ratios", "lower", "lost", "lost_upper"):
        chosen = np.isin(stored.counts, (1, 10))
        np.testing.assert_allclose(getattr(again, name), getattr(stored, name)[chosen], rtol=1e-4)
