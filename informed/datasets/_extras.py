"""Import of packages that only some loaders need."""

from __future__ import annotations

import importlib
from typing import Any


def import_extra(module: str, purpose: str) -> Any:
    """Import ``module``, or say which extra brings it.

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
        raise ImportError(
            f'{purpose} needs the package {package}: pip install "informed[cohorts]"'
        ) from error
