"""Diffusion maps against the Markov matrix itself, and against the functions that they approach."""

from __future__ import annotations

import math
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.exceptions import NotFittedError

from informed import DiffusionMap
from informed.groups import bipartition


def samples(seed=0, n_samples=30):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_samples, 3)) * [3, 2, 1]


def markov_by_hand(D, epsilon, alpha=0.0):
    """Rows of transition probabilities, in plain loops."""
    n = len(D)
    K = [[math.exp(-(D[i][j] ** 2) / epsilon) for j in range(n)] for i in range(n)]
    q = [sum(row) for row in K]
    K = [[K[i][j] / (q[i] * q[j]) ** alpha for j in range(n)] for i in range(n)]
    return np.array([[k / sum(row) for k in row] for row in K])


def eigenpairs_by_hand(P, count):
    """Leading right eigenvectors of the non-symmetric P, without the trivial one."""
    values, left, right = linalg.eig(P, left=True)
    order = np.argsort(-values.real)
    values, left, right = values.real[order], left.real[:, order], right.real[:, order]
    stationary = left[:, 0] / left[:, 0].sum()
    right = right / np.sqrt(stationary @ right**2)
    return values[1 : count + 1], right[:, 1 : count + 1], stationary


def same_up_to_signs(actual, expected, **tolerance):
    signs = np.sign(np.sum(actual * expected, axis=0))
    assert_allclose(actual, expected * signs, **tolerance)


def path_graph(X, reach):
    """Distances between samples up to ``reach`` places apart, stored in both directions."""
    D = squareform(pdist(X))
    near = abs(np.subtract.outer(np.arange(len(X)), np.arange(len(X)))) <= reach
    return sparse.csr_array((D[near], np.nonzero(near)), shape=D.shape)


# ----------------------------------------------------------------------------- the Markov matrix


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_embedding_is_that_of_the_markov_matrix(alpha, seed):
    X = samples(seed)
    D = squareform(pdist(X))
    dm = DiffusionMap(4, epsilon=20.0, alpha=alpha).fit(X)
    P = markov_by_hand(D, 20.0, alpha)
    values, vectors, stationary = eigenpairs_by_hand(P, 4)
    assert_allclose(dm.eigenvalues_, values)
    same_up_to_signs(dm.eigenvectors_, vectors, atol=1e-8)
    assert_allclose(dm.embedding_, dm.eigenvectors_ * values, atol=1e-8)
    assert_allclose(P @ dm.eigenvectors_, dm.eigenvectors_ * dm.eigenvalues_, atol=1e-10)
    # Orthonormal under the stationary distribution, to each other and to the trivial 1.
    everything = np.column_stack([np.ones(len(X)), dm.eigenvectors_])
    gram = everything.T @ (stationary[:, None] * everything)
    assert_allclose(gram, np.eye(5), atol=1e-10)


def test_diffusion_distance_is_the_distance_of_the_rows_of_the_chain():
    # With all coordinates: ‖Ψ(i) − Ψ(j)‖² = Σ_k (P_ik − P_jk)² / π_k.
    X = samples(4, n_samples=12)
    dm = DiffusionMap(11, epsilon=10.0).fit(X)
    P = markov_by_hand(squareform(pdist(X)), 10.0)
    stationary = eigenpairs_by_hand(P, 1)[2]
    assert_allclose(pdist(dm.embedding_), pdist(P / np.sqrt(stationary)), rtol=1e-6)


def test_precomputed_distances_give_the_same_map():
    X = samples(5)
    plain = DiffusionMap(3).fit(X)
    precomputed = DiffusionMap(3, metric="precomputed").fit(squareform(pdist(X)))
    assert_allclose(precomputed.embedding_, plain.embedding_, atol=1e-10)
    assert_allclose(precomputed.epsilon_, plain.epsilon_)
    assert_array_equal(DiffusionMap(3).fit_transform(X), plain.embedding_)


