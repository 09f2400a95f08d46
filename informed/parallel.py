"""Independent tasks in parallel: bit by bit the same, and done although a worker dies.

Which promise comes from where:

====================  =============================================  ===========================
promise               processes of this machine (loky)               a Dask cluster
====================  =============================================  ===========================
order of the results  joblib, ``return_as="generator"``              a future per task, in turn
a worker is lost      loky notices; the tasks without a result are   the scheduler gives its
                      done again here, by new workers                tasks to others
data of a lost one    stay in a file of this process                 stay with the scheduler, as
                                                                     a task that it does again
a worker comes late   reads that file                                gets the data from a worker
                                                                     when it first needs them
a deadly task         at most :data:`TRIES` times in a row           ``allowed-failures``, then
                                                                     ``KilledWorker``
nobody is left        a new pool is started                          an error, after the time of
                                                                     ``wait_for_workers_timeout``
failure, Ctrl-C       joblib ends its workers                        the tasks are taken back
end of the program    the workers leave; where one is killed         the cluster is another's
                      meanwhile, the others are ended
====================  =============================================  ===========================

What in loky itself can wait for ever is mended in :mod:`informed.workers`. One thing is avoided
here: a worker that is killed half-way through a message leaves the reader waiting for the other
half. Messages are so short that the system writes them whole, and all that is longer travels in
files (:func:`_store`).

Other backends of joblib (threads, Ray, …) are used as they are, with the promises they make.
"""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky.cloudpickle_wrapper import dumps
from joblib.parallel import BACKENDS, get_active_backend
from numpy.random import RandomState

from informed.progress import progress_bar
from informed.threads import one_thread as one_thread
from informed.validation import check_flag, check_n_jobs, random_source
from informed.workers import end_workers, is_loss, prepare_workers

# So often may the workers be lost before the next result is there.
TRIES = 3
# Up to so many bytes travel in a message. With what joblib adds a message stays below the 4096
# bytes that a pipe takes at once or not at all.
_SHORT = 2048
# Where an array starts in a file: on a line of the cache.
_ALIGNMENT = 64
# How long to wait for a cluster before looking whether it is still there.
_LOOK_EVERY_SECONDS = 1.0


class WorkersLostError(RuntimeError):
    """Workers died again and again, or all of them are gone."""


# --------------------------------------------------------------------------------------- tasks


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
    check_n_jobs(n_jobs)
    results = []
    with progress_bar(len(tasks), label, shown=check_flag("verbose", verbose)) as bar:
        for result in iterate_tasks(function, tasks, n_jobs=n_jobs, shared=shared):
            results.append(result)
            bar.update(1)
    return results


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

    A task may be done twice, when a worker dies (killed, out of memory, restarted); the result is
    the same. The first task, in order, that raises an exception ends the run with it.

    Raises
    ------
    WorkersLostError
        If workers die again and again, or none is left; never a wait without end.
    pickle.PickleError
        If the function, an argument or a result cannot travel to a worker or back.

    Examples
    --------
    >>> list(iterate_tasks(pow, [(2,), (3,)], shared=[10]))
    [100, 1000]
    """
    backend, _ = get_active_backend()
    if getattr(backend, "client", None) is not None:
        yield from _on_cluster(backend, function, tasks, shared)
    elif isinstance(backend, BACKENDS["loky"]) and effective_n_jobs(n_jobs) > 1:
        yield from _on_processes(function, tasks, shared, n_jobs)
    else:
        yield from Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_on_one_thread)(function, shared, task) for task in tasks
        )


def seeds(random_state: int | RandomState | None, count: int) -> list[int]:
    """Draw independent seeds, one for each task."""
    drawn = random_source(random_state).randint(2**31 - 1, size=count)
    return [int(seed) for seed in np.asarray(drawn)]


def _on_one_thread(
    function: Callable[..., Any], shared: Sequence[Any], task: tuple[Any, ...]
) -> Any:
    # A task is not split up again, neither into threads nor into tasks of a cluster.
    with one_thread(), parallel_config("sequential"):
        return function(*shared, *task)


# ------------------------------------------------------------------- processes of this machine


def _on_processes(
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    shared: Sequence[Any],
    n_jobs: int | None,
) -> Iterator[Any]:
    prepare_workers(effective_n_jobs(n_jobs))
    with tempfile.TemporaryDirectory(prefix="informed-", ignore_cleanup_errors=True) as folder:
        common = _store((function, tuple(shared)), folder)
        stored = [_store(task, folder) for task in tasks]
        done = failures = 0
        while done < len(stored):
            results, finished = None, False
            try:
                # All at once: what joblib sends later it sends from a thread that reports nothing.
                results = Parallel(
                    n_jobs=n_jobs, return_as="generator", pre_dispatch="all", batch_size=1
                )(delayed(_in_process)(common, task, folder) for task in stored[done:])
                for outcome in results:
                    done += 1
                    failures = 0
                    yield _load_outcome(outcome)
                finished = True
            except Exception as error:
                if not is_loss(error):
                    raise
                failures += 1
                if failures == TRIES:
                    raise WorkersLostError(
                        f"the worker processes died {TRIES} times in a row before task {done} of "
                        f"{len(stored)} was done. Most often memory is short: try fewer workers (a "
                        "smaller n_jobs), or n_jobs=1, which runs the tasks in this process"
                    ) from error
            finally:
                if results is not None:
                    # Closing it would do the same, and warn that results are not used.
                    with suppress(_AbandonedError, StopIteration):
                        results.throw(_AbandonedError)
                if not finished:
                    end_workers()


class _AbandonedError(Exception):
    """Nobody waits for the rest of the results."""


class _RemoteError(Exception):
    """The traceback of an error in a worker, as text."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def _in_process(common: bytes | str, task: bytes | str, folder: str) -> bytes | str:
    """Do one task in a worker. What it raises travels like a result, for it may be long."""
    try:
        try:
            function, shared = _load(common)
            arguments = _load(task)
        except Exception as error:
            raise pickle.UnpicklingError(
                f"a worker cannot read the function or its arguments: {error!r}"
            ) from error
        return _store((True, _on_one_thread(function, shared, arguments)), folder)
    except Exception as error:
        report = traceback.format_exc()
        try:
            return _store((False, (error, report)), folder)
        except pickle.PicklingError:
            # An error of a kind that cannot travel: its words can.
            error = RuntimeError(f"{type(error).__name__}: {error}")
            return _store((False, (error, report)), folder)


