"""Two groups of samples from an embedding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from informed.validation import Array, check_matrix

__all__ = ["bipartition"]


def bipartition(embedding: Array) -> NDArray[np.intp]:
    """Split the samples by the sign of the leading coordinate of their embedding.

    Parameters
    ----------
    embedding : array of shape (n_samples, n_components) or (n_samples,)
        Coordinates, the leading one first.

    Returns
    -------
    groups : int array of shape (n_samples,)
        1 where the leading coordinate is positive, else 0.

    Notes
    -----
    The leading coordinate of a diffusion map is orthogonal to the stationary distribution, so
    both groups are non-empty. Which of the two is called 1 follows the sign rule of
    :class:`informed.DiffusionMap` and carries no meaning.

    Examples
    --------
    >>> bipartition([[0.3, -1.0], [-0.2, 0.4], [0.1, 0.0]])
    array([1, 0, 1])
    """
    coordinates = np.asarray(embedding)
    if coordinates.ndim == 1:
        coordinates = coordinates[:, None]
    return (check_matrix(coordinates, "embedding", any_scale=True)[:, 0] > 0).astype(np.intp)
