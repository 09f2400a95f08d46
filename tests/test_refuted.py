"""What the book once said does not hold, and what it says now does: every claim is run.

``refuted_claims.py`` and ``refuted_theory.py`` hold the claims, one function each; a table on the
page of errata lists them all, with the tests that go further.
"""

from __future__ import annotations

import ast
import re

import pytest
import refuted_claims
import refuted_theory
from conftest import ROOT

CLAIMS = refuted_claims.CLAIMS | refuted_theory.CLAIMS
PAGE = (ROOT / "book" / "errata.md").read_text(encoding="utf-8")
TABLE = PAGE.split("(too-strong)=")[1]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("claim", CLAIMS)
def test_the_earlier_statement_fails_and_the_present_one_holds(claim: str, seed: int) -> None:
    earlier, present = CLAIMS[claim](seed)
    assert not earlier, f"{claim}: it holds after all"
    assert present, f"{claim}: what replaced it does not hold"


def test_the_page_lists_each_earlier_statement() -> None:
    assert re.findall(r"^\* - `([^`]+)`$", TABLE, re.M) == list(CLAIMS)


def test_the_page_names_tests_that_exist() -> None:
    named = re.findall(r"\{download\}`([\w ]+) <\.\./(tests/\w+\.py)>`", TABLE)
    assert len(named) == TABLE.count("{download}") == len(CLAIMS) + 3
    for words, file in named:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert f"test_{words.replace(' ', '_')}" in names, f"{file}: {words}"


def test_claims_are_statements_of_their_own() -> None:
    assert len(set(CLAIMS.values())) == len(CLAIMS)
    assert all(claim.__name__ != "<lambda>" for claim in CLAIMS.values())
