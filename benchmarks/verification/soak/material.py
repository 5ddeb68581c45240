"""What a round of the soak is made of: binding sets of several kinds, keys that match and awkward ones, Arrow columns."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pyarrow as pa

from benchmarks.verification.soak.answers import Key, raw
from benchmarks.verification.soak.collisions import draw_colliding_pairs, draw_colliding_words

__all__ = ["FORMS", "KINDS", "as_column", "draw_bindings", "draw_keys", "draw_order", "draw_raw_keys"]

AWKWARD = [
    "",
    "a",
    "ab",
    "a\0",
    "é",
    "ключ",
    "*a",
    "a#",
    "##",
    "x" * 7,
    "x" * 8,
    "x" * 9,
    "x" * 8 + "y",
    "x" * 16,
    "x" * 16 + "y",
    "x" * 32,
    "x" * 32 + "y",
    "x" * 40,
]
"""Words that share their first 8, 16 or 32 bytes, words that only look like wildcards, and words beyond ASCII."""


def _small(rng: random.Random) -> list[str]:
    """Draw patterns of few words with many wildcards: keys then walk every path through the automaton."""
    words = rng.sample(["a", "b", "c", "", "d"], rng.randint(2, 4))
    return [_pattern(rng, words, 6, 0.2, 0.2) for _ in range(rng.randint(1, 60))]


def _large(rng: random.Random) -> list[str]:
    """Draw thousands of patterns over hundreds of words, few of them with wildcards."""
    words = [f"w{i}" for i in range(rng.randint(20, 400))]
    return [_pattern(rng, words, 5, 0.1, rng.choice([0.0, 0.01, 0.05])) for _ in range(rng.randint(200, 3000))]


def _fleet(rng: random.Random) -> list[str]:
    """Draw a set so large that a doorkeeper stands before the cache."""
    sites, metrics = rng.choice([20, 2000]), ["temp", "load", "a-name-of-more-than-eight-bytes"]
    patterns = [f"site.{rng.randrange(sites)}.dev.{i}.{rng.choice(metrics)}" for i in range(100_000)]
    patterns += [f"site.{rng.randrange(sites)}.#.{rng.choice(metrics)}" for _ in range(rng.choice([0, 50]))]
    patterns += [f"#.{rng.randrange(100_000)}.#.{rng.choice(metrics)}" for _ in range(rng.choice([0, 5]))]
    return patterns + [f"site.*.dev.{rng.randrange(100_000)}.*" for _ in range(1000)]


def _awkward(rng: random.Random) -> list[str]:
    """Draw patterns of words that mistakes in hashing or comparing would confuse."""
    return [_pattern(rng, AWKWARD, 4, 0.1, 0.1) for _ in range(rng.randint(1, 100))]


def _stars_behind_hashes(rng: random.Random) -> list[str]:
    """Draw a set that needs more states than any cache of the soak can hold."""
    stars = [f"#.{rng.choice('ab')}" + ".*" * rng.randint(2, 12) for _ in range(rng.randint(1, 20))]
    return stars + [f"*.#.{rng.choice('abc')}.#" for _ in range(rng.randint(0, 5))]


def _words_anywhere(rng: random.Random) -> list[str]:
    """Make a set each of whose subsets is an accept set."""
    return [f"#.w{i}.#" for i in range(rng.randint(2, 14))]


def _leading_hashes(rng: random.Random) -> list[str]:
    """Draw many patterns that begin with ``#``."""
    words = [f"w{i}" for i in range(rng.randint(5, 60))]
    return ["#." + _pattern(rng, words, 4, 0.1, 0.1) for _ in range(rng.randint(50, 1000))]


def _stars(rng: random.Random) -> list[str]:
    """Draw patterns of ``*`` and two letters: a key is at many positions of the automaton at once."""
    return [".".join(rng.choice("**ab") for _ in range(rng.randint(4, 12))) for _ in range(rng.randint(20, 200))]


def _every_key(rng: random.Random) -> list[str]:
    """Draw a set of which thousands of bindings match every key, in sets of many sizes."""
    return ["#"] * rng.choice([1000, 5000]) + [f"{letter}.#" for letter in "abcd" for _ in range(rng.randint(1, 500))]


KINDS: dict[str, Callable[[random.Random], list[str]]] = {
    "small": _small,
    "large": _large,
    "fleet": _fleet,
    "awkward words": _awkward,
    "stars behind hashes": _stars_behind_hashes,
    "words anywhere": _words_anywhere,
    "leading hashes": _leading_hashes,
    "stars": _stars,
    "colliding words": draw_colliding_words,
    "colliding pairs": draw_colliding_pairs,
    "every key": _every_key,
}


