"""Answers that somebody tried, and that a check once judged wrongly: none of them may come back."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA

from informed.clusters import average_over_clusters, indicator
from informed.exercises import check
from informed.teaching.exercises import limits
from informed.teaching.exercises.engine import judge
from informed.teaching.exercises.registry import find


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here depends on how quick the machine is."""
    monkeypatch.setattr(limits, "SECONDS", 300.0)


# ------------------------------------------------------------------------------ right, once refused


def gram_by_products(X):
    centered = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centered @ centered.T)
    P = np.sqrt(len(X) - 1) * vectors[:, values > 1e-10 * values.max()]
    squares = np.sum(P**2, axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares - 2 * P @ P.T, 0))


def sklearn_pca(X, labels, d):
    H = indicator(labels)
    return (H @ PCA(d).fit(X @ H).components_.T).tolist()


def average_to_lists(U, labels):
    return np.linalg.qr(average_over_clusters(U, labels))[0].tolist()


def stack_to_lists(X, H, d, weight):
    rows = np.vstack([(X - X.mean(axis=0)) / np.sqrt(len(X) - 1), np.sqrt(weight) * H.T])
    return np.linalg.svd(rows, full_matrices=False)[2][:d].T.tolist()


def power_to_lists(X, labels, U):
    centered = X - X.mean(axis=0)
    return np.linalg.qr(average_over_clusters(centered.T @ (centered @ U), labels))[0].tolist()


def draw_from_a_table(u):
    x = np.linspace(0, 1, 1001)
    return np.interp(u, (x + x**2) / 2, x)


def draw_by_roots(u):
    return [brentq(lambda x, value=value: (x + x**2) / 2 - value, 0, 1) for value in u]


def bounds_as_array(X, K):
    once = X - X.mean(axis=0)
    twice = once - once.mean(axis=1, keepdims=True)
    mu, nu = (np.linalg.svd(Y, compute_uv=False) ** 2 for Y in (twice, once))
    return np.array([mu[K:].sum(), nu[K + 1 :].sum()])


def newton_looks_first(A):
    def rest(G):
        AG, GA = A @ G, G @ A
        return max(np.abs(D).max() for D in (AG @ A - A, GA @ G - G, AG.T - AG, GA.T - GA))

    G, steps = A.T / np.linalg.norm(A, 2) ** 2, 0
    while rest(G) > 1e-10:
        G, steps = 2 * G - G @ A @ G, steps + 1
    return G, steps


def average_to_matrix(U, labels):
    return average_over_clusters(U, labels).view(np.matrix)


RIGHT: list[tuple[str, Any]] = [
    ("ex-pi-newton", newton_looks_first),
    ("ex-triangle", np.full((1, 3), 2).view(np.matrix)),
    ("ex-bincount", average_to_matrix),
    ("ex-pi-diagonal", [1.33, 5.26]),
    ("ex-pi-diagonal", ["4/3", "1/0.19"]),
    ("ex-rg-six", [0.625, 0.417, 1.33, 0.722, 0.615]),
    ("ex-pca-cross", [2.45, 2.45, 1.73, 2.45, 0, 1.22]),
    ("ex-ou-hand", [36, 1.69, 2.75]),
    ("ex-tp-two", [130, 30.4, 0.4]),
    ("ex-km-four", [52, 2, 2, 0.038]),
    ("ex-km-four", [52, 2, 2, 0.0385]),
    ("ex-sklearn-pca", sklearn_pca),
    ("ex-tp-fewer", average_to_lists),
    ("ex-soft-stack", stack_to_lists),
    ("ex-power", power_to_lists),
    ("ex-gram", gram_by_products),
    ("ex-hs-density", draw_from_a_table),
    ("ex-hs-density", draw_by_roots),
    ("ex-km-bounds", bounds_as_array),
    ("ex-one-dimension", ["1/4", "1/8", 1.1, 0.8]),
    ("ex-four-samples", {"mixed pairs": "√3", "last two samples": 2.45, "first two samples": 2.45}),
    ("ex-triangle", pd.Series([2, 2, 2])),
    ("ex-triangle", (2, Fraction(2), "2")),
    ("ex-km-contrasts", [["1/√2", 0.5], ["-1/√2", 0.5], [0, -0.5], [0, -0.5]]),
    ("ex-km-contrasts", pd.DataFrame([[0.707, 0.5], [-0.707, 0.5], [0, -0.5], [0, -0.5]])),
]


