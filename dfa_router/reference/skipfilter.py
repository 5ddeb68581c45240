"""Skipfilter: subscribers with arbitrary predicates, and for each topic a cached bitmap of those that want it.

Kevin Burns's structure (2022), made for the Mercure hub, where a subscriber selects topics by URI templates and each
message has several topics. Predicates cannot be indexed as words can, so each is asked, but once for a subscriber and topic,
not once for each message. Subscribers are numbered and kept in a skip list. A topic has a roaring bitmap of the numbers that
want it, and a cursor, the first number that was not asked about it yet. A message for a topic asks only the subscribers from
the cursor on, and drops those from the bitmap that were removed. With subscribers 0 = ``/users/{id}``, 1 =
``/books/{id}``::

    match("/users/7")    asks 0 and 1    bitmap {0}     cursor 2
    match("/users/7")    asks nobody     bitmap {0}     cursor 2
    add /users/7 as 2
    match("/users/7")    asks 2          bitmap {0, 2}  cursor 3
    remove 0
    match("/users/7")    asks nobody     bitmap {2}     cursor 3      0 is not found, and dropped

Costs: the first message of a topic asks all subscribers, O(n) predicates; each later one O(new subscribers + answer * log
n). Space is the skip list and a compressed bitmap for each topic; at most ``max_topics`` are kept, and the least recently used
is dropped first. If topics never recur, every message asks all subscribers (as in the complaint that led to Mercure's
change, "data posted is always to different topics").

Deviations: the article says that a message takes "the logical And of a set of bitmaps". A message goes to the subscribers
that want *any* of its topics, so it is the union, as in the author's code (``MatchAny``); ``match_all`` intersects. A
predicate that raises an error is not taken for False: the error goes to the caller with a note that names the subscriber,
who is asked again the next time. A predicate that asks the filter itself is refused. A topic's lock is held while subscribers
are asked about it, which is what asks each only once; a predicate that came back for the same topic would wait for itself, and
two that asked for each other's topics in two threads would wait for each other.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from pyroaring import BitMap64

from dfa_router.errors import BindingError, OptionError
from dfa_router.reference.skiplist import SkipList

__all__ = ["SkipFilter", "selects", "uri_template"]

S = TypeVar("S")
T = TypeVar("T", bound=Hashable)


class Cached:
    """The subscribers that want a topic, among those asked so far; the lock is held while others are asked."""

    __slots__ = ("bits", "cursor", "lock")

    def __init__(self) -> None:
        self.bits = BitMap64()
        self.cursor = 0
        self.lock = threading.Lock()


class SkipFilter(Generic[S, T]):
    """Subscribers of any kind, filtered by topics of any hashable kind with ``test(subscriber, topic)``.

    Safe under threads. A subscriber that was added before a call began is in its answer, one that was removed is not.
    ``test`` may add and remove subscribers and ask other filters; if it asks this one, that is an :class:`OptionError`.

    >>> hub = SkipFilter[str, str](lambda prefix, topic: topic.startswith(prefix))
    >>> hub.add("/users"), hub.add("/books")
    (0, 1)
    >>> hub.match("/users/7", "/news")
    ['/users']
    """

    def __init__(self, test: Callable[[S, T], bool], *, max_topics: int = 100_000) -> None:
        if isinstance(max_topics, bool) or not isinstance(max_topics, int) or max_topics < 1:
            raise OptionError(f"max_topics is {max_topics!r}: expected a number of cached topics, 1 or more")
        self._test = test
        self._max_topics = max_topics
        self._subscribers: SkipList[S] = SkipList()
        self._subscribers_lock = threading.Lock()
        self._topics: OrderedDict[T, Cached] = OrderedDict()
        self._topics_lock = threading.Lock()
        self._here = threading.local()
        """``asking`` is there while this thread runs a predicate."""

    def __len__(self) -> int:
        return len(self._subscribers)

    @property
    def topics_cached(self) -> int:
        """The number of topics with a bitmap: never more than ``max_topics``."""
        return len(self._topics)

    def add(self, subscriber: S) -> int:
        """Add a subscriber and return its number, which is never used again: O(1)."""
        with self._subscribers_lock:
            return self._subscribers.append(subscriber)

    def remove(self, number: int) -> S:
        """Remove a subscriber by its number and return it: O(log n). Each bitmap drops it at its next look-up."""
        with self._subscribers_lock:
            try:
                return self._subscribers.remove(number)
            except KeyError:
                raise BindingError(f"there is no subscriber {number} to remove: add() returns the numbers") from None

    def match(self, *topics: T) -> list[S]:
        """Return the subscribers that want any of the topics, each once, the oldest first."""
        return self._live(self._wanting(topics, BitMap64.union), topics)

    def match_all(self, *topics: T) -> list[S]:
        """Return the subscribers that want every one of the topics, the oldest first."""
        return self._live(self._wanting(topics, BitMap64.intersection), topics)

    def any(self, *topics: T) -> bool:
        """Tell whether any subscriber wants any of the topics; stops at the first topic that has one."""
        return any(self._live(self._up_to_date(topic), (topic,)) for topic in topics)

    def _wanting(self, topics: tuple[T, ...], join: Callable[..., BitMap64]) -> BitMap64:
        bitmaps = [self._up_to_date(topic) for topic in topics]
        return join(*bitmaps) if bitmaps else BitMap64()

    def _live(self, numbers: BitMap64, topics: tuple[T, ...]) -> list[S]:
        """Return the subscribers with these numbers, and drop those that were removed from the topics' bitmaps."""
        live: list[S] = []
        gone = BitMap64()
        with self._subscribers_lock:
            for number in numbers:
                try:
                    live.append(self._subscribers.get(number))
                except KeyError:
                    gone.add(number)
        if gone:
            for topic in topics:
                cached = self._cached(topic)
                with cached.lock:
                    cached.bits -= gone
        return live

    def _up_to_date(self, topic: T) -> BitMap64:
        """Ask the subscribers that were not asked about this topic yet; return a copy of its bitmap."""
        if hasattr(self._here, "asking"):
            raise OptionError(
                f"a test asks its own filter about {topic!r} while it is asked about {self._here.asking!r}: the answer would "
                "depend on itself. Let it ask another filter, or find out before match() is called"
            )
        cached = self._cached(topic)
        with cached.lock:
            with self._subscribers_lock:
                fresh = list(self._subscribers.since(cached.cursor))
            for number, subscriber in fresh:
                self._here.asking = topic
                try:
                    wanted = self._test(subscriber, topic)
                except Exception as error:
                    error.add_note(f"subscriber {number} was asked whether it wants {topic!r}")
                    raise
                finally:
                    del self._here.asking
                if wanted:
                    cached.bits.add(number)
                cached.cursor = number + 1
            return BitMap64(cached.bits)

    def _cached(self, topic: T) -> Cached:
        with self._topics_lock:
            cached = self._topics.get(topic)
            if cached is None:
                cached = self._topics[topic] = Cached()
                if len(self._topics) > self._max_topics:
                    self._topics.popitem(last=False)
            else:
                self._topics.move_to_end(topic)
            return cached


