"""Other uses of informed directions: nearest neighbours, and a covariance that predicts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.cluster import FeatureAgglomeration
from sklearn.covariance import OAS, LedoitWolf
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    train_test_split,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from informed.clusters import cluster_features
from informed.clusters.clusterers import profiles_of, ward_labels
from informed.datasets import load_cohort, make_two_types, top_variance
from informed.directions import exact_directions, pca_directions
from informed.metrics import SpikedCovariance, spiked_covariance
from informed.parallel import run_tasks, seeds
from informed.spiked import shrunk_variances
from informed.studies.experiments.results import Result, Table, spread
from informed.validation import Array, check_choice, check_count, check_some

__all__ = [
    "ClassificationStudy",
    "CovarianceStudy",
    "classification_study",
    "covariance_study",
]

RIVALS = ("pca", "shrunk pca", "agglomeration", "agglomeration + pca")
CLASSIFIERS = ("euclidean", *RIVALS, "informed", "ledoit-wolf", "lda")
COVARIANCES = ("ledoit-wolf", "oas", *RIVALS, "informed")
N_INNER_FOLDS = 3
N_TEST_DIGITS = 500
DIRECTION_COUNTS = (5, 10, 20)
# Each number is larger than the most directions: fewer would leave only the clusters.
PIXEL_CLUSTERS = (21, 32)
NEIGHBOR_COUNTS = (1, 3, 5)
Sample = tuple[Array, NDArray[Any]]
# Numbers of directions and clusters from which held-out training samples choose.
SPIKES = (1, 2, 3, 5, 8, 12, 18)
CLUSTER_COUNTS = (10, 20, 40)
CLUSTERED = ("agglomeration", "agglomeration + pca", "informed")


# ------------------------------------------------------------------------------- nearest neighbours


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
    """Classify handwritten digits by nearest neighbours under several metrics.

    Euclidean; PCA, plain or whitened, and with shrunk variances; the means of scikit-learn's
    ``FeatureAgglomeration``, with and without PCA; informed directions; the covariance of Ledoit
    and Wolf; and linear discriminant analysis, which is no neighbour method. Neighbouring pixels
    move together, so pixels form clusters. All settings of a method (number of neighbours,
    directions and clusters, whether to divide by standard deviations) are chosen by
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
    check_some("train_sizes", sizes, "number of samples")
    n_splits = check_count("n_splits", n_splits, 1)
    drawn = seeds(random_state, n_splits)
    tasks = [(size, seed) for size in sizes for seed in drawn]
    runs = run_tasks(_classify, tasks, n_jobs=n_jobs, verbose=verbose, label="splits")
    accuracy = np.array(runs).reshape(len(sizes), n_splits, len(CLASSIFIERS))
    return ClassificationStudy(
        train_sizes=np.array(sizes), methods=CLASSIFIERS, accuracy=accuracy.transpose(2, 0, 1)
    )


def _expected_variances(X: Array, variances: Array) -> Array:
    """Variances to expect of new samples along principal directions, from those of the samples."""
    n_samples, p = X.shape
    total = float(X.var(axis=0, ddof=1).sum())
    return shrunk_variances(variances, total, p, p, n_samples)


def _factors(method: str, X: Array, seed: int) -> Iterator[Array]:
    """Yield, for each setting of a method, a matrix that maps samples to coordinates."""
    if method == "euclidean":
        yield np.eye(X.shape[1])
    elif method == "ledoit-wolf":
        yield np.linalg.cholesky(LedoitWolf().fit(X).precision_)
    elif method in ("pca", "shrunk pca"):
        found = pca_directions(X, max(DIRECTION_COUNTS))
        for d in DIRECTION_COUNTS:
            U, variances = found.directions[:, :d], found.variances[:d]
            if method == "pca":
                yield U
                yield U / np.sqrt(variances)
            else:
                yield U / np.sqrt(_expected_variances(X, variances))
    else:
        for n_clusters in PIXEL_CLUSTERS:
            yield from _clustered_factors(method, X, n_clusters, seed)


def _clustered_factors(method: str, X: Array, n_clusters: int, seed: int) -> Iterator[Array]:
    """Yield the matrices of a method that uses clusters, for one number of them."""
    if method == "informed":
        labels = cluster_features(X, n_clusters, n_init=3, random_state=seed)
        found = exact_directions(X, labels, max(DIRECTION_COUNTS))
        U, variances = found.directions, found.variances
    else:
        labels = FeatureAgglomeration(n_clusters).fit(X).labels_
        U = (labels[:, None] == np.arange(n_clusters)) / np.bincount(labels)
        if method == "agglomeration":
            yield U
            return
        model = PCA(max(DIRECTION_COUNTS), svd_solver="full").fit(X @ U)
        U, variances = U @ model.components_.T, model.explained_variance_
    for d in DIRECTION_COUNTS:
        yield U[:, :d]
        yield U[:, :d] / np.sqrt(variances[:d])


