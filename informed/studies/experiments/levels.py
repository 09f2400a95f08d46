"""Which verdicts hang on what the clustering looks at: features as they are, centred, standardised.

The library centres each feature before it is clustered, the paper does not. So each experiment that
compares informed directions with principal ones is run with all three kinds of profiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.random import RandomState
from scipy.spatial.distance import pdist

from informed import InformedMahalanobis, LocalInformedMahalanobis
from informed.clusters.clusterers import PROFILES, cluster_features
from informed.datasets import (
    load_cohort,
    make_hidden_square,
    make_risk_cohort,
    make_two_types,
    top_variance,
)
from informed.directions import exact_directions, pca_directions, subspace_error
from informed.parallel import run_tasks, seeds
from informed.studies.experiments.results import Result, Table, spread
from informed.studies.experiments.splits import split
from informed.studies.experiments.toy import RANK
from informed.survival import log_rank_p_value
from informed.validation import Array, check_choice, check_count

__all__ = ["ProfileStudy", "profile_study"]

BREAST = ("vdv", "NSBCD", "DBCD")
# What is measured in each experiment: of the directions, with the hidden distance, the share of
# patients on the right side of the median risk, of the groups and the largest of the seeds.
MEASURES = {
    "toy": "error e_F",
    "square": "correlation",
    "noisy square": "correlation",
    "risk cohort": "right side",
    **{name: "log-rank p" for name in BREAST},
}


@dataclass(frozen=True, eq=False)
class ProfileStudy(Result):
    """Results of informed metrics with three kinds of profiles, beside those of PCA.

    Attributes
    ----------
    experiments : tuple of str
        Names of the experiments.
    scores : array of shape (n_experiments, 4, n_draws)
        For features as they are, centred, standardised, and for PCA; what the numbers are depends
        on the experiment. The draws are data sets, or seeds where the data are real.
    """

    name: ClassVar[str] = "profile_study"
    experiments: tuple[str, ...]
    scores: Array

    @property
    def table(self) -> Table:
        """Mean ± standard deviation over the draws; of p-values the largest."""
        rows = []
        for name, scores in zip(self.experiments, self.scores, strict=True):
            shown = [f"{own.max():.1g}" if name in BREAST else spread(own, 2) for own in scores]
            rows.append((name, MEASURES[name], *shown))
        return Table(("experiment", "measure", *PROFILES, "pca"), rows)


def profile_study(
    *,
    experiments: Sequence[str] = tuple(MEASURES),
    n_draws: int = 5,
    random_state: int | RandomState | None = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> ProfileStudy:
    """Run the comparisons with PCA once for each kind of profiles.

    The toy (50 samples, 18 directions in 19 clusters), the hidden square (fitted to 50 of 500
    samples, without noise and with noise 2), the synthetic risk cohort and three cohorts of breast
    cancer (local metrics with the paper's numbers).

    Parameters
    ----------
    experiments : sequence of str
        Some of the experiments.
    n_draws : int
        Number of data sets, or of seeds.
    random_state : int, RandomState or None
        Seed.
    n_jobs : int or None
        Number of workers.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    ProfileStudy
    """
    names = [check_choice("experiments", name, tuple(MEASURES)) for name in experiments]
    if not names:
        raise ValueError("experiments is empty: give at least one")
    n_draws = check_count("n_draws", n_draws, 1)
    drawn = seeds(random_state, n_draws)
    tasks = [(name, seed) for name in names for seed in drawn]
    runs = run_tasks(_scores, tasks, n_jobs=n_jobs, verbose=verbose, label="profile_study")
    scores = np.array(runs).reshape(len(names), n_draws, len(PROFILES) + 1)
    return ProfileStudy(tuple(names), scores.transpose(0, 2, 1))


def _scores(name: str, seed: int) -> list[float]:
    """Scores with each kind of profiles, and last that of PCA."""
    if name == "toy":
        return _toy_errors(seed)
    if name in ("square", "noisy square"):
        return _square_correlations(2.0 if name == "noisy square" else 0.0, seed)
    return _group_scores(name, seed)


def _toy_errors(seed: int) -> list[float]:
    data = make_two_types(50, random_state=seed)
    truth, errors = data.eigenvectors(RANK), []
    for profiles in PROFILES:
        labels = cluster_features(data.X, RANK + 1, profiles=profiles, random_state=seed)
        errors.append(subspace_error(truth, exact_directions(data.X, labels, RANK).directions))
    return [*errors, subspace_error(truth, pca_directions(data.X, RANK).directions)]


def _square_correlations(noise: float, seed: int) -> list[float]:
    data = make_hidden_square(500, 1200, noise=noise, random_state=seed)
    hidden = pdist(data.hidden)
    metrics = [
        InformedMahalanobis(2, 3, profiles=profiles, random_state=seed) for profiles in PROFILES
    ]
    metrics.append(InformedMahalanobis(2, directions="pca"))
    return [
        float(np.corrcoef(pdist(metric.fit(data.X[:50]).transform(data.X)), hidden)[0, 1])
        for metric in metrics
    ]


def _group_scores(name: str, seed: int) -> list[float]:
    if name == "risk cohort":
        made = make_risk_cohort(random_state=seed)
        X, above = made.X, made.risk > np.median(made.risk)

        def score(groups: Array) -> float:
            right = float(np.mean(groups == above))
            return max(right, 1 - right)
    else:
        cohort = load_cohort(name)
        X = top_variance(cohort.X, 200)

        def score(groups: Array) -> float:
            return log_rank_p_value(cohort.durations, cohort.events, groups)

    metrics = [
        LocalInformedMahalanobis(20, 6, 7, profiles=profiles, random_state=seed)
        for profiles in PROFILES
    ]
    metrics.append(LocalInformedMahalanobis(20, 6, directions="pca"))
    return [score(split(metric.fit(X).pairwise_distances(), 2.0)) for metric in metrics]
