"""An audit as one page of HTML that needs nothing else: no network, no script, no file beside it.

Everything that comes from a broker or a log is escaped, and a policy in the page's head forbids scripts and anything from outside,
should a name get through all the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from dfa_router.counted import counted
from dfa_router.inspection.audit import Audit, Traffic
from dfa_router.inspection.charts import bar_chart, histogram, time_chart

__all__ = ["page_of"]

ROWS = 100
"""Of a table; the JSON form has all."""
BARS = 20
KEYS = 25

_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light; }}
body {{ font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222; }}
h1 {{ font-size: 1.5rem; }} h2 {{ font-size: 1.15rem; margin-top: 2.2rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid #ddd; vertical-align: top; overflow-wrap: anywhere; }}
td.number, th.number {{ text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }}
code {{ font-family: ui-monospace, monospace; font-size: .92em; white-space: pre-wrap; }}
svg {{ max-width: 100%; height: auto; }}
td:first-child span {{ white-space: nowrap; }}
.warning {{ color: #a1293b; font-weight: 600; }} .note {{ color: #666; }}
.scroll {{ overflow-x: auto; }}
</style>
</head>
<body>
"""


def page_of(audit: Audit, *, picture: str | None = None, why_none: str | None = None) -> str:
    """Return the page; ``picture`` is the topology as SVG, made by whoever draws, from escaped names, or ``why_none`` says why
    it could not be drawn.

    Raises :class:`EnvironmentLacksError` if there is no matplotlib.

    >>> from dfa_router.inspection.audit import Audit
    >>> page = page_of(Audit(source="<b>defs</b>", exchanges=1, queues=0, bindings=0, findings=[]))
    >>> "<b>" in page, "&lt;b&gt;defs" in page
    (False, True)
    """
    title = f"Audit of {audit.source or 'a topology'}"
    body = [
        _HEAD.format(title=_text(title)),
        f"<h1>{_text(title)}</h1>\n",
        f"<p>{audit.size_in_words}.</p>\n",
        *_findings(audit),
    ]
    if audit.traffic is not None:
        body += _traffic(audit.traffic)
    if picture is not None or why_none is not None:
        shown = (
            f'<div class="scroll">{picture}</div>' if picture is not None else f"<p>No picture: {_text(why_none)}</p>"
        )
        body += ["<h2>The topology, with its traffic</h2>\n", f"{shown}\n"]
    return "".join((*body, "</body>\n</html>\n"))


def _text(value: object) -> str:
    """Return text as HTML shows it; what no page can hold is shown by its number."""
    text = str(value)
    if not text.isprintable():
        text = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
    return escape(text)


def _findings(audit: Audit) -> Iterator[str]:
    yield "<h2>Findings in the declarations</h2>\n"
    if not audit.findings:
        yield "<p>None.</p>\n"
        return
    rows = [
        (f'<span class="{one.severity}">{one.severity}</span>', _text(one.rule), _text(one.vhost), _text(one.text))
        for one in audit.findings[:ROWS]
    ]
    yield _table(("", "rule", "vhost", "what"), rows, len(audit.findings))


def _traffic(traffic: Traffic) -> Iterator[str]:
    yield "<h2>Messages</h2>\n"
    counts = (
        ("messages", traffic.messages),
        ("routed", traffic.routed),
        ("unroutable", traffic.unroutable),
        ("undecided (they reach exchanges that are not simulated)", traffic.undecided),
        ("rows with problems", traffic.problem_rows),
        ("copies in all queues", traffic.copies),
    )
    yield _table(("", "messages"), [(_text(label), f"{count:,}") for label, count in counts], len(counts), numbers=1)
    if traffic.times:
        yield f"<h2>Over time</h2>\n{time_chart(traffic.times)}\n"
    if traffic.messages:
        yield f"<h2>Copies of a message</h2>\n{histogram(traffic.fan_out, 'copies of a message')}\n"
    busy = [one for one in traffic.queues if one.messages][:BARS]
    if busy:
        names = [_shown(one.queue, one.vhost) for one in busy]
        yield f"<h2>Copies per queue</h2>\n{bar_chart(names, [one.messages for one in busy], 'messages')}\n"
    yield from _unroutable(traffic)
    yield "<h2>Queues</h2>\n"
    sized = any(one.bytes is not None for one in traffic.queues)
    queues = [
        (
            _code(one.queue),
            _text(one.vhost),
            *([f"{one.bytes:,}"] if one.bytes is not None else []),
            f"{one.messages:,}",
        )
        for one in traffic.queues[:ROWS]
    ]
    columns = ("queue", "vhost", *(["bytes"] if sized else []), "messages")
    yield _table(columns, queues, len(traffic.queues), numbers=1 + sized)
    idle = [one for one in traffic.queues if not one.messages]
    yield f"<p>{counted(len(idle), 'queue')} got nothing.</p>\n"
    yield "<h2>Hottest bindings</h2>\n"
    hot = [one for one in traffic.bindings if one.messages]
    yield _bindings((_code(one.binding), _text(one.vhost), f"{one.messages:,}") for one in hot[:ROWS])
    cold = [one for one in traffic.bindings if not one.messages]
    yield f"<h2>Bindings that matched nothing: {len(cold):,}</h2>\n"
    rows = [(f"{one.position:,}", _code(one.binding), _text(one.vhost)) for one in cold[:ROWS]]
    yield _table(("bindings[...]", "binding", "vhost"), rows, len(cold))


def _unroutable(traffic: Traffic) -> Iterator[str]:
    if not traffic.unroutable:
        return
    yield "<h2>Unroutable messages, and the bindings nearest to them</h2>\n"
    rows = [
        (
            _code("null" if one.exchange is None else one.exchange or '""'),
            _code("null" if one.routing_key is None else one.routing_key or '""'),
            "<br>".join(map(_code, one.nearest)) or "none of that exchange",
            f"{one.messages:,}",
        )
        for one in traffic.unroutable_keys[:KEYS]
    ]
    yield _table(("exchange", "routing key", "nearest", "messages"), rows, len(traffic.unroutable_keys), numbers=1)


def _bindings(rows: Iterable[tuple[str, ...]]) -> str:
    held = list(rows)
    return _table(("binding", "vhost", "messages"), held, len(held), numbers=1)


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]], count: int, *, numbers: int = 0) -> str:
    """Return a table of cells that are HTML; the last columns, so many, are numbers."""
    names = list(columns)
    held = [list(row) for row in rows]

    def cells(tag: str, row: list[str]) -> str:
        parts = []
        for place, cell in enumerate(row):
            number = ' class="number"' if place >= len(names) - numbers else ""
            parts.append(f"<{tag}{number}>{cell}</{tag}>")
        return f"<tr>{''.join(parts)}</tr>\n"

    head = cells("th", [_text(name) for name in names])
    more = f"<p>... and {count - len(held):,} more.</p>\n" if count > len(held) else ""
    return f"<table>\n{head}{''.join(cells('td', row) for row in held)}</table>\n{more}"


def _code(text: str) -> str:
    return f"<code>{_text(text)}</code>"


def _shown(name: str, vhost: str) -> str:
    text = name if vhost == "/" else f"{name} ({vhost})"
    return text if text.isprintable() else "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
