"""The terminal drawing: narrow, whole, and words as words."""

from __future__ import annotations

import re

import pytest

from compiler import build_dfa
from compiler.errors import InputError
from dfa_router.language.dialects import DIALECTS
from dfa_router.language.rules import compile_nfa
from tests.viz.material import ATTACKS, FOUR, KEY, random_sets
from viz import show
from viz.patterns import nfa_of
from viz.terminal.automata import show_dfa, show_nfa
from viz.terminal.match import show_match
from viz.text import cells


def test_the_four_patterns_in_eighty_columns() -> None:
    text = show(nfa_of(FOUR), KEY, dfa=build_dfa(nfa_of(FOUR)), names=FOUR, width=80)
    assert max(map(cells, text.splitlines())) <= 80
    assert "…" not in text, "nothing is cut"
    assert " │    ├─ε─(3)↻\n │    │    └─c─(7)  ✓ a.#.c\n" in text
    assert "> 0    {0}        a→2, b→3, other→∅\n" in text
    assert text.endswith(
        "Match of a.d.d.d.c\n"
        "   word  NFA positions  DFA  transition\n"
        "   start {0}              0\n"
        "1  a     {1,3}            2  built\n"
        "2  d     {3,4}            3  built\n"
        "3  d     {3}              4  built\n"
        "4  d     {3}              4  built\n"
        "5  c     {3,7}            5  built\n"
        "✓ a.#.c  accepts\n"
        "✗ a.b.c  failed at word 2, d\n"
        "✗ a.*.b.c  failed at word 3, d\n"
        "✗ b.b.c  failed at word 1, a\n"
        "The cache has 6 states and 6 transitions.\n"
        "The DFA looked up 5 words; a trie with backtracking 7, entering 9 nodes."
    )


def test_sets_of_positions_take_the_room_that_a_terminal_has() -> None:
    patterns = [f"#.{word}{'.*' * 11}" for word in ("eu", "us")]
    nfa = nfa_of([f"w{number}.x" for number in range(100)] + patterns)
    texts = {width: show_match(nfa, ".".join(["eu"] * 11), width=width) for width in (60, 80)}
    assert "{1,102,204,206,208,210,212,214,216,218,220,222}" in texts[80]
    assert "{1,102,204,206,208,210,212,214,21…" in texts[60]
    assert all(max(map(cells, text.splitlines())) <= width for width, text in texts.items())


def test_the_columns_of_a_dfa_are_straight_where_the_terminal_has_room() -> None:
    dfa = build_dfa(nfa_of([*(f"w{number}.x" for number in range(100)), f"#.eu{'.*' * 6}"]), max_states=400)

    def columns(width: int) -> set[int]:
        text = show_dfa(dfa, width=width)
        return {len(row.group()) for row in re.finditer(r"^.*} +(?=\S)", text, re.MULTILINE)}

    assert len(columns(160)) == 1 < len(columns(80))


@pytest.mark.parametrize("width", [20, 40, 80])
def test_no_line_is_wider_than_asked(width: int) -> None:
    patterns = [f"{word.replace('.', '')}.#" for word in ATTACKS]
    nfa = nfa_of(patterns)
    for key in (f"{ATTACKS[0]}..x", f"日本語.{'x' * 200}", ""):
        text = show(nfa, key, dfa=build_dfa(nfa), names=patterns, width=width)
        assert max(map(cells, text.splitlines())) <= width


@pytest.mark.parametrize("width", [20, 40, 60])
def test_narrow_lines_fold_and_lose_nothing(width: int) -> None:
    """What is there is there in the same order: all but what is drawn, and the marks of what is left of a deep tree."""

    def content(columns: int) -> str:
        drawn = show(nfa, "stock.nyse.ibm", dfa=build_dfa(nfa), names=patterns, width=columns)
        return re.sub(r"[\s│└├─…]", "", drawn)

    patterns = ["a.*.b", "stock.nyse.#", "stock.*.ibm", f"stock.#.{'x' * 50}", "日本語.日本語.日本語.日本語"]
    nfa = nfa_of(patterns)
    assert content(width) == content(500)


@pytest.mark.parametrize("width", [5, 11])
def test_lines_end_where_not_even_their_indent_or_a_character_has_room(width: int) -> None:
    nfa = nfa_of(["日本語.a.#", "b.日本語"])
    text = show(nfa, "日本語.a", dfa=build_dfa(nfa), names=["日本", "b"], width=width)
    assert max(map(cells, text.splitlines())) <= width
    assert text.count("日") > 2


