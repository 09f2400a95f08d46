"""Earlier statements of the book, each put into numbers exactly as strong as it was.

A function takes a seed and returns two truths: whether the *earlier* statement holds in these
numbers, and whether what the book says *now* holds in them. ``test_refuted.py`` runs them all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from toy import Array, covariance, explicit_indicator, hidden_square, leading

from informed import InformedMahalanobis
from informed.clusters import average_over_clusters, cluster_features
from informed.datasets import make_curved_manifold, make_hidden_square
from informed.directions import exact_directions, gradient_directions, pca_directions

Claim = Callable[[int], tuple[bool, bool]]


def misfit(V: Array, labels: Array) -> float:
    return float(np.sum((V - average_over_clusters(V, labels)) ** 2))


def near(one: float, other: float, part: float) -> bool:
    return bool(abs(one - other) <= part * abs(other))


# ---------------------------------------- averaging


def second_direction(n: int, seed: int) -> list[float]:
    """Squared errors found, and what the noise alone and the whole formula predict."""
    data = make_hidden_square(n, 150, spread=0.0, noise=0.5, random_state=seed)
    V = np.linalg.svd(data.transformation, full_matrices=False)[0]
    u = pca_directions(data.X, 2).directions[:, 1]
    u, v = u * np.sign(u @ V[:, 1]), V[:, 1]
    averaged = average_over_clusters(u, data.feature_labels)
    noise = (1 - (u @ v) ** 2) * (3 - 2) / (150 - 2)
    found = [np.sum((w - v) ** 2) for w in (u, averaged, averaged / np.linalg.norm(averaged))]
    return [*found, noise, noise + (1 - u @ v) ** 2]


def averaged_error_is_noise_alone(seed: int) -> tuple[bool, bool]:
    old, new = [], []
    for n in (10, 20, 40):
        draws = [second_direction(n, 1000 * seed + k) for k in range(25)]
        _, averaged, _, noise, whole = np.mean(draws, axis=0)
        old.append(near(noise, averaged, 0.5))
        new.append(near(whole, averaged, 0.1))
    return any(old), all(new)


def of_p_errors_k_are_left(seed: int) -> tuple[bool, bool]:
    draws = [second_direction(20, 1000 * seed + k) for k in range(25)]
    by_pca, averaged, scaled, _, _ = np.median(draws, axis=0)
    return by_pca / averaged > 25, 3 < by_pca / averaged < 10 and by_pca / scaled > 30


def gain_of_unbiased_directions(seed: int) -> tuple[bool, bool]:
    """Break-even: noise around the truth itself, against directions that are shrunk towards it."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(4), [10, 15, 20, 15])
    V = np.linalg.qr(rng.normal(size=(4, 2))[labels] + 0.4 * rng.normal(size=(60, 2)))[0]
    v, loss = V[:, 1], misfit(V[:, 1], labels)
    old, new = [], []
    for cosine in (0.2, 0.4):
        w = rng.normal(size=(4000, 60))
        w -= w @ V @ V.T
        w /= np.linalg.norm(w, axis=1, keepdims=True)
        u = cosine * v + np.sqrt(1 - cosine**2) * w
        averaged = average_over_clusters(u.T, labels).T
        gain = np.mean(np.sum((u - v) ** 2, axis=1) - np.sum((averaged - v) ** 2, axis=1))
        share = (60 - 4 - misfit(V, labels)) / 58
        old.append(abs(2 * (1 - cosine) * (60 - 4) / 60 - loss - gain) < 0.03)
        new.append(abs((1 - cosine**2) * share - loss * cosine * (2 - cosine) - gain) < 0.01)
    return any(old), all(new)


