"""The address of a broker: a URL, taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from dfa_router.errors import OptionError
from dfa_router.short_strings import MAX_BYTES

__all__ = ["Address", "parse", "without_password"]

_PORTS = {"amqp": 5672, "mqtt": 1883, "nats": 4222}
_SECURE = {"amqps", "mqtts", "tls", "wss", "ws"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a broker listens, and the user and password for it."""

    scheme: str
    host: str
    port: int
    user: str | None = None
    password: str | None = None
    vhost: str = "/"
    """The virtual host; only AMQP has them."""
    timeout: float = 30.0
    """Seconds without a byte in either direction after which the broker counts as hung."""

    def __str__(self) -> str:
        """Return the URL without the password, for reports."""
        who = f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        path = f"/{self.vhost}" if self.scheme == "amqp" and self.vhost != "/" else ""
        return f"{self.scheme}://{who}{host}:{self.port}{path}"


def parse(url: str, *, timeout: float | None = None) -> Address:
    """Parse ``scheme://user:password@host:port/vhost?timeout=seconds``; raises OptionError.

    Parts that are missing have the usual defaults. Parts are percent-encoded as in any URL: the vhost ``a/b`` is
    ``/a%2Fb``. An empty path and a lone slash both mean the vhost ``/``. The argument ``timeout`` has precedence over the
    one in the URL.

    >>> str(parse("amqp://guest:secret@localhost"))
    'amqp://guest@localhost:5672'
    >>> parse("nats://127.0.0.1?timeout=2.5").timeout
    2.5
    """
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")  # as it is when it is looked up
    except ValueError:  # its text may have the password
        raise OptionError(
            f"{_shown(url)}: the host cannot be read: expected a name, whose parts have 1 to 63 characters, or an address, of "
            f"IPv6 in brackets, such as amqp://[::1]:5672"
        ) from None
    if parts.scheme in _SECURE:
        raise OptionError(f"{_shown(url)}: only unencrypted connections are made: use amqp://, mqtt:// or nats://")
    if parts.scheme not in _PORTS or not parts.netloc:
        raise OptionError(
            f"{_shown(url)} is no broker's address: expected amqp://, mqtt:// or nats:// and a host, such as "
            f"amqp://guest:guest@127.0.0.1:5672/"
        )
    if (
        "@" in parts.path + parts.query + parts.fragment
    ):  # then a part of the password stands where host and vhost are shown
        raise OptionError(
            f"{_shown(url)}: an @ follows the host: write @ / ? # of a user, password or vhost as %40 %2F %3F %23"
        )
    try:
        port = _PORTS[parts.scheme] if parts.port is None else parts.port
    except ValueError:
        port = 0
    if not port:
        raise OptionError(f"{_shown(url)}: the port must be a number from 1 to 65535")
    path = unquote(parts.path.removeprefix("/"))
    if path and parts.scheme != "amqp":
        raise OptionError(f"{_shown(url)}: only amqp:// has a path, its vhost: leave {parts.path!r} out")
    if len(path.encode(errors="replace")) > MAX_BYTES:
        raise OptionError(f"{_shown(url)}: the vhost has more than {MAX_BYTES} bytes, which AMQP cannot carry")
    return Address(
        scheme=parts.scheme,
        host=parts.hostname or "127.0.0.1",
        port=port,
        user=unquote(parts.username) if parts.username is not None else None,
        password=unquote(parts.password) if parts.password is not None else None,
        vhost=path or "/",
        timeout=_seconds(url, parts.query) if timeout is None else timeout,
    )


def _seconds(url: str, query: str) -> float:
    given = parse_qs(query, keep_blank_values=True)
    value = given.pop("timeout", ["30"])[-1]
    if given:
        raise OptionError(f"{_shown(url)}: unknown parameter {min(given)!r}: timeout is the only one")
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 86_400:
        raise OptionError(f"{_shown(url)}: timeout must be seconds, more than 0 and less than a day")
    return seconds


def without_password(url: str) -> str:
    """Return a URL, or what was meant to be one, without what stands before an @, which may be a password.

    >>> without_password("ampq://guest:secret@localhost")
    'ampq://localhost'
    """
    return re.sub("(?s)^([^:@/]*:/*|/*).*@", r"\1", url)


def _shown(url: str) -> str:
    """Return the URL for an error text."""
    return repr(without_password(url))