def test_epsilon_is_the_median_squared_distance_times_scale():
    X = samples(6)
    median = np.median(pdist(X) ** 2)
    assert_allclose(DiffusionMap().fit(X).epsilon_, median)
    assert_allclose(DiffusionMap(scale=0.25).fit(X).epsilon_, 0.25 * median)
    number = DiffusionMap(epsilon=0.25 * median).fit(X)
    assert_allclose(number.embedding_, DiffusionMap(scale=0.25).fit(X).embedding_, atol=1e-10)
    assert DiffusionMap(epsilon=3, scale=7.0).fit(X).epsilon_ == 3.0
    # Of a sparse graph, the median is over the stored pairs.
    graph = path_graph(X, 2)
    rows, columns = graph.nonzero()
    stored = [math.dist(X[i], X[j]) ** 2 for i, j in zip(rows, columns, strict=True) if i != j]
    found = DiffusionMap(metric="precomputed", scale=2.0).fit(graph)
    assert_allclose(found.epsilon_, 2 * np.median(stored))


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1e6])
@pytest.mark.parametrize("as_graph", [False, True])
def test_unit_of_measurement_does_not_matter(size, as_graph):
    D = squareform(pdist(samples(7)))
    expected = DiffusionMap(metric="precomputed").fit_transform(D)
    given = sparse.csr_array(size * D) if as_graph else size * D
    assert_allclose(DiffusionMap(metric="precomputed").fit_transform(given), expected, atol=1e-9)


@pytest.mark.parametrize("size", [1e3, 1e8])
def test_origin_does_not_matter(size):
    X = samples(8)
    plain = DiffusionMap().fit(X)
    moved = DiffusionMap().fit(X + size)
    assert_allclose(moved.embedding_, plain.embedding_, atol=1e-6)
    assert_allclose(moved.transform(X[:3] + size + 0.5), plain.transform(X[:3] + 0.5), atol=1e-6)


