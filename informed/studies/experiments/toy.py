"""X3: the toy problem. Errors of directions, stairs of covariance, embeddings of types."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import silhouette_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC

from informed.clusters import cluster_features
from informed.datasets import make_two_types
from informed.diffusion import DiffusionMap
from informed.directions import pca_directions, subspace_error
from informed.directions.registry import SOLVERS, DirectionsName, VariancesName
from informed.directions.solvers import unit_columns
from informed.groups import bipartition
from informed.metrics import InformedMahalanobis
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.results import Result, Table, spread
from informed.validation import Array, check_choice, check_count

__all__ = [
    "CovarianceStairs",
    "DirectionError",
    "TypeEmbedding",
    "cluster_count_error",
    "covariance_stairs",
    "direction_error",
    "type_embedding",
]

INFORMED_METHODS: tuple[DirectionsName, ...] = ("averaged", "gradient", "exact", "penalized")
# The iteration as the authors of the paper run it.
AUTHORS_OPTIONS: dict[str, dict[str, object]] = {"gradient": {"step": "paper", "max_iter": 200}}
PAPER_SIZES = (*range(20, 201, 20), *range(250, 701, 50), *range(800, 2001, 100))
RANK = 18


# ------------------------------------------------------------------------- errors of directions


@dataclass(frozen=True, eq=False)
class DirectionError(Result):
    """Distance of estimated directions to the true ones.

    Attributes
    ----------
    axis : str
        What was varied: ``"n_samples"`` or ``"n_clusters"``.
    values : int array of shape (n_values,)
        Its values.
    methods : tuple of str
        ``"pca"``, and for each other method ``"METHOD, k-means"`` and ``"METHOD, known"``
        (clusters).
    e_fro, e_two : arrays of shape (n_methods, n_values, n_repeats)
        Error in the Frobenius norm and in the spectral norm.
    """

    name: ClassVar[str] = "direction_error"
    axis: str
    values: NDArray[np.intp]
    methods: tuple[str, ...]
    e_fro: Array
    e_two: Array

    @property
    def table(self) -> Table:
        """Mean :math:`e_F` ± standard deviation over the repeats."""
        return Table(
            ("e_F", *(f"{self.axis}={value}" for value in self.values)),
            [
                (method, *(spread(self.e_fro[i, j]) for j in range(len(self.values))))
                for i, method in enumerate(self.methods)
            ],
        )


def direction_error(
    *,
    sizes: Sequence[int] = (20, 60, 100, 200),
    n_clusters: int = RANK,
    methods: Sequence[str] = INFORMED_METHODS,
    rho: float = 0.6,
    loading_sd: float = 0.0,
    n_init: int = 10,
    n_repeats: int = 50,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> DirectionError:
    """Error of 18 estimated directions of the toy against the number of samples.

    Parameters
    ----------
    sizes : sequence of int
        Numbers of samples; ``informed.experiments.PAPER_SIZES`` holds the paper's.
    n_clusters : int
        Number of clusters that k-means is asked for.
    methods : sequence of {"averaged", "gradient", "exact", "penalized"}
        Methods beside PCA, each with k-means and with known clusters. ``"gradient"`` is the paper's
        iteration as its authors run it: 200 steps of constant length.
    rho, loading_sd : float
        Covariance within a cluster, and how unequally its features load; see
        :func:`informed.datasets.make_two_types`.
    n_init : int
        Number of k-means restarts. A run that misses one of the 18 clusters errs by about √2.
    n_repeats : int
        Number of data sets for each size.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    DirectionError
    """
    sizes = [check_count("sizes", size, RANK + 2) for size in sizes]
    cases = [(size, n_clusters) for size in sizes]
    toy = (rho, loading_sd, n_init)
    draws = seeds(random_state, len(cases) * check_count("n_repeats", n_repeats, 1))
    return _direction_errors("n_samples", sizes, cases, methods, toy, draws, n_jobs, verbose)


def cluster_count_error(
    *,
    counts: Sequence[int] = tuple(range(10, 41, 5)),
    n_samples: int = 100,
    methods: Sequence[str] = INFORMED_METHODS,
    rho: float = 0.6,
    loading_sd: float = 0.0,
    n_init: int = 10,
    n_repeats: int = 20,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> DirectionError:
    """Error of the directions of the toy against the number of clusters asked of k-means.

    With fewer than 18 clusters there are only so many directions.

    Parameters
    ----------
    counts : sequence of int
        Numbers of clusters (paper's authors: 10 … 40).
    n_samples : int
        Number of samples.
    methods, rho, loading_sd, n_init, n_repeats, random_state, n_jobs, verbose
        As in :func:`direction_error`.

    Returns
    -------
    DirectionError
    """
    counts = [check_count("counts", count, 1) for count in counts]
    n_samples = check_count("n_samples", n_samples, RANK + 2)
    cases = [(n_samples, count) for count in counts]
    toy = (rho, loading_sd, n_init)
    draws = seeds(random_state, len(cases) * check_count("n_repeats", n_repeats, 1))
    return _direction_errors("n_clusters", counts, cases, methods, toy, draws, n_jobs, verbose)


def _direction_errors(
    axis: str,
    values: Sequence[int],
    cases: Sequence[tuple[int, int]],
    methods: Sequence[str],
    toy: tuple[float, float, int],
    draws: Sequence[int],
    n_jobs: int | None,
    verbose: bool,
) -> DirectionError:
    """Errors for each case, (n_samples, n_clusters), and each of its draws."""
    if not values:
        raise ValueError(f"the values of {axis} are empty: give at least one")
    checked = tuple(check_choice("methods", method, INFORMED_METHODS) for method in methods)
    each = np.reshape(draws, (len(cases), -1)).tolist()
    tasks = [
        (n, count, checked, *toy, seed)
        for (n, count), own in zip(cases, each, strict=True)
        for seed in own
    ]
    runs = run_tasks(
        _errors_of_one_toy, tasks, n_jobs=n_jobs, verbose=verbose, label="direction_error"
    )
    errors = np.array(runs).reshape(len(cases), len(each[0]), -1, 2).transpose(3, 2, 0, 1)
    names = ("pca", *(f"{m}, {c}" for m in checked for c in ("k-means", "known")))
    return DirectionError(axis, np.array(values), names, errors[0], errors[1])


def _errors_of_one_toy(
    n_samples: int,
    n_clusters: int,
    methods: Sequence[DirectionsName],
    rho: float,
    loading_sd: float,
    n_init: int,
    seed: int,
) -> list[tuple[float, float]]:
    data = make_two_types(n_samples, rho=rho, loading_sd=loading_sd, random_state=seed)
    truth = data.eigenvectors(RANK)
    again = partial(cluster_features, n_clusters=n_clusters, n_init=n_init, random_state=seed)
    found = again(data.X)
    estimates = [pca_directions(data.X, RANK).directions]
    for method in methods:
        for labels, recluster in ((found, again), (data.feature_labels, None)):
            d = min(RANK, int(labels.max()) + 1)
            estimates.append(_directions_by(method, data.X, labels, d, recluster, seed))
    return [(subspace_error(truth, U), subspace_error(truth, U, norm=2)) for U in estimates]


def _directions_by(
    method: DirectionsName,
    X: Array,
    labels: NDArray[np.intp],
    d: int,
    recluster: partial[NDArray[np.intp]] | None,
    seed: int,
) -> Array:
    solver = SOLVERS[method]
    options: dict[str, object] = dict(AUTHORS_OPTIONS.get(method, {}))
    if solver.penalized:
        options |= {"penalty": "cv", "recluster": recluster, "random_state": seed}
    with warnings.catch_warnings():
        # The authors' rule does not converge in their number of steps.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = solver.find(X, labels, d, **options).directions
    return found if solver.unit_length else unit_columns(found)


# -------------------------------------------------------------------------- covariance as stairs


@dataclass(frozen=True, eq=False)
class CovarianceStairs(Result):
    """True and estimated covariance of the toy, features ordered by their true cluster.

    Attributes
    ----------
    covariances : dict of arrays of shape (n_features, n_features)
        ``"true"``, ``"pca"`` and ``"informed"``.
    borders : int array
        First feature of each true cluster, and the number of features at the end.
    zoom : tuple of int
        First and last feature (not included) of the zoom.
    section : int
        Feature of the cross-section, counted from 0.
    """

    name: ClassVar[str] = "covariance_stairs"
    covariances: dict[str, Array]
    borders: NDArray[np.intp]
    zoom: tuple[int, int]
    section: int

    @property
    def table(self) -> Table:
        """Relative errors of the two estimates, whole and on the cross-section."""
        true = self.covariances["true"]
        rows = []
        for method in ("pca", "informed"):
            error = self.covariances[method] - true
            cut, cut_error = true[self.section], error[self.section]
            rows.append(
                (
                    method,
                    float(np.linalg.norm(error) / np.linalg.norm(true)),
                    float(np.linalg.norm(cut_error) / np.linalg.norm(cut)),
                    self._roughness(method),
                )
            )
        return Table(("covariance", "relative error", "on the section", "noise on stairs"), rows)

    def _roughness(self, method: str) -> float:
        """Return the standard deviation of the cross-section within the true clusters."""
        cut = self.covariances[method][self.section]
        steps = np.split(cut, self.borders[1:-1])
        return float(np.sqrt(np.mean([np.var(step) for step in steps])))


def covariance_stairs(
    *,
    n_samples: int = 100,
    rho: float = 0.6,
    zoom: tuple[int, int] = (750, 900),
    section: int = 899,
    random_state: int | RandomState | None = 0,
) -> CovarianceStairs:
    """Covariance of the toy: true, by PCA and informed by k-means clusters (18 directions).

    Parameters
    ----------
    n_samples : int
        Number of samples (paper: 100).
    rho : float
        Covariance within a cluster.
    zoom : tuple of int
        Features to zoom on (paper: 750–900).
    section : int
        Feature of the cross-section, counted from 0 (paper's feature 900 is 899).
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    CovarianceStairs
    """
    n_samples = check_count("n_samples", n_samples, RANK + 2)
    data = make_two_types(n_samples, rho=rho, shuffle=False, random_state=random_state)
    n_features = data.X.shape[1]
    check_count("section", section, 0, n_features - 1)
    check_count("zoom", zoom[0], 0)
    check_count("zoom", zoom[1], zoom[0] + 1, n_features)
    (estimates,) = run_tasks(_two_covariances, [(data.X, seeds(random_state, 1)[0])])
    covariances = {"true": data.covariance(), **estimates}
    borders = np.concatenate([[0], np.cumsum(np.bincount(data.feature_labels))])
    return CovarianceStairs(covariances, borders, (int(zoom[0]), int(zoom[1])), int(section))


STAIRS_METHODS: dict[str, DirectionsName] = {"pca": "pca", "informed": "exact"}


def _two_covariances(X: Array, seed: int) -> dict[str, Array]:
    return {
        method: InformedMahalanobis(RANK, RANK, directions=directions, random_state=seed)
        .fit(X)
        .get_covariance()
        for method, directions in STAIRS_METHODS.items()
    }


# ---------------------------------------------------------------------------- embeddings of types

TYPE_METHODS: dict[str, tuple[DirectionsName, VariancesName] | None] = {
    "euclidean": None,
    "pca": ("pca", "pca"),
    "informed": ("exact", "pca"),
    "informed, own variances": ("exact", "own"),
}


@dataclass(frozen=True, eq=False)
class TypeEmbedding(Result):
    """Embeddings of the toy's samples and how well they tell the types apart.

    Attributes
    ----------
    methods : tuple of str
        ``"euclidean"``, ``"pca"`` (conventional Mahalanobis), ``"informed"`` (PCA's variances, as
        in the paper) and ``"informed, own variances"``.
    agreement, svm, silhouette : arrays of shape (n_methods, n_repeats)
        Agreement of the sign of the first coordinate with the type (the better of the two namings);
        cross-validated accuracy of a linear support vector machine on the embedding; silhouette of
        the types in the embedding.
    embeddings : dict of arrays of shape (n_samples, 2)
        Embeddings of the first repeat.
    types : int array of shape (n_samples,)
        Types of the first repeat.
    """

    name: ClassVar[str] = "type_embedding"
    methods: tuple[str, ...]
    agreement: Array
    svm: Array
    silhouette: Array
    embeddings: dict[str, Array]
    types: NDArray[np.intp]

    @property
    def table(self) -> Table:
        """Mean scores by method."""
        return Table(
            ("metric", "sign rule", "linear SVM", "silhouette"),
            [
                (
                    method,
                    float(self.agreement[i].mean()),
                    float(self.svm[i].mean()),
                    float(self.silhouette[i].mean()),
                )
                for i, method in enumerate(self.methods)
            ],
        )


def type_embedding(
    *,
    n_samples: int = 100,
    n_components: int = 17,
    rho: float = 0.6,
    n_repeats: int = 10,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> TypeEmbedding:
    r"""Diffusion maps of the toy under four metrics, scored against the types.

    The kernel is :math:`\exp(-d^2/2s^2)` with *s* the median distance, as the authors have it.

    Parameters
    ----------
    n_samples : int
        Number of samples (paper: 100).
    n_components : int
        Number of directions of the metrics (paper: 17, with 18 clusters).
    rho : float
        Covariance within a cluster.
    n_repeats : int
        Number of data sets.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    TypeEmbedding
    """
    n_samples = check_count("n_samples", n_samples, n_components + 2)
    n_repeats = check_count("n_repeats", n_repeats, 1)
    tasks = [(n_samples, n_components, rho, seed) for seed in seeds(random_state, n_repeats)]
    runs = run_tasks(_embed_one_toy, tasks, n_jobs=n_jobs, verbose=verbose, label="type_embedding")
    scores = np.array([run[0] for run in runs]).transpose(2, 1, 0)
    _, embeddings, types = runs[0]
    return TypeEmbedding(tuple(TYPE_METHODS), scores[0], scores[1], scores[2], embeddings, types)


def _embed_one_toy(
    n_samples: int, n_components: int, rho: float, seed: int
) -> tuple[list[tuple[float, float, float]], dict[str, Array], NDArray[np.intp]]:
    data = make_two_types(n_samples, rho=rho, random_state=seed)
    embeddings, scores = {}, []
    for method, choice in TYPE_METHODS.items():
        points = data.X
        if choice is not None:
            directions, variances = choice
            metric = InformedMahalanobis(
                n_components, directions=directions, variances=variances, random_state=seed
            )
            points = metric.fit_transform(data.X)
        distances = pdist(points)
        diffusion = DiffusionMap(2, epsilon=2 * np.median(distances) ** 2, metric="precomputed")
        embeddings[method] = diffusion.fit_transform(squareform(distances))
        scores.append(_type_scores(embeddings[method], data.types))
    return scores, embeddings, data.types


def _type_scores(embedding: Array, types: NDArray[np.intp]) -> tuple[float, float, float]:
    same = float(np.mean(bipartition(embedding) == types))
    # The machine sees coordinates of unit variance: those of a diffusion map are small.
    scaled = (embedding - embedding.mean(axis=0)) / embedding.std(axis=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    accuracy = cross_val_score(LinearSVC(dual=False), scaled, types, cv=folds).mean()
    return max(same, 1 - same), float(accuracy), float(silhouette_score(scaled, types))
