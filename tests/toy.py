"""Small problems with known answers, and the paper's formulas written out with p × p matrices.

Everything here is independent of the library, so that the tests compare two ways.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from hypothesis import settings
from numpy.typing import NDArray
from scipy import linalg

Array = NDArray[Any]

# The same examples on every machine, and few enough that the suite stays quick.
same_examples = settings(max_examples=20, deadline=None, derandomize=True)

TOY_BORDERS = [0, 50, 120, 190, 220, 285, 320, 355, 400, 470, 500, 545, 603, 642, 700, 735, 800]
TOY_BORDERS += [850, 900]


@cache
def true_toy_directions() -> Array:
    """The 18 leading eigenvectors of the toy's true covariance."""
    labels, shift = toy_features()
    within = 0.6 * (labels[:, None] == labels) + 0.4 * np.eye(900)
    vectors: Array = linalg.eigh(within + np.outer(shift, shift), subset_by_index=[882, 899])[1]
    return vectors


def toy_features() -> tuple[Array, Array]:
    """Cluster of each feature of the toy, and half the difference of the types' means."""
    labels = np.repeat(np.arange(18), np.diff(TOY_BORDERS))
    return labels, 5 * np.linspace(0.2, 1, 18)[labels] ** 4


def two_types(n_samples: int, seed: int) -> tuple[Array, Array]:
    """Toy problem of §5: data and known labels."""
    rng = np.random.default_rng(seed)
    labels, shift = toy_features()
    signs = np.where(np.arange(n_samples) % 2, -1.0, 1.0)
    X = 5 + np.outer(signs, shift)
    X += np.sqrt(0.6) * rng.standard_normal((n_samples, 18))[:, labels]
    X += np.sqrt(0.4) * rng.standard_normal(X.shape)
    return X, labels


def hidden_square(n_samples: int, seed: int) -> tuple[Array, Array, Array]:
    """Example of §3.3: data (n × 1200), hidden points (n × 2) and the clusters of the features."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], 400)
    means = np.array([[1 / 3, 1], [1 / 3, -1], [-1, -3]])
    A = means[labels] + 0.1 * rng.standard_normal((1200, 2))
    hidden = rng.uniform(size=(n_samples, 2))
    return hidden @ A.T, hidden, labels


def random_problem(
    seed: int, n_samples: int = 25, n_features: int = 12, n_clusters: int = 4
) -> tuple[Array, Array]:
    """Correlated data with arbitrary means and scales, and labels in which no cluster is empty."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n_features) % n_clusters)
    factors = rng.standard_normal((n_samples, n_clusters)) * rng.uniform(0.5, 3, n_clusters)
    X = factors[:, labels] + rng.standard_normal((n_samples, n_features))
    return X + 10 * rng.standard_normal(n_features), labels


def full_rank(rng: np.random.Generator, n_rows: int, n_columns: int) -> Array:
    """Random matrix whose singular values lie between ½ and 2, so rounding stays harmless."""
    U, _, Vt = np.linalg.svd(rng.standard_normal((n_rows, n_columns)), full_matrices=False)
    return U * rng.uniform(0.5, 2, len(Vt)) @ Vt


def covariance(X: Array) -> Array:
    return np.cov(X, rowvar=False).reshape(X.shape[1], X.shape[1])


def projector(labels: Array) -> Array:
    """H Hᵀ from its entries: 1/m_k where both features are in cluster k."""
    labels = np.asarray(labels)
    together = labels[:, None] == labels
    return together / together.sum(axis=1)


def explicit_indicator(labels: Array) -> Array:
    """H from its definition, one cluster at a time."""
    labels = np.asarray(labels)
    columns = [(labels == k) / np.sqrt(np.sum(labels == k)) for k in range(max(labels) + 1)]
    return np.column_stack(columns)


def leading(S: Array, n: int) -> tuple[Array, Array]:
    """Leading eigenvectors and eigenvalues of a symmetric matrix, largest first."""
    values, vectors = np.linalg.eigh(S)
    return vectors[:, ::-1][:, :n], values[::-1][:n]


def reconstruction(S: Array, U: Array) -> float:
    """R(U) = tr (I − UUᵀ) Σ (I − UUᵀ), with the p × p matrices written out."""
    rest = np.eye(len(U)) - U @ U.T
    return float(np.trace(rest @ S @ rest))


def same_up_to_sign(U: Array, V: Array) -> float:
    """Largest difference of matching columns, the better of the two signs for each."""
    return float(np.minimum(np.abs(U - V).max(axis=0), np.abs(U + V).max(axis=0)).max())