def short(value: Any) -> str:
    """Name a case the same in every process: the text of a function holds its address."""
    return getattr(value, "__name__", None) or str(value)


@pytest.mark.parametrize(("label", "answer"), RIGHT, ids=short)
def test_right_answers_are_accepted(label: str, answer: Any) -> None:
    verdict = check(label, answer)
    assert verdict, verdict


def test_numbers_may_be_given_without_a_list() -> None:
    assert check("ex-triangle", 2, 2, 2)
    assert check("ex-triangle", 2, 2).message.startswith("you give 2 numbers")


# ----------------------------------------------------------------------------- wrong, once accepted


def own_standard_error(penalties, errors):
    mean = errors.mean(axis=1)
    spread = errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
    return penalties[np.argmax(mean <= mean.min() + spread)]


def first_that_is_not(variances, limits):
    return int(np.argmin(variances > limits))


def no_iteration(A):
    return np.linalg.pinv(A), 0


def steps_back(A):
    return np.linalg.pinv(A), -7


def strictly_smaller(p, null_p):
    return (1 + np.sum(null_p.min(axis=1)[:, None] < p, axis=0)) / (1 + len(null_p))


def not_taken_off(X, d, s):
    _, singular, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return X @ Vt[:d].T * (singular[:d] ** 2 / (len(X) - 1)) ** (-s / 2)


def two_directions(X, K):
    return pdist(PCA(2, whiten=True).fit_transform(X))


def bound_for_two(Y, labels, K):
    means = np.array([Y[labels == k].mean(axis=0) for k in range(labels.max() + 1)])
    cost = np.sum((Y - means[labels]) ** 2)
    return cost / np.sum(np.linalg.svd(Y, compute_uv=False)[2:] ** 2)


def bounds_for_two(X, K):
    return bounds_as_array(X, 2)


def two_columns(X, labels, d):
    H = indicator(labels)
    return H @ PCA(2).fit(X @ H).components_.T


def two_columns_averaged(U, labels):
    sizes = np.bincount(labels)
    return np.column_stack([(np.bincount(labels, U[:, j]) / sizes)[labels] for j in range(2)])


def three_labels(U, labels):
    result = np.zeros_like(U)
    for k in range(3):
        result[labels == k] = U[labels == k].mean(axis=0)
    return result


def noise_of_three(v, labels):
    means = np.bincount(labels, v) / np.bincount(labels)
    return np.sum((v - means[labels]) ** 2) / (len(v) - 3)


def board_of_six(X, rows, columns):
    centered = X - X.mean(axis=0)
    cost = np.sum(centered**2)
    for r in range(3):
        for c in range(2):
            tile = centered[rows == r][:, columns == c]
            cost -= tile.sum() ** 2 / max(tile.size, 1)
    return cost


def holm_of_eight(p):
    order = np.argsort(p)
    adjusted = np.empty(len(p))
    factors = np.arange(8, 0, -1)[: len(p)] if len(p) <= 8 else np.arange(len(p), 0, -1)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p[order] * factors))
    return adjusted


def gram_by_covariance(X):
    precision = np.linalg.pinv(np.atleast_2d(np.cov(X, rowvar=False)), rcond=1e-10, hermitian=True)
    return squareform(pdist(X, "mahalanobis", VI=precision))


def average_by_projector(U, labels):
    same = labels[:, None] == labels
    return same / same.sum(axis=1) @ U


