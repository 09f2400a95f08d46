"""Speed and memory side by side with the alternatives: ratios from one run, no promise of seconds.

``make bench`` runs this; it prints a table and writes ``benchmarks/results.json``, from which the
page "How fast, how large" of the book is made. ``--quick`` takes fewer repeats and smaller sizes,
and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import paper_way
from many_features import many_features
from measure import ROOT, in_own_process, medians, once
from report import Report
from scipy import linalg
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.covariance import EmpiricalCovariance, LedoitWolf
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.clusters import features
from informed.clusters import wide as wide_kmeans
from informed.clusters.kmeans import spread_partitions
from informed.datasets import make_curved_manifold, make_risk_cohort, make_two_types
from informed.directions import exact_directions, reconstruction_error
from informed.experiments import neighborhood_sweep
from informed.gap import neighborhood_gap
from informed.metrics.neighbors import neighbors_by_trees


def factor_model(n: int, p: int, seed: int = 0) -> np.ndarray:
    """Draw samples of six hidden variables with noise."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 6)) @ rng.normal(size=(6, p)) + rng.normal(size=(n, p))


# ------------------------------------------------------------------------- the global metric


def pairwise(report: Report, sizes: list[int]) -> None:
    curve: dict[str, list[float]] = {"samples": [], "over_floor": [], "cdist_over_ours": []}
    for n in sizes:
        X = factor_model(n, 200)
        metric = InformedMahalanobis(6, random_state=0).fit(X)
        Z, VI = metric.transform(X), metric.get_mahalanobis_matrix()
        ours, floor = medians(
            lambda X=X, metric=metric: metric.pairwise_distances(X),
            lambda Z=Z: euclidean_distances(Z),
            repeats=5 * report.repeats,
        )
        (part,) = medians(
            lambda X=X, VI=VI: cdist(X[:100], X, "mahalanobis", VI=VI),
            repeats=min(3, report.repeats),
        )
        theirs = part * n / 100
        for name, value in zip(curve, (n, ours / floor, theirs / ours), strict=True):
            curve[name].append(float(f"{value:.3g}"))
        if n == 1000:
            report.add(
                "all pairs",
                "pairwise_distances over euclidean_distances of the 6 coordinates, 1000 × 200",
                ours / floor,
                "<= 1.3",
            )
            report.add(
                "all pairs",
                "scipy's cdist(X, X, 'mahalanobis', VI=…) over pairwise_distances, 1000 × 200",
                theirs / ours,
                ">= 100",
                note="100 of 1000 rows were timed, and scaled up",
            )
            one_sided(report, X, ours)
    report.growth |= {f"pairwise_{name}": values for name, values in curve.items()}


def one_sided(report: Report, X: np.ndarray, ours: float) -> None:
    """scikit-learn's covariances measure distances to one centre at a time."""
    for estimator in (EmpiricalCovariance(), LedoitWolf()):
        estimator.fit(X)

        def to_some_samples(estimator: EmpiricalCovariance = estimator) -> None:
            for center in X[:20]:
                estimator.location_ = center
                estimator.mahalanobis(X)

        (theirs,) = medians(to_some_samples, repeats=3)
        report.add(
            "all pairs",
            f"{type(estimator).__name__}.mahalanobis over pairwise_distances, 1000 × 200",
            theirs / 20 * len(X) / ours,
            note="20 of 1000 centres were timed, and scaled up",
        )


def global_fit(report: Report, shapes: list[tuple[int, int]]) -> None:
    for n, p in shapes:
        X = factor_model(n, p)
        ours, svd, kmeans = medians(
            lambda X=X: InformedMahalanobis(6, random_state=0).fit(X),
            lambda X=X: linalg.svd(X - X.mean(axis=0), full_matrices=False),
            lambda X=X: KMeans(7, n_init=10, random_state=0).fit((X - X.mean(axis=0)).T),
            repeats=report.repeats,
        )
        report.add(
            "global fit",
            f"global fit over thin SVD + KMeans of the same data, {n} × {p}",
            ours / (svd + kmeans),
            "<= 1.5",
        )


def metric_learn(report: Report) -> None:
    python = os.environ.get("METRIC_LEARN_PYTHON")
    what = "metric-learn's Covariance over the global fit, both with transform, 300 × 1000"
    if python:
        report.add(
            "global fit", what, in_own_process("with_metric_learn.py", python=python)["ratio"]
        )
    else:
        report.add(
            "global fit",
            what,
            None,
            note="its last release does not run with today's scikit-learn: set METRIC_LEARN_PYTHON",
        )


