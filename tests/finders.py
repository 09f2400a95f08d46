"""The ways to find directions, under one name each, for the tests of directions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import strategies as st
from toy import (
    Array,
)

from informed.directions import (
    Directions,
    averaged_directions,
    exact_directions,
    gradient_directions,
    pca_directions,
    penalized_directions,
)

seeds = st.integers(0, 2**32 - 1)


Find = Callable[[Array, Array, int], Directions]


FINDERS: dict[str, Find] = {
    "pca": lambda X, labels, d: pca_directions(X, d),
    "averaged": averaged_directions,
    "exact": exact_directions,
    "gradient": gradient_directions,
    "penalized": lambda X, labels, d: penalized_directions(X, labels, d, 2.0),
    "hard": lambda X, labels, d: penalized_directions(X, labels, d, np.inf),
    "cv": lambda X, labels, d: penalized_directions(X, labels, d, "cv"),
}


every_finder = pytest.mark.parametrize("find", FINDERS.values(), ids=FINDERS.keys())