def averaged_directions_are_never_orthogonal(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    U = np.linalg.qr(np.column_stack([np.ones(12), rng.normal(size=12)]))[0]
    averaged = average_over_clusters(U, np.repeat(np.arange(4), 3))
    orthogonal = abs(averaged[:, 0] @ averaged[:, 1]) < 1e-12
    untouched = np.allclose(averaged, U)
    other = average_over_clusters(np.linalg.qr(rng.normal(size=(12, 2)))[0], np.arange(12) // 3)
    return (not orthogonal) or untouched, orthogonal and abs(other[:, 0] @ other[:, 1]) > 1e-6


# ---------------------------------------- PCA


def each_leading_variance_is_too_large(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    draws = rng.normal(size=(2000, 10, 3)) * np.sqrt([1, 1, 0.1])
    centred = draws - draws.mean(axis=1, keepdims=True)
    means = np.mean(np.linalg.svd(centred, compute_uv=False) ** 2 / 9, axis=0)
    return bool(np.all(means[:2] > 1)), bool(np.all(np.cumsum(means)[:2] > [1, 2]))


def units_matter_below_the_number_of_features(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 50))
    units = np.exp(rng.normal(size=50))

    def same(data: Array) -> bool:
        before, after = (
            pdist(InformedMahalanobis(2, directions="pca").fit_transform(each))
            for each in (data, data * units)
        )
        return np.allclose(before, after, rtol=0.01)

    return not same(X), same(X) and not same(X + 0.3 * rng.normal(size=X.shape))


# ---------------------------------------- k-means and PCA


def staircases_attain_the_bound_with_one_centring(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(4), [6, 5, 4, 3])
    X = 4 * rng.normal(size=(30, 4))[:, labels] + 4 * rng.normal(size=(30, 1))
    attained = []
    for Y in (X, X - X.mean(axis=1, keepdims=True)):
        centred = (Y - Y.mean(axis=0)).T
        left, s, _ = np.linalg.svd(centred, full_matrices=False)
        assert misfit(left[:, :3], labels) < 1e-9  # staircases in both cases
        cost = np.sum((centred - average_over_clusters(centred, labels)) ** 2)
        attained.append(near(cost, np.sum(s[3:] ** 2), 1e-6) or np.sum(s[3:] ** 2) < 1e-6)
    return attained[0], attained[1]


def printed_covariance_is_centred(seed: int) -> tuple[bool, bool]:
    X, hidden, _ = hidden_square(150, seed)
    X = X[:, ::20]
    agreement = []
    for data in (X, X - X.mean(axis=0)):
        s, right = np.linalg.svd(data, full_matrices=False)[1:]
        agreement.append(np.corrcoef(pdist(X @ (right[:2].T / s[:2])), pdist(hidden))[0, 1])
    return agreement[0] > 0.95, agreement[1] > 0.95


def staircases_need_equal_noise(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), [5, 6, 7])
    H = explicit_indicator(labels)
    common = H @ (40 * np.eye(3) + np.diag(rng.uniform(size=3))) @ H.T
    gaps = []
    for noise in (np.array([1.0, 3, 6])[labels], rng.uniform(1, 6, size=18)):
        gaps.append(misfit(leading(common + np.diag(noise), 3)[0], labels))
    return gaps[0] > 1e-9, gaps[0] < 1e-9 < 1e-4 < gaps[1]


def one_centring_stands_for_two(seed: int) -> tuple[bool, bool]:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), [5, 6, 7])
    H, centring = explicit_indicator(labels), np.eye(18) - 1 / 18
    root = rng.normal(size=(3, 3))
    sigma = H @ (20 * np.eye(3) + 4 * root @ root.T) @ H.T + np.eye(18)
    U, V = leading(sigma, 2)[0], leading(centring @ sigma @ centring, 2)[0]
    same = np.linalg.norm(U @ U.T - V @ V.T) < 0.01
    return same, misfit(U, labels) < 1e-9 and misfit(V, labels) < 1e-9


def blurred_tables(n_tables: int, seed: int) -> list[bool]:
    """Four blurred clusters, spread 1.2, 30 samples: is each feature placed rightly?"""
    right = []
    for table in range(n_tables):
        rng = np.random.default_rng([seed, table])
        group = np.repeat(np.arange(4), 10)
        rows = rng.normal(size=(4, 30))[group] + 1.2 * rng.normal(size=(40, 30))
        found = KMeans(4, n_init=10, random_state=0).fit_predict(rows - rows.mean(axis=0))
        right.append(adjusted_rand_score(group, found) == 1)
    return right


def one_table_speaks_for_all(seed: int) -> tuple[bool, bool]:
    right = blurred_tables(30, seed)
    return all(right), 0.5 < np.mean(right) < 1


# ---------------------------------------- the algorithm


def exact_and_iterated_distances_are_the_same(seed: int) -> tuple[bool, bool]:
    X = make_hidden_square(60, 120, spread=0.1, noise=1.0, random_state=seed).X
    labels = cluster_features(X, 5, n_init=3, random_state=0)
    exact, end = exact_directions(X, labels, 3), gradient_directions(X, labels, 3)
    cosines = np.linalg.svd(exact.directions.T @ end.directions, compute_uv=False)
    root = np.sqrt(exact.pca_variances)
    ratio = pdist(X @ end.directions / root) / pdist(X @ exact.directions / root)
    return bool(np.ptp(ratio) < 0.005), np.allclose(cosines, 1, atol=1e-5)


def tuning_never_lowers_the_score(seed: int) -> tuple[bool, bool]:
    """Mean over data sets of the chapter's grid, which leaves out the right number of clusters."""
    gains = []
    for draw in range(3):
        data = make_hidden_square(360, 150, spread=0.1, noise=1.0, random_state=10 * seed + draw)
        target = (data.hidden > 0.5) @ [1, 2]
        X, y, new, truth = data.X[:60], target[:60], data.X[60:], target[60:]
        untuned = make_pipeline(InformedMahalanobis(2, n_init=2, random_state=0))
        untuned.steps.append(("neighbours", KNeighborsClassifier(5)))
        grid = {
            "informedmahalanobis__n_components": [1, 2, 3, 4],
            "informedmahalanobis__n_clusters": [4, 8],
        }
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        tuned = GridSearchCV(untuned, grid, cv=folds).fit(X, y)
        gains.append(tuned.score(new, truth) - untuned.fit(X, y).score(new, truth))
    return min(gains) >= 0, np.mean(gains) < 0


