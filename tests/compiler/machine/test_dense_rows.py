"""When a cache is written out as rows: after keys for which nothing was built, and later where that was in vain before."""

from __future__ import annotations

from compiler import build_nfa
from compiler.machine.dense_rows import MOST_TIMES, QUIET_KEYS, DenseRows
from compiler.machine.lazy import LazyDfa
from tests.compiler.machines import column

PATTERNS = [[b"a", b"b"], [b"c"]]
KEYS = [b"a.b", b"c", b"b"]


def settled() -> tuple[LazyDfa, DenseRows]:
    """Return a machine that has rows, and these."""
    machine = LazyDfa(build_nfa(PATTERNS), b".", 1 << 20)
    for _ in range(3):
        machine.match_batch([column(KEYS * QUIET_KEYS)])
    rows = machine._walkers[0]._dense_rows
    assert rows.nbytes
    return machine, rows


def quiet_keys_until_long_enough(rows: DenseRows) -> int:
    """Count the keys that must go by before there are rows, in calls of as many as may go by at once."""
    keys = 0
    while not rows.long_enough:
        count = rows.most_keys
        rows.note(count, built=False)
        keys += count
    return keys


def test_keys_must_go_by_quietly_for_longer_each_time_that_something_was_built_before() -> None:
    _, rows = settled()
    rows.note(0, built=True)  # rows had been good for long
    expected = [QUIET_KEYS << doublings for doublings in range(6)]
    for count in expected:
        rows.note(QUIET_KEYS, built=True)
        assert rows.most_keys == min(2 * count, MOST_TIMES * QUIET_KEYS)
    assert quiet_keys_until_long_enough(rows) == MOST_TIMES * QUIET_KEYS


def test_stretches_that_are_shorter_than_any_trial_say_nothing() -> None:
    _, rows = settled()
    rows.note(0, built=True)
    for keys in (16, 32, 64, QUIET_KEYS - 1):
        rows.note(keys, built=True)
    assert quiet_keys_until_long_enough(rows) == QUIET_KEYS


def test_rows_that_were_dropped_soon_are_made_later_and_those_that_were_good_for_long_as_soon_as_at_first() -> None:
    machine, rows = settled()
    rows.note(0, built=True)
    machine.match_batch([column((KEYS * QUIET_KEYS)[: QUIET_KEYS + 100])])
    assert rows.nbytes  # for a hundred keys
    rows.note(0, built=True)
    assert quiet_keys_until_long_enough(rows) == 2 * QUIET_KEYS
    machine.match_batch([column(KEYS * QUIET_KEYS)])
    rows.note(0, built=True)
    assert quiet_keys_until_long_enough(rows) == QUIET_KEYS
