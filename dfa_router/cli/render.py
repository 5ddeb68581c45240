"""``dfa-router render``: pictures of automata and topologies, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dfa_router.cli.pattern_options import checked_text, pattern_options, read_patterns
from dfa_router.errors import OptionError, PatternError
from dfa_router.language.dialects import AMQP
from dfa_router.rabbitmq import load_definitions
from dfa_router.siblings import check_sibling

__all__ = ["render"]

_THINGS = ("nfa", "dfa", "minimal", "cache", "trie", "bitmaps", "topology")
_MAX_STATES = 20_000


@click.command(short_help="Draw an automaton or a topology into a file.")
@click.argument("what", type=click.Choice(_THINGS))
@pattern_options
@click.option("--definitions", metavar="FILE", help="Draw this topology, or take the patterns of one of its exchanges.")
@click.option("--exchange", help="The exchange whose bindings are the patterns.")
@click.option("--vhost", default="/", show_default=True, help="The vhost of the exchange.")
@click.option("--key", "keys", multiple=True, callback=checked_text, metavar="KEY", help="Mark the path of a key; with 'cache', fill the cache with it "
              "(give it several times); with 'bitmaps', a topic.")  # fmt: skip
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="The file: .svg, .png, .pdf, .dot or .tex; PNG and "
              "PDF need the program dot.")  # fmt: skip
@click.option("--theme", type=click.Choice(["auto", "light", "dark"]), default="auto", show_default=True, help="Colours; "
              "auto is the reader's choice in SVG, and light elsewhere.")  # fmt: skip
@click.option("--dead", is_flag=True, help="Show the dead state, and what leads there.")
@click.option("--no-other", is_flag=True, help="Hide transitions on words that are no literals.")
@click.option("--max-nodes", type=click.IntRange(min=1), help="Refuse to draw more.  [default: 250]")
@click.pass_context
def render(
    context: click.Context,
    *,
    what: str,
    patterns: tuple[str, ...],
    patterns_from: str | None,
    definitions: str | None,
    exchange: str | None,
    vhost: str,
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
    trie      the trie that a backtracking matcher walks
    bitmaps   the table of topics and matching bindings that an inverted-bitmap matcher keeps
    topology  exchanges, queues and bindings of a definitions file

    \b
    Examples:
      dfa-router render nfa -p 'a.b.c' -p 'a.#.c' --out nfa.svg
      dfa-router render dfa -p 'a.b.c' -p 'a.#.c' --key a.d.c --out match.png
      dfa-router render topology --definitions defs.json --out topology.svg
    """  # noqa: D301 - click wants the control character itself
    check_sibling("viz")
    from viz.formats.files import FORMATS, save
    from viz.model.build import drawing
    from viz.model.limits import MAX_NODES

    kind = Path(out).suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise OptionError(f"--out {out}: its name should end in one of {', '.join('.' + name for name in FORMATS)}")
    topology = load_definitions(definitions, vhost) if definitions is not None else None
    options: dict[str, Any] = {"dead": dead, "other": not no_other, "max_nodes": max_nodes or MAX_NODES}
    if what == "topology":
        if topology is None:
            raise OptionError("a topology needs --definitions FILE, which 'rabbitmqctl export_definitions' writes")
        thing: Any = topology
    else:
        chosen = read_patterns(patterns, patterns_from)
        if topology is not None:
            if exchange is None:
                raise OptionError(
                    "--definitions holds many exchanges: choose one with --exchange, or draw the 'topology'"
                )
            topology.exchange(exchange, vhost)
            chosen += [b.routing_key for b in topology.bindings if (b.source, b.vhost) == (exchange, vhost)]
        if not chosen:
            raise PatternError(
                "there is nothing to draw: give --pattern, --patterns-from or --definitions and --exchange"
            )
        thing, more = _thing(what, chosen, keys)
        options |= {**more, "names": chosen}
    model = drawing(thing, **options)
    try:
        save(model, out, theme=theme)  # type: ignore[arg-type]  # one of the three
    except OSError as error:
        raise click.FileError(out, hint=f"{error.strerror}: choose a file in a folder that exists") from error
    context.obj.terminal.show(f"wrote {out}. {model.graph['alt']}")


def _thing(what: str, patterns: list[str], keys: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """Return what is to be drawn, and the options that go with it."""
    from compiler import CapacityError, build_dfa
    from compiler.automata.minimize import minimize
    from compiler.automata.twin import Twin
    from viz.patterns import nfa_of

    if what == "trie":
        from dfa_router.reference.trie import Trie

        return Trie([pattern.encode() for pattern in patterns], AMQP), {}
    if what == "bitmaps":
        from dfa_router.reference.inverted import InvertedBitmap

        return InvertedBitmap([pattern.encode() for pattern in patterns], AMQP, topics=keys), {
            "title": "Inverted bitmaps"
        }
    nfa = nfa_of(patterns)
    if what == "cache":
        cache = Twin(nfa, b".", 64 << 20)
        for key in keys:
            cache.match(key.encode())
        return cache, {}
    if len(keys) > 1:
        raise OptionError(f"{what!r} can mark the path of one --key; 'cache' takes several")
    path = {"key": keys[0]} if keys else {}
    if what == "nfa":
        return nfa, path
    try:
        dfa = build_dfa(nfa, max_states=_MAX_STATES)
    except CapacityError as error:
        if not keys or what == "minimal":
            raise CapacityError(f"{error}; with 'cache' and --key, what a key visits can be drawn") from error
        cache = Twin(nfa, b".", 64 << 20)
        cache.match(keys[0].encode())
        return cache, path
    return (minimize(dfa) if what == "minimal" else dfa), path
