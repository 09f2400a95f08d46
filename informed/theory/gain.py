"""Can clusters help on data of this size? A prediction before anything is fitted."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from informed.directions import pca_directions
from informed.spiked import spikes_from_variances
from informed.theory.errors import expected_errors, samples_needed
from informed.theory.recovery import misclassification_rate, samples_for_rate
from informed.validation import Array, check_count, check_matrix, check_number

__all__ = ["PredictedGain", "estimate_spectrum", "predicted_gain"]

# Fewer than this many directions missing counts as found.
FOUND = 0.5
# Share of features in a wrong cluster at which the clusters count as found.
FOUND_RATE = 0.05


@dataclass(frozen=True, eq=False)
class PredictedGain:
    r"""Predicted errors with and without clusters. Print it.

    Errors are expected values of :math:`\lVert\sin\Theta\rVert_F^2`: the number of directions,
    out of d, that are missing.

    Attributes
    ----------
    n_samples, n_features, n_clusters, n_directions : int
        The size of the problem.
    pca_error, known_error, found_error : float
        Error of PCA, of the exact directions with the right clusters, and with clusters that have
        to be found from the same samples.
    misclassified : float
        Expected share of features in a wrong cluster.
    pca_threshold, informed_threshold : float
        Strength that a direction must have to be seen at all.
    pca_samples, informed_samples, cluster_samples : float
        Samples at which the weakest direction is half seen by PCA, by the informed method with
        right clusters, and at which one feature in twenty is still in a wrong cluster.
    """

    n_samples: int
    n_features: int
    n_clusters: int
    n_directions: int
    pca_error: float
    known_error: float
    found_error: float
    misclassified: float
    pca_threshold: float
    informed_threshold: float
    pca_samples: float
    informed_samples: float
    cluster_samples: float

    @property
    def gain(self) -> float:
        """PCA's error over that of the informed method with clusters that it has to find."""
        return self.pca_error / self.found_error if self.found_error > 0 else np.inf

    @property
    def phase(self) -> str:
        """``"clusters lost"``, ``"window"``, ``"both"`` or ``"pca only"``."""
        if self.found_error < FOUND:
            return "both" if self.pca_error < FOUND else "window"
        return "pca only" if self.pca_error < FOUND else "clusters lost"

    @property
    def verdict(self) -> str:
        """The phase in a sentence."""
        gain = f"{self.gain:.3g}"
        return {
            "clusters lost": (
                "Neither works: about "
                f"{self.misclassified:.0%} of the features would be in a wrong cluster, and PCA "
                "misses a direction too. More samples, fewer directions, or clusters known from "
                "elsewhere."
            ),
            "window": (
                "Use clusters: they can be found, and PCA misses a direction that they bring out "
                f"(error {gain} times smaller)."
            ),
            "both": (
                "Both work. "
                + (
                    f"Clusters make the error {gain} times smaller, if they fit the truth."
                    if self.gain > 1.2
                    else "Clusters bring nothing here."
                )
            ),
            "pca only": (
                "Use PCA: it sees all directions, and the clusters cannot be found well enough."
            ),
        }[self.phase]

    def __str__(self) -> str:
        least = self.n_directions + 3  # with fewer there is no estimate to speak of
        size = f"{self.n_samples} samples, {self.n_features} features, {self.n_clusters} clusters"
        rows = [
            ("PCA", self.pca_error, self.pca_threshold, self.pca_samples),
            ("known clusters", self.known_error, self.informed_threshold, self.informed_samples),
            (
                "found clusters",
                self.found_error,
                self.informed_threshold,
                max(self.cluster_samples, self.informed_samples),
            ),
        ]
        lines = [
            f"{size}, {self.n_directions} directions",
            f"{'':14s}  error  visible from  half seen from",
            *(
                f"{name:14s}  {error:5.3f}  ℓ = {threshold:<8.3g}  n = {max(samples, least):.0f}"
                for name, error, threshold, samples in rows
            ),
            f"features in a wrong cluster: {self.misclassified:.1%}",
            textwrap.fill(self.verdict, 80),
        ]
        return "\n".join(lines)


