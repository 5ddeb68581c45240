"""The ablations: the lines of each choice are in the sources once, and a run tells what is lost without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import __main__ as cli
from benchmarks.ablations import ABLATIONS, ROOT, Ablation, Change, Measured, changed, run, turns, write
from dfa_router.cli.exit_codes import ExitCode


@pytest.mark.parametrize("ablation", ABLATIONS, ids=lambda ablation: ablation.choice)
def test_the_lines_of_a_choice_are_there_once(ablation: Ablation) -> None:
    for change in ablation.changes:
        assert (ROOT / change.file).read_text().count(change.lines) == 1


def test_a_copy_lacks_the_choice_and_nothing_else(tmp_path: Path) -> None:
    ablation = ABLATIONS[0]
    folder = changed(ablation, tmp_path)
    for change in ablation.changes:
        assert change.without in (folder / change.file).read_text()
    assert (folder / "compiler/machine/walker.py").read_text() == (ROOT / "compiler/machine/walker.py").read_text()


def test_a_line_that_is_gone_is_an_error(tmp_path: Path) -> None:
    gone = Ablation("x", (Change("compiler/kernels/tables.py", "no such line", ""),))
    with pytest.raises(ValueError, match="0 times"):
        changed(gone, tmp_path)


def answers(folder: Path, _cache: Path) -> tuple[dict[str, float], dict[str, list[int]]]:
    """In place of a process that measures: the engine without the choice takes 3 ns a key, and the whole one 2."""
    return {"stock cold": 2.0 if folder == ROOT else 3.0}, {"stock": [1, 2]}


def test_a_run_measures_each_choice_in_each_round(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(turns, "_measured", answers)
    some = ABLATIONS[:2]
    measured = run(some, rounds=2, progress=told.append)
    assert measured.whole == {"stock cold": 2.0}
    assert measured.without == {ablation.choice: {"stock cold": 3.0} for ablation in some}
    assert told[1:] == [
        f"round {number} of 2: {choice}"
        for number in (1, 2)
        for choice in ("the engine as it is", *(ablation.choice for ablation in some))
    ]


def test_an_engine_that_answers_otherwise_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(folder: Path, _cache: Path) -> tuple[dict[str, float], dict[str, list[int]]]:
        return {"stock cold": 1.0}, {"stock": [1, 2 if folder == ROOT else 3]}

    monkeypatch.setattr(turns, "_measured", wrong)
    with pytest.raises(ValueError, match="without this choice"):
        run(ABLATIONS[:1], rounds=1)


def test_the_page_has_the_ratios(tmp_path: Path) -> None:
    measured = Measured(rounds=3, whole={"stock cold": 2.0}, without={"a choice": {"stock cold": 3.0}})
    text = write(measured, tmp_path / "new", command="the command").read_text("utf-8")
    assert "`the command`" in text
    assert "| the engine as it is, ns a key | 2 |" in text
    assert "| a choice | 1.50 |" in text


def test_the_command_writes_the_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(turns, "_measured", answers)
    assert cli.run(["-q", "ablations", "--rounds", "1", "--out", str(tmp_path)]) == ExitCode.OK
    text = (tmp_path / "ablations.md").read_text("utf-8")
    assert "`python -m benchmarks ablations --rounds 1`" in text
    assert text.count("| 1.50 |") == len(ABLATIONS)
