"""MQTT 5: each filter has a subscription identifier, and each delivery carries the identifiers of what it matched.

A round has a connection of its own with a clean start: that costs less than to unsubscribe, and nothing is left at its
end. One write holds CONNECT, a SUBSCRIBE per distinct filter and the first messages.

* The broker may send one PUBLISH for each matching subscription, with one identifier each, as Mosquitto does, or one with
  all of them. Both are allowed and read. So a position that comes twice is no fault.
* The same filter twice would be one subscription, with the later identifier. So each distinct filter is subscribed to once.
* Retained messages are not asked for (retain handling 2), and messages with another payload than ours are ignored.
* Mosquitto drops deliveries at QoS 0 when more than ``max_queued_messages`` (1,000) wait for us, and that would look like a
  wrong answer. So messages are published in portions whose deliveries fit into the sockets' buffers or into that queue
  even if every filter matches. A message to ourselves ends each portion.
* Messages are published at QoS 1, as the acknowledgement says whether the broker takes the topic: at QoS 0 it drops a
  message to ``$SYS/x`` without an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from dfa_router.brokers.address import Address
from dfa_router.brokers.broker import Asking, encoded, failure, stray, unwelcome, words
from dfa_router.brokers.mqtt_session import NotTakenError, Session
from dfa_router.brokers.stream import LostError
from dfa_router.language.dialects import dialect_named
from dfa_router.target import Answers, Refused

__all__ = ["MqttBroker"]

_T = TypeVar("_T")
_START_IT = "start an MQTT 5 broker (mosquitto -p 1883) or give the address of one"
_PORTION = 1 << 16
"""The most bytes of deliveries that a portion of topics may cause; the socket buffers of both ends hold more."""
_WAITING = 900
"""Deliveries that may wait in the broker whatever their size: fewer than its queue holds."""
_DELIVERY = 24
"""The most bytes of a delivery beside its topic."""
_FILTERS = 900
"""The most filters on one connection, so that a single message cannot cause too many deliveries."""

_LESS: Mapping[str, Any] = {"shared": False}
"""Mosquitto has rules of its own for shared subscriptions, which are known: it takes some that MQTT 5 §4.8.2 forbids, such as
``$share/+/a``, and delivers nothing below ``$`` to any. Nobody learns more by hearing it again; ``--shared`` asks them."""


class MqttBroker(Asking):
    """A running MQTT 5 broker as a target."""

    def __init__(self, address: Address) -> None:
        """Connect once, to learn whether it answers and what it is; see :func:`dfa_router.brokers.connect`."""
        self.dialect = dialect_named("mqtt")
        self._address = address
        self._receive_maximum = 0xFFFF
        self.name = str(address)
        try:
            self._version = self._greeted()
        except (LostError, NotTakenError) as error:
            lost = error if isinstance(error, LostError) else LostError("died", error.reason)
            raise unwelcome(address, lost, _START_IT) from None
        self.name = f"{address} ({self.describe()})"
        self.scope: Mapping[str, Any] = _LESS if "mosquitto" in self._version.lower() else {}
        """What it is asked by the fuzz tester: see :class:`dfa_router.fuzz.Scope`."""

    def describe(self) -> str:
        """Return product and version, as the broker reports them in ``$SYS/broker/version``."""
        return self._version

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key; see :class:`dfa_router.target.Target`."""
        positions: dict[bytes, list[int]] = {}
        for at, pattern in enumerate(patterns):
            positions.setdefault(_string(pattern, pattern=at), []).append(at)
        topics = [_string(key, key=at) for at, key in enumerate(keys)]
        filters = list(positions)
        found: list[set[int]] = [set() for _ in keys]
        for begin in range(0, len(filters), _FILTERS):
            part = filters[begin : begin + _FILTERS]
            try:
                deliveries = self._in_session(partial(self._round, filters=part, topics=topics))
            except NotTakenError as refused:
                if refused.filter is not None:
                    raise Refused(refused.reason, pattern=positions[part[refused.filter - 1]][0]) from None
                raise Refused(refused.reason, key=refused.topic) from None
            except LostError as lost:
                raise failure(self, lost, patterns, keys) from None
            for key, matched, numbers in zip(keys, found, deliveries, strict=True):
                for number in numbers:
                    if not 1 <= number <= len(part):
                        everybody = all(len(set(got)) > len(part) for got in deliveries)  # our own last topic, too
                        raise stray(self, key, patterns, keys, everybody=everybody)
                    matched.update(positions[part[number - 1]])
        return [tuple(sorted(matched)) for matched in found]

    def minds(self, patterns: Sequence[str], keys: Sequence[str]) -> str | None:
        """Offer the broker all of these at once; return its words if it refuses any, else None."""
        filters = [_string(pattern, pattern=at) for at, pattern in enumerate(patterns)]
        topics = [_string(key, key=at) for at, key in enumerate(keys)]
        try:
            for begin in range(0, len(filters), _FILTERS):
                self._in_session(partial(self._round, filters=filters[begin : begin + _FILTERS], topics=[]))
            if topics:
                self._in_session(partial(self._round, filters=[], topics=topics))
        except NotTakenError as refused:
            return refused.reason
        except LostError as lost:
            return words(self, lost, lambda: self._in_session(partial(self._round, filters=[], topics=[])))
        return None

    def close(self) -> None:
        """Do nothing: each round has closed its connection, and the broker keeps nothing of it."""

    def _round(self, session: Session, filters: Sequence[bytes], topics: Sequence[bytes]) -> list[list[int]]:
        deliveries: list[list[int]] = [[] for _ in topics]
        session.subscribe(filters)
        for begin, end in self._portions(len(filters), topics):
            session.publish(topics[begin:end], begin, deliveries)
        return deliveries

    def _portions(self, filters: int, topics: Sequence[bytes]) -> Iterator[tuple[int, int]]:
        """Yield ranges of topics whose deliveries fit into the sockets' buffers or the broker's queue; at least one range."""
        begin = size = 0
        for at, topic in enumerate(topics):
            cost = (filters + 1) * (len(topic) + _DELIVERY)
            too_many = size + cost > _PORTION and (at + 1 - begin) * (filters + 1) > _WAITING
            if at > begin and (too_many or at - begin == self._receive_maximum - 1):
                yield begin, at
                begin, size = at, 0
            size += cost
        yield begin, len(topics)

    def _in_session(self, ask: Callable[[Session], _T]) -> _T:
        session = Session(self._address)
        try:
            answer = ask(session)
            session.leave()
        finally:
            session.close()
        return answer

    def _greeted(self) -> str:
        """Connect, learn the broker's limits, and return its product and version."""
        try:
            session = self._greeting([b"$SYS/broker/version"])
        except NotTakenError as refused:
            if refused.filter is None:
                raise
            session = self._greeting([])  # this broker keeps its version from us
        self._receive_maximum = session.receive_maximum
        return session.retained[0].decode(errors="replace") if session.retained else "an MQTT 5 broker"

    def _greeting(self, filters: Sequence[bytes]) -> Session:
        session = Session(self._address)
        try:
            session.subscribe(filters, retain_handling=0)
            session.publish([], 0, [])
            session.leave()
        finally:
            session.close()
        return session


def _string(text: str, *, pattern: int | None = None, key: int | None = None) -> bytes:
    """Return the text as the bytes of an MQTT string; raises Refused for a text that MQTT cannot carry."""
    string = encoded(text)
    if string is None:
        raise Refused(f"{text!r} holds a lone surrogate, which UTF-8 cannot carry", pattern=pattern, key=key)
    if len(string) > 0xFFFF:
        raise Refused(f"it has {len(string)} bytes: MQTT carries strings of up to 65535", pattern=pattern, key=key)
    return string
