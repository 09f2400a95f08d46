"""Packages that only some parts need: each is named, with the line that installs it."""

from __future__ import annotations

import importlib
from typing import Any

# The extra of pyproject.toml that brings a package.
EXTRAS = {
    "SurvSet": "data",
    "distributed": "dask",
    "ipywidgets": "notebook",
    "latex2mathml": "exam",
    "lifelines": "survival",
    "matplotlib": "plots",
    "pandas": "survival",
    "PIL": "notebook",
    "pooch": "data",
    "tqdm": "notebook",
    "xlrd": "data",
}


class MissingExtra(ImportError):
    """A package is missing that an extra of this one brings."""


def import_extra(module: str, purpose: str, extra: str | None = None) -> Any:
    """Import ``module``, or say what to type to get it.

    Parameters
    ----------
    module : str
        Dotted name of a module of a package in ``EXTRAS``.
    purpose : str
        What needs it, as the subject of the message's sentence.
    extra : str or None
        The extra to name if the purpose needs more than the package; that of ``EXTRAS`` if None.

    Examples
    --------
    >>> import_extra("json", "nothing").dumps([1])
    '[1]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # The package is there; what is missing is something else.
        line = f'pip install "informed[{extra or EXTRAS[package]}]"'
        raise MissingExtra(f"{purpose} needs the package {package}: {line}") from error
