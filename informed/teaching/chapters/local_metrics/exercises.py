"""Checks for the exercises of the chapter on local metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from informed.teaching.exercises import draw
from informed.teaching.exercises.checking import Array, function_check, number_check

number_check(
    "ex-lm-circle",
    {"ζ": -1 / 3, "h of the largest distance": np.pi / 2, "distance of opposite points": 0},
    mistakes={
        "this is the Euclidean distance along the chord. The local distance sees only the part of "
        "the step along the tangents.": [-1 / 12, np.pi, 2],
        "ζ belongs to the squared distance, not to the distance.": [-1 / 6, np.pi / 2, 0],
    },
)

number_check(
    "ex-lm-exponential",
    {"h³ in (a)": 1, "h⁴ in (b)": 7 / 12, "h⁴ in (c)": -5 / 12},
    mistakes={
        "in (b) you expanded the product only in part: `cosh h` is multiplied by "
        "`2 (cosh h - 1)`, which has a fourth-order term of its own.": [1, 1 / 2, None],
        "in (c) the covariances are averaged, not their inverses.": [1, 7 / 12, 7 / 12],
        "in (b) you take the sum of both sides; half of it is asked for.": [1, 7 / 6, None],
    },
)

number_check(
    "ex-lm-middle",
    {"order": 4, "coefficient": -1 / 4},
    mistakes={
        "this is the average of two rulers at the ends. Lay one ruler, in the middle.": [4, -3 / 4],
        "this is a ruler at one end. Lay it in the middle.": [3, None],
    },
    rtol=0.02,
)


def _few_points(rng: np.random.Generator, p: int = 0, d: int = 0) -> tuple[Array, Array, int]:
    n, p, d = draw.between(rng, 4, 7), p or draw.between(rng, 4, 6), d or draw.between(rng, 1, 3)
    roots = rng.normal(size=(n, p, p)) * 2.0 ** np.arange(p)
    return rng.normal(size=(n, p)), roots @ roots.transpose(0, 2, 1), d


def _inverses(S: Array, d: int) -> Array:
    values, vectors = np.linalg.eigh(S)
    kept = [
        np.linalg.pinv((v[:, -d:] * w[-d:]) @ v[:, -d:].T, rcond=1e-10, hermitian=True)
        for w, v in zip(values, vectors, strict=True)
    ]
    return np.array(kept)


def _forms(C: Array, matrix_of: Any) -> Array:
    n = len(C)
    forms = [[(C[i] - C[j]) @ matrix_of(i, j) @ (C[i] - C[j]) for j in range(n)] for i in range(n)]
    return np.array(forms)


def _one_sided(C: Array, S: Array, d: int) -> Any:
    inverses = _inverses(S, d)
    return _forms(C, lambda i, j: inverses[i])


def _sum(C: Array, S: Array, d: int) -> Any:
    return 2 * _local_squared(C, S, d)


def _all_directions(C: Array, S: Array, d: int) -> Any:
    return _local_squared(C, S, C.shape[1])


def _smallest(C: Array, S: Array, d: int) -> Any:
    values, vectors = np.linalg.eigh(S)
    kept = [(v[:, :d] / w[:d]) @ v[:, :d].T for w, v in zip(values, vectors, strict=True)]
    return _forms(C, lambda i, j: (kept[i] + kept[j]) / 2)


def _average_first(C: Array, S: Array, d: int) -> Any:
    return _forms(C, lambda i, j: _inverses((S[i] + S[j])[None] / 2, d)[0])


@function_check(
    "ex-lm-pairs",
    inputs=_few_points,
    edges={"all directions are kept": lambda rng: _few_points(rng, 4, 4)},
    mistakes={
        "you forgot the factor one half: each of the two terms is a whole squared distance.": _sum,
        "row i uses the model of point i only, so the result is not symmetric. Average both "
        "sides.": _one_sided,
        "you keep all eigenvalues. Only the d largest are to be inverted.": _all_directions,
        "you keep the d smallest eigenvalues. `eigh` sorts them from small to large.": _smallest,
        "you average the covariances and invert afterwards. The formula averages the "
        "inverses.": _average_first,
    },
)
def _local_squared(C: Array, S: Array, d: int) -> Any:
    inverses = _inverses(S, d)
    return _forms(C, lambda i, j: (inverses[i] + inverses[j]) / 2)


def _stretched_cloud(rng: np.random.Generator, n_neighbors: int = 0) -> tuple[Array, int, int]:
    n, d, more = draw.between(rng, 15, 25), draw.between(rng, 1, 4), draw.between(rng, 1, 3)
    scales = np.concatenate([2.0 ** -np.arange(d), np.full(more, 0.01)])
    cloud = rng.normal(size=(n, d + more)) * scales @ draw.orthonormal(rng, d + more, d + more)
    return cloud + 3.0, d, n_neighbors or draw.between(rng, 4, 9)


def _ranked(distances: Array, n_neighbors: int) -> Any:
    return np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]


def _leading(X: Array, d: int, whiten: bool) -> Any:
    values, vectors = np.linalg.eigh(np.cov(X, rowvar=False))
    coordinates = X @ vectors[:, -d:]
    return coordinates / np.sqrt(values[-d:]) if whiten else coordinates


def _by_all_directions(X: Array, d: int, n_neighbors: int) -> Any:
    precision = np.linalg.inv(np.cov(X, rowvar=False))
    return _ranked(cdist(X, X, "mahalanobis", VI=precision), n_neighbors)


def _not_whitened(X: Array, d: int, n_neighbors: int) -> Any:
    coordinates = _leading(X, d, whiten=False)
    return _ranked(cdist(coordinates, coordinates), n_neighbors)


def _without_self(X: Array, d: int, n_neighbors: int) -> Any:
    return _whitened_neighbors(X, d, n_neighbors + 1)[:, 1:]


@function_check(
    "ex-lm-stretch",
    inputs=_stretched_cloud,
    edges={"the sample itself is the only neighbour": lambda rng: _stretched_cloud(rng, 1)},
    mistakes={
        "these are the neighbours by the Euclidean distance.": lambda X, d, n_neighbors: _ranked(
            cdist(X, X), n_neighbors
        ),
        "you project on the leading directions, but do not divide by the standard deviations along "
        "them.": _not_whitened,
        "you use all directions, also those of tiny variance. Keep the `d` leading "
        "ones.": _by_all_directions,
        "the sample itself is missing: it comes first.": _without_self,
    },
)
def _whitened_neighbors(X: Array, d: int, n_neighbors: int) -> Any:
    values, vectors = np.linalg.eigh(np.cov(X, rowvar=False))
    matrix = (vectors[:, -d:] / values[-d:]) @ vectors[:, -d:].T
    steps = X[:, None] - X
    return _ranked(np.einsum("ijp,pq,ijq->ij", steps, matrix, steps), n_neighbors)
