"""``dfa-router play``: the step-through page, served to this machine."""

from __future__ import annotations

import webbrowser

import click

from dfa_router.cli.teach import page_of, stream_options

__all__ = ["play"]


@click.command(short_help="Step through matches in a browser.")
@stream_options
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
    dialect: str | None,
    keys: tuple[str, ...],
    cache_bytes: int,
    port: int,
    browse: bool,
) -> None:
    """Serve the step-through page to this machine, until Ctrl-C.

    It is the page that 'teach' writes: patterns and keys can be edited in it, and there are examples to choose from. What it
    shows is in its address, after the #, so a link to it shows the same in any copy of the page.
    """
    html = page_of(patterns, patterns_from, dialect, keys, cache_bytes)
    from viz.page.server import serve

    try:
        server = serve({"/": html}, port=port)
    except OSError as error:
        raise click.UsageError(
            f"cannot serve on port {port}: {error.strerror}: choose another --port, or none"
        ) from error
    address = f"http://127.0.0.1:{server.server_port}/"
    with server:
        click.echo(address)
        context.obj.terminal.show("Serving to this machine only; stop with Ctrl-C.")
        if browse:
            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            if context.obj.terminated.is_set():
                raise  # whoever sent SIGTERM is told by the exit code; Ctrl-C is how one stops it
            context.obj.terminal.show("stopped")
