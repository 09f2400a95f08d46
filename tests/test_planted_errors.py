"""Errors planted in the mathematics, one at a time: the tests that guard a statement must notice.

Each error is put into a copy of the library, and the tests that the ledger names for the statement
are run against the copy. They pass on a faithful copy and must fail on the wrong one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

ERRORS = {
    "the factor one half of the local distance": (
        "metrics/local_graph.py",
        "halves[rows] = 0.5 * np.sum(",
        "halves[rows] = 1.0 * np.sum(",
        "test_metrics_local.py::test_distance_is_the_formula_in_plain_loops",
    ),
    "the centring of the features": (
        "centering.py",
        "centered -= above_first",
        "centered -= 0.0",
        "test_theorems.py::test_erratum_2_the_covariance_as_printed_needs_centred_features",
    ),
    "the root of the cluster sizes": (
        "clusters/features.py",
        "= 1.0 / np.sqrt(sizes[labels])",
        "= 1.0 / sizes[labels]",
        "test_clusters.py::test_indicator_follows_its_definition",
    ),
    "the root of the variances": (
        "metrics/model.py",
        "/ np.sqrt(variances)).T",
        "/ variances).T",
        "test_metrics_global.py::test_distance_is_the_explicit_quadratic_form",
    ),
    "half of the gradient": (
        "directions/result.py",
        "-2.0 * (2.0 * SU - U @ (U.T @ SU) - SU @ (U.T @ U))",
        "-2.0 * (SU - U @ (U.T @ SU))",
        "test_directions.py::test_gradient_against_finite_differences",
    ),
    "the root of the penalty": (
        "directions/weights.py",
        "base = np.sqrt(min(self.base, limit))",
        "base = min(self.base, limit)",
        "test_penalty.py::test_directions_are_the_eigenvectors_of_the_penalised_covariance",
    ),
    "the square in the kernel": (
        "diffusion.py",
        "kernel = np.exp(-squared / epsilon)",
        "kernel = np.exp(-np.sqrt(squared / epsilon))",
        "test_diffusion.py::test_embedding_is_that_of_the_markov_matrix",
    ),
    "the covariance in the log-rank test": (
        "survival/log_rank.py",
        "V[:, g, h] = -(weighted * other).sum(axis=1)",
        "V[:, g, h] = 0.0",
        "test_survival_properties.py::test_exact_permutation_by_brute_force",
    ),
}


# That a test fails is all that is asked; to look for the simplest example takes most of the time.
FIRST_EXAMPLE = """
from hypothesis import Phase, settings
settings.register_profile("first example", phases=[Phase.explicit, Phase.generate])
settings.load_profile("first example")
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "informed", folder / "informed")
    (folder / "first_example.py").write_text(FIRST_EXAMPLE, encoding="utf-8")
    return folder


def run_against(copy: Path, test: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    file, name = test.split("::")
    settings = ["-c", str(ROOT / "pyproject.toml"), "-p", "first_example"]
    for plugin in ("cacheprovider", "xdist", "nbval", "playwright"):
        settings += ["-p", f"no:{plugin}"]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            *settings,
            str(ROOT / "tests" / file),
            "-k",
            name,
        ],
        cwd=copy,  # the copy comes first on the path
        env=environment | {"PYTHONPATH": str(copy), "HYPOTHESIS_STORAGE_DIRECTORY": str(copy)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("statement", ERRORS)
def test_a_planted_error_is_noticed(statement: str, copy: Path) -> None:
    file, right, wrong, test = ERRORS[statement]
    path = copy / "informed" / file
    faithful = path.read_text(encoding="utf-8")
    assert faithful.count(right) == 1, f"{file} no longer has {right!r}"
    try:
        path.write_text(faithful.replace(right, wrong), encoding="utf-8")
        noticed = run_against(copy, test)
    finally:
        path.write_text(faithful, encoding="utf-8")
    assert noticed.returncode == 1, noticed.stdout + noticed.stderr  # tests ran, and some failed


def test_the_copy_is_what_is_tested_and_it_passes(copy: Path) -> None:
    passed = run_against(copy, ERRORS["the root of the cluster sizes"][3])
    assert passed.returncode == 0, passed.stdout + passed.stderr