def directions(report: Report) -> None:
    toy = make_two_types(100, shuffle=False, random_state=0)
    labels, d = toy.feature_labels, 18
    (ours,) = medians(lambda: exact_directions(toy.X, labels, d), repeats=5 * report.repeats)
    least = reconstruction_error(toy.X, exact_directions(toy.X, labels, d).directions)
    theirs, (_, steps) = once(
        lambda: paper_way.gradient_until(toy.X, labels, d, (1 + 1e-4) * least)
    )
    report.add(
        "directions",
        "gradient projection with p × p matrices over the closed form, toy (100 × 900)",
        theirs / ours,
        ">= 1000",
        note=f"run once, until the objective agreed to one part in ten thousand: {steps} steps",
    )


# -------------------------------------------------------------------------- the local metric


def inertia(rows: np.ndarray, labels: np.ndarray) -> float:
    return sum(
        float(rows[labels == k].var(axis=0).sum() * (labels == k).sum()) for k in set(labels)
    )


def local_fit(report: Report, n_cohorts: int) -> None:
    for n_neighbors in (20, 40):
        speed, cost = [], []
        for seed in range(n_cohorts):
            X = make_risk_cohort(random_state=seed).X
            fit: Callable[[], LocalInformedMahalanobis] = lambda X=X, N=n_neighbors: (  # noqa: E731
                LocalInformedMahalanobis(N, 6, 7, random_state=0).fit(X)
            )
            local = fit()
            plain = paper_way.plain_clusters(X, local.neighbors_, 7)
            ours, theirs = medians(
                fit,
                lambda X=X, near=local.neighbors_: paper_way.plain_clusters(X, near, 7),
                repeats=2,
            )
            speed.append(theirs / ours)
            centered = X - X.mean(axis=0)
            found = [
                inertia(centered[near].T, labels)
                for near, labels in zip(local.neighbors_, local.labels_, strict=True)
            ]
            cost.append(np.mean(found) / np.mean([model.inertia_ for model in plain]))
        report.add(
            "local fit",
            f"loop of KMeans(n_init=10) over the whole local fit, 82 × 200, N = {n_neighbors}",
            float(np.median(speed)),
            ">= 5",
            note=f"median over {n_cohorts} cohorts",
        )
        report.add(
            "local fit",
            f"mean inertia of the local fit over that of the loop, N = {n_neighbors}",
            float(np.mean(cost)),
            "<= 1",
            note=f"mean over {n_cohorts} cohorts",
        )


def local_against_paper(report: Report, n: int, p: int) -> None:
    N, d, k, paper_steps = 20, 6, 7, 100
    X = make_curved_manifold(n, p, n_clusters=k, noise=0.5, random_state=0).X
    ours, local = once(lambda: LocalInformedMahalanobis(N, d, k, random_state=0).fit(X))
    pairs, D = once(local.pairwise_distances)
    ours += pairs
    near, labels = X[local.neighbors_[0]], local.labels_[0]
    (clusters,) = medians(lambda: paper_way.plain_clusters(X, local.neighbors_[:3], k), repeats=2)
    model, inverse = once(lambda: paper_way.local_inverse(near, labels, d, 1))
    ten_more = once(lambda: paper_way.local_inverse(near, labels, d, 11))[0] - model
    n_pairs = n * (n - 1) // 2

    def some_pairs() -> None:
        for i in range(20):
            paper_way.pair_distance(X[i], X[i + 1], inverse, inverse)

    (loop,) = medians(some_pairs, repeats=3)
    assert np.isfinite(D).all()
    shared = n * (clusters / 3 + model) + n_pairs * loop / 20
    scaled = "timed: 3 clusterings, 1 inverse, 10 further steps, 20 pairs; scaled up to all"
    report.add(
        "local fit",
        f"paper's way over local fit + all pairs, {n} × {p}, {paper_steps} gradient steps",
        (shared + n * (paper_steps - 1) * ten_more / 10) / ours,
        ">= 50",
        note=scaled,
    )
    report.add(
        "local fit",
        f"the same with a single gradient step, {n} × {p}",
        shared / ours,
        note=scaled,
    )


