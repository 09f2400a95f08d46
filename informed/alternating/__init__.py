r"""Clusters of samples and clusters of features that inform each other.

The informed metric compares samples through clusters of features. Transposed, it compares
features through clusters of samples, and each of the two clusterings can be found anew with the
help of the other. Everything here descends on one number: with the orthonormal indicators *R* of
the samples and *C* of the features, and centred data *X*, the squared distance

.. math:: J_d(R, C) = \min_{\operatorname{rank} A \le d} \lVert X - R A C^\top \rVert_F^2
          = \lVert X \rVert_F^2 - \sum_{i \le d} \sigma_i^2(R^\top X C)

of *X* from the checkerboards with these tiles and at most *d* directions.
"""

from informed.alternating.estimator import AlternatingInformedClustering, checkerboard_cost
from informed.alternating.numbers import BlockNumbers, choose_block_numbers

__all__ = [
    "AlternatingInformedClustering",
    "BlockNumbers",
    "checkerboard_cost",
    "choose_block_numbers",
]
