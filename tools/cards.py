"""Wide tables as cards on a phone: each cell says which column it belongs to.

Six columns in the width of a phone cannot be read. There a style sheet shows each row of a table
with the class ``cards`` as a card, one cell below the other; the head of the table is out of sight
then, so the build writes the name of its column to each cell that is not empty.
"""

from __future__ import annotations

import re

TABLE = re.compile(r'<table class="[^"]*\bcards\b[^"]*"[^>]*>.*?</table>', re.DOTALL)
HEAD = re.compile(r'<th class="head">(.*?)</th>', re.DOTALL)
ROW = re.compile(r"<tr\b[^>]*>.*?</tr>", re.DOTALL)
CELL = re.compile(r"<td>(<p></p></td>)?")
TAG = re.compile(r"<[^>]+>")


def label_cells(page: str) -> str:
    """Return the page with the names of columns at the cells of tables that can be cards."""
    return TABLE.sub(lambda found: _labelled(found.group()), page)


def _labelled(table: str) -> str:
    names = [TAG.sub("", head).strip() for head in HEAD.findall(table)]

    def row(found: re.Match[str]) -> str:
        columns = iter(names)

        def cell(found: re.Match[str]) -> str:
            name = next(columns, "")
            return "<td></td>" if found.group(1) else f'<td data-column="{name}">'

        return CELL.sub(cell, found.group())

    return ROW.sub(row, table)
