"""What the matchers that are built over a topic space share: the topics as bytes, and keys outside of the space."""

from __future__ import annotations

from collections.abc import Iterable

from dfa_router.errors import InputError, OptionError

__all__ = ["adds_unknown", "outside", "topic_bytes"]


def topic_bytes(topics: Iterable[bytes | str]) -> list[bytes]:
    """Return the topics as bytes, once each, in order; raises :class:`OptionError` for a value that is no topic."""
    if isinstance(topics, (bytes, str)) or not isinstance(topics, Iterable):
        raise OptionError(f"topics is {topics!r}: expected the keys of the topic space in a list, not one of them")
    encoded: dict[bytes, None] = {}
    for index, topic in enumerate(topics):
        if not isinstance(topic, (bytes, str)):
            raise OptionError(f"topics[{index}] is {topic!r} ({type(topic).__name__}): expected str or bytes")
        try:
            encoded[topic if isinstance(topic, bytes) else topic.encode()] = None
        except UnicodeEncodeError as error:
            raise OptionError(
                f"topics[{index}] is {topic!r}, with a lone surrogate at character {error.start}: pass it as bytes"
            ) from None
    return list(encoded)


def adds_unknown(unknown: str) -> bool:
    """Tell whether the option ``unknown`` is "add"; raises :class:`OptionError` if it is not "error" either."""
    if unknown not in ("error", "add"):
        raise OptionError(f"unknown is {unknown!r}: expected 'error' or 'add', for a key outside the topic space")
    return unknown == "add"


def outside(key: bytes) -> InputError:
    """Make the error for a key that the topic space does not hold."""
    return InputError(
        f"the key {key!r} is outside the topic space that this engine was built over: "
        "list it in topics=, or pass unknown='add' to have it added when it is first met"
    )