def sweep(report: Report) -> None:
    cohort = make_risk_cohort(random_state=0)
    with threadpool_limits(1):
        start = time.perf_counter()
        paper_way.plain_local_distances(cohort.X, 20, 6, 7)
        plain = time.perf_counter() - start
    start = time.perf_counter()
    neighborhood_sweep(cohort, n_jobs=2)
    ours = time.perf_counter() - start
    report.add(
        "sweep",
        "220 × one plain loop over the sweep of 11 sizes × 20 seeds on 2 workers, gap included",
        220 * plain / ours,
        note="by the clock; one plain loop was timed, and multiplied",
    )
    report.add(
        "sweep",
        "that sweep, in minutes",
        ours / 60,
        "<= 1",
    )
    start = time.perf_counter()
    neighborhood_gap(cohort.X, range(10, 61, 5), 7, random_state=0, n_jobs=2)
    report.add(
        "sweep",
        "share of it that the gap curve takes",
        (time.perf_counter() - start) / ours,
        note="k-means in random reference sets; the rest is k-means in the neighbourhoods",
    )


# ------------------------------------------------------------------------------------- large


def neighbors(report: Report, n: int) -> None:
    X = make_curved_manifold(n, 50, noise=0.1, random_state=0).X.astype(np.float32)
    exact, near = once(
        lambda: NearestNeighbors(n_neighbors=20).fit(X).kneighbors(X, return_distance=False)
    )
    ours, found = once(lambda: neighbors_by_trees(X, 20, np.random.RandomState(0)))
    shared = [len(set(a) & set(b)) / 20 for a, b in zip(near[::50], found[::50], strict=True)]

    def mean_distance(names: np.ndarray) -> float:
        steps = X[names[::50]] - X[::50][:, None]
        return float(np.sqrt((steps.astype(float) ** 2).sum(axis=2)).mean())

    report.add("large", f"exact NearestNeighbors over the search by trees, {n} × 50", exact / ours)
    report.add(
        "large", f"share of the 20 nearest that the trees find, {n} × 50", float(np.mean(shared))
    )
    report.add(
        "large",
        f"mean distance of the 20 that they find over that of the 20 nearest, {n} × 50",
        mean_distance(found) / mean_distance(near),
    )


def large(report: Report, sizes: list[int]) -> None:
    base = in_own_process("large.py", "nothing", 0, 0)["peak_mb"]
    runs = [in_own_process("large.py", "local", n, 50) for n in sizes]
    seconds = [run["fit"] + run["graph"] + run["map"] for run in runs]
    peaks = [run["peak_mb"] - base for run in runs]
    report.growth |= {
        "large_samples": list(sizes),
        "large_time": [round(s / seconds[0], 2) for s in seconds],
        "large_peak_mb": [round(peak) for peak in peaks],
        "large_share_of_square": [
            float(f"{peak / (4 * n**2 / 2**20):.2g}") for peak, n in zip(peaks, sizes, strict=True)
        ],
    }
    for i in range(1, len(sizes)):
        report.add(
            "large",
            f"local fit + graph + diffusion map: time at {sizes[i]} × 50 over half as many",
            seconds[i] / seconds[i - 1],
            "<= 2.3",
        )
    report.add(
        "large",
        f"peak memory at {sizes[-1]} × 50 over half as many samples",
        peaks[-1] / peaks[-2],
        "<= 2.3",
        note=f"{peaks[-1]:.0f} MB beyond what the imports take; one matrix of all pairs in single "
        f"precision would be {4 * sizes[-1] ** 2 / 2**20:,.0f} MB",
    )


def wide(report: Report, n: int, p: int) -> None:
    base = in_own_process("large.py", "nothing", 0, 0)["peak_mb"]
    peak = in_own_process("large.py", "whole", n, p)["peak_mb"] - base
    report.add(
        "large",
        f"global fit + all pairs, {n} × {p}: peak memory over the size of the data",
        peak / (8 * n * p / 2**20),
        note=f"one {p} × {p} matrix would be {p / n:.0f} times the data",
    )


def cluster(report: Report, n: int) -> None:
    load = os.getloadavg()[0]
    found = in_own_process("cluster.py", n)
    client, workers = found["client"], found["workers"]
    report.add(
        "cluster",
        f"local fit on 1 Dask worker over 2 workers, {n} × 50, by the clock",
        found["ratio"],
        ">= 1.7",
        note="workers are processes of one thread on this machine"
        + (f"; other programs ran beside them, load {load:.0f}" if load >= 1 else ""),
    )
    report.add(
        "cluster",
        "share of the CPU time of the fit on 1 worker that is the client's",
        client / (client + workers),
        note="search, starts, sending, gathering and Dask's scheduler, which no worker takes over",
    )
    report.add(
        "cluster",
        "what two workers can give at most, if the client and they never work at the same time",
        (client + workers) / (client + workers / 2),
        note="computed from the share: 2 / (1 + share)",
    )


