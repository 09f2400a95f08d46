"""Plant small errors in the library, one at a time, and see whether the unit tests notice.

A sample of all changes that `mutations.py` knows is drawn by a seed. Each is planted in a process
of its own (`mutants_trial.py`), never in the package itself. Then the tests that run the changed
function (`mutants_ran.py`) or name it (`mutants_choice.py`) are run, until one fails. What no test
notices is either equivalent, and then stands in ``mutants_equivalent.toml`` with the reason, or is
a missing test.

Run as ``python tools/mutate.py --seed 0 --number 300`` (or ``make mutants``). It can be stopped at
any time, and goes on where it stopped: an outcome holds until the changed file or one of the tests
changes. ``--only informed/gap.py --list`` prints the names of all changes of a file, ``--keys``
takes a file of such names instead of a sample. The table of survivors is in
``_build/mutants/survivors.md``. Exits with 1 if fewer than 97 % of the errors that change a result
are noticed. Needs fork, so not Windows.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import random
import sys
import time
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path

from mutants_choice import ROOT, WORK, Names, digest, environment, unit_tests
from mutants_process import TOO_SLOW, folder_of
from mutants_ran import measure, order
from mutants_trial import COMMAND, Copy, Ending, Trial, try_in_session, warm_up
from mutations import Mutant, mutants_of

EQUIVALENT = ROOT / "tools" / "mutants_equivalent.toml"
OUTCOMES = WORK / "outcomes.jsonl"
AT_LEAST = 0.97
# Share of the sample that goes to each room; the metric is what others build on.
ROOMS = {"metric": 0.6, "studies": 0.25, "teaching": 0.15}
LEFT_OUT = (
    "informed/studies/plots/*",
    "informed/teaching/explorer/*",
    "informed/teaching/chapters/*/wrong_answers.py",
)
# What other processes run: it is wrong for them only in a copy.
OTHER_PROCESSES = ("informed/parallel.py", "informed/workers.py", "informed/teaching/grading/*")


@dataclass(frozen=True)
class Outcome:
    """What became of one mutant: "noticed", by which test, or "survived"."""

    key: str
    place: str
    verdict: str
    by: str
    tests: int
    seconds: float
    evidence: str


# The sample.


def room(file: str) -> str:
    """Return the room of a file.

    >>> room("informed/gap.py"), room("informed/studies/cli/runs.py")
    ('metric', 'studies')
    """
    part = Path(file).parts[1]
    return part if part in ROOMS else "metric"


def all_mutants(only: str = "*") -> list[Mutant]:
    """Return every change of every file that is tried."""
    found = []
    for path in sorted((ROOT / "informed").rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        if fnmatch.fnmatch(file, only) and not any(fnmatch.fnmatch(file, no) for no in LEFT_OUT):
            found += mutants_of(file, path.read_text(encoding="utf-8"))
    return found


def sample(mutants: list[Mutant], number: int, seed: int) -> list[Mutant]:
    """Draw mutants: the same for the same seed, each room with its share."""
    rooms = {name: [m for m in mutants if room(m.file) == name] for name in ROOMS}
    total = sum(share for name, share in ROOMS.items() if rooms[name])
    drawn = []
    for name, share in ROOMS.items():
        wanted = min(round(number * share / max(total, share)), len(rooms[name]))
        drawn += random.Random(f"{seed} {name}").sample(rooms[name], wanted)
    # Mixed, so that a run that is stopped has tried some of each.
    random.Random(seed).shuffle(drawn)
    return drawn


# The trials.


def run(mutants: list[Mutant], tests: list[str], jobs: int, again: bool = False) -> list[Outcome]:
    """Return what becomes of mutants; what is known from earlier runs is not tried again."""
    names = Names(tests)
    quiet = environment(ROOT) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = measure(ROOT, WORK / "ran", tests, COMMAND, quiet, jobs)
    known = {} if again else read_outcomes(OUTCOMES)
    trials, settled = [], {}
    for mutant in mutants:
        seen = ran.tests_of(mutant.file, mutant.outermost[0])
        chosen = order(names.tests_for(mutant), seen, TOO_SLOW)
        old = known.get(mutant.key)
        if not chosen:
            place = f"{mutant.file}:{mutant.line}"
            settled[mutant.key] = Outcome(
                mutant.key, place, "survived", "no test runs this", 0, 0.0, ""
            )
        elif old and old.evidence == evidence(mutant, [old.by] if old.by else chosen_tests(chosen)):
            settled[mutant.key] = old
        else:
            if old and old.by:
                # What noticed it once comes first.
                chosen = [(0, old.by), *chosen]
            trials.append(Trial(mutant, chosen))
    if trials:
        warm_up()
        workers = [_fork(trials[k::jobs], k) for k in range(jobs)]
        codes = [os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) for worker in workers]
        if any(codes):
            raise RuntimeError(f"a worker ended with {max(codes)}")
        settled |= read_outcomes(OUTCOMES)
    return [settled[mutant.key] for mutant in mutants]


def _fork(trials: list[Trial], worker: int) -> int:
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        _work(trials, worker)
        code = 0
    except KeyboardInterrupt:
        code = 130
    finally:
        sys.stdout.flush()
        os._exit(code)


def _work(trials: list[Trial], worker: int) -> None:
    """Try mutants: in one session what can be, the others in a copy."""
    left: list[Trial] = []
    quick: list[Trial] = []
    for trial in trials:
        elsewhere = any(fnmatch.fnmatch(trial.mutant.file, each) for each in OTHER_PROCESSES)
        (left if elsewhere or not trial.mutant.outermost[0] else quick).append(trial)
    folder = folder_of(worker)
    skipped = folder / "skipped.json"
    skipped.write_text("[]", encoding="utf-8")

    def settle(trial: Trial, ending: Ending | None) -> None:
        if ending is None:
            keys = [*json.loads(skipped.read_text(encoding="utf-8")), trial.mutant.key]
            skipped.write_text(json.dumps(keys), encoding="utf-8")
        else:
            record(trial, ending)

    if quick:
        # In a child, so that the library is not yet imported here when a copy of it is.
        process = os.fork()
        if not process:
            code = 1
            try:
                try_in_session(quick, folder / "log", settle)
                code = 0
            finally:
                sys.stdout.flush()
                os._exit(code)
        if os.waitpid(process, 0)[1]:
            raise RuntimeError("the session of the tests broke")
    keys = set(json.loads(skipped.read_text(encoding="utf-8")))
    left += [trial for trial in quick if trial.mutant.key in keys]
    if left:
        copy = Copy(folder / "copy")
        for trial in left:
            record(trial, copy.run(trial))


def record(trial: Trial, ending: Ending) -> None:
    """Write an outcome to the file of outcomes and to the screen."""
    mutant = trial.mutant
    place = f"{mutant.file}:{mutant.line}"
    verdict = "noticed" if ending.noticed_by else "survived"
    by = ending.noticed_by or ""
    rests_on = evidence(mutant, [by] if by else chosen_tests(trial.tests))
    outcome = Outcome(mutant.key, place, verdict, by, len(ending.tried), ending.seconds, rests_on)
    with OUTCOMES.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(outcome), ensure_ascii=False) + "\n")
    clock = time.strftime("%H:%M:%S")
    how = f"{by or 'nobody'}, {len(ending.tried)} tests, {ending.seconds} s"
    print(f"{clock} {verdict} {place} {mutant.change} [{how}]", flush=True)


def chosen_tests(chosen: list[tuple[int, str]]) -> list[str]:
    """Return tests without their distances."""
    return [test for _, test in chosen]


def evidence(mutant: Mutant, tests: list[str]) -> str:
    """Return what an outcome rests on: the changed file, and the file of the test that noticed it.

    Of one that survived, the files of all tests that were tried.
    """
    files = sorted({test.partition("::")[0] for test in tests})
    return digest([ROOT / mutant.file, *(ROOT / file for file in files)])


def read_outcomes(path: Path) -> dict[str, Outcome]:
    """Return what earlier runs found."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    outcomes = [Outcome(**json.loads(line)) for line in lines]
    return {outcome.key: outcome for outcome in outcomes}


