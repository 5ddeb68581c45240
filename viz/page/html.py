"""The page that steps through a match: one HTML file that opens from disk and needs no network.

Pictures, data, style and script are in the file itself. Its content security policy names the script by its hash, so
that a browser runs no other script and loads nothing from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from viz.formats.style import DARK, LIGHT, Theme, colours
from viz.page.lesson import Lesson, lesson
from viz.text import markup, shown, visible

__all__ = ["page", "teach"]


def teach(patterns: Sequence[str], key: str, path: str | Path | None = None) -> str:
    """Return the page that steps through the match of a key, as HTML, and write it to ``path`` if one is given.

    Raises what :func:`viz.page.lesson.lesson` raises.
    """
    html = page(lesson(patterns, key))
    if path is not None:
        Path(path).write_text(html, encoding="utf-8")
    return html


def page(data: Lesson) -> str:
    """Return the page of a lesson, as HTML."""
    script = _part("engine.js") + "\n" + _part("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    server = "'self'" if data["editable"] else "'none'"
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        f"connect-src {server}; base-uri 'none'; form-action 'none'"
    )
    # The pictures are parts of the page itself; they are left out of the data.
    slim = {**data, "nfaSvg": "", "dfaSvg": ""}
    key = shown(data["key"], 60)
    count = len(data["patterns"])
    title = f"{key} through {count} pattern{'' if count == 1 else 's'}, step by step"
    parts = {
        "@CSP@": policy,
        "@TITLE@": markup(visible(title)),
        "@CSS@": _style(),
        "@NFA@": data["nfaSvg"],
        "@DFA@": data["dfaSvg"],
        "@LESSON@": _json(slim),
        "@SCRIPT@": script,
    }
    html = _part("page.html")
    # The page is split at all placeholders before any is filled in: a word that looks like a placeholder stays a word.
    for name in parts:
        html = html.replace(name, f"\0{name}\0")
    return "".join(parts.get(part, part) for part in html.split("\0"))


def _json(data: object) -> str:
    """Write JSON for a script element, with ``<``, ``>`` and ``&`` escaped: no word in it can end the element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _style() -> str:
    dark = _variables(DARK) + "color-scheme:dark;--card:#161c23;--page:#0b0f14;--edge:#2c3641;--shade:none;"
    return (
        _part("page.css")
        .replace("@LIGHT@", _variables(LIGHT))
        .replace(
            "@DARKRULE@",
            f"@media (prefers-color-scheme: dark) {{ :root:not([data-theme=light]) {{ {dark} }} }}\n"
            f":root[data-theme=dark] {{ {dark} }}",
        )
        .replace(
            "@SVGCOLOURS@",
            "\n".join(
                f".canvas svg [{attribute}='{colour}'] {{ {attribute}: var(--{name}); }}"
                for name, colour in colours(LIGHT).items()
                for attribute in ("fill", "stroke")
            ),
        )
    )


def _variables(theme: Theme) -> str:
    return "".join(f"--{name}:{colour};" for name, colour in colours(theme).items())


@cache
def _part(name: str) -> str:
    return files("viz").joinpath("page", name).read_text(encoding="utf-8")
