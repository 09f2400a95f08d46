"""The paper's experiment on its own patients, as one types it: ``run risk_groups --cohort candf``.

The commands run on made-up files of the same form, and on the real ones where they are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from directors_study import take_for_real, two_hospitals

from informed.datasets import find_directors_challenge, load_candf, load_directors_challenge
from informed.experiments import OwnPatients, RiskGroups, load_result, own_patients, risk_groups
from informed.studies.cli import experiments, main
from informed.studies.cli.runs import choose
from informed.studies.experiments.own_steps import OWN_METHODS, PAPER_SETTINGS, UNCHANGED

REAL = find_directors_challenge()
RESULTS = Path(__file__).resolve().parent.parent / "book" / "results"
QUICK = ["--sizes", "10,20", "--n-repeats", "2", "--n-permutations", "49", "--quiet"]
ASKED = {"sizes": (10, 20), "n_repeats": 2, "n_permutations": 49, "variations": (UNCHANGED,)}
AS_THE_PAPER = ["--skip", "1", "--horizon", "60", "--late-deaths", "drop"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    return take_for_real(monkeypatch, tmp_path, *two_hospitals())


def run(capsys, *words):
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.mark.parametrize(
    ("name", "load", "published"),
    [
        ("candf", lambda folder: load_candf(source="directors-challenge", folder=folder), True),
        ("directors-challenge", load_directors_challenge, False),
    ],
)
def test_the_whole_table_is_that_of_the_study(capsys, files, monkeypatch, name, load, published):
    monkeypatch.setenv("INFORMED_DIRECTORS_CHALLENGE", str(files))
    code, out, err = run(capsys, "run", "risk_groups", "--cohort", name, *QUICK)
    assert (code, err) == (0, "")
    expected = own_patients(load(files), **ASKED)
    assert out == f"{expected}\n"
    for words in ("late deaths dropped", "late deaths censored", "permutation p", "along N"):
        assert words in out
    assert [line.split("  ")[0] for line in out.splitlines()[3:8]] == list(OWN_METHODS)
    # The published curve is of other patients than all hospitals together.
    assert ("published ILM" in out) == ("0.0056 (informed)" in out) == published
    assert "one change at a time" not in out


SPLITS = [
    ([], True),
    (AS_THE_PAPER, True),
    (["--late-deaths", "censor", "--n-neighbors", "20", "--scale", "2"], True),
    (["--n-genes", "200", "--n-components", "6", "--n-clusters", "7", "--variances", "pca"], True),
    (["--n-neighbors", "15"], False),
    (["--skip", "0"], False),
    (["--horizon", "none"], False),
    (["--directions", "averaged"], False),
    (["--directions", "exact"], False),
]


@pytest.mark.parametrize(("words", "whole"), SPLITS, ids=[" ".join(w) or "-" for w, _ in SPLITS])
@pytest.mark.parametrize("cohort", ["candf", "directors-challenge", "synthetic", "vdv"])
def test_settings_of_the_paper_ask_for_the_whole_and_others_for_one_split(words, whole, cohort):
    experiment = experiments()["risk_groups"]
    chosen, parameters = choose("risk_groups", experiment, cohort, words)
    ours = cohort in ("candf", "directors-challenge")
    assert chosen.run is (own_patients if whole and ours else risk_groups)
    if whole and ours:
        assert parameters == {"variations": (UNCHANGED,)}
    elif ours:
        # What is not said stays as in the paper.
        said = dict(zip(words[::2], words[1::2], strict=True))
        for key, value in PAPER_SETTINGS.items():
            if f"--{key.replace('_', '-')}" not in said:
                assert parameters[key] == value
    else:
        assert parameters.keys() == {word[2:].replace("-", "_") for word in words[::2]}


def test_one_split_has_the_papers_other_settings(capsys, files, monkeypatch):
    monkeypatch.setenv("INFORMED_DIRECTORS_CHALLENGE", str(files))
    words = ["--n-neighbors", "15", "--n-repeats", "2", "--quiet", "--out", files.parent / "res"]
    code, out, _ = run(capsys, "run", "risk_groups", "--cohort", "candf", *words)
    assert code == 0
    cohort = load_candf(source="directors-challenge")
    expected = risk_groups(cohort, **PAPER_SETTINGS | {"n_neighbors": 15}, n_repeats=2)
    assert out.startswith(f"{expected}\n")
    assert isinstance(load_result(files.parent / "res" / "risk_groups"), RiskGroups)


def test_files_of_the_whole_have_the_name_that_was_typed(capsys, files, monkeypatch, tmp_path):
    monkeypatch.setenv("INFORMED_DIRECTORS_CHALLENGE", str(files))
    words = ["--cohort", "candf", *QUICK, "--json", "--out", tmp_path / "res"]
    code, out, _ = run(capsys, "run", "risk_groups", *words)
    assert code == 0
    assert sorted(path.name for path in (tmp_path / "res").iterdir()) == [
        "risk_groups-own_patients.png",
        "risk_groups.json",
        "risk_groups.npz",
        "risk_groups.txt",
    ]
    result = load_result(tmp_path / "res" / "risk_groups")
    assert isinstance(result, OwnPatients)
    assert json.loads(out) == json.loads(json.dumps(result.table.as_dicts()))
    assert (tmp_path / "res" / "risk_groups.txt").read_text() == f"{result}\n"


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["--cohort", "candf", "--sizes", "20", "--n-neighbors", "15"], "--n-neighbors 15 asks"),
        (["--cohort", "candf", "--n-permutations", "9", "--skip", "0"], "--n-permutations goes"),
        (["--cohort", "candf", "--variations", "x"], "unrecognized arguments: --variations x"),
        (["--cohort", "synthetic", "--sizes", "20"], "unrecognized arguments: --sizes 20"),
        (["--sizes", "20"], "unrecognized arguments: --sizes 20"),
        (["--cohort", "candf", "--sizes", "5"], "sizes"),
        (["--cohort", "candf", "--sizes", "41"], "40 subjects"),
        (["--cohort", "candf", "--n-repeats", "0"], "n_repeats=0"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(capsys, files, monkeypatch, words, match):
    monkeypatch.setenv("INFORMED_DIRECTORS_CHALLENGE", str(files))
    code, out, err = run(capsys, "run", "risk_groups", *words)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert match in err


def test_files_that_were_damaged_are_refused_in_one_line(capsys, files, monkeypatch):
    monkeypatch.setenv("INFORMED_DIRECTORS_CHALLENGE", str(files))
    path = files / "lung_cancer_data.csv"
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))
    code, out, err = run(capsys, "run", "risk_groups", "--cohort", "candf", *QUICK)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "lung_cancer_data.csv" in err


def test_help_says_what_is_run_on_the_papers_patients(capsys):
    _, out, _ = run(capsys, "run", "risk_groups", "--help")
    assert "with --cohort candf or directors-challenge:" in out
    told = out.partition("with --cohort")[2]
    for name, value in PAPER_SETTINGS.items():
        assert f"--{name.replace('_', '-')} {value}" in " ".join(told.split())
    assert "--sizes" in told
    assert "--n-permutations" in told
    assert "--variations" not in told
    assert max(map(len, told.splitlines())) <= 100
    _, other, _ = run(capsys, "run", "neighborhood_sweep", "--help")
    assert "with --cohort" not in other


@pytest.mark.skipif(REAL is None, reason="the files of the Director's Challenge are not here")
@pytest.mark.parametrize("words", [[], AS_THE_PAPER], ids=["plain", "settings written out"])
def test_the_command_prints_the_table_of_the_book_on_the_real_files(words):
    """As a person types it, in a process of its own; one seed, two sizes."""
    stored = load_result(RESULTS / "own_patients")
    asked = ["--sizes", "20,60", "--n-repeats", "1", "--quiet", *words]
    done = subprocess.run(
        [sys.executable, "-m", "informed", "run", "risk_groups", "--cohort", "candf", *asked],
        capture_output=True,
        text=True,
        env=os.environ | {"INFORMED_DIRECTORS_CHALLENGE": str(REAL)},
        check=True,
    )
    blocks = [block.splitlines() for block in done.stdout.split("\n\n")]
    assert [block[0] for block in blocks] == [
        "late deaths dropped, p over 1 seed(s):",
        "late deaths censored, p over 1 seed(s):",
        "along N, late deaths dropped, mean p:",
        "along N, late deaths censored, mean p:",
    ]
    columns = [stored.sizes.tolist().index(size) for size in (20, 60)]
    # The median is followed by mean and spread, and in the first table by two more columns.
    for block, p, place in ((blocks[0], stored.dropped, -5), (blocks[1], stored.censored, -3)):
        found = [float(line.split()[place]) for line in block[3:8]]
        np.testing.assert_allclose(found, p[:, columns[0], 0], rtol=6e-3)
    permuted = [float(line.split()[-2]) for line in blocks[0][3:8]]
    np.testing.assert_allclose(permuted, stored.permutation, rtol=6e-3)
    for block, p in zip(blocks[2:], (stored.dropped, stored.censored), strict=True):
        found = np.array([line.split() for line in block[3:5]], dtype=float)
        np.testing.assert_array_equal(found[:, 0], [20, 60])
        np.testing.assert_allclose(found[:, 1:6], p[:, columns, 0].T, rtol=6e-3)
        np.testing.assert_allclose(found[:, 6:], [[0.015, 0.067], [0.053, 0.042]])
