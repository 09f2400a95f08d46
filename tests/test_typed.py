"""Choices are typed: a type checker tells a typo before anything runs."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args, get_type_hints

import pytest
from conftest import ROOT

from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.clusters.clusterers import CLUSTERINGS, PROFILES
from informed.directions.registry import DIRECTIONS, VARIANCES
from informed.metrics.neighbors import SEARCHES, SearchName


def names_of(hint):
    """Names of a literal type, or of several that are allowed."""
    parts = get_args(hint)
    return (
        set(parts)
        if all(isinstance(part, str) for part in parts)
        else {name for part in parts for name in get_args(part)}
    )


@pytest.mark.parametrize("estimator", [InformedMahalanobis, LocalInformedMahalanobis])
def test_choices_are_literal_types_of_what_is_allowed(estimator):
    hints = get_type_hints(estimator.__init__)
    assert names_of(hints["directions"]) - {"auto"} == set(DIRECTIONS)
    assert names_of(hints["variances"]) - {"auto"} == set(VARIANCES)
    assert names_of(hints["clustering"]) - {"auto"} == set(CLUSTERINGS)
    assert names_of(hints["profiles"]) - {"auto"} == set(PROFILES)


def test_the_search_is_a_literal_or_an_object():
    search = get_type_hints(LocalInformedMahalanobis.__init__)["search"]
    assert SearchName in get_args(search) or set(SEARCHES) <= set(map(str, get_args(search)))
    assert str not in get_args(search)


CALLS = """\
from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.clusters import cluster_features
from sklearn.cluster import KMeans

InformedMahalanobis(2, directions="exact", variances="own", clustering=KMeans(3))
InformedMahalanobis("auto", "auto", clustering="auto", profiles="as-is", penalty=2.0)
LocalInformedMahalanobis(10, directions="pca", clustering="ward", search="trees")
InformedMahalanobis(2, directions="exakt")
InformedMahalanobis(2, variances="owns")
InformedMahalanobis(2, clustering="k-means")
InformedMahalanobis("automatic")
LocalInformedMahalanobis(10, directions="exakt")
LocalInformedMahalanobis(10, profiles="centred")
LocalInformedMahalanobis(10, search="tree")
"""
# The line, and the argument that it is about.
TYPOS = {
    8: 'Argument "directions" to "InformedMahalanobis"',
    9: 'Argument "variances" to "InformedMahalanobis"',
    10: 'Argument "clustering" to "InformedMahalanobis"',
    11: 'Argument 1 to "InformedMahalanobis"',
    12: 'Argument "directions" to "LocalInformedMahalanobis"',
    13: 'Argument "profiles" to "LocalInformedMahalanobis"',
    14: 'Argument "search" to "LocalInformedMahalanobis"',
}


def test_mypy_tells_a_typo_and_lets_the_others_pass(tmp_path):
    file = tmp_path / "calls.py"
    file.write_text(CALLS, encoding="utf-8")
    # The cache of `make lint` makes it quick; without one it takes as long as that does.
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(ROOT / ".mypy_cache")]
    done = subprocess.run([*command, str(file)], cwd=ROOT, capture_output=True, text=True)
    told = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [int(line.split(":")[1]) for line in told] == list(TYPOS), done.stdout + done.stderr
    for line, argument in zip(told, TYPOS.values(), strict=True):
        assert argument in line
        assert "incompatible type" in line
