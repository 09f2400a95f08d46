"""Checks of arguments that every module shares, and of the samples that estimators get.

A message names the argument, the value that came and what is allowed, so that the reader can mend
the call without opening this file.
"""

from __future__ import annotations

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

Array = NDArray[Any]
PenaltyRule = Literal["cv", "capped", "per-direction"]
Penalty = float | PenaltyRule
PENALTY_RULES: tuple[PenaltyRule, ...] = get_args(PenaltyRule)
Choice = TypeVar("Choice", bound=str)


def check_count(name: str, value: object, low: int, high: int | None = None, why: str = "") -> int:
    """Return ``value`` as an int, or say which integers ``name`` may take.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What the caller gave.
    low, high : int
        Smallest and largest allowed value; ``high=None`` means no upper limit.
    why : str
        What sets the limits, such as ``"n_features=3"``.

    Examples
    --------
    >>> check_count("n_clusters", 2, 1, 5)
    2
    """
    allowed = f"an integer >= {low}" if high is None else f"an integer from {low} to {high}"
    if why:
        allowed += f" ({why})"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be {allowed}, got {value!r} of type {type(value).__name__}")
    count = int(value)
    if count < low or (high is not None and count > high):
        raise ValueError(f"{name}={count} is out of range: it must be {allowed}")
    return count


def check_number(
    name: str, value: object, low: float = 0.0, *, open_low: bool = False, finite: bool = True
) -> float:
    """Return ``value`` as a float that is at least ``low`` (above it if ``open_low``).

    Examples
    --------
    >>> check_number("scale", 2, open_low=True)
    2.0
    """
    allowed = f"a {'finite ' if finite else ''}number {'>' if open_low else '>='} {low:g}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {allowed}, got {value!r} of type {type(value).__name__}")
    number = float(value)
    if np.isnan(number) or (finite and np.isinf(number)) or number < low:
        raise ValueError(f"{name}={number} is out of range: it must be {allowed}")
    if open_low and number == low:
        raise ValueError(f"{name}={number} is out of range: it must be {allowed}")
    return number


def check_choice(name: str, value: object, allowed: Collection[Choice]) -> Choice:
    """Return ``value`` if it is one of ``allowed``.

    Examples
    --------
    >>> check_choice("norm", "fro", ["fro", "2"])
    'fro'
    """
    for choice in allowed:
        if isinstance(value, str) and value == choice:
            return choice
    raise ValueError(f"{name}={value!r} is unknown: it must be one of {sorted(allowed)}")


