"""The commands for a table of your own: distances, risk groups, and a comparison of metrics."""

from __future__ import annotations

import argparse
import csv
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from informed.studies.cli.cells import CODE, NUMBER, read_cells
from informed.studies.cli.output import as_text, check_folder, finish
from informed.studies.cli.runs import experiments, texts
from informed.studies.cli.tables import Table, read_table
from informed.studies.files import written_whole

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[Any]


def add_commands(commands: Commands) -> None:
    """Add ``distances``, ``risk`` and ``compare`` to the command line."""
    command = commands.add_parser(
        "distances",
        help="pairwise distances of the rows of a table",
        description="Pairwise informed distances of the rows of a text table (CSV).",
        epilog="What is 'auto' is chosen by the likelihood of rows held out, and said; not with "
        "--local.",
    )
    command.add_argument("--out", type=Path, required=True, help="file to write, .npy or .csv")
    command.add_argument(
        "--n-components",
        type=_count_or_auto,
        default=2,
        metavar="N|auto",
        help="number of directions (default 2)",
    )
    command.add_argument(
        "--n-clusters",
        type=_count_or_auto,
        metavar="N|auto",
        help="number of feature clusters (default one more than directions)",
    )
    command.add_argument(
        "--clustering", default="kmeans", metavar="NAME", help="kmeans (default), ward or auto"
    )
    command.add_argument(
        "--profiles",
        default="centered",
        metavar="NAME",
        help="features before clustering: as-is, centered (default), standardized or auto",
    )
    command.add_argument(
        "--directions",
        default="exact",
        metavar="NAME",
        help="exact (default), gradient, averaged, penalized, pca or auto",
    )
    command.add_argument(
        "--variances", default="pca", metavar="NAME", help="pca (default), own, shrunk or auto"
    )
    command.add_argument(
        "--local", type=int, metavar="N", help="a model in each neighbourhood of N samples"
    )
    command.add_argument("--squared", action="store_true", help="write squared distances")
    command.add_argument("--random-state", type=int, default=0, help="seed of k-means")
    command.set_defaults(action=_distances)

    command = commands.add_parser(
        "risk",
        help="risk groups of a cohort in a table",
        description="Split the subjects of a text table (CSV) in two and compare their survival.",
    )
    command.add_argument("--time", required=True, help="column of the follow-up times")
    command.add_argument("--event", required=True, help="column of the events, 0 or 1")
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
        "--out", type=Path, help="folder for the figures, the table, the groups and the result"
    )
    command.add_argument("--quiet", action="store_true", help="show no progress bar")
    command.set_defaults(action=_risk)

    command = commands.add_parser(
        "compare",
        help="the informed metric and its rivals on a table",
        description="Compare the informed metric with PCA, FeatureAgglomeration, Ledoit and Wolf "
        "and the Euclidean distance on held-out rows of a text table (CSV): by nearest neighbours "
        "with --target, by likelihood without.",
    )
    command.add_argument("--target", help="column to predict: classes (text or whole) or numbers")
    command.add_argument("--task", default="auto", help="what the target holds: classes or numbers")
    command.add_argument("--methods", type=texts, help="names as in the table: pca,informed")
    command.add_argument("--n-splits", type=int, default=10, help="number of random splits")
    command.add_argument("--random-state", type=int, default=0, help="seed")
    command.add_argument("--n-jobs", type=int, help="number of workers")
    command.add_argument("--out", type=Path, help="folder for the figure, the table and the result")
    command.add_argument("--quiet", action="store_true", help="show no progress bar")
    command.set_defaults(action=_compare)

    for name in ("distances", "risk", "compare"):
        command = commands.choices[name]
        command.add_argument(
            "data", type=Path, metavar="COHORT.csv" if name == "risk" else "DATA.csv"
        )
        command.add_argument("--sep", help="sign between two fields; by default found out")
        command.add_argument("--decimal", help="decimal sign, . or ,; by default found out")
        command.add_argument("--encoding", help="of the text; by default UTF-8")
        command.add_argument(
            "--index-col",
            help="column that names the rows, by name or number; none if there is none",
        )
        command.add_argument("--no-header", action="store_true", help="the first line is a sample")
        command.add_argument(
            "--transpose", action="store_true", help="each line is a feature, each column a sample"
        )
        command.add_argument("--drop", type=texts, default=(), help="columns to leave out: a,b,c")
        command.add_argument(
            "--keep", type=texts, default=(), help="features, whatever they look like: a,b,c"
        )
        command.add_argument("--json", action="store_true", help="print what was done as JSON")


