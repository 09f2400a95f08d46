"""Choices are typed: a type checker tells a typo before anything runs."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.directions.registry import DIRECTIONS, VARIANCES
from informed.metrics.neighbors import SEARCHES, SearchName


@pytest.mark.parametrize("estimator", [InformedMahalanobis, LocalInformedMahalanobis])
def test_choices_are_literal_types_of_what_is_allowed(estimator):
    hints = get_type_hints(estimator.__init__)
    assert set(get_args(hints["directions"])) == set(DIRECTIONS)
    assert set(get_args(hints["variances"])) == set(VARIANCES)


def test_the_search_is_a_literal_or_an_object():
    search = get_type_hints(LocalInformedMahalanobis.__init__)["search"]
    assert SearchName in get_args(search) or set(SEARCHES) <= set(map(str, get_args(search)))
    assert str not in get_args(search)
