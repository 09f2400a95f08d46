"""The paper's formulas through explicit n_features × n_features matrices, for comparison."""

from __future__ import annotations

import numpy as np
from toy import leading


def clustered_data(seed, n_samples=40, sizes=(5, 9, 4, 6), spread=0.3):
    """Features in clear clusters, shuffled; returns the data and the labels by first occurrence."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    _, first = np.unique(labels, return_index=True)
    labels = np.argsort(np.argsort(first))[labels]
    profiles = rng.normal(size=(n_samples, len(sizes))) * np.linspace(3, 1, len(sizes))
    X = profiles[:, labels] + spread * rng.normal(size=(n_samples, len(labels)))
    return X + 10 * rng.normal(size=len(labels)), labels


def dense_indicator(labels):
    H = (np.asarray(labels)[:, None] == np.unique(labels)).astype(float)
    return H / np.sqrt(H.sum(axis=0))


def directions_by_hand(X, labels, d, directions, penalty):
    """Unit directions through p × p matrices: the textbook form of each choice."""
    covariance = np.cov(X, rowvar=False)
    U, _ = leading(covariance, d)
    if directions == "pca":
        return U
    H = dense_indicator(labels)
    projector = H @ H.T
    if directions == "exact":
        return H @ leading(H.T @ covariance @ H, d)[0]
    if directions == "penalized":
        return leading(covariance + penalty * projector, d)[0]
    U = projector @ U
    if directions == "gradient":
        step = 1 / (4 * np.linalg.norm(projector @ covariance @ projector, 2))
        eye = np.eye(len(U))
        for _ in range(3000):
            P = eye - U @ U.T
            U = projector @ (U + step * (P @ covariance @ U + covariance @ P @ U))
    return U / np.linalg.norm(U, axis=0)


# Variances of the samples themselves; shrunk ones follow from a model and are tested with it.
SAMPLE_VARIANCES = ("pca", "own")


def mahalanobis_matrix_by_hand(X, labels, d, directions, variances, penalty):
    """Σ̃† = Ũ Λ⁻¹ Ũᵀ, p × p."""
    U = directions_by_hand(X, labels, d, directions, penalty)
    covariance = np.cov(X, rowvar=False)
    Lambda = leading(covariance, d)[1] if variances == "pca" else np.diag(U.T @ covariance @ U)
    return U @ np.diag(1 / Lambda) @ U.T