def selects(*selectors: str | re.Pattern[str] | Callable[[str], bool]) -> Callable[[str], bool]:
    """Return the predicate of a subscriber with several selectors: whether any of them matches a topic.

    A string is a URI template; a compiled regular expression must match the whole topic; a function is called with it.

    >>> import re
    >>> wants = selects("/users/{id}", re.compile("/news/.*"))
    >>> wants("/users/7"), wants("/news/today/1"), wants("/users/7/books")
    (True, True, False)
    """
    tests = [
        uri_template(one).fullmatch if isinstance(one, str) else one.fullmatch if isinstance(one, re.Pattern) else one
        for one in selectors
    ]
    return lambda topic: any(test(topic) for test in tests)


def uri_template(template: str) -> re.Pattern[str]:
    """Return the regular expression for the URIs that a template (RFC 6570) can expand to; ``*`` alone matches all.

    Two kinds of expressions are known: ``{name}`` stands for unreserved and percent-encoded characters, ``{+name}`` for any
    characters. Raises :class:`OptionError` for others.
    """
    if template == "*":
        return re.compile(".*", re.DOTALL)
    parts = []
    for part in re.split(r"(\{[^{}]*\})", template):
        if not part.startswith("{"):
            if "{" in part or "}" in part:
                raise OptionError(f"the URI template {template!r} has a brace without its partner: write %7B or %7D")
            parts.append(re.escape(part))
        elif re.fullmatch(r"\{\+?\w+\}", part):
            parts.append(".*" if part[1] == "+" else "(?:[A-Za-z0-9._~-]|%[0-9A-Fa-f]{2})*")
        else:
            raise OptionError(
                f"the URI template {template!r} has the expression {part}: only {{name}} and {{+name}} are known here; "
                "pass a compiled regular expression instead"
            )
    return re.compile("".join(parts), re.DOTALL)
