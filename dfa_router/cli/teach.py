"""``dfa-router teach``: a page that steps through matches, as one file; or a site of lessons, as a folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from dfa_router.cli.drawing import CACHE_BYTES, checked_keys, nfa_of
from dfa_router.cli.message_page import message_parts
from dfa_router.cli.options import dialect_option
from dfa_router.cli.page_dialects import page_dialects
from dfa_router.cli.pattern_options import checked_text, pattern_options, read_patterns
from dfa_router.cli.written import check_place, written
from dfa_router.errors import OptionError, PatternError
from dfa_router.file_names import given_path
from dfa_router.language.dialects import dialect_named
from dfa_router.rabbitmq import load_definitions
from dfa_router.siblings import check_sibling

__all__ = ["page_of", "stream_options", "teach"]


def stream_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what a page begins with: patterns, ``--dialect``, ``--key`` and ``--cache-bytes``."""
    command = click.option(
        "--cache-bytes",
        type=click.IntRange(0, 1 << 31),
        default=CACHE_BYTES,
        show_default=True,
        help="The bound on the cache; 1300 shows it being cleared.",
    )(command)
    command = click.option(
        "--key",
        "keys",
        multiple=True,
        callback=checked_text,
        metavar="KEY",
        help="A routing key to step through; several are matched one after the other.  "
        "[default: a.d.d.d.c with the default patterns, else empty]",
    )(command)
    return pattern_options(dialect_option(command))


@click.command(short_help="Write a page that steps through matches, or a site of lessons.")
@stream_options
@click.option(
    "--definitions", metavar="FILE", help="Follow a message with the --key through this topology, from --exchange on."
)
@click.option("--exchange", help="The exchange that the message is published to.")
@click.option("--vhost", default="/", show_default=True, help="The vhost of the exchange.")
@click.option("--out", type=click.Path(dir_okay=False), help="The HTML file to write.")
@click.option("--site", metavar="DIR", type=click.Path(file_okay=False), help="The folder to write a site into: the page, an "
              "essay and five lessons.")  # fmt: skip
@click.pass_context
def teach(
    context: click.Context,
    *,
    patterns: tuple[str, ...],
    patterns_from: str | None,
    dialect: str | None,
    keys: tuple[str, ...],
    cache_bytes: int,
    definitions: str | None,
    exchange: str | None,
    vhost: str,
    out: str | None,
    site: str | None,
) -> None:
    """Write a page that steps through the match of routing keys.

    It shows the NFA and the lazy DFA side by side, what the engine's cache holds after each step, when it is cleared, and what
    a trie would have done. Patterns, keys, dialect and the cache's bound can be changed in the page, which compiles them itself:
    it is one file that opens from disk and needs no network and no server. Without patterns it begins with the four of
    RabbitMQ's articles of 2011. With --site, a folder for any static host: the page, an essay, and five lessons.

    \b
    Examples:
      dfa-router teach --pattern 'a.#.c' --pattern 'a.*.b.c' --key a.d.b.c --out page.html
      dfa-router teach --dialect mqtt -p 'home/+/lamp' --key home/hall/lamp --out page.html
      dfa-router teach --site lessons
      dfa-router teach --definitions defs.json --exchange events --key order.eu --out message.html
    """  # noqa: D301 - click wants the control character itself
    if (out is None) == (site is None):
        raise OptionError("say where to write: --out FILE for a page, or --site DIR for a site of lessons")
    given_path(out if site is None else site)
    if out is not None:
        check_place(out, "--out")
    if definitions is None and (exchange is not None or vhost != "/"):
        raise OptionError(
            "--exchange and --vhost are of a message that --definitions follows: give it, or leave them out"
        )
    if definitions is None:
        html = page_of(patterns, patterns_from, dialect, keys, cache_bytes)
    else:
        if exchange is None or len(keys) != 1 or patterns or patterns_from is not None or dialect is not None:
            raise OptionError(
                "--definitions follows one message: give --exchange and one --key, and no patterns or dialect"
            )
        html = _message_page(definitions, exchange, vhost, keys[0], cache_bytes)
    if site is not None:
        from viz.page.site import site_pages

        pages = {Path(site) / name: text for name, text in site_pages(html, page_dialects()).items()}
    else:
        assert out is not None
        pages = {Path(out): html}
    option = "--out" if site is None else "--site"
    if site is not None:
        with written(site, option):
            Path(site).mkdir(parents=True, exist_ok=True)
    for path, text in pages.items():
        with written(path, option):
            path.write_text(text, encoding="utf-8")
    size = sum(len(text.encode()) for text in pages.values()) / 1000
    first = Path(site) / "index.html" if site is not None else out
    context.obj.terminal.show(f"wrote {site or out} ({size:,.0f} kB): open {first} in a browser")


def _message_page(definitions: str, exchange: str, vhost: str, key: str, cache_bytes: int) -> str:
    check_sibling("viz")
    from viz.page.lessons import Lesson
    from viz.page.site import lesson_page
    from viz.text import shown

    checked_keys([key], dialect_named("amqp"))
    topology = load_definitions(definitions, vhost)
    parts = message_parts(topology, exchange, vhost, key, cache_bytes)
    return lesson_page(Lesson(f"A message with the key {shown(key, 60)}", tuple(parts)), page_dialects())


def page_of(
    patterns: tuple[str, ...],
    patterns_from: str | None,
    dialect: str | None,
    keys: tuple[str, ...],
    cache_bytes: int,
) -> str:
    """Return the page that begins with these patterns and keys; raises :class:`InputError` for those that it cannot show."""
    check_sibling("viz")
    from viz.examples import EXAMPLES
    from viz.page.html import page
    from viz.patterns import MAX_PATTERNS

    language = dialect_named(dialect or "amqp")
    chosen, asked = read_patterns(patterns, patterns_from, language), list(keys)
    if not chosen and patterns_from is None and dialect in (None, "amqp"):
        chosen, asked = list(EXAMPLES[0].patterns), asked or list(EXAMPLES[0].keys)
    if len(chosen) > MAX_PATTERNS:
        raise PatternError(
            f"{len(chosen)} patterns are more than a page can show: give at most {MAX_PATTERNS}, "
            "or draw a part of the set with 'dfa-router render'"
        )
    nfa_of(chosen, language)
    asked = checked_keys(asked or [""], language)
    return page(chosen, asked, dialect=language.name, dialects=page_dialects(), cache_bytes=cache_bytes)
