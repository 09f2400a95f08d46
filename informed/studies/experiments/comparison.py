"""Is the informed metric of use on these data? It and its rivals, compared without peeking."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedShuffleSplit
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.multiclass import type_of_target

from informed.metrics.stability import coordinate_agreement
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.embeddings import (
    DENSITIES,
    METHODS,
    Setting,
    coordinates,
    log_likelihoods,
)
from informed.studies.experiments.results import Result, Table, spread
from informed.validation import Array, check_choice, check_count, check_matrix

__all__ = ["Comparison", "compare"]

Task = Literal["auto", "classes", "numbers"]
NEIGHBOR_COUNTS = (1, 3, 5)
N_INNER_FOLDS = 3
TEST_SHARE = 0.25
MIN_SAMPLES = 16
MIN_OF_CLASS = 4
MEASURES = {
    "classes": "accuracy of nearest neighbours",
    "numbers": "R² of nearest neighbours",
    "none": "held-out log-likelihood per feature",
}


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """How methods did on samples that none of them had seen, split by split.

    Attributes
    ----------
    task : str
        ``"classes"``, ``"numbers"`` or, without a target, ``"none"``.
    methods : tuple of str
        Names of the methods.
    scores : array of shape (n_methods, n_splits)
        Accuracy, R² or held-out log-likelihood per feature: more is better.
    stability : array of shape (n_methods, n_splits)
        Agreement of the distances of test samples, learnt from two halves of the training samples:
        the RV coefficient, from 0 to 1. Euclidean distances learn nothing and have 1.
    settings : tuple of str
        What each method chose most often.
    n_samples, n_features, n_train : int
        Shape of the data, and number of training samples of a split.
    """

    name: ClassVar[str] = "comparison"
    task: str
    methods: tuple[str, ...]
    scores: Array
    stability: Array
    settings: tuple[str, ...]
    n_samples: int
    n_features: int
    n_train: int

    @property
    def measure(self) -> str:
        """What the scores are."""
        return MEASURES[self.task]

    def differences(self, method: str, other: str = "euclidean") -> Array:
        """Score of a method above that of another on the same split.

        Parameters
        ----------
        method, other : str
            Two of `methods`.

        Returns
        -------
        array of shape (n_splits,)
        """
        first, second = (
            self.methods.index(check_choice(name, value, self.methods))
            for name, value in (("method", method), ("other", other))
        )
        difference: Array = self.scores[first] - self.scores[second]
        return difference

    def standard_error(self, method: str, other: str = "euclidean") -> float:
        r"""Return the standard error of the mean difference, as Nadeau and Bengio correct it.

        The splits share samples, so the plain one is too small: the variance over *J* splits is
        multiplied by :math:`1/J + n_\text{test}/n_\text{train}`.

        Parameters
        ----------
        method, other : str
            Two of `methods`.

        Returns
        -------
        float
        """
        differences = self.differences(method, other)
        overlap = (self.n_samples - self.n_train) / self.n_train
        variance = float(differences.var(ddof=1)) * (1 / len(differences) + overlap)
        return float(np.sqrt(variance))

    @property
    def table(self) -> Table:
        """Mean ± standard deviation, difference to Euclidean ± its standard error, stability."""
        rows = []
        for m, method in enumerate(self.methods):
            difference = "–"
            if method != "euclidean":
                mean = self.differences(method).mean()
                difference = f"{mean:+.3f} ± {self.standard_error(method):.3f}"
            stable = self.stability[m][np.isfinite(self.stability[m])]
            rows.append(
                (
                    method,
                    spread(self.scores[m]),
                    difference,
                    f"{stable.mean():.2f}" if len(stable) else "–",
                    self.settings[m],
                )
            )
        return Table(
            ("method", "score ± sd", "above Euclidean ± se", "stability", "chosen most often"), rows
        )

    def __str__(self) -> str:
        head = (
            f"{self.measure}, {self.scores.shape[1]} splits of {self.n_samples} samples "
            f"({self.n_train} to train), {self.n_features} features"
        )
        return f"{head}\n{self.table}"

    def plot(self) -> Any:
        """Draw the scores, a dot per split, and the differences to Euclidean.

        Returns
        -------
        matplotlib.figure.Figure
        """
        # Figures know results and not the reverse; so this one is looked up when it is wanted.
        return importlib.import_module("informed.plots").comparison(self)


def compare(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    task: Task = "auto",
    methods: Sequence[str] | None = None,
    n_splits: int = 10,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Comparison:
    """Compare the informed metric with its rivals on your data, without peeking.

    The rivals: the Euclidean distance; PCA, plain, whitened, and with shrunk variances; the means
    of scikit-learn's ``FeatureAgglomeration``, with and without PCA; the covariance of Ledoit and
    Wolf. A quarter of the samples is held out, many times. All that a method chooses (directions,
    clusters, neighbours) it chooses by cross-validation inside the other samples.

    With a target the methods are judged by nearest neighbours. Without one they are judged by the
    likelihood that they give to held-out samples, where they have a density. In both cases the
    table also says how far two halves of the training samples agree.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Samples, at least 16.
    y : array of shape (n_samples,) or None
        Classes or numbers to predict.
    task : {"auto", "classes", "numbers"}
        What ``y`` holds; by default numbers if some are not whole.
    methods : sequence of str or None
        Which methods, by name; None means all.
    n_splits : int
        Number of random splits, at least two.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    Comparison
        Prints as a table; ``plot()`` draws it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> result = compare(X[::2], y[::2], methods=["euclidean", "pca", "informed"], n_splits=2)
    >>> result.measure, result.scores.shape
    ('accuracy of nearest neighbours', (3, 2))
    """
    samples = check_matrix(X, min_samples=MIN_SAMPLES)
    n_splits = check_count("n_splits", n_splits, 2)
    kind, target = _check_target(y, task, len(samples))
    known = DENSITIES if kind == "none" else METHODS
    wanted = _check_methods(methods, known)
    if not (samples.max(axis=0) > samples.min(axis=0)).any():
        raise ValueError("X is constant: there is nothing to compare")
    splitter = (StratifiedShuffleSplit if kind == "classes" else ShuffleSplit)(
        n_splits, test_size=TEST_SHARE, random_state=seeds(random_state, 1)[0]
    )
    splits = list(splitter.split(samples, target))
    tasks = [
        (train, test, seed)
        for (train, test), seed in zip(splits, seeds(random_state, n_splits), strict=True)
    ]
    runs = run_tasks(
        _judge,
        tasks,
        n_jobs=n_jobs,
        verbose=verbose,
        label="splits",
        shared=(samples, target, kind, wanted),
    )
    scores, stability, chosen = (np.array([run[part] for run in runs]) for part in range(3))
    return Comparison(
        task=kind,
        methods=wanted,
        scores=scores.T,
        stability=stability.T,
        settings=tuple(Counter(column).most_common(1)[0][0] for column in chosen.T),
        n_samples=len(samples),
        n_features=samples.shape[1],
        n_train=len(splits[0][0]),
    )


def _check_methods(methods: Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    if methods is None:
        return known
    if isinstance(methods, str):
        raise TypeError(f"methods must be a list of names, got {methods!r}")
    wanted = [check_choice("methods", name, known) for name in methods]
    # Differences are taken to it.
    return tuple(dict.fromkeys(["euclidean", *wanted]))


def _check_target(y: ArrayLike | None, task: object, n_samples: int) -> tuple[str, Any]:
    wanted = check_choice("task", task, get_args(Task))
    if y is None:
        return "none", None
    target = np.asarray(y)
    if target.shape != (n_samples,):
        raise ValueError(
            f"y has shape {target.shape}: it must hold one value for each of the {n_samples} "
            "samples"
        )
    if target.dtype.kind not in "biufUSO":
        raise TypeError(f"y must hold classes or numbers, got an array of dtype {target.dtype}")
    if target.dtype.kind == "O" and any(not isinstance(value, str) for value in target):
        raise TypeError("y must hold names or numbers, not both, and no gaps")
    if target.dtype.kind == "f" and not np.isfinite(target).all():
        raise ValueError("y contains NaN or infinity: leave these samples out")
    kind = wanted
    if wanted == "auto":
        kind = "numbers" if type_of_target(target) == "continuous" else "classes"
    if kind == "numbers":
        if target.dtype.kind not in "biuf":
            raise TypeError("y holds names, and task='numbers': give numbers")
        if np.ptp(target.astype(float)) == 0:
            raise ValueError("y is constant: there is nothing to predict")
        return kind, target.astype(float)
    names, target, counts = np.unique(target, return_inverse=True, return_counts=True)
    if len(names) < 2:
        raise ValueError(f"y holds one class only, {names[0]!r}: there is nothing to predict")
    if counts.min() < MIN_OF_CLASS:
        raise ValueError(
            f"class {str(names[counts.argmin()])!r} of y has {counts.min()} samples: each class "
            f"must have at least {MIN_OF_CLASS}; leave rare ones out, or say task='numbers'"
        )
    return kind, target


def _judge(
    X: Array,
    target: Any,
    kind: str,
    methods: Sequence[str],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    seed: int,
) -> tuple[list[float], list[float], list[str]]:
    """Score of each method on the test samples, its stability there, and what it chose."""
    # A feature that does not vary in the training samples has no density.
    varies = X[train].max(axis=0) > X[train].min(axis=0)
    samples = X[:, varies]
    tries = _tries(samples, target, kind, seed)
    folds = list(KFold(N_INNER_FOLDS, shuffle=True, random_state=seed).split(train))
    scores, stability, settings = [], [], []
    for method in methods:
        totals: dict[Any, list[float]] = {}
        for fit, held_out in folds:
            for setting, score in tries(method, train[fit], train[held_out]):
                totals.setdefault(setting, []).append(score)
        # Folds may differ in what they allow; what was not possible in each is not chosen.
        means = {key: np.mean(own) for key, own in totals.items() if len(own) == N_INNER_FOLDS}
        best = max(means, key=lambda key: means[key])
        outer = dict(tries(method, train, test))
        scores.append(outer.get(best, -np.inf))
        own, text = best if kind != "none" else (best, "")
        stability.append(_stability(samples, method, own, train, test, seed))
        settings.append(f"{own}{f', k = {text}' if text else ''}".removeprefix("–, "))
    return scores, stability, settings


def _tries(
    X: Array, target: Any, kind: str, seed: int
) -> Callable[[str, NDArray[np.intp], NDArray[np.intp]], Iterator[tuple[Any, float]]]:
    """Return a function that yields settings of a method with their score on other samples."""

    def densities(
        method: str, fit: NDArray[np.intp], other: NDArray[np.intp]
    ) -> Iterator[tuple[Any, float]]:
        varies = X[fit].max(axis=0) > X[fit].min(axis=0)
        for setting, score in log_likelihoods(method, X[fit][:, varies], X[other][:, varies], seed):
            yield setting, score / varies.sum()

    def neighbors(
        method: str, fit: NDArray[np.intp], other: NDArray[np.intp]
    ) -> Iterator[tuple[Any, float]]:
        for setting, known, new in coordinates(method, X[fit], X[other], seed):
            nearest = NearestNeighbors(n_neighbors=max(NEIGHBOR_COUNTS)).fit(known)
            found = target[fit][nearest.kneighbors(new, return_distance=False)]
            for k in NEIGHBOR_COUNTS:
                yield (setting, k), _score(found[:, :k], target[other], kind)

    return densities if kind == "none" else neighbors


def _score(found: Array, truth: Array, kind: str) -> float:
    if kind == "numbers":
        return float(r2_score(truth, found.mean(axis=1)))
    votes = (found[:, :, None] == np.arange(truth.max() + 1 if len(truth) else 1)).sum(axis=1)
    return float(np.mean(votes.argmax(axis=1) == truth))


def _stability(
    X: Array,
    method: str,
    setting: Setting,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    seed: int,
) -> float:
    """Agreement on the test samples of what two halves of the training samples say."""
    if method == "euclidean":
        return 1.0
    halves = np.array_split(np.random.RandomState(seed).permutation(train), 2)
    views = []
    for half in halves:
        found = (
            new for own, _, new in coordinates(method, X[half], X[test], seed) if own == setting
        )
        views.append(next(found, None))
    first, second = views
    if first is None or second is None:
        return float("nan")
    return coordinate_agreement(first, second)
