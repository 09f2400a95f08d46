"""Samples of the spiked model, and how much of its directions an estimate misses."""

import numpy as np


def orthonormal(rng, rows, columns):
    return np.linalg.qr(rng.standard_normal((rows, columns)))[0]


def draw(rng, n, U, strengths, noise):
    """Draw samples of the spiked model along the columns of U."""
    hidden = rng.standard_normal((n, len(strengths)))
    return (hidden * np.sqrt(strengths)) @ U.T + noise * rng.standard_normal((n, len(U)))


def missing(found, truth):
    return truth.shape[1] - np.sum((found.T @ truth) ** 2)
