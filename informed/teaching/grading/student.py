"""The process in which a student's cells run and a student's functions are called.

It holds no reference, no right answer and no judgement: it runs cells, remembers what was given to
`check`, and then answers two questions of the grader: "what is the answer to this exercise" and
"what does it return for these arguments". A notebook that patches `check`, or anything else here,
changes its own answers at most.
"""

from __future__ import annotations

import _tracemalloc
import ast
import builtins
import contextlib
import linecache
import os
import signal
import sys
import tracemalloc
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from informed.teaching.grading.sandbox import enclose
from informed.teaching.grading.slices import Cell, calls_of_check
from informed.teaching.grading.wire import pack

__all__ = ["live"]

RECORD = "__informed_answer__"
# Modules that hold what a student must find out, or that mark it.
CLOSED = (
    "informed.exercises",
    "informed.teaching.exercises",
    "informed.teaching.chapters",
    "informed.teaching.grading",
)
# Bound here, so that a notebook that patches `tracemalloc` does not change what is measured.
_trace, _trace_no_more, _traced = tracemalloc.start, tracemalloc.stop, tracemalloc.get_traced_memory
_trace_of = _tracemalloc._get_object_traceback


class TooLong(BaseException):
    """A cell that runs longer than it may; no Exception, so that few cells catch it."""


def live(
    connection: Connection,
    cells: Sequence[Cell],
    folder: Path,
    *,
    memory: int,
    seconds: float,
    cell_seconds: float,
    call_seconds: float,
    hidden: Sequence[Path],
) -> NoReturn:
    """Be that process: enclose it, run the cells, answer questions until told to stop."""
    status = 1
    try:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        # Nothing of the grader's stays open, its resource tracker for one, but the pipe.
        os.closerange(3, connection.fileno())
        os.closerange(connection.fileno() + 1, 1024)
        os.environ["HOME"] = os.environ["MPLCONFIGDIR"] = str(folder)
        walls = enclose(folder, memory=memory, seconds=seconds, hidden=hidden)
        answers: dict[str, Any] = {}
        errors = _run(cells, answers, cell_seconds)
        connection.send_bytes(pack({"walls": walls, "given": list(answers), "errors": errors}))
        _serve(connection, answers, call_seconds)
        status = 0
    finally:
        os._exit(status)


def _run(cells: Sequence[Cell], answers: dict[str, Any], limit: float) -> dict[str, str]:
    """Run the cells; return what went wrong by exercise, and for cells without one by number."""

    def check(name: Any, *given: Any, **_: Any) -> str:
        answers[str(name)] = given[0] if len(given) == 1 else list(given) if given else None
        return "noted"

    main = types.ModuleType("__main__")
    main.__dict__.update({RECORD: check, "display": lambda *_, **__: None})
    sys.modules["__main__"] = main
    _close_modules(check)
    # Who could put the peak back to zero would hide what was held.
    for module in (tracemalloc, _tracemalloc):
        vars(module).pop("reset_peak", None)
    signal.signal(signal.SIGPROF, _stop)
    errors: dict[str, str] = {}
    for cell in cells:
        try:
            code = _compiled(cell)
            with _timed(limit), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(code, main.__dict__)
        except BaseException as error:
            words = _words(error, cell, limit)
            for name in cell.exercises:
                errors.setdefault(name, words)
            if not cell.exercises:
                errors.setdefault(f"cell {cell.number}", words)
    return errors


def _compiled(cell: Cell) -> types.CodeType:
    name = f"<cell {cell.number}>"
    lines = cell.source.splitlines(keepends=True)
    linecache.cache[name] = (len(cell.source), None, lines, name)
    tree = ast.parse(cell.source, name)
    for _, call in calls_of_check(tree):
        # The grader's own note of the answer, whatever the notebook has made of `check`.
        call.func = ast.copy_location(ast.Name(RECORD, ast.Load()), call.func)
    return compile(tree, name, "exec")


