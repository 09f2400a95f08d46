"""Right numbers in a form that a page can compare with and nobody can read.

A static page has no kernel to ask. It holds, for each number, the hashes of all that counts as
right: every value of five significant digits that lies within the tolerance. What is typed is
rounded to as many digits and hashed in the same way. A wide tolerance is sealed with fewer digits,
so that the list stays short. The rules are those of `number_check`; where a value lies within half
a unit of the last digit of their border, the page may be more lenient. (Who is determined can try
all numbers; the solutions stand in the book anyway. Nobody reads them by accident.)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from informed.teaching.exercises.forms import is_rounded

__all__ = ["form", "key_of", "seal", "sealed_numbers"]

ROUNDS = 200
MOST_KEYS = 200


def seal(text: str) -> str:
    """Return eight hexadecimal digits that do not tell the text.

    Examples
    --------
    >>> seal("ex|3.142e0") == seal("ex|3.142e0") != seal("ex|3.141e0")
    True
    """
    digest = text.encode()
    for _ in range(ROUNDS):
        digest = hashlib.sha256(digest).digest()
    return digest[:4].hex()


def key_of(value: float, digits: int) -> str:
    """Return a number rounded to some significant digits, as text.

    Examples
    --------
    >>> key_of(3.14159, 4), key_of(0.0, 4), key_of(-1e-3, 2)
    ('3.142e0', '0', '-1.0e-3')
    """
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def sealed_numbers(
    name: str,
    answers: Sequence[float],
    titles: Sequence[str],
    mistakes: Mapping[str, Sequence[float | None]],
    any_order: Sequence[int],
    rtol: float,
) -> dict[str, Any]:
    """Return what a page needs to judge numbers as `number_check` does, without the numbers.

    Parameters
    ----------
    name : str
        Label of the exercise.
    answers : sequence of float
        The right numbers.
    titles : sequence of str
        What each number is called.
    mistakes : mapping
        Hints, with the numbers of one who needs them; None stands for any.
    any_order : sequence of int
        Places whose numbers may be exchanged.
    rtol : float
        Relative tolerance of measured numbers.

    Returns
    -------
    sealed : dict
        Ready for JSON.
    """
    return {
        "name": name,
        "titles": list(titles),
        "free": list(any_order),
        "answers": [_field(f"{name}:{k}", value, rtol, 5) for k, value in enumerate(answers)],
        "mistakes": [
            {
                "hint": hint,
                "fields": [
                    None if value is None else _field(f"{name}:{number}:{k}", value, rtol, 4)
                    for k, value in enumerate(values)
                ],
            }
            for number, (hint, values) in enumerate(mistakes.items())
        ],
    }


def form(sealed: Mapping[str, Any]) -> str:
    """Write the fields in which the numbers are typed, as HTML; hidden until the script is there.

    Parameters
    ----------
    sealed : mapping
        From `sealed_numbers`.

    Returns
    -------
    html : str
    """
    rows = "".join(
        f'<label>{escape(title)}<input type="text" inputmode="text" autocomplete="off" '
        f'spellcheck="false"></label>\n'
        for title in sealed["titles"]
    )
    content = json.dumps(dict(sealed), separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<form class="informed-answer" hidden>\n<p class="title">Check your numbers here</p>\n'
        f'{rows}<button type="submit">Check</button>\n'
        f'<script type="application/json">{content}</script>\n</form>\n'
    )


def _field(salt: str, value: float, rtol: float, digits: int) -> dict[str, Any]:
    while len(keys := _keys(value, rtol, digits)) > MOST_KEYS and digits > 2:
        digits -= 1
    # Sorted by their hashes, which puts the right one nowhere in particular.
    hashes = sorted(seal(f"{salt}|{key}") for key in keys)
    return {"salt": salt, "digits": digits, "keys": hashes}


def _keys(value: float, rtol: float, digits: int) -> set[str]:
    """Return every rounded number that counts as this value."""
    if value == 0:
        return {"0"}
    unit = 10.0 ** (np.floor(np.log10(abs(value)) + 1e-12) - 2)
    reach = max(0.5 * unit, rtol * abs(value))
    tried = np.linspace(value - reach, value + reach, 4001)
    right = [x for x in tried if is_rounded(x, value) or abs(x - value) <= rtol * abs(value)]
    keys = {key_of(float(x), digits) for x in right}
    if abs(value) >= 0.01:
        keys.add(key_of(round(value, 3), digits))
    return keys
