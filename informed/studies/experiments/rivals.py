"""The informed metric and its rivals on real data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from informed.datasets import load_cohort, top_variance
from informed.studies.experiments.comparison import Comparison, compare
from informed.studies.experiments.embeddings import METHODS
from informed.studies.experiments.package_data import (
    PACKAGE_DATA,
    read_package_data,
    without_rare,
)
from informed.studies.experiments.results import Result, Table
from informed.validation import Array, check_choice, check_some

__all__ = ["RivalStudy", "rival_study"]

RIVAL_DATA = ("digits", "wine", "breast cancer", "NSBCD", "DBCD")
N_SAMPLES = 150
N_GENES = 100


@dataclass(frozen=True, eq=False)
class RivalStudy(Result):
    """Comparisons on several data sets; see :class:`Comparison`.

    Attributes
    ----------
    data_names : tuple of str
        The data sets.
    tasks : tuple of str
        ``"classes"``, or ``"none"`` where held-out likelihood decides.
    methods : tuple of str
        Names of the methods.
    scores, stability : arrays of shape (n_data, n_methods, n_splits)
        NaN where a method has no score.
    settings : tuple of str
        What was chosen most often, data set by data set.
    n_samples, n_features, n_train : int arrays of shape (n_data,)
        Shapes.
    """

    name: ClassVar[str] = "rival_study"
    data_names: tuple[str, ...]
    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    scores: Array
    stability: Array
    settings: tuple[str, ...]
    n_samples: NDArray[np.intp]
    n_features: NDArray[np.intp]
    n_train: NDArray[np.intp]

    def comparison(self, name: str) -> Comparison:
        """Return the comparison on one data set.

        Parameters
        ----------
        name : str
            One of `data_names`.

        Returns
        -------
        Comparison
        """
        k = self.data_names.index(check_choice("name", name, self.data_names))
        there = np.isfinite(self.scores[k]).all(axis=1)
        settings = self.settings[k * len(self.methods) : (k + 1) * len(self.methods)]
        return Comparison(
            task=self.tasks[k],
            methods=tuple(np.array(self.methods)[there].tolist()),
            scores=self.scores[k, there],
            stability=self.stability[k, there],
            settings=tuple(np.array(settings)[there].tolist()),
            n_samples=int(self.n_samples[k]),
            n_features=int(self.n_features[k]),
            n_train=int(self.n_train[k]),
        )

    @property
    def table(self) -> Table:
        """Mean score of each method above Euclidean ± corrected standard error, by data set."""
        rows = []
        every = [self.comparison(name) for name in self.data_names]
        for method in self.methods:
            row: list[object] = [method]
            for result in every:
                if method not in result.methods:
                    row.append("–")
                elif method == "euclidean":
                    row.append(f"({result.scores[0].mean():.2f})")
                else:
                    mean, error = result.differences(method).mean(), result.standard_error(method)
                    row.append(f"{mean:+.2f} ± {error:.2f}")
            rows.append(row)
        return Table(("above Euclidean", *self.data_names), rows)


def rival_study(
    *,
    data_names: Sequence[str] = RIVAL_DATA,
    n_splits: int = 5,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> RivalStudy:
    """Compare the informed metric with its rivals on real data.

    Images of digits, chemical analyses of wine and cell nuclei of breast tumours by nearest
    neighbours (at most 150 samples); two cohorts of gene expression (100 genes of largest variance)
    by held-out likelihood. Three more are read from packages where these are installed: ``"Khan"``
    and ``"NCI60"`` from ISLP, ``"PBMC"`` from scanpy; of these, too, 150 samples and the 100
    features of largest variance, by nearest neighbours.

    Parameters
    ----------
    data_names : sequence of str
        Some of the five, or of the three.
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
    RivalStudy
    """
    known = (*RIVAL_DATA, *PACKAGE_DATA)
    names = [check_choice("data_names", name, known) for name in data_names]
    check_some("data_names", names, "data set")
    found = [
        compare(
            *_load(name),
            n_splits=n_splits,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        for name in names
    ]
    scores = np.full((2, len(names), len(METHODS), n_splits), np.nan)
    settings = []
    for k, result in enumerate(found):
        places = [METHODS.index(method) for method in result.methods]
        scores[0, k, places], scores[1, k, places] = result.scores, result.stability
        told = dict(zip(result.methods, result.settings, strict=True))
        settings += [told.get(method, "–") for method in METHODS]
    return RivalStudy(
        data_names=tuple(names),
        tasks=tuple(result.task for result in found),
        methods=METHODS,
        scores=scores[0],
        stability=scores[1],
        settings=tuple(settings),
        n_samples=np.array([result.n_samples for result in found]),
        n_features=np.array([result.n_features for result in found]),
        n_train=np.array([result.n_train for result in found]),
    )


def _load(name: str) -> tuple[Array, Any]:
    """Return at most 150 samples, and their classes if there are any."""
    if name in PACKAGE_DATA:
        X, y = read_package_data(name)
        some = np.random.default_rng(0).permutation(len(X))[:N_SAMPLES]
        X, y = without_rare(X[some], y[some])
        largest = np.argsort(-X.var(axis=0), kind="stable")[:N_GENES]
        return X[:, np.sort(largest)], y
    loaders = {"digits": load_digits, "wine": load_wine, "breast cancer": load_breast_cancer}
    if name not in loaders:
        return np.asarray(top_variance(load_cohort(name), N_GENES).X), None
    X, y = loaders[name](return_X_y=True)
    if name != "digits":
        X = StandardScaler().fit_transform(X)
    some = np.random.default_rng(0).permutation(len(X))[:N_SAMPLES]
    return X[some], y[some]
