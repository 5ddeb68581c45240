"""Damage compiled files in every way we can think of, and hold each to the promise: refused, or right.

A program and not a test, because a kernel that reads where it should not takes its process with it: the test starts this
one, with its memory limited, and looks at how it ends. ``python tests/storage/damage.py 20000 7`` damages 20,000 files, beginning
with seed 7. Half of them get their checksum recomputed, and some of these the fingerprint as well: such a file may hold
other bindings than it did, and is right if it answers as the plain specification does for the bindings that it has.
"""

from __future__ import annotations

import hashlib
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import zlib
from collections import Counter
from pathlib import Path

import dfa_router as dr

HEADER, ENTRY = struct.Struct("=8sIIIIQ"), struct.Struct("=24s8sQQ")
Places = dict[str, tuple[int, int, int]]
SPARE_BYTES = 512 << 20
SECONDS = 20


def plain(n: int, rng: random.Random) -> list[tuple[str, str]]:
    words = ["a", "b", "c", "", "*", "#", "longer-than-8", "longer-than-9", "é", "日本"]
    return [(".".join(rng.choices(words, k=rng.randrange(6))), f"queue-{rng.randrange(n // 2 + 1)}") for _ in range(n)]


def spoken(name: str, rng: random.Random) -> list[tuple[str, str]]:
    """Bindings of a dialect with rules, on both sides of its reserved byte."""
    dialect = dr.dialect_named(name)
    wild = [word.decode() for word in (dialect.one, dialect.many, dialect.some) if word is not None]
    words = ["a", "b", "", "$x", "longer-than-8", *wild]
    rows = [dialect.separator.decode().join(rng.choices(words, k=rng.randrange(1, 5))) for _ in range(60)]
    rows += [f"$share/g/{row}" for row in rows] if dialect.shared else []
    return [(row, f"queue-{len(row)}") for row in rows if dr.pattern_problem(row, dialect) is None]


def keys_of(name: str, rng: random.Random) -> list[str]:
    words = ["a", "b", "", "$x", "$share", "longer-than-8", "+", "#P2P"]
    return [
        dr.dialect_named(name).separator.decode().join(rng.choices(words, k=rng.randrange(1, 5))) for _ in range(60)
    ]


def originals() -> list[tuple[dr.Router, list[str]]]:
    """Routers of every shape, and keys to ask each of them."""
    rng = random.Random(1)
    keys = [
        ".".join(rng.choices(["a", "b", "", "longer-than-8", "é", "w3", "w77", "other"], k=rng.randrange(7)))
        for _ in range(60)
    ]
    wide = [(f"a.w{i}.*.b{i % 7}", f"q{i % 5}") for i in range(3000)] + [("#.a.*", "x"), ("a.#.b", "y")]
    # So many for their cache that keys without wildcards are looked up whole.
    apart = [(f"a.d{i}.b{i % 7}", f"q{i % 9}") for i in range(4500)] + [(f"a.d{i}.*", "y") for i in range(0, 900, 3)]
    trees = [(f"w{i}.#.b", f"q{i % 9}") for i in range(40)] + [("#.a.*", "x"), ("*.b", "y")]
    slash = dr.Dialect(name="amqp", separator=b"/", one=b"+", many=b"**", max_bytes=None)
    return [
        (dr.compile([]), keys),
        (dr.compile([("", "root"), ("#", "all")]), keys),
        (dr.compile(plain(12, rng)), keys),
        (dr.compile(plain(12, rng), engine="nfa"), keys),
        (dr.compile(plain(80, rng), cache_bytes=4096), keys),
        (dr.compile(plain(30, rng), dialect="exact"), keys),
        (
            dr.compile([("a/+/**", "one"), ("**/b", "two"), ("a.b/*", "three")], dialect=slash),
            [key.replace(".", "/") for key in keys] + ["a.b/*"],
        ),
        (dr.compile(plain(12, rng)).seal(keys), keys),
        (dr.compile(trees).seal(keys[::2] + [f"w{i}.x.b" for i in range(0, 40, 3)]), keys),
        (dr.compile(spoken("mqtt", rng), dialect="mqtt").seal(keys_of("mqtt", rng)), keys_of("mqtt", rng)),
        (
            dr.compile(apart, cache_bytes=1 << 20).seal(keys),
            [*keys, *(f"a.d{i}.b{i % 6}" for i in range(0, 4500, 150))],
        ),
        (dr.compile(wide), [*keys, *(f"a.w{i}.x.b{i % 7}" for i in range(0, 3000, 100))]),
        *[(dr.compile(spoken(name, rng), dialect=name), keys_of(name, rng)) for name in ("mqtt", "nats", "solace")],
    ]


def sections(data: bytes) -> Places:
    """Offset, number of items and size of an item of each section of an undamaged file."""
    count = HEADER.unpack_from(data)[4]
    table = [ENTRY.unpack_from(data, HEADER.size + i * ENTRY.size) for i in range(count)]
    return {name.rstrip(b"\0").decode(): (offset, items, int(kind[1:2])) for name, kind, offset, items in table}


