"""What a check compares with. Students have no name for it; the tests look into its closure."""

from __future__ import annotations

import inspect
from typing import Any

from informed.teaching.exercises import registry
from informed.teaching.exercises.functions import _FunctionCheck
from informed.teaching.exercises.numbers import _NumberCheck


def behind(name: str) -> Any:
    """Return what the check of an exercise keeps to itself (None for one that is judged)."""
    return inspect.getclosurevars(registry.find(name)).nonlocals.get("check")


def checks_of(kind: type[Any]) -> dict[str, Any]:
    return {name: behind(name) for name in registry.names() if isinstance(behind(name), kind)}


FUNCTION_CHECKS: dict[str, _FunctionCheck] = checks_of(_FunctionCheck)
NUMBER_CHECKS: dict[str, _NumberCheck] = checks_of(_NumberCheck)
