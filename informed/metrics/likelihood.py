"""What a metric says of single samples: how far from the mean they are, and how likely."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from informed.metrics.covariance import SpikedCovariance
from informed.validation import Array, check_choice, check_matrix, validate_samples


class LikelihoodMixin(BaseEstimator):
    """Scores of samples under the covariance of a fitted metric, as :mod:`sklearn.covariance` has.

    The covariance is that of the metric along its directions, and even noise across them.
    """

    mean_: Array
    directions_: Array
    variances_: Array
    noise_variance_: float

    def mahalanobis(self, X: ArrayLike) -> Array:
        r"""Squared Mahalanobis distance to the mean, the part across the directions included.

        The squared length of :meth:`transform` sees only what lies along the directions, so that a
        sample which leaves their span looks ordinary. Here the part across counts as well,
        :math:`\|x^\perp\|^2/\sigma^2` with the variance :math:`\sigma^2` of the training samples
        there: the covariance is :math:`\tilde U\Lambda\tilde U^\top` along the directions and
        :math:`\sigma^2` across. As in :mod:`sklearn.covariance`, large means unusual.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : array of shape (n_samples,)
        """
        return self._model_of_all().mahalanobis(self._checked(X))

    def score_samples(self, X: ArrayLike) -> Array:
        """Gaussian log-likelihood of each sample under the covariance of :meth:`mahalanobis`.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        log_likelihood : array of shape (n_samples,)
        """
        return self._model_of_all().score_samples(self._checked(X))

    def score(self, X: ArrayLike, y: object = None) -> float:
        """Mean log-likelihood of samples; comparable to that of scikit-learn's PCA and covariances.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Samples.
        y : ignored
            For use in grid searches.

        Returns
        -------
        float
        """
        return self._model_of_all().score(self._checked(X))

    def error_norm(
        self,
        comp_cov: ArrayLike,
        norm: Literal["frobenius", "spectral"] = "frobenius",
        scaling: bool = True,
        squared: bool = True,
    ) -> float:
        """Error of the covariance of :meth:`mahalanobis`, as :mod:`sklearn.covariance` gives it.

        Parameters
        ----------
        comp_cov : array of shape (n_features, n_features)
            The covariance to compare with.
        norm : {"frobenius", "spectral"}
            Root of the sum of squared entries, or largest singular value, of the difference.
        scaling : bool
            Whether to divide the squared norm by the number of features.
        squared : bool
            Whether to return the squared norm.

        Returns
        -------
        float
        """
        check_choice("norm", norm, ["frobenius", "spectral"])
        model = self._model_of_all()
        other = check_matrix(comp_cov, "comp_cov", min_samples=1)
        n_features = len(model.mean)
        if other.shape != (n_features, n_features):
            raise ValueError(
                f"comp_cov has shape {other.shape}: it must be ({n_features}, {n_features})"
            )
        ours = (model.directions * (model.variances - model.noise)) @ model.directions.T
        ours[np.diag_indices(n_features)] += model.noise
        error = float(np.linalg.norm(other - ours, 2 if norm == "spectral" else "fro")) ** 2
        error /= n_features if scaling else 1
        return error if squared else float(np.sqrt(error))

    def _checked(self, X: ArrayLike) -> Array:
        return validate_samples(self, X, reset=False, allow_sparse=True)

    def _model_of_all(self) -> SpikedCovariance:
        """Return the covariance along and across the directions, in an orthonormal basis."""
        check_is_fitted(self)
        n_features, d = self.directions_.shape
        if n_features > d and self.noise_variance_ == 0:
            raise ValueError(
                f"n_components={d} leaves no variance across the directions: a density needs "
                "fewer directions than the rank of the centred samples"
            )
        basis, corner = np.linalg.qr(self.directions_)
        variances, turn = np.linalg.eigh((corner * self.variances_) @ corner.T)
        return SpikedCovariance(self.mean_, basis @ turn, variances, self.noise_variance_)