def wide_local(report: Report, n: int, p: int) -> None:
    """K-means of the neighbourhoods by a first look in single precision, and without."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(n, p))
    clustered = 0.7 * rng.normal(size=(n, 7))[:, rng.integers(7, size=p)] + noise
    for name, X in (
        ("features in clusters", clustered),
        ("six factors", factor_model(n, p)),
        ("noise, where k-means is slow", noise),
    ):
        ours, found = once(lambda X=X: LocalInformedMahalanobis(random_state=0).fit(X))
        with patch.object(features, "WIDE", p + 1):
            plain, other = once(lambda X=X: LocalInformedMahalanobis(random_state=0).fit(X))
        assert np.array_equal(found.components_, other.components_)
        report.add(
            "wide local fit",
            f"local fit in double precision alone over the local fit, {n} × {p}, {name}",
            plain / ours,
            note="run once each; the same bits",
        )
    # The floor: k-means from ten starts has to compare all points with all centres in each round.
    near = np.ascontiguousarray((clustered - clustered.mean(axis=0))[:20]).astype(np.float32)
    centers = rng.normal(size=(70, 20)).astype(np.float32)
    rows = near.T.astype(np.float64)
    starts = spread_partitions(rows, 7, 10, np.random.RandomState(0))
    one, four, product = medians(
        lambda: some_rounds(rows, starts, 1),
        lambda: some_rounds(rows, starts, 4),
        lambda: centers @ near,
        repeats=report.repeats,
    )
    report.add(
        "wide local fit",
        f"one round of ten runs over its product of {p} points with 70 centres in single precision",
        (four - one) / 3 / product,
        note="rounds 2 to 4; the product is the floor, the rest takes minima and moves the centres",
    )


def some_rounds(rows: np.ndarray, starts: np.ndarray, n_rounds: int) -> None:
    with patch.object(wide_kmeans, "MAX_ROUNDS", n_rounds):
        wide_kmeans.best_wide_partition(rows.T, starts, 7)


# Topics that can be measured by themselves.
ANEW: dict[str, Callable[[Report], None]] = {
    "cluster": lambda report: cluster(report, 4000),
    "many features": lambda report: many_features(report, 200, 20_000),
    "sweep": lambda report: sweep(report),
    "wide local fit": lambda report: wide_local(report, 50, 20_000),
}


def measure_anew(topic: str) -> None:
    """Replace the lines of one topic, which depend on no other, in the results."""
    path = ROOT / "benchmarks" / "results.json"
    kept = json.loads(path.read_text("utf-8"))
    report = Report(kept["repeats"], kept["cores"])
    with threadpool_limits(1):
        ANEW[topic](report)
    found = json.loads(report.to_json())["lines"]
    topics = [line["topic"] for line in kept["lines"]]
    first = topics.index(topic) if topic in topics else len(topics)
    rest = [line for line in kept["lines"] if line["topic"] != topic]
    kept["lines"] = rest[:first] + found + rest[first:]
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small and rough; writes nothing")
    parser.add_argument("--only", choices=sorted(ANEW), help="measure one topic anew")
    options = parser.parse_args()
    quick = options.quick
    if options.only:
        measure_anew(options.only)
        return
    report = Report(repeats=2 if quick else 7)
    print(
        f"{report.cores} cores; one thread unless a line says otherwise; medians of CPU time, "
        "runs taken in turn\n"
    )
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pairwise(report, [500, 1000] if quick else [250, 500, 1000, 2000])
        global_fit(report, [(100, 1000)] if quick else [(100, 1000), (200, 4000), (400, 8000)])
        many_features(report, *((100, 12_000) if quick else (200, 20_000)))
        metric_learn(report)
        directions(report)
        local_fit(report, 1 if quick else 4)
        wide_local(report, *((25, 2000) if quick else (50, 20_000)))
        local_against_paper(report, *((60, 500) if quick else (300, 2000)))
        neighbors(report, 4000 if quick else 25_000)
    large(report, [2000, 4000] if quick else [12_500, 25_000, 50_000, 100_000])
    wide(report, *((100, 2000) if quick else (500, 20_000)))
    cluster(report, 1000 if quick else 4000)
    if not quick:
        sweep(report)
    missed = [line for line in report.lines if line.reached is False]
    aimed = [line for line in report.lines if line.reached is not None]
    print(f"\n{len(aimed) - len(missed)} of {len(aimed)} targets reached")
    if not quick:
        (ROOT / "benchmarks" / "results.json").write_text(report.to_json(), encoding="utf-8")


if __name__ == "__main__":
    main()
