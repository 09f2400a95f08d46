"""Slips that are common to all subjects: a sign, a square, a factor, rows for columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from informed.teaching.exercises.forms import Array, close, is_numeric

__all__ = ["score", "usual_suspect"]


def usual_suspect(
    found: list[Any], wanted: list[Any], rtol: float, atol: float | None
) -> str | None:
    """Name a slip that is common to all subjects, if it explains all the results."""
    if not all(is_numeric(each) and not isinstance(each, str) for each in [*found, *wanted]):
        return None
    pairs = [
        (np.asarray(f, dtype=float), np.asarray(w, dtype=float))
        for f, w in zip(found, wanted, strict=True)
    ]
    if any(f.shape != w.shape for f, w in pairs):
        return None

    def explains(change: Callable[[Array], Array]) -> bool:
        with np.errstate(all="ignore"):
            return all(
                change(w).shape == f.shape and close(f, change(w), rtol, atol).all()
                for f, w in pairs
            )

    if explains(np.negative):
        return "all the values have the opposite sign."
    if explains(np.square):
        return "these are the squares of what is asked."
    if explains(np.sqrt):
        return "these are the square roots of what is asked."
    if all(w.ndim > 1 for _, w in pairs) and explains(np.transpose):
        return "this is the transpose of what is asked."
    return _common_factor(pairs, max(rtol, 1e-6), atol)


def _common_factor(pairs: list[tuple[Array, Array]], rtol: float, atol: float | None) -> str | None:
    pairs = [(f, w) for f, w in pairs if np.any(w) or np.any(f)]
    factors = [_factor(f, w) for f, w in pairs]
    if not factors or not all(np.isfinite(c) and c != 0 for c in factors):
        return None
    same = np.allclose(factors, factors[0], rtol=rtol)
    # A single number is a multiple of any other, so there it takes one factor for all inputs.
    # Where some results are right, a factor is not what is wrong with the others.
    if not same and (all(w.size == 1 for _, w in pairs) or np.isclose(factors, 1).any()):
        return None
    if all(close(f, c * w, rtol, atol).all() for c, (f, w) in zip(factors, pairs, strict=True)):
        which = "the same for all inputs" if same else "which depends on the input"
        return f"the values are right up to a constant factor, {which}. Look at what you divide by."
    return None


def _factor(found: Array, wanted: Array) -> float:
    square = float(np.vdot(wanted, wanted))
    return float(np.vdot(wanted, found)) / square if square else np.nan


def score(found: Any, wanted: Any, rtol: float, atol: float | None) -> str:
    """Say how many of several values are right, by the same measure as the verdict."""
    if is_numeric(found) and is_numeric(wanted) and np.shape(found) == np.shape(wanted):
        right = close(np.asarray(found, float), np.asarray(wanted, float), rtol, atol)
        if right.size > 1:
            return f"{right.sum()} of {right.size} values are right."
    return "the result is not right."