# What came out.


def equivalents(path: Path = EQUIVALENT) -> dict[str, str]:
    """Return the listed mutants that change no result, each with its reason."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        f"{place}: {change}": reason
        for place, changes in entries.items()
        for change, reason in changes.items()
    }


def report(outcomes: list[Outcome], reasons: dict[str, str]) -> tuple[str, float]:
    """Return the table of survivors in Markdown, and the share that was noticed."""
    survivors = [each for each in outcomes if each.verdict == "survived"]
    missed = [each for each in survivors if each.key not in reasons]
    noticed = len(outcomes) - len(survivors)
    share = noticed / max(noticed + len(missed), 1)
    lines = [
        f"{len(outcomes)} small errors were planted. {len(survivors) - len(missed)} of them change "
        f"no result; of the other {noticed + len(missed)} the unit tests noticed {noticed} "
        f"({share:.1%}).",
        "",
        "| place | change | why |",
        "|---|---|---|",
    ]
    for each in sorted(survivors, key=lambda each: (each.key in reasons, each.place)):
        change = each.key.partition(": ")[2].replace("|", "\\|")
        missing = f"**not noticed**: {each.by or f'{each.tests} tests pass'}"
        lines.append(f"| {each.place} | `{change}` | {reasons.get(each.key, missing)} |")
    return "\n".join(lines) + "\n", share


def main() -> int:
    """Draw a sample, try it, and say what was not noticed."""
    parser = argparse.ArgumentParser(description="Plant small errors; do the unit tests notice?")
    parser.add_argument("--seed", type=int, default=0, help="another seed, another sample")
    parser.add_argument("--number", type=int, default=300, help="how many to plant")
    parser.add_argument("--only", default="*", help="only in these files, as 'informed/gap.py'")
    parser.add_argument("--room", nargs="+", choices=ROOMS, help="only this part of the sample")
    parser.add_argument("--tests", nargs="+", help="only by these files of tests, as test_gap")
    parser.add_argument("--list", action="store_true", help="only print the names of all changes")
    parser.add_argument("--keys", type=Path, help="a file with the names of the changes to try")
    parser.add_argument("--jobs", type=int, default=1, choices=(1, 2), help="how many at a time")
    parser.add_argument("--again", action="store_true", help="try also what is known already")
    arguments = parser.parse_args()
    mutants = all_mutants(arguments.only)
    if arguments.list:
        print("\n".join(mutant.key for mutant in mutants))
        return 0
    if arguments.keys:
        wanted = set(arguments.keys.read_text(encoding="utf-8").splitlines())
        mutants = [mutant for mutant in mutants if mutant.key in wanted]
    else:
        mutants = sample(mutants, arguments.number, arguments.seed)
    mutants = [m for m in mutants if room(m.file) in (arguments.room or ROOMS)]
    outcomes = run(mutants, arguments.tests or unit_tests(), arguments.jobs, arguments.again)
    reasons = equivalents()
    text, share = report(outcomes, reasons)
    (WORK / "survivors.md").write_text(text, encoding="utf-8")
    print(text)
    for key in sorted(reasons.keys() - {mutant.key for mutant in all_mutants()}):
        print(f"{EQUIVALENT.name} names what is no longer there: {key}")
    return int(share < AT_LEAST)


if __name__ == "__main__":
    sys.exit(main())
