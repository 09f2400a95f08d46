"""Checks of arguments that every module shares, and of the samples that estimators get.

A message names the argument, the value that came and what is allowed, so that the reader can mend
the call without opening this file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, TypeVar, cast, get_args

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state, get_tags
from sklearn.utils.validation import validate_data

Array = NDArray[Any]
PenaltyRule = Literal["cv", "capped", "per-direction"]
Penalty = float | PenaltyRule
PENALTY_RULES: tuple[PenaltyRule, ...] = get_args(PenaltyRule)
Choice = TypeVar("Choice", bound=str)
Item = TypeVar("Item")


@dataclass(frozen=True)
class Allowed:
    """What a parameter may be: one of some names, a number within limits, an object.

    Attributes
    ----------
    names : collection of str
        Names; none if it must be a number.
    low, high : float or None
        Smallest and largest number; ``low=None`` allows no number, ``high=None`` any large one,
        and ``high="rank"`` the largest rank that samples of some shape have when they are centred.
    whole : bool
        Whether the number must be an integer.
    open_low : bool
        Whether ``low`` itself is left out.
    finite : bool
        Whether the number must be finite.
    why : str
        What sets the limits, such as ``"n_features=3"``.
    objects : bool
        Whether an object with a method ``fit`` will do as well.
    """

    names: Collection[str] = ()
    low: float | None = None
    high: float | Literal["rank"] | None = None
    whole: bool = True
    open_low: bool = False
    finite: bool = True
    why: str = ""
    objects: bool = False


def check_values(
    values: Mapping[str, object],
    allowed: Mapping[str, Allowed],
    shape: tuple[int, int] = (0, 0),
) -> dict[str, Any]:
    """Return values that are allowed, or say what the first that is not may be.

    All parameters of an estimator are checked in one pass, by what its class declares of them.

    Parameters
    ----------
    values : mapping
        What the caller gave, by name.
    allowed : mapping
        What each of them may be; other values are left alone.
    shape : tuple of int
        Shape of the samples, where a limit depends on it.

    Returns
    -------
    checked : dict
        The allowed names, numbers as int or float, and objects as they are.

    Examples
    --------
    >>> kinds = {"norm": Allowed(["fro", "2"]), "n_init": Allowed(low=1)}
    >>> check_values({"norm": "fro", "n_init": 3}, kinds)
    {'norm': 'fro', 'n_init': 3}
    """
    checked: dict[str, Any] = {}
    for name, kind in allowed.items():
        value = values[name]
        if kind.objects and not isinstance(value, str):
            if isinstance(value, type) or not callable(getattr(value, "fit", None)):
                raise TypeError(
                    f"{name} must be one of {sorted(kind.names)}, or an object with a method fit, "
                    f"got {value!r} of type {type(value).__name__}"
                )
            checked[name] = value
            continue
        if kind.low is None or (kind.names and isinstance(value, str)):
            known = [each for each in kind.names if isinstance(value, str) and each == value]
            if not known:
                raise ValueError(
                    f"{name}={value!r} is unknown: it must be one of {sorted(kind.names)}"
                )
            checked[name] = known[0]
            continue
        low, why = kind.low, kind.why
        high = np.inf if kind.high is None or kind.high == "rank" else kind.high
        if kind.high == "rank":
            n_samples, n_features = shape
            high = min(n_samples - 1, n_features)
            why = f"the rank of {n_samples} centred samples with {n_features=} is at most {high}"
        if not kind.whole:
            finite = "finite " if kind.finite else ""
            text = f"a {finite}number {'>' if kind.open_low else '>='} {low:g}"
        elif kind.high is None:
            text = f"an integer >= {low}"
        else:
            text = f"an integer from {low} to {high}"
        text += f" ({why})" if why else ""
        is_number = isinstance(value, Integral if kind.whole else Real)
        if isinstance(value, bool | np.bool_) or not is_number:
            raise TypeError(f"{name} must be {text}, got {value!r} of type {type(value).__name__}")
        number = (int if kind.whole else float)(cast(Any, value))
        # Written so that NaN is out of range.
        inside = low < number if kind.open_low else low <= number
        if not inside or number > high or (kind.finite and number == np.inf):
            raise ValueError(f"{name}={number} is out of range: it must be {text}")
        checked[name] = number
    return checked


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
    count: int = check_values({name: value}, {name: Allowed(low=low, high=high, why=why)})[name]
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
    kind = Allowed(low=low, whole=False, open_low=open_low, finite=finite)
    number: float = check_values({name: value}, {name: kind})[name]
    return number


def check_choice(name: str, value: object, allowed: Collection[Choice]) -> Choice:
    """Return ``value`` if it is one of ``allowed``.

    Examples
    --------
    >>> check_choice("norm", "fro", ["fro", "2"])
    'fro'
    """
    choice: Choice = check_values({name: value}, {name: Allowed(allowed)})[name]
    return choice


def check_some(name: str, values: Sequence[Item], what: str = "value") -> Sequence[Item]:
    """Return ``values`` if there are any.

    Examples
    --------
    >>> check_some("sizes", [10, 20])
    [10, 20]
    """
    if not values:
        raise ValueError(f"{name} is empty: give at least one {what}")
    return values


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


# The weight of a penalty, or the name of the rule that chooses it from the data.
PENALTY = Allowed(PENALTY_RULES, low=0.0, whole=False, finite=False)


def check_penalty(value: object) -> Penalty:
    """Return the weight of a penalty, or the name of the rule that chooses it from the data.

    Examples
    --------
    >>> check_penalty(2), check_penalty("cv")
    (2.0, 'cv')
    """
    penalty: Penalty = check_values({"penalty": value}, {"penalty": PENALTY})["penalty"]
    return penalty


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
    is_sparse = sparse.issparse(X)
    try:
        if X is None:
            raise ValueError("got None")
        # NumPy would read text as a number if it looks like one.
        given = np.empty(0) if is_sparse else np.asarray(X)
        if given.dtype.kind in "SU" or (
            given.dtype.kind == "O" and any(isinstance(entry, str | bytes) for entry in given.flat)
        ):
            raise ValueError("got text")
        checked: Any = check_array(
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
        checked = sparse.csr_array(checked)
        if not checked.has_canonical_format:
            checked = checked.copy()
            checked.sum_duplicates()
    values = checked.data if is_sparse else checked
    if values.size and (is_sparse or not any_scale):
        # Numbers whose squares leave the range of their type would lose all distances.
        largest = max(float(values.max()), -float(values.min()))
        numbers = np.finfo(values.dtype)
        high = float(np.sqrt(numbers.max / values.size))
        low = float(np.sqrt(numbers.tiny / numbers.eps))
        if largest > high or 0 < largest < low:
            raise ValueError(
                f"{name} holds values up to {largest:.1g} in size, whose squares {values.dtype} "
                f"cannot hold: scale it, so that the largest is between {low:.0e} and {high:.0e}"
            )
    samples: Array = checked
    return samples


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
    estimator: BaseEstimator, X: ArrayLike, *, reset: bool, allow_sparse: bool | None = False
) -> Array:
    """Check samples as every function does, text included, and as scikit-learn's estimators do.

    With ``allow_sparse=None`` the estimator's tags tell whether sparse samples are allowed.
    """
    if allow_sparse is None:
        allow_sparse = sparse.issparse(X) and get_tags(estimator).input_tags.sparse
    samples = check_matrix(X, min_samples=2 if reset else 1, allow_sparse=allow_sparse)
    # The values are checked; this looks at the number of features and their names.
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    return samples


class KeepsFloat32Mixin:
    """Tell scikit-learn that a transformer keeps float32, as :func:`check_matrix` does.

    And when it takes sparse samples, if it ever does.
    """

    # Values of parameters with which sparse samples are never made dense. What is "auto" needs
    # dense ones in any case: it is chosen by samples that are held out.
    _sparse_with: ClassVar[Mapping[str, Collection[str]]] = {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        if self._sparse_with:
            given = vars(self)
            tags.input_tags.sparse = all(
                isinstance(given[name], str) and given[name] in names
                for name, names in self._sparse_with.items()
            ) and not any(isinstance(value, str) and value == "auto" for value in given.values())
        return tags
