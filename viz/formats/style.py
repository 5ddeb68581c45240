"""What each role looks like: a theme of colours, and a list of rules.

A rule is a condition and a style. The rules are applied in order, and a later one overrides an earlier one attribute by
attribute. The rules of a caller come last, so they change what they name and nothing else::

    to_dot(drawing, rules=[Rule("node", "accept", {"fillcolor": "gold"}),
                           Rule("edge", lambda edge: edge["visits"] > 9, {"color": "red"})])

The colours are from Okabe and Ito's palette for colour-blind readers, darkened for text. None of them carries a meaning
alone, so pictures can be read in black and white: accepting is a double border, dead is dashed, unknown is dotted, the
path of a key is bold. The idea of rules of a condition and a style is that of the mata automata library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from math import log10
from typing import Any, Literal, NamedTuple

__all__ = [
    "DARK",
    "LIGHT",
    "Attributes",
    "Condition",
    "Rule",
    "Theme",
    "colours",
    "default_rules",
    "pen_by_visits",
    "styled",
    "theme_named",
]

Attributes = Mapping[str, Any]
Condition = str | Callable[[Attributes], bool]
"""A role, or a function of the attributes of a node or an edge of a drawing."""


class Rule(NamedTuple):
    """A condition, and a style for what meets it: Graphviz attributes, or a function that returns them."""

    on: Literal["node", "edge"]
    when: Condition
    style: Mapping[str, str] | Callable[[Attributes], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The colours of a picture, by what they are for.

    Within a theme no two are equal: the light theme's are replaced one by one where a reader prefers dark.
    """

    paper: str
    ink: str
    muted: str
    """Secondary text, and nodes that are no part of the automaton."""
    line: str
    fill: str
    edge_text: str
    accept: str
    accept_fill: str
    path: str
    """What a key visits."""
    path_fill: str
    free: str
    """Moves that read no word, or any word."""
    free_fill: str
    faint: str
    """Dead and unknown."""


LIGHT = Theme(
    paper="#ffffff",
    ink="#1c2127",
    muted="#5c6670",
    line="#59636e",
    fill="#f4f6f8",
    edge_text="#2b323a",
    accept="#00735a",
    accept_fill="#dcf3ea",
    path="#b04a00",
    path_fill="#ffe6c7",
    free="#005f9e",
    free_fill="#e2f0fb",
    faint="#8b949e",
)
"""Dark ink on white paper."""
DARK = Theme(
    paper="#0f141a",
    ink="#e8edf2",
    muted="#9ba7b4",
    line="#8794a1",
    fill="#1b232c",
    edge_text="#ced6de",
    accept="#45d0a5",
    accept_fill="#0f3a2f",
    path="#ffab5e",
    path_fill="#4a2c0b",
    free="#71bbf5",
    free_fill="#10304b",
    faint="#6f7b87",
)
"""Light ink on nearly black paper."""


def theme_named(name: str) -> Theme:
    """Return the theme ``light`` or ``dark``."""
    return {"light": LIGHT, "dark": DARK}[name]


def default_rules(theme: Theme) -> list[Rule]:
    """Return the rules for every role that has a style; a caller's rules override them."""
    return [
        Rule("node", "state", {"shape": "box", "style": "rounded,filled"}),
        Rule("node", "position", {"shape": "circle", "width": "0.42", "margin": "0.03,0.03"}),
        Rule("node", _is_accepting_position, {"shape": "box", "style": "rounded,filled", "margin": "0.1,0.06"}),
        Rule("node", "loop", {"fillcolor": theme.free_fill, "color": theme.free}),
        Rule("node", "accept", {"peripheries": "2", "color": theme.accept, "fillcolor": theme.accept_fill}),
        Rule("node", "dead", {"style": "rounded,filled,dashed", "color": theme.faint, "fontcolor": theme.muted}),
        Rule(
            "node",
            "relay",
            {"shape": "box", "style": "rounded,filled", "fillcolor": theme.free_fill, "color": theme.free},
        ),
        Rule("node", "store", {"shape": "cylinder", "fillcolor": theme.accept_fill, "color": theme.accept}),
        Rule("node", "missing", {"style": "filled,dashed", "color": theme.faint, "fillcolor": theme.paper}),
        Rule("node", "entry", {"shape": "point", "width": "0.09", "color": theme.line, "fillcolor": theme.line}),
        Rule("node", "ghost", {"shape": "plain", "style": "", "fontcolor": theme.muted}),
        Rule("node", "table", {"shape": "record"}),
        Rule("node", _is_visited, pen_by_visits),
        Rule("edge", _is_visited, pen_by_visits),
        Rule("node", "path", {"penwidth": "2.4", "color": theme.path, "fillcolor": theme.path_fill}),
        Rule("edge", "other", {"color": theme.free, "fontcolor": theme.free}),
        Rule("edge", "one", {"color": theme.free, "fontcolor": theme.free}),
        Rule("edge", "loop", {"color": theme.free, "fontcolor": theme.free}),
        Rule("edge", "epsilon", {"color": theme.free, "fontcolor": theme.free, "style": "dashed"}),
        Rule("edge", "trunk", {"color": theme.free, "penwidth": "1.6"}),
        Rule("edge", "fallback", {"color": theme.muted, "style": "dashed", "fontcolor": theme.muted}),
        Rule("edge", "to-dead", {"color": theme.faint, "fontcolor": theme.muted, "style": "dashed"}),
        Rule(
            "edge", "unknown", {"color": theme.faint, "fontcolor": theme.muted, "style": "dotted", "arrowhead": "empty"}
        ),
        Rule("edge", "path", {"color": theme.path, "fontcolor": theme.path, "penwidth": "2.6"}),
    ]


def styled(element: Attributes, on: Literal["node", "edge"], rules: Iterable[Rule]) -> dict[str, str]:
    """Return the Graphviz attributes of a node or an edge."""
    style: dict[str, str] = {}
    for rule in rules:
        if rule.on == on and _meets(element, rule.when):
            style.update(rule.style(element) if callable(rule.style) else rule.style)
    return style


def pen_by_visits(element: Attributes) -> dict[str, str]:
    """Return a line width that grows by 1.2 points for every factor of ten in visits, up to 6."""
    return {"penwidth": f"{min(6.0, 1.2 + 1.2 * log10(1 + element['visits'])):.2f}"}


def colours(theme: Theme) -> dict[str, str]:
    """Return the theme's colours by name."""
    return {field.name: getattr(theme, field.name) for field in fields(theme)}


def _meets(element: Attributes, when: Condition) -> bool:
    return bool(when in element["roles"] if isinstance(when, str) else when(element))


def _is_visited(element: Attributes) -> bool:
    return int(element["visits"]) > 0


def _is_accepting_position(node: Attributes) -> bool:
    roles: frozenset[str] = node["roles"]
    return {"position", "accept"} <= roles
