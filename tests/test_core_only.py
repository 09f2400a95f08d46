"""The metric with its five dependencies only: what works, and what is said about the rest."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

# Packages of the extras; none of them may be needed for the metric.
BLOCKED = ["IPython", "SurvSet", "dask", "distributed", "ipywidgets", "lifelines", "matplotlib"]
BLOCKED += ["pandas", "PIL", "pooch", "tqdm", "xlrd"]

BLOCKER = f"""
import importlib.abc, sys

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    code = BLOCKER + textwrap.dedent(script)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def output_of(script: str) -> str:
    done = run(script)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_blocker_blocks():
    script = f"""
        import importlib
        for package in {BLOCKED!r}:
            try:
                importlib.import_module(package)
            except ModuleNotFoundError as error:
                print(error.name)
    """
    assert output_of(script).split() == BLOCKED


def test_the_metric_works_without_any_extra():
    script = """
        import numpy as np
        import informed
        from informed import alternating, clusters, directions, gap, groups, theory
        from informed.datasets import make_two_types

        X = make_two_types(40, random_state=0).X[:, ::9]
        metric = informed.InformedMahalanobis(3, random_state=0).fit(X)
        local = informed.LocalInformedMahalanobis(15, 3, 4, random_state=0).fit(X)
        embedding = informed.DiffusionMap(metric="precomputed").fit_transform(
            local.pairwise_distances()
        )
        labels = clusters.cluster_features(X, 5, random_state=0)
        directions.penalized_directions(X, labels, 3, "cv")
        informed.AlternatingInformedClustering(2, 4, random_state=0).fit(X)
        gap.gap_statistic(X, [2, 3], n_references=2, random_state=0)
        print(metric.transform(X).shape, embedding.shape, set(groups.bipartition(embedding)))
    """
    assert output_of(script) == "(40, 3) (40, 2) {np.int64(0), np.int64(1)}"


def test_workers_of_this_machine_need_no_extra():
    script = """
        import informed
        from informed.datasets import make_two_types

        X = make_two_types(30, random_state=0).X[:, ::9]
        one, two = (
            informed.LocalInformedMahalanobis(12, 3, 4, random_state=0, n_jobs=n).fit(X)
            for n in (1, 2)
        )
        print((one.components_ == two.components_).all())
    """
    assert output_of(script) == "True"


def test_the_command_line_computes_distances_and_lists_experiments(tmp_path):
    script = f"""
        import numpy as np
        from informed.studies.cli import main

        X = np.random.default_rng(0).normal(size=(20, 5))
        np.savetxt("{tmp_path}/data.csv", X, delimiter=",", header="a,b,c,d,e", comments="")
        assert main(["distances", "{tmp_path}/data.csv", "--out", "{tmp_path}/d.npy"]) == 0
        assert np.load("{tmp_path}/d.npy").shape == (20, 20)
        assert main(["list"]) == 0
        words = ["--n-samples", "30", "--n-features", "30", "--n-fit", "20"]
        assert main(["run", "hidden_space", *words, "--quiet"]) == 0
    """
    assert "20 samples, 5 features" in output_of(script)


@pytest.mark.parametrize(
    ("script", "package", "extra"),
    [
        ("import informed; informed.plots", "matplotlib", "plots"),
        ("import informed; informed.explore(lambda n: None, n=[1, 2])", "matplotlib", "notebook"),
        (
            "from informed.survival import compare_survival\n"
            "compare_survival([1, 2], [1, 1], [0, 1])",
            "pandas",
            "survival",
        ),
        ("from informed.datasets import load_cohort; load_cohort('vdv')", "SurvSet", "data"),
    ],
)
def test_what_is_missing_is_named_with_the_line_to_type(script, package, extra):
    error = run(script).stderr.strip().splitlines()[-1]
    assert f"needs the package {package}" in error
    assert f'pip install "informed[{extra}]"' in error


def test_a_command_that_needs_more_says_so_in_one_line(tmp_path):
    words = ["run", "hidden_space", "--n-samples", "30", "--n-features", "30", "--n-fit", "20"]
    script = f"""
        from informed.studies.cli import main
        print(main({[*words, "--out", str(tmp_path)]!r}))
    """
    done = run(script)
    assert done.stdout.strip().endswith("2")
    assert 'pip install "informed[plots]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_without_figures_the_numbers_are_kept(tmp_path):
    done = run(
        f"""
        import sys
        import numpy as np
        from informed.studies.cli import main

        X = np.random.default_rng(0).normal(size=(20, 4))
        np.savetxt(r"{tmp_path / "x.csv"}", X, delimiter=",", header="a,b,c,d", comments="")
        words = ["--methods", "pca", "--n-splits", "2", "--quiet", "--out", r"{tmp_path / "out"}"]
        sys.exit(main(["compare", r"{tmp_path / "x.csv"}", *words]))
        """
    )
    assert done.returncode == 2
    assert 'pip install "informed[plots]"' in done.stderr
    assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".txt", ".json", ".npz"}


def test_without_tqdm_the_work_goes_on_and_says_once_how_to_see_it():
    script = """
        from informed.parallel import run_tasks
        for _ in range(2):
            print(run_tasks(pow, [(2, 3), (3, 2)], verbose=True))
    """
    done = run(script)
    assert done.stdout == "[8, 9]\n[8, 9]\n"
    assert done.stderr.count('pip install "informed[notebook]"') == 1
