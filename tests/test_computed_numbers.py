"""Explorers that compute: the numbers behind their pictures are the library's."""

from __future__ import annotations

import numpy as np
import pytest
from computed_pages import (
    Open,
    folder,  # noqa: F401
    model_of,
    open_page,  # noqa: F401
    pieces,
    state_of,
)
from scipy.spatial.distance import pdist, squareform

from informed.clusters import average_over_clusters
from informed.clusters.features import relabel_by_first_occurrence
from informed.clusters.kmeans import best_partition
from informed.directions import exact_directions, pca_directions, reconstruction_error
from informed.spiked import inflated_variance, limiting_cosine
from informed.survival import compare_survival


def test_few_samples(open_page: Open) -> None:
    page = open_page("usual")
    for n in (3, 5, 8):
        page.evaluate("n => document.querySelector('.informed-computed').explorer.change({n})", n)
        model = model_of(page, "usual")
        X = np.array(model["X"])
        by_numpy = (
            squareform(pdist(X)),
            squareform(pdist(X, "mahalanobis", VI=np.linalg.pinv(np.cov(X.T)))),
        )
        for pair in model["pairs"]:
            assert pair["euclidean"] == pytest.approx(by_numpy[0][pair["i"], pair["j"]], rel=1e-9)
            assert pair["mahalanobis"] == pytest.approx(by_numpy[1][pair["i"], pair["j"]], rel=1e-9)
        assert bool(np.ptp(model["mahalanobis"]) < 1e-9) is (n <= 3)


def test_hidden_transformation(open_page: Open) -> None:
    page = open_page("transformation")
    for columns in ([[3, 0.5], [2, 1.5]], [[1, -2], [0.5, 2]], [[3, 1.5], [2, 1]]):
        page.evaluate(
            "([first, second]) => document.querySelector('.informed-computed').explorer"
            ".change({first, second})",
            columns,
        )
        state, model = state_of(page, "transformation"), model_of(page, "transformation")
        A = np.array(columns, dtype=float).T
        difference = np.array(state["p"]) - state["q"]
        inverse = np.linalg.pinv(A @ A.T, rcond=1e-12)
        wanted = np.sqrt((A @ difference) @ inverse @ (A @ difference))
        assert model["mahalanobis"] == pytest.approx(wanted, rel=1e-7)
        assert model["hidden"] == pytest.approx(np.linalg.norm(difference))
        assert (model["rank"] == 2) is (model["mahalanobis"] == pytest.approx(model["hidden"]))


def test_features_as_points(open_page: Open) -> None:
    page = open_page("features")
    for shape in ("groups", "uneven", "tall"):
        page.locator("select").select_option(shape)
        model = model_of(page, "features")
        points = np.array(model["lines"])
        centered = points - points.mean(axis=0)
        everything = [list(map(int, f"{k:010b}")) for k in range(1, 512)]
        labels, cost = best_partition(centered, np.array(everything), 2)
        assert model["cost"] == pytest.approx(cost, rel=1e-9)
        along = points.sum(axis=1)  # the cluster farther left and down is the first
        first = int(along[labels == 1].mean() < along[labels == 0].mean())
        assert model["labels"] == (labels != first).astype(int).tolist()
        singular = np.linalg.svd(centered, compute_uv=False)
        assert model["bound"] == pytest.approx(singular[1] ** 2, rel=1e-9)
        assert model["cost"] >= model["bound"]
        u = np.linalg.svd(centered)[0][:, 0]
        assert np.abs(model["u"]) == pytest.approx(np.abs(u), rel=1e-9)
        gap = np.linalg.norm(u - average_over_clusters(u, np.array(model["labels"])))
        assert model["gap"] == pytest.approx(gap, rel=1e-9)
    page.locator("select").select_option("tall")
    assert model_of(page, "features")["agree"] < 10  # here they part


def test_painted_clusters(open_page: Open) -> None:
    page = open_page("staircases")
    X = np.array(page.evaluate("informed.explorers.staircases.table.toLines()"))
    total = np.sum(np.var(X, axis=0, ddof=1))
    for button in (None, "All one cluster", "As k-means has them"):
        if button:
            page.get_by_role("button", name=button).click()
        model = model_of(page, "staircases")
        labels = relabel_by_first_occurrence(np.array(state_of(page, "staircases")["labels"]))
        u = pca_directions(X, 1).directions
        averaged = average_over_clusters(u, labels)
        assert model["u"] == pytest.approx(u[:, 0], rel=1e-9)
        assert model["averaged"] == pytest.approx(averaged[:, 0], rel=1e-9)
        unit = averaged / np.linalg.norm(averaged)
        best = exact_directions(X, labels, 1).directions
        assert model["explainedAveraged"] == pytest.approx(
            1 - reconstruction_error(X, unit) / total
        )
        assert model["explainedExact"] == pytest.approx(1 - reconstruction_error(X, best) / total)
        assert model["explainedAveraged"] <= model["explainedExact"] <= model["explained"]


def test_a_direction_turned_by_hand(open_page: Open) -> None:
    page = open_page("turning")
    X = np.array(page.evaluate("informed.explorers.turning.table.toLines()"))
    labels = np.array(page.evaluate("informed.explorers.turning.labels"))
    best = exact_directions(X, labels, 1).directions
    rng = np.random.default_rng(0)
    for _ in range(20):
        t = rng.uniform(-1, 1, size=2).tolist()
        page.evaluate("t => document.querySelector('.informed-computed').explorer.change({t})", t)
        model = model_of(page, "turning")
        U = np.array(model["direction"])[:, None]
        assert np.linalg.norm(U) == pytest.approx(1)
        assert model["error"] == pytest.approx(reconstruction_error(X, U), rel=1e-9)
        assert model["error"] >= model["least"] - 1e-12
    assert model["least"] == pytest.approx(reconstruction_error(X, best), rel=1e-9)
    page.get_by_role("button", name="Show the closed form").click()
    assert model_of(page, "turning")["error"] == pytest.approx(model["least"], rel=1e-9)


def test_a_neighbourhood_on_the_sheet(open_page: Open) -> None:
    page = open_page("sheet")
    labels = np.array(page.evaluate("informed.explorers.sheet.labels"))
    for fragment in ("", "#sheet&place=0.5&size=20&noise=0.2", "#sheet&noise=0&bend=0"):
        model = model_of(open_page("sheet", fragment), "sheet")
        X, tangent = np.array(model["X"]), np.array(model["tangent"])[labels] / np.sqrt(10)
        nearest = np.argsort(np.abs(np.arange(60) - model["centre"]), kind="stable")
        for entry in model["found"]:
            near = X[nearest[: entry["size"]]]
            for key, U in (
                ("pcaAngle", pca_directions(near, 1).directions),
                ("informedAngle", exact_directions(near, labels, 1).directions),
            ):
                cosine = min(1.0, abs(float(tangent @ U[:, 0])))
                # The arc cosine near 1 loses half of the digits.
                assert np.cos(np.radians(entry[key])) == pytest.approx(cosine, abs=1e-9)


def test_patients_who_change_groups(open_page: Open) -> None:
    page = open_page("patients")
    smallest = []
    for number in (0, 3, 7, 11):
        pieces(page)[number].focus()
        page.keyboard.press("Space")
        state, model = state_of(page, "patients"), model_of(page, "patients")
        wanted = compare_survival(model["times"], model["events"], state["groups"])
        assert model["p"] == pytest.approx(wanted.p_value, rel=1e-9)
        for curve, reference in zip(model["curves"], wanted.curves, strict=True):
            assert curve["survival"] == pytest.approx(reference.survival, rel=1e-9)
        smallest.append(wanted.p_value)
        assert state["least"] <= min(smallest) + 1e-12


def test_the_phase_diagram(open_page: Open) -> None:
    page = open_page("phase")
    for aspect, strength in ((1.0, 3.0), (3.5, 5.0), (4.0, 1.0), (0.05, 0.1)):
        page.evaluate(
            "values => document.querySelector('.informed-computed').explorer.change(values)",
            {"aspect": aspect, "strength": strength},
        )
        model = model_of(page, "phase")
        exact = model["p"] / 60
        assert model["predicted"] == pytest.approx(limiting_cosine([strength], exact)[0], rel=1e-9)
        assert model["leading"] == pytest.approx(inflated_variance([strength], exact)[0], rel=1e-9)
        assert 0 <= model["cosine"] <= 1
    assert model["predicted"] == 0
