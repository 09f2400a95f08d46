'''How a chapter says what a right answer to its exercises is, and how an answer is told.

A student calls ``check(name, answer)`` and reads a `Verdict`: Right, Not yet or Wrong, with a
reason in words. A verdict never holds the right answer, and `check` never raises because an answer
is wrong. This page is for authors of exercises.

Each chapter with exercises has one module in this package, named like the chapter's notebook with
underscores for hyphens (``book/pca-distance.ipynb``, ``informed/exercises/pca_distance.py``). It
is found by being there. It registers one check for each exercise that has a starter cell, under
the exercise's label, in one of three ways.

**The answer is a function.** Decorate an *independent* reference: another way to the result than
the published solution, slow and plain if need be. The check calls the student's function with the
reference's arguments, by position, on several random inputs. It tells, in this order: no function,
wrong number of arguments, an exception (with the input's shapes and the line), None, wrong type,
wrong shape, NaN, wrong values, an argument changed in place.

    """Checks for the exercises of the chapter on averaging."""

    from __future__ import annotations

    from typing import Any

    import numpy as np

    from informed.exercises.checking import Array, function_check


    def _uneven_clusters(rng: np.random.Generator) -> tuple[Array, Array]:
        labels = rng.permutation(np.repeat([0, 1, 2], [1, 3, 5]))
        return rng.normal(size=(9, 2)), labels


    @function_check(
        "ex-bincount",
        inputs=_uneven_clusters,
        mistakes={
            "you add up each cluster; divide by its size too.": lambda U, labels: np.array(
                [U[labels == label].sum(axis=0) for label in labels]
            ),
        },
    )
    def _average(U: Array, labels: Array) -> Any:
        return np.array([U[labels == label].mean(axis=0) for label in labels])

`inputs` makes one input from a random generator: a tuple of arguments, also if it is one only. Let
sizes differ, so that mixed-up axes show, and let nothing be symmetric, sorted or of size one by
accident. `mistakes` maps what to say to a function that makes this mistake; it is said if the
student's values equal the mistake's on all inputs. Say what is wrong and where to look, not what to
write. Sign flips, constant factors, squares and transposes are recognised without your help. If the
result is not unique, as directions are up to sign, give `view`: what of a result counts, for
instance ``view=lambda U: U @ U.T`` for the space that the columns span.

**The answer is one number or several**, by hand or computed once. Three digits are enough, and
fractions may be given as ``"2/3"`` or ``Fraction(2, 3)``.

    number_check(
        "ex-triangle",
        {"d(x1, x2)": 2, "d(x1, x3)": 2, "d(x2, x3)": 2},
        mistakes={"these are squared distances. Take the root.": [4, 4, 4]},
    )

In a mistake, None stands for any number. The names are told when an entry is wrong.

**Anything else**: many answers are right (a counterexample, a matrix with some property). Decorate
a function that takes the answer and returns what is wrong with it in words, or None. If the answer
is a function, say ``function=True``: its exceptions and its None are then told for you.

    @judged_check("ex-singular")
    def _is_singular(matrix: Any) -> str | None:
        if np.shape(matrix) != (2, 2):
            return "give a 2 × 2 matrix, as a list of two rows or as an array."
        return None if abs(np.linalg.det(matrix)) < 1e-9 else "your matrix has an inverse."

A message starts with a small letter and ends with a full stop; backticks mark code. Helpers are
private (``_name``), so that they need no docstring. Annotate a result as ``Any`` where mypy does
not know it. A module of checks imports numpy, scipy, scikit-learn and the core of the library,
nothing that draws. Keep each check below a tenth of a second.

In the notebook the starter cell has the tag ``exercise-starter``; a stub's body is
``return ...  # your code``. The starter cell and the published solution end with the same line,
``check("ex-bincount", average)``. Two wrong answers of your own or more go to
``tests/wrong_answers/<module>.py`` as ``WRONG = {"ex-bincount": [(answer, "words it is told")]}``.
``tests/test_exercises.py`` walks through all notebooks and holds this together.
'''

from __future__ import annotations

import copy
import inspect
import linecache
import re
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from html import escape
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Check", "Verdict", "function_check", "judged_check", "number_check"]

Array = NDArray[Any]
"""An array of numbers, for the signatures of references."""

