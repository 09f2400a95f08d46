"""Choices are typed: a type checker tells a typo before anything runs."""

from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.directions.registry import DIRECTIONS, VARIANCES
from informed.metrics.neighbors import SEARCHES, SearchName


def names_of(hint):
    """Names of a literal type, or of several that are allowed."""
    parts = get_args(hint)
    return (
        set(parts)
        if all(isinstance(part, str) for part in parts)
        else {name for part in parts for name in get_args(part)}
    )


@pytest.mark.parametrize("estimator", [InformedMahalanobis, LocalInformedMahalanobis])
def test_choices_are_literal_types_of_what_is_allowed(estimator):
    hints = get_type_hints(estimator.__init__)
    assert names_of(hints["directions"]) - {"auto"} == set(DIRECTIONS)
    assert names_of(hints["variances"]) - {"auto"} == set(VARIANCES)


def test_the_search_is_a_literal_or_an_object():
    search = get_type_hints(LocalInformedMahalanobis.__init__)["search"]
    assert SearchName in get_args(search) or set(SEARCHES) <= set(map(str, get_args(search)))
    assert str not in get_args(search)
