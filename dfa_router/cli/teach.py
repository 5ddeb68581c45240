"""``dfa-router teach``: a page that steps through a match, as one file."""

from __future__ import annotations

from pathlib import Path

import click

from dfa_router.cli.pattern_options import checked_text, pattern_options, read_patterns
from dfa_router.siblings import check_sibling

__all__ = ["teach"]


@click.command(short_help="Write a page that steps through a match.")
@pattern_options
@click.option(
    "--key",
    callback=checked_text,
    help="The routing key to step through.  [default: a.d.d.d.c with the default patterns, else empty]",
)
@click.option("--out", required=True, type=click.Path(dir_okay=False), help="The HTML file to write.")
@click.pass_context
def teach(
    context: click.Context, *, patterns: tuple[str, ...], patterns_from: str | None, key: str | None, out: str
) -> None:
    """Write a page that steps through the match of a routing key.

    It shows the NFA and the lazy DFA side by side, the subset construction row by row, and what a trie would have done.
    The key can be changed in the page. It is one file that opens from disk and needs no network. Without patterns it
    shows the four of RabbitMQ's articles of 2011.

    \b
    Example:
      dfa-router teach --pattern 'a.#.c' --pattern 'a.*.b.c' --key a.d.b.c --out page.html
    """  # noqa: D301 - click wants the control character itself
    check_sibling("viz")
    from viz.examples import EXAMPLES
    from viz.page.html import teach as write_page

    chosen = read_patterns(patterns, patterns_from)
    if not chosen and patterns_from is None:
        chosen, key = list(EXAMPLES[0].patterns), EXAMPLES[0].key if key is None else key
    html = write_page(chosen, key or "")
    try:
        Path(out).write_text(html, encoding="utf-8")
    except OSError as error:
        raise click.FileError(out, hint=f"{error.strerror}: choose a file in a folder that exists") from error
    context.obj.terminal.show(f"wrote {out} ({len(html.encode()) / 1000:,.0f} kB): open it in a browser")
