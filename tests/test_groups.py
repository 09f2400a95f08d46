"""Two groups by the sign of the leading coordinate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from informed import DiffusionMap
from informed.groups import bipartition


@settings(deadline=None, derandomize=True)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20), st.integers(0, 2))
def test_one_where_the_leading_coordinate_is_positive(leading, extra):
    expected = [1 if value > 0 else 0 for value in leading]
    rest = -np.ones((len(leading), extra))
    groups = bipartition(np.column_stack([leading, rest]))
    assert_array_equal(groups, expected)
    assert_array_equal(bipartition(leading), expected)
    assert groups.dtype == np.intp


@pytest.mark.parametrize("seed", range(5))
def test_groups_of_a_diffusion_map_are_never_empty(seed):
    X = np.random.default_rng(seed).normal(size=(15, 3)) + 5
    for epsilon in (1.0, "median", 1e4):
        assert set(bipartition(DiffusionMap(epsilon=epsilon).fit_transform(X))) == {0, 1}


def test_two_clouds_are_told_apart():
    rng = np.random.default_rng(0)
    types = rng.permutation(np.repeat([0, 1], 20))
    X = rng.normal(size=(40, 4)) + 6 * types[:, None]
    groups = bipartition(DiffusionMap().fit_transform(X))
    assert len(set(zip(groups, types, strict=True))) == 2