def predicted_gain(
    n_samples: int,
    n_features: int,
    n_clusters: int,
    strengths: ArrayLike,
    noise: float,
    *,
    separation: float | None = None,
    misfit: float = 0.0,
) -> PredictedGain:
    """Predict the errors of PCA and of the informed directions on data of a given size.

    Parameters
    ----------
    n_samples, n_features, n_clusters : int
        Size of the data and number of clusters of features.
    strengths : array-like of shape (d,)
        Variances of the signal along the d directions. From data: :func:`estimate_spectrum`.
    noise : float
        Standard deviation of the noise in each feature.
    separation : float, optional
        Standard deviation of the difference between the signals of the two closest clusters. By
        default that of two typical clusters, the root of twice the mean signal variance of a
        feature: optimistic when some clusters are close to each other.
    misfit : float
        Part of the true directions that even the right clusters cut off, from 0 to d; zero if
        features of a cluster have equal coefficients.

    Returns
    -------
    PredictedGain
        Errors, thresholds, samples needed, and a verdict in words.

    Notes
    -----
    Clusters of equal size are assumed, and features in a wrong cluster are taken to spread evenly
    over the others: a share ε of them shortens the true directions by 1 − εK/(K − 1). What is left
    of the directions is taken to be estimated as well as with the right clusters. That is so where
    k-means finds the clusters that there are; if it is asked for more, noise along the surplus cut
    may pass for a weak direction.

    Examples
    --------
    >>> print(predicted_gain(64, 300, 6, [150.0, 150.0, 6.0], 1.0, separation=1.04))
    64 samples, 300 features, 6 clusters, 3 directions
                    error  visible from  half seen from
    PCA             0.598  ℓ = 2.24      n = 67
    known clusters  0.010  ℓ = 0.225     n = 6
    found clusters  0.013  ℓ = 0.225     n = 25
    features in a wrong cluster: 0.0%
    Use clusters: they can be found, and PCA misses a direction that they bring out
    (error 45.9 times smaller).
    """
    strengths = np.atleast_1d(np.asarray(strengths, float))
    n_features = check_count("n_features", n_features, 2)
    n_clusters = check_count("n_clusters", n_clusters, max(2, len(strengths)), n_features)
    noise = check_number("noise", noise, open_low=True)
    by_pca = expected_errors(n_samples, n_features, strengths, noise)
    d, size = len(strengths), n_features / n_clusters
    misfit = check_number("misfit", misfit)
    if misfit > d:
        raise ValueError(f"misfit={misfit} is out of range: {d} directions can lose at most {d}")
    if separation is None:
        separation = float(np.sqrt(2 * strengths.sum() / n_features))
    separation = check_number("separation", separation, open_low=True)

    rate = misclassification_rate(
        n_samples, separation, noise, n_clusters=n_clusters, cluster_size=size
    )
    fit = 1 - misfit / d
    right = max(1 - rate * n_clusters / (n_clusters - 1), 0.0)

    within = 0.0
    if fit > 0:
        within = float(expected_errors(n_samples, n_clusters, fit * strengths, noise).sum())

    def error(kept: float) -> float:
        return d - kept * (d - within)

    weakest = float(strengths.min())
    return PredictedGain(
        n_samples=n_samples,
        n_features=n_features,
        n_clusters=n_clusters,
        n_directions=d,
        pca_error=float(by_pca.sum()),
        known_error=error(fit),
        found_error=error(fit * right**2),
        misclassified=rate,
        pca_threshold=float(noise**2 * np.sqrt((n_features - d) / (n_samples - d - 2))),
        informed_threshold=float(noise**2 * np.sqrt((n_clusters - d) / (n_samples - d - 2))),
        pca_samples=samples_needed(n_features, weakest, noise),
        informed_samples=samples_needed(n_clusters, weakest, noise),
        cluster_samples=samples_for_rate(FOUND_RATE, separation, noise, n_clusters, size),
    )


def estimate_spectrum(X: Array, n_components: int) -> tuple[Array, float]:
    """Strengths of the leading directions and the noise of a data set, for :func:`predicted_gain`.

    PCA's variances with their inflation undone. A direction that cannot be told from noise gets
    the strength of the threshold: it may be weaker, not stronger.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data, centred here.
    n_components : int
        Number of directions.

    Returns
    -------
    strengths : array of shape (n_components,)
    noise : float
        Standard deviation.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.outer(3 * rng.normal(size=80), np.ones(40)) + 2 * rng.normal(size=(80, 40))
    >>> strengths, noise = estimate_spectrum(X, 1)
    >>> bool(200 < strengths[0] < 600), bool(1.9 < noise < 2.1)
    (True, True)
    """
    X = check_matrix(X, min_samples=3)
    n_components = check_count("n_components", n_components, 1)
    variances = pca_directions(X, n_components).variances
    centered = X - X.mean(axis=0)
    n, p = X.shape
    aspect = p / (n - 1)
    total = float(np.sum(centered**2) / (n - 1))
    strengths, noise_variance = spikes_from_variances(variances, total, p, aspect)
    floor = noise_variance * np.sqrt(aspect)
    return np.maximum(strengths, floor), float(np.sqrt(noise_variance))