def _count_or_auto(text: str) -> int | str:
    """Return a number, or the word that leaves it open."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number or auto") from None


def _read(options: argparse.Namespace, *apart: str) -> tuple[Table, list[NDArray[np.float64]]]:
    """Read the table, say what was read, and return it without the columns that stand apart."""
    table = read_table(
        options.data,
        sep=options.sep,
        decimal=options.decimal,
        encoding=options.encoding,
        index_col=options.index_col,
        header=not options.no_header,
        drop=options.drop,
        keep=options.keep,
        transpose=options.transpose,
        target=getattr(options, "target", None),
    )
    columns = [table.take(getattr(options, option), f"--{option}") for option in apart]
    if apart:
        table = table.without([getattr(options, option) for option in apart])
    samples, features = table.values.shape
    # What is printed as JSON stays clean.
    to = sys.stderr if options.json else sys.stdout
    print(f"{options.data}: {samples} samples, {features} features", file=to)
    print("".join(f"  {note}\n" for note in table.notes), end="", file=to)
    return table, columns


def _distances(options: argparse.Namespace, extra: Sequence[str]) -> None:
    from sklearn.metrics.pairwise import euclidean_distances

    from informed.metrics import InformedMahalanobis, LocalInformedMahalanobis
    from informed.metrics.choice import AUTO, MAY_BE_OPEN

    if options.out.suffix not in (".npy", ".csv"):
        raise ValueError(f"--out={options.out} must end in .npy or .csv")
    if not options.out.parent.is_dir():
        check_folder(options.out.parent)
    left_open = [name for name in MAY_BE_OPEN if getattr(options, name) == AUTO]
    if left_open and options.local is not None:
        raise ValueError(
            f"--{left_open[0].replace('_', '-')} auto is chosen for one model of all samples: with "
            "--local give a value"
        )
    table, _ = _read(options)
    X = table.values
    common: dict[str, Any] = {
        "directions": options.directions,
        "variances": options.variances,
        "clustering": options.clustering,
        "profiles": options.profiles,
        "random_state": options.random_state,
    }
    chosen: dict[str, Any] = {}
    if options.local is None:
        metric = InformedMahalanobis(options.n_components, options.n_clusters, **common)
        distances = euclidean_distances(metric.fit_transform(X), squared=options.squared)
        chosen = {name: metric.settings_[name] for name in left_open}
    else:
        local = LocalInformedMahalanobis(
            options.local, options.n_components, options.n_clusters, **common
        )
        distances = local.fit(X).pairwise_distances(squared=options.squared)
    written = [options.out]
    if options.out.suffix == ".csv":
        rows = ([name, *map(_number, row)] for name, row in zip(table.rows, distances, strict=True))
        _write_csv(options.out, ["", *table.rows], rows)
    else:
        with written_whole(options.out) as file:
            np.save(file, distances)
        if table.named:
            # An array has no room for names: they go beside it.
            written.append(options.out.with_suffix(".rows.csv"))
            _write_csv(written[-1], ["row"], ([name] for name in table.rows))
    if options.json:
        print(
            as_text(
                {
                    "samples": X.shape[0],
                    "features": X.shape[1],
                    "rows": table.rows,
                    "notes": table.notes,
                    "chosen": chosen,
                    "written": list(map(str, written)),
                }
            )
        )
    else:
        if chosen:
            words = (f"{name.replace('_', '-')} {value}" for name, value in chosen.items())
            print(f"chosen by rows held out: {', '.join(words)}")
        print(f"distances written to {' and '.join(map(str, written))}")


def _compare(options: argparse.Namespace, extra: Sequence[str]) -> None:
    from informed import compare

    if options.out is not None:
        check_folder(options.out)
    table, _ = _read(options)
    result = compare(
        table.values,
        _target(table.target, options.decimal) if options.target is not None else None,
        task=options.task,
        methods=options.methods,
        n_splits=options.n_splits,
        random_state=options.random_state,
        n_jobs=options.n_jobs,
        verbose=not options.quiet,
    )
    finish(result, "comparison", ("comparison",), options.out, as_json=options.json)


def _target(texts: Sequence[str], decimal: str | None) -> list[float] | list[str]:
    """Return numbers if all are, else the texts; codes such as 01 are names of classes."""
    if not all(map(NUMBER.fullmatch, texts)) or any(map(CODE.fullmatch, texts)):
        return list(texts)
    cells = [[text] for text in texts]
    values, _ = read_cells(["--target"], cells, None, decimal, ",", (), ValueError)
    return values[:, 0].tolist()  # type: ignore[no-any-return]


def _risk(options: argparse.Namespace, extra: Sequence[str]) -> None:
    from informed.datasets import Cohort

    if options.out is not None:
        check_folder(options.out)
    if options.time == options.event:
        raise ValueError(f"--time and --event both name {options.time!r}: they must differ")
    table, (durations, events) = _read(options, "time", "event")
    X = table.values
    cohort = Cohort(
        X=X,
        durations=durations,
        events=events,  # type: ignore[arg-type]  # the cohort checks that they are 0 or 1
        feature_names=table.columns,
        sample_names=table.rows,
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
        n_genes=min(options.n_genes, X.shape[1]),
        n_neighbors=options.n_neighbors,
        n_components=options.n_components,
        n_clusters=options.n_clusters,
        horizon=options.horizon,
        n_repeats=options.n_repeats,
        n_jobs=options.n_jobs,
        random_state=options.random_state,
        verbose=not options.quiet,
    )
    if options.out is not None:
        groups = [result.groups[method][0] for method in result.methods]
        _write_csv(
            options.out / "risk_groups-groups.csv",
            ["subject", *result.methods],
            ([name, *row] for name, row in zip(table.rows, np.transpose(groups), strict=True)),
        )
    finish(result, "risk_groups", experiment.figures, options.out, as_json=options.json)


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    with written_whole(path) as file:
        file.write(text.getvalue().encode())


def _number(value: float) -> str:
    return f"{value:.10g}"
