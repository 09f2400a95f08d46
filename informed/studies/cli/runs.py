"""The experiments by name, and their parameters as words of the command line."""

from __future__ import annotations

import argparse
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, get_type_hints

# Cohorts by the names that the command line gives them; those of SurvSet have their own.
SYNTHETIC_COHORT, CANDF, DIRECTORS_CHALLENGE = "synthetic", "candf", "directors-challenge"


@dataclass(frozen=True)
class Experiment:
    """An experiment that can be run by name, and the names of its figures in informed.plots.

    ``fixed`` are parameters that the command line does not offer, with their values. ``whole`` is
    what is run instead on some cohorts.
    """

    run: Callable[..., Any]
    figures: tuple[str, ...]
    cohort: str = SYNTHETIC_COHORT
    fixed: Mapping[str, Any] = field(default_factory=dict)
    whole: Whole | None = None

    @property
    def summary(self) -> str:
        """First line of the function's documentation."""
        return (inspect.getdoc(self.run) or "").partition("\n")[0]

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """Parameters that the command line offers."""
        return {
            name: parameter
            for name, parameter in inspect.signature(self.run).parameters.items()
            if name not in ("cohort", "verbose", *self.fixed)
        }

    @property
    def needs_cohort(self) -> bool:
        """Whether the experiment runs on a cohort."""
        return "cohort" in inspect.signature(self.run).parameters


@dataclass(frozen=True)
class Whole:
    """A study that holds a whole experiment, and takes its place on the cohorts of the paper.

    ``settings`` are the experiment's parameters as the study has them, for each what it covers:
    first what holds if nothing is said. Any other value, or a parameter that is not among them,
    asks for the experiment itself.
    """

    study: Experiment
    cohorts: tuple[str, ...]
    settings: Mapping[str, tuple[Any, ...]]


