"""``dfa-router render``: pictures of automata and topologies, as files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from dfa_router.cli.binding_files import check_bindings, exchange_bindings
from dfa_router.cli.drawing import checked_keys, nfa_of, recorded, unrouted, why_unrouted
from dfa_router.cli.options import bindings_dialect_option
from dfa_router.cli.pattern_options import checked_text, pattern_options, read_patterns
from dfa_router.cli.written import written
from dfa_router.errors import OptionError, PatternError
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.rabbitmq import Topology, load_definitions
from dfa_router.siblings import check_sibling

__all__ = ["render"]

_THINGS = ("nfa", "dfa", "minimal", "cache", "film", "trie", "bitmaps", "topology")
_OF_PATTERNS = frozenset(_THINGS) - {"topology"}
_TAKEN_BY = {
    "patterns": _OF_PATTERNS,
    "patterns_from": _OF_PATTERNS,
    "exchange": _OF_PATTERNS,
    "dialect": _OF_PATTERNS,
    "keys": _OF_PATTERNS - {"trie"},
    "dead": frozenset({"dfa", "minimal", "cache"}),
    "no_other": frozenset({"dfa", "minimal", "cache", "film"}),
    "max_nodes": frozenset(_THINGS) - {"bitmaps"},
}
"""What each of these options has an effect on; where it has none it is refused. A film shows the dead state anyhow."""
FILM_FORMATS = ("svg", "gif")
_MAX_STATES = 20_000


@click.command(short_help="Draw an automaton or a topology into a file.")
@click.argument("what", type=click.Choice(_THINGS))
@pattern_options
@click.option("--definitions", metavar="FILE", help="Draw this topology, or take the patterns of one of its exchanges.")
@click.option("--exchange", help="The exchange whose bindings are the patterns.")
@click.option("--vhost", help="The vhost of the exchange, or the only one of a topology to draw.  [default: /, or all]")
@bindings_dialect_option
@click.option("--key", "keys", multiple=True, callback=checked_text, metavar="KEY", help="Mark the path of a key; with 'cache', fill the cache with it "
              "(give it several times); with 'bitmaps', a topic.")  # fmt: skip
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="The file: .svg, .png, .pdf, .dot or .tex; PNG and "
              "PDF need the program dot. Of a film: .svg or .gif.")  # fmt: skip
@click.option("--theme", type=click.Choice(["auto", "light", "dark"]), default="auto", show_default=True, help="Colours; "
              "auto is the reader's choice in SVG, and light elsewhere.")  # fmt: skip
@click.option("--dead", is_flag=True, help="Show the dead state, and what leads there.")
@click.option("--no-other", is_flag=True, help="Hide transitions on words that are no literals.")
@click.option("--max-nodes", type=click.IntRange(min=1), help="Refuse to draw more states, or three times "
              "as many edges.  [default: 250]")  # fmt: skip
@click.pass_context
def render(
    context: click.Context,
    *,
    what: str,
    patterns: tuple[str, ...],
    patterns_from: str | None,
    definitions: str | None,
    exchange: str | None,
    vhost: str | None,
    dialect: str | None,
    keys: tuple[str, ...],
    out: str,
    theme: str,
    dead: bool,
    no_other: bool,
    max_nodes: int | None,
) -> None:
    """Draw WHAT into a file, in the format that the file's name ends in.

    \b
    nfa       the NFA of the patterns, with an accept tag per binding
    dfa       its complete DFA
    minimal   the DFA with as few states as its answers allow
    cache     the lazy DFA's cache after the given keys: what is built, what is not, and how often it was used
    film      the cache while it reads the given keys, word by word: a moving .svg, or a .gif
    trie      the trie that a backtracking matcher walks
    bitmaps   the table of topics and matching bindings that an inverted-bitmap matcher keeps
    topology  exchanges, queues and bindings of a definitions file

    \b
    Examples:
      dfa-router render nfa -p 'a.b.c' -p 'a.#.c' --out nfa.svg
      dfa-router render dfa -p 'a.b.c' -p 'a.#.c' --key a.d.c --out match.png
      dfa-router render topology --definitions defs.json --out topology.svg
    """  # noqa: D301 - click wants the control character itself
    _check_taken(context, what, out)
    check_sibling("viz")
    from viz.errors import DrawingTooLargeError
    from viz.formats.files import FORMATS
    from viz.model.limits import MAX_NODES

    kind = Path(out).suffix.removeprefix(".").lower()
    formats = FILM_FORMATS if what == "film" else FORMATS
    if kind not in formats:
        raise OptionError(f"--out {out}: its name should end in one of {', '.join('.' + name for name in formats)}")
    topology = load_definitions(definitions, vhost or "/") if definitions is not None else None
    options: dict[str, Any] = {"dead": dead, "other": not no_other, "max_nodes": max_nodes or MAX_NODES}
    if what == "topology":
        if topology is None:
            raise OptionError("a topology needs --definitions FILE, which 'rabbitmqctl export_definitions' writes")
        draw: Callable[..., str] = partial(_picture, topology.graph() if vhost is None else _of_vhost(topology, vhost))
    else:
        if topology is not None and exchange is None:
            raise OptionError("--definitions holds many exchanges: choose one with --exchange, or draw the 'topology'")
        listed = None
        if topology is not None and exchange is not None:
            listed = exchange_bindings(topology, exchange, vhost or "/")
        language = dialect_named(dialect or (listed and listed.dialect) or "amqp")
        chosen = read_patterns(patterns, patterns_from, language)
        if definitions is not None and listed is not None:
            check_bindings(definitions, listed, language)
            chosen += [pattern for pattern, _ in listed.bindings]
        if not chosen and listed is not None:
            raise PatternError(
                f"{definitions}: exchange {exchange!r} of vhost {vhost or '/'!r} has no bindings to draw: choose another, or give --pattern"
            )
        if not chosen:
            raise PatternError(
                "there is nothing to draw: give --pattern, --patterns-from or --definitions and --exchange"
            )
        for text in why_unrouted(checked_keys(keys, language), language):
            context.obj.terminal.show(text)
        routed = [key for key in keys if unrouted(key, language) is None]
        options["names"] = chosen
        if what == "film":
            del options["dead"]
            draw = partial(_film, chosen, routed, language)
        else:
            thing, more = _thing(what, chosen, routed, language)
            options |= more
            draw = partial(_picture, thing)
    try:
        with written(out, "--out"):
            told = draw(out, theme=theme, **options)
    except DrawingTooLargeError as error:
        raise DrawingTooLargeError(error.told(_ways(what, vhost))) from None
    context.obj.terminal.show(f"wrote {out}{told}")


def _check_taken(context: click.Context, what: str, out: str) -> None:
    """Raise :class:`OptionError` for an option that would change nothing in this picture."""
    given = {
        option.name: option.opts[-1]
        for option in context.command.params
        if option.name is not None and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
    }
    for name, spelt in given.items():
        taken_by = _TAKEN_BY.get(name)
        if taken_by is not None and what not in taken_by:
            others = ", ".join(repr(thing) for thing in _THINGS if thing in taken_by)
            raise OptionError(
                f"{spelt} changes nothing in {what!r}, but in {others}: leave it out, or draw one of them"
            )
    for name in ("exchange", "vhost"):
        if name in given and "definitions" not in given:
            raise OptionError(f"{given[name]} is one of a definitions file: give --definitions FILE, too")
    if context.params["theme"] == "dark" and out.lower().endswith(".tex"):
        raise OptionError("--theme dark changes nothing in TikZ: leave it out, and change the styles in the file")


def _of_vhost(topology: Topology, vhost: str) -> Any:
    """Return the graph of one vhost; raises :class:`OptionError` for one that the file does not have."""
    if vhost not in topology.vhosts:
        raise OptionError(
            f"--vhost {vhost}: the file has no such vhost: it has {', '.join(map(repr, topology.vhosts))}"
        )
    graph = topology.graph()
    return graph.subgraph([node for node, data in graph.nodes(data=True) if data["vhost"] == vhost])


def _ways(what: str, vhost: str | None) -> dict[str, str]:
    """Return the ways to a smaller picture (:data:`viz.errors.WAYS`) in the words of this command, which are options and WHATs."""
    part = {"part": "draw fewer patterns (--pattern)"}
    if what == "topology":
        part = {"part": "draw one vhost (--vhost NAME)"} if vhost is None else {}
    return part | {
        "key": "give fewer or shorter keys (--key)"
        if what in {"cache", "film"}
        else "draw what one key visits (--key KEY)",
        "shorter": "shorten the key",
        "minimal": "draw the fewest states that tell the same ('render minimal')",
        "cache": "draw the states that keys have needed ('render cache' with --key, as often as you like)",
        "other": "hide transitions on other words (--no-other)",
        "limit": "raise the limit (--max-nodes {max_nodes})",
    }


def _picture(thing: Any, out: str, *, theme: Any, **options: Any) -> str:
    """Write a picture, and return what there is to tell of it."""
    from viz.formats.files import save
    from viz.model.build import drawing

    model = drawing(thing, **options)
    save(model, out, theme=theme)
    return f". {model.graph['alt']}"


def _film(patterns: list[str], keys: list[str], dialect: Dialect, out: str, **options: Any) -> str:
    """Write the film of keys; raises :class:`OptionError` where there is none."""
    from viz.formats.film import film, save_gif

    if not keys:
        raise OptionError("a film shows what keys do: give --key, as often as you like")
    nfa = nfa_of(patterns, dialect)
    options["separator"] = dialect.separator
    if out.lower().endswith(".gif"):
        save_gif(nfa, keys, out, **options)
    else:
        Path(out).write_text(film(nfa, keys, **options), encoding="utf-8")
    return ""


def _thing(what: str, patterns: list[str], keys: list[str], dialect: Dialect) -> tuple[Any, dict[str, Any]]:
    """Return what is to be drawn, and the options that go with it."""
    from compiler import CapacityError, build_dfa
    from compiler.automata.minimize import minimize

    nfa = nfa_of(patterns, dialect)
    if what in ("trie", "bitmaps"):
        return _reference(what, patterns, keys, dialect)
    if what == "cache":
        return recorded(nfa, keys, dialect), {}
    if len(keys) > 1:
        raise OptionError(f"{what!r} can mark the path of one --key; 'cache' takes several")
    path = {"key": keys[0], "separator": dialect.separator} if keys else {}
    if what == "nfa":
        return nfa, path
    known = recorded(nfa, keys, dialect)
    cache = known.snapshot()
    try:
        dfa = build_dfa(nfa, max_states=_MAX_STATES, first=cache.states if cache is not None else ())
    except CapacityError as error:
        if not keys or what == "minimal":
            raise CapacityError(
                f"the complete DFA of these patterns has more than {_MAX_STATES:,} states: draw a part of them, or what a key "
                "visits, with 'cache' and --key KEY"
            ) from error
        return known, path
    return (minimize(dfa) if what == "minimal" else dfa), path


def _reference(what: str, patterns: list[str], keys: list[str], dialect: Dialect) -> tuple[Any, dict[str, Any]]:
    """Return a reference matcher of the patterns, or its table; raises :class:`OptionError` for a dialect that it does not speak."""
    from dfa_router.engines.registry import engine_info
    from dfa_router.reference.inverted import InvertedBitmap
    from dfa_router.reference.trie import Trie

    name = "trie" if what == "trie" else "inverted"
    if not engine_info(name).speaks(dialect):
        raise OptionError(f"{what!r} does not speak {dialect.name}: draw its 'nfa', 'dfa' or 'cache'")
    encoded = [pattern.encode() for pattern in patterns]
    if what == "trie":
        return Trie(encoded, dialect), {}
    (topic, *_), *rows = InvertedBitmap(encoded, dialect, topics=keys).to_table()
    # The matcher knows bindings by their positions, and a reader by their patterns, as in all other pictures.
    return [[topic, *patterns], *rows], {"title": "Inverted bitmaps"}
