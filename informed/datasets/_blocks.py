"""What the generators share: blocks of features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