def draw_bindings(rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Draw a binding set; return its kind and the set. Some patterns occur twice, and bindings share destinations."""
    kind = rng.choice(list(KINDS))
    patterns = KINDS[kind](rng)
    patterns += rng.choices(patterns, k=len(patterns) // 10)
    return kind, [(pattern, f"q{rng.randrange(1 + len(patterns) // 2)}") for pattern in patterns]


def draw_keys(rng: random.Random, patterns: Sequence[str]) -> list[str]:
    """Draw distinct keys: some match by construction, some nearly do, some are awkward."""
    words = sorted({word for pattern in patterns for word in pattern.split(".")} - {"*", "#"})
    some = [*rng.sample(words, min(len(words), 50)), "stranger", *rng.sample(AWKWARD, 3)]
    keys = {"", ".", "..", "." * rng.randint(3, 90)}
    for _ in range(rng.choice([20, 300, 3000])):
        if rng.random() < 0.6:
            keys.add(_filled(rng, rng.choice(patterns), some))
        else:
            keys.add(".".join(rng.choices(some, k=rng.randint(1, 12))))
    if rng.random() < 0.1:
        keys.add(".".join(rng.choices(some, k=rng.randint(1000, 5000))))
    if rng.random() < 0.1:
        keys.add("z" * rng.randint(1000, 1_000_000))
    drawn = sorted(keys)
    rng.shuffle(drawn)
    return drawn


def draw_raw_keys(rng: random.Random, keys: Sequence[str]) -> list[bytes]:
    """Draw keys that are no text, or hardly: bytes that are no UTF-8, zeros, halves of characters, words of many bytes."""
    found = {b"\xff", b"\0", b".\0.", b"\xc3"}
    for key in rng.choices(keys, k=rng.choice([5, 200])):
        text = key.encode()
        at = rng.randint(0, len(text))
        found.add(text[:at] + rng.choice([b"\0", b"\xff", b"\xc3.", b".\x80", b"\0" * 9, b"\xfe" * 300]) + text[at:])
    drawn = sorted(found)
    rng.shuffle(drawn)
    return drawn


def draw_order(rng: random.Random, keys: Sequence[Key]) -> tuple[str, list[Key | None]]:
    """Draw an order; return its name and the keys in it, repeated, and with nulls among them in some rounds."""
    order = rng.choice(["as drawn", "sorted", "runs", "a few mostly", "cycles"])
    length = rng.choice([len(keys), 5000, 20_000])
    if order == "sorted":
        rows = sorted(rng.choices(keys, k=length))
    elif order == "runs":
        rows = [key for key in rng.choices(keys, k=length // 50 + 1) for _ in range(rng.randint(1, 100))]
    elif order == "a few mostly":
        rows = rng.choices(keys, [1 / (1 + i) for i in range(len(keys))], k=length)
    elif order == "cycles":
        rows = [keys[i % len(keys)] for i in range(length)]
    else:
        rows = list(keys)
    nulls = rng.random() < 0.3
    return order, [None if nulls and rng.random() < 0.05 else key for key in rows]


def _type(rows: Sequence[Key | None]) -> pa.DataType:
    """Return the type of Arrow's that can hold the keys: text, or bytes."""
    return pa.binary() if any(isinstance(row, bytes) for row in rows) else pa.string()


def _large_type(_: random.Random, rows: Sequence[Key | None]) -> pa.Array:
    return pa.array(rows, pa.large_binary() if _type(rows) == pa.binary() else pa.large_string())


def _binary(_: random.Random, rows: Sequence[Key | None]) -> pa.Array:
    return pa.array([None if row is None else raw(row) for row in rows], pa.binary())


def _sliced(rng: random.Random, rows: Sequence[Key | None]) -> pa.Array:
    before, after = rng.randint(0, 9), rng.randint(0, 3)
    fill = b"before" if _type(rows) == pa.binary() else "before"
    return pa.array([fill] * before + list(rows) + [fill] * after, _type(rows)).slice(before, len(rows))


def _chunked(rng: random.Random, rows: Sequence[Key | None]) -> pa.ChunkedArray:
    cuts = sorted(rng.randint(0, len(rows)) for _ in range(rng.randint(1, 6)))
    kind = _type(rows)
    chunks = [pa.array(rows[a:b], kind) for a, b in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    return pa.chunked_array(chunks, kind)


def _dictionary(rng: random.Random, rows: Sequence[Key | None]) -> pa.Array:
    cut = rng.randint(0, len(rows) // 2)
    return pa.array(list(rows[:cut]) + list(rows), _type(rows)).dictionary_encode().slice(cut, len(rows))


FORMS: dict[str, Callable[[random.Random, Sequence[Key | None]], pa.Array | pa.ChunkedArray]] = {
    "string": lambda _, rows: pa.array(rows, _type(rows)),
    "large_string": _large_type,
    "binary": _binary,
    "list": lambda _, rows: list(rows),
    "sliced": _sliced,
    "chunked": _chunked,
    "dictionary": _dictionary,
}


def as_column(rng: random.Random, rows: Sequence[Key | None]) -> tuple[str, pa.Array | pa.ChunkedArray]:
    """Draw one of the forms that ``match_batch`` takes; return its name and the keys in it."""
    form = rng.choice(list(FORMS))
    return form, FORMS[form](rng, rows)


def _pattern(rng: random.Random, words: Sequence[str], longest: int, stars: float, hashes: float) -> str:
    return ".".join(
        "#" if (x := rng.random()) < hashes else "*" if x < hashes + stars else rng.choice(words)
        for _ in range(rng.randint(0 if longest > 5 else 1, longest))
    )


def _filled(rng: random.Random, pattern: str, words: Sequence[str]) -> str:
    """Make a key of a pattern: words replace the wildcards, and here and there another word replaces a word."""
    out: list[str] = []
    for word in pattern.split(".") if pattern else []:
        if word == "#":
            out += rng.choices(words, k=rng.choice([0, 0, 1, 2, 5]))
        elif word == "*" or rng.random() < 0.03:
            out.append(rng.choice(words))
        else:
            out.append(word)
    return ".".join(out)
