"""The worker processes of this machine, joblib's, so that no wait for them is without end.

The pool is loky's, which joblib carries along. Four things in it can wait for ever when a worker is
killed, or where warnings are errors, and are mended or avoided here:

- Its manager thread *warns* when a worker stops. Where warnings are errors the thread would die of
  it, and with it the only one who hands on results.
- An idle worker holds the lock of the queue that it reads from. One that is killed takes the lock
  along. While there is work the manager notices and ends the others; but when the pool is taken
  down, at the end of the program above all, it waited for workers that wait for the lock.
- A pool of another size is made by adding workers and waiting until all are alive, also for one
  that was killed meanwhile.
- An order to kill the workers may be overwritten by one to let them finish, if a new pool is wanted
  at once.
"""

from __future__ import annotations

import threading
import warnings
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

from joblib.externals.loky import process_executor, reusable_executor
from joblib.externals.loky.backend import utils as loky_utils

_join_executor_internals = process_executor._ExecutorManagerThread.join_executor_internals


def prepare_workers(number: int) -> None:
    """Mend the pool, and end it if it is idle and has another number of workers."""
    # A filter would not do: filters belong to the whole process, and any other thread, or the start
    # of a test, may put its own before ours at any time.
    for module in (process_executor, loky_utils):
        module.warnings = _NeverRaised()
    process_executor._ExecutorManagerThread.join_executor_internals = _leave
    executor = reusable_executor._executor
    if (
        executor is not None
        and executor._max_workers != number
        and not executor._pending_work_items
    ):
        end_workers()


def end_workers() -> None:
    """End the workers of a run that failed or was given up, also if they are idle by now.

    A run that another thread has on the same workers finds them lost, and does its tasks again.
    """
    executor = reusable_executor._executor
    if executor is not None:
        # A generator may be collected, and so closed, in any thread, also in the manager's own.
        inside = threading.current_thread() is executor._executor_manager_thread
        executor.shutdown(wait=not inside, kill_workers=True)


def is_loss(error: Exception) -> bool:
    """Tell whether a pool broke, by the death of a worker or since another run ended it."""
    shutdown = process_executor.ShutdownExecutorError
    return isinstance(error, BrokenProcessPool) or isinstance(error.__context__, shutdown)


class _NeverRaised:
    """Stands for the module ``warnings``: what warns is not stopped by it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(warnings, name)

    def warn(self, *args: Any, **options: Any) -> None:
        with suppress(Warning):
            warnings.warn(*args, **options)


def _leave(manager: Any) -> None:
    """Take a pool down: its workers may leave, but once one of them dies the others are killed."""
    if manager.processes:
        manager.shutdown_workers()
    while manager.processes:
        of_sentinels = {worker.sentinel: pid for pid, worker in manager.processes.items()}
        for sentinel in wait(list(of_sentinels)):
            worker = manager.processes.pop(of_sentinels[sentinel])
            worker.join()
            if worker.exitcode != 0:
                manager.kill_workers("a worker died, perhaps with the lock of a queue")
                break
    _join_executor_internals(manager)