# --------------------------------------------------------------------------------- sparse graphs


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("n_components", [3, 29])
def test_complete_graph_is_the_dense_matrix(alpha, n_components):
    D = squareform(pdist(samples(9)))
    options = {"alpha": alpha, "metric": "precomputed"}
    dense = DiffusionMap(n_components, **options).fit(D)
    graph = DiffusionMap(n_components, **options).fit(sparse.csr_array(D))
    assert_allclose(graph.eigenvalues_, dense.eigenvalues_, atol=1e-12)
    # The last eigenvalues are zero to rounding, and their vectors arbitrary.
    assert_allclose(graph.embedding_[:, :3], dense.embedding_[:, :3], atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_what_is_not_stored_is_infinitely_far(alpha):
    X = samples(10)
    graph = path_graph(X, 6)
    D = np.full(graph.shape, np.inf)
    rows, columns = graph.nonzero()
    D[rows, columns] = graph.toarray()[rows, columns]
    np.fill_diagonal(D, 0.0)
    found = DiffusionMap(3, epsilon=15.0, alpha=alpha, metric="precomputed").fit(graph)
    values, vectors, _ = eigenpairs_by_hand(markov_by_hand(D, 15.0, alpha), 3)
    assert_allclose(found.eigenvalues_, values)
    same_up_to_signs(found.eigenvectors_, vectors, atol=1e-7)


@pytest.mark.parametrize("n_components", [5, 11])
def test_negative_eigenvalues_are_not_hidden_by_the_trivial_one(n_components):
    # Steps of a walk to the next sample only: a chain with negative eigenvalues.
    graph = path_graph(np.linspace(0, 1, 12)[:, None], 1)
    D = np.where(graph.toarray() > 0, graph.toarray(), np.inf)
    np.fill_diagonal(D, 0.0)
    values, vectors, _ = eigenpairs_by_hand(markov_by_hand(D, 1.0), n_components)
    found = DiffusionMap(n_components, epsilon=1.0, metric="precomputed").fit(graph)
    assert_allclose(found.eigenvalues_, values)
    same_up_to_signs(found.eigenvectors_, vectors, atol=1e-9)
    assert (values[-1] < 0) == (n_components == 11)


def test_a_pair_stored_in_one_direction_counts_in_both():
    graph = path_graph(samples(11), 6)
    expected = DiffusionMap(metric="precomputed").fit(graph)
    rng = np.random.default_rng(0)
    rows, columns = graph.nonzero()
    keep = rows < columns
    # Some pairs only above the diagonal, some only below it, some in both places.
    flip, both = rng.random(keep.sum()) < 0.5, rng.random(keep.sum()) < 0.3
    i, j = rows[keep], columns[keep]
    i, j = np.where(flip, j, i), np.where(flip, i, j)
    i, j = np.concatenate([i, j[both]]), np.concatenate([j, i[both]])
    part = sparse.csr_array((graph.toarray()[i, j], (i, j)), shape=graph.shape)
    assert 0 < part.nnz < graph.nnz
    found = DiffusionMap(metric="precomputed").fit(part)
    assert_allclose(found.epsilon_, expected.epsilon_)
    assert_allclose(found.embedding_, expected.embedding_, atol=1e-9)


def test_stored_zeros_are_distances_of_zero():
    X = samples(12, n_samples=12)
    X[1] = X[0]
    D = squareform(pdist(X))
    everywhere = np.nonzero(np.ones_like(D))
    graph = sparse.csr_array((D[everywhere], everywhere), shape=D.shape)
    assert graph.nnz == 144
    dense = DiffusionMap(metric="precomputed").fit(D)
    found = DiffusionMap(metric="precomputed").fit(graph)
    assert_allclose(found.embedding_, dense.embedding_, atol=1e-10)
    assert_allclose(found.embedding_[0], found.embedding_[1], atol=1e-10)
    # Left out, the pair counts as far apart, which is another map.
    graph.eliminate_zeros()
    apart = DiffusionMap(metric="precomputed", epsilon=dense.epsilon_).fit(graph)
    assert abs(apart.embedding_ - dense.embedding_).max() > 1e-3


@pytest.mark.parametrize("form", ["csr_array", "csc_array", "coo_array", "csr_matrix"])
def test_any_sparse_format_and_the_graph_is_left_as_it_was(form):
    graph = path_graph(samples(13), 5)
    given = getattr(sparse, form)(graph)
    before = given.toarray()
    expected = DiffusionMap(metric="precomputed").fit_transform(graph)
    assert_allclose(DiffusionMap(metric="precomputed").fit_transform(given), expected, atol=1e-12)
    assert_array_equal(given.toarray(), before)


def two_clouds():
    X = samples(14)
    X[12:] += 1000
    return X


@pytest.mark.parametrize("as_graph", [False, True])
def test_unconnected_samples_warn_and_are_told_apart(as_graph):
    X = two_clouds()
    D = squareform(pdist(X))
    given = sparse.csr_array(np.where(D < 100, D, 0)) if as_graph else D
    dm = DiffusionMap(2, epsilon=20.0, metric="precomputed")
    with pytest.warns(UserWarning, match="2 unconnected parts"):
        dm.fit(given)
    # The leading coordinate is orthogonal to the constant: its signs are the two parts.
    assert_allclose(dm.eigenvalues_[0], 1.0)
    groups = bipartition(dm.embedding_)
    assert_array_equal(groups, np.where(np.arange(30) < 12, groups[0], 1 - groups[0]))
    assert_allclose(np.ptp(dm.embedding_[:12, 0]), 0.0, atol=1e-7)


def test_connected_samples_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        DiffusionMap(metric="precomputed").fit(path_graph(samples(15), 1))


# --------------------------------------------------------------------------------------- Nyström


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("kind", ["samples", "dense", "graph"])
def test_transform_is_the_embedding_on_the_training_samples(alpha, kind):
    X = samples(16)
    given = {"samples": X, "dense": squareform(pdist(X)), "graph": path_graph(X, 7)}[kind]
    metric = "euclidean" if kind == "samples" else "precomputed"
    dm = DiffusionMap(4, alpha=alpha, metric=metric).fit(given)
    assert_allclose(dm.transform(given), dm.embedding_, atol=1e-9)
    assert_allclose(dm.transform(given[:5]), dm.embedding_[:5], atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_transform_of_new_samples_is_the_formula(alpha):
    X, new = samples(17), samples(18, n_samples=5)
    dm = DiffusionMap(3, alpha=alpha, epsilon=25.0).fit(X)
    K = np.exp(-(cdist(new, X) ** 2) / 25.0)
    training = np.exp(-(cdist(X, X) ** 2) / 25.0)
    K = K / K.sum(axis=1, keepdims=True) ** alpha / training.sum(axis=0) ** alpha
    P = K / K.sum(axis=1, keepdims=True)
    phi = P @ dm.eigenvectors_ / dm.eigenvalues_
    assert_allclose(dm.transform(new), dm.eigenvalues_ * phi, atol=1e-10)
    # The same from distances, dense or sparse.
    D = DiffusionMap(3, alpha=alpha, epsilon=25.0, metric="precomputed").fit(cdist(X, X))
    assert_allclose(D.transform(cdist(new, X)), dm.transform(new), atol=1e-8)
    assert_allclose(D.transform(sparse.csr_array(cdist(new, X))), dm.transform(new), atol=1e-8)


def test_transform_is_continuous():
    X = samples(19)
    dm = DiffusionMap(2).fit(X)
    for size in (1e-2, 1e-4):
        moved = dm.transform(X + size * samples(20))
        assert abs(moved - dm.embedding_).max() < 5 * size
    # A new point between two neighbours on a line lies between them.
    line = np.linspace(0, 1, 30)[:, None]
    first = DiffusionMap(1).fit(line)
    between = first.transform((line[1:] + line[:-1]) / 2)[:, 0]
    low = np.minimum(first.embedding_[1:, 0], first.embedding_[:-1, 0])
    high = np.maximum(first.embedding_[1:, 0], first.embedding_[:-1, 0])
    assert ((low < between) & (between < high)).all()


# -------------------------------------------------------------------------- signs, repeats, dtype


def test_largest_entry_is_positive():
    for seed in range(5):
        vectors = DiffusionMap(4).fit(samples(seed)).eigenvectors_
        largest = np.argmax(abs(vectors), axis=0)
        assert (vectors[largest, range(4)] > 0).all()


def test_among_equal_entries_the_first_is_positive():
    # Symmetric about zero: the leading eigenvector is odd, its ends equal up to sign.
    line = np.linspace(-1, 1, 11)[:, None]
    first = DiffusionMap(1).fit(line).eigenvectors_[:, 0]
    assert_allclose(first, -first[::-1], atol=1e-9)
    assert first[0] > 0
    assert DiffusionMap(1).fit(-line).eigenvectors_[0, 0] > 0


def test_repeats_are_bit_equal():
    X, graph = samples(21), path_graph(samples(21), 4)
    assert_array_equal(DiffusionMap().fit_transform(X), DiffusionMap().fit_transform(X))
    maps = [DiffusionMap(metric="precomputed").fit_transform(graph) for _ in range(2)]
    assert_array_equal(*maps)


def test_order_of_samples_does_not_matter():
    X = samples(22)
    order = np.random.default_rng(0).permutation(len(X))
    expected = DiffusionMap(3).fit_transform(X)[order]
    assert_allclose(DiffusionMap(3).fit_transform(X[order]), expected, atol=1e-9)


@pytest.mark.parametrize("alpha", [0, 0.5, 1])
def test_float32_stays_float32(alpha):
    X = samples(23)
    graph = path_graph(X, 8)
    double = DiffusionMap(alpha=alpha).fit(X)
    single = DiffusionMap(alpha=alpha).fit(X.astype(np.float32))
    sparse_single = DiffusionMap(alpha=alpha, metric="precomputed").fit(graph.astype(np.float32))
    for dm, given in ((single, X), (sparse_single, graph)):
        assert dm.embedding_.dtype == dm.eigenvalues_.dtype == np.float32
        assert dm.transform(given.astype(np.float32)).dtype == np.float32
    assert_allclose(single.embedding_, double.embedding_, atol=1e-3)


def test_map_survives_pickling():
    X = samples(24)
    dm = DiffusionMap().fit(X)
    assert_array_equal(pickle.loads(pickle.dumps(dm)).transform(X), dm.transform(X))


# ------------------------------------------------------------------------- what it must approach


def correlation(x, y):
    return abs(np.corrcoef(x, y)[0, 1])


@pytest.mark.parametrize("seed", range(3))
def test_unit_interval_gives_cosines(seed):
    # Eigenfunctions of the Laplace operator with reflecting ends: cos πx, cos 2πx.
    x = np.sort(np.random.default_rng(seed).uniform(size=400))
    dm = DiffusionMap(2, epsilon=0.01, alpha=1.0).fit(x[:, None])
    assert correlation(dm.embedding_[:, 0], np.cos(np.pi * x)) > 0.99
    assert correlation(dm.embedding_[:, 1], np.cos(2 * np.pi * x)) > 0.97
    assert correlation(DiffusionMap(1).fit_transform(x[:, None])[:, 0], np.cos(np.pi * x)) > 0.99


def test_alpha_removes_the_density_of_the_samples():
    # Crowded towards 0. With α = 1 the map does not see it, with α = 0 it does.
    x = np.expm1(3 * np.linspace(0, 1, 400)) / np.expm1(3)
    even = np.linspace(0, 1, 200)
    found = []
    for alpha in (0.0, 0.5, 1.0):
        dm = DiffusionMap(1, epsilon=0.002, alpha=alpha).fit(x[:, None])
        function = np.interp(even, x, dm.eigenvectors_[:, 0])
        found.append(correlation(function, np.cos(np.pi * even)))
    assert found[0] < found[1] < found[2]
    assert found[0] < 0.99
    assert found[2] > 0.9995


# ---------------------------------------------------------------------------------------- errors


def test_transform_far_from_everything_is_refused():
    dm = DiffusionMap().fit(samples(25))
    new = samples(26, n_samples=3)
    new[1] += 1e4
    with pytest.raises(ValueError, match=r"X\[1\] is too far .* epsilon="):
        dm.transform(new)


def test_nothing_works_before_fit():
    with pytest.raises(NotFittedError):
        DiffusionMap().transform(samples())
