"""What a self-check is made of: its inputs, right and wrong results, hints and tolerances.

Inputs that became kinder, or a hint that belongs to another mistake, would pass all other tests. So
they are written down in ``written_checks.json``, in sums. If a change is meant, ``python
tests/test_checks_written.py`` writes the file anew, and its difference is to be read.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from behind_checks import FUNCTION_CHECKS, NUMBER_CHECKS
from fingerprints import plain, read, same, write

WRITTEN = Path(__file__).with_name("written_checks.json")


def result_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return plain(function(*copy.deepcopy(arguments)), signed=False)
    except Exception as error:
        return type(error).__name__


def inside(label: str) -> dict[str, Any]:
    """Return what a check is made of: inputs, right and wrong results, tolerances."""
    if label in NUMBER_CHECKS:
        return {name: plain(value) for name, value in vars(NUMBER_CHECKS[label]).items()}
    check = FUNCTION_CHECKS[label]
    inputs = check.made_inputs()
    view = check.view or (lambda result: result)
    found = {f"input {k}": plain(arguments) for k, arguments in enumerate(inputs)}
    for seed in range(4):
        # Those that a grader draws: another range may give the same few inputs once, not always.
        found[f"inputs of seed {seed}"] = plain(check.made_inputs(seed))
    found["right"] = [
        result_of(lambda *each: view(check.reference(*each)), arguments) for arguments in inputs
    ]
    for hint, mistake in check.mistakes.items():
        found[hint] = result_of(mistake, inputs[0])
    found["limits"] = plain([check.rtol, check.atol, check.trials])
    return found


@pytest.mark.parametrize("label", [*FUNCTION_CHECKS, *NUMBER_CHECKS])
def test_a_check_is_made_of_what_is_written_down(label: str) -> None:
    expected, found = read(WRITTEN)[label], inside(label)
    assert [key for key in expected if not same(found.get(key), expected[key])] == []
    assert found.keys() == expected.keys()


if __name__ == "__main__":
    write(WRITTEN, {label: inside(label) for label in [*FUNCTION_CHECKS, *NUMBER_CHECKS]})
