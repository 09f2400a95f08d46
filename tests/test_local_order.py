"""The local distance against hidden distances: its factor ½ and the order of its error (E4).

Around each of two points of a curve stand two more, a little along the tangent either way. The
covariance of such a burst is exactly ε² f′f′ᵀ, so that the whole estimator, neighbours and all, can
be held to the theory: ε² d² = h² + O(h⁴), where one side alone has h² + O(h³).
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist, squareform

from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.metrics.local_graph import half_distances

EPSILON = 1e-4


def spiral(x):
    return np.exp(x) * np.array([np.cos(2 * x), np.sin(2 * x)])


def spiral_velocity(x):
    turn = np.array([[1.0, -2.0], [2.0, 1.0]])
    return turn @ spiral(x)


def exponential(x):
    return np.exp(x) * np.array([1.0, -0.5])


def circle(x):
    return np.array([np.cos(x), np.sin(x)])


def circle_velocity(x):
    return np.array([-np.sin(x), np.cos(x)])


def line(x):
    return x * np.array([3.0, -4.0])


def line_velocity(x):
    return np.array([3.0, -4.0])


# Curve, velocity, and γ = ¾(v′/v)² − v″/(6v) − (vκ)²/3, which is constant on these curves.
CURVES = {
    "spiral": (spiral, spiral_velocity, 3 / 4 - 1 / 6 - 4 / 3),
    "exponential": (exponential, exponential, 3 / 4 - 1 / 6),
    "circle": (circle, circle_velocity, -1 / 3),
    "line": (line, line_velocity, 0.0),
}


def bursts(f, velocity, x1, x2, copies=1):
    """Three samples around each of two points; each of the two features `copies` times."""
    samples = [f(x) + k * EPSILON * velocity(x) for x in (x1, x2) for k in (0, 1, -1)]
    return np.repeat(samples, copies, axis=1)


def by_training_set(local, X):
    return local.pairwise_distances(squared=True)[0, 3]


def by_new_samples(local, X):
    return local.pairwise_distances(X[:1], X[3:4], squared=True)[0, 0]


def by_new_and_old(local, X):
    return local.pairwise_distances(X[:1], X, squared=True)[0, 3]


def by_graph(local, X):
    return local.kneighbors_graph(5).toarray()[0, 3] ** 2


def by_candidates(local, X):
    return local.kneighbors_graph(5, n_candidates=5).toarray()[0, 3] ** 2


PATHS = [by_training_set, by_new_samples, by_new_and_old, by_graph, by_candidates]


@cache
def fitted(curve, x1, x2, directions):
    f, velocity, _ = CURVES[curve]
    X = bursts(f, velocity, x1, x2, copies=1 if directions == "pca" else 4)
    local = LocalInformedMahalanobis(3, 1, 2, directions=directions, n_init=1, random_state=0)
    local.fit(X)
    assert {*local.neighbors_[0]} == {0, 1, 2}
    assert {*local.neighbors_[3]} == {3, 4, 5}
    return local, X


def squared_distance(path, curve, x1, x2, directions="pca"):
    """The library's squared distance in units of the hidden one, without knowing the map."""
    return EPSILON**2 * path(*fitted(curve, x1, x2, directions))


def order(errors, steps):
    return np.polyfit(np.log(steps), np.log(np.abs(errors)), 1)[0]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("h", [0.01, 0.5, 2.0])
def test_on_a_straight_line_the_distance_is_the_hidden_one(path, h):
    assert_allclose(squared_distance(path, "line", 0.4, 0.4 + h), h**2, rtol=1e-6)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("curve", ["spiral", "exponential", "circle"])
@pytest.mark.parametrize("middle", [-0.2, 0.7])
def test_the_error_has_order_four_and_the_constant_of_the_theory(path, curve, middle):
    steps = np.geomspace(0.05, 0.2, 5)
    errors = [squared_distance(path, curve, middle - h / 2, middle + h / 2) - h**2 for h in steps]
    gamma = CURVES[curve][2]
    assert order(errors, steps) == pytest.approx(4, abs=0.05)
    assert errors[0] / steps[0] ** 4 == pytest.approx(gamma, rel=0.02)


