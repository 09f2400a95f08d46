"""Mahalanobis distances informed by clusters of features.

Everything is imported on first use: ``import informed`` by itself costs nothing, and never loads
pandas (which scikit-learn imports when it can), lifelines, matplotlib or ipywidgets.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from informed import (
        alternating,
        clusters,
        datasets,
        diffusion,
        directions,
        exceptions,
        exercises,
        experiments,
        gap,
        groups,
        metrics,
        plots,
        quiz,
        survival,
        theory,
    )
    from informed.alternating import AlternatingInformedClustering
    from informed.diffusion import DiffusionMap
    from informed.exceptions import (
        ConstantFeatureWarning,
        FewerDirectionsWarning,
        IgnoredParameterWarning,
    )
    from informed.metrics import InformedMahalanobis, LocalInformedMahalanobis
    from informed.studies.experiments.comparison import compare
    from informed.teaching.explorer import explore

__version__ = "0.1.0"

__all__ = [
    "AlternatingInformedClustering",
    "ConstantFeatureWarning",
    "DiffusionMap",
    "FewerDirectionsWarning",
    "IgnoredParameterWarning",
    "InformedMahalanobis",
    "LocalInformedMahalanobis",
    "alternating",
    "clusters",
    "compare",
    "datasets",
    "diffusion",
    "directions",
    "exceptions",
    "exercises",
    "experiments",
    "explore",
    "gap",
    "groups",
    "metrics",
    "plots",
    "quiz",
    "survival",
    "theory",
]

_HOMES = {
    "AlternatingInformedClustering": "alternating",
    "ConstantFeatureWarning": "exceptions",
    "DiffusionMap": "diffusion",
    "FewerDirectionsWarning": "exceptions",
    "IgnoredParameterWarning": "exceptions",
    "InformedMahalanobis": "metrics",
    "LocalInformedMahalanobis": "metrics",
    "compare": "studies.experiments",
    "explore": "teaching.explorer",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"informed.{_HOMES[name]}"), name)
    if name in __all__:
        return importlib.import_module(f"informed.{name}")
    raise AttributeError(f"module 'informed' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
