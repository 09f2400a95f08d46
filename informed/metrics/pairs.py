"""What every learned metric offers for pairs of samples, in the manner of metric-learn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from informed.validation import Array


class PairDistanceMixin(ABC):
    """Distances of given pairs, and the metric as a function, for a fitted estimator."""

    n_features_in_: int

    @abstractmethod
    def _distances_of_pairs(self, left: Array, right: Array) -> Array:
        """Distance of each row of ``left`` to the same row of ``right``."""

    @abstractmethod
    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """Return the distance as a function of two vectors that stays as it is after a refit."""

    def pair_distance(self, pairs: ArrayLike) -> Array:
        """Distance of each pair.

        Parameters
        ----------
        pairs : array of shape (n_pairs, 2, n_features)
            Pairs of samples.

        Returns
        -------
        distances : array of shape (n_pairs,)
        """
        check_is_fitted(self)
        # Not through transform: an array of pairs cannot carry the feature names of the fit.
        sides = check_array(
            pairs,
            dtype=[np.float64, np.float32],
            ensure_2d=False,
            allow_nd=True,
            input_name="pairs",
        )
        if sides.ndim != 3 or sides.shape[1:] != (2, self.n_features_in_):
            raise ValueError(
                f"pairs has shape {sides.shape}: it must be (n_pairs, 2, {self.n_features_in_})"
            )
        return self._distances_of_pairs(sides[:, 0], sides[:, 1])