@pytest.mark.parametrize("directions", ["exact", "averaged", "gradient"])
def test_informed_directions_keep_the_order_when_the_clusters_are_true(directions):
    steps = np.geomspace(0.05, 0.2, 5)
    errors = [
        squared_distance(by_training_set, "spiral", 0.7 - h / 2, 0.7 + h / 2, directions) - h**2
        for h in steps
    ]
    gamma = CURVES["spiral"][2]
    assert order(errors, steps) == pytest.approx(4, abs=0.05)
    assert errors[0] / steps[0] ** 4 == pytest.approx(gamma, rel=0.02)


@pytest.mark.parametrize("x1", [-0.2, 0.7])
def test_one_side_alone_has_order_three(x1):
    steps = np.geomspace(0.005, 0.02, 5)
    errors = []
    for h in steps:
        velocity = spiral_velocity(x1)
        model = (velocity / (velocity @ velocity))[None, None]
        half = half_distances(spiral(x1)[None], model, spiral(x1 + h)[None])[0, 0]
        errors.append(2 * half - h**2)
    assert order(errors, steps) == pytest.approx(3, abs=0.05)
    assert errors[0] / steps[0] ** 3 == pytest.approx(1, rel=0.02)  # v′/v = 1


@pytest.mark.parametrize("seed", range(4))
def test_order_four_holds_for_a_plane_of_hidden_variables(seed):
    rng = np.random.default_rng(seed)
    linear, square, cubic = rng.normal(size=(7, 2)), rng.normal(size=(7, 2, 2)), rng.normal(size=7)

    def f(x):
        return linear @ x + 0.3 * np.einsum("pij,i,j->p", square, x, x) + 0.1 * cubic * x[0] ** 3

    def jacobian(x):
        both = square + square.transpose(0, 2, 1)
        bend = np.outer(cubic, [0.3 * x[0] ** 2, 0.0])
        return linear + 0.3 * np.einsum("pij,j->pi", both, x) + bend

    middle, direction = 0.3 * rng.normal(size=2), rng.normal(size=2)
    direction /= np.linalg.norm(direction)
    steps = np.geomspace(0.01, 0.04, 5)
    averages, sides = [], []
    for h in steps:
        ends = [middle - h / 2 * direction, middle + h / 2 * direction]
        points = np.array([f(x) for x in ends])
        models = np.array([np.linalg.pinv(jacobian(x)) for x in ends])
        halves = half_distances(points, models, points)
        averages.append(halves[0, 1] + halves[1, 0] - h**2)
        sides.append(2 * halves[0, 1] - h**2)
    assert order(averages, steps) == pytest.approx(4, abs=0.1)
    assert order(sides, steps) == pytest.approx(3, abs=0.1)


def test_neighbours_of_the_observed_space_cannot_see_a_stretch():
    # Round observed clouds: the covariance is a multiple of the projector on the tangent space.
    rng = np.random.default_rng(0)
    hidden = rng.uniform(size=(500, 2))
    X = hidden * [4.0, 1.0] @ np.linalg.qr(rng.normal(size=(6, 2)))[0].T
    inside = np.abs(hidden - 0.5).max(axis=1) < 0.2
    near = pdist(hidden[inside]) < 0.1
    local = LocalInformedMahalanobis(40, 2, directions="pca").fit(X)
    D = squareform(local.pairwise_distances()[np.ix_(inside, inside)], checks=False)[near]
    whole = InformedMahalanobis(2, directions="pca").fit(X)

    def spread(truth):
        ratio = D / truth[near]
        return ratio.std() / ratio.mean()

    assert spread(pdist(X[inside])) < 0.15
    assert spread(pdist(whole.transform(X[inside]))) > 0.3
