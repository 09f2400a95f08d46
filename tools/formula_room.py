"""Keep room on a page for formulas that are not set yet, so that the text does not jump.

A formula stands on the page as TeX until a script sets it, when the reader comes near. Its source
is longer or shorter than what it will look like, and the lines around it would break anew. So the
build estimates the width of each formula, and the height of each display, from its source. An
estimate within a tenth is good enough: few lines break elsewhere for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

INLINE = re.compile(r'<span class="math notranslate nohighlight">\\\((.*?)\\\)</span>', re.DOTALL)
DISPLAY = re.compile(
    r'<div class="(math[^"]*)"([^>]*)>(\s*(?:<span class="eqno">.*?</span>)?\s*)(\\\[|\\begin)'
    r"(.*?)</div>",
    re.DOTALL,
)
TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|[^\s]", re.DOTALL)

ROW = re.compile(r"\\\\(?:\[[^\]]*\])?")
MATRIX = re.compile(r"\\begin\{.?(?:matrix|array)\}.*?\\end\{.?(?:matrix|array)\}", re.DOTALL)
TALL = re.compile(r"\\(?:d?frac|sum|int|prod|binom|underbrace|bigcup)")


def _commands(names: str) -> set[str]:
    """Return commands of TeX by their names."""
    return {f"\\{name}" for name in names.split()}


# Widths in em of the font of formulas, as Computer Modern has them.
LOWER, CAPITAL, WIDE, DIGIT, SCRIPT = 0.52, 0.75, 0.9, 0.5, 0.71
RELATION, OPERATOR = 0.78 + 2 * 0.278, 0.78 + 2 * 0.222
RELATIONS = set("=<>") | _commands(
    "le ge leq geq ne neq in approx to sim subset ll gg iff mapsto Rightarrow rightarrow leftarrow"
    " implies propto equiv succeq preceq perp notin"
)
OPERATORS = set("+-") | _commands("times pm cdot circ cup cap setminus odot")
# Letters that are far from the mean of their kind.
LETTERS = {"m": 0.88, "w": 0.72, "i": 0.35, "j": 0.41, "l": 0.3, "t": 0.36, "I": 0.5}
SPACES = {"\\,": 0.167, "\\:": 0.222, "\\;": 0.278, "\\ ": 0.25, "\\quad": 1.0, "\\qquad": 2.0}
NOTHING = set(".&") | _commands(
    "! left right big Big bigl bigr Bigl Bigr limits displaystyle textstyle nonumber notag"
)
WORDS = _commands("log min max exp lim sup inf sin cos tan det arg dim ker Pr deg")
OVER = _commands(
    "hat tilde bar widehat widetilde overline underline vec mathbf mathcal mathbb boldsymbol dot"
    " underbrace overbrace"
)
UPRIGHT = _commands("text mathrm operatorname operatorname* textbf mathsf")
SIGNS = {"\\top": 0.78, "\\sum": 1.06, "\\prod": 0.95, "\\int": 0.6, "\\infty": 1.0, "\\dots": 1.17}
SIGNS |= {"\\ldots": 1.17, "\\cdots": 1.17, "\\|": 0.5, "\\{": 0.5, "\\}": 0.5, "\\dagger": 0.44}
SIGNS |= {",": 0.44, ";": 0.44, ":": 0.83, "(": 0.39, ")": 0.39, "[": 0.28, "]": 0.28, "|": 0.28}
SIGNS |= {"/": 0.5, "!": 0.28, "'": 0.28, "*": 0.94, "\\mid": 0.83, "\\lambda": 0.58, "\\%": 0.83}
# The font of formulas is set a little larger than the text around it.
SCALE = 1.21


def width(formula: str) -> float:
    """Estimate the width of a formula within a line, in em of the text around it."""
    return SCALE * sum(_widths(list(TOKEN.finditer(formula)), formula))


def height(display: str) -> float:
    """Estimate the height of a display with the space around it, in em of the text: by its rows."""
    rows = [1.0]
    for matrix in MATRIX.findall(display):
        rows[0] = max(rows[0], len(ROW.findall(matrix)) + 1.0)
    plain = MATRIX.sub("", display)
    rows += [1.0] * len(ROW.findall(plain))
    tall = len([row for row in ROW.split(plain) if TALL.search(row)])
    return 3.4 + 1.8 * sum(rows) + 1.55 * tall


def _widths(tokens: list[re.Match[str]], source: str, script: bool = False) -> Iterator[float]:
    """Yield the widths of the parts of a formula from left to right."""
    at, scripts = 0, 0.0
    while at < len(tokens):
        sign = tokens[at].group()
        if sign in "^_":
            part, at = _argument(tokens, at + 1)
            scale = 0.8 if script else SCRIPT
            before, scripts = scripts, max(scripts, scale * sum(_widths(part, source, True)))
            yield scripts - before
            continue
        scripts = 0.0
        at += 1
        if sign in ("\\frac", "\\dfrac", "\\tfrac", "\\binom"):
            upper, at = _argument(tokens, at)
            lower, at = _argument(tokens, at)
            scale = 1.0 if sign == "\\dfrac" else SCRIPT
            yield scale * max(sum(_widths(part, source)) for part in (upper, lower)) + 0.24
        elif sign in UPRIGHT:
            part, at = _argument(tokens, at)
            words = source[part[0].start() : part[-1].end()] if part else ""
            yield sum(0.3 if letter in " il.,;" else 0.5 for letter in words) + 0.08
        elif sign == "\\sqrt":
            part, at = _argument(tokens, at)
            yield 0.83 + sum(_widths(part, source))
        elif sign in OVER:
            part, at = _argument(tokens, at)
            yield sum(_widths(part, source))
        elif sign in ("\\begin", "\\end"):
            _, at = _argument(tokens, at)
            yield 0.4
        elif sign in WORDS:
            yield 0.5 * (len(sign) - 1) + 0.17
        elif sign not in NOTHING and sign not in "{}":
            # A sign before a number or after a bracket has no space around it.
            alone = sign in "+-" and (at == 1 or tokens[at - 2].group() in "([{=|,^_<>")
            yield _sign(sign, script or alone)


def _sign(sign: str, script: bool) -> float:
    if sign in SPACES:
        return SPACES[sign]
    if sign in SIGNS:
        return SIGNS[sign] - (0.17 if script and sign in ",;" else 0)
    if sign in RELATIONS or sign in OPERATORS:
        spaced = RELATION if sign in RELATIONS else OPERATOR
        return 0.78 if script else spaced
    if sign.isdigit():
        return DIGIT
    if sign in LETTERS:
        return LETTERS[sign]
    if len(sign) == 1:
        return WIDE if sign in "HKMNW" else CAPITAL if sign.isupper() else LOWER
    return CAPITAL if sign[1].isupper() else 0.58


def _argument(tokens: list[re.Match[str]], at: int) -> tuple[list[re.Match[str]], int]:
    """Return the tokens of the argument that begins at a place, and where it ends."""
    if at >= len(tokens) or tokens[at].group() != "{":
        return tokens[at : at + 1], at + 1
    depth, end = 0, at
    while end < len(tokens):
        depth += {"{": 1, "}": -1}.get(tokens[end].group(), 0)
        end += 1
        if depth == 0:
            break
    return tokens[at + 1 : end - 1], end


def keep_room(text: str) -> str:
    """Return a page on which each formula says how much room it will take."""

    def inline(found: re.Match[str]) -> str:
        room = width(unescape(found.group(1)))
        return found.group().replace("<span ", f'<span style="--room:{room:.1f}em" ', 1)

    def display(found: re.Match[str]) -> str:
        room = height(unescape(found.group(5)))
        return found.group().replace("<div ", f'<div style="--room:{room:.1f}em" ', 1)

    return DISPLAY.sub(display, INLINE.sub(inline, text))


def keep_room_on_pages(site: Path) -> None:
    """Do so on every page below ``site`` that sets formulas."""
    for page in sorted(site.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        if "mathjax/startup.js" in text:
            page.write_text(keep_room(text), encoding="utf-8")