def stack_by_covariance(X, H, d, weight):
    return np.linalg.eigh(np.cov(X, rowvar=False) + weight * H @ H.T)[1][:, -d:]


def fit_by_covariance(X, U):
    p, d = U.shape
    S = np.cov(X, rowvar=False, bias=True)
    return np.diag(U.T @ S @ U), np.trace((np.eye(p) - U @ U.T) @ S) / (p - d)


def cost_by_projectors(X, rows, columns):
    R, C = indicator(rows), indicator(columns)
    centered = X - X.mean(axis=0)
    return np.sum((centered - R @ R.T @ centered @ (C @ C.T)) ** 2)


MEMORY = "megabytes at once"
WRONG: list[tuple[str, Any, str]] = [
    ("ex-soft-cautious", own_standard_error, "its own standard error"),
    ("ex-pca-parallel", first_that_is_not, "all variances are above"),
    ("ex-pi-newton", no_iteration, "not the number of steps"),
    ("ex-pi-newton", steps_back, "not the number of steps"),
    ("ex-cr-minp", strictly_smaller, "exactly as small counts"),
    ("ex-cr-partial", not_taken_off, "yours have a mean"),
    ("ex-hv-noise", two_directions, ""),
    ("ex-km-read", bound_for_two, ""),
    ("ex-km-bounds", bounds_for_two, ""),
    ("ex-sklearn-pca", two_columns, "is expected"),
    ("ex-bincount", two_columns_averaged, "is expected"),
    ("ex-bincount", three_labels, "values are right"),
    ("ex-wrong-clusters", noise_of_three, ""),
    ("ex-rc-cost", board_of_six, ""),
    ("ex-rc-holm", holm_of_eight, "values are right"),
    ("ex-gram", gram_by_covariance, MEMORY),
    ("ex-bincount", average_by_projector, MEMORY),
    ("ex-soft-stack", stack_by_covariance, MEMORY),
    ("ex-ou-fit", fit_by_covariance, MEMORY),
    ("ex-rc-cost", cost_by_projectors, MEMORY),
    ("ex-hv-line", [True, False], "True is not a number"),
]


@pytest.mark.parametrize(("label", "answer", "words"), WRONG, ids=short)
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_wrong_answers_are_refused(label: str, answer: Any, words: str, seed: int | None) -> None:
    verdict = judge(label, answer, seed)
    assert verdict.status == "Wrong"
    assert words in verdict.message, verdict


def test_ties_are_mentioned() -> None:
    def without_ties(X, group, ks):
        Z = PCA(len(X) - 1, whiten=True).fit_transform(X)
        differ = pdist(group[:, None].astype(float)) > 0
        distances = [np.round(pdist(Z[:, :k]), 6) for k in ks]
        return [np.mean(d[differ][:, None] > d[~differ]) for d in distances]

    assert "count such ties one half" in check("ex-directions", without_ties).message


# ------------------------------------------------------------------------------ and nothing escapes


def test_an_endless_loop_ends_and_an_exit_does_not() -> None:
    def endless(X):
        while True:
            X = X + 1

    assert "not come to an end" in judge("ex-gram", endless, seconds=0.2).message
    assert "stopped with SystemExit" in check("ex-gram", lambda X: sys.exit()).message


@pytest.mark.parametrize("label", ["ex-gram", "ex-triangle", "ex-km-contrasts"])
def test_no_solution_is_handed_out(label: str) -> None:
    for name in ("reference", "answers", "inputs", "mistakes", "judgement"):
        with pytest.raises(AttributeError):
            getattr(find(label), name)


def test_a_rounding_of_every_number_to_three_digits_is_right() -> None:
    assert check("ex-km-null", float(f"{3 * (1 - 3 / 59):.2e}"))
    assert check("ex-lm-circle", [-0.333, round(math.pi / 2, 2), 0])
