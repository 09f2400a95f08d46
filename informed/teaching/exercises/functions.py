"""Checks of exercises whose answer is a function: it is compared with a reference."""

from __future__ import annotations

import copy
import inspect
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from informed.teaching.exercises import registry
from informed.teaching.exercises.forms import conform, is_numeric, same
from informed.teaching.exercises.slips import score, usual_suspect
from informed.teaching.exercises.student import Student
from informed.teaching.exercises.verdict import Told

__all__ = ["Thrift", "function_check"]

Inputs = Callable[[np.random.Generator], "tuple[Any, ...]"]
"""Makes one input, a tuple of arguments, from a random generator."""

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Thrift:
    """How much memory a function may take, where an exercise is about that.

    Attributes
    ----------
    inputs : callable
        Makes one input that is large enough for the difference to show, yet so small that a
        wasteful function is through with it within a second or two.
    allowed : callable
        Bytes that may be held at once, from the arguments.
    words : str
        What is not to be formed, to be told.
    """

    inputs: Inputs
    allowed: Callable[..., int]
    words: str


def function_check(
    name: str,
    *,
    inputs: Inputs,
    edges: Mapping[str, Inputs] | None = None,
    mistakes: Mapping[str, Callable[..., Any]] | None = None,
    view: Callable[[Any], Any] | None = None,
    also: Callable[..., str | None] | None = None,
    thrift: Sequence[Thrift] = (),
    rtol: float = 1e-5,
    atol: float | None = None,
    trials: int = 5,
) -> Callable[[Function], Function]:
    """Register the decorated function as the reference of an exercise.

    Parameters
    ----------
    name : str
        Label of the exercise.
    inputs : callable
        Makes one input, a tuple of arguments, from a random generator.
    edges : mapping from str to callable, optional
        Cases that random inputs would seldom meet, each with what is special about it: that is
        told to one who fails there.
    mistakes : mapping from str to callable, optional
        What to say to whom: a hint, and a function that makes the mistake.
    view : callable, optional
        What of a result counts. By default all of it.
    also : callable, optional
        Takes a result and the arguments, and says what else is wrong with it, or returns None.
        Asked for results that are right otherwise.
    thrift : sequence of Thrift
        How much memory it may take, on which large inputs.
    rtol, atol : float
        Results are equal if they differ by no more than ``atol + rtol * abs(expected)``. By
        default `atol` is a millionth of the largest value that is expected.
    trials : int
        Number of random inputs.

    Returns
    -------
    decorator : callable
        Returns the reference as it is.

    Examples
    --------
    >>> from informed.teaching.exercises import registry
    >>> from informed.teaching.exercises.engine import judge
    >>> with registry.registering():
    ...     @function_check("ex-doc-mean", inputs=lambda rng: (rng.normal(size=(4, 3)),))
    ...     def reference(X):
    ...         return X.sum(axis=0) / len(X)
    >>> judge("ex-doc-mean", lambda X: X.sum(axis=0))
    Wrong: the values are right up to a constant factor, the same for all inputs. Look at what you \
divide by.
    """

    def decorate(reference: Function) -> Function:
        check = _FunctionCheck(
            name,
            reference,
            inputs,
            dict(edges or {}),
            dict(mistakes or {}),
            view,
            also,
            tuple(thrift),
            rtol,
            atol,
            trials,
        )
        # A function of its own, not a bound method, from which the reference could be read.
        registry.add(name, lambda answer, seed, trying: check.praise(answer, seed, trying))
        return reference

    return decorate


_SPECIAL = "This input is special:"


@dataclass(frozen=True)
class _Tried:
    """What came of a function on one input."""

    found: Any
    wanted: Any
    changed: str
    besides: str | None


