"""The command line as a person types it: results, files, and what happens with wrong input."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.cli import experiments, main
from informed.datasets import make_risk_cohort
from informed.experiments import load_result


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


@pytest.mark.parametrize("suffix", [".npy", ".csv"])
def test_distances_are_those_of_the_library(suffix, capsys, table, tmp_path):
    path, X = table
    target = tmp_path / f"d{suffix}"
    code, out, _ = run(capsys, "distances", path, "--out", target, "--n-components", "2")
    assert code == 0
    assert "30 samples, 7 features" in out
    written = np.load(target) if suffix == ".npy" else np.loadtxt(target, delimiter=",")
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


def test_risk_on_a_table_of_ones_own(capsys, tmp_path):
    cohort = make_risk_cohort(random_state=1)
    frame = pd.DataFrame(cohort.X[:, :60], columns=cohort.feature_names[:60])
    frame["months"], frame["died"] = cohort.durations, cohort.events
    frame["patient"] = [f"p{i}" for i in range(len(frame))]
    path = tmp_path / "mine.csv"
    frame.to_csv(path, index=False)
    words = ["--time", "months", "--event", "died", "--drop", "patient", "--n-repeats", "1"]
    code, out, _ = run(capsys, "risk", path, *words, "--quiet", "--out", tmp_path / "res")
    assert code == 0
    assert out.startswith("mine")
    assert load_result(tmp_path / "res" / "risk_groups").expression.shape == (82, 60)
    assert len(list((tmp_path / "res").glob("*.png"))) == 3


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
        (["run"], "EXPERIMENT"),
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
        (["distances", "empty.csv", "--out", "d.npy"], "No columns"),
        (["distances", "text.csv", "--out", "d.npy"], "['g'] hold text"),
        (["distances", "missing.csv", "--out", "d.npy"], "column 'g' has missing values"),
        (["distances", "data.csv", "--out", "d.npy", "--drop", "z"], "--drop names ['z']"),
        (["distances", "data.csv", "--out", "d.npy", "--n-components", "9"], "n_components=9"),
        (["distances", "data.csv", "--out", "d.npy", "--directions", "up"], "directions='up'"),
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


def test_help_shows_examples(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "examples:" in out
    assert "python -m informed distances data.csv" in out


def test_the_module_runs_and_light():
    """``--help`` must answer at once: no matplotlib, no scikit-learn."""
    code = "import sys; sys.argv = ['informed', '--help']\nfrom informed.cli import main\nmain()\n"
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
