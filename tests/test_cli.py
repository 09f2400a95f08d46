"""The command line as a person types it: results, files, and what happens with wrong input."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import informed
from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.datasets import make_risk_cohort
from informed.directions.registry import DIRECTIONS, VARIANCES
from informed.experiments import load_result
from informed.metrics.choice import MAY_BE_OPEN
from informed.studies.cli import experiments, main
from informed.studies.cli.own_data import _target
from informed.studies.experiments.comparison import MEASURES


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))[:, [0, 1, 2, 0, 1, 2, 0]] + 0.1 * rng.normal(size=(30, 7))
    path = tmp_path / "data.csv"
    pd.DataFrame(X, columns=list("abcdefg")).to_csv(path, index=False)
    return path, pd.read_csv(path).to_numpy()


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_list_names_every_experiment_and_parameter(capsys):
    code, out, _ = run(capsys, "list")
    assert code == 0
    for name, experiment in experiments().items():
        assert f"\n{name}\n" in f"\n{out}"
        for parameter in experiment.parameters:
            assert f"--{parameter.replace('_', '-')}" in out
    assert "--sizes 20,60,100,200" in out


def test_run_prints_the_table_and_writes_all_files(capsys, tmp_path):
    words = ["--n-samples", "60", "--n-features", "60", "--n-fit", "30", "--n-jobs", "none"]
    out_dir = tmp_path / "new" / "folder"
    code, out, err = run(capsys, "run", "hidden_space", *words, "--out", out_dir, "--quiet")
    assert code == 0
    assert err == ""
    result = load_result(out_dir / "hidden_space")
    assert str(result) in out
    assert result.hidden.shape == (60, 2)
    assert (out_dir / "hidden_space.txt").read_text() == f"{result}\n"
    figures = sorted(out_dir.glob("*.png"))
    assert [f.name for f in figures] == [
        "hidden_space-distance_recovery.png",
        "hidden_space-square_embeddings.png",
    ]
    assert all(f.read_bytes().startswith(b"\x89PNG") for f in figures)


def test_run_takes_lists_and_shows_progress(capsys):
    words = ["--sizes", "20,30", "--methods", "averaged,exact", "--n-repeats", "1"]
    code, out, err = run(capsys, "run", "direction_error", *words)
    assert code == 0
    assert "n_samples=20" in out
    assert "n_samples=30" in out
    assert "penalized" not in out
    assert "direction_error" in err


def test_run_on_a_cohort(capsys):
    words = ["--n-repeats", "1", "--horizon", "40", "--late-deaths", "drop", "--quiet"]
    code, out, _ = run(capsys, "run", "risk_groups", *words)
    assert code == 0
    assert "informed" in out


def test_run_on_a_real_cohort(capsys):
    pytest.importorskip("SurvSet")
    words = ["--cohort", "vdv", "--n-repeats", "1", "--n-genes", "50", "--quiet"]
    code, out, _ = run(capsys, "run", "risk_groups", *words)
    assert code == 0
    assert out.startswith("vdv")


def test_experiments_name_the_cohort_that_they_are_about(capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "informed.studies.cli.commands._cohort", lambda name: asked.append(name) or 1 / 0
    )
    for experiment in ("risk_groups", "own_patients", "site_transfer"):
        with pytest.raises(ZeroDivisionError):
            main(["run", experiment])
    with pytest.raises(ZeroDivisionError):
        main(["run", "own_patients", "--cohort", "vdv"])
    assert asked == ["synthetic", "candf", "directors-challenge", "vdv"]


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
def test_distances_are_those_of_the_library(suffix, capsys, table, tmp_path):
    path, X = table
    target = tmp_path / f"d{suffix}"
    code, out, _ = run(capsys, "distances", path, "--out", target, "--n-components", "2")
    assert code == 0
    assert "30 samples, 7 features" in out
    if suffix == ".npy":
        written = np.load(target)
        assert not (tmp_path / "d.rows.csv").exists(), "there are no names to keep"
    else:
        named = pd.read_csv(target, index_col=0)
        assert list(named.index) == list(range(1, 31)) == list(map(int, named.columns))
        written = named.to_numpy()
    expected = InformedMahalanobis(2, random_state=0).fit(X).pairwise_distances(X)
    np.testing.assert_allclose(written, expected, rtol=1e-8, atol=1e-8)


def test_local_squared_distances_without_a_column(capsys, table, tmp_path):
    path, X = table
    target = tmp_path / "d.npy"
    words = [
        "--local",
        "12",
        "--n-components",
        "2",
        "--n-clusters",
        "3",
        "--drop",
        "g",
        "--squared",
    ]
    code, _, _ = run(capsys, "distances", path, "--out", target, *words)
    assert code == 0
    local = LocalInformedMahalanobis(12, 2, 3, random_state=0).fit(X[:, :6])
    np.testing.assert_allclose(np.load(target), local.pairwise_distances(squared=True))


@pytest.mark.parametrize(
    "words",
    [
        ["--n-components", "auto"],
        ["--n-components", "auto", "--n-clusters", "auto"],
        ["--n-clusters", "auto", "--clustering", "ward", "--variances", "shrunk"],
        [f"--{name}=auto" for name in ("clustering", "profiles", "directions", "variances")],
        [f"--{name.replace('_', '-')}=auto" for name in MAY_BE_OPEN],
    ],
    ids=["directions", "numbers", "with ward", "kinds", "everything"],
)
def test_what_is_left_open_is_chosen_as_in_the_library_and_said(words, capsys, table, tmp_path):
    path, X = table
    target = tmp_path / "d.npy"
    pairs = re.findall(r"--([a-z-]+)[= ](\S+)", " ".join(words))
    asked = {name.replace("-", "_"): value for name, value in pairs}
    metric = InformedMahalanobis(random_state=0, **asked).fit(X)
    chosen = {name: metric.settings_[name] for name in MAY_BE_OPEN if asked.get(name) == "auto"}
    assert "auto" not in chosen.values()
    code, out, _ = run(capsys, "distances", path, "--out", target, *words)
    assert code == 0
    np.testing.assert_allclose(np.load(target), metric.pairwise_distances(X), atol=1e-12)
    said = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in chosen.items())
    assert out.splitlines()[1] == f"chosen by rows held out: {said}"
    code, out, _ = run(capsys, "distances", path, "--out", target, *words, "--json")
    assert code == 0
    assert json.loads(out)["chosen"] == chosen


def test_nothing_is_said_to_be_chosen_where_nothing_was_left_open(capsys, table, tmp_path):
    code, out, _ = run(capsys, "distances", table[0], "--out", tmp_path / "d.npy")
    assert code == 0
    assert "chosen" not in out


def test_the_local_metric_takes_the_way_to_cluster(capsys, table, tmp_path):
    path, X = table
    words = ["--local", "12", "--clustering", "ward", "--profiles", "standardized"]
    code, _, _ = run(capsys, "distances", path, "--out", tmp_path / "d.npy", *words)
    assert code == 0
    local = LocalInformedMahalanobis(
        12, 2, clustering="ward", profiles="standardized", random_state=0
    ).fit(X)
    np.testing.assert_allclose(np.load(tmp_path / "d.npy"), local.pairwise_distances())


def test_risk_on_a_table_of_ones_own(capsys, tmp_path):
    cohort = make_risk_cohort(random_state=1)
    frame = pd.DataFrame(cohort.X[:, :60], columns=cohort.feature_names[:60])
    frame["months"], frame["died"] = cohort.durations, cohort.events
    frame["patient"] = [f"p{i}" for i in range(len(frame))]
    path = tmp_path / "mine.csv"
    frame.to_csv(path, index=False)
    words = ["--time", "months", "--event", "died", "--index-col", "patient", "--n-repeats", "1"]
    code, out, _ = run(capsys, "risk", path, *words, "--quiet", "--out", tmp_path / "res")
    assert code == 0
    assert "82 samples, 60 features" in out.splitlines()[0]
    groups = pd.read_csv(tmp_path / "res" / "risk_groups-groups.csv", index_col="subject")
    assert list(groups.index) == list(frame["patient"])
    assert list(groups.columns) == ["euclidean", "local pca", "informed"]
    result = load_result(tmp_path / "res" / "risk_groups")
    for method in groups:
        np.testing.assert_array_equal(groups[method], result.groups[method][0])
    assert load_result(tmp_path / "res" / "risk_groups").expression.shape == (82, 60)
    assert len(list((tmp_path / "res").glob("*.png"))) == 3


def test_a_row_index_is_no_feature(capsys, table, tmp_path):
    """The defect that gave distances which looked right: pandas writes its index by default."""
    path, X = table
    frame = pd.read_csv(path)
    expected = InformedMahalanobis(2, random_state=0).fit(X).pairwise_distances(X)
    frame.index = [f"s{number}" for number in range(len(frame))]
    written = tmp_path / "indexed.csv"
    for options in ({}, {"index_label": "patient_id"}, {"sep": ";", "decimal": ","}):
        frame.to_csv(written, **options)
        code, out, _ = run(capsys, "distances", written, "--out", tmp_path / "d.csv")
        assert code == 0
        assert "30 samples, 7 features" in out
        assert "row names" in out
        found = pd.read_csv(tmp_path / "d.csv", index_col=0)
        assert list(found.index) == list(found.columns) == list(frame.index)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
        code, _, _ = run(capsys, "distances", written, "--out", tmp_path / "d.npy")
        assert code == 0
        assert (tmp_path / "d.rows.csv").read_text().split() == ["row", *frame.index]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"header": False, "index": False}, "--no-header"),
        ({"index_label": "x"}, "--index-col"),
    ],
)
def test_a_table_that_can_be_read_in_two_ways_writes_nothing(
    change, words, capsys, table, tmp_path
):
    path, _ = table
    pd.read_csv(path).to_csv(tmp_path / "two.csv", **change)
    code, _, err = run(capsys, "distances", tmp_path / "two.csv", "--out", tmp_path / "d.npy")
    assert code == 2
    assert words in err
    assert not list(tmp_path.glob("d.*"))


def test_what_was_done_as_json(capsys, table, tmp_path):
    path, X = table
    code, out, _ = run(capsys, "distances", path, "--out", tmp_path / "d.npy", "--json")
    assert code == 0
    told = json.loads(out)
    assert (told["samples"], told["features"]) == X.shape
    assert told["written"] == [str(tmp_path / "d.npy")]
    words = ["--n-samples", "30", "--n-features", "30", "--n-fit", "20", "--quiet", "--json"]
    code, out, _ = run(capsys, "run", "hidden_space", *words)
    assert code == 0
    first = {next(iter(row.values())) for row in json.loads(out)}
    assert first == {"euclidean", "pca", "informed"}


@pytest.mark.parametrize(
    ("targets", "task"),
    [
        (("0,5", "1,5", "2,25"), "numbers"),
        (("a", "b", "c"), "classes"),
        (("01", "02", "1"), "classes"),
    ],
)
def test_a_target_is_read_as_the_table_is(targets, task, capsys, table, tmp_path):
    """A decimal comma had made classes of numbers, and 01 and 1 had been one class."""
    frame = pd.read_csv(table[0])
    frame["y"] = np.resize(targets, len(frame))
    frame.to_csv(tmp_path / "t.csv", sep=";", decimal=",", index=False)
    words = ["--target", "y", "--methods", "pca", "--n-splits", "2", "--quiet"]
    code, out, _ = run(capsys, "compare", tmp_path / "t.csv", *words)
    assert code == 0
    assert out.startswith(f"{tmp_path / 't.csv'}: 30 samples, 7 features\n")
    assert MEASURES[task] in out
    code, out, err = run(capsys, "compare", tmp_path / "t.csv", *words, "--json")
    assert code == 0
    assert json.loads(out)[1]["method"] == "pca"
    assert "30 samples, 7 features" in err
    assert "decimal sign is a comma" in err


def test_codes_are_names_of_classes():
    assert _target(("01", "1", "02"), None) == ["01", "1", "02"]
    assert _target(("1", "2", "1_0"), None) == ["1", "2", "1_0"]
    assert _target(("1", "2,5"), None) == _target(("1", "2,5"), ",") == [1.0, 2.5]
    with pytest.raises(ValueError, match="--decimal"):
        _target(("1,234", "2"), None)


def test_an_experiment_has_its_own_help(capsys):
    code, out, _ = run(capsys, "run", "hidden_space", "--help")
    assert code == 0
    assert "--n-features" in out
    assert "default: 1200" in out
    code, generic, _ = run(capsys, "run", "--help")
    assert code == 0
    assert "EXPERIMENT" in generic
    assert "--n-features" not in generic


def test_version(capsys):
    code, out, _ = run(capsys, "--version")
    assert (code, out.strip()) == (0, f"informed {informed.__version__}")


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")
def test_words_are_completed_in_bash(capsys):
    code, script, _ = run(capsys, "completion", "bash")
    assert code == 0

    def completed(*words):
        line = " ".join(f"'{word}'" for word in words)
        ask = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _informed\n"
        ask += 'echo "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert completed("informed", "dis") == ["distances"]
    assert completed("informed", "distances", "--index") == ["--index-col"]
    for shell in ("zsh", "fish"):
        code, script, _ = run(capsys, "completion", shell)
        assert code == 0
        assert "distances" in script


def test_ctrl_c_while_the_program_still_loads_is_one_line():
    code = (
        "import sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'numpy': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from informed.__main__ import run\n"
        "sys.exit(run())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "informed: interrupted\n"


@pytest.fixture
def bad(tmp_path, table):
    path, _ = table
    frame = pd.read_csv(path)
    frame.assign(g="x").to_csv(tmp_path / "text.csv", index=False)
    frame.assign(g=np.nan).to_csv(tmp_path / "missing.csv", index=False)
    frame.assign(died=2, months=1.0).to_csv(tmp_path / "events.csv", index=False)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "file").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "required"),
        (["dance"], "invalid choice"),
        (["run"], "needs the name of an experiment"),
        (["run", "magic"], "EXPERIMENT='magic' is unknown"),
        (["run", "hidden_space", "--magic", "1"], "unrecognized arguments: --magic"),
        (["run", "hidden_space", "--n-fit", "many"], "--n-fit"),
        (["run", "hidden_space", "--n-fit", "1000"], "n_fit=1000 is out of range"),
        (["run", "hidden_space", "--out", "file"], "is a file"),
        (["run", "direction_error", "--sizes", "20,x"], "--sizes"),
        (["run", "risk_groups", "--cohort", "nobody"], "nobody"),
        (["list", "--magic"], "unrecognized arguments: --magic"),
        (["distances", "data.csv"], "--out"),
        (["distances", "data.csv", "--out", "d.txt"], "must end in .npy or .csv"),
        (["distances", "absent.csv", "--out", "d.npy"], "absent.csv"),
        (["distances", "empty.csv", "--out", "d.npy"], "empty.csv: the file is empty"),
        (["distances", "text.csv", "--out", "d.npy"], "['g'] hold text"),
        (["distances", "missing.csv", "--out", "d.npy"], "column 'g' has no value in row '1'"),
        (["distances", "data.csv", "--out", "d.npy", "--drop", "z"], "--drop names ['z']"),
        (["distances", "data.csv", "--out", "d.npy", "--n-components", "9"], "n_components=9"),
        (["distances", "data.csv", "--out", "d.npy", "--directions", "up"], "directions='up'"),
        (["distances", "data.csv", "--out", "d.npy", "--n-clusters", "few"], "number or auto"),
        (
            ["distances", "data.csv", "--out", "d.npy", "--local", "3", "--n-clusters", "auto"],
            "--n-clusters auto is chosen for one model of all samples",
        ),
        (["risk", "data.csv", "--time", "t", "--event", "e"], "--time='t' is no column"),
        (["risk", "events.csv", "--time", "a", "--event", "died"], "durations"),
        (["risk", "events.csv", "--time", "months", "--event", "died"], "events holds"),
        (["risk", "events.csv", "--time", "died", "--event", "died"], "must differ"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(words, message, bad, capsys, monkeypatch):
    monkeypatch.chdir(bad)
    code, _, err = run(capsys, *words)
    assert code == 2
    assert message in err
    assert err.startswith("informed: error: ")
    assert len(err.strip().splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="no pipe of this kind")
def test_a_reader_who_has_seen_enough_is_no_error():
    command = [sys.executable, "-m", "informed", "list"]
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as closed:
        done = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (141, "")


def test_help_shows_examples(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "examples:" in out
    assert "informed distances data.csv" in out


def test_help_names_every_solver(capsys):
    code, out, _ = run(capsys, "distances", "--help")
    assert code == 0
    listed = re.search(r"--directions NAME\s+(.*?)\n  --variances NAME\s+(.*?)\n", out, re.S)
    words = {"or", "default"}
    assert set(re.findall(r"\w+", listed[1])) - words == {*DIRECTIONS, "auto"}
    assert set(re.findall(r"\w+", listed[2])) - words == {*VARIANCES, "auto"}


def test_the_module_runs_and_light():
    """``--help`` must answer at once: no matplotlib, no scikit-learn."""
    code = "import sys; sys.argv = ['informed', '--help']\n"
    code += "from informed.studies.cli import main\nmain()\n"
    code += "print([m for m in ('matplotlib', 'sklearn', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")
    done = subprocess.run(
        [sys.executable, "-m", "informed", "run", "magic"], capture_output=True, text=True
    )
    assert done.returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_control_c_leaves_no_file(tmp_path):
    words = ["run", "direction_error", "--n-repeats", "500", "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "informed", *words],
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in the background makes its children ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    # The first sign of the progress bar says that the work has begun.
    assert process.stderr is not None
    while "direction_error" not in process.stderr.read(40):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []
