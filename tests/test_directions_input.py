"""Directions of all kinds of input: types, purity, memory, and what is refused."""

from __future__ import annotations

import dataclasses
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from finders import FINDERS, every_finder
from test_clusters import BAD_DATA, BAD_LABELS
from toy import (
    Array,
    random_problem,
)

from informed.directions import (
    gradient_directions,
    pca_directions,
    penalty_path,
    reconstruction_error,
    reconstruction_gradient,
    subspace_error,
)

# ---------------------------------------------------------------- types, purity and memory


@every_finder
def test_float32_stays_float32(find):
    X, labels = random_problem(0)
    X -= X.mean(axis=0)
    double, single = find(X, labels, 2), find(X.astype(np.float32), labels, 2)
    for name in ("directions", "variances", "pca_variances"):
        assert getattr(single, name).dtype == np.float32
        assert getattr(double, name).dtype == np.float64
        np.testing.assert_allclose(getattr(single, name), getattr(double, name), atol=1e-3)
    assert single.converged


@every_finder
def test_lists_and_integers_are_accepted_and_arguments_left_alone(find):
    rng = np.random.default_rng(0)
    X, labels = rng.integers(-9, 9, (12, 6)), np.array([0, 1, 2, 0, 1, 2])
    kept, kept_labels = X.copy(), labels.copy()
    found = find(X, labels, 2)
    as_lists = find(X.tolist(), labels.tolist(), 2)
    np.testing.assert_array_equal(found.directions, as_lists.directions)
    X = X.astype(float)
    find(X, labels, 2)
    np.testing.assert_array_equal(X, kept)
    np.testing.assert_array_equal(labels, kept_labels)


def test_result_is_frozen():
    found = pca_directions(random_problem(0)[0], 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.n_iter = 3  # type: ignore[misc]


WIDE = (40, 6000)


def wide_problem() -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    labels = np.arange(WIDE[1]) % 5
    return rng.standard_normal((WIDE[0], 5))[:, labels] + rng.standard_normal(WIDE), labels


def peak_memory(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


WIDE_WORK: dict[str, Callable[[Array, Array], object]] = {
    **{name: partial(lambda find, X, labels: find(X, labels, 3), f) for name, f in FINDERS.items()},
    "paper": lambda X, labels: gradient_directions(X, labels, 3, step="paper", tol=1e-2),
    "path": lambda X, labels: penalty_path(X, labels, 3),
    "error": lambda X, labels: reconstruction_error(X, X[:3].T),
    "gradient of R": lambda X, labels: reconstruction_gradient(X, X[:3].T),
    "subspace": lambda X, labels: subspace_error(X[:3].T, X[3:6].T),
}


@pytest.mark.parametrize("name", WIDE_WORK)
def test_no_matrix_of_features_by_features(name):
    X, labels = wide_problem()
    square = 8 * WIDE[1] ** 2
    assert peak_memory(lambda: WIDE_WORK[name](X, labels)) < square / 10
    assert peak_memory(lambda: np.zeros((WIDE[1], WIDE[1]))) >= square  # it would be noticed


@pytest.mark.parametrize("name", ["pca", "averaged", "exact", "gradient", "penalized", "path"])
def test_no_matrix_of_samples_by_samples(name):
    X, labels = random_problem(0, n_samples=3000)

    def work():
        if name == "path":
            penalty_path(X, labels, 3, penalties=[1.0], n_folds=2)
        else:
            FINDERS[name](X, labels, 3)

    assert peak_memory(work) < 8 * 3000**2 / 10


# --------------------------------------------------------------------------------- bad input


@every_finder
@pytest.mark.parametrize(("X", "error", "message"), BAD_DATA)
def test_bad_data(find, X, error, message):
    with pytest.raises(error, match="(?s)" + message):
        find(X, np.zeros(5, int), 1)


@pytest.mark.parametrize("name", [name for name in FINDERS if name != "pca"])
@pytest.mark.parametrize(("labels", "error", "message"), BAD_LABELS)
def test_bad_labels(name, labels, error, message):
    X = np.random.default_rng(0).standard_normal((6, 5))
    with pytest.raises(error, match=message):
        FINDERS[name](X, labels, 1)


@every_finder
@pytest.mark.parametrize(
    ("n_components", "error", "message"),
    [
        (0, ValueError, "n_components=0 is out of range: it must be an integer from 1 to 5"),
        (-1, ValueError, "n_components=-1 is out of range: it must be an integer from 1 to 5"),
        (6, ValueError, r"n_components=6 .*1 to 5 \(centred data of shape \(6, 8\) has rank at mo"),
        (1.0, TypeError, "n_components must be an integer from 1 to 5.*got 1.0 of type float"),
        ("1", TypeError, "n_components must be an integer from 1 to 5.*got '1' of type str"),
        (None, TypeError, "n_components must be an integer from 1 to 5.*got None of type"),
        (True, TypeError, "n_components must be an integer from 1 to 5.*got True of type bool"),
    ],
)
def test_bad_number_of_components(find, n_components, error, message):
    X = np.random.default_rng(0).standard_normal((6, 8))
    with pytest.raises(error, match=message):
        find(X, np.arange(8) % 4, n_components)


@pytest.mark.parametrize("name", [name for name in FINDERS if name != "pca"])
def test_more_components_than_clusters(name):
    X, labels = random_problem(0)
    message = r"n_components=5 .*from 1 to 4 \(labels hold 4 clusters\)"
    with pytest.raises(ValueError, match=message):
        FINDERS[name](X, labels, 5)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"step": "fast"}, ValueError, r"step='fast' is unknown: .*\['constant', 'paper'\]"),
        ({"step": 0.1}, ValueError, r"step=0.1 is unknown: .*\['constant', 'paper'\]"),
        ({"max_iter": 0}, ValueError, "max_iter=0 is out of range: it must be an integer >= 1"),
        ({"max_iter": 1e3}, TypeError, "max_iter must be an integer >= 1, got 1000.0 of type"),
        ({"tol": -1e-3}, ValueError, "tol=-0.001 is out of range: .* finite number >= 0"),
        ({"tol": np.nan}, ValueError, "tol=nan is out of range: .* finite number >= 0"),
        ({"tol": np.inf}, ValueError, "tol=inf is out of range: .* finite number >= 0"),
        ({"tol": "1"}, TypeError, "tol must be a finite number >= 0, got '1' of type str"),
        ({"tol": True}, TypeError, "tol must be a finite number >= 0, got True of type bool"),
    ],
)
def test_bad_iteration_arguments(arguments, error, message):
    X, labels = random_problem(0)
    with pytest.raises(error, match=message):
        gradient_directions(X, labels, 2, **arguments)


