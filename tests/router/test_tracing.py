"""What ``dr.trace`` says to wrong input; what it tells of keys is tested with the pages that show it."""

from __future__ import annotations

from typing import Any

import pytest

import dfa_router as dr
from compiler.prepare import jit_enabled

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="without kernels there is nothing to trace")

ROUTER = dr.compile([("a.*", "q")])


@pytest.mark.parametrize("keys", ["a.b", b"a.b", 5, None])
def test_one_key_is_not_taken_for_a_list_of_its_characters(keys: Any) -> None:
    with pytest.raises(dr.KeyTypeError, match=r"keys is .*: expected routing keys in a list"):
        dr.trace(ROUTER, keys)


@pytest.mark.parametrize("bound", [True, "1", 1.5, -1])
def test_a_bound_that_is_none_is_refused_as_when_a_router_is_compiled(bound: Any) -> None:
    for ask in (lambda: dr.trace(ROUTER, ["a.b"], cache_bytes=bound), lambda: dr.compile([], cache_bytes=bound)):
        with pytest.raises(dr.OptionError, match=r"cache_bytes is .*: expected a number of bytes"):
            ask()


def test_keys_that_a_dialect_refuses_are_told_from_each_other_by_their_hashes() -> None:
    """Each was compared with all that were told before it."""
    compared: list[bytes] = []

    class Key(bytes):
        def __eq__(self, other: object) -> bool:
            compared.append(self)
            return bytes(self) == other

        __hash__ = bytes.__hash__

    router = dr.compile([("a.>", "q")], dialect="nats")
    keys = [Key(b"a..%d" % (number % 100)) for number in range(300)]
    told = dr.trace(router, [b"a.b", *keys, b"a.b"])
    assert [one.route for one in told] == ["read", *["refused"] * 100, *["remembered"] * 201]
    assert [one.tags for one in told] == [(0,), *[()] * 300, (0,)]
    assert len(compared) < 10 * len(keys)


def test_a_bound_of_its_own_changes_what_the_record_says_and_no_answer() -> None:
    small, large = (dr.trace(ROUTER, ["a.b", "a.c"], cache_bytes=bound) for bound in (0, 1 << 20))
    assert [one.tags for one in small] == [one.tags for one in large] == [(0,), (0,)]
    assert (small[-1].stats.states, large[-1].stats.states > 0) == (0, True)


@pytest.mark.parametrize("router", [5, None, [("a.*", "q")], "router.dfar"])
def test_what_is_no_router_is_told(router: Any) -> None:
    with pytest.raises(dr.OptionError, match=r"router is .*: expected what dfa_router\.compile or load has returned"):
        dr.trace(router, ["a.b"])
