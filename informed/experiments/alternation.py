"""Beyond the paper: two clusterings that inform each other, against those that do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.cluster import KMeans, SpectralBiclustering, SpectralCoclustering
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from informed.alternating import AlternatingInformedClustering
from informed.clusters import center
from informed.directions import find_pca
from informed.experiments.results import Result, Table, spread
from informed.metrics import InformedMahalanobis
from informed.running import run_tasks, seeds
from informed.validation import Array, check_choice, check_count, check_number

__all__ = [
    "ALTERNATION_FAMILIES",
    "AlternationStudy",
    "BlockData",
    "alternation_study",
    "make_block_data",
]

Labels = NDArray[np.intp]

ALTERNATION_FAMILIES = (
    "checkerboard",
    "few samples",
    "block diagonal",
    "shared factors",
    "features only",
    "gradient",
)

# Standard deviation of the factors that the features of a cluster share in "shared factors".
FACTOR_SCALE = 0.7
# Rounds after which the alternation without an objective is stopped if it has not repeated itself.
MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class BlockData:
    """A table with clusters on both sides, on one side, or on none.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        The data, with noise of variance one.
    row_labels : int array of shape (n_samples,) or None
        True cluster of each sample; None if there are no clusters of samples. In "gradient" the
        quarter of the gradient that it comes from.
    column_labels : int array of shape (n_features,)
        The same for the features.
    """

    X: Array
    row_labels: Labels | None
    column_labels: Labels


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


def make_block_data(
    family: str,
    signal: float,
    *,
    n_clusters: int = 4,
    random_state: int | RandomState | None = None,
) -> BlockData:
    """Draw a table with the same number of clusters on both sides, or with fewer.

    Parameters
    ----------
    family : str
        - ``"checkerboard"``: 80 × 80. The means of the tiles are a random rotation, with rows and
          columns that sum to zero, so that all clusters are equally far apart and no level tells
          them apart.
        - ``"few samples"``: the same with 30 samples and 300 features.
        - ``"block diagonal"``: each cluster of samples has one cluster of features that is raised.
        - ``"shared factors"``: a checkerboard, and in each sample a random factor for each cluster
          of features.
        - ``"features only"``: nothing but those factors. The samples have no clusters.
        - ``"gradient"``: a smooth function of a position of the sample and one of the feature.
    signal : float
        Root mean square of the tiles, factors or smooth function; the noise has variance one.
    n_clusters : int
        Number of clusters on either side.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    BlockData

    Examples
    --------
    >>> data = make_block_data("few samples", 1.0, random_state=0)
    >>> data.X.shape, np.bincount(data.row_labels)
    ((30, 300), array([8, 8, 7, 7]))
    """
    check_choice("family", family, ALTERNATION_FAMILIES)
    signal = check_number("signal", signal)
    k = check_count("n_clusters", n_clusters, 2, 30)
    rng = check_random_state(random_state)
    n, p = (30, 300) if family == "few samples" else (80, 80)
    noise = rng.normal(size=(n, p))
    if family == "gradient":
        at, along = rng.uniform(size=n), rng.uniform(size=p)
        smooth = np.sqrt(2) * np.cos(np.pi * np.subtract.outer(at, along))
        cut = [np.floor(k * place).astype(np.intp) for place in (at, along)]
        return BlockData(signal * smooth + noise, cut[0], cut[1])
    rows, columns = rng.permutation(np.arange(n) % k), rng.permutation(np.arange(p) % k)
    factors = rng.normal(size=(n, k))[:, columns]
    if family == "features only":
        return BlockData(signal * factors + noise, None, columns)
    if family == "shared factors":
        noise += FACTOR_SCALE * factors
    tiles = np.eye(k) if family == "block diagonal" else _rotation_without_levels(k, rng)
    scale = signal * k / np.sqrt(k - 1)
    return BlockData(scale * tiles[np.ix_(rows, columns)] + noise, rows, columns)


def alternation_study(
    *,
    families: Sequence[str] = ALTERNATION_FAMILIES,
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

    All are told the number of clusters.

    Parameters
    ----------
    families : sequence of str
        Kinds of data, see :func:`make_block_data`.
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
    chosen = [check_choice("families", family, ALTERNATION_FAMILIES) for family in families]
    strengths = [check_number("signals", signal) for signal in signals]
    for name, given in (("families", chosen), ("signals", strengths)):
        if not given:
            raise ValueError(f"{name} is empty: give at least one")
    n_clusters = check_count("n_clusters", n_clusters, 2, 30)
    n_repeats = check_count("n_repeats", n_repeats, 1)
    # The same seeds for all strengths: only the signal differs along a curve.
    drawn = seeds(random_state, n_repeats)
    tasks = [(f, s, n_clusters, seed) for f in chosen for s in strengths for seed in drawn]
    runs = run_tasks(_compare, tasks, n_jobs=n_jobs, verbose=verbose, label="alternation_study")
    shape = (len(chosen), len(strengths), n_repeats)
    scores = np.array([run[0] for run in runs]).reshape(*shape, len(METHODS), 2)
    return AlternationStudy(
        families=tuple(chosen),
        signals=np.array(strengths),
        methods=tuple(METHODS),
        rows=scores[..., 0].transpose(0, 1, 3, 2),
        columns=scores[..., 1].transpose(0, 1, 3, 2),
        rounds=np.array([run[1] for run in runs]).reshape(shape),
        cycled=np.array([run[2] for run in runs]).reshape(shape),
    )


def _compare(
    family: str, signal: float, n_clusters: int, seed: int
) -> tuple[list[tuple[float, float]], int, bool]:
    data = make_block_data(family, signal, n_clusters=n_clusters, random_state=seed)
    found = {name: method(data.X, n_clusters, seed) for name, method in METHODS.items()}
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


def _k_means(X: Array, k: int, seed: int) -> _Found:
    centered = center(X)
    return _Found(_labels(centered, k, seed), _labels(centered.T, k, seed))


def _k_means_after_pca(X: Array, k: int, seed: int) -> _Found:
    centered = center(X)
    of_features = find_pca(centered, k - 1).directions
    of_samples, _ = np.linalg.qr(centered @ of_features)
    return _Found(
        _labels(centered @ of_features, k, seed), _labels(centered.T @ of_samples, k, seed)
    )


def _coclustering(X: Array, k: int, seed: int) -> _Found:
    model = SpectralCoclustering(k, random_state=seed).fit(X)
    return _Found(model.row_labels_, model.column_labels_)


def _biclustering(X: Array, k: int, seed: int) -> _Found:
    model = SpectralBiclustering(k, random_state=seed).fit(X)
    return _Found(model.row_labels_, model.column_labels_)


def _whitened(X: Array, k: int, seed: int) -> _Found:
    """Apply the Mahalanobis distance to rows and columns in turn, until labels come back."""

    def labels(points: Array, clusters: Labels) -> Labels:
        metric = InformedMahalanobis(k - 1, feature_labels=clusters)
        return _labels(metric.fit_transform(points), k, seed)

    columns = _labels(center(X).T, k, seed)
    seen: list[tuple[bytes, bytes]] = []
    for _ in range(MAX_ROUNDS):
        rows = labels(X, columns)
        columns = labels(X.T, rows)
        state = (rows.tobytes(), columns.tobytes())
        if state in seen:
            # What was left and came back is a cycle; what never moved has settled.
            return _Found(rows, columns, len(seen) + 1, state != seen[-1])
        seen.append(state)
    return _Found(rows, columns, MAX_ROUNDS)


def _alternating(X: Array, k: int, seed: int) -> _Found:
    model = AlternatingInformedClustering(k, k, random_state=seed).fit(X)
    return _Found(model.row_labels_, model.column_labels_, model.n_iter_)


METHODS: dict[str, Callable[[Array, int, int], _Found]] = {
    "k-means": _k_means,
    "pca": _k_means_after_pca,
    "coclustering": _coclustering,
    "biclustering": _biclustering,
    "whitened": _whitened,
    "alternating": _alternating,
}


def _labels(points: Array, k: int, seed: int) -> Labels:
    found: Any = KMeans(k, n_init=10, random_state=seed).fit_predict(points)
    return np.asarray(found, dtype=np.intp)


def _rotation_without_levels(k: int, rng: RandomState) -> Array:
    """Rotate at random among the vectors that sum to zero; rows and columns then sum to zero."""
    plane = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, 1:]]))[0][:, 1:]
    Q, triangle = np.linalg.qr(rng.normal(size=(k - 1, k - 1)))
    # Without the signs, QR would not draw all rotations alike.
    rotation: Array = plane @ (Q * np.sign(np.diag(triangle))) @ plane.T
    return rotation
