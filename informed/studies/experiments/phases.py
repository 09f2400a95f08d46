"""When clusters help: theory beside simulation over samples and noise, on a ring of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import pdist

from informed.clusters import cluster_features
from informed.directions import exact_directions, pca_directions
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.results import Result, Table
from informed.theory import Recovery, expected_errors, misfit, recovery
from informed.validation import Array, check_choice, check_count, check_number, check_some

__all__ = ["ClusterRing", "PhaseDiagram", "cluster_ring", "phase_diagram"]

METHODS = ("pca", "known", "found")
# Less than half a direction missing counts as found.
FOUND = 0.5


@dataclass(frozen=True)
class ClusterRing:
    """Six clusters of features on a ring, and a weak direction that tells neighbours apart.

    Two strong hidden variables place the clusters on a circle. A third, weak one pushes them up and
    down in turn. The features of a cluster have equal coefficients, so the clusters fit the truth.

    Attributes
    ----------
    n_features : int
        Number of features, a multiple of ``n_clusters``.
    n_clusters : int
        Number of clusters, even and at least 4.
    strong, weak : float
        Variances of the signal along the two strong directions and the weak one.
    """

    n_features: int = 300
    n_clusters: int = 6
    strong: float = 150.0
    weak: float = 6.0

    @property
    def strengths(self) -> Array:
        """Variances of the signal along the three directions."""
        return np.array([self.strong, self.strong, self.weak])

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """Cluster of each feature."""
        return np.repeat(np.arange(self.n_clusters), self.n_features // self.n_clusters)

    @cached_property
    def loadings(self) -> Array:
        """Coefficients of a feature of each cluster on the hidden variables, K × 3."""
        turn = 2 * np.pi * np.arange(self.n_clusters) / self.n_clusters
        shape = np.column_stack(
            [
                np.sqrt(2) * np.cos(turn),
                np.sqrt(2) * np.sin(turn),
                np.cos(np.pi * np.arange(len(turn))),
            ]
        )
        loadings: Array = shape * np.sqrt(self.strengths / self.n_features)
        return loadings

    @cached_property
    def directions(self) -> Array:
        """The true directions, n_features × 3, orthonormal."""
        directions: Array = (self.loadings / np.sqrt(self.strengths))[self.labels]
        return directions

    @property
    def separation(self) -> float:
        """Standard deviation of the difference between the signals of neighbouring clusters."""
        return float(pdist(self.loadings).min())

    def draw(
        self, n_samples: int, noise: float, *, random_state: int | RandomState | None = None
    ) -> Array:
        """Draw samples with noise of the given standard deviation in each feature."""
        [seed] = seeds(random_state, 1)
        rng = np.random.default_rng(seed)
        hidden = rng.standard_normal((n_samples, 3))
        X: Array = (hidden @ self.loadings.T)[:, self.labels]
        X += noise * rng.standard_normal(X.shape)
        return X

    def predict(self, n_samples: int, noise: float) -> Array:
        """Predict the errors of PCA, of known and of found clusters, and the rate of mistakes."""
        by_pca, known = (self.predict_error(which, n_samples, noise) for which in ("pca", "known"))
        places = recovery(n_samples, self.loadings, np.bincount(self.labels), noise)
        return np.array([by_pca, known, _found(places, known), places.misclassified])

    def predict_error(self, method: str, n_samples: int, noise: float) -> float:
        """Predict the error of one method alone, as `predict` does: of PCA it is far quicker."""
        n_means = self.n_features if method == "pca" else self.n_clusters
        error = float(expected_errors(n_samples, n_means, self.strengths, noise).sum())
        if method != "found":
            return error
        return _found(recovery(n_samples, self.loadings, np.bincount(self.labels), noise), error)


def _found(places: Recovery, known: float) -> float:
    """Error of found clusters, from that of known ones."""
    # The same samples: what is left of the directions is found as with the right clusters.
    return places.misfit + (1 - places.misfit / 3) * known


def cluster_ring(
    n_features: int = 300, n_clusters: int = 6, *, strong: float = 150.0, weak: float = 6.0
) -> ClusterRing:
    """Make a model of clusters on a ring, after checking its parameters.

    Examples
    --------
    >>> ring = cluster_ring()
    >>> bool(np.allclose(ring.directions.T @ ring.directions, np.eye(3)))
    True
    >>> ring.draw(10, 1.0, random_state=0).shape, round(ring.separation, 2)
    ((10, 300), 1.04)
    """
    n_clusters = check_count("n_clusters", n_clusters, 4)
    n_features = check_count("n_features", n_features, n_clusters)
    if n_clusters % 2 or n_features % n_clusters:
        raise ValueError(
            f"n_clusters={n_clusters} must be even, and n_features={n_features} a multiple of it"
        )
    strong = check_number("strong", strong, open_low=True)
    weak = check_number("weak", weak, open_low=True)
    return ClusterRing(n_features, n_clusters, strong, weak)


@dataclass(frozen=True, eq=False)
class PhaseDiagram(Result):
    r"""Errors of three methods over samples and noise, measured and predicted.

    An error is :math:`\lVert\sin\Theta\rVert_F^2`, the number of directions, of three, that are
    missing.

    Attributes
    ----------
    noises : array of shape (n_noises,)
        Standard deviations of the noise.
    sizes : int array of shape (n_sizes,)
        Numbers of samples.
    methods : tuple of str
        ``"pca"``, ``"known"`` (exact directions with the true clusters) and ``"found"`` (exact
        directions with clusters that k-means finds from the same samples).
    errors : array of shape (3, n_noises, n_sizes, n_repeats)
        Measured errors.
    misclassified : array of shape (n_noises, n_sizes, n_repeats)
        Share of features in a wrong cluster.
    misfits : array of shape (n_noises, n_sizes, n_repeats)
        Misfit of the true directions with the found clusters.
    known_mean, known_deviation : arrays of shape (n_noises, n_sizes)
        Mean and its standard error over many more draws with the true clusters, whose errors are
        small and scatter much.
    predicted : array of shape (4, n_noises, n_sizes)
        Predicted errors of the three methods, and the predicted share of features in a wrong
        cluster.
    model : tuple
        Features, clusters, strong and weak variance of the :class:`ClusterRing`.
    """

    name: ClassVar[str] = "phase_diagram"
    noises: Array
    sizes: NDArray[np.intp]
    methods: tuple[str, ...]
    errors: Array
    misclassified: Array
    misfits: Array
    known_mean: Array
    known_deviation: Array
    predicted: Array
    model: tuple[float, ...]

    @property
    def ring(self) -> ClusterRing:
        """The model that the samples were drawn from."""
        p, K, strong, weak = self.model
        return ClusterRing(int(p), int(K), strong, weak)

    @property
    def measured(self) -> Array:
        """Mean errors, methods × noises × sizes.

        Where k-means finds the clusters, its error *is* that with known clusters. So what is
        averaged for ``"found"`` is the difference between the two on the same draws, and the mean
        over the many draws with known clusters is added.
        """
        extra = (self.errors[2] - self.errors[1]).mean(axis=-1)
        measured: Array = np.stack(
            [self.errors[0].mean(axis=-1), self.known_mean, self.known_mean + extra]
        )
        return measured

    @property
    def ratios(self) -> Array:
        """Measured over predicted errors, methods × noises × sizes."""
        ratios: Array = self.measured / self.predicted[:3]
        return ratios

    @property
    def applies(self) -> NDArray[np.bool_]:
        """Where the theory claims to be right within 15 %, methods × noises × sizes.

        For PCA everywhere. With known clusters: ten samples per direction, the weakest of which is
        five times above the threshold. With found clusters also: a predicted misfit of less than a
        tenth of the error, and centres that are estimated well enough for the formula that adds
        their error (it makes the noise look less than a tenth larger).
        """
        ring = self.ring
        threshold = self.noises[:, None] ** 2 * np.sqrt(ring.n_clusters / (self.sizes - 1))
        known = (ring.weak >= 5 * threshold) & (self.sizes >= 30)
        recovered = self.predicted[2] <= 1.1 * self.predicted[1]
        size = ring.n_features / ring.n_clusters
        centered = 2 * self.noises[:, None] ** 2 / (size * ring.separation**2) < 0.2
        return np.stack([np.ones_like(known), known, known & recovered & centered])

    def first_found(self, method: str, *, predicted: bool = False) -> NDArray[np.intp]:
        """Index of the first number of samples with less than half a direction missing.

        Parameters
        ----------
        method : str
            One of ``methods``.
        predicted : bool
            By the theory instead of the simulation.

        Returns
        -------
        index : int array of shape (n_noises,)
            ``n_sizes`` where no size is enough.
        """
        errors = (self.predicted if predicted else self.measured)[self.methods.index(method)]
        enough = np.column_stack([errors < FOUND, np.ones(len(errors), bool)])
        first: NDArray[np.intp] = np.argmax(enough, axis=1)
        return first

    def phases(self, *, predicted: bool = False) -> NDArray[np.intp]:
        """Return 0 (clusters lost), 1 (only clusters help) or 2 (PCA is fine, too) for a cell."""
        errors = self.predicted if predicted else self.measured
        found, by_pca = errors[2] < FOUND, errors[0] < FOUND
        return np.where(by_pca, 2, np.where(found, 1, 0)).astype(np.intp)

    @property
    def table(self) -> Table:
        """Measured and predicted errors, one row per cell; a star where the theory applies."""
        measured, applies = self.measured, self.applies
        return Table(
            ("noise", "n", *self.methods),
            [
                (
                    f"{noise:g}",
                    int(size),
                    *(
                        f"{measured[k, i, j]:.4f} / {self.predicted[k, i, j]:.4f}"
                        + ("*" if applies[k, i, j] else " ")
                        for k in range(3)
                    ),
                )
                for i, noise in enumerate(self.noises)
                for j, size in enumerate(self.sizes)
            ],
        )


def phase_diagram(
    *,
    noises: Sequence[float] = (0.7, 1.0, 1.4, 2.0, 2.8),
    sizes: Sequence[int] = (16, 32, 64, 128, 256, 512),
    n_features: int = 300,
    n_clusters: int = 6,
    strong: float = 150.0,
    weak: float = 6.0,
    n_init: int = 40,
    n_repeats: int = 24,
    n_known: int = 600,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> PhaseDiagram:
    """Errors of PCA and of informed directions over samples and noise, and the theory's prediction.

    Parameters
    ----------
    noises : sequence of float
        Standard deviations of the noise.
    sizes : sequence of int
        Numbers of samples, at least 8.
    n_features, n_clusters, strong, weak
        Of :func:`cluster_ring`.
    n_init : int
        Number of k-means restarts. With strong noise and few of them k-means now and then stops at
        clusters that are not the best ones, which is not what the theory is about.
    n_repeats : int
        Number of data sets for each cell.
    n_known : int
        Number of further data sets for the error with known clusters.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    PhaseDiagram
    """
    noises = [check_number("noises", noise, open_low=True) for noise in noises]
    sizes = [check_count("sizes", size, 8) for size in sizes]
    check_some("noises", noises)
    check_some("sizes", sizes)
    ring = cluster_ring(n_features, n_clusters, strong=strong, weak=weak)
    n_repeats = check_count("n_repeats", n_repeats, 1)
    n_known = check_count("n_known", n_known, 1)
    n_init = check_count("n_init", n_init, 1)
    drawn = seeds(random_state, n_repeats)
    cells = [(noise, n) for noise in noises for n in sizes]
    tasks = [(ring, noise, n, n_init, seed) for noise, n in cells for seed in drawn]
    runs = run_tasks(_errors_of_one_draw, tasks, n_jobs=n_jobs, verbose=verbose, label="phases")
    shape = (len(noises), len(sizes))
    found = np.moveaxis(np.reshape(runs, (*shape, n_repeats, 5)), -1, 0)
    [first] = seeds(random_state, 1)
    known = run_tasks(
        _known_errors,
        [(ring, noise, n, n_known, first) for noise, n in cells],
        n_jobs=n_jobs,
        verbose=verbose,
        label="known clusters",
    )
    predicted = [ring.predict(n, noise) for noise, n in cells]
    return PhaseDiagram(
        noises=np.array(noises),
        sizes=np.array(sizes),
        methods=METHODS,
        errors=found[:3],
        misclassified=found[3],
        misfits=found[4],
        known_mean=np.mean(known, axis=1).reshape(shape),
        known_deviation=np.std(known, axis=1).reshape(shape) / np.sqrt(n_known),
        predicted=np.moveaxis(np.reshape(predicted, (*shape, 4)), -1, 0),
        model=(ring.n_features, ring.n_clusters, ring.strong, ring.weak),
    )


def _missing(found: Array, truth: Array) -> float:
    return float(truth.shape[1] - np.sum((found.T @ truth) ** 2))


def _errors_of_one_draw(
    ring: ClusterRing, noise: float, n_samples: int, n_init: int, seed: int
) -> list[float]:
    """Errors of the three methods, share of features in a wrong cluster, and misfit."""
    X = ring.draw(n_samples, noise, random_state=seed)
    labels = cluster_features(X, ring.n_clusters, n_init=n_init, random_state=seed)
    truth = ring.directions
    spaces = (
        pca_directions(X, 3),
        exact_directions(X, ring.labels, 3),
        exact_directions(X, labels, 3),
    )
    errors = [_missing(space.directions, truth) for space in spaces]
    return [*errors, share_misplaced(labels, ring.labels), misfit(truth, labels)]


def _known_errors(
    ring: ClusterRing, noise: float, n_samples: int, n_draws: int, seed: int
) -> list[float]:
    drawn = seeds(np.random.RandomState(seed), n_draws)
    return [
        _missing(
            exact_directions(
                ring.draw(n_samples, noise, random_state=each), ring.labels, 3
            ).directions,
            ring.directions,
        )
        for each in drawn
    ]


def share_misplaced(labels: NDArray[np.intp], truth: NDArray[np.intp]) -> float:
    """Share of features in a wrong cluster, under the best naming of the clusters.

    Examples
    --------
    >>> share_misplaced(np.array([1, 1, 0, 0]), np.array([0, 0, 1, 0]))
    0.25
    """
    counts = np.zeros((int(truth.max()) + 1, int(labels.max()) + 1))
    np.add.at(counts, (truth, labels), 1)
    rows, columns = linear_sum_assignment(-counts)
    return float(1 - counts[rows, columns].sum() / len(truth))


def boundary(
    ring: ClusterRing, method: str, noises: Array, *, low: int = 6, high: int = 10**6
) -> Array:
    """Return the number of samples at which a method finds the directions, by the theory.

    Parameters
    ----------
    ring : ClusterRing
        The model.
    method : {"pca", "known", "found"}
        Which error is to fall below half a direction.
    noises : array
        Standard deviations of the noise.
    low, high : int
        Where to look; the result is ``high`` where even that is not enough.

    Examples
    --------
    >>> boundary(cluster_ring(), "pca", np.array([0.7, 1.4]))
    array([ 40., 189.])
    """
    check_choice("method", method, METHODS)

    def needed(noise: float) -> float:
        below, above = low, high
        # Errors fall with the number of samples, so bisection finds where they pass the mark.
        while above - below > max(1, below // 200):
            middle = (below + above) // 2 if above < 2 * below else int(np.sqrt(below * above))
            if ring.predict_error(method, middle, noise) < FOUND:
                above = middle
            else:
                below = middle
        return float(above)

    return np.array([needed(float(noise)) for noise in noises])
