"""One thread for linear algebra, so that results do not depend on how many there are."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep linear algebra to one thread inside a ``with`` block.

    The order in which threads add up changes the last digits, and these can decide where k-means
    ends; and the processes of a parallel run would compete for the cores.

    Blocks of several threads may overlap: the limit of most libraries is one for the whole
    process, so the first block to start sets it and the last one to end takes it back.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with one_thread():
    ...     {library["num_threads"] for library in threadpool_info()}
    {1}
    """
    of_process, of_thread = _controllers()
    with of_thread.limit(limits=1), _limit_of_process.held(of_process):
        yield


@contextmanager
def one_thread_of_process() -> Iterator[None]:
    """Keep to one thread, inside a ``with`` block, those libraries that have one limit in all.

    For what sets this limit by itself, as scikit-learn's search for neighbours does: in several
    threads at a time, with threadpoolctl before 3.8, one of them would take the limit of another
    for what was there before, and leave it behind.
    """
    with _limit_of_process.held(_controllers()[0]):
        yield


class _SharedLimit:
    """A limit that is set by the first who wants it and lifted by the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._limit: Any = None

    @contextmanager
    def held(self, controller: ThreadpoolController) -> Iterator[None]:
        with self._lock:
            if self._holders == 0:
                with _in_control(controller):
                    self._limit = controller.limit(limits=1)
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0:
                    with _in_control(controller):
                        self._limit.restore_original_limits()


_limit_of_process = _SharedLimit()


@contextmanager
def _in_control(controller: ThreadpoolController) -> Iterator[None]:
    """Let this thread change a limit of the process, and any other one after it.

    From threadpoolctl 3.8 on, a thread that has set such a limit is the only one that can. Here
    the last one to leave must lift it, whoever set it; a lock keeps them apart.
    """
    _give_up_control(controller)
    yield
    _give_up_control(controller)


def _give_up_control(controller: ThreadpoolController) -> None:
    for library in controller.lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


@cache
def _controllers() -> tuple[ThreadpoolController, ThreadpoolController]:
    """Return the libraries with one limit for the process, and those with one for each thread."""
    # Looking for the libraries takes longer than a small fit: once a process is enough, since those
    # that compute here are loaded with the modules that import this one.
    found = ThreadpoolController()
    own = {
        library.filepath
        for library in found.lib_controllers
        if "openmp" in (library.user_api, getattr(library, "threading_layer", None))
    }
    rest = [lib.filepath for lib in found.lib_controllers if lib.filepath not in own]
    return found.select(filepath=rest), found.select(filepath=sorted(own))
