"""Other uses of informed directions: nearest neighbours, and a covariance that predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.covariance import OAS, LedoitWolf
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedShuffleSplit,
    train_test_split,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from informed.clusters import cluster_features
from informed.datasets import load_cohort, make_two_types, top_variance
from informed.directions import exact_directions, pca_directions
from informed.metrics import SpikedCovariance, spiked_covariance
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.results import Result, Table, spread
from informed.validation import Array, check_choice, check_count

__all__ = [
    "ClassificationStudy",
    "CovarianceStudy",
    "classification_study",
    "covariance_study",
]

CLASSIFIERS = ("euclidean", "pca", "informed", "ledoit-wolf", "lda")
COVARIANCES = ("ledoit-wolf", "oas", "pca", "informed")
N_INNER_FOLDS = 3
N_TEST_DIGITS = 500
# Numbers of directions and clusters from which held-out training samples choose.
SPIKES = (1, 2, 3, 5, 8, 12, 18)
CLUSTER_COUNTS = (10, 20, 40)


# --- nearest neighbours -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassificationStudy(Result):
    """Accuracy of nearest neighbours under several metrics.

    Attributes
    ----------
    train_sizes : int array of shape (n_sizes,)
        Number of training samples.
    methods : tuple of str
        Names of the methods.
    accuracy : array of shape (n_methods, n_sizes, n_splits)
        Share of test samples that were classified correctly.
    """

    name: ClassVar[str] = "classification_study"
    train_sizes: NDArray[np.intp]
    methods: tuple[str, ...]
    accuracy: Array

    def differences(self, method: str, other: str = "euclidean") -> Array:
        """Accuracy of a method above that of another on the same split.

        Splits differ more than methods do, so that only such pairs tell which method is better.

        Parameters
        ----------
        method, other : str
            Two of `methods`.

        Returns
        -------
        array of shape (n_sizes, n_splits)
        """
        check_choice("method", method, self.methods)
        check_choice("other", other, self.methods)
        first, second = self.methods.index(method), self.methods.index(other)
        return np.asarray(self.accuracy[first] - self.accuracy[second])

    @property
    def table(self) -> Table:
        """Mean accuracy ± standard deviation, one row for each method."""
        return Table(
            ("method", *(f"n = {size}" for size in self.train_sizes)),
            [
                (method, *(spread(self.accuracy[m, i]) for i in range(len(self.train_sizes))))
                for m, method in enumerate(self.methods)
            ],
        )


def classification_study(
    *,
    train_sizes: Sequence[int] = (50, 100, 200, 400),
    n_splits: int = 20,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> ClassificationStudy:
    """Classify handwritten digits by nearest neighbours under five metrics.

    Neighbouring pixels move together, so pixels form clusters. All settings of a method (number of
    neighbours, directions and clusters, whether to divide by standard deviations) are chosen by
    cross-validation inside the training samples; the test samples are seen once.

    Parameters
    ----------
    train_sizes : sequence of int
        Numbers of training samples, from 50 to 1200: five of each digit, and 500 to test.
    n_splits : int
        Number of random splits into training and test samples.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    ClassificationStudy
    """
    sizes = [
        check_count("train_sizes", size, 50, 1200, "what leaves test samples")
        for size in train_sizes
    ]
    if not sizes:
        raise ValueError("train_sizes is empty: give at least one number of samples")
    n_splits = check_count("n_splits", n_splits, 1)
    drawn = seeds(random_state, n_splits)
    tasks = [(size, seed) for size in sizes for seed in drawn]
    runs = run_tasks(_classify, tasks, n_jobs=n_jobs, verbose=verbose, label="splits")
    accuracy = np.array(runs).reshape(len(sizes), n_splits, len(CLASSIFIERS))
    return ClassificationStudy(
        train_sizes=np.array(sizes), methods=CLASSIFIERS, accuracy=accuracy.transpose(2, 0, 1)
    )


class _Projection(TransformerMixin, BaseEstimator):
    """Coordinates along principal or informed directions, divided by their deviations or not."""

    def __init__(
        self,
        n_components: int = 5,
        n_clusters: int | None = None,
        whiten: bool = False,
        seed: int = 0,
    ) -> None:
        self.n_components = n_components
        self.n_clusters = n_clusters
        self.whiten = whiten
        self.seed = seed

    def fit(self, X: Array, y: Any = None) -> Self:
        if self.n_clusters is None:
            found = pca_directions(X, self.n_components)
        else:
            labels = cluster_features(X, self.n_clusters, n_init=3, random_state=self.seed)
            found = exact_directions(X, labels, self.n_components)
        scale = np.sqrt(found.variances) if self.whiten else 1.0
        self.factor_ = found.directions / scale
        return self

    def transform(self, X: Array) -> Array:
        return np.asarray(X @ self.factor_)


class _LedoitWolfWhitening(TransformerMixin, BaseEstimator):
    """Coordinates in which the covariance of Ledoit and Wolf is the identity."""

    def fit(self, X: Array, y: Any = None) -> Self:
        self.factor_ = np.linalg.cholesky(LedoitWolf().fit(X).precision_)
        return self

    def transform(self, X: Array) -> Array:
        return np.asarray(X @ self.factor_)


def _searches(seed: int) -> list[GridSearchCV]:
    """Return the five methods, each with the grid from which its settings are chosen."""
    neighbors: dict[str, list[Any]] = {"neighbors__n_neighbors": [1, 3, 5]}
    projection: dict[str, list[Any]] = {
        "metric__n_components": [5, 10, 20],
        "metric__whiten": [False, True],
    }

    def with_metric(metric: Any, grid: dict[str, list[Any]]) -> GridSearchCV:
        steps = [("varies", VarianceThreshold()), ("metric", metric)]
        steps.append(("neighbors", KNeighborsClassifier()))
        return GridSearchCV(Pipeline(steps), grid, cv=N_INNER_FOLDS)

    discriminant = LinearDiscriminantAnalysis(solver="lsqr")
    return [
        with_metric("passthrough", neighbors),
        with_metric(_Projection(), neighbors | projection),
        with_metric(
            _Projection(seed=seed), neighbors | projection | {"metric__n_clusters": [21, 32]}
        ),
        with_metric(_LedoitWolfWhitening(), neighbors),
        GridSearchCV(
            Pipeline([("varies", VarianceThreshold()), ("lda", discriminant)]),
            {"lda__shrinkage": ["auto", 0.5]},
            cv=N_INNER_FOLDS,
        ),
    ]


def _classify(size: int, seed: int) -> list[float]:
    """Accuracy of each method on test samples, which its search has not seen."""
    digits = load_digits()
    split = StratifiedShuffleSplit(1, train_size=size, test_size=N_TEST_DIGITS, random_state=seed)
    train, test = next(split.split(digits.data, digits.target))
    return [
        float(
            search.fit(digits.data[train], digits.target[train]).score(
                digits.data[test], digits.target[test]
            )
        )
        for search in _searches(seed)
    ]


# --- a covariance that predicts -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CovarianceStudy(Result):
    """How well covariances from few samples predict held-out samples.

    Attributes
    ----------
    data_names : tuple of str
        The data sets.
    train_sizes : int array of shape (n_sizes,)
        Number of training samples.
    methods : tuple of str
        Names of the estimates.
    scores : array of shape (n_data, n_sizes, n_methods, n_splits)
        Mean log-likelihood of a held-out sample, divided by the number of features.
    """

    name: ClassVar[str] = "covariance_study"
    data_names: tuple[str, ...]
    train_sizes: NDArray[np.intp]
    methods: tuple[str, ...]
    scores: Array

    @property
    def gains(self) -> Array:
        """Log-likelihood above that of Ledoit and Wolf on the same samples."""
        return np.asarray(self.scores - self.scores[:, :, :1])

    @property
    def table(self) -> Table:
        """Mean gain over Ledoit and Wolf ± standard deviation, by data set and size."""
        return Table(
            ("data", "n", *self.methods[1:]),
            [
                (
                    name,
                    int(size),
                    *(spread(self.gains[k, i, m]) for m in range(1, len(self.methods))),
                )
                for k, name in enumerate(self.data_names)
                for i, size in enumerate(self.train_sizes)
            ],
        )


def covariance_study(
    *,
    data_names: Sequence[str] = ("toy", "NSBCD", "DBCD"),
    train_sizes: Sequence[int] = (30, 60),
    n_splits: int = 10,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> CovarianceStudy:
    """Judge estimates of a covariance by the likelihood of held-out samples.

    The toy problem and cohorts of gene expression (200 genes of largest variance). The numbers of
    directions and clusters are chosen by cross-validation inside the training samples.

    Parameters
    ----------
    data_names : sequence of str
        ``"toy"``, or names that `load_cohort` knows.
    train_sizes : sequence of int
        Numbers of training samples, each at least 20; the rest of the samples is held out.
    n_splits : int
        Number of random splits.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    CovarianceStudy
    """
    sizes = [check_count("train_sizes", size, 20) for size in train_sizes]
    if not sizes or not data_names:
        raise ValueError("data_names and train_sizes must not be empty")
    n_splits = check_count("n_splits", n_splits, 1)
    tables = [_load(name) for name in data_names]
    for name, X in zip(data_names, tables, strict=True):
        if max(sizes) >= len(X) - 1:
            raise ValueError(
                f"train_sizes has {max(sizes)}, and {name} has {len(X)} samples: "
                "leave at least two to hold out"
            )
    drawn = seeds(random_state, n_splits)
    tasks = [(X, size, seed) for X in tables for size in sizes for seed in drawn]
    runs = run_tasks(_held_out_scores, tasks, n_jobs=n_jobs, verbose=verbose, label="splits")
    scores = np.array(runs).reshape(len(tables), len(sizes), n_splits, len(COVARIANCES))
    return CovarianceStudy(
        data_names=tuple(data_names),
        train_sizes=np.array(sizes),
        methods=COVARIANCES,
        scores=scores.transpose(0, 1, 3, 2),
    )


def _load(name: str) -> Array:
    if name == "toy":
        return make_two_types(200, random_state=0).X
    return np.asarray(top_variance(load_cohort(name), 200).X)


def _held_out_scores(X: Array, size: int, seed: int) -> list[float]:
    """Log-likelihood per feature of each estimate on the samples that are not drawn."""
    train, test = train_test_split(X, train_size=size, random_state=seed)
    models = [
        LedoitWolf().fit(train),
        OAS().fit(train),
        _best_spiked(train, (None,), seed),
        _best_spiked(train, CLUSTER_COUNTS, seed),
    ]
    return [float(model.score(test)) / X.shape[1] for model in models]


def _best_spiked(X: Array, counts: Sequence[int | None], seed: int) -> SpikedCovariance:
    """Choose the numbers of directions and clusters by held-out training samples.

    A count of None stands for principal directions, which need no clusters.
    """
    folds = list(KFold(N_INNER_FOLDS, shuffle=True, random_state=seed).split(X))
    most = min(len(fit) for fit, _ in folds) - 2
    best, chosen, chosen_count = -np.inf, 0, counts[0]
    for count in counts:
        labels = [_clusters(X[fit], count, seed) for fit, _ in folds]
        # K directions in K clusters would be nothing but the clusters.
        allowed = [d for d in SPIKES if d <= most and (count is None or d < count)]
        for d in allowed:
            score = np.mean(
                [
                    spiked_covariance(X[fit], d, found).score(X[held_out])
                    for (fit, held_out), found in zip(folds, labels, strict=True)
                ]
            )
            if score > best:
                best, chosen, chosen_count = float(score), d, count
    return spiked_covariance(X, chosen, _clusters(X, chosen_count, seed))


def _clusters(X: Array, count: int | None, seed: int) -> NDArray[np.intp] | None:
    return None if count is None else cluster_features(X, count, n_init=3, random_state=seed)
