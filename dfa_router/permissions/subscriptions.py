"""Subscriptions that are accepted by their text and get what the rules refuse.

Brokers that ask rules about the text of a subscription accept ``a/#`` where ``a/+`` is allowed, and ``#`` where ``a/secret``
is denied. Subscriptions to try are made from the patterns of the rules themselves: what is allowed, with its wildcards as words
of the subscription, and where that meets what is refused, with wildcards in place of words. Of those that are accepted and get
a key that is refused, the shortest is the witness; the key comes from :mod:`dfa_router.permissions.ladders`, by proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dfa_router.analysis.intersections import intersection
from dfa_router.language.dialects import Dialect
from dfa_router.permissions.ladders import Ladder, beyond, ladder_of
from dfa_router.permissions.leaks import Leak

__all__ = ["leaking"]

_NAME = "any"
"""A word that no rule names: a subscription with it meets a denial and does not cover it."""


def leaking(
    allowed: Iterable[str], refused: Iterable[str], keys: Ladder, accepted: Callable[[str], bool]
) -> Leak | None:
    """Return a shortest accepted subscription, of those tried, with a shortest key that it gets and that ``keys`` refuses.

    ``allowed`` and ``refused`` are patterns that subscriptions are made from.

    >>> from dfa_router.language.dialects import NATS
    >>> leaking(["foo.*"], [], ladder_of([(True, ("foo.*",))], False, NATS), lambda text: text.startswith("foo."))
    Leak(binding='foo.>', key='foo.foo.foo')
    """
    dialect = keys.dialect
    separator = dialect.separator.decode()
    tried = dict.fromkeys(_subscriptions(list(allowed), list(refused), dialect))
    found: list[Leak] = []
    for one in sorted(tried, key=lambda text: (text.count(separator), len(text), text)):
        if found and one.count(separator) > found[0].binding.count(separator):
            break
        if accepted(one):
            key = beyond(ladder_of([(True, (one,))], False, dialect), keys)
            if key is not None:
                found.append(Leak(one, key))
    return min(found, key=lambda leak: (len(leak.key), len(leak.binding)), default=None)


def _subscriptions(allowed: list[str], refused: list[str], dialect: Dialect) -> Iterator[str]:
    separator, one = dialect.separator.decode(), (dialect.one or b"").decode()
    many = (dialect.many or dialect.some or b"").decode()
    for pattern in allowed:
        words = pattern.split(separator)
        for meeting in (
            words,
            *(met.split(separator) for other in refused for met in intersection(pattern, other, dialect)),
        ):
            wild = [
                place
                for place in range(len(meeting))
                if (place >= len(words) - 1 and words[-1] == many) or words[min(place, len(words) - 1)] == one
            ]
            opened = [[*meeting[:place], one, *meeting[place + 1 :]] for place in wild]
            opened.append([one if place in wild else word for place, word in enumerate(meeting)])
            named = [
                [*made[:place], _NAME, *made[place + 1 :]] for made in opened for place in wild if made[place] == one
            ]
            for made in [meeting, *opened, *named]:
                yield separator.join(made)
                for place in wild:
                    yield separator.join([*made[:place], many])
                if made[-1] == many:  # a subscription with single wildcards goes past a rule about the shorter text
                    for count in (1, 2):
                        yield separator.join([*made[:-1], *[one] * count])
                        yield separator.join([*made[:-1], *[one] * count, many])
