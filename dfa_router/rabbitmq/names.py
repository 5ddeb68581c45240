"""Sentences about names that are not there, with the names that are: most such names are typing errors.

For one name, :func:`near` compares it with all others. A log may hold a million names that are not there, so for these
:class:`Names` looks names up that differ by one character, whose cost does not grow with the number of exchanges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from dfa_router.short_strings import MAX_BYTES

__all__ = ["Names", "near", "no_exchange", "no_name"]


def no_exchange(
    name: str, vhost: str, vhosts: Iterable[str], exchanges: Iterable[tuple[str, str]], source: str = ""
) -> str:
    """Say that there is no such exchange, or no such vhost, and what there is instead; ``exchanges`` are (vhost, name).

    What is no text is no name, and has none near it.

    >>> no_exchange("markte", "/", ["/"], [("/", "market")])
    "no exchange 'markte' in vhost '/'; near names: 'market'"
    """
    if (wrong := no_name(vhost=vhost, exchange=name)) is not None:
        return wrong
    where = f" in {source}" if source else ""
    if vhost not in vhosts:
        return f"no vhost {_quoted(vhost)}{where}{near(vhost, vhosts)}"
    elsewhere = [place for place, other in exchanges if other == name]
    if elsewhere:
        hint = f"; vhost {elsewhere[0]!r} has one"
    else:
        hint = near(name, [other for place, other in exchanges if place == vhost and other])
    return f"no exchange {_quoted(name)} in vhost {vhost!r}{where}{hint}"


def no_name(**given: object) -> str | None:
    """Say which of some values is no text, and so no name; None if all of them are.

    >>> no_name(vhost="/", queue=5)
    'the queue is 5 (int): expected str'
    """
    for what, name in given.items():
        if not isinstance(name, str):
            return f"the {what} is {name!r} ({type(name).__name__}): expected str"
    return None


class Names:
    """The vhosts and exchanges of a topology, to say of many names that they are not there.

    >>> names = Names(["/"], [("/", "market"), ("/", "orders")])
    >>> names.no_exchange("markte", "/")
    "no exchange 'markte' in vhost '/'; near names: 'market'"
    >>> names.no_exchange("x", "/")
    "no exchange 'x' in vhost '/'; there are 2: 'market', 'orders'"
    """

    def __init__(self, vhosts: Iterable[str], exchanges: Iterable[tuple[str, str]]) -> None:
        """Take the names of the vhosts, and the exchanges as (vhost, name)."""
        self._vhosts = _Near(vhosts)
        self._places: dict[str, str] = {}
        names: dict[str, list[str]] = {vhost: [] for vhost in self._vhosts.names}
        for vhost, name in exchanges:
            self._places.setdefault(name, vhost)
            if name:
                names.setdefault(vhost, []).append(name)
        self._exchanges = {vhost: _Near(inside) for vhost, inside in names.items()}

    def no_exchange(self, name: str, vhost: str) -> str:
        """Say that there is no such exchange, or no such vhost, and what there is instead."""
        if vhost not in self._exchanges:
            return f"no vhost {_quoted(vhost)}{self._vhosts.hint(vhost)}"
        elsewhere = self._places.get(name)
        hint = self._exchanges[vhost].hint(name) if elsewhere is None else f"; vhost {elsewhere!r} has one"
        return f"no exchange {_quoted(name)} in vhost {vhost!r}{hint}"


class _Near:
    """Names, found by what is left of them when one character is taken away, as a typing error leaves it."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sorted(set(names))
        self._other = _some(self.names)
        self._shortened: dict[str, list[str]] = {}
        for name in self.names:
            for short in _shortened(name):
                self._shortened.setdefault(short, []).append(name)

    def hint(self, name: str) -> str:
        found = {near for short in _shortened(name) for near in self._shortened.get(short, ())}
        return f"; near names: {', '.join(map(repr, sorted(found)[:3]))}" if found else self._other


def _shortened(name: str) -> Iterator[str]:
    """Yield a name, and what is left of it without each of its characters."""
    if len(name) > MAX_BYTES + 1:
        return
    yield name
    for place in range(len(name)):
        yield name[:place] + name[place + 1 :]


def _quoted(name: str) -> str:
    """Return a name as sentences have it: whole if it could be one, and otherwise, as in a damaged log, how it begins."""
    return repr(name if len(name) <= MAX_BYTES else name[:60] + "...")


def near(name: str, names: Iterable[str]) -> str:
    """Return a hint that lists names like this one, or how many there are to choose from."""
    named = sorted(set(names))
    close = get_close_matches(name[: MAX_BYTES + 1], named, n=3, cutoff=0.5)
    if close:
        return f"; near names: {', '.join(map(repr, close))}"
    return _some(named)


def _some(named: list[str]) -> str:
    some = ", ".join(map(repr, named[:5]))
    return f"; there are {len(named)}: {some}{', ...' if len(named) > 5 else ''}" if named else "; there are none"
