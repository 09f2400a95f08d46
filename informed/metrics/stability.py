r"""How far two sets of coordinates of the same samples agree on the distances."""

from __future__ import annotations

import numpy as np

from informed.validation import Array


def coordinate_agreement(first: Array, second: Array) -> float:
    r"""Agreement of two embeddings of the same samples: Escoufier's RV coefficient.

    For centred coordinates *Y* and *Z* it is
    :math:`\lVert Y^\top Z\rVert_F^2 / (\lVert Y^\top Y\rVert_F\lVert Z^\top Z\rVert_F)`: the cosine
    between the matrices :math:`YY^\top` and :math:`ZZ^\top`, that is, between the two tables of
    squared distances after both were centred by rows and columns. It is one if and only if the
    distances agree up to a common factor, and near zero for unrelated coordinates of many samples.

    Parameters
    ----------
    first, second : arrays of shape (n_samples, d) and (n_samples, d')
        Coordinates.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> Y = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 5.0]])
    >>> round(coordinate_agreement(Y, 3 * Y[:, ::-1] + 1), 12)
    1.0
    """
    Y = np.asarray(first, float) - np.mean(first, axis=0, dtype=float)
    Z = np.asarray(second, float) - np.mean(second, axis=0, dtype=float)
    norms = np.linalg.norm(Y.T @ Y) * np.linalg.norm(Z.T @ Z)
    return float(np.linalg.norm(Y.T @ Z) ** 2 / norms) if norms > 0 else 1.0
