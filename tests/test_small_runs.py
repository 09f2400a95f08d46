"""Small runs of every experiment give what they gave when somebody last read them.

Other tests say why a result is right. This one only notices that it changed: a seed, a setting
inside of an experiment, a sum in a table. What each run gave stands in ``small_runs.json``: its
tables as text, and of each array its shape and two sums. If a change is meant, ``python
tests/test_small_runs.py`` writes the file anew, and its difference is to be read; stored tables and
numbers in the book may then have changed, too.
"""

from __future__ import annotations

import inspect
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import test_cohort_comparison
from fingerprints import plain, read, same, sums, write
from test_own_patients import hospitals

from informed import experiments
from informed.datasets import make_risk_cohort
from informed.experiments import Result, compare
from informed.studies.experiments import choosing, rivals

WRITTEN = Path(__file__).with_name("small_runs.json")
# A sweep over all directions gives each of them a weight, which only one of them reads.
pytestmark = pytest.mark.filterwarnings("ignore::informed.IgnoredParameterWarning")


def cohort(seed: int, name: str = "one", n_samples: int = 40) -> Any:
    made = make_risk_cohort(n_samples, 60, effect=3.0, random_state=seed)
    object.__setattr__(made, "name", name)
    return made


def cohorts_of_two() -> list[Any]:
    return [cohort(0, n_samples=24), cohort(1, "two", n_samples=24)]


SMALL = {"n_genes": 30, "n_components": 3, "n_clusters": 5}
RUNS: dict[str, Callable[[], Result]] = {
    "hidden_space": lambda: experiments.hidden_space(
        n_samples=40, n_features=60, n_fit=20, n_repeats=2, random_state=1
    ),
    "direction_error": lambda: experiments.direction_error(
        sizes=(20, 30), n_repeats=2, n_init=1, methods=("averaged", "exact", "penalized")
    ),
    "cluster_count_error": lambda: experiments.cluster_count_error(
        counts=(18, 20), n_samples=30, n_repeats=1, n_init=1, methods=("exact",), random_state=2
    ),
    "covariance_stairs": lambda: experiments.covariance_stairs(n_samples=30, random_state=3),
    "type_embedding": lambda: experiments.type_embedding(n_samples=40, n_repeats=2),
    "locality_tradeoff": lambda: experiments.locality_tradeoff(
        sizes=(6, 24), n_samples=60, n_features=30, n_repeats=2, random_state=4
    ),
    "risk_groups": lambda: experiments.risk_groups(
        cohort(0), n_neighbors=12, n_repeats=2, random_state=5, **SMALL
    ),
    "neighborhood_sweep": lambda: experiments.neighborhood_sweep(
        cohort(1), sizes=(10, 16), late_deaths="drop", n_repeats=1, **SMALL
    ),
    "late_deaths": lambda: experiments.late_deaths(late=(0.04, 0.001), n_repeats=20),
    "penalty_study": lambda: experiments.penalty_study(
        designs=("toy", "steps"), blurs=(0.0, 0.6), sizes=(20,), n_init=1, n_repeats=2
    ),
    "local_penalty_study": lambda: experiments.local_penalty_study(
        spreads=(0.5,), sizes=(8,), n_samples=14, n_features=18, n_repeats=1
    ),
    "alternation_study": lambda: experiments.alternation_study(
        families=("checkerboard",), signals=(0.3, 0.5), n_repeats=1
    ),
    "block_study": lambda: experiments.block_study(cases=("row effects",), n_repeats=2, n_chosen=1),
    "cohorts": lambda: experiments.cohorts(
        cohorts_of_two(), sizes=(8,), n_permutations=49, n_repeats=1, leave_out=("two",), **SMALL
    ),
    "cohort_sensitivity": lambda: experiments.cohort_sensitivity(
        cohort(0), genes=(20, 40), sizes=(8, 14), components=(2, 3), clusters=(3, 5),
        n_neighbors=14, **SMALL,
    ),
    "cohort_comparison": lambda: experiments.cohort_comparison(
        test_cohort_comparison.COHORTS, leave_out=("two",), **test_cohort_comparison.OPTIONS
    ),
    "own_patients": lambda: experiments.own_patients(
        make_risk_cohort(40, 220, random_state=0), sizes=(20,), n_repeats=1, n_permutations=49,
        variations=("as the paper has it", "values on a linear scale", "genes 2-101"),
    ),
    "site_transfer": lambda: experiments.site_transfer(
        hospitals(1.0), n_genes=30, skip=1, n_repeats=1, n_draws=5
    ),
    "supervised_transfer": lambda: experiments.supervised_transfer(
        hospitals(), train=("A", "B"), test=("C",), counts=(1, 3)
    ),
    "phase_diagram": lambda: experiments.phase_diagram(
        noises=(0.7, 1.4), sizes=(16, 40), n_features=60, strong=30.0, n_init=2, n_repeats=2,
        n_known=5,
    ),
    "classification_study": lambda: experiments.classification_study(
        train_sizes=(50,), n_splits=1, random_state=3
    ),
    "covariance_study": lambda: experiments.covariance_study(
        data_names=("toy",), train_sizes=(20,), n_splits=1
    ),
    "compare": lambda: compare(*rivals._load("wine"), n_splits=2, methods=["pca", "informed"]),
}  # fmt: skip


def told(result: Result) -> dict[str, Any]:
    """Return all that a result holds and says: fields, properties, methods without arguments.

    Not the digest of its data: one bit changes it, and the last bits depend on the processor.
    """
    found: dict[str, Any] = {"as text": str(result).splitlines()}
    for name in dir(type(result)):
        if name.startswith("_") or name == "save":
            continue
        member = inspect.getattr_static(type(result), name)
        if isinstance(member, property):
            found[name] = plain(getattr(result, name))
        elif inspect.isfunction(member):
            parameters = list(inspect.signature(member).parameters.values())[1:]
            if all(each.default is not each.empty for each in parameters):
                found[f"{name}()"] = plain(getattr(result, name)())
    found |= {name: plain(value) for name, value in vars(result).items()}
    found.pop("fingerprint", None)
    return {name: value for name, value in found.items() if value is not None}


@pytest.mark.parametrize("name", RUNS)
def test_a_small_run_gives_what_it_gave(name: str) -> None:
    expected = read(WRITTEN)[name]
    found = told(RUNS[name]())
    assert found.keys() == expected.keys()
    different = [key for key in expected if not same(found[key], expected[key])]
    assert different == [], {key: (found[key], expected[key]) for key in different}


DATA = [("choosing", name) for name in choosing.CHOICE_DATA if not name.endswith("BCD")]
DATA += [("rivals", name) for name in rivals.RIVAL_DATA if not name.endswith("BCD")]


@pytest.mark.parametrize(("study", "name"), DATA)
def test_the_data_of_a_study_are_what_they_were(study: str, name: str) -> None:
    expected = read(WRITTEN)["data"][f"{study}, {name}"]
    assert same(data_of(study, name), expected)


def data_of(study: str, name: str) -> list[Any]:
    return [sums(part) for part in {"choosing": choosing, "rivals": rivals}[study]._load(name)]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    written: dict[str, Any] = {}
    if WRITTEN.exists():
        written = read(WRITTEN)
    for run in sys.argv[1:] or RUNS:
        begin = time.process_time()
        written[run] = told(RUNS[run]())
        print(run, round(time.process_time() - begin, 2), flush=True)
    written["data"] = {f"{study}, {name}": data_of(study, name) for study, name in DATA}
    write(WRITTEN, written)
