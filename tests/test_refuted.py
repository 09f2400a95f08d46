"""What the book once said does not hold, and what it says now does: every claim is run.

``refuted_claims.py`` and ``refuted_theory.py`` hold the claims, one function each; the ledger's
table of statements that were once too strong lists them all, with the tests that go further.
"""

from __future__ import annotations

import re

import pytest
import refuted_claims
import refuted_theory
from conftest import ROOT

CLAIMS = refuted_claims.CLAIMS | refuted_theory.CLAIMS
LEDGER = ROOT / "book" / "ledger.md"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("claim", CLAIMS)
def test_the_earlier_statement_fails_and_the_present_one_holds(claim: str, seed: int) -> None:
    earlier, present = CLAIMS[claim](seed)
    assert not earlier, f"{claim}: it holds after all"
    assert present, f"{claim}: what replaced it does not hold"


def test_the_ledger_lists_each_earlier_statement() -> None:
    page = LEDGER.read_text(encoding="utf-8")
    section = page.split("## Statements that were once too strong")[1].split("\n## ")[0]
    listed = re.findall(r"^\* - `([^`]+)`$", section, re.M)
    assert listed == list(CLAIMS)


def test_claims_are_statements_of_their_own() -> None:
    assert len(set(CLAIMS.values())) == len(CLAIMS)
    assert all(claim.__name__ != "<lambda>" for claim in CLAIMS.values())
