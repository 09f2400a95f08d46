"""The authors' gradient steps, in many neighbourhoods at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from informed.clusters import average_over_clusters
from informed.directions import pca_directions
from informed.directions.solvers import cluster_coordinates, from_cluster_coordinates
from informed.validation import Array

STEPS = 200  # the authors' programs (informedMetricCode) take 100 to 500


def paper_gradient(
    samples: Array, labels: NDArray[np.intp], n_components: int = 6, n_steps: int = STEPS
) -> tuple[Array, Array]:
    """Take the authors' gradient steps in all neighbourhoods at once.

    What :func:`informed.directions.gradient_directions` does with ``step="paper"`` in one
    neighbourhood, for many together and so much faster.

    Parameters
    ----------
    samples : array of shape (n_neighborhoods, n_neighbors, n_features)
        Centred samples.
    labels : int array of shape (n_neighborhoods, n_features)
        Feature clusters.
    n_components : int
        Number of directions d.
    n_steps : int
        Number of steps, the first of which only averages over the clusters.

    Returns
    -------
    directions : array of shape (n_neighborhoods, n_features, d)
        Of unit length.
    pca_variances : array of shape (n_neighborhoods, d)
    """
    degrees = samples.shape[1] - 1
    starts, means, outsides, variances = [], [], [], []
    for own, own_labels in zip(samples, labels, strict=True):
        pca = pca_directions(own, n_components, check_input=False)
        B = cluster_coordinates(own.T, own_labels)
        SH = (B @ own).T / degrees
        starts.append(cluster_coordinates(pca.directions, own_labels))
        means.append(B)
        outsides.append(SH - average_over_clusters(SH, own_labels))
        variances.append(pca.variances)
    T, B, outside = np.array(starts), np.array(means), np.array(outsides)
    S1 = B @ B.mT / degrees
    S2 = outside.mT @ outside
    twice = 2.0 * np.eye(n_components)
    for _ in range(n_steps - 1):
        SU, gram = S1 @ T, T.mT @ T
        G = 2.0 * SU - T @ (T.mT @ SU) - SU @ gram
        A = twice - gram
        squared = G.mT @ G + A @ (T.mT @ S2 @ T) @ A
        length = np.sqrt(np.linalg.eigvalsh(squared)[:, -1])
        T = T + (0.1 / length)[:, None, None] * G
    pairs = zip(T, labels, strict=True)
    directions = np.array([from_cluster_coordinates(own, clusters) for own, clusters in pairs])
    return directions / np.linalg.norm(directions, axis=1, keepdims=True), np.array(variances)
