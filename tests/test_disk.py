"""Results on a full disk or in a folder that may not be written: one clear line, no broken file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

from informed.studies.files import written_whole

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")

TABLE = "\n".join(
    ",".join(f"{value:.6f}" for value in row)
    for row in np.random.default_rng(0).normal(size=(200, 12))
)


def command(table, out, **options):
    return subprocess.run(
        [sys.executable, "-m", "informed", "distances", str(table), "--out", str(out)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        **options,
    )


def no_room_for(n_bytes):
    """Let the system refuse to write more than so many bytes into a file, as a full disk does."""

    def limit():
        import resource
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))

    return limit


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    names = ",".join(f"x{i}" for i in range(12))
    path.write_text(f"{names}\n{TABLE}\n")
    return path


def check_failure(done, folder):
    assert done.returncode not in (0, -9), done.stdout
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_a_full_disk_leaves_no_half_file(table, tmp_path, ending):
    folder = tmp_path / "out"
    folder.mkdir()
    # 200 × 200 distances take 320 000 bytes: the disk is full in the middle of them.
    done = command(table, folder / f"d.{ending}", preexec_fn=no_room_for(100_000))
    check_failure(done, folder)
    # numpy tells how much it could write, the system why it could not.
    assert "40000 requested" in done.stderr or "too large" in done.stderr


def test_a_folder_that_may_not_be_written_is_named(table, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    folder.chmod(0o555)
    # The superuser may write into any folder but those that the kernel only shows.
    place = Path("/sys") if os.geteuid() == 0 else folder
    if not place.is_dir():
        pytest.skip("no folder here that the superuser may not write")
    done = command(table, place / "d.npy")
    check_failure(done, folder)
    assert str(place) in done.stderr


def test_an_old_result_survives_a_failed_new_one(tmp_path):
    path = tmp_path / "result.npy"
    path.write_bytes(b"old")

    def failing():
        with written_whole(path) as file:
            file.write(b"new")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        failing()
    assert path.read_bytes() == b"old"
    assert [other.name for other in tmp_path.iterdir()] == ["result.npy"]
