"""The page that steps through a match: one HTML file that opens from disk and asks nothing of any network.

Pictures, data, style and script stand in the file itself. A content security policy, which names the script by its
hash, lets the browser enforce what the file promises.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from viz.lesson import Lesson, lesson
from viz.style import DARK, LIGHT, Theme, colours
from viz.text import markup, shown, visible

__all__ = ["page", "teach"]


def teach(patterns: Sequence[str], key: str, path: str | Path | None = None) -> str:
    """Return the page that steps through the match of a key, and write it to ``path`` if there is one.

    Raises what :func:`viz.lesson.lesson` raises.
    """
    html = page(lesson(patterns, key))
    if path is not None:
        Path(path).write_text(html, encoding="utf-8")
    return html


def page(data: Lesson) -> str:
    """Return the page of a lesson."""
    script = _part("engine.js") + "\n" + _part("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    server = "'self'" if data["editable"] else "'none'"
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        f"connect-src {server}; base-uri 'none'; form-action 'none'"
    )
    # The pictures stand in the page as they are; the data need not hold them twice.
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
    # Split at the placeholders first, so that what is filled in is never searched for placeholders.
    for name in parts:
        html = html.replace(name, f"\0{name}\0")
    return "".join(parts.get(part, part) for part in html.split("\0"))


def _json(data: object) -> str:
    """Write JSON that cannot end the script element that it stands in, whatever words it holds."""
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
