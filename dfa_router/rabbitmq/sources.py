"""Where definitions come from: a file, standard input, or the management API of a broker.

``-`` is standard input. An address such as ``http://localhost:15672`` is that of the management API, which is asked for the export
and, as exports leave out internal exchanges and exclusive queues, for its listings of exchanges, queues and bindings too. Who asks is
told by the environment (:data:`USER` and :data:`PASSWORD`), not by the address: command lines and addresses are seen by others.

What this leaves out: certificates of the client, and OAuth 2 tokens. Who needs them downloads the export by other means.
"""

from __future__ import annotations

import base64
import http.client
import os
import urllib.error
import urllib.request
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

from dfa_router.errors import DefinitionsError
from dfa_router.file_names import local_name, standard_input

__all__ = ["PASSWORD", "USER", "Source", "is_address", "read_source"]

USER = "DFA_ROUTER_USER"
PASSWORD = "DFA_ROUTER_PASSWORD"  # noqa: S105 - the name of the variable
"""Environment variables with whom the management API is asked as; ``guest`` by default, whom brokers let in from their own host."""

MOST_BYTES = 1 << 30
"""Of an answer; a definitions file of a million bindings has 200 MB."""
PATIENCE = 60.0
"""Seconds that the API may take between two pieces of an answer."""
LISTINGS = ("exchanges", "queues", "bindings")


class Source(NamedTuple):
    """What was read, and what it is called in errors."""

    name: str
    data: bytes
    listings: tuple[tuple[str, bytes], ...] = ()
    """Listings that came with it, by name."""
    vhost: str | None = None
    """The vhost that it is an export of, where its address names one: its entries do not, and those of listings do."""


def is_address(text: str) -> bool:
    """Tell whether a text is an address of the management API.

    >>> is_address("http://localhost:15672"), is_address("defs.json")
    (True, False)
    """
    return text.lower().startswith(("http://", "https://"))


def read_source(text: str, remedy: str) -> Source:
    """Read definitions or a listing; raises :class:`DefinitionsError`, whose text ends with the remedy where nothing is there."""
    if is_address(text):
        return _from_api(text)
    path = Path(local_name(text))
    try:
        if text == "-":
            return Source("standard input", standard_input())
        return Source(text, path.read_bytes())
    except FileNotFoundError:
        raise DefinitionsError(f"{text}: there is no such file; {remedy}") from None
    except IsADirectoryError:
        raise DefinitionsError(f"{text}: is a directory; expected one definitions file; {remedy}") from None
    except OSError as error:
        raise DefinitionsError(f"{text}: cannot be read: {error.strerror}") from error


def _from_api(address: str) -> Source:
    parts = urlsplit(address)
    if "@" in parts.netloc:
        raise DefinitionsError(
            f"{parts.scheme}://...@{parts.hostname}: an address with a password is seen by other users of the machine: set "
            f"{USER} and {PASSWORD} in the environment instead"
        )
    before, found, behind = parts.path.partition("/api/")
    base = f"{before.rstrip('/')}/api"
    if found and behind.split("/")[0] not in {"definitions", ""}:
        only = urlunsplit((parts.scheme, parts.netloc, parts.path, parts.query, ""))
        return Source(address, _get(only))
    vhost = behind.partition("/")[2].strip("/")

    def url(what: str) -> str:
        return urlunsplit((parts.scheme, parts.netloc, f"{base}/{what}" + (f"/{vhost}" if vhost else ""), "", ""))

    listings = tuple((url(what), _get(url(what))) for what in LISTINGS)
    return Source(url("definitions"), _get(url("definitions")), listings, unquote(vhost) or None)


def _get(address: str) -> bytes:
    try:
        request = urllib.request.Request(address, headers={"Accept": "application/json"})  # noqa: S310 - http or https, see is_address
        user = f"{os.environ.get(USER, 'guest')}:{os.environ.get(PASSWORD, 'guest')}"
        # Not sent on to another place where the answer is a redirection.
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(user.encode()).decode()}")
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
            data: bytes = answer.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        error.close()
        raise DefinitionsError(f"{address}: {_refused(error.code)}") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise DefinitionsError(
            f"{address}: the management API does not answer: {reason}; give its address, such as http://localhost:15672, or enable it on "
            "the broker with 'rabbitmq-plugins enable rabbitmq_management'"
        ) from error
    if len(data) > MOST_BYTES:
        raise DefinitionsError(f"{address}: the answer is over {MOST_BYTES >> 30} GiB; export to a file, by vhost")
    return data


def _refused(code: int) -> str:
    if code == 401:
        return f"the management API does not know the user: set {USER} and {PASSWORD} in the environment"
    if code == 403:
        return "the user may not ask for that: exports need the tag 'administrator', listings 'monitoring'"
    if code in {404, 405, 406}:
        return "there is no such thing there: give the address of the management API, such as http://localhost:15672"
    return f"the management API answers with status {code}; look into the broker's log"
