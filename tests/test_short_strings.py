"""How long AMQP's short strings are is spelt where no other file may be asked, too: those agree."""

from __future__ import annotations

import dfa_router as dr
import viz.page.scripts
import viz.patterns
from dfa_router.short_strings import MAX_BYTES


def test_names_patterns_and_drawn_keys_may_be_equally_long() -> None:
    assert dr.AMQP.max_bytes == MAX_BYTES
    assert viz.patterns.MAX_BYTES == MAX_BYTES
    assert viz.page.scripts.AMQP["max_bytes"] == MAX_BYTES
