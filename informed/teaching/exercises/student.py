"""A student's function, whose failures are told instead of raised."""

from __future__ import annotations

import copy
import inspect
import linecache
import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

from informed.teaching.exercises.limits import TimeIsUp, with_peak
from informed.teaching.exercises.verdict import Told

__all__ = ["Student", "words_of"]


class Student:
    """A student's function, whose failures are told instead of raised.

    Parameters
    ----------
    function : object
        The answer, which may be anything.
    exercise : str
        Label of the exercise.
    trying : list of str
        Where to leave what is being tried.
    parameters : list of str, optional
        Names of the arguments that it must take.
    """

    def __init__(
        self,
        function: Any,
        exercise: str,
        trying: list[str],
        parameters: list[str] | None = None,
    ) -> None:
        if function is None or function is ...:
            raise Told("Not yet", f'pass your function: `check("{exercise}", your_function)`.')
        if not callable(function):
            raise Told(
                "Wrong",
                "pass the function itself, not what it returns: "
                f'`check("{exercise}", your_function)`, without brackets after its name.',
            )
        self.function = function
        self.parameters = parameters or []
        self.trying = trying
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
            raise Told(
                "Wrong",
                f"{self.title} must take {len(self.parameters)} {some}, by position: {names}.",
            ) from None

    def __call__(self, *arguments: Any) -> Any:
        """Call it."""
        return self._called(self.function, arguments)

    def with_peak(self, *arguments: Any) -> tuple[Any, int]:
        """Call it; return its result, and the bytes that it held at once, at most."""
        result: tuple[Any, int] = self._called(
            lambda *given: with_peak(self.function, *given), arguments
        )
        return result

    def _called(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        before = copy.deepcopy(arguments)
        self.trying[:] = [self.describe(before)]
        try:
            result = function(*arguments)
        except NotImplementedError:
            result = None
        except TimeIsUp:
            raise
        except BaseException as error:  # also SystemExit: an answer must not end the session
            raise Told(
                "Wrong",
                f"on {self.describe(before)} your function stopped with "
                f"{words_of(error)}{self._line(error)}",
            ) from None
        parts = result if isinstance(result, tuple) else (result,)
        if any(part is ... for part in parts):
            raise Told(
                "Not yet",
                f"write the body of {self.title}, let it return your result, and run this cell.",
            )
        if any(part is None for part in parts):
            raise Told(
                "Not yet",
                f"{self.title} returns nothing. Write its body, and let it `return` your result.",
            )
        return result

    def _line(self, error: BaseException) -> str:
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
        """Say what an input looks like: shapes, and short values."""
        names = self.parameters or [f"argument {k + 1}" for k in range(len(arguments))]
        parts = []
        for name, value in zip(names, arguments, strict=False):
            if isinstance(value, list | tuple) and len(repr(value)) < 40:
                parts.append(f"`{name}` = {value}")
            elif np.ndim(value):
                parts.append(f"`{name}` of shape {np.shape(value)}")
            elif isinstance(value, float | np.floating):
                parts.append(f"`{name}` = {value:.6g}")
            elif isinstance(value, bool | int | str | np.number):
                parts.append(f"`{name}` = {value}")
        return f"an input with {', '.join(parts)}" if parts else "one of the inputs"


def words_of(error: BaseException) -> str:
    """Return the type of an error and what it says."""
    try:
        words = str(error)
    except Exception:  # an answer may raise anything
        words = ""
    return f"{type(error).__name__}{f': {words}' if words else ''}"
