"""An answer is as large as its keys and their accept sets, whatever the cache holds, and right in every way of gathering it."""

from __future__ import annotations

import pytest

from compiler import Wildcard, build_nfa
from compiler.automata.twin import Twin
from compiler.machine import collector
from compiler.machine.lazy import LazyDfa
from tests.compiler.machines import answers, column

NFA = build_nfa([[Wildcard.MANY]] * 500 + [[b"a", b"%d" % word] for word in range(2000)])
KEYS = [b"a.%d" % word for word in range(2000)]


@pytest.mark.parametrize("rows", [1, 5, collector.SMALL, collector.SMALL + 1, 200])
def test_a_small_batch_has_a_small_answer(rows: int) -> None:
    """Two thousand cached sets of 501 bindings each are four megabytes, which every batch used to copy."""
    machine = LazyDfa(NFA, b".", 64 << 20)
    machine.match_batch([column(KEYS)])
    asked = [*KEYS[100 : 100 + rows], None]
    found = machine.match_batch([column(asked)])
    assert len(found.offsets) - 1 <= rows
    assert len(found.positions) <= 501 * rows
    twin = Twin(NFA, b".", 64 << 20)
    assert answers(machine, asked) == [None if key is None else list(twin.match(key)) for key in asked]


@pytest.mark.parametrize("small", [0, 10_000])
@pytest.mark.parametrize("few", [0, 16])
@pytest.mark.parametrize("dense", [0, 1 << 30])
@pytest.mark.parametrize("capacity", [20_000, 64 << 20])
def test_every_way_of_gathering_sets_is_right(
    monkeypatch: pytest.MonkeyPatch, small: int, few: int, dense: int, capacity: int
) -> None:
    for name, value in (("SMALL", small), ("FEW", few), ("DENSE", dense)):
        monkeypatch.setattr(collector, name, value)
    nfa = build_nfa([[Wildcard.MANY, b"a", Wildcard.ONE], [Wildcard.MANY, b"b", Wildcard.MANY], [b"a", b"b"]])
    keys = [b".".join([b"a", b"b", b"c"][number // 3**at % 3] for at in range(7)) for number in range(2000)]
    machine, twin = LazyDfa(nfa, b".", capacity), Twin(nfa, b".", 64 << 20)
    for some in (keys, keys[:50], [None, *keys[70:300]], keys[:1]):
        assert answers(machine, some) == [None if key is None else list(twin.match(key)) for key in some]
