"""What a reader can move: lists, ranges and switches, checked and put into words."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from informed.validation import check_count

Value = bool | int | float | str
Kind = Literal["slider", "dropdown", "checkbox"]

ALLOWED = (
    "a list of numbers (a slider), a list of strings (a dropdown), a tuple (start, stop, count) "
    "(a slider) or True/False (a checkbox)"
)


@dataclass(frozen=True)
class Control:
    """One control of an explorer, where a bare list, range or truth value says too little.

    Parameters
    ----------
    values : list, (start, stop, count) or bool
        A list of numbers makes a slider over these numbers, in this order; a list of strings makes
        a dropdown. A tuple makes a slider over ``count`` evenly spaced numbers, rounded to 12
        digits; they are integers where ``start``, ``stop`` and every number between them are. A
        truth value makes a checkbox, which starts with that value.
    label : str, optional
        What the reader sees; by default the name of the argument.
    unit : str, default=""
        Written after each value.
    help : str, default=""
        One sentence about what moving it does.
    default : value, optional
        The value at the start, which is also the one that is printed; by default the first.

    Examples
    --------
    >>> Control([20, 40, 80], label="sample size", unit="patients", default=40)
    Control(values=[20, 40, 80], label='sample size', unit='patients', help='', default=40)
    """

    values: Any
    label: str | None = None
    unit: str = ""
    help: str = ""
    default: Value | None = None


@dataclass(frozen=True)
class Dial:
    """A control that has been checked: what `draw` may be called with, and what a reader sees.

    ``values[i]`` is shown as ``texts[i]``; ``start`` is the position of the default.
    """

    name: str
    kind: Kind
    values: tuple[Value, ...]
    texts: tuple[str, ...]
    start: int
    label: str
    help: str


def as_dial(name: str, given: object) -> Dial:
    """Check one control and put its values into words.

    Examples
    --------
    >>> as_dial("rho", (0.1, 0.3, 3)).texts
    ('0.1', '0.2', '0.3')
    """
    control = given if isinstance(given, Control) else Control(given)
    for part in ("label", "unit", "help"):
        text = getattr(control, part)
        if not (isinstance(text, str) or (part == "label" and text is None)):
            raise TypeError(f"control {name}: {part} must be a string, got {text!r}")
    kind, values = _read_values(name, control.values)
    if kind == "checkbox":
        texts: tuple[str, ...] = ("off", "on")
        default: Value | None = bool(control.values)
        if control.default is not None:
            raise ValueError(
                f"control {name}: default={control.default!r} is one too many, because a checkbox "
                f"starts with its value, here {default}"
            )
    else:
        unit = f"\N{NO-BREAK SPACE}{control.unit}" if control.unit else ""
        texts = tuple(text + unit for text in _in_words(values))
        default = values[0] if control.default is None else control.default
    if default not in values:
        raise ValueError(
            f"control {name}: default={default!r} is not among its values {list(values)}"
        )
    label = name.replace("_", " ") if control.label is None else control.label
    return Dial(name, kind, values, texts, values.index(default), label, control.help)


def all_positions(dials: Sequence[Dial]) -> list[tuple[int, ...]]:
    """Return every combination of positions; the last control changes fastest.

    Examples
    --------
    >>> all_positions([as_dial("n", [20, 40]), as_dial("noisy", True)])
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    return list(itertools.product(*(range(len(dial.values)) for dial in dials)))


def values_at(dials: Sequence[Dial], positions: Sequence[int]) -> dict[str, Value]:
    """Return the keyword arguments of `draw` at these positions."""
    return {
        dial.name: dial.values[position] for dial, position in zip(dials, positions, strict=True)
    }


def default_words(dials: Sequence[Dial], title: str | None, /, **values: Value) -> str:
    r"""Say in words which values a picture belongs to.

    Examples
    --------
    >>> default_words([as_dial("n", Control([20, 40], unit="genes"))], "Errors", n=40)
    'Errors. n: 40\xa0genes'
    """
    settings = "; ".join(
        f"{dial.label}: {dial.texts[dial.values.index(values[dial.name])]}" for dial in dials
    )
    return f"{title}. {settings}" if title else settings


def written_call(values: Mapping[str, Value]) -> str:
    """Write the call that draws a picture, for messages."""
    return f"draw({', '.join(f'{name}={value!r}' for name, value in values.items())})"


def _read_values(name: str, given: object) -> tuple[Kind, tuple[Value, ...]]:
    if isinstance(given, bool | np.bool_):
        return "checkbox", (False, True)
    if isinstance(given, tuple):
        return "slider", _read_range(name, given)
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if not isinstance(given, list | range):
        raise TypeError(
            f"control {name} must be {ALLOWED}, got {given!r} of type {type(given).__name__}"
        )
    if not given:
        raise ValueError(f"control {name} is empty: it needs at least one value")
    kind: Kind
    values: list[Value]
    if all(isinstance(value, str) for value in given):
        kind, values = "dropdown", [str(value) for value in given]
    elif all(_is_number(value) for value in given):
        kind, values = "slider", [_number(name, value) for value in given]
    else:
        raise TypeError(
            f"control {name} must hold either numbers or strings, got {list(given)!r}; for a "
            "checkbox give True or False, without a list"
        )
    seen: set[Value] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"control {name} holds {value!r} twice: its values must differ")
        seen.add(value)
    return kind, tuple(values)


def _read_range(name: str, given: tuple[Any, ...]) -> tuple[Value, ...]:
    if len(given) != 3 or not all(_is_number(entry) for entry in given):
        raise TypeError(
            f"control {name}: a tuple must be (start, stop, count) of numbers, got {given!r}; "
            "for listed values use a list"
        )
    start, stop = _number(name, given[0]), _number(name, given[1])
    count = check_count(f"control {name}: count", given[2], 2)
    if start == stop:
        raise ValueError(f"control {name}: start and stop are both {start}: they must differ")
    spaced = [float(f"{value:.12g}") for value in np.linspace(start, stop, count)]
    if isinstance(start, int) and isinstance(stop, int) and all(v.is_integer() for v in spaced):
        return tuple(int(value) for value in spaced)
    return tuple(spaced)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _number(name: str, value: Any) -> int | float:
    if isinstance(value, Integral):
        return int(value)
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"control {name} holds {number}: numbers must be finite")
    return number


def _in_words(values: tuple[Value, ...]) -> tuple[str, ...]:
    """Write values with as few digits as tell them apart, but at least four."""
    candidates = (tuple(_text(value, digits) for value in values) for digits in (4, 6, 9, 12, 17))
    return next(texts for texts in candidates if len(set(texts)) == len(texts))


def _text(value: Value, digits: int) -> str:
    if isinstance(value, str):
        return value
    text = f"{value:.{digits}g}" if isinstance(value, float) else str(value)
    return text.replace("-", "\N{MINUS SIGN}")
