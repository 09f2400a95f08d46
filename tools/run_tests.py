"""Everything that must hold, side by side: lint, unit tests, notebooks, strict book, built site.

Two chains of jobs run at the same time, so that one computes while the other waits (for a browser,
a cluster, a kernel). A job says one line when it passes and shows all it wrote when it fails. The
last line of all says what was skipped, and why.

Run as ``python tools/run_tests.py``; exits with 1 if a job fails.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# What hangs or fails once often does so everywhere: five are enough to see why.
PYTEST = [sys.executable, "-m", "pytest", "-q", "--no-header", "--maxfail", "5"]
# Kernels of notebooks compute all the time; tests often wait for a browser or for a worker.
COMPUTING, WAITING = ["-n", "2"], ["-n", "3"]
SITE_TESTS = [
    "tests/test_book.py",
    *sorted(f"tests/{p.name}" for p in ROOT.glob("tests/test_site*.py")),
]
# The last resort: every test has a limit of its own, and a busy machine makes all far slower.
LIMIT_SECONDS = 7200


@dataclass(frozen=True)
class Job:
    """Some commands, one after the other, under one name."""

    name: str
    commands: list[list[str]]
    environment: dict[str, str] | None = None


CHAINS = [
    [
        Job(
            "lint",
            [
                [str(BIN / "ruff"), "check", "."],
                [str(BIN / "ruff"), "format", "--check", "."],
                [str(BIN / "mypy")],
            ],
        ),
        Job(
            "unit tests",
            [
                [
                    *PYTEST, *WAITING, "-p", "tools.cover", "--dist", "loadscope",
                    *(f"--ignore={path}" for path in SITE_TESTS),
                ],
            ],
        ),
    ],
    [
        Job(
            "notebooks",
            [
                [
                    *PYTEST, *COMPUTING, "-p", "keep_runs", "--nbval-lax",
                    "--nbval-current-env", "--dist", "loadscope", "book",
                ]
            ],
            # Explorers are built both ways, and what was run becomes the page: see keep_runs.
            # Two notebooks run at a time; workers of their own would only take turns with them.
            {
                "INFORMED_EXPLORER": "both",
                "LOKY_MAX_CPU_COUNT": "1",
                "PYTHONPATH": str(ROOT / "tools"),
            },
        ),
        Job(
            "book",
            [
                [sys.executable, "tools/execute.py"],
                [
                    str(BIN / "jupyter-book"), "build", ".", "--all", "--warningiserror",
                    "--nitpick", "--keep-going",
                ],
            ],
        ),
        # In order, a part to each worker, so that a page is opened once; who is done takes from the
        # end of another's.
        Job("site", [[*PYTEST, *WAITING, "--dist", "worksteal", *SITE_TESTS]]),
    ],
]  # fmt: skip


class Runner:
    """Runs jobs, and knows what it must end when one of them fails or somebody interrupts."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.skipped: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run_chain(self, jobs: list[Job]) -> None:
        """Run jobs one after the other, until one fails."""
        for job in jobs:
            start = time.monotonic()
            output, good = "", True
            for command in job.commands:
                text, code = self._run(command, job.environment)
                output += text
                if code != 0:
                    good = False
                    break
            with self._lock:
                if self._stopped:
                    return
                self.skipped.update(skipped_in(output))
                seconds = round(time.monotonic() - start)
                if not good:
                    self.failed.append(job.name)
                    print(f"{output}\n{job.name}: FAILED after {seconds} s", flush=True)
                    return
                print(f"{job.name}: passed in {seconds} s{summary(output)}", flush=True)

    def _run(self, command: list[str], environment: dict[str, str] | None) -> tuple[str, int]:
        # Two workers on two cores: more threads would only wait for each other.
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            **(environment or {}),
        }
        with self._lock:
            if self._stopped:
                return "", 1
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            self._running.add(process)
        try:
            output, _ = process.communicate(timeout=LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            _end(process)
            output, _ = process.communicate()
            output += f"\nended after {LIMIT_SECONDS} s"
        with self._lock:
            self._running.discard(process)
        return output, process.returncode

    def stop(self) -> None:
        """End all that runs, with the processes that it started."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except ProcessLookupError:
        pass


def skipped_in(output: str) -> dict[str, int]:
    r"""Return how often each reason to skip a test stands in pytest's own summary.

    >>> skipped_in("SKIPPED [2] tests/test_a.py:3: no browser\n1 passed, 2 skipped in 1s")
    {'no browser': 2}
    """
    found: Counter[str] = Counter()
    for count, reason in re.findall(r"^SKIPPED \[(\d+)\] \S+: (.+)$", output, re.MULTILINE):
        found[reason] += int(count)
    return dict(found)


def summary(output: str) -> str:
    r"""Return pytest's last words, if it was pytest.

    >>> summary("...\n3 passed, 1 skipped in 2.10s\n")
    ' (3 passed, 1 skipped)'
    """
    found = re.findall(r"^=*\s*((?:\d+ \w+(?:, )?)+) in [\d.]+s", output, re.MULTILINE)
    return f" ({found[-1]})" if found else ""


def last_line(skipped: dict[str, int]) -> str:
    """Say what was skipped and why.

    >>> last_line({})
    'skipped: nothing'
    >>> last_line({"no browser": 12, "no SurvSet": 1})
    'skipped: 13 tests: no browser (12), no SurvSet (1)'
    """
    if not skipped:
        return "skipped: nothing"
    reasons = ", ".join(f"{reason} ({count})" for reason, count in skipped.items())
    return f"skipped: {sum(skipped.values())} tests: {reasons}"


def main() -> int:
    """Run all chains side by side; the exit status is 1 if a job failed."""
    runner = Runner()
    start = time.monotonic()
    threads = [threading.Thread(target=runner.run_chain, args=[chain]) for chain in CHAINS]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        runner.stop()
        print("interrupted", file=sys.stderr)
        return 130
    minutes = (time.monotonic() - start) / 60
    verdict = f"failed: {', '.join(runner.failed)}" if runner.failed else "all passed"
    print(f"{verdict}, after {minutes:.1f} minutes")
    print(last_line(dict(runner.skipped)))
    return 1 if runner.failed else 0


if __name__ == "__main__":
    # Whoever ends this run ends all that it started, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
