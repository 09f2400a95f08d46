"""A second way to the answer of every numerical item: from the printed question, by other means.

The item has a formula; here the situation of the question is built, with data or matrices where it
can be, and the answer is measured on it (`second_ways.py`). So a slip in the formula, or a number
that the text does not tell, is noticed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import second_ways as way
from conftest import ROOT
from scipy import stats

from informed.clusters import indicator
from informed.teaching.assessment.items import Number, load_bank

BANK = {item.name: item for item in load_bank(ROOT / "course" / "items")}
SEEDS = [f"a teacher's secret {number}" for number in range(6)]

Second = Callable[[str, list[float]], float]

# One for each numerical item, from the text and the numbers in it.
SECOND_WAY: dict[str, Second] = {
    "averaging/averaged-entry": lambda _, n: float(np.mean(n[:3])),
    "averaging/error-that-remains": lambda _, n: way.what_averaging_leaves(*n[:3]),
    "averaging/common-error": lambda _, n: way.variance_of_the_mean(*n[:3]),
    "averaging/tile": lambda _, n: way.averaged_tile(n[:6]),
    "critical-reading/twice-the-mean": lambda _, n: float(2 * stats.tmean(n[:4])),
    "critical-reading/twice-the-median": lambda _, n: float(2 * np.quantile(n[:5], 0.5)),
    "critical-reading/permutation": lambda _, n: float(np.mean(np.arange(n[0] + 1) <= n[1])),
    "critical-reading/best-of-several": lambda _, n: float(stats.binom(int(n[0]), n[1]).sf(0)),
    "critical-reading/knows-only-the-columns": lambda _, n: float(
        np.linalg.norm(np.eye(3) - np.diag(n[:3]))
    ),
    "global-algorithm/one-direction": lambda t, _: way.one_direction(t),
    "global-algorithm/one-feature": lambda t, _: way.one_feature(t),
    "global-algorithm/pca-or-own": lambda _, n: way.pca_against_own(*n[:2]),
    "global-algorithm/agglomerated": lambda _, n: way.factor_of_the_mean(n[0]),
    "hidden-square/slope": lambda _, n: way.seen_through_a_map(
        way.uniform_variance(n[0]) * np.eye(2), np.array([1.0, 0.0])
    ),
    "hidden-square/markov-entry": lambda _, n: way.step_to_the_second(n[0], n[1], n[2]),
    "hidden-square/kernel-at-the-median": lambda t, _: float(
        np.exp(-7 / (way.told(r"s = ([\d.]+)", t)[0] * 7))
    ),
    "hidden-square/eigenvalue-of-a-cosine": lambda t, _: way.eigenvalue_of_a_cosine(t),
    "hidden-variables/uniform-variables": lambda t, _: way.seen_through_a_map(
        way.uniform_variance(way.told(r"0, (\d+)\]", t)[0]) * np.eye(2),
        np.array(way.told(r"\((\S+), (\S+)\)", t)),
    ),
    "hidden-variables/unequal-variances": lambda _, n: way.seen_through_a_map(
        np.diag(np.square(n[:2])), np.array(n[2:4])
    ),
    "hidden-variables/not-centred": lambda _, n: way.shortened(*n[:3]),
    "kmeans-and-pca/lower-bound": lambda t, _: way.ky_fan(t),
    "kmeans-and-pca/how-many-clusters": lambda _, n: way.clusters_for(n[0]),
    "kmeans-and-pca/without-second-centring": lambda _, n: way.rank_of_clusters(n[0], both=False),
    "kmeans-and-pca/upper-bound-of-misfit": lambda t, _: way.worst_misfit(
        *way.told(r"bound by (\d+)\..* = (\d+)\$ and .* = (\d+)\$", t)
    ),
    "local-metrics/mean-of-two": lambda _, n: way.local_distance(*n[:2]),
    "local-metrics/orders": lambda _, n: way.shrunk_error(n[0]),
    "local-metrics/stretched": lambda _, n: way.by_derivative(*n[:2]),
    "local-metrics/constant-on-a-circle": lambda t, _: way.on_a_circle(
        *way.told(r"radius (\d+).*v = (\d+)", t)
    ),
    "optimal-directions/closed-form-entry": lambda t, _: way.entry_of_the_best(t),
    "optimal-directions/step-limit": lambda _, n: way.largest_step(n[0]),
    "optimal-directions/penalised-eigenvalue": lambda t, _: way.penalized(t),
    "optimal-directions/reconstruction-error": lambda _, n: way.not_carried(*n[:3]),
    "other-uses/log-determinant": lambda _, n: float(
        np.linalg.slogdet(np.diag([n[1], n[2]] + [n[3]] * (int(n[0]) - 2)))[1]
    ),
    "other-uses/spiked-distance": lambda t, n: way.spiked_distance(t, *n[:2]),
    "other-uses/error-of-the-difference": lambda _, n: float(stats.sem(np.subtract(n[:4], n[4:8]))),
    "other-uses/error-of-splits": lambda _, n: way.overlapping(*n[:2]),
    "own-patients/share-of-the-hospitals": lambda _, n: way.explained(n),
    "own-patients/centred-by-hospital": lambda _, n: float(n[0] - np.mean(n[:3])),
    "own-patients/pooled-ratio": lambda _, n: way.pooled(*n[:2]),
    "pca-distance/two-directions": lambda _, n: float(
        np.sqrt(np.array(n[2:4]) @ np.linalg.inv(np.diag(n[:2])) @ np.array(n[2:4]))
    ),
    "pca-distance/shrinkage-of-new-samples": lambda _, n: way.exact_case(*n[:2]),
    "pca-distance/fitted-mean-square": lambda _, n: way.mean_square(n[1], n[0]),
    "pca-distance/saturated": lambda _, n: way.saturated(n[0], n[0] - 1),
    "pseudo-inverse/rank-one": lambda _, n: float(np.linalg.pinv(np.outer(n[0:2], n[2:4]))[0, 1]),
    "pseudo-inverse/trace-of-projector": lambda _, n: way.rank_of_projector(*n[:3]),
    "pseudo-inverse/one-row": lambda t, _: way.through_one_row(
        *way.told(r"\$(\d) x_1 \+ (\d) x_2", t), way.told(r"by \$\((\d), (\d)\)", t)
    ),
    "pseudo-inverse/nearly-deficient": lambda _, n: way.error_afterwards(*n[:3]),
    "pseudo-inverse/entry-of-the-formula": lambda t, _: way.first_entry(t),
    "real-cohorts/fisher-of-two": lambda _, n: float(stats.combine_pvalues(n[:2]).pvalue),
    "real-cohorts/fisher-statistic": lambda _, n: float(stats.combine_pvalues(n[:3]).statistic),
    "real-cohorts/harmonic-mean": lambda _, n: way.harmonic(n[:3]),
    "real-cohorts/worse-over-better": lambda _, n: float(max(n[0], 1 / n[0])),
    "real-cohorts/holm-second": lambda _, n: way.holm(*n[:3]),
    "real-cohorts/smallest-margin": lambda t, _: way.smallest_margin(
        *way.told(r"is (-?[\d.]+), with .* of ([\d.]+) to", t)
    ),
    "risk-groups/kaplan-meier": lambda t, _: way.kaplan_meier(t),
    "risk-groups/expected-deaths": lambda _, n: float(
        stats.hypergeom(int(n[0] + n[1]), int(n[0]), int(n[2])).mean()
    ),
    "risk-groups/variance-of-one-time": lambda _, n: float(
        stats.hypergeom(int(n[0] + n[1]), int(n[0]), 1).var()
    ),
    "risk-groups/censored-at-the-horizon": lambda _, n: sum(n[1:4]),
    "rows-and-columns/objective-value": lambda t, n: way.cost_of_tiles(n[0], n[1:5], int(n[5])),
    "rows-and-columns/tiles": lambda _, n: way.tiles(*n[:4]).size,
    "rows-and-columns/most-directions": lambda _, n: int(
        np.linalg.matrix_rank(way.tiles(40, n[0], 60, n[1]))
    ),
    "soft-clusters/columns-of-the-stack": lambda _, n: np.hstack(
        [way.table(n[1], n[0]), indicator(np.arange(int(n[1])) % int(n[2]))]
    ).shape[1],
    "soft-clusters/best-factor": lambda _, n: way.least_factor(*n[:2]),
    "soft-clusters/best-weight": lambda _, n: way.least_weight(*n[:3]),
    "soft-clusters/exchange-rate": lambda _, n: way.risen_error(n[0]) * n[1],
    "soft-clusters/the-smaller-one": lambda _, n: min(n[:2]),
    "soft-clusters/price-of-one-weight": lambda _, n: way.price(n[:2], n[2:4]),
    "toy-problem/leading-eigenvalue": lambda _, n: float(
        np.linalg.eigvalsh(way.block(*n[:3])).max()
    ),
    "toy-problem/other-eigenvalues": lambda _, n: float(
        np.linalg.eigvalsh(way.block(5, n[0], n[1])).min()
    ),
    "toy-problem/noise-on-a-stair": lambda _, n: way.variance_of_the_mean(n[0] * n[1], n[2], 0),
    "toy-problem/error-of-a-subspace": lambda _, n: way.shared_directions(n[0], n[2]),
    "when-clusters-help/error-left": lambda _, n: way.error_left(n[0], n[1], n[-1]),
    "when-clusters-help/threshold": lambda _, n: way.visible_from(*n[:2]),
    "when-clusters-help/first-order": lambda _, n: way.first_order(*n[:4]),
    "when-clusters-help/shrinkage": lambda _, n: way.of_new_samples(*n[:2]),
    "when-clusters-help/centers": lambda _, n: float(n[0] * stats.chi2(int(n[1]) - 1).mean()),
    "why-the-usual-distance-fails/pair-distance": lambda _, n: way.saturated(n[0], n[0] - 1),
    "why-the-usual-distance-fails/from-the-mean": lambda _, n: way.from_the_mean(n[0]),
    "why-the-usual-distance-fails/divisor-of-scikit-learn": lambda _, n: way.by_scikit_learn(n[-1]),
    "why-the-usual-distance-fails/mean-square": lambda _, n: way.mean_square(n[0], n[1]),
}


def test_every_numerical_item_has_a_second_way() -> None:
    assert set(SECOND_WAY) == {name for name, item in BANK.items() if item.numerical}


@pytest.mark.parametrize("name", SECOND_WAY)
def test_a_second_way_gives_the_same_number(name: str) -> None:
    for seed in SEEDS:
        question = BANK[name].question(seed)
        assert isinstance(question, Number)
        found = SECOND_WAY[name](question.text, way.numbers(question.text))
        assert found == pytest.approx(question.answer, rel=1e-5, abs=1e-9), question.text
