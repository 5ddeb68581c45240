"""The bridges of Mosquitto's configuration: which topics a broker hands on to another.

A ``connection NAME`` begins a bridge, and its ``topic`` lines say what goes which way: ``topic PATTERN [out|in|both [QOS
[LOCAL REMOTE]]]``, the last two being texts to write before the pattern on either side.

Source: mosquitto.conf(5). What this leaves out: all other lines, which are passed over; files of ``include_dir``.
"""

from __future__ import annotations

from collections.abc import Iterator

from dfa_router.errors import InputError

__all__ = ["bridged"]

_WAYS = ("out", "in", "both")


def bridged(text: str, source: str = "mosquitto.conf") -> Iterator[tuple[str, str, int]]:
    r"""Yield the pattern of each line about a bridge, who gets it and how, and the line; raises ``InputError`` for a wrong line.

    >>> list(bridged("connection up\naddress host\ntopic a/# out 1 here/ there/\ntopic b/+\n"))
    [('a/#', 'bridge up, out, here/ to there/', 3), ('b/+', 'bridge up, out', 4)]
    """
    bridge: str | None = None
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if words[:1] == ["connection"] and len(words) == 2:
            bridge = words[1]
        elif words[:1] == ["topic"]:
            way, prefixes = words[2] if len(words) > 2 else "out", words[4:]
            if bridge is None or len(words) == 1 or way not in _WAYS or len(prefixes) > 2:
                raise InputError(
                    f"{source}:{number}: is {line.strip()[:60]!r}: expected 'topic PATTERN [out|in|both [QOS [LOCAL REMOTE]]]' in a "
                    "'connection'"
                )
            local, remote = ("" if one == '""' else one for one in (*prefixes, "", "")[:2])
            around = f"{local} to {remote}" if local and remote else f"to {remote}" if remote else local
            yield words[1], f"bridge {bridge}, {way}{around and ', '}{around}", number
