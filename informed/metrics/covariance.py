"""A covariance from few directions, principal or informed: what it says of new samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from informed.centering import center, row_squares, subtract
from informed.directions import exact_directions, pca_directions
from informed.validation import Array, check_count, check_matrix

__all__ = ["SpikedCovariance", "spiked_covariance"]


@dataclass(frozen=True, eq=False)
class SpikedCovariance:
    r"""A covariance with a few directions that stand out from even noise.

    :math:`\Sigma = U \operatorname{diag}(\lambda - \sigma^2) U^\top + \sigma^2 I` with orthonormal
    *U*. It is never formed: a likelihood takes one product with *U*. With principal directions this
    is probabilistic PCA.

    Attributes
    ----------
    mean : array of shape (n_features,)
        Mean of the training samples.
    directions : array of shape (n_features, d)
        *U*.
    variances : array of shape (d,)
        Variances along the directions.
    noise : float
        Variance across them.
    """

    mean: Array
    directions: Array
    variances: Array
    noise: float

    def mahalanobis(self, X: Array) -> Array:
        """Squared Mahalanobis distance of samples to the mean, along the directions and across.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : array of shape (n_samples,)
        """
        centered = subtract(check_matrix(X, min_samples=1, allow_sparse=True), self.mean)
        p, d = self.directions.shape
        along = centered @ self.directions
        distances: Array = (along**2 / self.variances).sum(axis=1)
        if p > d:
            across = np.maximum(row_squares(centered) - (along**2).sum(axis=1), 0.0)
            distances += across / self.noise
        return distances

    def score_samples(self, X: Array) -> Array:
        """Gaussian log-likelihood of each sample.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        log_likelihood : array of shape (n_samples,)
        """
        p, d = self.directions.shape
        log_det = np.log(self.variances).sum()
        if p > d:
            log_det += (p - d) * np.log(self.noise)
        densities: Array = -0.5 * (p * np.log(2 * np.pi) + log_det + self.mahalanobis(X))
        return densities

    def score(self, X: Array) -> float:
        """Mean Gaussian log-likelihood of samples.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        float
        """
        return float(self.score_samples(X).mean())


def spiked_covariance(
    X: Array, n_components: int, labels: NDArray[np.integer] | None = None
) -> SpikedCovariance:
    """Estimate a covariance from few directions: principal, or informed by clusters.

    Given the directions, the variances along them and across are those of maximum likelihood,
    except for the divisor n − 1.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Samples.
    n_components : int
        Number of directions.
    labels : int array of shape (n_features,) or None
        Clusters of the features; None takes principal directions.

    Returns
    -------
    SpikedCovariance

    Examples
    --------
    >>> from informed.datasets import make_two_types
    >>> toy = make_two_types(40, random_state=0)
    >>> model = spiked_covariance(toy.X, 17, toy.feature_labels)
    >>> model.score(toy.X) > spiked_covariance(toy.X, 1).score(toy.X)
    True
    """
    X = check_matrix(X)
    p = X.shape[1]
    n_components = check_count("n_components", n_components, 1, p - 1, f"n_features={p} minus one")
    if labels is None:
        found = pca_directions(X, n_components)
    else:
        found = exact_directions(X, labels, n_components, pca_variances=False)
    total = X.var(axis=0, ddof=1).sum()
    left = total - found.variances.sum()
    # Rounding error of a zero would make a density that is infinite on the samples and zero off.
    if left <= 1e-10 * total:
        raise ValueError(
            f"n_components={n_components} leaves no variance across the directions: it must be "
            "smaller than the rank of the centred data"
        )
    noise = float(left) / (p - n_components)
    return SpikedCovariance(center(X)[1], found.directions, found.variances, noise)
