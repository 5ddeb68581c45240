"""What commands show while they run: how fast it goes, and how long it will take."""

from __future__ import annotations

import io
import logging

import pytest
from rich.console import Console

from dfa_router.cli import running, terminal
from dfa_router.cli.fuzz_progress import _status
from dfa_router.fuzz.generating.classes import CLASSES, HISTORIES, MANY_WORDS, REFUSALS
from dfa_router.fuzz.tally import Tally


def _said(monkeypatch: pytest.MonkeyPatch, label: str, done: int, total: int, *, redrawn: bool) -> str:
    """Return what was said of messages when so many of them were done in 20 s."""
    now = [100.0]
    monkeypatch.setattr("dfa_router.cli.terminal.time.monotonic", lambda: now[0])
    console = Console(file=io.StringIO(), force_terminal=redrawn, width=120)
    with terminal.Terminal(console=console).progress(units={label: "messages"}) as report:
        assert report is not None
        report(label, 0, 0)
        now[0] += 20
        report(label, done, total)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("redrawn", [False, True])
def test_what_has_a_unit_of_its_own_shows_its_rate_and_the_time_that_is_left(
    monkeypatch: pytest.MonkeyPatch, *, redrawn: bool
) -> None:
    assert "messages, 50/s, 1:00 left" in _said(monkeypatch, "routing", 1_000, 4_000, redrawn=redrawn)


@pytest.mark.parametrize("redrawn", [False, True])
def test_where_nobody_knows_how_many_there_will_be_no_time_is_said_to_be_left(
    monkeypatch: pytest.MonkeyPatch, *, redrawn: bool
) -> None:
    said = _said(monkeypatch, "reading", 1_000, 0, redrawn=redrawn)
    assert "messages, 50/s" in said
    assert "left" not in said
    assert "of 0" not in said


def test_a_terminal_takes_no_orders_from_lines_and_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.Terminal().show("one \x1b[2J\ntwo")
    restore = running._log_to_stderr(quiet=False, verbose=False)
    logging.getLogger("dfa_router").warning("a queue %s", "\x1b]0;x")
    restore()
    assert capsys.readouterr().err == "one \\x1b[2J\ntwo\nWARNING: a queue \\x1b]0;x\n"


def test_a_warning_stands_above_the_bar_of_progress(capsys: pytest.CaptureFixture[str]) -> None:
    """It was written behind the bar, on its line, and what there was of the bar then stayed."""
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    restore = running._log_to_stderr(quiet=False, verbose=False)
    try:
        with terminal.Terminal(console=console).progress():
            logging.getLogger("dfa_router").warning("a queue")
        logging.getLogger("dfa_router").warning("another queue")
    finally:
        restore()
    assert isinstance(console.file, io.StringIO)
    assert "\x1b[2KWARNING: a queue\n" in console.file.getvalue()
    assert capsys.readouterr().err == "WARNING: another queue\n"


def test_a_failed_start_of_the_clock_divides_by_nothing() -> None:
    begun = terminal._Begun()
    assert begun.rate("routing", 0, 10, "messages") == "messages"


def test_the_first_round_of_the_fuzz_tester_is_one_round() -> None:
    tally = Tally()
    tally.rounds = tally.cases = tally.classes["case"] = 1
    assert _status(tally, 0.5) == "0 s: 1 round of 1 class, 1 case, 2 cases/s, 0 findings"


def test_progress_counts_the_classes_that_the_summary_counts() -> None:
    tally = Tally(rounds=2, cases=4)
    tally.classes.update([*(entry.name for entry in CLASSES), HISTORIES, MANY_WORDS, REFUSALS])
    assert f"2 rounds of {len(CLASSES)} classes" in _status(tally, 1.0)
