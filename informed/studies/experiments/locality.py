"""X2: how large a neighbourhood should be on a bent sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from informed.datasets import make_curved_manifold
from informed.metrics import LocalInformedMahalanobis
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.results import Result, Table, spread
from informed.validation import Array, check_count, check_number, check_some

__all__ = ["LocalityTradeoff", "locality_tradeoff"]


@dataclass(frozen=True, eq=False)
class LocalityTradeoff(Result):
    """Error of local distances against the size of the neighbourhoods.

    Attributes
    ----------
    sizes : int array of shape (n_sizes,)
        Neighbourhood sizes N.
    methods : tuple of str
        ``"local pca"`` and ``"informed"``.
    errors : array of shape (n_methods, n_sizes, n_repeats)
        Relative error of the distances between near pairs, after the best common scale.
    euclidean : array of shape (n_repeats,)
        The same for the Euclidean distance, which has no N.
    """

    name: ClassVar[str] = "locality_tradeoff"
    sizes: NDArray[np.intp]
    methods: tuple[str, ...]
    errors: Array
    euclidean: Array

    @property
    def best_sizes(self) -> tuple[int, ...]:
        """Size with the least mean error, for each method."""
        return tuple(int(self.sizes[i]) for i in self.errors.mean(axis=2).argmin(axis=1))

    @property
    def table(self) -> Table:
        """Mean error ± standard deviation, one row for each size."""
        return Table(
            ("N", *self.methods, "euclidean"),
            [
                (
                    int(size),
                    *(spread(self.errors[m, i]) for m in range(len(self.methods))),
                    spread(self.euclidean),
                )
                for i, size in enumerate(self.sizes)
            ],
        )


def locality_tradeoff(
    *,
    sizes: Sequence[int] = (6, 8, 12, 16, 24, 32, 48, 64, 96, 128),
    n_samples: int = 300,
    n_features: int = 300,
    curvature: float = 4.0,
    noise: float = 0.2,
    reach: float = 0.25,
    n_repeats: int = 5,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> LocalityTradeoff:
    r"""Error of local distances on a bent sheet, for local PCA and for the informed metric.

    A neighbourhood of few samples follows the noise, one of many forgets that the sheet is bent.
    The covariance of a neighbourhood also grows with its size, so that local distances are known
    only up to a common scale: the error is :math:`\min_s \lVert sd - h\rVert/\lVert h\rVert` over
    the near pairs, with observed distances *d* and hidden ones *h*.

    Parameters
    ----------
    sizes : sequence of int
        Neighbourhood sizes N.
    n_samples, n_features, curvature, noise
        Of :func:`informed.datasets.make_curved_manifold`.
    reach : float
        Pairs count as near when their hidden points are closer than this.
    n_repeats : int
        Number of data sets.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    LocalityTradeoff
    """
    n_samples = check_count("n_samples", n_samples, 4)
    sizes = [check_count("sizes", size, 3, n_samples, f"n_samples={n_samples}") for size in sizes]
    check_some("sizes", sizes, "neighbourhood size")
    reach = check_number("reach", reach, open_low=True)
    n_repeats = check_count("n_repeats", n_repeats, 1)
    drawn = seeds(random_state, n_repeats)
    sheet = (n_samples, n_features, curvature, noise, reach)
    tasks = [(*sheet, size, seed) for seed in drawn for size in (None, *sizes)]
    runs = run_tasks(_local_errors, tasks, n_jobs=n_jobs, verbose=verbose, label="locality")
    errors = np.array(runs).reshape(n_repeats, 1 + len(sizes), 2)
    return LocalityTradeoff(
        sizes=np.array(sizes),
        methods=("local pca", "informed"),
        errors=errors[:, 1:].transpose(2, 1, 0),
        euclidean=errors[:, 0, 0],
    )


def _local_errors(
    n_samples: int,
    n_features: int,
    curvature: float,
    noise: float,
    reach: float,
    size: int | None,
    seed: int,
) -> tuple[float, float]:
    """Errors of local PCA and of the informed metric; of the Euclidean distance without a size."""
    data = make_curved_manifold(
        n_samples, n_features, curvature=curvature, noise=noise, random_state=seed
    )
    hidden = pdist(data.hidden)
    near = hidden < reach
    if size is None:
        error = scaled_error(pdist(data.X)[near], hidden[near])
        return error, error
    # Three clusters this far apart need no ten restarts.
    local = LocalInformedMahalanobis(size, 2, 3, n_init=3, random_state=seed)
    distances = [
        local.set_params(directions=directions).fit(data.X).pairwise_distances()
        for directions in ("pca", "exact")
    ]
    first, second = (
        scaled_error(squareform(d, checks=False)[near], hidden[near]) for d in distances
    )
    return first, second


def scaled_error(observed: Array, truth: Array) -> float:
    """Relative error of ``observed`` after the scale that brings it closest to ``truth``.

    Examples
    --------
    >>> scaled_error(np.array([2.0, 4.0]), np.array([1.0, 2.0]))
    0.0
    """
    scale = observed @ truth / (observed @ observed)
    return float(np.linalg.norm(scale * observed - truth) / np.linalg.norm(truth))
