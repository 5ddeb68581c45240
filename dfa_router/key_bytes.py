"""A routing key as the bytes of the protocol."""

from __future__ import annotations

from dfa_router.arrow import LONGEST_KEY, too_long
from dfa_router.errors import KeyTypeError

__all__ = ["key_bytes"]


def key_bytes(key: str | bytes) -> bytes:
    """Return a routing key as the bytes of the protocol.

    Raises :class:`KeyTypeError` if it is neither text nor bytes, or has 2 GiB and more.
    """
    if isinstance(key, str):
        try:
            found = key.encode()
        except UnicodeEncodeError as error:
            raise KeyTypeError(
                f"the routing key {key!r} has a lone surrogate at character {error.start}: pass the key as bytes"
            ) from None
    elif isinstance(key, bytes):
        found = key
    else:
        raise KeyTypeError(f"the routing key is {key!r} ({type(key).__name__}): expected str or bytes")
    if len(found) > LONGEST_KEY:
        raise too_long("the routing key", len(found))
    return found