@contextlib.contextmanager
def _timed(limit: float) -> Iterator[None]:
    """Stop what takes more processor time; who sleeps is stopped by the grader's clock."""
    # Again and again: a bare `except:` may swallow the first.
    signal.setitimer(signal.ITIMER_PROF, limit, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _stop(*_: Any) -> NoReturn:
    raise TooLong


def _words(error: BaseException, cell: Cell, limit: float) -> str:
    if isinstance(error, TooLong):
        return f"cell {cell.number} ran longer than {limit:g} s"
    if isinstance(error, SyntaxError):
        return f"cell {cell.number} is not Python: {error.msg} (line {error.lineno})"
    text = " ".join(str(error).split())[:200]
    line = _line(error)
    return f"cell {cell.number} stopped with {type(error).__name__}{f': {text}' * bool(text)}{line}"


def _line(error: BaseException) -> str:
    found, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file.startswith("<cell "):
            text = linecache.getline(file, trace.tb_lineno).strip()[:100]
            found = f" (line {trace.tb_lineno}{f': `{text}`' * bool(text)})"
        trace = trace.tb_next
    return found


def _close_modules(check: Callable[..., Any]) -> None:
    """Let notebooks import `check`, which notes answers, and nothing that knows the right ones."""
    for name in [name for name in sys.modules if name.startswith(CLOSED)]:
        del sys.modules[name]
    stand_in = types.ModuleType("informed.exercises")
    stand_in.__dict__.update(check=check, progress=lambda *_, **__: None, passed=lambda _: True)
    sys.modules["informed.exercises"] = sys.modules["informed.teaching.exercises"] = stand_in
    sys.meta_path.insert(0, _Closed())


class _Closed:
    """Refuses to find the modules that hold references."""

    @staticmethod
    def find_spec(name: str, *_: Any) -> None:
        if name.startswith(CLOSED):
            raise ImportError(f"{name} is closed while marking", name=name)


def _serve(connection: Connection, answers: dict[str, Any], limit: float) -> None:
    while True:
        request = connection.recv()
        if request[0] == "stop":
            return
        connection.send_bytes(_reply(answers, limit, *request))


def _reply(
    answers: dict[str, Any],
    limit: float,
    what: str,
    name: str,
    arguments: Any = (),
    measured: bool = False,
) -> bytes:
    try:
        if what == "value":
            return pack({"value": answers[name]})
        with _timed(limit):
            return pack(_called(answers[name], arguments, measured))
    except TooLong:
        return pack({"error": ["TimeoutError", f"it ran longer than {limit:g} s"]})
    except BaseException as error:
        # An exception whose text cannot be made must not end the process either.
        with contextlib.suppress(BaseException):
            text = " ".join(str(error).split())[:300]
            return pack({"error": [_known_name(error), text + _line(error)]})
        return pack({"error": ["Exception", ""]})


def _known_name(error: BaseException) -> str:
    """Return the name of the built-in exception that it is."""
    kinds = (kind for kind in type(error).__mro__ if vars(builtins).get(kind.__name__) is kind)
    return str(next(kinds).__name__)


def _called(function: Any, arguments: tuple[Any, ...], measured: bool) -> Any:
    before = pack(list(arguments))
    with _peak(measured) as peak, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = function(*arguments)
    # The caller wants to know whether its data were changed in place.
    changed = list(arguments) if pack(list(arguments)) != before else None
    return {"value": result, "changed": changed, "peak": peak[0]}


@contextlib.contextmanager
def _peak(measured: bool) -> Iterator[list[int]]:
    found = [0]
    if not measured:
        yield found
        return
    _trace()
    try:
        witness = bytearray(1)
        yield found
        found[0] = _traced()[1]
        if _trace_of(witness) is None:
            raise RuntimeError("the measurement of memory was switched off")
    finally:
        _trace_no_more()
