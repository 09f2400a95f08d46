"""How explorers that compute reach a page: as one pack of modules, once."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from informed.teaching.explorer import computed
from informed.teaching.explorer.in_browser import SCRIPT, STYLE
from informed.teaching.explorer.pack import ENTRY, FIRST, packed_script

# --------------------------------------------------------------------------- how it reaches a page


def test_a_block_needs_nothing_else_and_the_pack_can_be_taken_out() -> None:
    html = computed("usual").html
    assert "src=" not in html
    assert "href=" not in html
    light = STYLE.sub("", SCRIPT.sub("", html))
    assert len(light) < 1500
    assert len(SCRIPT.findall(html)) == len(STYLE.findall(html)) == 1


@pytest.mark.parametrize(("entry", "least"), [(ENTRY, 20), (FIRST, 5)])
def test_the_pack_holds_each_module_once_after_those_it_imports(entry: str, least: int) -> None:
    script = packed_script(entry)
    found = re.findall(r'^modules\["(.+?)"\] = ', script, flags=re.MULTILINE)
    assert len(found) == len(set(found)) >= least
    assert found[-1] == entry
    assert not re.search(r"^\s*(import|export) ", script, flags=re.MULTILINE)
    assert "</script" not in script
    for name in found:
        body = script.split(f'modules["{name}"] = ')[1].split('\nmodules["')[0]
        for used in re.findall(r'\} = modules\["(.+?)"\]', body):
            assert found.index(used) < found.index(name)


def test_no_text_of_the_modules_runs_over_lines() -> None:
    # The pack takes indentation out, which would change such a text.
    folder = files("informed.teaching.explorer") / "browser"
    sources = [path for path in Path(str(folder)).rglob("*.js")]
    assert len(sources) > 20
    for path in sources:
        for line in path.read_text(encoding="utf-8").splitlines():
            assert line.count("`") % 2 == 0, f"{path.name}: {line}"


def test_an_unknown_name_is_refused_with_a_hint() -> None:
    with pytest.raises(ValueError, match="did you mean 'patients'"):
        computed("patient")
    with pytest.raises(ValueError, match="there are"):
        computed("xyz")
