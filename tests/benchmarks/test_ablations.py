"""Each choice that is taken out is there: a line that moved would make the table a lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.ablations import ABLATIONS, ROOT, Ablation, Change, changed


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