def _classify(size: int, seed: int) -> list[float]:
    """Accuracy of each method on test samples, which its choice has not seen."""
    X, y = load_digits(return_X_y=True)
    split = StratifiedShuffleSplit(1, train_size=size, test_size=N_TEST_DIGITS, random_state=seed)
    train, test = next(split.split(X, y))
    seen, new = (X[train], y[train]), (X[test], y[test])
    accuracies = []
    for method in CLASSIFIERS:
        if method == "lda":
            accuracies.append(_discriminant(seen).score(*new))
        else:
            setting, k = _choose(method, seen, seed)
            accuracies.append(_accuracies(method, seen, new, seed, {setting}, (k,))[setting][0])
    return [float(accuracy) for accuracy in accuracies]


def _choose(method: str, seen: Sample, seed: int) -> tuple[int, int]:
    """Choose a setting and a number of neighbours by cross-validation; the first of the best."""
    X, y = seen
    totals: Array | float = 0.0
    for fit, held_out in StratifiedKFold(N_INNER_FOLDS).split(X, y):
        found = _accuracies(method, (X[fit], y[fit]), (X[held_out], y[held_out]), seed)
        totals = totals + np.array(list(found.values()))
    setting, k = np.unravel_index(int(np.argmax(totals)), np.shape(totals))
    return int(setting), NEIGHBOR_COUNTS[k]


def _accuracies(
    method: str,
    seen: Sample,
    new: Sample,
    seed: int,
    settings: Collection[int] | None = None,
    counts: Sequence[int] = NEIGHBOR_COUNTS,
) -> dict[int, list[float]]:
    """Accuracy on new samples for each setting, or for some, and each number of neighbours."""
    # A pixel that never changes has no place in a covariance.
    varies = seen[0].max(axis=0) > seen[0].min(axis=0)
    known, asked = seen[0][:, varies], new[0][:, varies]
    found = {}
    for setting, factor in enumerate(_factors(method, known, seed)):
        if settings is None or setting in settings:
            near, far = known @ factor, asked @ factor
            found[setting] = [
                float(KNeighborsClassifier(k).fit(near, seen[1]).score(far, new[1])) for k in counts
            ]
    return found


def _discriminant(seen: Sample) -> GridSearchCV:
    """Linear discriminant analysis, its shrinkage chosen by cross-validation."""
    steps = [
        ("varies", VarianceThreshold()),
        ("lda", LinearDiscriminantAnalysis(solver="lsqr")),
    ]
    grid = {"lda__shrinkage": ["auto", 0.5]}
    return GridSearchCV(Pipeline(steps), grid, cv=N_INNER_FOLDS).fit(*seen)


# ----------------------------------------------------------------------- a covariance that predicts


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

    The toy problem and cohorts of gene expression (200 genes of largest variance). The shrinkage of
    Ledoit and Wolf, and that of OAS; a few directions over an even floor, by PCA as it comes, by
    PCA with shrunk variances, by PCA of agglomerated features, and informed; agglomerated features
    alone keep a direction for each cluster. The numbers of directions and clusters are chosen by
    cross-validation inside the training samples.

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
    models = [LedoitWolf().fit(train), OAS().fit(train)]
    models += [_best_spiked(train, method, seed) for method in COVARIANCES[2:]]
    return [float(model.score(test)) / X.shape[1] for model in models]


def _best_spiked(X: Array, method: str, seed: int) -> SpikedCovariance:
    """Choose the numbers of directions and clusters by held-out training samples."""
    folds = list(KFold(N_INNER_FOLDS, shuffle=True, random_state=seed).split(X))
    most = min(len(fit) for fit, _ in folds) - 2
    best, chosen, chosen_count = -np.inf, 0, None
    for count in CLUSTER_COUNTS if method in CLUSTERED else (None,):
        labels = [_clusters(X[fit], count, method, seed) for fit, _ in folds]
        for d in _direction_counts(method, count, most):
            score = np.mean(
                [
                    _spiked(X[fit], d, found, method).score(X[held_out])
                    for (fit, held_out), found in zip(folds, labels, strict=True)
                ]
            )
            if score > best:
                best, chosen, chosen_count = float(score), d, count
    return _spiked(X, chosen, _clusters(X, chosen_count, method, seed), method)


def _direction_counts(method: str, n_clusters: int | None, most: int) -> list[int]:
    """Numbers of directions to choose from, up to what the samples allow."""
    if method == "agglomeration":
        return [] if n_clusters is None or n_clusters > most else [n_clusters]
    # K directions in K clusters would be nothing but the clusters.
    return [d for d in SPIKES if d <= most and (n_clusters is None or d < n_clusters)]


def _spiked(
    X: Array, n_components: int, labels: NDArray[np.intp] | None, method: str
) -> SpikedCovariance:
    model = spiked_covariance(X, n_components, labels)
    if method != "shrunk pca":
        return model
    variances = _expected_variances(X, model.variances)
    # What is taken off along the directions was noise, and goes back to the floor.
    freed = float((model.variances - variances).sum())
    return replace(
        model, variances=variances, noise=model.noise + freed / (X.shape[1] - n_components)
    )


def _clusters(X: Array, count: int | None, method: str, seed: int) -> NDArray[np.intp] | None:
    if count is None:
        return None
    if method == "informed":
        return cluster_features(X, count, n_init=3, random_state=seed)
    # What FeatureAgglomeration does: Ward's tree of the features as they are.
    return ward_labels(profiles_of(X, "as-is"), [count])[0]
