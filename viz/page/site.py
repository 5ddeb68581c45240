"""A site of lessons for any static host: an index, the page, an essay that scrolls, and five lessons, each one file.

Every file is the page itself with some text above it (:mod:`viz.page.lessons`), so a site has no parts that could be missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from viz.page.html import page, style
from viz.page.lessons import ESSAY, LESSONS, Lesson, Part
from viz.text import markup, visible

__all__ = ["as_is", "lesson_page", "site_pages"]

_BACKQUOTE = "\ue000"
"""What stands for the backquote of a name: it is for private use, so no text that was made visible has one."""
_HOME = '<a class="button" href="index.html">All lessons</a>'


def site_pages(first: str, dialects: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the files of a site by their names; ``first`` is the page without a lesson, ``page.html``."""
    pages = {"index.html": _index(), "page.html": first, "essay.html": _page(ESSAY, dialects, essay=True)}
    for number, lesson in enumerate(LESSONS, 1):
        pages[_name(number)] = _page(lesson, dialects, number=number)
    return pages


def lesson_page(lesson: Lesson, dialects: Sequence[Mapping[str, Any]]) -> str:
    """Return the page with a text above it that is no lesson of a site; it begins with what the first part shows."""
    return _page(lesson, dialects, home="")


def _name(number: int) -> str:
    return f"lesson-{number}.html"


def _page(
    lesson: Lesson, dialects: Sequence[Mapping[str, Any]], *, number: int = 0, essay: bool = False, home: str = _HOME
) -> str:
    first = next(part.shows for part in lesson.parts if part.shows)
    settings = parse_qs(first[1:], keep_blank_values=True)
    return page(
        settings["p"],
        settings.get("k", [""]),
        dialect=settings["d"][0],
        dialects=dialects,
        cache_bytes=int(settings["c"][0]),
        heading=f"{number}. {lesson.title}" if number else lesson.title,
        introduction=_introduction(lesson, number=number, essay=essay),
        home=home,
        kind="with-essay" if essay else "",
    )


def _introduction(lesson: Lesson, *, number: int, essay: bool) -> str:
    parts = "".join(_part(part, essay=essay) for part in lesson.parts)
    if essay:
        return f'<section class="essay" aria-label="Essay">{parts}</section>'
    following = (
        f'<p><a href="{_name(number + 1)}">Next: {LESSONS[number].title}</a></p>' if 0 < number < len(LESSONS) else ""
    )
    return f'<section class="card introduction lesson" aria-label="Lesson">{parts}{following}</section>'


def _part(part: Part, *, essay: bool) -> str:
    text = f"<p>{_set(part.text)}</p>"
    if part.answer:
        text += f"<details><summary>The answer</summary><p>{_set(part.answer)}</p></details>"
    attributes = f' class="card" data-shows="{markup(part.shows)}"' if essay else ""
    link = f'<p><a class="button" href="{markup(part.shows)}">{markup(part.label)}</a></p>' if part.shows else ""
    return f"<section{attributes}>{text}{link}</section>"


def as_is(text: str) -> str:
    """Return text, such as a name, to stand in a :class:`~viz.page.lessons.Part` as it is: its backquotes set no code."""
    return visible(text).replace("`", _BACKQUOTE)


def _set(text: str) -> str:
    """Return text as markup, with code between backquotes."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", markup(text)).replace(_BACKQUOTE, "`")


def _index() -> str:
    rows = "".join(
        f'<li><a href="{_name(number)}">{markup(lesson.title)}</a>: {_set(lesson.parts[0].text)}</li>'
        for number, lesson in enumerate(LESSONS, 1)
    )
    return f"""<!doctype html>
<html lang="en" data-theme="auto">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="color-scheme" content="light dark">
<title>From a pattern to a lazy DFA, in five lessons</title>
<link rel="icon" href="data:,">
<style>{style()}</style>
</head>
<body>
<header class="top"><h1>From a pattern to a lazy DFA, in five lessons</h1></header>
<main>
<section class="card introduction"><ol>{rows}</ol></section>
<section class="card introduction"><p><a href="essay.html">{markup(ESSAY.title)}</a>: all of it in six sections that scroll.</p>
<p><a href="page.html">The page</a>: your own patterns and keys, in all dialects, with a link to whatever it shows.</p></section>
</main>
<footer class="muted">Made by dfa-router. Nothing here asks anything of any other machine.</footer>
</body>
</html>
"""
