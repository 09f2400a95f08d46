"""Where the settings of experiments end: the last value that is accepted, and the next one.

As in ``test_limits``. An experiment that accepts its settings begins to work; that is where it is
stopped, so nothing is computed here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_own_patients import hospitals

from informed import experiments as e
from informed.datasets import make_risk_cohort

TINY = 1e-9
COHORT = make_risk_cohort(30, 420, random_state=0)
HOSPITALS = hospitals()
TWO_HOSPITALS = replace(HOSPITALS, sites=np.where(HOSPITALS.sites == "A", "A", "B"))
FEW = {"n_samples": 12, "n_features": 9, "sizes": (4,)}

# Function, its other arguments, the argument in question, the last good value, the first bad one.
LIMITS: list[tuple[Callable[..., Any], dict[str, Any], str, Any, Any]] = [
    (e.hidden_space, {"n_fit": 3}, "n_samples", 4, 3),
    (e.hidden_space, {}, "n_fit", 3, 2),
    (e.hidden_space, {}, "n_fit", 500, 501),
    (e.direction_error, {}, "sizes", (20,), (19,)),
    (e.cluster_count_error, {}, "counts", (18,), (0,)),
    (e.cluster_count_error, {}, "n_samples", 20, 19),
    (e.covariance_stairs, {}, "n_samples", 20, 19),
    (e.covariance_stairs, {"n_samples": 20}, "section", 0, -1),
    (e.covariance_stairs, {"n_samples": 20}, "section", 899, 900),
    (e.covariance_stairs, {"n_samples": 20}, "zoom", (0, 900), (-1, 900)),
    (e.covariance_stairs, {"n_samples": 20}, "zoom", (899, 900), (900, 901)),
    (e.covariance_stairs, {"n_samples": 20}, "zoom", (7, 8), (7, 7)),
    (e.type_embedding, {}, "n_samples", 19, 18),
    (e.locality_tradeoff, {"sizes": (3,)}, "n_samples", 4, 3),
    (e.locality_tradeoff, {}, "sizes", (3,), (2,)),
    (e.locality_tradeoff, {}, "sizes", (300,), (301,)),
    (e.locality_tradeoff, {}, "reach", TINY, 0.0),
    (e.neighborhood_sweep, {"cohort": COHORT}, "sizes", (7,), (6,)),
    (e.neighborhood_sweep, {"cohort": COHORT}, "sizes", (30,), (31,)),
    (e.late_deaths, {"n_repeats": 1, "early": (5.0, 5.0)}, "horizon", 1.0, 0.0),
    (e.late_deaths, {"n_repeats": 1, "early": (5.0, 5.0)}, "n_samples", 4, 3),
    (e.late_deaths, {"n_repeats": 1}, "follow_up", (0.0, 60.1), (-TINY, 60.1)),
    (e.late_deaths, {"n_repeats": 1}, "follow_up", (0.0, 60.1), (0.0, 60.0)),
    (e.late_deaths, {"n_repeats": 1}, "early", (TINY, 0.1), (0.0, 0.1)),
    (e.penalty_study, {}, "blurs", (0.0,), (-TINY,)),
    (e.penalty_study, {}, "sizes", (14,), (13,)),
    (e.penalty_study, {}, "counts", (9,), (8,)),
    (e.penalty_study, {}, "counts", (144,), (145,)),
    (e.penalty_study, {}, "n_init", 1, 0),
    (e.local_penalty_study, {"sizes": (4,)}, "n_samples", 4, 3),
    (e.local_penalty_study, FEW, "spreads", (0.0,), (-TINY,)),
    (e.local_penalty_study, {}, "sizes", (4,), (3,)),
    (e.local_penalty_study, {}, "sizes", (150,), (151,)),
    (e.local_penalty_study, FEW, "reach", TINY, 0.0),
    (e.alternation_study, {}, "signals", (0.0,), (-TINY,)),
    (e.alternation_study, {}, "n_clusters", 3, 1),
    (e.alternation_study, {}, "n_clusters", 30, 31),
    (e.block_study, {}, "n_chosen", 0, -1),
    (e.block_study, {}, "n_chosen", 30, 31),
    (e.cohorts, {"names": [COHORT]}, "n_permutations", 1, 0),
    (e.cohort_comparison, {"names": [COHORT]}, "n_splits", 1, 0),
    (e.own_patients, {"cohort": COHORT}, "sizes", (30,), (31,)),
    (e.site_transfer, {"cohort": HOSPITALS, "n_genes": 30}, "n_draws", 1, 0),
    (e.site_transfer, {"n_genes": 30}, "cohort", TWO_HOSPITALS, HOSPITALS.at("A")),
    (
        e.supervised_transfer,
        {"cohort": HOSPITALS, "train": ("A",), "test": ("B",)},
        "counts",
        (1,),
        (0,),
    ),
    (e.phase_diagram, {}, "noises", (TINY,), (0.0,)),
    (e.phase_diagram, {}, "sizes", (8,), (7,)),
    (e.phase_diagram, {}, "n_known", 1, 0),
    (e.phase_diagram, {}, "n_init", 1, 0),
    (e.cluster_ring, {}, "n_clusters", 4, 3),
    (e.cluster_ring, {"n_clusters": 6}, "n_features", 6, 5),
    (e.cluster_ring, {}, "weak", TINY, 0.0),
    (e.classification_study, {}, "train_sizes", (50,), (49,)),
    (e.classification_study, {}, "train_sizes", (1200,), (1201,)),
    (e.covariance_study, {}, "train_sizes", (20,), (19,)),
    (e.compare, {"X": np.random.default_rng(0).normal(size=(30, 5))}, "n_splits", 2, 1),
]
ONE_IS_ENOUGH: dict[str, list[tuple[Callable[..., Any], dict[str, Any]]]] = {
    "n_repeats": [
        *((each, {}) for each in (e.hidden_space, e.direction_error, e.cluster_count_error)),
        *((each, {}) for each in (e.type_embedding, e.locality_tradeoff, e.late_deaths)),
        *((each, {}) for each in (e.penalty_study, e.local_penalty_study, e.alternation_study)),
        (e.risk_groups, {"cohort": COHORT}),
        *(
            (each, {"cohort": COHORT, "sizes": (20,)})
            for each in (e.neighborhood_sweep, e.own_patients)
        ),
        (e.phase_diagram, {}),
        (e.block_study, {"n_chosen": 0}),
        (e.cohorts, {"names": [COHORT]}),
        (e.site_transfer, {"cohort": HOSPITALS, "n_genes": 30}),
    ],
    "n_splits": [(each, {}) for each in (e.choice_study, e.classification_study)]
    + [(e.covariance_study, {})],
}
LIMITS += [
    (function, others, name, 1, 0)
    for name, functions in ONE_IS_ENOUGH.items()
    for function, others in functions
]


SOME: list[tuple[Callable[..., Any], str, dict[str, Any]]] = [
    *((e.penalty_study, name, {}) for name in ("designs", "blurs", "sizes", "counts")),
    *((e.local_penalty_study, name, {}) for name in ("spreads", "sizes")),
    *((e.alternation_study, name, {}) for name in ("families", "signals")),
    *((e.phase_diagram, name, {}) for name in ("noises", "sizes")),
    *((each, "data_names", {}) for each in (e.choice_study, e.rival_study)),
    *((each, "train_sizes", {}) for each in (e.classification_study, e.covariance_study)),
    (e.locality_tradeoff, "sizes", {}),
    (e.block_study, "cases", {}),
    (e.cohorts, "sizes", {"names": [COHORT]}),
    *(
        (each, "sizes", {"cohort": COHORT})
        for each in (e.neighborhood_sweep, e.own_patients, e.cohort_sensitivity)
    ),
]


@pytest.mark.parametrize(
    ("function", "name", "others"), SOME, ids=[f"{row[0].__name__}-{row[1]}" for row in SOME]
)
def test_something_must_be_asked_for(
    function: Callable[..., Any], name: str, others: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=name):
        function(**others, **{name: ()})


class WorkBegins(Exception):
    """The settings were accepted."""


def stop(*arguments: Any, **options: Any) -> None:
    raise WorkBegins


@pytest.mark.parametrize(
    ("function", "others", "name", "good", "bad"),
    LIMITS,
    ids=[f"{row[0].__name__}-{row[2]}-{row[4]}" for row in LIMITS],
)
def test_the_limit_itself_is_allowed_and_no_more(
    function: Callable[..., Any],
    others: dict[str, Any],
    name: str,
    good: Any,
    bad: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("informed.studies.") and hasattr(module, "run_tasks"):
            monkeypatch.setattr(module, "run_tasks", stop)
    with suppress(WorkBegins):
        function(**others, **{name: good})
    with pytest.raises(ValueError, match=name):
        function(**others, **{name: bad})
