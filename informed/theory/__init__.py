"""When clusters of features help, and by how much: predictions before anything is fitted.

The model throughout: samples are a mean, plus d hidden variables that act along orthonormal
directions with given *strengths* (variances ℓ), plus noise of standard deviation ``noise`` in every
feature. With known clusters whose span holds the directions, the exact informed directions are PCA
in K dimensions instead of p, and every statement about PCA holds with K in place of p. The proofs
are in the chapter *When clusters help* of the book.

One statement stands apart: which direction a diffusion map shows first when whitening has made all
variances equal (:func:`wide_kernel_matrix`).
"""

from informed.theory.distances import AxisRoles, axis_roles, distance_moments
from informed.theory.errors import (
    error_bound,
    error_floor,
    expected_errors,
    first_order_errors,
    misfit,
    samples_needed,
    split_error,
)
from informed.theory.gain import PredictedGain, estimate_spectrum, predicted_gain
from informed.theory.recovery import (
    Recovery,
    kmeans_mistakes,
    linkage_failure,
    linkage_samples,
    misclassification_rate,
    recovery,
)
from informed.theory.wide_kernel import kurtosis_samples, predicted_agreement, wide_kernel_matrix

__all__ = [
    "AxisRoles",
    "PredictedGain",
    "Recovery",
    "axis_roles",
    "distance_moments",
    "error_bound",
    "error_floor",
    "estimate_spectrum",
    "expected_errors",
    "first_order_errors",
    "kmeans_mistakes",
    "kurtosis_samples",
    "linkage_failure",
    "linkage_samples",
    "misclassification_rate",
    "misfit",
    "predicted_agreement",
    "predicted_gain",
    "recovery",
    "samples_needed",
    "split_error",
    "wide_kernel_matrix",
]