Status = Literal["Right", "Not yet", "Wrong"]
Number = float | Fraction | str | np.floating[Any]
Function = TypeVar("Function", bound=Callable[..., Any])

COLOURS: dict[Status, str] = {"Right": "#2e8b57", "Not yet": "#8a8a8a", "Wrong": "#d55e00"}


@dataclass(frozen=True, repr=False)
class Verdict:
    """What the self-check says about an answer; true if the answer is right.

    Attributes
    ----------
    exercise : str
        Label of the exercise.
    status : {"Right", "Not yet", "Wrong"}
        "Not yet" is for an answer that has not been given.
    message : str
        The reason in words.
    """

    exercise: str
    status: Status
    message: str

    def __bool__(self) -> bool:
        return self.status == "Right"

    def __repr__(self) -> str:
        return f"{self.status}: {self.message}"

    def _repr_html_(self) -> str:
        # Colours of text and ground are the page's own, so that it is legible in the dark.
        words = re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(self.message, quote=False))
        return (
            f'<div class="informed-check" role="status" style="padding: 0.2rem 0.8rem; '
            f'border-left: 0.3rem solid {COLOURS[self.status]}">'
            f"<strong>{self.status}:</strong> {words}</div>"
        )


class Check(Protocol):
    """What can judge an answer."""

    @property
    def name(self) -> str:
        """Label of the exercise."""

    def judge(self, answer: Any) -> Verdict:
        """Say whether the answer is right."""


REGISTRY: dict[str, Check] = {}


def register(check: Check) -> None:
    """Make a check known under its name."""
    if check.name in REGISTRY:
        raise ValueError(f"name={check.name!r}: there is a check of this name already")
    REGISTRY[check.name] = check