def damaged(data: bytes, places: Places, rng: random.Random) -> bytes:
    """Change a file's content in one random way; ``places`` are the sections that it had."""
    found = bytearray(data)
    kind = rng.randrange(18)
    at = rng.randrange(len(found))
    run = min(len(found) - at, rng.choice([1, 2, 4, 8, 40, 300]))
    if kind == 0:
        found[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        found[at : at + run] = rng.randbytes(run)
    elif kind == 2:
        found[at : at + run] = bytes([rng.choice([0, 0xFF])]) * run
    elif kind == 3:
        del found[at:]
    elif kind == 4:
        del found[at : at + run]
    elif kind == 5:
        found[at:at] = rng.randbytes(run)
    elif kind == 6:
        to = rng.randrange(len(found) - run + 1)
        found[to : to + run] = found[at : at + run]
    elif kind == 7:
        found += rng.randbytes(rng.choice([1, 8, 5000]))
    elif kind == 8:  # a number of the header or of the table
        at = rng.randrange(12, HEADER.size + 13 * ENTRY.size, 4)
        found[at : at + 4] = struct.pack("=I", rng.choice([0, 1, 2, 3, 0xFFFFFFFF, 0x7FFFFFFF, rng.randrange(1 << 20)]))
    else:
        damage_item(found, places, rng)
    return bytes(found)


def damage_item(found: bytearray, places: Places, rng: random.Random) -> None:
    """Change an item of a section to one that is not far, or swap two, or make one extreme."""
    offset, items, size = rng.choice([place for place in places.values() if place[1]])
    code = {1: "B", 4: "i", 8: "q"}[size]
    top = 1 << 8 * size - (size > 1)
    i, j = rng.randrange(items), rng.randrange(items)
    (one,) = struct.unpack_from("=" + code, found, offset + i * size)
    (two,) = struct.unpack_from("=" + code, found, offset + j * size)
    kind = rng.randrange(6)
    if kind == 0:
        one, two = two, one
    elif kind == 1:
        one = two
    elif kind == 2:
        one += rng.choice([-2, -1, 1, 2])
    elif kind == 3:
        one = rng.choice([top - 1, -top, -1, -2, -3, 0, items, items + 1])
    elif kind == 4:
        one = rng.randrange(items + 2)
    else:
        one = rng.choice(b".*#ab")
    for place, value in ((i, one), (j, two)):
        if i == j and place == j and value is two:
            continue
        low = 0 if size == 1 else -top
        struct.pack_into("=" + code, found, offset + place * size, min(max(value, low), top - 1))


def sealed(data: bytes, original: bytes, *, fingerprint: bool, size: bool) -> bytes:
    """Make a damaged file's checksum right again, and its stated size, and its fingerprint if its length is as it was."""
    found = bytearray(data)
    if size and len(found) >= HEADER.size:
        found[24:32] = struct.pack("=Q", len(found))
    if fingerprint and len(found) == len(original):
        digest = hashlib.blake2b(digest_size=16)
        places = sections(original)
        for name in ("about", "codes", "name_offsets", "name_data"):
            offset, items, width = places[name]
            digest.update(items.to_bytes(8, "little"))
            digest.update(found[offset : offset + items * width])
        offset = places["fingerprint"][0]
        found[offset : offset + 16] = digest.digest()
    found[8:12] = struct.pack("=I", zlib.crc32(found[12:]))
    return bytes(found)


def answers(router: dr.Router, keys: list[str]) -> object:
    batch = router.match_batch(keys)
    return (
        [router.match(key) for key in keys[:10]],
        batch.destinations().to_pylist(),
        batch.bindings().to_pylist(),
    )


def check(path: Path, expected: object, keys: list[str], rng: random.Random, *, foreign: bool) -> str:
    """Load a file and ask it; return how it was refused, or that it was right."""
    engine, cache_bytes = rng.choice([None, None, "dfa", "nfa"]), rng.choice([None, None, 0, 2000, 1 << 20])
    try:
        router = dr.load(path, engine=engine, cache_bytes=cache_bytes, mapped=rng.random() < 0.5)
    except dr.FileFormatError as error:
        return str(error.kind)
    found = answers(router, keys)
    if found == expected:
        return "right"
    assert foreign, f"{path}: {router} gives other answers than it did"
    assert found == answers(dr.compile(router.bindings, dialect=router.dialect, engine="naive"), keys), path
    return "another router's"


def main(count: int, seed: int) -> None:
    outcomes: dict[str, Counter[str]] = {"as damaged": Counter(), "checksum": Counter(), "both": Counter()}
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        subjects: list[tuple[bytes, object, list[str]]] = []
        for number, (router, keys) in enumerate(originals()):
            path = Path(folder, f"{number}.dfar")
            router.save(path)
            for engine in ("dfa", "nfa"):  # all kernels are compiled before memory is limited
                assert answers(dr.load(path, engine=engine), keys) == answers(router, keys)
            subjects.append((path.read_bytes(), answers(router, keys), keys))
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + SPARE_BYTES, used + SPARE_BYTES))
        signal.signal(signal.SIGALRM, hanging)
        for number in range(seed, seed + count):
            rng = random.Random(number)
            data, expected, keys = subjects[rng.randrange(len(subjects))]
            wrong = damaged(data, sections(data), rng)
            while len(wrong) == len(data) and rng.random() < 0.2:
                wrong = damaged(wrong, sections(data), rng)
            how = "as damaged" if number % 2 else rng.choice(["checksum", "both"])
            if how != "as damaged" and len(wrong) >= 12:
                wrong = sealed(wrong, data, fingerprint=how == "both", size=rng.random() < 0.7)
            path = Path(folder, f"damaged-{number}.dfar")
            path.write_bytes(wrong)
            began = time.perf_counter()
            signal.alarm(SECONDS)
            outcomes[how][check(path, expected, keys, rng, foreign=how == "both")] += 1
            signal.alarm(0)
            slowest = max(slowest, time.perf_counter() - began)
            path.unlink()
    for how, found in outcomes.items():
        print(f"{how}: {found.total()}: " + ", ".join(f"{kind} {n}" for kind, n in found.most_common()))
    print(f"slowest {slowest * 1000:.0f} ms")


def hanging(*_: object) -> None:
    raise TimeoutError(f"a file takes over {SECONDS} seconds")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
