"""The page with editable patterns, served to this machine alone.

The page's script matches keys itself; for new patterns it asks this server, which builds the NFA and the DFA and lays
them out with Graphviz. The server binds to the loopback address and answers only requests that name it by a loopback
name: a page of another site whose host name resolves to 127.0.0.1 gets no answer. It writes nothing to disk, and keeps
only the last 32 lessons, in memory.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlencode, urlsplit

from compiler.errors import InputError, RouterError
from viz.examples import EXAMPLES
from viz.page.html import page
from viz.page.lesson import Lesson, lesson

__all__ = ["link", "serve"]

_MAX_BODY = 100_000
_NAMES = {"localhost", "127.0.0.1", "::1"}
# The layout of a picture takes up to a second of a core, so one is made at a time, however many browsers ask.
_LAYOUT = threading.Lock()


def serve(patterns: Sequence[str] | None = None, key: str | None = None, *, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of the page on 127.0.0.1, to be run with ``serve_forever()``; port 0 takes a free port.

    Without patterns the page begins with the first of :data:`viz.examples.EXAMPLES`. Raises what
    :func:`viz.page.lesson.lesson` raises for the patterns and the key, and ``OSError`` for a port in use.
    """
    example = EXAMPLES[0]
    first = page(
        _lesson(tuple(example.patterns if patterns is None else patterns), example.key if key is None else key)
    )
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    server.daemon_threads = True
    server.first_page = first.encode()  # type: ignore[attr-defined]  # read by the handler, of which there is one per connection
    return server


def link(server: ThreadingHTTPServer, patterns: Sequence[str] | None = None, key: str | None = None) -> str:
    """Return the address of the page, with patterns and key in its fragment if there are any.

    >>> from types import SimpleNamespace
    >>> link(SimpleNamespace(server_port=8000), ["a.#"], "a.b")
    'http://127.0.0.1:8000/#p=a.%23&key=a.b'
    """
    parts = [*(("p", pattern) for pattern in patterns or ()), *([("key", key)] if key is not None else [])]
    return f"http://127.0.0.1:{server.server_port}/" + (f"#{urlencode(parts)}" if parts else "")


@lru_cache(maxsize=32)
def _lesson(patterns: tuple[str, ...], key: str) -> Lesson:
    with _LAYOUT:
        return lesson(patterns, key, editable=True)


class _Handler(BaseHTTPRequestHandler):
    """Answers with the page, and with the lesson of given patterns as JSON."""

    protocol_version = "HTTP/1.1"
    server_version = "dfa-router"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        """Answer with the page."""
        if not self._is_for_us():
            return
        if urlsplit(self.path).path == "/":
            self._answer(HTTPStatus.OK, "text/html; charset=utf-8", self.server.first_page)  # type: ignore[attr-defined]
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", b"There is one page here, at /.\n")

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def do_POST(self) -> None:
        """Answer with a lesson, or with an error and what to do about it."""
        if not self._is_for_us():
            return
        try:
            patterns, key = self._question()
            self._json(HTTPStatus.OK, _lesson(patterns, key))
        except RouterError as error:
            bad = isinstance(error, InputError)
            self._json(HTTPStatus.BAD_REQUEST if bad else HTTPStatus.INTERNAL_SERVER_ERROR, {"error": str(error)})

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name in the base class
        """Log nothing, since patterns and keys may be confidential."""

    def _question(self) -> tuple[tuple[str, ...], str]:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _MAX_BODY:
            self.close_connection = True
            raise InputError(
                f"the question is longer than {_MAX_BODY:,} bytes, or does not say how long it is: shorten it"
            )
        body = self.rfile.read(int(length))
        if self.headers.get_content_type() != "application/json" or urlsplit(self.path).path != "/lesson":
            raise InputError("ask by POST /lesson, with patterns and key as JSON")
        try:
            question = json.loads(body)
        except ValueError as error:
            raise InputError(f"the question is no JSON: {error}") from None
        match question:
            case {"patterns": [*patterns], "key": str(key)} if all(isinstance(pattern, str) for pattern in patterns):
                return tuple(patterns), key
        raise InputError('expected {"patterns": [text, ...], "key": text}')

    def _is_for_us(self) -> bool:
        host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        if host in _NAMES:
            return True
        self.close_connection = True
        self._answer(
            HTTPStatus.FORBIDDEN, "text/plain; charset=utf-8", b"This server answers to its own machine only.\n"
        )
        return False

    def _json(self, status: HTTPStatus, data: object) -> None:
        self._answer(status, "application/json", json.dumps(data).encode())

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
