"""``dfa-router play``: the step-through page, served to this machine, with patterns that can be edited."""

from __future__ import annotations

import webbrowser

import click

from dfa_router.cli.pattern_options import checked_text, pattern_options, read_patterns
from dfa_router.siblings import check_sibling

__all__ = ["play"]


@click.command(short_help="Edit patterns and keys in a browser, and step through.")
@pattern_options
@click.option("--key", callback=checked_text, help="The routing key to begin with.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="a free one",
    help="The port on the loopback address.",
)
@click.option("--open/--no-open", "browse", default=True, show_default=True, help="Open a browser.")
@click.pass_context
def play(
    context: click.Context,
    *,
    patterns: tuple[str, ...],
    patterns_from: str | None,
    key: str | None,
    port: int,
    browse: bool,
) -> None:
    """Serve the step-through page to this machine, until Ctrl-C.

    Patterns and keys can be edited in the page and there are examples to choose from. What the page shows is in its
    address, after the #, so a link to it shows the same to anyone who runs this command on the same port.
    """
    check_sibling("viz")
    from viz.page.server import link, serve

    chosen = read_patterns(patterns, patterns_from) if patterns or patterns_from is not None else None
    if chosen is not None and key is None:
        key = ""
    try:
        server = serve(chosen, key, port=port)
    except OSError as error:
        raise click.UsageError(
            f"cannot serve on port {port}: {error.strerror}: choose another --port, or none"
        ) from error
    address = link(server, chosen, key)
    with server:
        click.echo(address)
        context.obj.terminal.show("Serving to this machine only; stop with Ctrl-C.")
        if browse:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            context.obj.terminal.show("stopped")
