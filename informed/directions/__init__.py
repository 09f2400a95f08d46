r"""Principal directions of the samples, with and without clusters of features.

Write :math:`X_c` for the centred data (n samples, p features) and
:math:`\hat\Sigma = X_c^\top X_c/(n-1)`. Each function finds d directions, the columns of a p × d
matrix *U*, that keep the reconstruction error

.. math:: R(U) = \operatorname{tr}\bigl[(I-UU^\top)\,\hat\Sigma\,(I-UU^\top)\bigr]

low, and differs in what it asks of *U*: nothing (PCA), to be an average over clusters of PCA's, to
lie in the span of the cluster indicators *H* (paper's iteration, or closed form), or to lie close
to it (penalty). No p × p matrix is ever formed.

Signs: the largest entry of each direction, in absolute value, is positive; among entries that tie
to one part in a million the first one counts. (Averaged directions keep the signs of those that
were averaged.) Directions whose variances tie are determined only up to a rotation among
themselves; then the subspace, not the single direction, is what can be relied on.
"""

from informed.directions.penalty import (
    PenaltyPath,
    analytic_penalty,
    choose_penalty,
    penalized_directions,
    penalty_path,
)
from informed.directions.result import (
    Directions,
    reconstruction_error,
    reconstruction_gradient,
    subspace_error,
)
from informed.directions.solvers import (
    averaged_directions,
    exact_directions,
    gradient_directions,
    pca_directions,
)
from informed.directions.solvers import unit_columns as unit_columns
from informed.directions.weights import DirectionWeights, direction_weights

__all__ = [
    "DirectionWeights",
    "Directions",
    "PenaltyPath",
    "analytic_penalty",
    "averaged_directions",
    "choose_penalty",
    "direction_weights",
    "exact_directions",
    "gradient_directions",
    "pca_directions",
    "penalized_directions",
    "penalty_path",
    "reconstruction_error",
    "reconstruction_gradient",
    "subspace_error",
]
