r"""Proofs to put in order, on a static page as in a notebook.

``assemble("thm-t1")`` shows the steps of a proof in no order. They are graded by what each rests
on, so that every order counts in which no step comes before what it needs. One step does not belong
and is to be left out; to keep it gets the reason why it is wrong.

The proofs of a chapter are in ``informed/teaching/chapters/<chapter>/proof.toml``, in this form::

    [[proof]]
    name = "thm-root"
    title = "A root is unique"
    statement = 'If $a^2 = b^2$ for $a, b > 0$, then $a = b$.'

    [[proof.step]]
    key = "factor"
    text = '$0 = a^2 - b^2 = (a - b)(a + b)$.'

    [[proof.step]]
    key = "positive"
    text = '$a + b > 0$.'

    [[proof.step]]
    key = "end"
    text = 'So $a - b = 0$.'
    needs = ["factor", "positive"]

    [[proof.step]]
    key = "slip"
    text = 'Take the root on both sides: $a = b$.'
    wrong = "this assumes what is to be shown."

Mathematics stands between dollars.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from informed.teaching.explorer.in_browser import with_pack

__all__ = ["Proof", "Step", "assemble", "names", "parse"]

LETTERS = "abcdefghijkl"
MATHEMATICS = re.compile(r"\$([^$]+)\$")


@dataclass(frozen=True)
class Step:
    """One step: its text, the steps that it rests on, and why it is wrong if it does not belong."""

    key: str
    text: str
    needs: tuple[str, ...] = ()
    wrong: str = ""


@dataclass(frozen=True, repr=False)
class Proof:
    """A statement and the steps of its proof, which a notebook and the book show in no order.

    Attributes
    ----------
    name, title, statement : str
        Label, heading and what is to be proved.
    steps : tuple of Step
        The steps, in one of the right orders.
    """

    name: str
    title: str
    statement: str
    steps: tuple[Step, ...]

    def __repr__(self) -> str:
        lines = [f"{self.title}. {self.statement}"]
        for letter, step in zip(LETTERS, self._shuffled(), strict=False):
            lines.append(f"  ({letter}) {step.text}")
        return "\n".join(lines)

    def _shuffled(self) -> list[Step]:
        """Return the steps in an order that depends on nothing but their texts."""
        return sorted(self.steps, key=lambda step: self._sign(step.key))

    def _sign(self, key: str) -> str:
        """Return a name that does not tell what the step does."""
        return hashlib.sha256(f"{self.name}/{key}".encode()).hexdigest()[:8]

    def _repr_html_(self) -> str:
        items = "".join(
            f'<li data-step="{self._sign(step.key)}"><span class="step">({letter}) '
            f"{_html(step.text)}</span></li>\n"
            for letter, step in zip(LETTERS, self._shuffled(), strict=False)
        )
        content = {
            "name": self.name,
            "steps": [
                {
                    "key": self._sign(step.key),
                    "needs": [self._sign(key) for key in step.needs],
                    "wrong": step.wrong,
                }
                for step in self._shuffled()
            ],
        }
        payload = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
        # MathJax looks only into blocks of this class.
        return (
            '<div class="informed-proof tex2jax_process mathjax_process" role="group" '
            f'aria-label="Proof to put in order: {escape(self.title)}" id="proof-{self.name}">\n'
            f'<p class="title">Put the proof in order: {escape(self.title)}</p>\n'
            f"<p>{_html(self.statement)} One of the steps does not belong: leave it out.</p>\n"
            f"<ol>\n{items}</ol>\n"
            '<p role="status"></p>\n<div class="actions"></div>\n'
            f'<script type="application/json">{payload}</script>\n</div>\n'
        )


@dataclass(frozen=True, repr=False)
class _Shown:
    """A proof with the script that makes it movable, for a notebook."""

    proof: Proof

    def __repr__(self) -> str:
        return repr(self.proof)

    def _repr_html_(self) -> str:
        return with_pack(self.proof._repr_html_())


def assemble(name: str) -> _Shown:
    """Show a proof whose steps are to be put in order.

    Parameters
    ----------
    name : str
        Label of the statement, for instance ``"thm-t1"``; see `names`.

    Returns
    -------
    shown : object
        Shown by a notebook if it is the last line of a cell.

    Examples
    --------
    >>> print(repr(assemble("thm-t1")).splitlines()[0][:40])
    Distances survive a linear map. Let $c =
    """
    known = _all()
    if name not in known:
        raise ValueError(f"name={name!r}: no proof to assemble has this name; there are {names()}")
    return _Shown(known[name])


def names(chapter: str | None = None) -> list[str]:
    """Return the names of the proofs, of one chapter (``"averaging"``) or of all."""
    return [name for name, home in _homes().items() if chapter is None or home == _folder(chapter)]


def parse(place: str, source: str) -> list[Proof]:
    """Read proofs from TOML.

    Parameters
    ----------
    place : str
        What to call the file in a message.
    source : str
        TOML in the form that is shown at the top of this module.

    Returns
    -------
    proofs : list of Proof

    Raises
    ------
    ValueError
        If a rule of the form is broken: a step needs an unknown or a later one, none or more than
        one does not belong, a mark is not closed.
    """
    return [_parse(place, table) for table in tomllib.loads(source).get("proof", [])]


def _parse(place: str, table: Mapping[str, Any]) -> Proof:
    steps = tuple(
        Step(step["key"], step["text"], tuple(step.get("needs", ())), step.get("wrong", ""))
        for step in table["step"]
    )
    where = f"{place}, {table['name']}"
    before: set[str] = set()
    for step in steps:
        if unknown := set(step.needs) - before:
            raise ValueError(
                f"{where}: step {step.key!r} needs {sorted(unknown)}, not shown before"
            )
        if step.key in before:
            raise ValueError(f"{where}: two steps have the key {step.key!r}")
        if step.wrong and step.needs:
            raise ValueError(f"{where}: step {step.key!r} does not belong, so it needs nothing")
        if MATHEMATICS.sub("", step.text).count("$"):
            raise ValueError(f"{where}: step {step.key!r} has a $ that is not closed")
        if not step.wrong:
            before.add(step.key)
    if sum(bool(step.wrong) for step in steps) != 1:
        raise ValueError(f"{where}: exactly one step must not belong")
    if not 4 <= len(steps) <= len(LETTERS):
        raise ValueError(f"{where}: 4 to {len(LETTERS)} steps, not {len(steps)}")
    return Proof(table["name"], table["title"], table["statement"], steps)


def _folder(chapter: str) -> str:
    return chapter.replace("-", "_")


@cache
def _read() -> dict[str, tuple[str, Proof]]:
    found: dict[str, tuple[str, Proof]] = {}
    for chapter in sorted(
        (files("informed.teaching") / "chapters").iterdir(), key=lambda c: c.name
    ):
        source = chapter / "proof.toml"
        if source.is_file():
            for proof in parse(f"{chapter.name}/proof.toml", source.read_text(encoding="utf-8")):
                found[proof.name] = (chapter.name, proof)
    return found


def _all() -> dict[str, Proof]:
    return {name: proof for name, (_, proof) in _read().items()}


def _homes() -> dict[str, str]:
    return {name: home for name, (home, _) in _read().items()}


def _html(text: str) -> str:
    """Return text as HTML, with mathematics for MathJax."""
    parts = MATHEMATICS.split(text)
    html = "".join(
        rf"\({escape(part, quote=False)}\)" if k % 2 else escape(part, quote=False)
        for k, part in enumerate(parts)
    )
    # A comma or a full stop stays on the line of the formula before it, unless that is long.
    return re.sub(r"(\\\((?:(?!\\\)).){1,200}\\\)[.,;:!?]+)", r'<span class="kept">\1</span>', html)
