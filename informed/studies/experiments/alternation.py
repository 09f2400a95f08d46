"""Beyond the paper: two clusterings that inform each other, against those that do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.cluster import KMeans, SpectralBiclustering, SpectralCoclustering
from sklearn.metrics import adjusted_rand_score

from informed.alternating import AlternatingInformedClustering
from informed.centering import center
from informed.datasets import BLOCK_FAMILIES, make_block_data
from informed.directions import pca_directions
from informed.metrics import InformedMahalanobis
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.biclusterers import (
    Start,
    double_k_means,
    latent_block_model,
    pca_start,
    random_start,
)
from informed.studies.experiments.results import Result, Table, spread
from informed.validation import Array, check_choice, check_count, check_number, check_some

__all__ = ["AlternationStudy", "alternation_study"]

Labels = NDArray[np.intp]
Numbers = tuple[int, int]

# Rounds after which the alternation without an objective is stopped if it has not repeated itself.
MAX_ROUNDS = 20
COMPARED = ("k-means", "pca", "coclustering", "biclustering", "whitened", "alternating")


@dataclass(frozen=True, eq=False)
class AlternationStudy(Result):
    """Agreement with the truth, on both sides, of several ways to cluster rows and columns.

    Attributes
    ----------
    families : tuple of str
        Kinds of data.
    signals : array of shape (n_signals,)
        Strength of the signal; the noise has variance one.
    methods : tuple of str
        Ways to cluster.
    rows : array of shape (n_families, n_signals, n_methods, n_repeats)
        Adjusted Rand index of the clusters of samples; NaN where there are none to find.
    columns : array of shape (n_families, n_signals, n_methods, n_repeats)
        The same for the clusters of features.
    rounds : int array of shape (n_families, n_signals, n_repeats)
        Rounds that "alternating" took.
    cycled : bool array of shape (n_families, n_signals, n_repeats)
        Whether "whitened" came back to labels that it had left.
    """

    name: ClassVar[str] = "alternation_study"
    families: tuple[str, ...]
    signals: Array
    methods: tuple[str, ...]
    rows: Array
    columns: Array
    rounds: NDArray[np.intp]
    cycled: NDArray[np.bool_]

    def scores(self, family: str, method: str) -> tuple[Array, Array]:
        """Return the indices of samples and of features, each of shape (n_signals, n_repeats)."""
        i = self.families.index(check_choice("family", family, self.families))
        j = self.methods.index(check_choice("method", method, self.methods))
        return self.rows[i, :, j], self.columns[i, :, j]

    @property
    def table(self) -> Table:
        """Mean ± standard deviation, samples above, features below."""
        lines: list[tuple[object, ...]] = []
        for i, family in enumerate(self.families):
            for j, signal in enumerate(self.signals):
                for side, scores in (("samples", self.rows), ("features", self.columns)):
                    cells = [
                        "none" if np.isnan(one).any() else spread(one, 2) for one in scores[i, j]
                    ]
                    lines.append((family, float(signal), side, *cells))
        return Table(("data", "signal", "side", *self.methods), lines)


def alternation_study(
    *,
    families: Sequence[str] = BLOCK_FAMILIES,
    signals: Sequence[float] = (1.0, 0.8, 0.6, 0.5, 0.4, 0.35, 0.3, 0.25),
    n_clusters: int = 4,
    n_repeats: int = 20,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> AlternationStudy:
    r"""Cluster samples and features: each by itself, together, or in turn.

    - ``"k-means"``: samples and features by themselves, features centred.
    - ``"pca"``: the same along the leading n_clusters − 1 principal components.
    - ``"coclustering"``, ``"biclustering"``: ``SpectralCoclustering`` and ``SpectralBiclustering``
      of scikit-learn, as they come.
    - ``"whitened"``: the paper's Mahalanobis distance on rows and columns in turn, until labels
      come back. It has no objective.
    - ``"alternating"``: :class:`informed.AlternatingInformedClustering`.

    Double k-means and the latent block model are compared in
    :func:`informed.experiments.block_study`.

    All are told the number of clusters.

    Parameters
    ----------
    families : sequence of str
        Kinds of data, see :func:`informed.datasets.make_block_data`.
    signals : sequence of float
        Strengths of the signal.
    n_clusters : int
        Number of clusters on either side.
    n_repeats : int
        Number of data sets of each kind and strength.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    AlternationStudy
    """
    chosen = [check_choice("families", family, BLOCK_FAMILIES) for family in families]
    strengths = [check_number("signals", signal) for signal in signals]
    check_some("families", chosen)
    check_some("signals", strengths)
    n_clusters = check_count("n_clusters", n_clusters, 2, 30)
    n_repeats = check_count("n_repeats", n_repeats, 1)
    # The same seeds for all strengths: only the signal differs along a curve.
    drawn = seeds(random_state, n_repeats)
    tasks = [(f, s, n_clusters, seed) for f in chosen for s in strengths for seed in drawn]
    runs = run_tasks(_compare, tasks, n_jobs=n_jobs, verbose=verbose, label="alternation_study")
    shape = (len(chosen), len(strengths), n_repeats)
    scores = np.array([run[0] for run in runs]).reshape(*shape, len(COMPARED), 2)
    return AlternationStudy(
        families=tuple(chosen),
        signals=np.array(strengths),
        methods=COMPARED,
        rows=scores[..., 0].transpose(0, 1, 3, 2),
        columns=scores[..., 1].transpose(0, 1, 3, 2),
        rounds=np.array([run[1] for run in runs]).reshape(shape),
        cycled=np.array([run[2] for run in runs]).reshape(shape),
    )


def true_numbers(family: str, n_clusters: int) -> Numbers:
    """Return the numbers of clusters of samples and features of a family of tables."""
    unequal = family == "unequal numbers"
    return (n_clusters - 1, n_clusters + 2) if unequal else (n_clusters, n_clusters)


def _compare(
    family: str, signal: float, n_clusters: int, seed: int
) -> tuple[list[tuple[float, float]], int, bool]:
    data = make_block_data(family, signal, n_clusters=n_clusters, random_state=seed)
    numbers = true_numbers(family, n_clusters)
    found = {name: METHODS[name](data.X, numbers, seed) for name in COMPARED}
    scores = [
        (
            np.nan
            if data.row_labels is None
            else float(adjusted_rand_score(data.row_labels, one.rows)),
            float(adjusted_rand_score(data.column_labels, one.columns)),
        )
        for one in found.values()
    ]
    return scores, found["alternating"].rounds, found["whitened"].cycled


# -------------------------------------------------------------------------------------- the methods


@dataclass(frozen=True, eq=False)
class _Found:
    rows: Labels
    columns: Labels
    rounds: int = 1
    cycled: bool = False


def _k_means(X: Array, numbers: Numbers, seed: int) -> _Found:
    centered, _ = center(X)
    return _Found(_labels(centered, numbers[0], seed), _labels(centered.T, numbers[1], seed))


def _k_means_after_pca(X: Array, numbers: Numbers, seed: int) -> _Found:
    centered, _ = center(X)
    of_features = pca_directions(X, min(numbers) - 1).directions
    of_samples, _ = np.linalg.qr(centered @ of_features)
    return _Found(
        _labels(centered @ of_features, numbers[0], seed),
        _labels(centered.T @ of_samples, numbers[1], seed),
    )


def _coclustering(X: Array, numbers: Numbers, seed: int) -> _Found:
    # It knows one number for both sides.
    model = SpectralCoclustering(max(numbers), random_state=seed).fit(X)
    return _Found(model.row_labels_, model.column_labels_)


def _biclustering(X: Array, numbers: Numbers, seed: int) -> _Found:
    model = SpectralBiclustering(numbers, random_state=seed).fit(X)
    return _Found(model.row_labels_, model.column_labels_)


def _whitened(X: Array, numbers: Numbers, seed: int) -> _Found:
    """Apply the Mahalanobis distance to rows and columns in turn, until labels come back."""
    d = min(numbers) - 1

    def labels(points: Array, clusters: Labels, k: int) -> Labels:
        metric = InformedMahalanobis(d, feature_labels=clusters)
        return _labels(metric.fit_transform(points), k, seed)

    columns = _labels(center(X)[0].T, numbers[1], seed)
    seen: list[tuple[bytes, bytes]] = []
    for _ in range(MAX_ROUNDS):
        rows = labels(X, columns, numbers[0])
        columns = labels(X.T, rows, numbers[1])
        state = (rows.tobytes(), columns.tobytes())
        if state in seen:
            # What was left and came back is a cycle; what never moved has settled.
            return _Found(rows, columns, len(seen) + 1, state != seen[-1])
        seen.append(state)
    return _Found(rows, columns, MAX_ROUNDS)


def _alternating(X: Array, numbers: Numbers, seed: int, **options: Any) -> _Found:
    model = AlternatingInformedClustering(*numbers, **options, random_state=seed).fit(X)
    return _Found(model.row_labels_, model.column_labels_, model.n_iter_)


def _double(X: Array, numbers: Numbers, seed: int, *, start: Start) -> _Found:
    found = double_k_means(center(X)[0], *numbers, start=start, random_state=seed)
    return _Found(*found)


def _latent_blocks(X: Array, numbers: Numbers, seed: int) -> _Found:
    return _Found(*latent_block_model(center(X)[0], *numbers, random_state=seed))


METHODS: dict[str, Callable[[Array, Numbers, int], _Found]] = {
    "k-means": _k_means,
    "pca": _k_means_after_pca,
    "coclustering": _coclustering,
    "biclustering": _biclustering,
    "whitened": _whitened,
    "double, random": partial(_double, start=random_start),
    "double, pca": partial(_double, start=pca_start),
    "latent blocks": _latent_blocks,
    "alternating": _alternating,
    "rows centred": partial(_alternating, center_rows=True),
    "tile noise": partial(_alternating, noise="blocks"),
}


def _labels(points: Array, k: int, seed: int) -> Labels:
    found: Any = KMeans(k, n_init=10, random_state=seed).fit_predict(points)
    return np.asarray(found, dtype=np.intp)
