"""What must hold for large data: linear searches, blocks, single precision, measured memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc

import nbformat
import numpy as np
import pytest
from by_hand import clustered_data
from conftest import ROOT
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from informed import DiffusionMap, InformedMahalanobis, LocalInformedMahalanobis
from informed.datasets import make_curved_manifold
from informed.metrics import neighborhoods
from informed.metrics import neighbors as neighbors_module
from informed.metrics.neighbors import RandomTrees, neighbors_by_trees
from informed.parallel import iterate_tasks, run_tasks


def sheet(n_samples, n_features=30, dtype=np.float64):
    return make_curved_manifold(n_samples, n_features, random_state=0).X.astype(dtype)


def nearest_by_hand(X, n_neighbors):
    distances = cdist(X, X)
    np.fill_diagonal(distances, -1)
    return np.argsort(distances, axis=1)[:, :n_neighbors]


# --------------------------------------------------------------------------- search by trees


def test_one_leaf_is_exact():
    X = sheet(200)
    found = neighbors_by_trees(X, 12, np.random.RandomState(0))
    assert_array_equal(found, nearest_by_hand(X, 12))


def test_trees_find_nearly_all_neighbours_and_never_far_ones():
    X = sheet(3000)
    found, exact = neighbors_by_trees(X, 15, np.random.RandomState(0)), nearest_by_hand(X, 15)
    assert_array_equal(found[:, 0], np.arange(3000))
    assert all(len(set(row)) == 15 for row in found)
    how_far = np.linalg.norm(X[found] - X[:, None], axis=2)
    assert (np.diff(how_far, axis=1) >= -1e-9).all()
    recall = np.mean([len(set(a) & set(b)) / 15 for a, b in zip(found, exact, strict=True)])
    assert recall > 0.9
    assert how_far.mean() < 1.01 * np.linalg.norm(X[exact] - X[:, None], axis=2).mean()


def test_more_trees_find_more():
    X = sheet(3000)
    exact = nearest_by_hand(X, 10)
    shared = []
    for n_trees in (1, 2, 4):
        trees = RandomTrees(n_trees)
        found = neighbors_by_trees(X, 10, np.random.RandomState(0), trees)
        shared.append(sum(len(set(a) & set(b)) for a, b in zip(found, exact, strict=True)))
    assert shared[0] < shared[1] < shared[2]


def test_leaves_are_a_partition_into_small_parts():
    X = sheet(1000)
    leaves = list(neighbors_module._leaves(X, 100, np.random.RandomState(0)))
    assert_array_equal(np.sort(np.concatenate(leaves)), np.arange(1000))
    assert max(map(len, leaves)) <= 100
    assert min(map(len, leaves)) >= 50
    # Samples of a leaf lie together.
    within = np.mean([cdist(X[rows], X[rows]).mean() for rows in leaves])
    assert within < 0.8 * cdist(X, X).mean()


def test_more_neighbours_than_a_leaf_holds():
    X = sheet(700)
    found = neighbors_by_trees(X, 600, np.random.RandomState(0))
    assert all(len(set(row)) == 600 for row in found)


def test_copies_of_a_sample_are_no_obstacle():
    X = np.repeat(sheet(10), 100, axis=0)
    found = neighbors_by_trees(X, 5, np.random.RandomState(0))
    assert_array_equal(found[:, 0], np.arange(1000))
    assert all(len(set(row)) == 5 for row in found)


def local(**options):
    return LocalInformedMahalanobis(12, 2, 3, n_init=3, random_state=0, **options)


def test_on_few_samples_the_search_changes_nothing():
    X = sheet(100)
    exact, trees = local().fit(X), local(search="trees").fit(X)
    assert_array_equal(trees.neighbors_, exact.neighbors_)
    assert_array_equal(trees.components_, exact.components_)
    for n_candidates in (8, 30):
        ours = trees.kneighbors_graph(5, n_candidates=n_candidates)
        assert_array_equal(
            ours.toarray(), exact.kneighbors_graph(5, n_candidates=n_candidates).toarray()
        )


def test_the_search_by_trees_is_reproducible():
    X = sheet(700)
    one, two = local(search="trees").fit(X), local(search="trees", n_jobs=2).fit(X)
    assert_array_equal(one.neighbors_, two.neighbors_)
    assert_array_equal(one.components_, two.components_)


def test_an_unknown_search_is_refused():
    with pytest.raises(ValueError, match=r"search='fast' .* \['exact', 'trees'\]"):
        local(search="fast").fit(sheet(50))


# ----------------------------------------------------------------------- blocks and precision


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("block", [1, 1000, 10**9])
def test_chunks_put_together_are_all_distances(squared, block, monkeypatch):
    X, _ = clustered_data(0)
    fitted = local().fit(X)
    expected = fitted.pairwise_distances(squared=squared)
    monkeypatch.setattr(neighborhoods, "_BLOCK", block)
    chunks = list(fitted.pairwise_distances_chunked(squared=squared))
    assert len(chunks) == {1: 40, 1000: 2, 10**9: 1}[block]
    assert_allclose(np.vstack(chunks), expected, atol=1e-9)
    assert_array_equal(np.diag(np.vstack(chunks)), 0.0)


def test_no_array_of_all_pairs_is_hidden_in_the_way_to_the_map(monkeypatch):
    n_samples = 3000
    X = sheet(n_samples, 12, np.float32)
    monkeypatch.setattr(neighborhoods, "_BLOCK", 100_000)
    fitted = local(search="trees", directions="pca").fit(X)
    tracemalloc.start()
    try:
        graph = fitted.kneighbors_graph(8, n_candidates=11)
        DiffusionMap(2, metric="precomputed").fit(graph)
        rows = sum(len(chunk) for chunk in fitted.pairwise_distances_chunked())
        local(search="trees", directions="pca").fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows == n_samples
    # Even with one byte a pair.
    assert peak < n_samples**2


def test_single_precision_from_end_to_end():
    X = sheet(600, dtype=np.float32)
    whole = InformedMahalanobis(2, random_state=0).fit(X)
    fitted = local(search="trees").fit(X)
    graph = fitted.kneighbors_graph(6, n_candidates=11)
    embedding = DiffusionMap(2, metric="precomputed").fit_transform(graph)
    for array in (
        whole.components_,
        whole.transform(X),
        whole.pairwise_distances(X),
        fitted.components_,
        next(fitted.pairwise_distances_chunked()),
        graph,
        embedding,
    ):
        assert array.dtype == np.float32


def test_peak_memory_of_a_fresh_process_stays_far_below_all_pairs():
    n_samples = 12_000

    def peak(*arguments):
        done = subprocess.run(
            [sys.executable, ROOT / "benchmarks" / "large.py", *map(str, arguments)],
            capture_output=True,
            text=True,
            check=True,
        )
        return json.loads(done.stdout)["peak_mb"]

    # A quarter of all pairs in single precision.
    assert peak("local", n_samples, 50) - peak("nothing", 0, 0) < n_samples**2 / 2**20


# -------------------------------------------------------------------------------------- tasks


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_tasks_get_what_is_shared_first_and_keep_their_order(n_jobs):
    tasks = [(i,) for i in range(7)]
    assert run_tasks(divmod, tasks[1:], shared=(20,), n_jobs=n_jobs) == [
        divmod(20, i) for i in range(1, 7)
    ]


def test_results_come_one_by_one():
    seen = []
    results = iterate_tasks(seen.append, [(i,) for i in range(5)], n_jobs=1)
    next(results)
    assert len(seen) < 5
    results.close()


# ---------------------------------------------------------------------------------- benchmark


def test_results_of_the_benchmark_say_what_was_reached():
    results = json.loads((ROOT / "benchmarks" / "results.json").read_text("utf-8"))
    # The page that shows them says where they were measured.
    page = nbformat.read(ROOT / "book" / "how-fast.ipynb", as_version=4)
    printed = "".join(
        out.text for cell in page.cells for out in cell.get("outputs", []) if "text" in out
    )
    assert f"cores of the machine that measured: {results['cores']}\n" in printed
    for line in results["lines"]:
        if line["target"] and line["ratio"] is not None:
            sense, limit = line["target"].split()
            holds = (
                line["ratio"] <= float(limit) if sense == "<=" else line["ratio"] >= float(limit)
            )
            assert holds == line["reached"], line["what"]
    topics = {line["topic"] for line in results["lines"]}
    assert topics == {
        "all pairs", "global fit", "many features", "directions", "local fit", "wide local fit",
        "large", "cluster", "sweep",
    }  # fmt: skip
    for name, curve in results["growth"].items():
        assert len(curve) >= 2, name
