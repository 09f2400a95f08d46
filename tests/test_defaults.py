"""What a call without options means: defaults and fixed settings, written down a second time.

A default is part of what a function promises: the book, the stored tables and other people's code
call without options. All of them, and all numbers that a module or a class fixes, stand once more
in ``written_defaults.toml``. Whoever changes one changes it there, too, and in whatever repeats it:
``python tests/test_defaults.py`` writes the file anew, and its difference is to be read.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import json
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import informed

TABLE = Path(__file__).with_name("written_defaults.toml")
# Rooms whose numbers are a matter of taste (figures, controls), and modules that only
# `informed.exercises` may load.
LEFT_OUT = (".plots", ".explorer", ".chapters.", "__main__")

# What the paper fixes, in its text or in its authors' code.
PAPER: dict[str, Any] = {
    "datasets.hidden_square: make_hidden_square(n_samples)": 500,
    "datasets.hidden_square: make_hidden_square(n_features)": 1200,
    "studies.experiments.hidden_space: hidden_space(n_fit)": 50,
    "datasets.two_types: make_two_types(rho)": 0.6,
    "datasets.two_types: make_two_types(sigma2)": 1.0,
    "datasets.two_types: make_two_types(borders)": (
        0, 50, 120, 190, 220, 285, 320, 355, 400, 470, 500, 545, 603, 642, 700, 735, 800, 850, 900,
    ),
    "studies.experiments.toy: RANK": 18,
    "studies.experiments.toy: PAPER_SIZES": (
        *range(20, 201, 20), *range(250, 701, 50), *range(800, 2001, 100),
    ),
    "studies.experiments.toy: direction_error(n_clusters)": 18,
    "studies.experiments.toy: direction_error(n_repeats)": 50,
    "studies.experiments.toy: cluster_count_error(counts)": (10, 15, 20, 25, 30, 35, 40),
    "studies.experiments.toy: type_embedding(n_components)": 17,
    "studies.experiments.toy: covariance_stairs(zoom)": (750, 900),
    "studies.experiments.toy: covariance_stairs(section)": 899,  # feature 900, counted from one
    "studies.experiments.toy: AUTHORS_OPTIONS": {"gradient": {"step": "paper", "max_iter": 200}},
    "datasets.risk_cohort: make_risk_cohort(n_samples)": 82,
    "datasets.risk_cohort: make_risk_cohort(n_features)": 200,
    "datasets.risk_cohort: _DEATH_RATE": 35 / 82,
    "datasets._candf_subjects: N_SUBJECTS": 82,
    "datasets._candf_subjects: N_DEATHS": 35,
    "metrics.local_metric: NEIGHBORS": 20,
    "metrics.local_metric: COMPONENTS": 6,
    "studies.experiments.risk: risk_groups(n_neighbors)": 20,
    "studies.experiments.risk: risk_groups(n_components)": 6,
    "studies.experiments.risk: risk_groups(n_clusters)": 7,
    "studies.experiments.risk: risk_groups(n_repeats)": 20,
    "studies.experiments.risk: neighborhood_sweep(sizes)": tuple(range(10, 61, 5)),
    "studies.experiments.risk: neighborhood_sweep(n_repeats)": 20,
    "studies.experiments.own_steps: N_COMPONENTS": 6,
    "studies.experiments.own_steps: N_CLUSTERS": 7,
    "studies.experiments.own_steps: HORIZON": 60.0,
    "studies.experiments.own_patients: own_patients(sizes)": tuple(range(10, 61, 5)),
}  # fmt: skip


def modules() -> list[str]:
    """Return the names of the modules whose settings are written down."""
    found = [each.name for each in pkgutil.walk_packages(informed.__path__, "informed.")]
    return [name for name in found if not any(part in name for part in LEFT_OUT)]


def settings(name: str) -> dict[str, Any]:
    """Return what a module fixes: defaults of its functions and methods, numbers it gives names."""
    module = importlib.import_module(name)
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    return dict(_settings_in(tree.body, module, ""))


def _settings_in(body: list[ast.stmt], owner: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _settings_in(node.body, getattr(owner, node.name), f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            function = inspect.getattr_static(owner, node.name)
            if callable(function) or hasattr(function, "__func__"):
                parameters = inspect.signature(inspect.unwrap(getattr(owner, node.name))).parameters
                for each in parameters.values():
                    if each.default is not each.empty:
                        yield f"{prefix}{node.name}({each.name})", each.default
        elif isinstance(node, ast.Assign | ast.AnnAssign) and _has_number(node.value):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(each, ast.Name):
                    yield f"{prefix}{each.id}", _value(owner, each.id)


def _has_number(node: ast.AST | None) -> bool:
    return node is not None and any(
        isinstance(each, ast.Constant) and isinstance(each.value, bool | int | float)
        for each in ast.walk(node)
    )


def _value(owner: Any, name: str) -> Any:
    if dataclasses.is_dataclass(owner):
        field = owner.__dataclass_fields__[name]
        given = {"default": field.default, "factory": field.default_factory, "shown": field.repr}
        return {key: value for key, value in given.items() if value is not dataclasses.MISSING}
    return getattr(owner, "_field_defaults", vars(owner)).get(name)


def written(value: Any) -> str:
    """Return a value as text that depends neither on its place in memory nor on NumPy's version."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {written(each)}" for key, each in value.items()) + "}"
    plain = value.tolist() if isinstance(value, np.ndarray | np.generic) else value
    return re.sub(r" at 0x[0-9a-f]+", "", repr(plain))


def write_all() -> None:
    """Write what is fixed now."""
    lines = ["# Defaults and fixed numbers of every module (tests/test_defaults.py writes this)."]
    for name in modules():
        found = settings(name)
        if found:
            lines += ["", f"[{json.dumps(name.removeprefix('informed.'))}]"]
            lines += [f"{json.dumps(k)} = {json.dumps(written(v))}" for k, v in found.items()]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


@cache
def table() -> dict[str, dict[str, str]]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", modules())
def test_defaults_and_settings_are_those_that_are_written_down(name: str) -> None:
    expected = table().get(name.removeprefix("informed."), {})
    assert {key: written(value) for key, value in settings(name).items()} == expected


def test_nothing_is_written_down_that_is_no_longer_there() -> None:
    assert {f"informed.{name}" for name in table()} <= set(modules())


@pytest.mark.parametrize("place", PAPER)
def test_what_the_paper_fixes(place: str) -> None:
    module, _, name = place.partition(": ")
    assert settings(f"informed.{module}")[name] == PAPER[place]


if __name__ == "__main__":
    write_all()
