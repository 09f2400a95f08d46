"""Independent tasks in parallel, with a progress bar, and bit by bit the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from joblib.parallel import get_active_backend
from numpy.random import RandomState
from sklearn.utils import check_random_state
from threadpoolctl import ThreadpoolController
from tqdm.auto import tqdm


def one_thread() -> AbstractContextManager[object]:
    """Keep linear algebra to one thread inside a ``with`` block.

    The order in which threads add up changes the last digits, and these can decide where k-means
    ends; and the processes of a parallel run would compete for the cores.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with one_thread():
    ...     {library["num_threads"] for library in threadpool_info()}
    {1}
    """
    limits: AbstractContextManager[object] = _controller().limit(limits=1)
    return limits


@cache
def _controller() -> ThreadpoolController:
    # Looking for the libraries takes longer than a small fit: once a process is enough, since those
    # that compute here are loaded with the modules that import this one.
    return ThreadpoolController()


def run_tasks(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
    label: str = "tasks",
    shared: Sequence[Any] = (),
) -> list[Any]:
    """Return ``[function(*shared, *task) for task in tasks]``; see :func:`iterate_tasks`."""
    results = iterate_tasks(function, tasks, n_jobs=n_jobs, shared=shared)
    return list(tqdm(results, total=len(tasks), desc=label, disable=not verbose))


def iterate_tasks(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    shared: Sequence[Any] = (),
) -> Iterator[Any]:
    """Yield ``function(*shared, *task)`` for each task, in order.

    Every task runs on one thread, whatever the number of workers, so that the same seed gives the
    same bits. The workers are those of joblib's active backend: processes of this machine, or of
    a cluster under ``joblib.parallel_config("dask")``. What is ``shared`` travels once to each
    worker; a task travels with its own arguments only.

    Examples
    --------
    >>> list(iterate_tasks(pow, [(2,), (3,)], shared=[10]))
    [100, 1000]
    """
    with _on_every_worker(shared):
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_on_one_thread)(function, task, *shared) for task in tasks
        )


def seeds(random_state: int | RandomState | None, count: int) -> list[int]:
    """Draw independent seeds, one a task."""
    drawn = check_random_state(random_state).randint(2**31 - 1, size=count)
    return [int(seed) for seed in np.asarray(drawn)]


@contextmanager
def _on_every_worker(shared: Sequence[Any]) -> Iterator[None]:
    """Under Dask, put a copy on every worker before the tasks start.

    Left alone, joblib puts one copy on one worker, and the work is lost with that worker.
    """
    backend, _ = get_active_backend()
    client = getattr(backend, "client", None)
    if client is None or not shared:
        yield
        return
    with parallel_config("dask", client=client, scatter=list(shared), **backend.submit_kwargs):
        yield


def _on_one_thread(function: Callable[..., Any], task: tuple[Any, ...], *shared: Any) -> Any:
    # A task is not split up again, neither into threads nor into tasks of a cluster.
    with one_thread(), parallel_config("sequential"):
        return function(*shared, *task)
