r"""How many clusters, and in how large a neighbourhood: the gap statistic.

Let :math:`W_k` be the sum of squared distances of the points to the centres of the :math:`k`
clusters that k-means finds. It falls with :math:`k` whether or not there are clusters. The gap
statistic of Tibshirani, Walther and Hastie (2001) measures how much further it falls than for
points without clusters,

.. math:: \mathrm{Gap}(k) = \mathrm{E}^*[\log W_k^*] - \log W_k,

where the expectation is the mean over reference sets of the same number of points, drawn uniformly
from the box that is aligned with the principal axes of the data and just holds them.

Within a neighbourhood of samples the *features* are the points, and the size :math:`N` of the
neighbourhood is their dimension. :func:`neighborhood_gap` follows the gap for a fixed number of
clusters as :math:`N` grows.

References
----------
R. Tibshirani, G. Walther, T. Hastie (2001). Estimating the number of clusters in a data set via the
gap statistic. Journal of the Royal Statistical Society B 63(2), 411–423.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances

from informed.centering import center
from informed.parallel import one_thread, run_tasks
from informed.validation import Array, check_count, check_matrix, check_n_jobs, random_source

__all__ = ["GapResult", "NeighborhoodGap", "gap_statistic", "neighborhood_gap"]

FloatArray = NDArray[np.float64]

# Share of the sum of squares below which a principal axis, or W, is zero but for rounding.
_ZERO = 1e-20


@dataclass(frozen=True, eq=False)
class GapResult:
    """Result of :func:`gap_statistic`; the arrays have one entry per number of clusters.

    Attributes
    ----------
    n_clusters : int array
        The numbers of clusters, in the order given.
    gap : float array
        Mean of the references' log W minus the data's.
    standard_error : float array
        Standard deviation of the references' log W, times √(1 + 1/B) for B references.
    log_within : float array
        The data's log W.
    reference_log_within : float array of shape (n_references, n)
        The references' log W.
    """

    n_clusters: NDArray[np.intp]
    gap: FloatArray
    standard_error: FloatArray
    log_within: FloatArray
    reference_log_within: FloatArray

    @property
    def best(self) -> int | None:
        """Smallest k with Gap(k) ≥ Gap(k + 1) − s(k + 1), by Tibshirani's rule.

        The rule compares neighbouring numbers of clusters, so ``n_clusters`` must be consecutive.
        None if it is not, or if the gap still rises at its end: then try more clusters.

        The rule stops at the first k that k + 1 does not beat. With three or more clusters that are
        all equally far apart, two can be no better than one, and it stops at one: look at the
        whole curve.
        """
        if (np.diff(self.n_clusters) != 1).any():
            return None
        reached = self.gap[:-1] >= self.gap[1:] - self.standard_error[1:]
        return int(self.n_clusters[np.argmax(reached)]) if reached.any() else None

    def __str__(self) -> str:
        rows = zip(self.n_clusters, self.gap, self.standard_error, strict=True)
        lines = ["clusters      gap  std. error"]
        lines += [f"{k:8d}  {gap:7.4f}  {error:10.4f}" for k, gap, error in rows]
        if len(self.n_clusters) > 1:
            lines.append(f"best: {self.best}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class NeighborhoodGap:
    """Result of :func:`neighborhood_gap`; the curves have one entry per size.

    Attributes
    ----------
    sizes : int array
        Neighbourhood sizes N, increasing.
    n_clusters : int
        Number of clusters of features, K.
    gaps : float array of shape (n_sizes, n_neighborhoods)
        Gap of every neighbourhood.
    samples : int array of shape (n_neighborhoods,)
        The samples in the middle of the neighbourhoods.
    """

    sizes: NDArray[np.intp]
    n_clusters: int
    gaps: FloatArray
    samples: NDArray[np.intp]

    @property
    def gap(self) -> FloatArray:
        """The curve g(N, K), which is the mean over the neighbourhoods."""
        mean: FloatArray = self.gaps.mean(axis=1)
        return mean

    @property
    def standard_error(self) -> FloatArray:
        """Standard error of that mean.

        It treats the neighbourhoods as independent. They overlap, so it is somewhat too small.
        """
        error: FloatArray = self.gaps.std(axis=1, ddof=1) / np.sqrt(self.gaps.shape[1])
        return error

    @property
    def proposed(self) -> tuple[int, int] | None:
        """First and last size of the range where the curve has stopped rising.

        The range is the unbroken run of sizes around the maximum of the curve at which the curve is
        as high as the maximum up to chance: the mean shortfall is at most twice its standard
        error. Shortfalls are taken neighbourhood by neighbourhood, because some samples have
        higher gaps than others at every size, which says nothing about sizes. The first size is the
        smallest neighbourhood that gains nothing from more samples; the last one is the
        largest before the curve falls, if it falls. If in doubt, take the smaller end: it is
        more local.

        None if the maximum is at the largest size and stands alone: the curve still rises there,
        so try larger sizes.
        """
        top = int(np.argmax(self.gap))
        shortfall = self.gaps[top] - self.gaps
        error = shortfall.std(axis=1, ddof=1) / np.sqrt(shortfall.shape[1])
        level = shortfall.mean(axis=1) <= 2.0 * error
        first = last = top
        while first > 0 and level[first - 1]:
            first -= 1
        while last < len(level) - 1 and level[last + 1]:
            last += 1
        if first == len(level) - 1:
            return None
        return int(self.sizes[first]), int(self.sizes[last])

    def __str__(self) -> str:
        rows = zip(self.sizes, self.gap, self.standard_error, strict=True)
        lines = [f"    size  g(N, {self.n_clusters})  std. error"]
        width = len(f"g(N, {self.n_clusters})")
        lines += [f"{size:8d}  {gap:{width}.4f}  {error:10.4f}" for size, gap, error in rows]
        proposed = self.proposed
        lines.append(
            "still rising at the largest size"
            if proposed is None
            else f"proposed sizes: {proposed[0]} to {proposed[1]}"
        )
        return "\n".join(lines)


def gap_statistic(
    X: Array,
    n_clusters: int | Sequence[int],
    *,
    n_references: int = 20,
    n_init: int = 10,
    random_state: int | RandomState | None = None,
    n_jobs: int | None = None,
) -> GapResult:
    """Gap statistic of the rows of ``X``, for one or several numbers of clusters.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The rows are the points to cluster.
    n_clusters : int or sequence of int
        Numbers of clusters to try. To let :attr:`GapResult.best` choose, give consecutive ones that
        start at 1, such as ``range(1, 11)``. W is zero if each distinct row has its own cluster, so
        there must be more distinct rows than clusters.
    n_references : int
        Number of reference sets, at least 2.
    n_init : int
        Restarts of each k-means, for the data and the references alike.
    random_state : int, RandomState or None
        Seed. The gap at one k does not depend on which others are asked for.
    n_jobs : int or None
        Processes to share the references among; the result does not depend on it.

    Returns
    -------
    result : GapResult

    Notes
    -----
    The reference box lies in the span of the centred rows, whose dimension is at most
    n_samples − 1. Uniform points in the box are drawn and clustered in its own coordinates; turning
    them back into the coordinates of ``X`` would change no distance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0) + rng.normal(size=(60, 2))
    >>> gap_statistic(X, range(1, 6), random_state=0).best
    3
    """
    points = check_matrix(X).astype(np.float64)
    n_samples = len(points)
    counts = _check_counts("n_clusters", n_clusters, 1, n_samples - 1, f"{n_samples=}")
    n_references = check_count("n_references", n_references, 2)
    n_init = check_count("n_init", n_init, 1)
    check_n_jobs(n_jobs)
    key = (_draw_seed(random_source(random_state)),)
    with one_thread():
        scores = _principal_scores(points)
    sets = run_tasks(
        _log_within,
        [(counts, n_init, key, b, "X") for b in range(n_references + 1)],
        n_jobs=n_jobs,
        shared=(scores,),
    )
    log_within, reference = np.array(sets[0]), np.array(sets[1:])
    return GapResult(
        n_clusters=np.array(counts, dtype=np.intp),
        gap=reference.mean(axis=0) - log_within,
        standard_error=reference.std(axis=0) * np.sqrt(1.0 + 1.0 / n_references),
        log_within=log_within,
        reference_log_within=reference,
    )


def neighborhood_gap(
    X: Array,
    sizes: Sequence[int],
    n_clusters: int = 7,
    *,
    n_neighborhoods: int | None = None,
    n_references: int = 5,
    n_init: int = 3,
    random_state: int | RandomState | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> NeighborhoodGap:
    """Gap statistic of the features within neighbourhoods of samples, against their size.

    The neighbourhood of a sample is the N samples nearest to it (Euclidean), itself included. Its
    features are points with N coordinates. As in :class:`informed.LocalInformedMahalanobis` they
    are centred over all samples and not again within the neighbourhood. If N is too small,
    chance hides which features go together; once N is large enough to show their clusters, the gap
    for the right number of clusters has no reason to rise further.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data.
    sizes : sequence of int
        Neighbourhood sizes, increasing, from 2 to n_samples.
    n_clusters : int
        Number of clusters of features, below the number of features.
    n_neighborhoods : int or None
        Average over the neighbourhoods of that many samples, chosen at random; None takes all.
    n_references : int
        Reference sets for each neighbourhood and size. Few will do, because the mean over the
        neighbourhoods averages over their noise as well.
    n_init : int
        Restarts of each k-means, for the data and the references alike.
    random_state : int, RandomState or None
        Seed. The gap of one neighbourhood at one size does not depend on which others are asked
        for.
    n_jobs : int or None
        Processes to share the neighbourhoods among; the result does not depend on it.
    verbose : bool
        Show a progress bar.

    Returns
    -------
    result : NeighborhoodGap
        Its ``proposed`` is the range of sizes where the curve has stopped rising.

    Examples
    --------
    Three clusters of features:

    >>> rng = np.random.default_rng(0)
    >>> hidden = rng.normal(size=(40, 3))
    >>> X = np.repeat(hidden, 20, axis=1) + 0.5 * rng.normal(size=(40, 60))
    >>> result = neighborhood_gap(X, [4, 8, 16], 3, n_neighborhoods=5, random_state=0)
    >>> bool(result.gap[0] < result.gap[1] < result.gap[2])
    True
    """
    X = check_matrix(X).astype(np.float64)
    n_samples, n_features = X.shape
    widths = _check_counts("sizes", sizes, 2, n_samples, f"{n_samples=}")
    if (np.diff(widths) <= 0).any():
        raise ValueError(f"sizes={widths} must increase from each to the next")
    n_clusters = check_count("n_clusters", n_clusters, 1, n_features - 1, f"{n_features=}")
    if n_neighborhoods is None:
        n_neighborhoods = n_samples
    n_neighborhoods = check_count("n_neighborhoods", n_neighborhoods, 2, n_samples, f"{n_samples=}")
    n_references = check_count("n_references", n_references, 1)
    n_init = check_count("n_init", n_init, 1)
    check_n_jobs(n_jobs)
    rng = random_source(random_state)
    seed = _draw_seed(rng)
    samples = np.sort(rng.permutation(n_samples)[:n_neighborhoods])
    with one_thread():
        distances = pairwise_distances(X[samples], X)
    # A sample is its own nearest neighbour, even if rounding gives the distance to a twin as less.
    distances[np.arange(len(samples)), samples] = -1.0
    neighbors = np.argsort(distances, axis=1, kind="stable")[:, : widths[-1]]
    X, _ = center(X)
    gaps = run_tasks(
        _gaps_of_neighborhood,
        [
            (nearest, widths, n_clusters, n_references, n_init, seed, int(sample))
            for sample, nearest in zip(samples, neighbors, strict=True)
        ],
        shared=(X,),
        n_jobs=n_jobs,
        verbose=verbose,
        label="neighbourhoods",
    )
    return NeighborhoodGap(
        sizes=np.array(widths, dtype=np.intp),
        n_clusters=n_clusters,
        gaps=np.array(gaps).T,
        samples=samples,
    )


def _gaps_of_neighborhood(
    X: FloatArray,
    neighbors: NDArray[np.intp],
    sizes: list[int],
    n_clusters: int,
    n_references: int,
    n_init: int,
    seed: int,
    sample: int,
) -> list[float]:
    """Gap of the features over the nearest N samples, for each size N."""
    gaps = []
    for size in sizes:
        features = X[neighbors[:size]].T
        scores = _principal_scores(features)
        name = f"the neighbourhood of size {size} around sample {sample}"
        log_within = [
            _log_within(scores, [n_clusters], n_init, (seed, sample, size), b, name)[0]
            for b in range(n_references + 1)
        ]
        gaps.append(float(np.mean(log_within[1:]) - log_within[0]))
    return gaps


def _principal_scores(points: FloatArray) -> FloatArray:
    """Coordinates of the points along their principal axes: all distances, fewest dimensions."""
    centered, _ = center(points)
    left, values, _ = np.linalg.svd(centered, full_matrices=False)
    rank = max(1, int((values**2 > _ZERO * values[0] ** 2).sum()))
    scores: FloatArray = left[:, :rank] * values[:rank]
    return scores


def _log_within(
    scores: FloatArray, counts: list[int], n_init: int, key: tuple[int, ...], b: int, name: str
) -> list[float]:
    """Return log W of the points (b = 0) or of reference set b, for each number of clusters.

    Every draw has a seed of its own, made from ``key``, ``b`` and the number of clusters, so that
    it does not matter what else is computed, in which order, or where.
    """
    points = scores
    if b > 0:
        rng = np.random.default_rng((*key, b))
        points = rng.uniform(scores.min(axis=0), scores.max(axis=0), scores.shape)
    # The scores are centred, and the reference points are as wide as they are.
    total = float((scores**2).sum())
    result = []
    for k in counts:
        seed = int(np.random.SeedSequence((*key, b, k)).generate_state(1)[0])
        with warnings.catch_warnings():
            # k-means warns if there are fewer distinct points than clusters; we stop below.
            warnings.simplefilter("ignore", ConvergenceWarning)
            within = KMeans(k, n_init=n_init, random_state=seed).fit(points).inertia_
        if within <= _ZERO * total:
            raise ValueError(
                f"n_clusters={k} is out of range: {name} has no more than {k} distinct points, so "
                "nothing is left within clusters; n_clusters must be smaller"
            )
        result.append(float(np.log(within)))
    return result


def _draw_seed(rng: RandomState) -> int:
    return int(rng.randint(np.iinfo(np.int32).max))


def _check_counts(name: str, value: object, low: int, high: int, why: str) -> list[int]:
    """Return an integer or a sequence of integers as a list."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        counts = [check_count(f"{name}[{i}]", v, low, high, why) for i, v in enumerate(value)]
    else:
        counts = [check_count(name, value, low, high, why)]
    if not counts:
        raise ValueError(f"{name} is empty: it must hold at least one integer")
    return counts
