"""Command line: run the experiments, or use the metric on a table of your own.

Bad input ends with exit code 2 and one line on standard error. Files appear only when they are
complete.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from informed.studies.cli import own_data
from informed.studies.cli.completion import SHELLS, completion
from informed.studies.cli.output import check_folder, finish
from informed.studies.cli.runs import (
    CANDF,
    DIRECTORS_CHALLENGE,
    SYNTHETIC_COHORT,
    Parser,
    as_word,
    choose,
    experiments,
    help_of,
    option_of,
    texts,
)

EXAMPLES = """examples:
  informed list
  informed run hidden_space --out results
  informed run direction_error --sizes 20,60,100 --n-repeats 5 --n-jobs 2
  informed run neighborhood_sweep --cohort vdv --n-jobs 2 --out results
  informed run risk_groups --cohort candf --sizes 10,20,30 --n-repeats 5
  informed distances data.csv --n-components 3 --out distances.npy
  informed compare data.csv --target diagnosis --out results
  informed risk cohort.csv --time months --event died --out results
  informed grade submissions --out grades.csv
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str or None
        Words after ``informed``; those of the process if None.

    Returns
    -------
    int
        0 on success, 2 on bad input, 130 when interrupted, 141 when nobody reads on.
    """
    parser = _parser()
    try:
        options, extra = parser.parse_known_args(arguments)
        if extra and options.command != "run":
            parser.error(f"unrecognized arguments: {' '.join(extra)}")
        options.action(options, extra)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("informed: interrupted; no incomplete file was left behind", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Who reads has seen enough (``| head``); Python's last flush would complain once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ValueError, TypeError, ImportError, OSError) as error:
        # One line, whatever the message: a traceback helps nobody at the command line.
        print(f"informed: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="informed",
        description="Mahalanobis distances informed by clusters of features.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    version = importlib.import_module("informed").__version__
    parser.add_argument("--version", action="version", version=f"informed {version}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    command = commands.add_parser("list", help="list the experiments and their parameters")
    command.set_defaults(action=_list)

    command = commands.add_parser(
        "run",
        help="run an experiment",
        description="Run an experiment; its parameters are options, as 'list' shows them.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
    )
    command.add_argument("experiment", metavar="EXPERIMENT", nargs="?", help="name, see 'list'")
    command.add_argument("-h", "--help", action="store_true", help="show this, or an experiment's")
    command.add_argument(
        "--cohort",
        help="for experiments on a cohort: 'synthetic' (default for most), vdv, NSBCD, DBCD, …, "
        f"{CANDF} (the paper's), {DIRECTORS_CHALLENGE}",
    )
    command.add_argument(
        "--out", type=Path, help="folder for the figures, the table and the result"
    )
    command.add_argument("--quiet", action="store_true", help="show no progress bar")
    command.add_argument("--json", action="store_true", help="print the table as JSON")
    command.set_defaults(action=_run, parser=command)

    own_data.add_commands(commands)

    command = commands.add_parser(
        "grade",
        help="mark the notebooks that a class handed in",
        description="Run each notebook in a closed process (time, memory, no network), try each "
        "answer on hidden inputs, and write one row for each student.",
        epilog="What was marked before is kept beside the table and not marked again.",
    )
    command.add_argument(
        "submissions",
        type=Path,
        metavar="FOLDER",
        help="a folder or notebook for each student; Moodle's and Canvas's downloads are known",
    )
    command.add_argument("--out", type=Path, required=True, help="table to write, .csv")
    command.add_argument(
        "--exercises",
        type=texts,
        help="what counts: labels, ex-gram=2 for two points, or notebooks as handed out; by "
        "default the exercises that more than half of the students answer, one point each",
    )
    command.add_argument("--seed", help="of the hidden inputs; by default drawn once, and kept")
    command.add_argument("--memory", type=float, default=2.0, help="gigabytes a notebook may use")
    command.add_argument("--seconds", type=float, default=60.0, help="for the cells of a notebook")
    command.add_argument("--n-jobs", type=int, default=2, help="notebooks at a time")
    command.add_argument(
        "--all-cells", action="store_true", help="run all cells, not only what answers need"
    )
    command.add_argument("--quiet", action="store_true", help="show no progress bar")
    command.set_defaults(action=_grade)

    command = commands.add_parser(
        "exam",
        help="draw an exam from a bank of items",
        description="Draw an exam by a secret seed: Moodle XML, QTI 2.1, pages to print, the key.",
    )
    command.add_argument(
        "items", type=Path, nargs="+", metavar="FOLDER", help="folders of items; the book's first"
    )
    command.add_argument("--out", type=Path, required=True, help="folder to write to")
    command.add_argument("--seed", help="the teacher's secret; drawn and told if it is not given")
    command.add_argument("--length", type=int, default=20, help="number of questions")
    command.set_defaults(action=_exam)

    command = commands.add_parser(
        "completion",
        help="print a script that completes words in your shell",
        epilog='bash: eval "$(informed completion bash)"; zsh and fish alike, see their manuals',
    )
    command.add_argument("shell", choices=SHELLS)
    command.set_defaults(action=lambda options, extra: print(completion(parser, options.shell)))
    return parser


# ----------------------------------------------------------------------------------- the commands


def _list(options: argparse.Namespace, extra: Sequence[str]) -> None:
    for name, experiment in experiments().items():
        print(f"{name}\n    {experiment.summary}")
        words = ["--cohort NAME"] if experiment.needs_cohort else []
        words += [
            f"{option_of(p.name)} {as_word(p.default)}" for p in experiment.parameters.values()
        ]
        print("    " + "\n    ".join(words))


def _run(options: argparse.Namespace, extra: Sequence[str]) -> None:
    if options.experiment is None:
        if options.help:
            options.parser.print_help()
            return
        raise ValueError("run needs the name of an experiment: 'informed list' shows them")
    known = experiments()
    if options.experiment not in known:
        raise ValueError(
            f"EXPERIMENT={options.experiment!r} is unknown: it must be one of {sorted(known)}"
        )
    experiment = known[options.experiment]
    if options.help:
        print(help_of(options.experiment, experiment))
        return
    cohort = options.cohort or experiment.cohort
    experiment, parameters = choose(options.experiment, experiment, cohort, extra)
    if options.out is not None:
        check_folder(options.out)
    arguments: list[Any] = []
    if experiment.needs_cohort:
        arguments.append(_cohort(cohort))
    if "verbose" in inspect.signature(experiment.run).parameters:
        parameters["verbose"] = not options.quiet
    result = experiment.run(*arguments, **parameters)
    finish(result, options.experiment, experiment.figures, options.out, as_json=options.json)


def _grade(options: argparse.Namespace, extra: Sequence[str]) -> None:
    from informed.teaching.grading.command import Order, grade_class, worth_of
    from informed.teaching.grading.runner import Limits

    if options.out.suffix != ".csv":
        raise ValueError(f"--out={options.out} must end in .csv")
    for option, value in (("--memory", options.memory), ("--seconds", options.seconds)):
        if not value > 0:
            raise ValueError(f"{option}={value:g} must be above zero")
    if options.n_jobs < 1:
        raise ValueError(f"--n-jobs={options.n_jobs} must be 1 or more")
    limits = Limits(memory=options.memory, seconds=options.seconds)
    worth = None if options.exercises is None else worth_of(options.exercises, limits)
    grade_class(
        Order(
            options.submissions,
            options.out,
            worth=worth,
            seed=options.seed,
            limits=limits,
            workers=options.n_jobs,
            whole=options.all_cells,
            quiet=options.quiet,
        )
    )


def _exam(options: argparse.Namespace, extra: Sequence[str]) -> None:
    from informed.teaching.assessment.command import write_exam

    check_folder(options.out)
    write_exam(options.items, options.out, seed=options.seed or None, length=options.length)


def _cohort(name: str) -> Any:
    from informed import datasets

    if name == SYNTHETIC_COHORT:
        return datasets.make_risk_cohort(random_state=0)
    if name == CANDF:
        return datasets.load_candf(source=DIRECTORS_CHALLENGE)
    if name == DIRECTORS_CHALLENGE:
        return datasets.load_directors_challenge()
    if name not in datasets.COHORT_NAMES:
        known = [SYNTHETIC_COHORT, CANDF, DIRECTORS_CHALLENGE, *datasets.COHORT_NAMES]
        raise ValueError(f"--cohort={name!r} is unknown: it must be one of {known}")
    return datasets.load_cohort(name)
