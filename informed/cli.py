"""Command line: run the experiments, or use the metric on a table of your own.

Bad input ends with exit code 2 and one line on standard error. Files appear only when they are
complete.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, get_type_hints

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["main"]

EXAMPLES = """examples:
  python -m informed list
  python -m informed run hidden_space --out results
  python -m informed run direction_error --sizes 20,60,100 --n-repeats 5 --n-jobs 2
  python -m informed run neighborhood_sweep --cohort vdv --n-jobs 2 --out results
  python -m informed distances data.csv --n-components 3 --out distances.npy
  python -m informed risk cohort.csv --time months --event died --out results
"""

SYNTHETIC_COHORT = "synthetic"


@dataclass(frozen=True)
class Experiment:
    """An experiment that can be run by name, and its figures."""

    run: Callable[..., Any]
    figures: tuple[Callable[..., Any], ...]

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
            if name not in ("cohort", "verbose")
        }

    @property
    def needs_cohort(self) -> bool:
        """Whether the experiment runs on a cohort."""
        return "cohort" in inspect.signature(self.run).parameters


def experiments() -> dict[str, Experiment]:
    """Return all experiments by name; here, so that ``--help`` does not load matplotlib."""
    from informed import experiments as runs
    from informed import plots

    return {
        "hidden_space": Experiment(
            runs.hidden_space, (plots.distance_recovery, plots.square_embeddings)
        ),
        "locality_tradeoff": Experiment(runs.locality_tradeoff, (plots.locality_tradeoff,)),
        "direction_error": Experiment(runs.direction_error, (plots.direction_error,)),
        "cluster_count_error": Experiment(runs.cluster_count_error, (plots.direction_error,)),
        "covariance_stairs": Experiment(runs.covariance_stairs, (plots.covariance_stairs,)),
        "type_embedding": Experiment(runs.type_embedding, (plots.type_embedding,)),
        "risk_groups": Experiment(
            runs.risk_groups,
            (plots.expression_heat_maps, plots.kaplan_meier, plots.risk_embeddings),
        ),
        "neighborhood_sweep": Experiment(runs.neighborhood_sweep, (plots.neighborhood_sweep,)),
        "cohorts": Experiment(runs.cohorts, (plots.cohort_forest,)),
        "cohort_sensitivity": Experiment(runs.cohort_sensitivity, (plots.cohort_sensitivity,)),
        "penalty_study": Experiment(runs.penalty_study, (plots.penalty_study,)),
        "local_penalty_study": Experiment(runs.local_penalty_study, (plots.local_penalty_study,)),
        "alternation_study": Experiment(runs.alternation_study, (plots.alternation_study,)),
        "classification_study": Experiment(
            runs.classification_study, (plots.classification_study,)
        ),
        "covariance_study": Experiment(runs.covariance_study, (plots.covariance_study,)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str or None
        Words after ``python -m informed``; those of the process if None.

    Returns
    -------
    int
        0 on success, 2 on bad input, 130 when interrupted.
    """
    parser = _parser()
    try:
        options, extra = parser.parse_known_args(arguments)
        if extra and options.command != "run":
            parser.error(f"unrecognized arguments: {' '.join(extra)}")
        options.action(options, extra)
    except KeyboardInterrupt:
        print("informed: interrupted; no incomplete file was left behind", file=sys.stderr)
        return 130
    except (ValueError, TypeError, ImportError, OSError) as error:
        # One line, whatever the message: a traceback helps nobody at the command line.
        print(f"informed: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"informed: error: {message} (see {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m informed",
        description="Mahalanobis distances informed by clusters of features.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    command = commands.add_parser("list", help="list the experiments and their parameters")
    command.set_defaults(action=_list)

    command = commands.add_parser(
        "run",
        help="run an experiment",
        description="Run an experiment; its parameters are options, as 'list' shows them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("experiment", metavar="EXPERIMENT", help="name, see 'list'")
    command.add_argument(
        "--cohort",
        default=SYNTHETIC_COHORT,
        help="for experiments on a cohort: 'synthetic' (default), vdv, NSBCD, DBCD, …",
    )
    command.add_argument(
        "--out", type=Path, help="folder for the figures, the table and the result"
    )
    command.add_argument("--quiet", action="store_true", help="show no progress bar")
    command.set_defaults(action=_run)

    command = commands.add_parser(
        "distances",
        help="pairwise distances of the rows of a CSV table",
        description="Pairwise informed distances of the rows of a CSV table with a header line.",
    )
    command.add_argument("data", type=Path, metavar="DATA.csv")
    command.add_argument("--out", type=Path, required=True, help="file to write, .npy or .csv")
    command.add_argument("--drop", type=_texts, default=(), help="columns to leave out: a,b,c")
    command.add_argument("--n-components", type=int, default=2, help="number of directions")
    command.add_argument("--n-clusters", type=int, help="number of feature clusters")
    command.add_argument("--directions", default="exact", help="exact, averaged, penalized, …")
    command.add_argument("--variances", default="pca", help="pca or own")
    command.add_argument(
        "--local", type=int, metavar="N", help="a model in each neighbourhood of N samples"
    )
    command.add_argument("--squared", action="store_true", help="write squared distances")
    command.add_argument("--random-state", type=int, default=0, help="seed of k-means")
    command.set_defaults(action=_distances)

    command = commands.add_parser(
        "risk",
        help="risk groups of a cohort in a CSV table",
        description="Split the subjects of a CSV table in two and compare their survival.",
    )
    command.add_argument("data", type=Path, metavar="COHORT.csv")
    command.add_argument("--time", required=True, help="column of the follow-up times")
    command.add_argument("--event", required=True, help="column of the events, 0 or 1")
    command.add_argument("--drop", type=_texts, default=(), help="columns to leave out: a,b,c")
    command.add_argument("--time-unit", default="months", help="days, months (default) or years")
    command.add_argument("--n-genes", type=int, default=200, help="features of highest variance")
    command.add_argument("--n-neighbors", type=int, default=20, help="neighbourhood size N")
    command.add_argument("--n-components", type=int, default=6, help="number of directions")
    command.add_argument("--n-clusters", type=int, default=7, help="number of feature clusters")
    command.add_argument(
        "--horizon", type=float, help="end of follow-up; later deaths are censored"
    )
    command.add_argument("--n-repeats", type=int, default=20, help="number of k-means seeds")
    command.add_argument("--n-jobs", type=int, help="number of workers")
    command.add_argument("--random-state", type=int, default=0, help="seed")
    command.add_argument(
        "--out", type=Path, help="folder for the figures, the table and the result"
    )
    command.add_argument("--quiet", action="store_true", help="show no progress bar")
    command.set_defaults(action=_risk)
    return parser


# ------------------------------------------------------------------------------------- the commands


def _list(options: argparse.Namespace, extra: Sequence[str]) -> None:
    for name, experiment in experiments().items():
        print(f"{name}\n    {experiment.summary}")
        words = ["--cohort NAME"] if experiment.needs_cohort else []
        words += [
            f"--{p.name.replace('_', '-')} {_as_word(p.default)}"
            for p in experiment.parameters.values()
        ]
        print("    " + "\n    ".join(words))


def _run(options: argparse.Namespace, extra: Sequence[str]) -> None:
    known = experiments()
    if options.experiment not in known:
        raise ValueError(
            f"EXPERIMENT={options.experiment!r} is unknown: it must be one of {sorted(known)}"
        )
    experiment = known[options.experiment]
    parameters = _experiment_options(options.experiment, experiment, extra)
    if options.out is not None:
        _check_folder(options.out)
    arguments: list[Any] = []
    if experiment.needs_cohort:
        arguments.append(_cohort(options.cohort))
    if "verbose" in inspect.signature(experiment.run).parameters:
        parameters["verbose"] = not options.quiet
    result = experiment.run(*arguments, **parameters)
    _finish(result, options.experiment, experiment.figures, options.out)


def _distances(options: argparse.Namespace, extra: Sequence[str]) -> None:
    from informed.metrics import InformedMahalanobis, LocalInformedMahalanobis

    if options.out.suffix not in (".npy", ".csv"):
        raise ValueError(f"--out={options.out} must end in .npy or .csv")
    _check_folder(options.out.parent)
    X = _numbers(_read_table(options.data, options.drop)).to_numpy(dtype=float)
    common: dict[str, Any] = {
        "directions": options.directions,
        "variances": options.variances,
        "random_state": options.random_state,
    }
    if options.local is None:
        metric = InformedMahalanobis(options.n_components, options.n_clusters, **common)
        distances = metric.fit(X).pairwise_distances(X, squared=options.squared)
    else:
        local = LocalInformedMahalanobis(
            options.local, options.n_components, options.n_clusters, **common
        )
        distances = local.fit(X).pairwise_distances(squared=options.squared)
    _write(
        options.out,
        (lambda file: np.save(file, distances))
        if options.out.suffix == ".npy"
        else (lambda file: np.savetxt(file, distances, delimiter=",", fmt="%.10g")),
    )
    print(f"{len(X)} samples, {X.shape[1]} features: distances written to {options.out}")


def _risk(options: argparse.Namespace, extra: Sequence[str]) -> None:
    from informed.datasets import Cohort

    if options.out is not None:
        _check_folder(options.out)
    table = _read_table(options.data, options.drop)
    for option, column in (("--time", options.time), ("--event", options.event)):
        if column not in table.columns:
            raise ValueError(
                f"{option}={column!r} is no column of {options.data}; its first columns are "
                f"{list(table.columns[:8])}"
            )
    if options.time == options.event:
        raise ValueError(f"--time and --event both name {options.time!r}: they must differ")
    outcome = _numbers(table[[options.time, options.event]])
    features = _numbers(table.drop(columns=[options.time, options.event]))
    cohort = Cohort(
        X=features.to_numpy(dtype=float),
        durations=outcome[options.time].to_numpy(dtype=float),
        events=outcome[options.event].to_numpy(),
        feature_names=tuple(str(name) for name in features.columns),
        sample_names=tuple(str(name) for name in table.index),
        name=options.data.stem,
        disease="not stated",
        endpoint=options.event,
        time_unit=options.time_unit,
        source=str(options.data),
        citation="not stated",
    )
    experiment = experiments()["risk_groups"]
    result = experiment.run(
        cohort,
        n_genes=min(options.n_genes, features.shape[1]),
        n_neighbors=options.n_neighbors,
        n_components=options.n_components,
        n_clusters=options.n_clusters,
        horizon=options.horizon,
        n_repeats=options.n_repeats,
        n_jobs=options.n_jobs,
        random_state=options.random_state,
        verbose=not options.quiet,
    )
    _finish(result, "risk_groups", experiment.figures, options.out)


# ----------------------------------------------------------------------------- options to arguments


def _experiment_options(name: str, experiment: Experiment, words: Sequence[str]) -> dict[str, Any]:
    """Parse the parameters of one experiment, with types from its signature."""
    hints = get_type_hints(experiment.run)
    parser = _Parser(prog=f"python -m informed run {name}", add_help=False, allow_abbrev=False)
    for parameter in experiment.parameters.values():
        parser.add_argument(
            f"--{parameter.name.replace('_', '-')}",
            type=_converter(str(hints[parameter.name])),
            default=argparse.SUPPRESS,
        )
    return vars(parser.parse_args(list(words)))


def _converter(hint: str) -> Callable[[str], Any]:
    if "Sequence" in hint or "tuple" in hint:
        return _texts if "str" in hint else _floats if "float" in hint else _integers
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


def _texts(word: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in word.split(","))


def _as_word(value: object) -> str:
    if isinstance(value, tuple | list):
        return ",".join(str(part) for part in value)
    return str(value)


# --------------------------------------------------------------------------------- reading, writing


def _cohort(name: str) -> Any:
    from informed.datasets import load_cohort, make_risk_cohort

    return make_risk_cohort(random_state=0) if name == SYNTHETIC_COHORT else load_cohort(name)


def _read_table(path: Path, drop: Sequence[str]) -> pd.DataFrame:
    import pandas as pd

    table = pd.read_csv(path)
    unknown = [column for column in drop if column not in table.columns]
    if unknown:
        raise ValueError(f"--drop names {unknown}, which are no columns of {path}")
    return table.drop(columns=list(drop))


def _numbers(table: pd.DataFrame) -> pd.DataFrame:
    texts = [str(c) for c in table.columns if not _is_numeric(table[c])]
    if texts:
        raise ValueError(
            f"columns {texts[:5]} hold text: every column must hold numbers; leave others out with "
            "--drop"
        )
    missing = table.isna().any()
    if missing.any():
        column = str(missing.idxmax())
        raise ValueError(
            f"column {column!r} has missing values ({int(missing.sum())} column(s) in all): fill "
            "them in or leave the columns out with --drop"
        )
    return table


def _is_numeric(column: pd.Series[Any]) -> bool:
    from pandas.api.types import is_numeric_dtype

    return bool(is_numeric_dtype(column))


def _check_folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise ValueError(f"--out={path} is a file: it must be a folder")
    path.mkdir(parents=True, exist_ok=True)


def _finish(
    result: Any, name: str, figures: Sequence[Callable[..., Any]], folder: Path | None
) -> None:
    """Print the table; with a folder, write table, result and figures."""
    print(result)
    if folder is None:
        return
    _write(folder / f"{name}.txt", lambda file: file.write(f"{result}\n".encode()))
    result.save(folder / name)
    for draw in figures:
        figure = draw(result)
        _write(
            folder / f"{name}-{draw.__name__}.png",
            lambda file, figure=figure: figure.savefig(file, format="png"),  # type: ignore[misc]
        )
    print(f"written to {folder}: table, result and {len(figures)} figure(s)")


def _write(path: Path, content: Callable[[Any], object]) -> None:
    from informed.experiments.results import written_whole

    with written_whole(path) as file:
        content(file)
