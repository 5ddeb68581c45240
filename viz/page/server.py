"""The page, served to this machine alone: one document, read and never written.

The page compiles what its reader types by itself, so the server has nothing to answer but the page. It binds to the loopback
address and answers only requests that name it by a loopback name: a page of another site whose host name resolves to 127.0.0.1
gets no answer. There are GET and HEAD, and no other method.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

__all__ = ["serve"]

_NAMES = {"localhost", "127.0.0.1", "::1"}
_TEXT = "text/plain; charset=utf-8"


def serve(documents: Mapping[str, str], *, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of HTML documents by their paths on 127.0.0.1, to be run with ``serve_forever()``; port 0 takes a free one.

    Raises ``OSError`` for a port in use.
    """
    server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    server.daemon_threads = True
    server.documents = {path: html.encode() for path, html in documents.items()}  # type: ignore[attr-defined]  # read by the handler
    return server


class _Handler(BaseHTTPRequestHandler):
    """Answers with a document."""

    protocol_version = "HTTP/1.1"
    server_version = "dfa-router"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        """Answer with a document, or with what is wrong."""
        documents: dict[str, bytes] = self.server.documents  # type: ignore[attr-defined]
        if not self._is_for_us():
            self.close_connection = True
            self._answer(HTTPStatus.FORBIDDEN, _TEXT, b"This server answers to its own machine only.\n")
        elif (document := documents.get(self.path.partition("?")[0])) is not None:
            self._answer(HTTPStatus.OK, "text/html; charset=utf-8", document)
        else:
            self._answer(HTTPStatus.NOT_FOUND, _TEXT, f"There is: {', '.join(documents)}\n".encode())

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the name in the base class
        """Log nothing, since addresses may be confidential."""

    def _is_for_us(self) -> bool:
        try:
            return urlsplit(f"//{self.headers.get('Host', '')}").hostname in _NAMES
        except ValueError:  # no host at all, such as [::1
            return False

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
