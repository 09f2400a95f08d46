"""Is the automatic choice good enough to be the default? Ten data sets, every fixed choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from informed.clusters import cluster_features
from informed.datasets import load_cohort, make_hidden_square, make_two_types, top_variance
from informed.directions.registry import VARIANCES
from informed.metrics import InformedMahalanobis
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.results import Result, Table
from informed.validation import Array, check_choice, check_count, check_some

__all__ = ["ChoiceStudy", "choice_study"]

CHOICE_DATA = (
    "toy",
    "square, noise 1",
    "square, noise 2",
    "no clusters",
    "digits",
    "wine",
    "breast cancer",
    "iris",
    "NSBCD",
    "DBCD",
)
# What is given as such; "auto" leaves all of it open.
CHOSEN = ("default", "pca", "auto")
N_TRAIN = 60
N_NEIGHBORS = 5
_DIRECTION_COUNTS = (1, 2, 3, 5, 10, 20)
_CLUSTER_COUNTS = (10, 20, 40)


@dataclass(frozen=True, eq=False)
class ChoiceStudy(Result):
    """What fixed choices and the automatic one give on samples held out.

    Attributes
    ----------
    data_names : tuple of str
        The data sets.
    methods : tuple of str
        ``"default"``, ``"pca"`` (the number of directions chosen), ``"auto"`` (everything chosen),
        then the fixed choices: directions, clustering, rule for the number of clusters, variances.
    likelihood : array of shape (n_data, n_methods, n_splits)
        Log-likelihood of a held-out sample, per feature; NaN where a choice is not possible.
    accuracy : array of shape (n_data, n_methods, n_splits)
        Accuracy of five nearest neighbours; NaN where there are no classes.
    """

    name: ClassVar[str] = "choice_study"
    data_names: tuple[str, ...]
    methods: tuple[str, ...]
    likelihood: Array
    accuracy: Array

    def fixed(self, containing: str = "") -> list[int]:
        """Return the places of fixed choices whose name holds some words."""
        return [
            m
            for m, method in enumerate(self.methods)
            if m >= len(CHOSEN) and containing in f"{method},"
        ]

    def best(self, scores: Array, containing: str = "") -> Array:
        """Mean score of the fixed choice that turned out best, for each data set.

        Nobody could have known it: it is chosen on the samples that it is judged by.
        """
        means: Array = scores[:, self.fixed(containing)].mean(axis=2)
        return np.asarray(np.where(np.isnan(means), -np.inf, means).max(axis=1))

    @property
    def table(self) -> Table:
        """Automatic choice over the best fixed one and over PCA, and the defaults over the best.

        First in density, then in accuracy, with the accuracy of the best.
        """
        rows = []
        density, accuracy = (scores.mean(axis=2) for scores in (self.likelihood, self.accuracy))
        best_density, best_accuracy = self.best(self.likelihood), self.best(self.accuracy)
        for k, name in enumerate(self.data_names):
            row: list[object] = [name]
            row += [f"{np.exp(density[k, 2] - best_density[k]):.3f}"]
            row += [f"{np.exp(density[k, 2] - density[k, 1]):.3f}"]
            row += [f"{np.exp(density[k, 0] - best_density[k]):.3f}"]
            if np.isnan(accuracy[k, 2]):
                row += ["–"] * 4
            else:
                row += [f"{accuracy[k, 2] / best_accuracy[k]:.3f}"]
                row += [f"{accuracy[k, 2] / accuracy[k, 1]:.3f}"]
                row += [f"{accuracy[k, 0] / best_accuracy[k]:.3f}"]
                row += [f"{best_accuracy[k]:.3f}"]
            rows.append(row)
        header = ["data", "density", "to PCA", "defaults"]
        header += ["accuracy", "to PCA ", "defaults ", "best"]
        return Table(header, rows)

    @property
    def cluster_table(self) -> Table:
        """The best that each rule for the number of clusters gives, over the best of all rules."""
        rules = ("K = d + 1", *(f"K = {K}" for K in _CLUSTER_COUNTS))
        rows = []
        for k, name in enumerate(self.data_names):
            found = np.array([self.best(self.likelihood, f"{rule},")[k] for rule in rules])
            hits = np.array([self.best(self.accuracy, f"{rule},")[k] for rule in rules])
            ratios = np.exp(found - found.max())
            shown = [f"{value:.3f}" if value > 0 else "–" for value in ratios]
            shown += [f"{hit:.3f}" if np.isfinite(hit) else "–" for hit in hits]
            rows.append([name, *shown])
        return Table(("data", *rules, *(f"{rule} " for rule in rules)), rows)


def choice_study(
    *,
    data_names: Sequence[str] = CHOICE_DATA,
    n_splits: int = 2,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> ChoiceStudy:
    """Compare the automatic choice with every fixed one on samples held out.

    Sixty training samples each. Judged by the likelihood of the other samples and, where there are
    classes, by the accuracy of five nearest neighbours.

    Parameters
    ----------
    data_names : sequence of str
        Some of the ten data sets.
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
    ChoiceStudy
    """
    names = [check_choice("data_names", name, CHOICE_DATA) for name in data_names]
    check_some("data_names", names, "data set")
    n_splits = check_count("n_splits", n_splits, 1)
    drawn = seeds(random_state, n_splits)
    tasks = [(name, seed) for name in names for seed in drawn]
    runs = run_tasks(_judge, tasks, n_jobs=n_jobs, verbose=verbose, label="splits")
    methods = tuple(runs[0])
    scores = np.array([[run[method] for method in methods] for run in runs])
    scores = scores.reshape(len(names), n_splits, len(methods), 2).transpose(3, 0, 2, 1)
    return ChoiceStudy(
        data_names=tuple(names), methods=methods, likelihood=scores[0], accuracy=scores[1]
    )


def _load(name: str) -> tuple[Array, Any]:
    """Return samples, and classes if there are any."""
    tables = {"wine": load_wine, "breast cancer": load_breast_cancer, "iris": load_iris}
    if name in tables:
        X, y = tables[name](return_X_y=True)
        return StandardScaler().fit_transform(X), y
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        # Pixels that are nearly always empty would be constant in some training sets.
        return X[:, (X > 0).mean(axis=0) > 0.2], y
    if name == "toy":
        toy = make_two_types(360, random_state=0)
        return toy.X[:, ::6], toy.types
    if name.startswith("square"):
        square = make_hidden_square(360, 150, noise=float(name[-1]), random_state=0)
        return square.X, square.hidden[:, 0] > 0.5
    if name == "no clusters":
        rng = np.random.default_rng(0)
        factors = rng.normal(size=(360, 5))
        return factors @ rng.normal(size=(5, 100)) + 2 * rng.normal(size=(360, 100)), (
            factors[:, 0] > 0
        )
    return np.asarray(top_variance(load_cohort(name), 100).X), None


def _judge(name: str, seed: int) -> dict[str, tuple[float, float]]:
    """Held-out likelihood per feature and accuracy of each choice on one split."""
    X, y = _load(name)
    train, test = train_test_split(
        np.arange(len(X)), train_size=N_TRAIN, random_state=seed, stratify=y
    )

    def judged(metric: InformedMahalanobis) -> tuple[float, float]:
        metric.fit(X[train])
        density = metric.score(X[test]) / X.shape[1]
        if y is None:
            return density, np.nan
        nearest = KNeighborsClassifier(N_NEIGHBORS).fit(metric.transform(X[train]), y[train])
        return density, float(nearest.score(metric.transform(X[test]), y[test]))

    auto: dict[str, Any] = {name: "auto" for name in ("clustering", "profiles", "directions")}
    found = {
        "default": judged(InformedMahalanobis(random_state=seed)),
        "pca": judged(InformedMahalanobis("auto", directions="pca", variances="own")),
        "auto": judged(
            InformedMahalanobis("auto", "auto", variances="auto", random_state=seed, **auto)
        ),
    }
    p = X.shape[1]
    for d in _DIRECTION_COUNTS:
        for kind in ("own", "shrunk"):
            possible = d < p
            found[f"pca, d = {d}, {kind}"] = (
                judged(InformedMahalanobis(d, directions="pca", variances=kind))
                if possible
                else (np.nan, np.nan)
            )
    clusterings: dict[tuple[str, int], Any] = {}
    for d in _DIRECTION_COUNTS:
        rules = {"K = d + 1": d + 1, **{f"K = {K}": K for K in _CLUSTER_COUNTS}}
        for rule, K in rules.items():
            for clustering in ("kmeans", "ward"):
                for kind in VARIANCES:
                    key = f"exact, d = {d}, {rule}, {clustering}, {kind}"
                    if not d < K <= p or d >= p:
                        found[key] = np.nan, np.nan
                        continue
                    if (clustering, K) not in clusterings:
                        clusterings[clustering, K] = cluster_features(
                            X[train], K, clustering=clustering, random_state=seed
                        )
                    labels = clusterings[clustering, K]
                    found[key] = judged(
                        InformedMahalanobis(d, variances=kind, feature_labels=labels)
                    )
    return found
