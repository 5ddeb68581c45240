"""The page's scripts, in the order in which they are needed, and the dialects that they read as plain values.

The page compiles in the browser what its reader types, so the compiler is there in JavaScript: text, dialects, automata, the
cache, the machine. ``layout`` is dagre 3.1.3 by Chris Pettitt and others (MIT licence, beside it), as it comes from the npm
registry; its checksum is tested. The other scripts are the page itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["AMQP", "DAGRE_SHA256", "ENGINE", "part", "script"]

DAGRE_SHA256 = "54a503e346f93ca0bb10abe7999587e037262935687aca45eb4e4b0f64bbb578"
"""Of ``vendor/dagre.min.js``."""

ENGINE = ("text", "language", "automaton", "growing", "cache", "machine")
"""The scripts that need no page: tests run them in Node.js as well."""
_PAGE = ("picture", "stream", "pictures", "panels", "predict", "editor", "exports", "page")

AMQP: Mapping[str, Any] = {
    "name": "amqp",
    "separator": ".",
    "one": "*",
    "many": "#",
    "some": None,
    "tail_only": False,
    "stray_tail": "refused",
    "inner_wildcards": "literal",
    "empty_text": True,
    "empty_words": True,
    "wildcard_keys": True,
    "dropped": "",
    "forbidden": "",
    "reserved": None,
    "unseen": None,
    "shared": None,
    "max_bytes": 255,
    "max_words": None,
    "max_many": None,
}
"""The dialect of a page that was given none: AMQP 0-9-1. The fields are those of :class:`dfa_router.Dialect`, as text."""


@cache
def script() -> str:
    """Return all scripts of the page as one."""
    return "\n".join([part("vendor/dagre.min.js"), *(part(f"script/{name}.js") for name in (*ENGINE, *_PAGE))])


@cache
def part(name: str) -> str:
    """Return a file of this folder as text."""
    return files("viz").joinpath("page", name).read_text(encoding="utf-8")
