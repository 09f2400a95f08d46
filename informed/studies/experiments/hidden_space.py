"""X1: finding the hidden unit square by distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from scipy import linalg
from scipy.spatial.distance import pdist, squareform

from informed.datasets import make_hidden_square
from informed.diffusion import DiffusionMap
from informed.directions.registry import DirectionsName
from informed.metrics import InformedMahalanobis
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.results import Result, Table
from informed.validation import Array, check_count

__all__ = ["HiddenSpace", "canonical_correlations", "hidden_space"]

METRICS: dict[str, DirectionsName] = {"pca": "pca", "informed": "exact"}


@dataclass(frozen=True, eq=False)
class HiddenSpace(Result):
    """Distances and embeddings of the hidden square under three metrics.

    Attributes
    ----------
    hidden : array of shape (n_samples, 2)
        Hidden points.
    hidden_distances : array of shape (n_pairs,)
        Their distances, in the order of :func:`scipy.spatial.distance.pdist`.
    distances : dict of arrays of shape (n_pairs,)
        Observed distances for each method.
    embeddings : dict of arrays of shape (n_samples, 2)
        Diffusion maps.
    methods : tuple of str
        ``"euclidean"``, ``"pca"`` (conventional Mahalanobis) and ``"informed"``.
    correlations, slopes, recovery : array of shape (n_methods, n_repeats)
        Correlation with the hidden distance; slope of the regression through the origin; smaller
        canonical correlation of the embedding with (cos πx₁, cos πx₂). Distances and embeddings
        above belong to the first repeat.
    """

    name: ClassVar[str] = "hidden_space"
    hidden: Array
    hidden_distances: Array
    distances: dict[str, Array]
    embeddings: dict[str, Array]
    methods: tuple[str, ...]
    correlations: Array
    slopes: Array
    recovery: Array

    @property
    def table(self) -> Table:
        """Scores by method, averaged over the repeats."""
        return Table(
            ("metric", "correlation", "slope", "slope / √12", "recovery"),
            [
                (
                    method,
                    float(self.correlations[i].mean()),
                    float(self.slopes[i].mean()),
                    float(self.slopes[i].mean() / np.sqrt(12)),
                    float(self.recovery[i].mean()),
                )
                for i, method in enumerate(self.methods)
            ],
        )


def hidden_space(
    *,
    n_samples: int = 500,
    n_features: int = 1200,
    n_fit: int = 50,
    scale: float = 0.25,
    n_repeats: int = 1,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> HiddenSpace:
    r"""Compare observed distances and diffusion maps with the hidden unit square.

    The metrics are fitted on the first ``n_fit`` samples. A uniform variable on [0, 1] has variance
    1/12, and the Mahalanobis distance measures in standard deviations: where it recovers the hidden
    distance, it does so with slope :math:`\sqrt{12}`.

    Parameters
    ----------
    n_samples, n_features : int
        Size of the data (paper: 500 and 1200).
    n_fit : int
        Number of samples from which the metrics are estimated (paper: 50).
    scale : float
        Kernel scale of the diffusion maps over the median squared distance. The eigenfunctions of
        the square appear for a kernel narrower than the square.
    n_repeats : int
        Number of data sets.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers over the repeats.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    HiddenSpace
    """
    n_samples = check_count("n_samples", n_samples, 4)
    n_fit = check_count("n_fit", n_fit, 3, n_samples, f"n_samples={n_samples}")
    n_repeats = check_count("n_repeats", n_repeats, 1)
    tasks = [(n_samples, n_features, n_fit, scale, seed) for seed in seeds(random_state, n_repeats)]
    runs = run_tasks(_one_square, tasks, n_jobs=n_jobs, verbose=verbose, label="hidden_space")
    hidden, distances, embeddings, _ = runs[0]
    scores = np.array([run[3] for run in runs])
    return HiddenSpace(
        hidden=hidden,
        hidden_distances=pdist(hidden),
        distances=distances,
        embeddings=embeddings,
        methods=tuple(distances),
        correlations=scores[:, 0].T,
        slopes=scores[:, 1].T,
        recovery=scores[:, 2].T,
    )


def canonical_correlations(A: Array, B: Array) -> Array:
    """Canonical correlations of two sets of variables, falling.

    They are the cosines of the angles between the spaces that the centred columns span: 1 means
    that some linear combination of the one set equals one of the other.

    Examples
    --------
    >>> x, y = np.arange(6.0), np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    >>> canonical_correlations(np.c_[x, y], np.c_[x + y, x - y]).round(6)
    array([1., 1.])
    """
    bases = [linalg.qr(M - M.mean(axis=0), mode="economic")[0] for M in (A, B)]
    cosines: Array = linalg.svdvals(bases[0].T @ bases[1]).clip(0, 1)
    return cosines


def _one_square(
    n_samples: int, n_features: int, n_fit: int, scale: float, seed: int
) -> tuple[Array, dict[str, Array], dict[str, Array], Array]:
    data = make_hidden_square(n_samples, n_features, random_state=seed)
    distances = {"euclidean": pdist(data.X)}
    for method, directions in METRICS.items():
        metric = InformedMahalanobis(2, 3, directions=directions, random_state=seed)
        distances[method] = pdist(metric.fit(data.X[:n_fit]).transform(data.X))
    hidden = pdist(data.hidden)
    waves = np.cos(np.pi * data.hidden)
    embeddings, scores = {}, []
    for method, d in distances.items():
        diffusion = DiffusionMap(2, scale=scale, metric="precomputed")
        embeddings[method] = diffusion.fit_transform(squareform(d))
        scores.append(
            (
                np.corrcoef(d, hidden)[0, 1],
                d @ hidden / (hidden @ hidden),
                canonical_correlations(embeddings[method], waves)[-1],
            )
        )
    return data.hidden, distances, embeddings, np.array(scores).T
