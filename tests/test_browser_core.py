"""The numerical core of the pages, in Chromium, against the library: the two may not drift apart.

Each function is tried on at least 200 random inputs, and on degenerate ones: constant and repeated
features, repeated samples, more features than samples, a single feature, values far from zero, tiny
and huge, variances that tie.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from informed import DiffusionMap, InformedMahalanobis, LocalInformedMahalanobis, centering
from informed.clusters import average_over_clusters, indicator
from informed.clusters.features import relabel_by_first_occurrence
from informed.clusters.kmeans import best_partition
from informed.directions import (
    averaged_directions,
    exact_directions,
    pca_directions,
    penalized_directions,
    reconstruction_error,
)
from informed.groups import bipartition
from informed.survival import compare_survival
from informed.teaching.explorer.pack import packed_script

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Array = NDArray[Any]
Core = Callable[[str, Sequence[Any]], list[Any]]
RANDOM = 200


def center(X: Any) -> Any:
    return centering.center(X)[0]


@pytest.fixture(scope="module")
def core(browser: Browser) -> Iterator[Core]:
    """Call a function of the core on many inputs at once; an error comes back as its message."""
    page = browser.new_page()
    page.set_content("<title>core</title>")
    page.add_script_tag(content=packed_script())

    def call(body: str, cases: Sequence[Any]) -> list[Any]:
        plain = [_plain(case) for case in cases]
        answers = page.evaluate(
            """([body, cases]) => {
                const core = informed.core;
                const plain = value => {
                    if (value instanceof core.Matrix) return value.toLines();
                    if (ArrayBuffer.isView(value)) return Array.from(value);
                    if (value === null || typeof value !== "object") return value;
                    if (Array.isArray(value)) return value.map(plain);
                    return Object.fromEntries(
                        Object.entries(value).map(([key, entry]) => [key, plain(entry)]));
                };
                const f = new Function("core", "M", "input", "return " + body);
                return cases.map(input => {
                    try { return plain(f(core, core.Matrix.from, input)); }
                    catch (error) { return {error: error.message}; }
                });
            }""",
            [body, plain],
        )
        assert len(answers) == len(cases)
        return list(answers)

    yield call
    page.close()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value.item() if isinstance(value, np.generic) else value


def assert_close(found: Any, wanted: Any, scale: float = 0.0) -> None:
    """Equal to 1e-9 of the largest number, or of the scale if that is larger."""
    found, wanted = np.asarray(found, dtype=float), np.asarray(wanted, dtype=float)
    assert found.shape == wanted.shape
    size = max(scale, float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0.0)), 1e-300)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * size)


def random_tables(seed: int, min_samples: int = 3, min_features: int = 2) -> list[Array]:
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(RANDOM):
        n, p = rng.integers(min_samples, 16), rng.integers(min_features, 16)
        spread = np.exp(rng.normal(size=p))
        tables.append(rng.normal(size=(n, p)) * spread + 3 * rng.normal(size=p))
    return tables


def degenerate_tables() -> list[Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 7))
    constant, twice, repeated = X.copy(), X.copy(), X.copy()
    constant[:, [1, 4]] = [0.1, -7.3]
    twice[:, 5] = twice[:, 2]
    repeated[4:7] = repeated[0]
    low_rank = rng.normal(size=(9, 2)) @ rng.normal(size=(2, 7))
    return [
        constant,
        twice,
        repeated,
        low_rank,
        X + 1e6,
        X * 1e-8,
        X * 1e8,
        X[:, :1],
        X[:2],
        rng.normal(size=(3, 40)),
        rng.normal(size=(60, 3)),
        X * 10.0 ** np.arange(-6, 1),
        np.round(X),
    ]


def rank_of(X: Array) -> int:
    singular = np.linalg.svd(center(X), compute_uv=False)
    return int(np.sum(singular > singular[0] * max(X.shape) * np.finfo(float).eps))


def with_labels(tables: list[Array], seed: int) -> list[tuple[Array, list[int], int]]:
    """Add a clustering of the features and a number of directions that can be found in it."""
    rng = np.random.default_rng(seed)
    cases = []
    for X in tables:
        p = X.shape[1]
        count = int(rng.integers(1, min(p, 5) + 1))
        labels = relabel_by_first_occurrence(rng.integers(0, count, size=p))
        means = average_over_clusters(center(X).T, labels)
        rank = np.linalg.matrix_rank(means, tol=1e-9 * np.abs(means).max(initial=0))
        cases.append((X, labels.tolist(), int(rng.integers(1, max(1, rank) + 1))))
    return [case for case in cases if rank_of(case[0]) >= case[2] and np.ptp(center(case[0]))]


def test_thin_decompositions_rebuild_the_matrix_with_the_singular_values_of_numpy(
    core: Core,
) -> None:
    tables = random_tables(1, 1, 1) + degenerate_tables() + [np.zeros((3, 5)), np.eye(4)]
    for A, found in zip(tables, core("core.svd(M(input))", tables), strict=True):
        U, values, V = (np.array(found[key]) for key in ("U", "values", "V"))
        assert_close(values, np.linalg.svd(A, compute_uv=False), 1e-30)
        assert_close(U * values @ V.T, A)
        kept = values > values[0] * 1e-12
        for side in (U[:, kept], V[:, kept]):
            assert_close(side.T @ side, np.eye(int(kept.sum())), 1.0)
    for A, found in zip(tables, core("core.qr(M(input))", tables), strict=True):
        if len(A) >= A.shape[1]:
            assert_close(np.array(found["Q"]) @ np.array(found["R"]), A)
            assert_close(np.tril(found["R"], -1), np.zeros((A.shape[1],) * 2), 1.0)


def test_eigenvalues_and_eigenvectors_of_symmetric_matrices(core: Core) -> None:
    rng = np.random.default_rng(2)
    matrices = []
    for _ in range(RANDOM):
        n = rng.integers(1, 20)
        A = rng.normal(size=(n, n))
        matrices.append(A + A.T)
    matrices += [np.zeros((4, 4)), np.eye(5), np.diag([3.0, 1.0, 1.0, -2.0]), np.ones((6, 6))]
    matrices += [X.T @ X for X in degenerate_tables()]
    tie = np.kron(np.eye(3), [[0.0, 1.0], [1.0, 0.0]])
    matrices += [tie, 1e-200 * tie, 1e100 * tie]
    for A, found in zip(matrices, core("core.eigenSymmetric(M(input))", matrices), strict=True):
        values, vectors = np.array(found["values"]), np.array(found["vectors"])
        assert_close(values, np.linalg.eigvalsh(A)[::-1], np.abs(A).max())
        assert_close(vectors.T @ vectors, np.eye(len(A)), 1.0)
        assert_close(vectors * values @ vectors.T, A)


def test_centring_indicator_and_averaging(core: Core) -> None:
    tables = random_tables(3) + degenerate_tables()
    for X, found in zip(tables, core("core.center(M(input))", tables), strict=True):
        assert_close(found, center(X), np.abs(X).max())
    assert (
        np.array(core("core.center(M(input))", degenerate_tables()[:1])[0])[:, 1].tolist()
        == [0] * 9
    )
    cases = with_labels(tables, 4)
    assert len(cases) >= RANDOM
    body = (
        "[core.indicator(input[1]), core.averageOverClusters(M(input[0]).transpose(), input[1]),"
        " core.relabel(input[1].map(k => 7 - k))]"
    )
    for (X, labels, _), (H, averaged, again) in zip(cases, core(body, cases), strict=True):
        assert_close(H, indicator(np.array(labels)))
        assert_close(averaged, average_over_clusters(X.T, np.array(labels)))
        assert again == labels


def test_k_means_from_given_partitions(core: Core) -> None:
    rng = np.random.default_rng(5)
    cases = []
    for X in random_tables(6) + [center(X) for X in degenerate_tables()[3:]]:
        points = X.T
        count = int(rng.integers(1, min(len(points), 5) + 1))
        starts = rng.integers(0, count, size=(int(rng.integers(1, 9)), len(points)))
        cases.append((points, starts, count))
    assert len(cases) >= RANDOM
    body = "core.bestPartition(M(input[0]), input[1], input[2])"
    for case, found in zip(cases, core(body, cases), strict=True):
        labels, cost = best_partition(*case)
        assert_close(found["cost"], cost, float(np.sum(case[0] ** 2)))
        # Partitions without any cost differ in nothing but the names of their clusters.
        assert_same_partition(found["labels"], labels)


def assert_same_partition(found: list[int], wanted: Array) -> None:
    first, second = (relabel_by_first_occurrence(np.array(x)).tolist() for x in (found, wanted))
    assert first == second


def test_k_means_from_its_own_starts_settles_where_no_step_of_the_library_improves(
    core: Core,
) -> None:
    cases = [(X.T, min(3, X.shape[1])) for X in random_tables(7)]
    body = "core.kmeans(M(input[0]), input[1])"
    for (points, count), found in zip(cases, core(body, cases), strict=True):
        labels, cost = best_partition(points, np.array([found["labels"]]), count)
        assert_close(cost, found["cost"], float(np.sum(points**2)))
        assert_same_partition(found["labels"], labels)


@pytest.mark.parametrize("kind", ["pca", "averaged", "exact", "penalized"])
def test_directions(core: Core, kind: str) -> None:
    rng = np.random.default_rng(8)
    cases = [
        (*case, 0.0 if i % 17 == 0 else float(10 ** rng.uniform(-3, 3)))
        for i, case in enumerate(with_labels(random_tables(9) + degenerate_tables(), 10))
    ]
    assert len(cases) >= RANDOM
    body = {
        "pca": "core.pcaDirections(M(input[0]), input[2])",
        "averaged": "core.averagedDirections(M(input[0]), input[1], input[2])",
        "exact": "core.exactDirections(M(input[0]), input[1], input[2])",
        "penalized": "core.penalizedDirections(M(input[0]), input[1], input[2], input[3])",
    }[kind]
    for (X, labels, d, weight), found in zip(cases, core(body, cases), strict=True):
        clusters = np.array(labels)
        assert "error" not in found, found
        wanted = {
            "pca": lambda X=X, d=d: pca_directions(X, d),
            "averaged": lambda X=X, d=d, c=clusters: averaged_directions(X, c, d),
            "exact": lambda X=X, d=d, c=clusters: exact_directions(X, c, d),
            "penalized": lambda X=X, d=d, c=clusters, w=weight: penalized_directions(X, c, d, w),
        }[kind]()
        assert_close(found["pcaVariances"], wanted.pca_variances)
        U, V = np.array(found["directions"]), wanted.directions
        if apart(kind, X, clusters, d, weight):
            assert_close(U, V, 1.0)
            assert_close(found["variances"], wanted.variances, float(wanted.pca_variances[0]))


def apart(kind: str, X: Array, labels: Array, d: int, weight: float) -> bool:
    """Tell whether the problem itself fixes each direction to nine digits.

    Rounding turns a direction by about its size relative to the gap between neighbouring values.
    """
    centered = center(X)
    if kind == "exact":
        matrix = indicator(labels).T @ centered.T
    elif kind == "penalized":
        root = np.sqrt(len(X) - 1)
        matrix = np.vstack([centered / root, np.sqrt(weight) * indicator(labels).T])
    else:
        matrix = centered
    values = np.linalg.svd(matrix, compute_uv=False)
    # The next value counts as well, zero if there is none.
    values = np.append(values, 0.0)[: d + 1]
    return bool(np.min(-np.diff(values)) > 1e-6 * values[0])


def test_reconstruction_error(core: Core) -> None:
    cases = with_labels(random_tables(11) + degenerate_tables(), 12)
    body = (
        "core.reconstructionError(M(input[0]),"
        " core.exactDirections(M(input[0]), input[1], input[2]).directions)"
    )
    for (X, labels, d), found in zip(cases, core(body, cases), strict=True):
        U = exact_directions(X, np.array(labels), d).directions
        assert_close(found, reconstruction_error(X, U), float(np.sum(center(X) ** 2)))


@pytest.mark.parametrize("variances", ["pca", "own"])
def test_informed_distances(core: Core, variances: str) -> None:
    cases = [
        (*case, variances)
        for case in with_labels(random_tables(13) + degenerate_tables(), 14)
        if apart("exact", case[0], np.array(case[1]), case[2], 0.0)
    ]
    assert len(cases) >= RANDOM
    body = "core.informedDistances(M(input[0]), input[1], {count: input[2], variances: input[3]})"
    for (X, labels, d, _), found in zip(cases, core(body, cases), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # constant features
            model = InformedMahalanobis(d, feature_labels=labels, variances=variances).fit(X)
        assert_close(found["coordinates"], model.transform(X))
        pairs = np.stack([np.repeat(X, len(X), 0), np.tile(X, (len(X), 1))], axis=1)
        # Not through pairwise_distances, whose expanded squares lose digits for near samples.
        wanted = model.pair_distance(pairs).reshape(len(X), len(X))
        assert_close(np.sqrt(found["squared"]), wanted)


@pytest.mark.parametrize("directions", ["pca", "exact"])
def test_local_distances(core: Core, directions: str) -> None:
    rng = np.random.default_rng(15)
    cases, models = [], []
    for seed in range(RANDOM):
        n, p = int(rng.integers(7, 10)), int(rng.integers(4, 9))
        X = rng.normal(size=(n, p)) @ np.diag(np.exp(rng.normal(size=p)))
        if seed % 10 == 0:
            X[:, 1] = X[:, 0]
        size = int(rng.integers(5, n + 1))
        model = LocalInformedMahalanobis(
            size, n_components=2, n_clusters=3, directions=directions, n_init=2, random_state=seed
        ).fit(X)
        models.append(model)
        labels = None if model.labels_ is None else model.labels_.tolist()
        cases.append((X, size, labels, directions))
    body = """(() => {
        const X = M(input[0]);
        const neighbors = core.neighborsOf(X, input[1]);
        return {neighbors, ...core.localDistances(X, neighbors, input[2],
            {count: 2, kind: input[3]})};
    })()"""
    for (X, *_), model, found in zip(cases, models, core(body, cases), strict=True):
        assert found["neighbors"] == model.neighbors_.tolist()
        wanted = model.pairwise_distances(squared=True)
        assert_close(found["squared"], wanted)
        assert_close(found["factors"], model.components_)
        assert len(wanted) == len(X)


def test_mahalanobis_with_the_pseudo_inverse(core: Core) -> None:
    tables = random_tables(16, 2, 1) + degenerate_tables()
    body = "core.mahalanobisDistances(M(input))"
    for X, found in zip(tables, core(body, tables), strict=True):
        centered = center(X)
        inverse = np.linalg.pinv(centered, rcond=max(X.shape) * np.finfo(float).eps)
        seen = centered @ inverse * np.sqrt(len(X) - 1)
        wanted = np.sum((seen[:, None] - seen) ** 2, axis=2)
        assert_close(found, wanted, 1.0)
        if rank_of(X) == len(X) - 1:
            off_diagonal = np.array(found)[~np.eye(len(X), dtype=bool)]
            assert_close(off_diagonal, np.full(len(off_diagonal), 2.0 * (len(X) - 1)))


def test_diffusion_maps_and_groups(core: Core) -> None:
    rng = np.random.default_rng(17)
    cases = []
    for i, X in enumerate(random_tables(18, 5)):
        alpha, scale = (0.0, 1.0) if i % 2 else (float(rng.uniform(0, 1)), float(rng.uniform(1, 3)))
        cases.append((X / np.std(X, axis=0), alpha, scale))
    line = np.linspace(0, 1, 30)[:, None]
    repeated = np.vstack([line, line[:5]])
    cases += [
        (line, 0.0, 1.0),
        (repeated, 1.0, 1.0),
        (1e8 * line, 0.0, 1.0),
        (1e-8 * line, 0.5, 2.0),
    ]
    body = """(() => {
        const found = core.diffusionMap(core.squaredDistances(M(input[0])), 2,
            {alpha: input[1], scale: input[2]});
        return {...found, groups: core.bipartition(found.embedding)};
    })()"""
    compared = 0
    for (X, alpha, scale), found in zip(cases, core(body, cases), strict=True):
        difference = X[:, None] - X
        distances = np.sqrt(np.sum(difference**2, axis=2))
        model = DiffusionMap(3, alpha=alpha, scale=scale, metric="precomputed").fit(distances)
        assert_close(found["epsilon"], model.epsilon_)
        assert_close(found["eigenvalues"], model.eigenvalues_[:2], 1.0)
        if np.min(-np.diff(model.eigenvalues_)) > 1e-4:
            assert_close(found["embedding"], model.embedding_[:, :2], 1.0)
            assert found["groups"] == bipartition(model.embedding_).tolist()
            compared += 1
    assert compared >= 190


def follow_ups() -> list[tuple[list[float], list[int], list[int]]]:
    rng = np.random.default_rng(19)
    cases = []
    for i in range(RANDOM):
        n, n_groups = int(rng.integers(4, 40)), int(rng.integers(2, 5))
        times = rng.exponential(10, size=n)
        # Ties between events, between events and censorings, and at zero.
        times = np.round(times) if i % 2 else times
        events = rng.integers(0, 2, size=n)
        events[int(rng.integers(n))] = 1
        groups = (
            np.append(np.arange(n_groups), rng.integers(0, n_groups, size=n - n_groups))
            if n >= n_groups
            else np.arange(n) % 2
        )
        cases.append((times.tolist(), events.tolist(), groups.tolist()))
    cases += [
        ([1.0, 2.0, 3.0, 4.0], [1, 1, 1, 1], [0, 0, 1, 1]),
        ([5.0, 5.0, 5.0, 5.0], [1, 1, 1, 1], [0, 1, 0, 1]),  # all at once: no information
        ([1.0, 2.0, 9.0, 9.0], [0, 0, 1, 1], [0, 0, 1, 1]),  # a group that left before any event
        ([0.0, 0.0, 1.0, 2.0], [1, 0, 1, 0], [0, 1, 0, 1]),
        ([3.0] * 50 + [8.0] * 50, [1] * 50 + [0] * 50, [0] * 50 + [1] * 50),  # a tiny p
    ]
    return cases


def test_survival_curves_and_the_log_rank_test(core: Core) -> None:
    cases = follow_ups()
    body = """(() => {
        const [times, events, groups] = input;
        const only = (values, g) => values.filter((_, i) => groups[i] === g);
        const curves = [];
        for (let g = 0; g <= Math.max(...groups); g++)
            curves.push(core.kaplanMeier(only(times, g), only(events, g)));
        return {...core.logRank(times, events, groups), curves};
    })()"""
    for case, found in zip(cases, core(body, cases), strict=True):
        wanted = compare_survival(*case)
        assert_close(found["statistic"], wanted.statistic, 1.0)
        assert_close(found["p"], wanted.p_value)
        assert found["degrees"] == wanted.degrees_of_freedom
        assert_close(found["expected"], wanted.expected)
        for curve, reference in zip(found["curves"], wanted.curves, strict=True):
            assert_close(curve["times"], reference.times)
            assert_close(curve["survival"], reference.survival, 1.0)
            assert_close(curve["lower"], reference.lower, 1.0)
            assert_close(curve["upper"], reference.upper, 1.0)
            assert curve["atRisk"] == reference.at_risk.tolist()
            assert curve["censored"] == reference.censored.tolist()
            assert curve["median"] == pytest.approx(reference.median, rel=1e-12)


def test_chi_squared_tails_far_out_too(core: Core) -> None:
    rng = np.random.default_rng(20)
    cases = [(float(rng.exponential(20)), int(rng.integers(1, 8))) for _ in range(300)]
    cases += [(0.0, 1), (1e-12, 1), (12.49, 1), (12.5, 1), (12.51, 1), (700.0, 1), (50.0, 2)]
    for (x, k), found in zip(cases, core("core.chiSquaredTail(...input)", cases), strict=True):
        assert found == pytest.approx(chi2.sf(x, k), rel=1e-9)
