"""How much the split of one cohort hangs on the numbers that the protocol fixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from informed.datasets import Cohort, top_variance
from informed.groups import bipartition
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.results import Result, Table
from informed.studies.experiments.splits import SplitSettings, check_sizes, embed_cohort, split
from informed.survival import log_rank_p_value
from informed.validation import Array

__all__ = ["CohortSensitivity", "cohort_sensitivity"]


@dataclass(frozen=True, eq=False)
class CohortSensitivity(Result):
    """Log-rank p of one cohort when the protocol's numbers are changed.

    Attributes
    ----------
    cohort : str
        Name of the cohort.
    genes, sizes, components, clusters : int arrays
        Numbers of genes, N of neighbours, d of directions and K of clusters that were tried.
    base : tuple of int
        Number of genes, N, d and K of the protocol; two of them vary at a time.
    p_euclidean : array of shape (n_genes,)
        p of the Euclidean distance, which depends on the genes only.
    p_local_pca, p_exact : arrays of shape (n_genes, n_sizes)
        p for every number of genes and N.
    p_rank : array of shape (n_components, n_clusters)
        p of the exact informed metric for every d and K; NaN where K < d.
    """

    name: ClassVar[str] = "cohort_sensitivity"
    cohort: str
    genes: NDArray[np.intp]
    sizes: NDArray[np.intp]
    components: NDArray[np.intp]
    clusters: NDArray[np.intp]
    base: tuple[int, ...]
    p_euclidean: Array
    p_local_pca: Array
    p_exact: Array
    p_rank: Array

    @property
    def table(self) -> Table:
        """Smallest, median and largest p of every grid."""
        grids = {
            "euclidean, over genes": self.p_euclidean,
            "local pca, over genes and N": self.p_local_pca,
            "exact, over genes and N": self.p_exact,
            "exact, over d and K": self.p_rank[np.isfinite(self.p_rank)],
        }
        return Table(
            (self.cohort, "settings", "smallest p", "median p", "largest p"),
            [
                (name, p.size, float(p.min()), float(np.median(p)), float(p.max()))
                for name, p in grids.items()
            ],
        )


def cohort_sensitivity(
    cohort: Cohort,
    *,
    genes: Sequence[int] = (50, 100, 200, 400),
    sizes: Sequence[int] = (10, 20, 40, 60),
    components: Sequence[int] = (2, 4, 6, 8),
    clusters: Sequence[int] = (4, 7, 10, 15),
    n_genes: int = 200,
    n_neighbors: int = 20,
    n_components: int = 6,
    n_clusters: int = 7,
    scale: float = 2.0,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> CohortSensitivity:
    """Repeat the protocol's split of one cohort for other numbers of genes, N, d and K.

    Parameters
    ----------
    cohort : Cohort
        Expression and follow-up.
    genes, sizes : sequences of int
        Numbers of genes and of neighbours N, tried in all combinations.
    components, clusters : sequences of int
        Numbers of directions d and of clusters K, tried in all combinations with K ≥ d.
    n_genes, n_neighbors, n_components, n_clusters : int
        The protocol's number of genes, N, d and K, from which two at a time depart.
    scale : float
        Kernel scale over the median squared distance.
    random_state, n_jobs, verbose
        As in :func:`cohorts`.

    Returns
    -------
    CohortSensitivity
    """
    widths = check_sizes(sizes, n_components)
    (seed,) = seeds(random_state, 1)
    follow_up = (cohort.durations, cohort.events)
    by_genes = {m: top_variance(cohort.X, m) for m in (*genes, n_genes)}
    by_rank = [(d, k) for d in components for k in clusters if k >= d]
    tasks = [
        (by_genes[m], method, SplitSettings(n, n_components, n_clusters, scale=scale), seed)
        for method in ("local pca", "informed")
        for m in genes
        for n in widths
    ]
    tasks += [
        (by_genes[n_genes], "informed", SplitSettings(n_neighbors, d, k, scale=scale), seed)
        for d, k in by_rank
    ]
    runs = run_tasks(embed_cohort, tasks, n_jobs=n_jobs, verbose=verbose, label="sensitivity")
    p = np.array([log_rank_p_value(*follow_up, bipartition(embedding)) for embedding in runs])
    shape = (len(genes), len(widths))
    n_cells = len(genes) * len(widths)
    p_rank = np.full((len(components), len(clusters)), np.nan)
    for (d, k), value in zip(by_rank, p[2 * n_cells :], strict=True):
        p_rank[list(components).index(d), list(clusters).index(k)] = value
    return CohortSensitivity(
        cohort=cohort.name,
        genes=np.array(genes),
        sizes=np.array(widths),
        components=np.array(components),
        clusters=np.array(clusters),
        base=(n_genes, n_neighbors, n_components, n_clusters),
        p_euclidean=np.array(
            [
                log_rank_p_value(*follow_up, split(squareform(pdist(by_genes[m])), scale))
                for m in genes
            ]
        ),
        p_local_pca=p[:n_cells].reshape(shape),
        p_exact=p[n_cells : 2 * n_cells].reshape(shape),
        p_rank=p_rank,
    )
