"""What the generators share: blocks of features, and a seed that is checked."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state


def equal_blocks(n_features: int, n_blocks: int) -> NDArray[np.intp]:
    """Return labels 0 … n_blocks − 1 in order, in blocks whose sizes differ by one at most.

    Examples
    --------
    >>> equal_blocks(7, 3)
    array([0, 0, 0, 1, 1, 2, 2])
    """
    smaller, n_larger = divmod(n_features, n_blocks)
    sizes = [smaller + (block < n_larger) for block in range(n_blocks)]
    return np.repeat(np.arange(n_blocks), sizes)


def random_source(random_state: int | RandomState | None) -> RandomState:
    """Return the generator that ``random_state`` stands for, by scikit-learn's convention.

    Examples
    --------
    >>> random_source(0).randint(10)
    5
    """
    try:
        source: RandomState = check_random_state(random_state)
    except ValueError as error:
        raise ValueError(
            f"random_state={random_state!r} is unknown: it must be None, an integer from 0 to "
            "2**32 - 1 or a numpy RandomState"
        ) from error
    return source