def _load_outcome(stored: bytes | str) -> Any:
    good, value = _load(stored, keep=False)
    if good:
        return value
    error, report = value
    raise error from _RemoteError(report)


def _store(value: Any, folder: str) -> bytes | str:
    """Return the bytes of a value if they are few, else the path of a file that holds them.

    Arrays stand in the file as they stand in memory, so that workers can map it and share them.
    """
    buffers: list[memoryview] = []
    head = _as_bytes(value, lambda buffer: buffers.append(buffer.raw()))
    parts = [memoryview(head), *buffers]
    if sum(part.nbytes for part in parts) <= _SHORT:
        return _as_bytes(value)
    path = Path(folder, uuid4().hex)
    places = []
    with path.open("wb") as file:
        file.write(bytes(8))
        for part in parts:
            file.seek(-file.tell() % _ALIGNMENT, os.SEEK_CUR)
            places.append((file.tell(), len(part)))
            file.write(part)
        table = file.tell()
        pickle.dump(places, file)
        file.seek(0)
        file.write(table.to_bytes(8, "little"))
    return str(path)


def _as_bytes(value: Any, buffer_callback: Callable[[Any], object] | None = None) -> bytes:
    try:
        return bytes(dumps(value, protocol=5, buffer_callback=buffer_callback))
    except Exception as error:
        raise pickle.PicklingError(f"cannot be sent to a worker or back: {error}") from error


def _load(stored: bytes | str, *, keep: bool = True) -> Any:
    """Return what was stored; drop its file, unless it is kept and mapped into memory."""
    if isinstance(stored, bytes):
        return pickle.loads(stored)
    path = Path(stored)
    if keep:
        with path.open("rb") as file:
            # What a task writes into it is its own affair, and seen by nobody else.
            whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    else:
        whole = memoryview(bytearray(path.read_bytes()))
        with suppress(OSError):
            path.unlink()
    table = int.from_bytes(whole[:8], "little")
    head, *buffers = (whole[start : start + size] for start, size in pickle.loads(whole[table:]))
    return pickle.loads(head, buffers=buffers)


# --------------------------------------------------------------------------------- Dask cluster


def _on_cluster(
    backend: Any,
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    shared: Sequence[Any],
) -> Iterator[Any]:
    import dask
    from distributed import KilledWorker

    client = backend.client
    # The data are the result of a task, not scattered: what is scattered is lost with the last
    # worker that holds it, while a task that the scheduler knows is done again. As bytes, they
    # are unpacked by the workers only.
    common, *sent = (_as_bytes(value) for value in [(function, tuple(shared)), *tasks])
    done = failures = 0
    while done < len(tasks):
        data, futures = None, []
        try:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 PiB"}):
                data = client.submit(pickle.loads, common, pure=False, **backend.submit_kwargs)
                futures = client.map(
                    _on_worker,
                    sent[done:],
                    common=data,
                    pure=False,
                    **backend.submit_kwargs,
                )
            for future in list(futures):
                result = _wait_for(future, backend)
                done += 1
                failures = 0
                future.release()
                yield result
        except KilledWorker as error:
            raise WorkersLostError(
                f"a task killed every worker that it was given to: {error}. Most often memory is "
                "short: give the workers more of it, or run fewer tasks on each"
            ) from error
        except CancelledError as error:
            failures += 1
            if client.status != "running" or failures == TRIES:
                raise WorkersLostError(
                    "the Dask scheduler is gone, or dropped the tasks: start the cluster again, or "
                    "leave parallel_config('dask') to run on this machine (n_jobs)"
                ) from error
        finally:
            # Nobody wants the rest: the scheduler forgets what is not yet running.
            for future in [data, *futures]:
                if future is not None:
                    future.release()


def _on_worker(task: bytes, common: tuple[Callable[..., Any], tuple[Any, ...]]) -> Any:
    function, shared = common
    return _on_one_thread(function, shared, pickle.loads(task))


def _wait_for(future: Any, backend: Any) -> Any:
    """Return the result of a future, as long as there is somebody who could compute it."""
    patience = backend.wait_for_workers_timeout or 10
    deserted_since = None
    fetching = _LOOK_EVERY_SECONDS
    while True:
        try:
            # A result that takes long to fetch gets more time at each attempt.
            return future.result(timeout=fetching)
        except TimeoutError:
            if future.status == "error":  # of the task's own
                raise
            if future.done():
                fetching *= 2
        if _has_workers(backend.client):
            deserted_since = None
        else:
            deserted_since = deserted_since or time.monotonic()
            if time.monotonic() - deserted_since > patience:
                raise WorkersLostError(
                    f"the Dask cluster has had no worker for {patience} seconds. They may have run "
                    "out of memory; start new ones, or leave parallel_config('dask') to run on "
                    "this machine (n_jobs)"
                )


def _has_workers(client: Any) -> bool:
    # A scheduler that is gone does not answer; its futures are cancelled when the client notices.
    with suppress(TimeoutError, OSError):
        return bool(client.nthreads(callback_timeout=5))
    return False
