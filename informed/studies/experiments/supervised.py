"""What survival could teach: a supervised score, trained at two hospitals, tested at two others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from informed.datasets import DirectorsChallenge
from informed.studies.experiments.own_patients import fingerprint
from informed.studies.experiments.results import Result, Table
from informed.studies.experiments.site_steps import prepare
from informed.survival import (
    cox_coefficients,
    hazard_ratio,
    log_rank_p_value,
    restricted_mean_difference,
    truncate_follow_up,
)
from informed.validation import Array, check_count

__all__ = ["SupervisedTransfer", "supervised_transfer"]


@dataclass(frozen=True, eq=False)
class SupervisedTransfer(Result):
    """Groups by a score that was trained on the survival of other hospitals.

    Arrays have the shape (n_counts, n_tests).

    Attributes
    ----------
    fingerprint : str
        What the numbers of the study hash to.
    train, test : tuple of str
        Hospitals.
    counts : int array of shape (n_counts,)
        Numbers of principal components in the Cox model.
    horizon : float
        End of follow-up in months; later deaths are censored there.
    worse : int array
        Subjects in the group of higher scores.
    p_values : array
        Log-rank p at the test hospital.
    ratios, lower, upper : arrays
        Hazard ratio of the higher scores with its 95 % interval.
    lost, lost_lower, lost_upper : arrays
        Months that they live less, of the time up to the horizon, with the 95 % interval.
    """

    name: ClassVar[str] = "supervised_transfer"
    fingerprint: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    counts: NDArray[np.intp]
    horizon: float
    worse: NDArray[np.intp]
    p_values: Array
    ratios: Array
    lower: Array
    upper: Array
    lost: Array
    lost_lower: Array
    lost_upper: Array

    @property
    def table(self) -> Table:
        """One row for each number of components, at each test hospital p, ratio and months lost."""
        header = ["components"]
        for site in self.test:
            header += [f"{site}: p", "hazard ratio (95 %)", "months lost (95 %)"]
        rows: list[tuple[object, ...]] = []
        for i, count in enumerate(self.counts):
            row: list[object] = [int(count)]
            for j in range(len(self.test)):
                ends = self.ratios[i, j], self.lower[i, j], self.upper[i, j]
                lost = self.lost[i, j], self.lost_lower[i, j], self.lost_upper[i, j]
                row += [
                    f"{self.p_values[i, j]:.2g}",
                    "{:.2f} ({:.2f} to {:.2f})".format(*ends),
                    "{:z.1f} ({:z.1f} to {:z.1f})".format(*lost),
                ]
            rows.append(tuple(row))
        return Table(tuple(header), rows)


def supervised_transfer(
    cohort: DirectorsChallenge,
    *,
    train: Sequence[str] = ("HLM", "MI"),
    test: Sequence[str] = ("DFCI", "MSKCC"),
    counts: Sequence[int] = (1, 2, 5, 10, 20),
    horizon: float = 60.0,
    penalty: float = 0.05,
) -> SupervisedTransfer:
    """Train a score on the survival of some hospitals and split others by it.

    The score is that of a Cox model on principal components of the expression, both found at the
    training hospitals, after every gene was centred at each hospital. Subjects with a score above
    the median of the training subjects are the group of higher risk. Training and test hospitals
    are by default those of the study that the paper refers to for supervised methods.

    Parameters
    ----------
    cohort : DirectorsChallenge
        Subjects of several hospitals.
    train, test : sequence of str
        Hospitals.
    counts : sequence of int
        Numbers of principal components to try.
    horizon : float
        End of follow-up in months; later deaths are censored there.
    penalty : float
        Of :func:`informed.survival.cox_coefficients`.

    Returns
    -------
    SupervisedTransfer
    """
    known = set(cohort.sites.tolist())
    for site in (*train, *test):
        if site not in known:
            raise ValueError(f"no hospital {site!r} in the cohort: it has {sorted(known)}")
    if set(train) & set(test):
        raise ValueError(f"hospitals to train and to test on must differ, got {train} and {test}")
    counts = [check_count("counts", count, 1) for count in counts]
    rows = {site: np.flatnonzero(cohort.sites == site) for site in (*train, *test)}
    durations, events = truncate_follow_up(cohort.months, cohort.events, horizon)
    X = prepare(cohort.X, rows, "centred")
    home = np.concatenate([rows[site] for site in train])
    directions = np.linalg.svd(X[home], full_matrices=False)[2]
    found = []
    for count in counts:
        components = X @ directions[:count].T
        components /= components[home].std(axis=0)
        beta = cox_coefficients(durations[home], events[home], components[home], penalty=penalty)
        score = components @ beta
        groups = (score > np.median(score[home])).astype(np.intp)
        for site in test:
            own = rows[site]
            follow_up = durations[own], events[own]
            ratio = hazard_ratio(*follow_up, groups[own])
            lost = restricted_mean_difference(*follow_up, 1 - groups[own])
            found.append(
                (
                    *(groups[own].sum(), log_rank_p_value(*follow_up, groups[own])),
                    *(ratio.ratio, ratio.lower, ratio.upper),
                    *(lost.difference, lost.lower, lost.upper),
                )
            )
    columns = np.array(found, dtype=float).T.reshape(-1, len(counts), len(test))
    return SupervisedTransfer(
        fingerprint(cohort),
        tuple(train),
        tuple(test),
        np.array(counts),
        float(horizon),
        columns[0].astype(np.intp),
        *columns[1:],
    )
