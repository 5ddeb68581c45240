"""Drafts of results: what is complete is kept wherever there is a place, and what a killed run left is removed."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dfa_router as dr
from dfa_router.logs.counting import COUNTS
from dfa_router.logs.counts_file import counts_file
from dfa_router.logs.drafts import staged

OWNER = """
import sys, time
from pathlib import Path
from dfa_router.logs.drafts import staged
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
    write(str(tmp_path / f".out.{'ab' * 16}.old"), "old")
    (tmp_path / f".out.{'ab' * 16}.lock").touch()
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
    with pytest.raises(ZeroDivisionError), staged(str(tmp_path / "deep" / "er" / "out"), overwrite=False):
        raise ZeroDivisionError
    assert names(tmp_path) == [], "nor the folders above it"


@pytest.mark.parametrize("other", ["out.v2", "out.parquet", f"out.{'ab' * 16}"])
def test_what_a_killed_run_for_another_path_left_is_left_to_that(tmp_path: Path, other: str) -> None:
    write(str(tmp_path / f".{other}.{'cd' * 16}.old"), "old")
    (tmp_path / f".{other}.{'cd' * 16}.lock").touch()
    with staged(str(tmp_path / "out"), overwrite=False) as draft:
        write(draft, "new")
    assert (tmp_path / "out" / "part").read_text() == "new"
    with staged(str(tmp_path / other), overwrite=True) as draft:
        assert (tmp_path / other / "part").read_text() == "old"
        write(draft, "new")
    assert names(tmp_path) == sorted(["out", other])


@pytest.mark.parametrize("there", [True, False], ids=["overwritten", "new"])
def test_a_link_stays_and_leads_to_the_result(tmp_path: Path, *, there: bool) -> None:
    big, out = tmp_path / "big", tmp_path / "home" / "out"
    big.mkdir()
    out.parent.mkdir()
    out.symlink_to("../big/result")
    if there:
        write(str(big / "result"), "old")
    with staged(str(out), overwrite=there) as draft:
        write(draft, "new")
    assert out.is_symlink()
    assert (big / "result" / "part").read_text() == "new"
    assert (names(big), names(out.parent)) == (["result"], ["out"])


@pytest.mark.parametrize("out", ["n" * 230, "a file/out"])
def test_a_place_where_nothing_can_be_is_told(tmp_path: Path, out: str) -> None:
    (tmp_path / "a file").touch()
    with pytest.raises(dr.MessagesError, match=r"cannot be written there: .*choose another place, or another name"):
        staged(str(tmp_path / out), overwrite=False).__enter__()
    assert names(tmp_path) == ["a file"]


def test_of_two_runs_with_one_file_of_counts_one_is_there_whole(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"

    def rows(count: int) -> pa.Table:
        one = {"kind": "queue", "vhost": "/", "name": "q", "key": None, "messages": 1}
        return pa.Table.from_pylist([one] * count, COUNTS)

    with counts_file(str(path)) as write_one:
        assert write_one is not None
        write_one(rows(3))
        with counts_file(str(path)) as write_other:
            assert write_other is not None
            write_other(rows(5))
        assert pq.read_table(path).num_rows == 5
        write_one(rows(4))
    assert pq.read_table(path).num_rows == 7
    assert names(tmp_path) == ["counts.parquet"]


def test_counts_of_a_killed_run_are_removed_by_the_next(tmp_path: Path) -> None:
    for ending in ("partial", "lock"):
        (tmp_path / f".counts.{'ab' * 16}.{ending}").touch()
    with counts_file(str(tmp_path / "counts")):
        pass
    assert names(tmp_path) == ["counts"]