@pytest.mark.parametrize("function", [reconstruction_error, reconstruction_gradient])
def test_bad_arguments_of_the_objective(function):
    X, _ = random_problem(0)
    with pytest.raises(ValueError, match="U has 3 rows: it must have one for each of X's 12 feat"):
        function(X, np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"(?s)U must be a dense matrix.*1D"):
        function(X, np.ones(12))
    with pytest.raises(ValueError, match=r"X must be .*at least 2 row"):
        function(X[:1], np.ones((12, 2)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones((3, 1)), np.ones((4, 1))), "U has 3 rows and V has 4"),
        ((np.ones(3), np.ones((3, 1))), "(?s)U must be a dense matrix"),
        ((np.ones((3, 1)), [[np.nan]] * 3), "V must be .*finite.*NaN"),
        ((np.ones((3, 1)), np.ones((3, 1)), 1), "norm=1 is unknown: it must be 'fro' or 2"),
        ((np.ones((3, 1)), np.ones((3, 1)), "nuc"), "norm='nuc' is unknown: it must be 'fro' or 2"),
    ],
)
def test_bad_arguments_of_the_subspace_error(arguments, message):
    with pytest.raises(ValueError, match=message):
        subspace_error(*arguments)


@pytest.mark.parametrize(("shape", "rank"), [((9, 6), 6), ((5, 7), 4)])
def test_more_directions_than_samples_or_features_allow_are_refused_by_their_number(shape, rank):
    X = np.random.default_rng(0).normal(size=shape)
    assert pca_directions(X, rank).directions.shape == (shape[1], rank)
    with pytest.raises(ValueError, match=rf"n_components={rank + 1} .* rank at most {rank}\b"):
        pca_directions(X, rank + 1)