@dataclass(frozen=True)
class _FunctionCheck:
    """Compares a function with a reference on random inputs; see `function_check`."""

    name: str
    reference: Callable[..., Any]
    inputs: Inputs
    edges: dict[str, Inputs]
    mistakes: dict[str, Callable[..., Any]]
    view: Callable[[Any], Any] | None
    also: Callable[..., str | None] | None
    thrift: tuple[Thrift, ...]
    rtol: float
    atol: float | None
    trials: int

    def made_inputs(self, seed: int | None = None) -> list[tuple[Any, ...]]:
        """Return the inputs of a seed, the same at each call: random ones, then edge cases."""
        makers = [self.inputs] * self.trials + list(self.edges.values())
        return [make(self._generator(seed, k)) for k, make in enumerate(makers)]

    def _generator(self, seed: int | None, k: int) -> np.random.Generator:
        # No zero at the end: there it would count for nothing.
        chosen = 0 if seed is None else 1 + seed % 2**62
        return np.random.default_rng([zlib.crc32(self.name.encode()), chosen, k + 1])

    def praise(self, answer: Any, seed: int | None, trying: list[str]) -> str:
        """Say that a function is right, or raise what is wrong with it."""
        parameters = list(inspect.signature(self.reference).parameters)
        student = Student(answer, self.name, trying, parameters)
        inputs = self.made_inputs(seed)
        tried = [self._tried(student, arguments) for arguments in inputs[: self.trials]]
        self._compare(student, inputs[: self.trials], tried)
        # Edge cases only now, so that a common mistake is named and not what it does at an edge.
        for special, arguments in zip(self.edges, inputs[self.trials :], strict=True):
            try:
                tried.append(self._tried(student, arguments))
            except Told as told:
                raise Told(told.status, f"{told.message} {_SPECIAL} {special}.") from None
            self._compare(student, inputs[: len(tried)], tried)
        for each in tried:
            if each.besides:
                raise Told("Wrong", each.besides)
        for each in tried:
            if each.changed:
                raise Told("Wrong", f"the values are right, but {_spoilt(each.changed)}")
        self._weigh(student, seed)
        return f"{student.title} agrees with an independent computation on {len(inputs)} inputs."

    def _tried(self, student: Student, arguments: tuple[Any, ...]) -> _Tried:
        expected = self.reference(*copy.deepcopy(arguments))
        given = copy.deepcopy(arguments)
        result, fault = conform(student(*given), expected)
        if fault:
            raise Told("Wrong", f"on {student.describe(arguments)} your function {fault}")
        return _Tried(
            self._seen(result),
            self._seen(conform(expected, expected)[0]),
            _first_changed(student.parameters, arguments, given),
            self.also(result, *copy.deepcopy(arguments)) if self.also else None,
        )

    def _compare(
        self, student: Student, inputs: list[tuple[Any, ...]], tried: list[_Tried]
    ) -> None:
        found, wanted = [each.found for each in tried], [each.wanted for each in tried]
        agrees = [same(f, w, self.rtol, self.atol) for f, w in zip(found, wanted, strict=True)]
        if all(agrees):
            return
        hint = self._diagnosis(found, wanted, inputs) or self._first_wrong(
            found, wanted, agrees, [student.describe(each) for each in inputs]
        )
        changed = next((each.changed for each in tried if each.changed), "")
        raise Told("Wrong", hint + (f" Besides, {_spoilt(changed)}" if changed else ""))

    def _seen(self, result: Any) -> Any:
        if self.view is None:
            return result
        try:
            return self.view(result)
        except Exception:  # a wrong result may be anything, a singular matrix for one
            return None

    def _first_wrong(
        self, found: list[Any], wanted: list[Any], agrees: list[bool], described: list[str]
    ) -> str:
        k = agrees.index(False)
        luck = f" (It is right on {sum(agrees)} of {len(agrees)} inputs.)" if any(agrees) else ""
        special = ["", *self.edges][max(0, k - self.trials + 1)]
        advice = (
            f"This input is special: {special}."
            if special
            else "Try a case so small that you can do it by hand."
        )
        return (
            f"on {described[k]} {score(found[k], wanted[k], self.rtol, self.atol)}{luck} {advice}"
        )

    def _diagnosis(
        self, found: list[Any], wanted: list[Any], inputs: list[tuple[Any, ...]]
    ) -> str | None:
        for hint, mistake in self.mistakes.items():
            made = [self._made(mistake, arguments) for arguments in inputs]
            if all(same(f, m, self.rtol, self.atol) for f, m in zip(found, made, strict=True)):
                return hint
        return usual_suspect(found, wanted, self.rtol, self.atol)

    def _made(self, mistake: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        try:
            result = mistake(*copy.deepcopy(arguments))
            return self._seen(conform(result, result)[0])
        except Exception:  # a mistake need not be possible in each edge case
            return None

    def _weigh(self, student: Student, seed: int | None) -> None:
        # After the others, so that what is imported or remembered at a first call does not count.
        for k, large in enumerate(self.thrift, start=self.trials + len(self.edges)):
            arguments = large.inputs(self._generator(seed, k))
            _, peak = student.with_peak(*copy.deepcopy(arguments))
            allowed = large.allowed(*arguments)
            if peak > allowed:
                raise Told(
                    "Wrong",
                    f"the values are right, but on {student.describe(arguments)} your function "
                    f"holds {peak / 2**20:.1f} megabytes at once, where {allowed / 2**20:.1f} are "
                    f"plenty: {large.words}",
                )


def _first_changed(names: list[str], before: Sequence[Any], after: Sequence[Any]) -> str:
    for name, old, new in zip(names, before, after, strict=True):
        comparable = is_numeric(old) or isinstance(old, list | tuple)
        if comparable and not same(new, old, 0.0, 0.0):
            return name
    return ""


def _spoilt(name: str) -> str:
    return (
        f"it changes its argument `{name}` in place, so that the caller's data are spoilt. Work on "
        "a copy."
    )
