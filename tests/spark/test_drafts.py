"""Drafts of results: what is complete is kept wherever there is a place, and what a killed run left is removed."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import dfa_router as dr
from dfa_router.spark.drafts import staged

OWNER = """
import sys, time
from pathlib import Path
from dfa_router.spark.drafts import staged
with staged(sys.argv[1], overwrite=False) as draft:
    Path(draft).mkdir()
    Path(draft, "part").write_text("half")
    print("writing", flush=True)
    sys.stdin.read()
"""


def write(draft: str, text: str = "mine") -> None:
    """Write a result of one file."""
    Path(draft).mkdir()
    Path(draft, "part").write_text(text)


def names(folder: Path) -> list[str]:
    """Return the names in a folder, hidden ones too."""
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("overwrite", [False, True])
def test_of_two_runs_for_one_path_both_keep_their_results(tmp_path: Path, *, overwrite: bool) -> None:
    out = tmp_path / "out"

    def race() -> None:
        with staged(str(out), overwrite=False) as draft:
            write(draft)
            with staged(str(out), overwrite=overwrite) as other:
                write(other, "other")

    with pytest.raises(dr.JobError, match="something appeared there while the job ran") as refused:
        race()
    assert (out / "part").read_text() == "other"
    (kept,) = (path for path in tmp_path.iterdir() if path != out)
    assert (kept / "part").read_text() == "mine"
    assert f"the complete result is in {kept}: move it" in str(refused.value)


def test_a_file_that_appeared_is_left_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def collide() -> None:
        with staged(str(out), overwrite=False) as draft:
            write(draft)
            out.write_text("a file")

    with pytest.raises(dr.JobError, match=r"the complete result is in .*/out\.\w{8}: move it"):
        collide()
    assert out.read_text() == "a file"
    assert len(names(tmp_path)) == 2


def test_what_a_killed_run_left_is_removed_and_what_a_living_one_writes_is_not(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = str(tmp_path / "out")
    owners = [
        subprocess.Popen([sys.executable, "-c", OWNER, out], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    try:
        for owner in owners:
            assert owner.stdout is not None
            assert owner.stdout.readline() == b"writing\n"
        drafts = set(tmp_path.glob("*.partial"))
        assert len(drafts) == 2
        owners[0].send_signal(signal.SIGKILL)
        owners[0].wait()
        with caplog.at_level(logging.WARNING), staged(out, overwrite=False) as draft:
            write(draft)
        (living,) = tmp_path.glob("*.partial")
        (removed,) = drafts - {living}
        assert [record.getMessage() for record in caplog.records] == [
            f"removing {removed}, the unfinished result of a run that was killed"
        ]
        assert len(list(tmp_path.glob("*.lock"))) == 1, "that of the living run"
    finally:
        for owner in owners:
            owner.kill()
            owner.communicate()


def test_an_old_result_comes_back_when_its_replacement_was_killed_in_between(tmp_path: Path) -> None:
    write(str(tmp_path / ".out.abc.old"), "old")
    (tmp_path / ".out.abc.lock").touch()
    with staged(str(tmp_path / "out"), overwrite=True) as draft:
        assert (tmp_path / "out" / "part").read_text() == "old"
        write(draft, "new")
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out" / "part").read_text() == "new"


def test_an_error_within_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with staged(str(tmp_path / "out"), overwrite=False) as draft:
            write(draft)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert names(tmp_path) == []
