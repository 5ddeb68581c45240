"""Tables of commands in terminals of all widths: names can be read."""

from __future__ import annotations

import io

from rich.console import Console

from dfa_router.cli.tables import LONG_KEY, more_than, shown, table_of


def test_one_more_is_called_one() -> None:
    assert list(more_than(2, 3, "queue")) == ["... and 1 more queue; --top 0 shows all"]
    assert list(more_than(2, 3, "reason", "why")) == ["... and 1 more reason why; --top 0 shows all"]
    assert list(more_than(2, 3)) == ["... and 1 more; --top 0 shows all"]
    assert list(more_than(2, 2, "queue")) == []


def test_a_long_key_has_both_ends_and_its_length_and_takes_no_orders() -> None:
    key = "order." + "x" * 300 + "\x1b[31m.paid"
    said = shown(key, LONG_KEY).plain
    assert said.startswith("order.xxx")
    assert said.endswith("x\\x1b[31m.paid (316 characters)")
    assert len(said) < LONG_KEY + 20
    for whole in ("k" * LONG_KEY, "", None):
        assert shown(whole, LONG_KEY) == shown(whole)


def _drawn(width: int) -> list[str]:
    """Return the lines of a table of two rows in a terminal of so many columns."""
    table = table_of("queue", "example", "before", "after", "gained", "lost", numbers=4)
    table.add_row(shown("shipping.eu (shop)"), shown("orders order.eu.paid"), "4", "2", "0", "2")
    table.add_row(shown("a"), shown(""), "1", "1", "0", "0")
    written = io.StringIO()
    Console(file=written, width=width).print(table)
    return [line.rstrip() for line in written.getvalue().splitlines()]


def test_a_narrow_terminal_gets_rows_as_lists_and_a_wide_one_as_lines() -> None:
    assert _drawn(80) == [
        "queue               example               before  after  gained  lost",
        "shipping.eu (shop)  orders order.eu.paid       4      2       0     2",
        'a                   ""                         1      1       0     0',
    ]
    assert _drawn(40) == [
        *("queue    shipping.eu (shop)", "example  orders order.eu.paid", "before   4", "after    2", "gained   0"),
        *("lost     2", "", "queue    a", 'example  ""', "before   1", "after    1", "gained   0", "lost     0"),
    ]


def test_no_word_is_broken_where_it_has_room_in_a_line_of_its_own() -> None:
    for width in range(25, 90):
        lines = _drawn(width)
        assert all(len(line) <= width for line in lines)
        assert any("shipping.eu" in line for line in lines), width
        assert any("order.eu.paid" in line for line in lines), width
