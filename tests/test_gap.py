"""The gap statistic against plain loops, known clusters and curves made to order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

from informed.gap import GapResult, NeighborhoodGap, gap_statistic, neighborhood_gap


def blobs(seed: int, n_blobs: int, n_features: int, spread: float) -> np.ndarray:
    """Round clusters of 20 points around random centres."""
    rng = np.random.default_rng(seed)
    centers = spread * rng.normal(size=(n_blobs, n_features))
    return np.repeat(centers, 20, axis=0) + rng.normal(size=(20 * n_blobs, n_features))


def within(points: np.ndarray, labels: np.ndarray) -> float:
    """W as Tibshirani et al. write it: pairwise squared distances over twice the cluster size."""
    total = 0.0
    for label in set(labels.tolist()):
        members = points[labels == label]
        pairs = members[:, None, :] - members[None, :, :]
        total += (pairs**2).sum() / (2 * len(members))
    return total


def smallest_within(points: np.ndarray, k: int) -> float:
    """W of the best of all partitions into k non-empty clusters."""
    best = np.inf
    for code in range(k ** len(points)):
        labels = np.array([code // k**i % k for i in range(len(points))])
        if len(set(labels.tolist())) == k:
            best = min(best, within(points, labels))
    return best


def k_means(points: np.ndarray, k: int, n_init: int, seed: int) -> np.ndarray:
    with threadpool_limits(1):
        return KMeans(k, n_init=n_init, random_state=seed).fit_predict(points)


def reference_log_within(X: np.ndarray, k: int, n_references: int, seed: int) -> np.ndarray:
    """log W of references, made in the coordinates of X: turn, draw, turn back, add the mean."""
    rng = np.random.default_rng(seed)
    mean = X.mean(axis=0)
    _, axes = np.linalg.eigh((X - mean).T @ (X - mean))
    turned = (X - mean) @ axes
    result = []
    for _ in range(n_references):
        drawn = np.column_stack([rng.uniform(c.min(), c.max(), len(X)) for c in turned.T])
        points = drawn @ axes.T + mean
        labels = k_means(points, k, 5, int(rng.integers(2**31)))
        result.append(np.log(within(points, labels)))
    return np.array(result)


def features_like(seed: int, n_samples: int = 30) -> np.ndarray:
    """30 features in three clusters."""
    rng = np.random.default_rng(seed)
    return np.repeat(rng.normal(size=(n_samples, 3)), 10, axis=1) + 0.5 * rng.normal(
        size=(n_samples, 30)
    )


# ------------------------------------------------------------------------------------ gap_statistic


@pytest.mark.parametrize("seed", range(3))
def test_log_within_is_that_of_the_best_partition(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(8, 3))
    result = gap_statistic(X, [1, 2, 3], n_references=2, random_state=seed)
    by_hand = [np.log(smallest_within(X, k)) for k in (1, 2, 3)]
    np.testing.assert_allclose(result.log_within, by_hand, rtol=1e-10)


@pytest.mark.parametrize("shape", [(30, 2), (12, 25)])
def test_references_have_the_law_of_the_plain_loop(shape: tuple[int, int]) -> None:
    # Features of very different width and correlated, so that the principal axes matter.
    rng = np.random.default_rng(5)
    X = rng.normal(size=shape) @ rng.normal(size=(shape[1], shape[1])) + 7
    result = gap_statistic(X, [1, 3], n_references=60, n_init=5, random_state=0)
    for column, k in enumerate((1, 3)):
        mine, plain = result.reference_log_within[:, column], reference_log_within(X, k, 60, 1)
        error = np.hypot(mine.std(), plain.std()) / np.sqrt(60)
        assert mine.mean() == pytest.approx(plain.mean(), abs=4 * error)
        assert mine.std() == pytest.approx(plain.std(), rel=0.3)


def test_gap_and_standard_error_follow_from_the_parts() -> None:
    result = gap_statistic(blobs(0, 2, 3, 4), range(1, 4), n_references=7, random_state=0)
    assert result.reference_log_within.shape == (7, 3)
    parts = result.reference_log_within
    np.testing.assert_allclose(result.gap, parts.sum(axis=0) / 7 - result.log_within)
    variance = ((parts - parts.mean(axis=0)) ** 2).sum(axis=0) / 7
    np.testing.assert_allclose(result.standard_error, np.sqrt(variance * (8 / 7)))
    np.testing.assert_array_equal(result.n_clusters, [1, 2, 3])


@pytest.mark.parametrize(("n_features", "spread"), [(5, 4.0), (200, 1.0)])
@pytest.mark.parametrize("n_blobs", [2, 3, 4])
def test_finds_well_separated_blobs(n_blobs: int, n_features: int, spread: float) -> None:
    for seed in range(3):
        X = blobs(seed, n_blobs, n_features, spread)
        result = gap_statistic(X, range(1, 7), n_references=10, n_init=5, random_state=seed)
        assert result.best == n_blobs


def test_rule_can_stop_at_one_when_clusters_are_equally_far_apart() -> None:
    # As the docstring of `best` says; the curve itself still has its maximum at six.
    rng = np.random.default_rng(0)
    X = np.repeat(10 * np.eye(6), 15, axis=0) + rng.normal(size=(90, 6))
    result = gap_statistic(X, range(1, 8), n_references=10, n_init=3, random_state=0)
    assert result.best == 1
    assert result.n_clusters[np.argmax(result.gap)] == 6


@pytest.mark.parametrize("shape", [(80, 2), (150, 10)])
def test_finds_one_cluster_in_uniform_points(shape: tuple[int, int]) -> None:
    for seed in range(5):
        X = np.random.default_rng(seed).uniform(size=shape)
        assert gap_statistic(X, range(1, 5), n_init=3, random_state=seed).best == 1


def test_shift_and_scale_do_not_matter() -> None:
    X = blobs(1, 3, 4, 4)
    plain = gap_statistic(X, [2, 3], n_references=5, random_state=2)
    moved = gap_statistic(1000 * X - 50, [2, 3], n_references=5, random_state=2)
    np.testing.assert_allclose(moved.gap, plain.gap, atol=1e-8)
    np.testing.assert_allclose(moved.standard_error, plain.standard_error, atol=1e-8)


def result_with(n_clusters: list[int], gap: list[float], error: list[float]) -> GapResult:
    empty = np.zeros((2, len(gap)))
    return GapResult(np.array(n_clusters), np.array(gap), np.array(error), empty[0], empty)


@pytest.mark.parametrize(
    ("n_clusters", "gap", "error", "best"),
    [
        ([1, 2, 3, 4], [0.1, 0.5, 0.9, 0.8], [0.1] * 4, 3),
        ([1, 2, 3, 4], [0.1, 0.5, 0.55, 0.9], [0.1] * 4, 2),
        ([1, 2, 3, 4], [0.1, 0.5, 0.55, 0.9], [0.1, 0.1, 0.01, 0.1], None),
        ([1, 2, 3, 4], [0.9, 0.5, 0.1, 0.0], [0.1] * 4, 1),
        ([3, 4, 5], [0.1, 0.9, 0.5], [0.1] * 3, 4),
        ([1, 2, 3], [0.1, 0.5, 0.9], [0.1] * 3, None),
        ([1, 2], [0.5, 0.75], [9.0, 0.25], 1),  # equality counts
        ([1, 3, 5], [0.9, 0.5, 0.1], [0.1] * 3, None),
        ([3, 2, 1], [0.9, 0.5, 0.1], [0.1] * 3, None),
        ([4], [0.9], [0.1], None),
    ],
)
def test_rule_of_tibshirani(
    n_clusters: list[int], gap: list[float], error: list[float], best: int | None
) -> None:
    assert result_with(n_clusters, gap, error).best == best


def test_result_prints_as_a_table() -> None:
    text = str(result_with([1, 2, 3], [0.1, 0.5, 0.25], [0.1] * 3))
    assert text.splitlines() == [
        "clusters      gap  std. error",
        "       1   0.1000      0.1000",
        "       2   0.5000      0.1000",
        "       3   0.2500      0.1000",
        "best: 2",
    ]
    assert "best" not in str(result_with([3], [0.5], [0.1]))


# --------------------------------------------------------------------------------- neighborhood_gap


def test_neighborhood_is_the_gap_of_its_centred_features() -> None:
    X = features_like(3) * np.linspace(1, 2, 30) + np.arange(30)
    sizes = (6, 15)
    result = neighborhood_gap(
        X, sizes, 3, n_neighborhoods=3, n_references=20, n_init=5, random_state=0
    )
    for row, size in enumerate(sizes):
        for column, sample in enumerate(result.samples):
            order = sorted(range(30), key=lambda j: sum((X[sample] - X[j]) ** 2))
            assert order[0] == sample
            centered = X - X.mean(axis=0)
            points = centered[order[:size]].T
            plain = reference_log_within(points, 3, 20, seed=1)
            labels = k_means(points, 3, 10, 0)
            gap = plain.mean() - np.log(within(points, labels))
            error = plain.std() * np.sqrt(2 / 20)
            assert result.gaps[row, column] == pytest.approx(gap, abs=4 * error)


def test_sample_belongs_to_its_own_neighborhood() -> None:
    # Sample 0 is far from all others, and only it has features in clusters.
    rng = np.random.default_rng(0)
    X = 0.1 * rng.normal(size=(12, 30))
    X[0] += np.repeat([0, 50, 100], 10)
    gaps = neighborhood_gap(X, [5], 3, random_state=0).gaps[0]
    assert gaps[0] > gaps[1:].max() + 2


def test_curve_is_mean_and_standard_error_over_neighborhoods() -> None:
    result = neighborhood_gap(features_like(0), [4, 8], 3, n_references=1, random_state=1)
    assert result.gaps.shape == (2, 30)
    np.testing.assert_array_equal(result.samples, np.arange(30))
    np.testing.assert_allclose(result.gap, result.gaps.sum(axis=1) / 30)
    squares = ((result.gaps - result.gap[:, None]) ** 2).sum(axis=1)
    np.testing.assert_allclose(result.standard_error, np.sqrt(squares / 29 / 30))


def test_gap_rises_with_size_until_the_clusters_show() -> None:
    for seed in range(3):
        gap = neighborhood_gap(
            features_like(seed), [2, 8, 30], 3, n_references=2, random_state=seed
        ).gap
        assert gap[0] < gap[1] - 0.1
        assert gap[1] < gap[2]


def test_constant_offsets_of_features_do_not_matter() -> None:
    X = features_like(4)
    plain = neighborhood_gap(X, [5, 20], 3, random_state=3)
    moved = neighborhood_gap(X + 10.0 * np.arange(30), [5, 20], 3, random_state=3)
    np.testing.assert_allclose(moved.gaps, plain.gaps, atol=1e-7)


def curve(values: list[float], noise: float, n: int = 400) -> NeighborhoodGap:
    """Curve with exactly these means; neighbourhoods differ in level, and by noise at each size."""
    rng = np.random.default_rng(0)
    levels, scatter = rng.normal(size=n), noise * rng.normal(size=(len(values), n))
    scatter -= scatter.mean(axis=1, keepdims=True)
    sizes = 10 * np.arange(1, len(values) + 1)
    return NeighborhoodGap(sizes, 7, np.array(values)[:, None] + levels + scatter, np.arange(n))


@pytest.mark.parametrize(
    ("values", "proposed"),
    [
        ([0.0, 0.5, 1.0, 0.6, 0.2], (30, 30)),  # a peak
        ([0.0, 0.99, 0.995, 1.0, 0.995, 0.5], (30, 50)),  # a plateau, then a fall
        ([0.0, 0.9, 0.9, 0.5, 0.901, 0.0], (50, 50)),  # two summits are not bridged
        ([1.0, 0.999, 0.8, 0.6], (10, 20)),  # falls from the start
        ([0.0, 0.5, 0.999, 1.0], (30, 40)),  # level to the end
        ([0.0, 0.4, 0.8, 1.2], None),  # still rising
    ],
)
def test_proposed_range(values: list[float], proposed: tuple[int, int] | None) -> None:
    # Twice the standard error of a paired difference is 2·0.05·√(2/400) = 0.007.
    assert curve(values, noise=0.05).proposed == proposed
    # With little noise only the maximum is left, with much noise everything is.
    top = 10 * (int(np.argmax(values)) + 1)
    alone = None if top == 10 * len(values) else (top, top)
    assert curve(values, noise=0.0005).proposed == alone
    assert curve(values, noise=50).proposed == (10, 10 * len(values))


def test_proposed_range_of_a_long_plateau_reaches_the_end() -> None:
    flat = np.ones((6, 50)) + np.linspace(0, 1, 50)
    flat[0] -= 0.5
    result = NeighborhoodGap(np.arange(10, 70, 10), 7, flat, np.arange(50))
    assert result.proposed == (20, 60)


def test_proposed_uses_paired_differences() -> None:
    # Levels differ wildly between neighbourhoods, but every one of them rises by 0.1 ± 0.01.
    rng = np.random.default_rng(0)
    levels = 10 * rng.normal(size=50)
    gaps = np.array([levels, levels + 0.1 + 0.01 * rng.normal(size=50), levels - 1])
    assert NeighborhoodGap(np.array([5, 10, 15]), 7, gaps, np.arange(50)).proposed == (10, 10)


def test_one_size_proposes_nothing() -> None:
    assert neighborhood_gap(features_like(0), [8], 3, random_state=0).proposed is None


def test_neighborhood_result_prints_as_a_table() -> None:
    gaps = np.array([[0.0, 0.2], [0.9, 1.1], [0.5, 0.9]])
    result = NeighborhoodGap(np.array([5, 10, 15]), 7, gaps, np.arange(2))
    assert str(result).splitlines() == [
        "    size  g(N, 7)  std. error",
        "       5   0.1000      0.1000",
        "      10   1.0000      0.1000",
        "      15   0.7000      0.2000",
        "proposed sizes: 10 to 10",
    ]
    rising = NeighborhoodGap(np.array([5, 10]), 12, gaps[:2], np.arange(2))
    assert str(rising).endswith("still rising at the largest size")


def test_progress_bar_only_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    arguments: dict[str, Any] = {"n_neighborhoods": 3, "n_references": 1, "n_init": 1}
    neighborhood_gap(features_like(0), [5], 3, **arguments)
    assert capsys.readouterr() == ("", "")
    neighborhood_gap(features_like(0), [5], 3, **arguments, verbose=True)
    shown = capsys.readouterr()
    assert "3/3" in shown.err
    assert shown.out == ""


# -------------------------------------------------------------- the same seed gives the same result


def test_gap_statistic_is_repeatable() -> None:
    X = blobs(0, 3, 5, 3)
    results = []
    for n_jobs, n_threads in [(1, 1), (None, 2), (2, 1)]:
        with threadpool_limits(n_threads):
            results.append(
                gap_statistic(X, range(1, 5), n_references=5, random_state=9, n_jobs=n_jobs)
            )
    for other in results[1:]:
        np.testing.assert_array_equal(other.gap, results[0].gap)
        np.testing.assert_array_equal(other.standard_error, results[0].standard_error)
    alone = gap_statistic(X, 3, n_references=5, random_state=9)
    assert alone.gap.tolist() == [results[0].gap[2]]
    state = gap_statistic(X, 3, n_references=5, random_state=np.random.RandomState(9))
    assert state.gap.tolist() == alone.gap.tolist()
    assert gap_statistic(X, 3, n_references=5, random_state=10).gap[0] != alone.gap[0]


def test_neighborhood_gap_is_repeatable() -> None:
    X = features_like(1)
    results = []
    for n_jobs, n_threads in [(1, 1), (None, 2), (2, 1)]:
        with threadpool_limits(n_threads):
            results.append(
                neighborhood_gap(X, [5, 9, 20], 3, n_references=2, random_state=9, n_jobs=n_jobs)
            )
    for other in results[1:]:
        np.testing.assert_array_equal(other.gaps, results[0].gaps)
    some = neighborhood_gap(X, [9], 3, n_neighborhoods=6, n_references=2, random_state=9)
    assert len(set(some.samples.tolist())) == 6
    np.testing.assert_array_equal(some.gaps[0], results[0].gaps[1, some.samples])
    other = neighborhood_gap(X, [9], 3, n_neighborhoods=6, n_references=2, random_state=10)
    assert some.samples.tolist() != other.samples.tolist()


def test_k_means_runs_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    class Watched(KMeans):
        def fit(self, X: np.ndarray) -> Watched:
            seen.extend(library["num_threads"] for library in threadpool_info())
            return super().fit(X)

    monkeypatch.setattr("informed.gap.KMeans", Watched)
    with threadpool_limits(2):
        gap_statistic(blobs(0, 2, 3, 4), 2, n_references=2, n_init=1)
        neighborhood_gap(features_like(0), [5], 3, n_neighborhoods=2, n_references=1, n_init=1)
    assert set(seen) == {1}


# ----------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"X": [[1.0, np.nan], [0, 1], [2, 2]]}, ValueError, "X contains NaN"),
        ({"X": [1.0, 2.0]}, ValueError, "2D array"),
        ({"X": [[1.0, 2.0]]}, ValueError, "minimum of 2 is required"),
        ({"n_clusters": 0}, ValueError, "n_clusters=0 .* from 1 to 29 .*n_samples=30"),
        ({"n_clusters": 30}, ValueError, "n_clusters=30 .* from 1 to 29"),
        ({"n_clusters": [1, 30]}, ValueError, r"n_clusters\[1\]=30 .* from 1 to 29"),
        ({"n_clusters": [1, 2.5]}, TypeError, r"n_clusters\[1\] must be an integer .* 2.5"),
        ({"n_clusters": "3"}, TypeError, "n_clusters must be an integer"),
        ({"n_clusters": []}, ValueError, "n_clusters is empty"),
        ({"n_references": 1}, ValueError, "n_references=1 .*>= 2"),
        ({"n_init": 0}, ValueError, "n_init=0"),
        ({"X": np.ones((30, 2))}, ValueError, "n_clusters=2 .* X has no more than 2 distinct"),
        (
            {"X": np.repeat(np.eye(3), 10, axis=0), "n_clusters": [2, 3]},
            ValueError,
            "n_clusters=3 .* X has no more than 3 distinct points",
        ),
    ],
)
def test_gap_statistic_refuses(change: dict[str, Any], error: type, message: str) -> None:
    arguments: dict[str, Any] = {"X": blobs(0, 2, 3, 4)[:30], "n_clusters": 2} | change
    with pytest.raises(error, match=message):
        gap_statistic(**arguments)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"X": [[1.0, np.inf], [0, 1]]}, ValueError, "X contains infinity"),
        ({"sizes": [1, 5]}, ValueError, r"sizes\[0\]=1 .* from 2 to 30 .*n_samples=30"),
        ({"sizes": [5, 31]}, ValueError, r"sizes\[1\]=31 .* from 2 to 30"),
        ({"sizes": [5, 5]}, ValueError, r"sizes=\[5, 5\] must increase"),
        ({"sizes": [9, 5]}, ValueError, r"sizes=\[9, 5\] must increase"),
        ({"sizes": []}, ValueError, "sizes is empty"),
        ({"sizes": [5.0]}, TypeError, r"sizes\[0\] must be an integer"),
        ({"n_clusters": 30}, ValueError, "n_clusters=30 .* from 1 to 29 .*n_features=30"),
        ({"n_clusters": 0}, ValueError, "n_clusters=0"),
        ({"n_neighborhoods": 1}, ValueError, "n_neighborhoods=1 .* from 2 to 30"),
        ({"n_neighborhoods": 31}, ValueError, "n_neighborhoods=31"),
        ({"n_references": 0}, ValueError, "n_references=0"),
        ({"n_init": 0}, ValueError, "n_init=0"),
        (
            {"X": np.repeat(features_like(0)[:, ::10], 10, axis=1)},
            ValueError,
            "n_clusters=3 .*the neighbourhood of size 5 around sample 0 has no more than 3",
        ),
    ],
)
def test_neighborhood_gap_refuses(change: dict[str, Any], error: type, message: str) -> None:
    arguments: dict[str, Any] = {"X": features_like(0), "sizes": [5, 9], "n_clusters": 3}
    with pytest.raises(error, match=message):
        neighborhood_gap(**(arguments | change))


def test_features_that_differ_by_an_offset_count_as_one() -> None:
    # After centring they differ by rounding only; a logarithm of that rounding would be a huge gap.
    X = np.repeat(features_like(0)[:, ::10], 10, axis=1) + np.arange(30) * np.pi
    with pytest.raises(ValueError, match="no more than 3 distinct points"):
        neighborhood_gap(X, [5], 3)