def find(name: str) -> Check:
    """Return the check of an exercise."""
    if not isinstance(name, str):
        raise TypeError(
            "name: the label of the exercise comes first, your answer second, as in "
            f'check("ex-...", answer); got {type(name).__name__}'
        )
    if name not in REGISTRY:
        close = get_close_matches(name, REGISTRY, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else "see its exercises"
        raise ValueError(f"name={name!r}: no exercise with a self-check has this label; {hint}")
    return REGISTRY[name]


# ----------------------------------------------------------------------- the answer is a function


def function_check(
    name: str,
    *,
    inputs: Callable[[np.random.Generator], tuple[Any, ...]],
    mistakes: Mapping[str, Callable[..., Any]] | None = None,
    view: Callable[[Any], Any] | None = None,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    trials: int = 5,
) -> Callable[[Function], Function]:
    """Register the decorated function as the reference of an exercise.

    Parameters
    ----------
    name : str
        Label of the exercise.
    inputs : callable
        Makes one input, a tuple of arguments, from a random generator.
    mistakes : mapping from str to callable, optional
        What to say to whom: a hint, and a function that makes the mistake.
    view : callable, optional
        What of a result counts. By default all of it.
    rtol, atol : float
        Results are equal if they differ by no more than ``atol + rtol * abs(expected)``.
    trials : int
        Number of random inputs.

    Returns
    -------
    decorator : callable
        Returns the reference as it is.

    Examples
    --------
    >>> from informed.exercises import checking
    >>> @function_check("ex-doc-mean", inputs=lambda rng: (rng.normal(size=(4, 3)),))
    ... def reference(X):
    ...     return X.sum(axis=0) / len(X)
    >>> checking.find("ex-doc-mean").judge(lambda X: X.sum(axis=0))
    Wrong: the values are right up to a constant factor, the same for all inputs. Look at what you \
divide by.
    >>> del checking.REGISTRY["ex-doc-mean"]
    """

    def decorate(reference: Function) -> Function:
        register(
            FunctionCheck(name, reference, inputs, dict(mistakes or {}), view, rtol, atol, trials)
        )
        return reference

    return decorate


@dataclass(frozen=True)
class FunctionCheck:
    """Compares a function with a reference on random inputs; see `function_check`."""

    name: str
    reference: Callable[..., Any]
    inputs: Callable[[np.random.Generator], tuple[Any, ...]]
    mistakes: dict[str, Callable[..., Any]]
    view: Callable[[Any], Any] | None
    rtol: float
    atol: float
    trials: int

    def judge(self, answer: Any) -> Verdict:
        """Say whether the function `answer` does what the reference does."""
        try:
            return Verdict(self.name, "Right", self._praise(answer))
        except _Told as told:
            return Verdict(self.name, told.status, told.message)

    def made_inputs(self) -> list[tuple[Any, ...]]:
        """Return the inputs, the same at each call."""
        seed = zlib.crc32(self.name.encode())
        return [self.inputs(np.random.default_rng([seed, k])) for k in range(self.trials)]

    def _praise(self, answer: Any) -> str:
        student = _Student(answer, self.name, list(inspect.signature(self.reference).parameters))
        inputs, changed = self.made_inputs(), ""
        found, wanted = [], []
        for arguments in inputs:
            expected = self.reference(*copy.deepcopy(arguments))
            given = copy.deepcopy(arguments)
            result = student(*given)
            if fault := _fault_of_form(result, expected):
                raise _Told("Wrong", f"on {student.describe(arguments)} your function {fault}")
            for name, before, after in zip(student.parameters, arguments, given, strict=True):
                comparable = _is_numeric(before) or isinstance(before, list | tuple)
                if comparable and not _same(after, before, 0.0, 0.0):
                    changed = name
            found.append(self._seen(result))
            wanted.append(self._seen(expected))
        agrees = [_same(f, w, self.rtol, self.atol) for f, w in zip(found, wanted, strict=True)]
        besides = (
            f"it changes its argument `{changed}` in place, so that the caller's data are "
            "spoilt. Work on a copy."
        )
        if not all(agrees):
            hint = self._diagnosis(found, wanted, inputs)
            if hint is None:
                first = agrees.index(False)
                hint = (
                    f"on {student.describe(inputs[first])} {_score(found[first], wanted[first])}"
                    f"{_luck(agrees)} Try a case so small that you can do it by hand."
                )
            raise _Told("Wrong", hint + (f" Besides, {besides}" if changed else ""))
        if changed:
            raise _Told("Wrong", f"the values are right, but {besides}")
        return f"{student.title} agrees with an independent computation on {self.trials} inputs."

    def _seen(self, result: Any) -> Any:
        if self.view is None:
            return result
        try:
            with _quiet():
                return self.view(result)
        except Exception:  # a wrong result may be anything, a singular matrix for one
            return None

    def _diagnosis(
        self, found: list[Any], wanted: list[Any], inputs: list[tuple[Any, ...]]
    ) -> str | None:
        for hint, mistake in self.mistakes.items():
            with _quiet():
                made = [self._seen(mistake(*copy.deepcopy(each))) for each in inputs]
            if all(_same(f, m, self.rtol, self.atol) for f, m in zip(found, made, strict=True)):
                return hint
        return _usual_suspect(found, wanted, self.rtol, self.atol)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep back warnings about a student's numbers: what comes of them, a NaN for one, is told."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


class _Told(Exception):
    """A verdict that ends the check."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status: Status = status
        self.message = message


class _Student:
    """A student's function, whose failures are told instead of raised."""

    def __init__(self, function: Any, exercise: str, parameters: list[str] | None = None) -> None:
        if function is None or function is ...:
            raise _Told("Not yet", f'pass your function: `check("{exercise}", your_function)`.')
        if not callable(function):
            raise _Told(
                "Wrong",
                "pass the function itself, not what it returns: "
                f'`check("{exercise}", your_function)`, without brackets after its name.',
            )
        self.function = function
        self.parameters = parameters or []
        name = getattr(function, "__name__", "<lambda>")
        self.title = "your function" if name == "<lambda>" else f"`{name}`"
        if parameters is not None:
            self._check_signature()

    def _check_signature(self) -> None:
        try:
            signature = inspect.signature(self.function)
        except (TypeError, ValueError):  # some built-in functions do not tell theirs
            return
        try:
            signature.bind(*self.parameters)
        except TypeError:
            names = ", ".join(f"`{name}`" for name in self.parameters)
            some = "argument" if len(self.parameters) == 1 else "arguments"
            raise _Told(
                "Wrong",
                f"{self.title} must take {len(self.parameters)} {some}, by position: {names}.",
            ) from None

    def __call__(self, *arguments: Any) -> Any:
        before = copy.deepcopy(arguments)
        try:
            with _quiet():
                result = self.function(*arguments)
        except NotImplementedError:
            result = None
        except Exception as error:
            words = f": {error}" if str(error) else ""
            raise _Told(
                "Wrong",
                f"on {self.describe(before)} your function stopped with "
                f"{type(error).__name__}{words}{self._line(error)}",
            ) from None
        parts = result if isinstance(result, tuple) else (result,)
        if any(part is None or part is ... for part in parts):
            raise _Told(
                "Not yet",
                f"{self.title} returns nothing. Write its body, and let it `return` your result.",
            )
        return result

    def _line(self, error: Exception) -> str:
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        lines = [
            (frame.f_code.co_filename, number)
            for frame, number in traceback.walk_tb(error.__traceback__)
            if code is not None and frame.f_code.co_filename == code.co_filename
        ]
        if not lines:
            return "."
        text = linecache.getline(*lines[-1]).strip()
        return f" (line {lines[-1][1]}{f': `{text}`' if text else ''})."

    def describe(self, arguments: Sequence[Any]) -> str:
        names = self.parameters or [f"argument {k + 1}" for k in range(len(arguments))]
        parts = []
        for name, value in zip(names, arguments, strict=False):
            if isinstance(value, list | tuple) and len(repr(value)) < 40:
                parts.append(f"`{name}` = {value}")
            elif np.ndim(value):
                parts.append(f"`{name}` of shape {np.shape(value)}")
            elif isinstance(value, bool | int | float | str | np.number):
                parts.append(
                    f"`{name}` = {value:.6g}" if _is_real(value) else f"`{name}` = {value}"
                )
        return f"an input with {', '.join(parts)}" if parts else "one of the inputs"


def _is_real(value: Any) -> bool:
    return isinstance(value, float | np.floating)


def _fault_of_form(result: Any, expected: Any) -> str | None:
    """Say what keeps a result from being compared by value: its type, its shape, a NaN."""
    if isinstance(expected, tuple):
        if not isinstance(result, tuple | list) or len(result) != len(expected):
            return f"must return {len(expected)} values: `return first, second, ...`."
        for number, (one, other) in enumerate(zip(result, expected, strict=True), start=1):
            if fault := _fault_of_form(one, other):
                return f"{fault[:-1]}, as its return value number {number}."
        return None
    if isinstance(expected, str):
        return None if isinstance(result, str) else f"returns {_type(result)}, not a string."
    if isinstance(expected, bool | np.bool_):
        right = isinstance(result, bool | np.bool_)
        return None if right else f"returns {_type(result)}, not True or False."
    wanted = np.asarray(expected)
    try:
        got = np.asarray(result)
    except ValueError:
        return "returns rows of different lengths, which make no array."
    if got.dtype.kind not in "biuf":
        what = "complex numbers" if got.dtype.kind == "c" else _type(result)
        return f"returns {what}; {_shaped(wanted)} of real numbers is expected."
    if got.shape != wanted.shape:
        turned = got.ndim > 1 and got.T.shape == wanted.shape
        hint = " Rows and columns are exchanged." if turned else ""
        return f"returns {_shaped(got)}; {_shaped(wanted)} is expected.{hint}"
    bad = ~np.isfinite(got.astype(float)) & np.isfinite(wanted.astype(float))
    if bad.any():
        return (
            f"returns NaN or infinity in {bad.sum()} of {bad.size} entries: look for a division by "
            "zero, or a root or a logarithm of a negative number."
        )
    return None


def _type(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _shaped(array: Array) -> str:
    return "a single number" if array.ndim == 0 else f"an array of shape {array.shape}"


def _same(one: Any, other: Any, rtol: float, atol: float) -> bool:
    """Say whether two results are equal, up to rounding."""
    if isinstance(other, tuple | list) and not _is_numeric(other):
        return (
            isinstance(one, tuple | list)
            and len(one) == len(other)
            and all(_same(a, b, rtol, atol) for a, b in zip(one, other, strict=True))
        )
    if isinstance(other, str):
        return isinstance(one, str) and one == other
    if not _is_numeric(one) or not _is_numeric(other):
        return False
    a, b = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return a.shape == b.shape and np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True)


def _is_numeric(value: Any) -> bool:
    try:
        return np.asarray(value).dtype.kind in "biuf"
    except ValueError:  # ragged
        return False


def _usual_suspect(found: list[Any], wanted: list[Any], rtol: float, atol: float) -> str | None:
    """Name a slip that is common to all subjects, if it explains all the results."""
    if not all(_is_numeric(each) and not isinstance(each, str) for each in [*found, *wanted]):
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
                change(w).shape == f.shape and np.allclose(f, change(w), rtol=rtol, atol=atol)
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
    # A single number is a multiple of any other, so there it takes one factor for all inputs.
    factors = [_factor(f, w) for f, w in pairs]
    same = np.allclose(factors, factors[0], rtol=max(rtol, 1e-6))
    if all(w.size == 1 for _, w in pairs) and not same:
        return None
    if all(
        np.isfinite(c) and c != 0 and np.allclose(f, c * w, rtol=max(rtol, 1e-6), atol=atol)
        for c, (f, w) in zip(factors, pairs, strict=True)
    ):
        which = "the same for all inputs" if same else "which depends on the input"
        return f"the values are right up to a constant factor, {which}. Look at what you divide by."
    return None


def _factor(found: Array, wanted: Array) -> float:
    square = float(np.vdot(wanted, wanted))
    return float(np.vdot(wanted, found)) / square if square else np.nan


def _score(found: Any, wanted: Any) -> str:
    if _is_numeric(found) and _is_numeric(wanted) and np.shape(found) == np.shape(wanted):
        right = np.isclose(np.asarray(found, float), np.asarray(wanted, float), rtol=1e-4)
        if right.size > 1:
            return f"{right.sum()} of {right.size} values are right."
    return "the result is not right."


def _luck(agrees: list[bool]) -> str:
    return f" (It is right on {sum(agrees)} of {len(agrees)} inputs.)" if any(agrees) else ""


# ------------------------------------------------------------------- the answer is a few numbers


def number_check(
    name: str,
    answers: Number | Sequence[Number] | Mapping[str, Number],
    *,
    mistakes: Mapping[str, Number | Sequence[Number | None]] | None = None,
    rtol: float = 2e-3,
    atol: float = 5e-4,
) -> None:
    """Register the numbers that answer an exercise.

    Parameters
    ----------
    name : str
        Label of the exercise.
    answers : number, sequence of numbers, or mapping from str to number
        What is right, in the order in which it is asked for; as a mapping, with the name of each.
        A fraction may be given as a string, ``"2/3"``.
    mistakes : mapping from str to number or sequence of numbers, optional
        What to say to whom: a hint, and the numbers of one who needs it. None stands for any.
    rtol, atol : float
        Numbers are equal if they differ by no more than ``atol + rtol * abs(expected)``.

    Examples
    --------
    >>> from informed.exercises import checking
    >>> number_check("ex-doc-third", 1 / 3)
    >>> checking.find("ex-doc-third").judge("1/3")
    Right: that is the number.
    >>> del checking.REGISTRY["ex-doc-third"]
    """
    names = list(answers) if isinstance(answers, Mapping) else None
    values = _listed(list(answers.values()) if isinstance(answers, Mapping) else answers)
    wrong = {hint: _listed(numbers) for hint, numbers in (mistakes or {}).items()}
    for hint, numbers in wrong.items():
        if len(numbers) != len(values):
            raise ValueError(
                f"mistakes: {hint!r} has {len(numbers)} numbers, the answer {len(values)}"
            )
    register(NumberCheck(name, values, names, wrong, rtol, atol))


def _flat(answer: Any) -> list[Any]:
    """Return the numbers of an answer, however they are nested."""
    if isinstance(answer, np.ndarray):
        return list(answer.ravel())
    if isinstance(answer, str) or not isinstance(answer, Iterable):
        return [answer]
    return [value for part in answer for value in _flat(part)]


def _listed(values: Any) -> list[Any]:
    """Return numbers that an author gives as floats, and None as it is."""
    given = [values] if isinstance(values, str) or not isinstance(values, Sequence) else values
    return [None if value is None else _real(value) for value in given]


def _real(value: Any) -> float:
    return float(Fraction(value) if isinstance(value, str) else value)


@dataclass(frozen=True)
class NumberCheck:
    """Compares numbers with the right ones; see `number_check`."""

    name: str
    answers: list[float]
    names: list[str] | None
    mistakes: dict[str, list[Any]]
    rtol: float
    atol: float

    def judge(self, answer: Any) -> Verdict:
        """Say whether the numbers are right, and if not, which one."""
        try:
            return Verdict(self.name, "Right", self._praise(answer))
        except _Told as told:
            return Verdict(self.name, told.status, told.message)

    def _praise(self, answer: Any) -> str:
        found = self._numbers(answer)
        wrong = [k for k, value in enumerate(self.answers) if not self._close(found[k], value)]
        if not wrong:
            return "that is the number." if len(found) == 1 else "all the numbers are right."
        for hint, numbers in self.mistakes.items():
            if all(n is None or self._close(f, n) for f, n in zip(found, numbers, strict=True)):
                raise _Told("Wrong", hint)
        which = ", ".join(self._title(k) for k in wrong)
        if all(self._close(found[k], -self.answers[k]) for k in wrong):
            raise _Told("Wrong", f"{which}: look at the sign.")
        if all(self._close(found[k], self.answers[k] ** 2) for k in wrong):
            raise _Told("Wrong", f"{which}: this is the square of what is asked.")
        if all(
            self.answers[k] > 0 and self._close(found[k], self.answers[k] ** 0.5) for k in wrong
        ):
            raise _Told("Wrong", f"{which}: this is the square root of what is asked.")
        one = len(self.answers) == 1
        raise _Told("Wrong", "not this number." if one else f"{which}: not this number.")

    def _numbers(self, answer: Any) -> list[float]:
        size = len(self.answers)
        asked = "your number" if size == 1 else f"your {size} numbers"
        order = f" in this order: {', '.join(self.names)}" if self.names and size > 1 else ""
        if answer is None or answer is ...:
            raise _Told(
                "Not yet",
                f"put {asked} in the place of None{order}. Three digits are enough, and "
                'fractions may be given as "2/3".',
            )
        if callable(answer):
            raise _Told("Wrong", f"this exercise wants {asked[5:]}, not a function.")
        given = _flat(answer.values() if isinstance(answer, Mapping) else answer)
        if any(value is None or value is ... for value in given):
            raise _Told("Not yet", f"a number is still missing: {size} are asked for{order}.")
        if len(given) != size:
            raise _Told("Wrong", f"you give {len(given)} numbers; {size} asked for{order}.")
        return [self._number(value, k) for k, value in enumerate(given)]

    def _number(self, value: Any, k: int) -> float:
        try:
            number = _real(value)
        except (TypeError, ValueError, ArithmeticError):
            raise _Told("Wrong", f"{self._title(k)}: {value!r} is not a number.") from None
        if not np.isfinite(number):
            raise _Told("Wrong", f"{self._title(k)}: {number} is not finite.")
        return number

    def _title(self, k: int) -> str:
        if self.names:
            return self.names[k]
        return "your number" if len(self.answers) == 1 else f"number {k + 1}"

    def _close(self, found: float, value: float) -> bool:
        return bool(abs(found - value) <= self.atol + self.rtol * abs(value))


# -------------------------------------------------------------------------- the answer is judged


def judged_check(
    name: str, *, function: bool = False
) -> Callable[[Callable[[Any], str | None]], Callable[[Any], str | None]]:
    """Register the decorated function as the judge of an exercise that has many right answers.

    Parameters
    ----------
    name : str
        Label of the exercise.
    function : bool
        Whether the answer is a function. Its exceptions and its None are then told.

    Returns
    -------
    decorator : callable
        Takes a function that says what is wrong with an answer, or returns None if nothing is.
    """

    def decorate(judge: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
        register(JudgedCheck(name, judge, function))
        return judge

    return decorate


@dataclass(frozen=True)
class JudgedCheck:
    """Asks a judge; see `judged_check`."""

    name: str
    judgement: Callable[[Any], str | None]
    function: bool

    def judge(self, answer: Any) -> Verdict:
        """Say what the judge says."""
        try:
            if self.function:
                answer = _Student(answer, self.name)
            elif answer is None or answer is ...:
                raise _Told("Not yet", "put your answer in the place of None.")
            fault = self._fault(answer)
        except _Told as told:
            return Verdict(self.name, told.status, told.message)
        if fault is not None:
            return Verdict(self.name, "Wrong", fault)
        return Verdict(self.name, "Right", "your answer has all that is asked for.")

    def _fault(self, answer: Any) -> str | None:
        try:
            return self.judgement(answer)
        except _Told:
            raise
        except Exception as error:  # an answer may be anything; the judge expects what is asked for
            return (
                f"this answer cannot be tried ({type(error).__name__}: {error}). Is it of the kind "
                "that is asked for?"
            )