def check_flag(name: str, value: object) -> bool:
    """Return ``value`` if it is True or False; a word such as "no" would count as true.

    Examples
    --------
    >>> check_flag("verbose", False)
    False
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(
            f"{name} must be True or False, got {value!r} of type {type(value).__name__}"
        )
    return bool(value)


def check_n_jobs(value: object) -> int | None:
    """Return a number of workers as joblib takes it: None, or an integer other than zero.

    Examples
    --------
    >>> check_n_jobs(-1), check_n_jobs(None)
    (-1, None)
    """
    if value is None:
        return None
    allowed = "None, a number of workers >= 1, or negative: -1 for all cores, -2 for all but one"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"n_jobs must be {allowed}; got {value!r} of type {type(value).__name__}")
    if value == 0:
        raise ValueError(f"n_jobs=0 is out of range: it must be {allowed}")
    return int(value)


def random_source(random_state: object) -> RandomState:
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


def check_penalty(value: object) -> Penalty:
    """Return the weight of a penalty, or the name of the rule that chooses it from the data.

    Examples
    --------
    >>> check_penalty(2), check_penalty("cv")
    (2.0, 'cv')
    """
    if isinstance(value, str):
        return check_choice("penalty", value, PENALTY_RULES)
    return check_number("penalty", value, finite=False)


def check_matrix(
    X: object,
    name: str = "X",
    *,
    min_samples: int = 2,
    allow_sparse: bool = False,
    any_scale: bool = False,
) -> Array:
    """Return ``X`` as a finite two-dimensional float array; float32 stays float32.

    Where ``allow_sparse``, a sparse matrix or array is returned as a ``csr_array``, never dense.
    Where ``any_scale``, values may be so large or small that their squares are lost.

    Examples
    --------
    >>> check_matrix([[0, 1], [2, 3]]).dtype
    dtype('float64')
    """
    try:
        if X is None:
            raise ValueError("got None")
        is_sparse = allow_sparse and sparse.issparse(X)
        if not sparse.issparse(X) and _holds_text(X):
            raise ValueError("got text")
        checked: Array = check_array(
            X,
            dtype=[np.float64, np.float32],
            accept_sparse="csr" if allow_sparse else False,
            ensure_min_samples=min_samples,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"{name} must be a dense matrix of finite real numbers with at least {min_samples} "
            f"row(s): {error}"
        ) from error
    if is_sparse:
        samples: Any = sparse.csr_array(checked)
        if not samples.has_canonical_format:
            samples = samples.copy()
            samples.sum_duplicates()
        _check_scale(samples.data, name)
        checked = samples
        return checked
    if not any_scale:
        _check_scale(checked, name)
    return checked


def _check_scale(values: Array, name: str) -> None:
    """Refuse numbers whose squares leave the range of their type: all distances would be lost."""
    if not values.size:
        return
    largest = max(float(values.max()), -float(values.min()))
    numbers = np.finfo(values.dtype)
    high = float(np.sqrt(numbers.max / values.size))
    low = float(np.sqrt(numbers.tiny / numbers.eps))
    if largest > high or 0 < largest < low:
        raise ValueError(
            f"{name} holds values up to {largest:.1g} in size, whose squares {values.dtype} cannot "
            f"hold: scale it, so that the largest is between {low:.0e} and {high:.0e}"
        )


def _holds_text(X: object) -> bool:
    """Tell whether some entry is text, which NumPy would read as a number if it looks like one."""
    values = np.asarray(X)
    if values.dtype.kind == "O":
        return any(isinstance(entry, str | bytes) for entry in values.flat)
    return values.dtype.kind in "SU"


def check_vectors(u: ArrayLike, v: ArrayLike, n_features: int) -> tuple[Array, Array]:
    """Return two vectors of finite numbers, one for each feature.

    Called for every pair by those who ask for single distances, so it looks no closer than needed.

    Examples
    --------
    >>> check_vectors([0, 1], [2, 3], 2)
    (array([0., 1.]), array([2., 3.]))
    """
    checked = []
    for name, vector in (("u", u), ("v", v)):
        try:
            values = np.asarray(vector)
            if values.dtype.kind not in "fiub":
                raise ValueError(f"dtype {values.dtype}")
            values = values.astype(np.result_type(values, np.float32), copy=False)
        except ValueError as error:
            raise ValueError(f"{name} must be a vector of real numbers: {error}") from error
        if values.shape != (n_features,):
            raise ValueError(
                f"{name} has shape {values.shape}: it must hold one number for each of the "
                f"{n_features} features"
            )
        if not np.isfinite(values).all():
            raise ValueError(f"{name} contains NaN or infinity")
        checked.append(values)
    return checked[0], checked[1]


def check_labels(labels: object, n_features: int, name: str = "labels") -> NDArray[np.intp]:
    """Return cluster labels as integers 0 … K − 1 with no cluster empty.

    Examples
    --------
    >>> check_labels([0, 1, 0], 3)
    array([0, 1, 0])
    """
    values = np.asarray(labels)
    if values.shape != (n_features,):
        raise ValueError(
            f"{name} has shape {values.shape}: it must hold one cluster number for each of the "
            f"{n_features} features"
        )
    if not np.issubdtype(values.dtype, np.integer):
        raise TypeError(f"{name} must hold integers, got an array of dtype {values.dtype}")
    if values.min() < 0:
        raise ValueError(f"{name} holds {values.min()}: cluster numbers start at 0")
    found = np.unique(values)
    if len(found) <= found[-1]:
        empty = int(np.argmax(found != np.arange(len(found))))
        raise ValueError(
            f"{name} leaves cluster {empty} empty: every number from 0 to {found[-1]} must occur"
        )
    return values.astype(np.intp)


def validate_samples(
    estimator: BaseEstimator, X: ArrayLike, *, reset: bool, allow_sparse: bool = False
) -> Array:
    """Check samples as every function does, text included, and as scikit-learn's estimators do."""
    samples = check_matrix(X, min_samples=2 if reset else 1, allow_sparse=allow_sparse)
    # The values are checked; this looks at the number of features and their names.
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return samples


class KeepsFloat32Mixin:
    """Tell scikit-learn that a transformer keeps float32, as :func:`check_matrix` does."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
