"""What the paper prescribes, written down as plainly as it stands there: p × p matrices, loops."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from informed.clusters import indicator
from informed.directions import exact_directions, reconstruction_error


def gradient_steps(
    covariance: np.ndarray, labels: np.ndarray, U: np.ndarray, n_steps: int, length: float
) -> np.ndarray:
    """Take gradient steps with a p × p covariance and a p × p projector."""
    H = indicator(labels)
    projector = H @ H.T
    eye = np.eye(len(U))
    for _ in range(n_steps):
        outside = eye - U @ U.T
        U = projector @ (U + length * (outside @ covariance @ U + covariance @ outside @ U))
    return U


def gradient_until(
    X: np.ndarray, labels: np.ndarray, d: int, objective: float, every: int = 100
) -> tuple[np.ndarray, int]:
    """Project gradients until the reconstruction error is at most ``objective``.

    The steps are 1 / (4 λ₁) long, which converges; the authors' steps of constant length do not.
    """
    covariance = np.cov(X, rowvar=False)
    values, vectors = np.linalg.eigh(covariance)
    U, length, n_steps = vectors[:, ::-1][:, :d], 1 / (4 * values[-1]), 0
    while True:
        U = gradient_steps(covariance, labels, U, every, length)
        n_steps += every
        if reconstruction_error(X, U) <= objective:
            return U, n_steps


def local_inverse(near: np.ndarray, labels: np.ndarray, d: int, n_steps: int) -> np.ndarray:
    """Explicit p × p pseudo-inverse of the informed covariance of one neighbourhood."""
    covariance = np.cov(near, rowvar=False)
    values, vectors = np.linalg.eigh(covariance)
    values, U = values[::-1][:d], vectors[:, ::-1][:, :d]
    U = gradient_steps(covariance, labels, U, n_steps, 1 / (4 * values[0]))
    U = U / np.linalg.norm(U, axis=0)
    return U @ np.diag(1 / values) @ U.T


def pair_distance(x: np.ndarray, y: np.ndarray, of_x: np.ndarray, of_y: np.ndarray) -> float:
    """Distance of one pair from the explicit inverses of both."""
    return float(np.sqrt(0.5 * (x - y) @ (of_x + of_y) @ (x - y)))


def plain_clusters(X: np.ndarray, neighbors: np.ndarray, k: int) -> list[KMeans]:
    """Cluster the features of every neighbourhood from scratch, ten restarts each."""
    centered = X - X.mean(axis=0)
    return [KMeans(k, n_init=10, random_state=0).fit(centered[near].T) for near in neighbors]


def plain_local_distances(X: np.ndarray, n_neighbors: int, d: int, k: int) -> np.ndarray:
    """Compute all local distances as plain loops, with the closed form for the directions.

    So the loop is not slowed down by an iteration that nobody needs.
    """
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    neighbors = search.kneighbors(X, return_distance=False)
    inverses = []
    for near, found in zip(neighbors, plain_clusters(X, neighbors, k), strict=True):
        rows = X[near] - X[near].mean(axis=0)
        model = exact_directions(rows, found.labels_, d, check_input=False)
        inverses.append(model.directions @ np.diag(1 / model.pca_variances) @ model.directions.T)
    distances = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for j in range(i):
            distances[i, j] = pair_distance(X[i], X[j], inverses[i], inverses[j])
    return distances + distances.T
