"""Independent tasks in parallel, with a progress bar, and bit by bit the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.random import RandomState
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm


def run_tasks(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
    label: str = "tasks",
) -> list[Any]:
    """Return ``[function(*task) for task in tasks]``.

    Every task runs on one thread, whatever the number of workers: sums in linear algebra are then
    taken in the same order, and the same seed gives the same bits.
    """
    results = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_on_one_thread)(function, task) for task in tasks
    )
    return list(tqdm(results, total=len(tasks), desc=label, disable=not verbose))


def seeds(random_state: int | RandomState | None, count: int) -> list[int]:
    """Draw independent seeds, one a task."""
    drawn = check_random_state(random_state).randint(2**31 - 1, size=count)
    return [int(seed) for seed in np.asarray(drawn)]


def _on_one_thread(function: Callable[..., Any], task: tuple[Any, ...]) -> Any:
    with threadpool_limits(limits=1):
        return function(*task)
