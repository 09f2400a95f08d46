"""Checks of follow-ups and groups, shared by all that compares survival."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from informed.extras import import_extra
from informed.validation import check_number

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


def check_confidence(confidence: object) -> float:
    """Return a level between 0 and 1, both excluded."""
    level = check_number("confidence", confidence, open_low=True)
    if level >= 1.0:
        raise ValueError(f"confidence={level:g} is out of range: it must lie between 0 and 1")
    return level


def check_follow_up(durations: ArrayLike, events: ArrayLike) -> tuple[FloatArray, BoolArray]:
    """Return durations as floats and events as booleans, or say what is wrong with them."""
    times = _as_numbers("durations", durations, "iuf", "finite numbers >= 0")
    flags = _as_numbers("events", events, "biuf", "0 (censored) or 1 (event)")
    if len(times) != len(flags):
        raise ValueError(
            f"durations and events must have the same length, got {len(times)} and {len(flags)}"
        )
    if len(times) == 0:
        raise ValueError("durations is empty: at least one subject is needed")
    bad = np.flatnonzero(~np.isfinite(times) | (times < 0))
    if len(bad):
        raise ValueError(
            f"durations[{bad[0]}] is {times[bad[0]]:g}: durations must be finite numbers >= 0"
        )
    bad = np.flatnonzero((flags != 0) & (flags != 1))
    if len(bad):
        swapped = ((times == 0) | (times == 1)).all()
        hint = "; durations holds only 0 and 1: are the two swapped?" if swapped else ""
        raise ValueError(
            f"events[{bad[0]}] is {flags[bad[0]]:g}: events must be 0 (censored) or 1 (event){hint}"
        )
    return times.astype(float), flags.astype(bool)


def _check_one_dimensional(name: str, values: ArrayLike) -> int:
    """Return the number of values."""
    try:
        shape = np.shape(values)
    except ValueError:
        raise ValueError(f"{name} is ragged: it must hold one value per subject") from None
    if len(shape) != 1:
        raise ValueError(f"{name} has shape {shape}: it must be one-dimensional, one per subject")
    return int(shape[0])


def _as_numbers(name: str, values: ArrayLike, kinds: str, allowed: str) -> NDArray[Any]:
    """Return a one-dimensional array whose dtype is of one of the kinds."""
    _check_one_dimensional(name, values)
    array = np.asarray(values)
    if array.dtype.kind == "O":
        pandas = import_extra("pandas", f"{name} of dtype object")
        # Columns with missing values arrive as objects; let numpy find their common type.
        array = np.array([np.nan if pandas.isna(value) else value for value in array])
    if array.dtype.kind not in kinds and len(array):
        raise TypeError(f"{name} must hold {allowed}, got an array of dtype {array.dtype}")
    return array


def check_groups(
    groups: ArrayLike, times: FloatArray, observed: BoolArray
) -> tuple[list[Hashable], IntArray]:
    """Return the sorted labels and each subject's position among them."""
    n_labels = _check_one_dimensional("groups", groups)
    if n_labels != len(times):
        raise ValueError(
            f"durations and groups must have the same length, got {len(times)} and {n_labels}"
        )
    # pandas keeps a missing value among strings apart, where numpy would write "nan".
    categorical = import_extra("pandas", "a comparison of groups").Categorical(groups)
    codes = np.asarray(categorical.codes, dtype=np.intp)
    labels: list[Hashable] = categorical.categories.tolist()
    if (codes < 0).any():
        raise ValueError(f"groups[{int(np.argmax(codes < 0))}] is missing: every subject needs one")
    for code, label in enumerate(labels):
        if isinstance(label, float) and not label.is_integer():
            raise ValueError(
                f"groups[{int(np.argmax(codes == code))}] is {label:g}: labels must be integers, "
                "booleans or strings, not measurements"
            )
        if not (codes == code).any():
            raise ValueError(f"groups: group {label!r} is empty: every category needs a subject")
    if len(labels) < 2:
        raise ValueError(f"groups must name at least two groups, got only {labels[0]!r}")
    if not observed.any():
        raise ValueError(
            f"events: all {len(observed)} subjects are censored; comparing survival needs an event"
        )
    return labels, codes
