"""A cohort: gene expression with survival, and the choice of its most variable genes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from informed.validation import Array, check_count, check_matrix

__all__ = ["Cohort", "top_variance", "variance_order"]

_SomeCohort = TypeVar("_SomeCohort", bound="Cohort")
_MONTHS_IN = {"days": 12 / 365.25, "months": 1.0, "years": 12.0}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Cohort:
    """Gene expression of a group of patients, and how long each was followed.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        Expression, one patient in each row; no missing values.
    durations : array of shape (n_samples,)
        Time until the event or until the patient was last seen, in ``time_unit``.
    events : int array of shape (n_samples,)
        1 where the event was seen, 0 where the patient was censored.
    feature_names, sample_names : tuple of str
        Names of the columns and of the rows of ``X``.
    name : str
        Short name of the cohort.
    disease : str
        What the patients have.
    endpoint : str
        What counts as the event.
    time_unit : str
        "days", "months" or "years".
    source : str
        Where the numbers were read from.
    citation : str
        Publication to cite.
    notes : str
        What to know before using the cohort.
    treatment : str array of shape (n_samples,) or None
        What each patient was treated with, where that is known.

    Examples
    --------
    >>> cohort = Cohort(
    ...     X=[[1.0, 2.0], [3.0, 4.0]], durations=[1.5, 2.0], events=[1, 0],
    ...     feature_names=["g1", "g2"], sample_names=["p1", "p2"], name="two", disease="none",
    ...     endpoint="death", time_unit="years", source="invented", citation="none")
    >>> cohort
    <Cohort 'two': 2 samples × 2 features, 1 events, durations in years>
    >>> cohort.months
    array([18., 24.])
    """

    X: NDArray[np.float64]
    durations: NDArray[np.float64]
    events: NDArray[np.intp]
    feature_names: tuple[str, ...]
    sample_names: tuple[str, ...]
    name: str
    disease: str
    endpoint: str
    time_unit: str
    source: str
    citation: str
    notes: str = ""
    treatment: NDArray[np.str_] | None = None

    def __post_init__(self) -> None:
        X = check_matrix(self.X)
        n_samples, n_features = X.shape
        durations = np.asarray(self.durations, dtype=float)
        events = np.asarray(self.events)
        if durations.shape != (n_samples,) or events.shape != (n_samples,):
            raise ValueError(
                f"durations and events have shapes {durations.shape} and {events.shape}: each must "
                f"hold one value for each of the {n_samples} samples"
            )
        if not (np.isfinite(durations).all() and (durations >= 0).all()):
            bad = durations[~(np.isfinite(durations) & (durations >= 0))][0]
            raise ValueError(f"durations holds {bad}: times must be finite and not negative")
        if not np.isin(events, (0, 1)).all():
            bad = next(value for value in events.tolist() if value not in (0, 1))
            raise ValueError(f"events holds {bad!r}: it must be 1 for an event and 0 for censoring")
        if self.time_unit not in _MONTHS_IN:
            raise ValueError(
                f"time_unit={self.time_unit!r} is unknown: it must be one of {sorted(_MONTHS_IN)}"
            )
        for names, expected in (("feature_names", n_features), ("sample_names", n_samples)):
            if len(getattr(self, names)) != expected:
                raise ValueError(
                    f"{names} holds {len(getattr(self, names))} names: X of shape {X.shape} needs "
                    f"{expected}"
                )
        if self.treatment is not None and np.shape(self.treatment) != (n_samples,):
            raise ValueError(
                f"treatment has shape {np.shape(self.treatment)}: it must hold one value for each "
                f"of the {n_samples} samples"
            )
        checked: dict[str, Any] = {
            "X": X,
            "durations": durations,
            "events": events.astype(np.intp),
            "feature_names": tuple(self.feature_names),
            "sample_names": tuple(self.sample_names),
        }
        for key, value in checked.items():
            object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        n_samples, n_features = self.X.shape
        return (
            f"<{type(self).__name__} {self.name!r}: {n_samples} samples × {n_features} features, "
            f"{self.events.sum()} events, durations in {self.time_unit}>"
        )

    @property
    def months(self) -> NDArray[np.float64]:
        """The durations in months, whatever the ``time_unit``."""
        return self.durations * _MONTHS_IN[self.time_unit]

    def select_features(self, indices: Array) -> Self:
        """Return the cohort with the given columns of ``X`` only, in the given order."""
        return replace(
            self,
            X=self.X[:, indices],
            feature_names=tuple(self.feature_names[index] for index in indices),
        )


def variance_order(X: Array) -> NDArray[np.intp]:
    """Return the indices of the features by falling standard deviation; ties keep their order.

    Examples
    --------
    >>> variance_order([[0, 5, 1], [1, 1, 3], [2, 9, 2]])
    array([1, 0, 2])
    """
    deviations = check_matrix(X).std(axis=0)
    return np.argsort(-deviations, kind="stable").astype(np.intp)


@overload
def top_variance(data: _SomeCohort, n_features: int = ..., skip: int = ...) -> _SomeCohort: ...
@overload
def top_variance(data: Array, n_features: int = ..., skip: int = ...) -> Array: ...
def top_variance(data: Any, n_features: int = 200, skip: int = 0) -> Any:
    """Keep the features that vary most, in order of falling standard deviation.

    Parameters
    ----------
    data : Cohort or array of shape (n_samples, n_features)
        What to choose from.
    n_features : int
        How many features to keep.
    skip : int
        How many of the very top to leave out first. The paper's authors left out one.

    Returns
    -------
    Cohort or array
        Of the kind that was given, with ``n_features`` features.

    Examples
    --------
    >>> top_variance([[0, 5, 1], [1, 1, 3], [2, 9, 2]], 2)
    array([[5., 0.],
           [1., 1.],
           [9., 2.]])
    """
    X = data.X if isinstance(data, Cohort) else check_matrix(data)
    available = X.shape[1]
    skip = check_count("skip", skip, 0, available - 1, f"there are {available} features")
    n_features = check_count(
        "n_features", n_features, 1, available - skip, f"{available} features, skip={skip}"
    )
    chosen = variance_order(X)[skip : skip + n_features]
    return data.select_features(chosen) if isinstance(data, Cohort) else X[:, chosen]
