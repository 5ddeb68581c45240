"""The page that steps through matches: one HTML file that opens from disk, needs no network and asks nothing of anybody.

Data, style and script are in the file itself. Its content security policy names the script by its hash, so that a browser runs
no other script and loads nothing from elsewhere; what a reader types is compiled by that script.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from viz.examples import EXAMPLES
from viz.formats.style import DARK, LIGHT, Theme, colours
from viz.page.scripts import AMQP, part, script
from viz.patterns import MAX_PATTERNS, checked_key, nfa_of
from viz.text import markup, shown, visible

__all__ = ["CACHE_BYTES", "page", "teach"]

CACHE_BYTES = 64 << 20
"""The bound on the cache of a page that was given none."""


def teach(
    patterns: Sequence[str],
    key: str | Sequence[str],
    path: str | Path | None = None,
    *,
    cache_bytes: int = CACHE_BYTES,
) -> str:
    """Return the page that steps through the match of a key, or of several one after the other, as HTML.

    It is written to ``path`` if one is given. Patterns are those of AMQP; the command ``dfa-router teach`` knows all dialects.
    Raises :class:`PatternError` or :class:`InputError` for what AMQP cannot carry or a page cannot show.
    """
    keys = [checked_key(one) for one in ([key] if isinstance(key, str) else key)]
    nfa_of(patterns, max_patterns=MAX_PATTERNS)
    html = page(patterns, keys, cache_bytes=cache_bytes)
    if path is not None:
        Path(path).write_text(html, encoding="utf-8")
    return html


def page(
    patterns: Sequence[str],
    keys: Sequence[str],
    *,
    dialect: str = "amqp",
    dialects: Sequence[Mapping[str, Any]] = (AMQP,),
    cache_bytes: int = CACHE_BYTES,
    heading: str = "Step through a match",
    introduction: str = "",
    home: str = "",
    kind: str = "",
) -> str:
    """Return the page as HTML; ``introduction`` and ``home`` are markup that stands above the patterns and among the tools, and
    ``kind`` is a class of the body.

    ``dialects`` are those that a reader can choose, as plain values; ``dialect`` is the name of the one to begin with.
    """
    text = script()
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; connect-src 'none'; "
        "base-uri 'none'; form-action 'none'"
    )
    count = len(patterns)
    title = f"{shown(keys[0] if keys else '', 60)} through {count} pattern{'' if count == 1 else 's'}, step by step"
    settings = {
        "patterns": list(patterns),
        "keys": list(keys),
        "dialect": dialect,
        "capacity": cache_bytes,
        "dialects": list(dialects),
        "examples": [
            example._asdict() for example in EXAMPLES if any(example.dialect == one["name"] for one in dialects)
        ],
    }
    parts = {
        "@CSP@": policy,
        "@TITLE@": markup(visible(title)),
        "@HEADING@": markup(heading),
        "@KIND@": kind,
        "@HOME@": home,
        "@INTRODUCTION@": introduction,
        "@CSS@": style(),
        "@SETTINGS@": _json(settings),
        "@SCRIPT@": text,
    }
    html = part("page.html")
    # The page is split at all placeholders before any is filled in: a word that looks like a placeholder stays a word.
    for name in parts:
        html = html.replace(name, f"\0{name}\0")
    return "".join(parts.get(piece, piece) for piece in html.split("\0"))


def _json(data: object) -> str:
    """Write JSON for a script element, with ``<``, ``>`` and ``&`` escaped: no word in it can end the element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def style() -> str:
    """Return the style sheet, for this page and those that stand beside it on a site."""
    dark = _variables(DARK) + "color-scheme:dark;--card:#161c23;--page:#0b0f14;--edge:#2c3641;--shade:none;"
    return (
        part("page.css")
        .replace("@LIGHT@", _variables(LIGHT))
        .replace(
            "@DARKRULE@",
            f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {dark} }} }}\n"
            f":root[data-theme=dark] {{ {dark} }}",
        )
    )


def _variables(theme: Theme) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours(theme).items())
