"""Sentences about names that are not there, with the names that are: most such names are typing errors."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["near", "no_exchange"]


def no_exchange(
    name: str, vhost: str, vhosts: Iterable[str], exchanges: Iterable[tuple[str, str]], source: str = ""
) -> str:
    """Say that there is no such exchange, or no such vhost, and what there is instead; ``exchanges`` are (vhost, name).

    >>> no_exchange("markte", "/", ["/"], [("/", "market")])
    "no exchange 'markte' in vhost '/'; near names: 'market'"
    """
    where = f" in {source}" if source else ""
    if vhost not in vhosts:
        return f"no vhost {vhost!r}{where}{near(vhost, vhosts)}"
    elsewhere = [place for place, other in exchanges if other == name]
    if elsewhere:
        hint = f"; vhost {elsewhere[0]!r} has one"
    else:
        hint = near(name, [other for place, other in exchanges if place == vhost and other])
    return f"no exchange {name!r} in vhost {vhost!r}{where}{hint}"


def near(name: str, names: Iterable[str]) -> str:
    """Return a hint that lists names like this one, or how many there are to choose from."""
    named = sorted(set(names))
    close = get_close_matches(name, named, n=3, cutoff=0.5)
    if close:
        return f"; near names: {', '.join(map(repr, close))}"
    some = ", ".join(map(repr, named[:5]))
    return f"; there are {len(named)}: {some}{', ...' if len(named) > 5 else ''}" if named else "; there are none"
