"""How many clusters of samples and of features a table has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import RandomState

from informed.alternating.estimator import AlternatingInformedClustering, Labels
from informed.centering import center
from informed.validation import Array, check_count, check_matrix

__all__ = ["BlockNumbers", "choose_block_numbers"]


@dataclass(frozen=True)
class BlockNumbers:
    """Numbers of clusters that were tried, and the evidence for each pair.

    Attributes
    ----------
    n_row_clusters, n_column_clusters : int
        The chosen numbers; one and one where no clusters are worth their price.
    tried : dict
        Criterion of each pair of numbers that was tried; larger is better.
    """

    n_row_clusters: int
    n_column_clusters: int
    tried: dict[tuple[int, int], float]


def choose_block_numbers(
    X: Array,
    max_clusters: int = 10,
    *,
    center_rows: bool = False,
    n_init: int = 5,
    random_state: int | RandomState | None = None,
) -> BlockNumbers:
    r"""Choose the numbers of clusters of samples and of features by an integrated likelihood.

    The criterion is that of a latent block model with one variance for the whole table: the
    logarithm of the likelihood of data and labels, less half the logarithm of the number of things
    that each parameter is estimated from. With the cost Φ of a pair of clusterings with sizes
    :math:`n_k` and :math:`p_l`,

    .. math::

        -\tfrac{np}{2}\log\tfrac{\Phi}{np} + \sum_k n_k\log\tfrac{n_k}{n}
        + \sum_l p_l\log\tfrac{p_l}{p} - \tfrac{K_r-1}{2}\log n - \tfrac{K_c-1}{2}\log p
        - \tfrac{K_rK_c}{2}\log(np) .

    From two and two the numbers grow, on either side or on both, as long as the criterion does; the
    result is compared with a table without any clusters.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The data; features are centred here.
    max_clusters : int
        Largest number on either side.
    center_rows, n_init, random_state
        As in :class:`informed.AlternatingInformedClustering`.

    Returns
    -------
    BlockNumbers

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> tiles = rng.normal(size=(3, 2))[np.arange(30) % 3][:, np.arange(40) % 2]
    >>> found = choose_block_numbers(3 * tiles + rng.normal(size=(30, 40)), random_state=0)
    >>> found.n_row_clusters, found.n_column_clusters
    (3, 2)
    """
    X = check_matrix(X)
    top = check_count("max_clusters", max_clusters, 2)
    n, p = X.shape
    # Costs near zero, of tables without noise, would make the logarithm run away.
    centered = center(X)[0].astype(np.float64)
    if center_rows:
        centered -= centered.mean(axis=1, keepdims=True)
    total = float(np.sum(centered**2))
    floor = total * 1e-9 + np.finfo(np.float64).tiny

    def labels_cost(labels: Labels) -> float:
        sizes = np.bincount(labels)
        entropy = float(np.sum(sizes * np.log(sizes / len(labels))))
        return entropy - (len(sizes) - 1) / 2 * float(np.log(len(labels)))

    def fit(pair: tuple[int, int]) -> float:
        model = AlternatingInformedClustering(
            *pair, center_rows=center_rows, n_init=n_init, random_state=random_state
        ).fit(X)
        cost = max(float(model.history_[-1]), floor)
        criterion: float = (
            -n * p / 2 * float(np.log(cost / (n * p)))
            + labels_cost(model.row_labels_)
            + labels_cost(model.column_labels_)
            - pair[0] * pair[1] / 2 * float(np.log(n * p))
        )
        return criterion

    limits = min(top, n), min(top, p)
    pair, tried = (2, 2), {}
    tried[pair] = fit(pair)
    while True:
        steps = [(pair[0] + i, pair[1] + j) for i, j in ((1, 0), (0, 1), (1, 1))]
        for step in steps:
            if step[0] <= limits[0] and step[1] <= limits[1]:
                tried[step] = fit(step)
        best = max(tried, key=lambda each: tried[each])
        if best == pair:
            break
        pair = best
    # One tile has one parameter.
    tried[1, 1] = -n * p / 2 * float(np.log(max(total, floor) / (n * p))) - np.log(n * p) / 2
    chosen = max(tried, key=lambda each: tried[each])
    return BlockNumbers(*chosen, tried)