def experiments() -> dict[str, Experiment]:
    """Return all experiments by name; loaded here, so that ``--help`` answers at once."""
    from informed import experiments as runs
    from informed.studies.experiments.own_steps import PAPER_SETTINGS, UNCHANGED

    as_printed = Whole(
        Experiment(
            runs.own_patients, ("own_patients",), cohort=CANDF, fixed={"variations": (UNCHANGED,)}
        ),
        (CANDF, DIRECTORS_CHALLENGE),
        {name: (value,) for name, value in PAPER_SETTINGS.items()}
        | {"late_deaths": (PAPER_SETTINGS["late_deaths"], "censor")},
    )
    return {
        "hidden_space": Experiment(runs.hidden_space, ("distance_recovery", "square_embeddings")),
        "locality_tradeoff": Experiment(runs.locality_tradeoff, ("locality_tradeoff",)),
        "direction_error": Experiment(runs.direction_error, ("direction_error",)),
        "cluster_count_error": Experiment(runs.cluster_count_error, ("direction_error",)),
        "covariance_stairs": Experiment(runs.covariance_stairs, ("covariance_stairs",)),
        "type_embedding": Experiment(runs.type_embedding, ("type_embedding",)),
        "risk_groups": Experiment(
            runs.risk_groups,
            ("expression_heat_maps", "kaplan_meier", "risk_embeddings"),
            whole=as_printed,
        ),
        "neighborhood_sweep": Experiment(runs.neighborhood_sweep, ("neighborhood_sweep",)),
        "cohorts": Experiment(runs.cohorts, ("cohort_forest",)),
        "cohort_comparison": Experiment(runs.cohort_comparison, ("cohort_comparison",)),
        "cohort_sensitivity": Experiment(runs.cohort_sensitivity, ("cohort_sensitivity",)),
        "own_patients": Experiment(
            runs.own_patients, ("own_patients", "own_variations"), cohort=CANDF
        ),
        "site_transfer": Experiment(
            runs.site_transfer, ("site_transfer",), cohort=DIRECTORS_CHALLENGE
        ),
        "supervised_transfer": Experiment(runs.supervised_transfer, (), cohort=DIRECTORS_CHALLENGE),
        "penalty_study": Experiment(runs.penalty_study, ("penalty_study",)),
        "local_penalty_study": Experiment(runs.local_penalty_study, ("local_penalty_study",)),
        "phase_diagram": Experiment(runs.phase_diagram, ("phase_diagram", "prediction_check")),
        "alternation_study": Experiment(runs.alternation_study, ("alternation_study",)),
        "block_study": Experiment(runs.block_study, ("block_study",)),
        "choice_study": Experiment(runs.choice_study, ("choice_study",)),
        "profile_study": Experiment(runs.profile_study, ()),
        "rival_study": Experiment(runs.rival_study, ("rival_study",)),
        "classification_study": Experiment(runs.classification_study, ("classification_study",)),
        "covariance_study": Experiment(runs.covariance_study, ("covariance_study",)),
    }


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to look, and stop."""
        self.exit(2, f"informed: error: {message} (see {self.prog} --help)\n")


def help_of(name: str, experiment: Experiment) -> str:
    """Return the help of one experiment: what it does, and its parameters with their defaults."""
    words = [f"  --{'cohort':<18}the cohort, by name"] if experiment.needs_cohort else []
    words += [
        f"  {option_of(each.name):<20}default: {as_word(each.default)}"
        for each in experiment.parameters.values()
    ]
    about = inspect.cleandoc(inspect.getdoc(experiment.run) or "").partition("\nReturns\n")[0]
    text = f"usage: informed run {name} [options]\n\n{about.strip()}\n\noptions:\n" + "\n".join(
        words
    )
    if experiment.whole is None:
        return text
    return f"{text}\n\n{_help_of_whole(experiment, experiment.whole)}"


def _help_of_whole(experiment: Experiment, whole: Whole) -> str:
    settings = " ".join(f"{option_of(k)} {as_word(v[0])}" for k, v in whole.settings.items())
    added = "\n".join(
        f"  {option_of(each.name):<20}default: {as_word(each.default)}"
        for each in whole.study.parameters.values()
        if each.name not in experiment.parameters
    )
    words = (
        f"the paper's settings hold ({settings}), and its whole experiment is run: the Euclidean "
        "distance, local PCA, and the informed metric with averaged, gradient and exact "
        "directions; p over all k-means seeds and by permutation, late deaths dropped and "
        "censored, the curve over N beside the published one. Any other setting, or --directions, "
        "asks for one split under three metrics, as on other cohorts. More options of the whole "
        "experiment:"
    )
    shown = textwrap.fill(
        words, 88, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )
    return f"with --cohort {' or '.join(whole.cohorts)}:\n{shown}\n{added}"


def option_of(name: str) -> str:
    """Return a parameter as one would type it.

    Examples
    --------
    >>> option_of("n_repeats")
    '--n-repeats'
    """
    return f"--{name.replace('_', '-')}"


def choose(
    name: str, experiment: Experiment, cohort: str, words: Sequence[str]
) -> tuple[Experiment, dict[str, Any]]:
    """Return what is to be run on a cohort, and with which parameters."""
    whole = experiment.whole
    if whole is None or cohort not in whole.cohorts:
        return experiment, parse_parameters(name, (experiment,), words)
    given = parse_parameters(name, (experiment, whole.study), words)
    other = [
        key
        for key, value in given.items()
        if key not in whole.study.parameters and value not in whole.settings.get(key, ())
    ]
    if not other:
        chosen = {key: value for key, value in given.items() if key in whole.study.parameters}
        return whole.study, {**chosen, **whole.study.fixed}
    for key in given:
        if key not in experiment.parameters:
            raise ValueError(
                f"{option_of(key)} goes with the paper's whole experiment, and "
                f"{option_of(other[0])} {as_word(given[other[0]])} asks for one split: leave one "
                "of them out"
            )
    return experiment, {key: value[0] for key, value in whole.settings.items()} | given


def parse_parameters(
    name: str, several: Sequence[Experiment], words: Sequence[str]
) -> dict[str, Any]:
    """Parse the parameters of experiments, with types from their signatures."""
    parser = Parser(prog=f"informed run {name}", add_help=False, allow_abbrev=False)
    kinds: dict[str, str] = {}
    for experiment in several:
        hints = get_type_hints(experiment.run)
        kinds |= {parameter: str(hints[parameter]) for parameter in experiment.parameters}
    for parameter, kind in kinds.items():
        parser.add_argument(
            option_of(parameter),
            dest=parameter,
            type=_converter(kind),
            default=argparse.SUPPRESS,
        )
    return vars(parser.parse_args(list(words)))


def _converter(hint: str) -> Callable[[str], Any]:
    if "Sequence" in hint or "tuple" in hint:
        return texts if "str" in hint else _floats if "float" in hint else _integers
    if "int" in hint:
        return _optional(int)
    if "float" in hint:
        return _optional(float)
    return str


def _optional(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def convert(word: str) -> Any:
        return None if word.lower() == "none" else kind(word)

    convert.__name__ = getattr(kind, "__name__", "value")
    return convert


def _integers(word: str) -> tuple[int, ...]:
    return tuple(int(part) for part in word.split(","))


def _floats(word: str) -> tuple[float, ...]:
    return tuple(float(part) for part in word.split(","))


def texts(word: str) -> tuple[str, ...]:
    """Split a list that is separated by commas."""
    return tuple(part.strip() for part in word.split(","))


def as_word(value: object) -> str:
    """Write a value as one would type it."""
    if isinstance(value, tuple | list):
        return ",".join(str(part) for part in value)
    return str(value)