def test_what_accepts_stands_below_where_it_has_no_room_beside() -> None:
    patterns = ["stock.nyse.#", "stock.nyse.a.b"]
    assert show(nfa_of(patterns), names=patterns, width=30).splitlines()[2:6] == [
        " └─stock─(1)",
        "          └─nyse─(2)",
        "                  ├─ε─(3)↻",
        "                ✓ stock.nyse.#",
    ]
    table = show(nfa_of(patterns), dfa=build_dfa(nfa_of(patterns)), names=patterns, width=40).splitlines()
    assert table[-3:] == [
        "       stock.nyse.#, stock.nyse.a.b",
        "> start, ∅ the dead state, ! no further",
        "word changes the state",
    ]


def test_attacking_words_cannot_drive_the_terminal() -> None:
    patterns = [word.replace(".", "") for word in [*ATTACKS, "\x1b[31mred", "\x9b2J", "\r"]]
    text = show(nfa_of(patterns), patterns[-3], names=patterns, width=200)
    assert not {character for character in text if ord(character) < 32 and character != "\n"}
    assert not set(text) & set("\x7f\x9b\u202e\u200b")
    assert "␛[31mred" in text


@pytest.mark.parametrize("width", [20, 80])
def test_what_a_cut_automaton_says_of_the_rest_is_no_wider_than_asked(width: int) -> None:
    nfa = nfa_of([f"w{i:03}" for i in range(500)])
    assert max(map(cells, show(nfa, dfa=build_dfa(nfa), width=width).splitlines())) <= width


def test_marks_on_a_letter_take_no_cell() -> None:
    assert [cells(word) for word in ("กั้น", "नमस्ते", "e\u0301", "日本", "👍\ufe0f")] == [2, 4, 1, 4, 2]


def test_a_key_that_begins_at_another_root_cannot_match_what_is_not_there() -> None:
    nfa = compile_nfa([b"#", b"$SYS/#", b"$SYS/x/y", b"$SYS/z"], DIALECTS["mqtt"])
    lines = show_match(nfa, "$SYS/x", names=["#", "$SYS/#", "$SYS/x/y", "$SYS/z"], separator=b"/").splitlines()
    assert [line for line in lines if line[0] in "✓✗"] == [
        "✓ $SYS/#  accepts",
        "✗ #  cannot match",
        "✗ $SYS/x/y  failed: the key ended too soon",
        "✗ $SYS/z  failed at word 2, x",
    ]


def test_a_cached_transition_is_told_from_a_built_one() -> None:
    lines = show_match(nfa_of(["#.a"]), "b.b.b").splitlines()
    assert [line.split()[-1] for line in lines if line[:1].isdigit()] == ["built", "cached", "cached"]


def test_large_automata_are_cut_and_say_so() -> None:
    text = show_nfa(nfa_of([f"w{i}" for i in range(1000)]))
    assert len(text.splitlines()) < 420
    assert "positions more" in text
    with pytest.raises(InputError, match="words, more than the 400"):
        show_match(nfa_of(["#"]), ".".join(["a"] * 500))


@pytest.mark.parametrize("accepting", [1, 2, 60])
def test_of_many_bindings_some_have_a_line_and_the_rest_are_counted(accepting: int) -> None:
    patterns = [f"a.{'#.' * (number % 2)}x{number}" for number in range(60 - accepting)] + ["a.#"] * accepting
    lines = show_match(nfa_of(patterns), "a.b").splitlines()
    verdicts = [line for line in lines if line[0] in "✓✗"]
    assert len(verdicts) == 20
    assert sum(line.startswith("✓") for line in verdicts) == min(accepting, 20)
    told = "1 binding of 60 accepts" if accepting == 1 else f"{accepting} bindings of 60 accept"
    assert lines[lines.index(verdicts[-1]) + 1] == f"… {told}"


def test_random_sets_end_with_the_bindings_that_accept() -> None:
    for patterns, key in random_sets(6, 100):
        nfa = nfa_of(patterns)
        lines = show_match(nfa, key, width=200).splitlines()
        accepted = [int(line.split()[1]) for line in lines if line.startswith("✓")]
        assert tuple(accepted) == build_dfa(nfa).match(key.encode().split(b".") if key else [])