def directions_always_harm_more_than_clusters(seed: int) -> tuple[bool, bool]:
    harms = []
    for draw in range(10):
        data = make_hidden_square(60, 300, spread=0.1, noise=1.0, random_state=10 * seed + draw)
        row = []
        for d, n_clusters in ((2, 3), (2, 16), (3, 4)):
            fit = InformedMahalanobis(d, n_clusters, n_init=1, random_state=0)
            row.append(np.corrcoef(pdist(fit.fit_transform(data.X)), pdist(data.hidden))[0, 1])
        harms.append(row)
    right, clusters, directions = np.transpose(harms)
    means = right.mean(), clusters.mean(), directions.mean()
    return bool(np.all(directions < clusters)), means[0] > max(means[1:])


# ---------------------------------------- local metrics


def near_errors(seed: int) -> tuple[float, float]:
    """Errors of near distances: three global directions, and the true Jacobians."""
    data = make_curved_manifold(60, 200, noise=0.2, random_state=seed)
    hidden = pdist(data.hidden)
    close = hidden < 0.3
    pairs = np.triu_indices(len(data.X), 1)
    seen = np.einsum(
        "idp,ijp->ijd", np.linalg.pinv(data.jacobian(data.hidden)), data.X[:, None] - data.X
    )
    squared = np.sum(seen**2, axis=2)
    jacobians = np.sqrt((squared + squared.T)[pairs] / 2)
    projected = pdist(data.X @ pca_directions(data.X, 3).directions)
    errors = []
    for distances in (projected, jacobians):
        d, h = distances[close], hidden[close]
        errors.append(np.linalg.norm(d * (d @ h) / (d @ d) - h) / np.linalg.norm(h))
    return errors[0], errors[1]


def nothing_beats_the_true_jacobians(seed: int) -> tuple[bool, bool]:
    by_three, by_jacobians = near_errors(seed)
    return by_three >= by_jacobians, by_three < by_jacobians


def numbers_of_different_draws_compare(seed: int) -> tuple[bool, bool]:
    errors = np.array([near_errors(100 * seed + k) for k in range(8)])
    across = errors[:, None, 0] < errors[None, :, 1]
    return bool(across.all()), bool(np.diag(across).all())


def a_change_of_speed_makes_too_long(seed: int) -> tuple[bool, bool]:
    h = np.random.default_rng(seed).uniform(0.05, 0.3)
    seen = {
        "sinh": 2 * np.sinh(h / 2) / np.cosh(h / 2),  # the speed is least in the middle
        "exp": 2 * np.sinh(h / 2) * np.sqrt(np.cosh(h)),  # steady growth of the speed
    }
    return all(s > h for s in seen.values()), seen["sinh"] < h < seen["exp"]


def neighbours_see_the_stretch(seed: int) -> tuple[bool, bool]:
    """Erratum 10: the covariance of nearest neighbours would be a multiple of J Jᵀ."""
    rng = np.random.default_rng(seed)
    hidden = rng.uniform(-1, 1, size=(3000, 2))
    X = hidden * [4.0, 1.0]
    cloud = X[np.argsort(np.sum(X**2, axis=1))[:100]]
    values = np.linalg.eigvalsh(covariance(cloud))
    return values[1] / values[0] > 8, values[1] / values[0] < 2


CLAIMS: dict[str, Claim] = {
    "averaging: what is left of the error is the noise's share": averaged_error_is_noise_alone,
    "averaging: of p errors K are left, the whole gain": of_p_errors_k_are_left,
    "averaging: break-even of noise around the truth": gain_of_unbiased_directions,
    "averaging: not orthogonal unless untouched": averaged_directions_are_never_orthogonal,
    "pca-distance: each leading variance is too large": each_leading_variance_is_too_large,
    "pca-distance: units matter for d < p": units_matter_below_the_number_of_features,
    "kmeans-and-pca: bound attained iff staircases": staircases_attain_the_bound_with_one_centring,
    "kmeans-and-pca: the printed covariance is centred": printed_covariance_is_centred,
    "kmeans-and-pca: staircases need equal noise": staircases_need_equal_noise,
    "kmeans-and-pca: one centring stands for two": one_centring_stands_for_two,
    "kmeans-and-pca: every single feature, in every table": one_table_speaks_for_all,
    "global-algorithm: same span, same distance": exact_and_iterated_distances_are_the_same,
    "global-algorithm: a grid search cannot lose": tuning_never_lowers_the_score,
    "global-algorithm: directions harm more": directions_always_harm_more_than_clusters,
    "local-metrics: nothing beats true Jacobians": nothing_beats_the_true_jacobians,
    "local-metrics: different draws compare": numbers_of_different_draws_compare,
    "local-metrics: changes of speed lengthen": a_change_of_speed_makes_too_long,
    "errata: no slip touches the idea (10)": neighbours_see_the_stretch,
}
