"""Memory is bounded by what was handed over: bindings, the keys and sets of this batch, and ``cache_bytes``.

Each step runs in a process of its own, whose memory is what the system counts. Bounds are several times what was measured,
so that they fail where memory follows something else: a square, a product, or what came before.
"""

from __future__ import annotations

import pytest

from tests.router.memory import MB, needs_proc, peak, peaks

pytestmark = [pytest.mark.slow, needs_proc]

SHAPES = {
    "wide": ('("w%d" % i, "q") for i in range(n)', 403),
    "deep": ('(".".join(["a%d" % i] + ["b"] * 60), "q") for i in range(n)', 6090),
    "all-hash": ('("#", "q") for i in range(n)', 188),
    "all-equal": ('("a.*.b.#", "q") for i in range(n)', 250),
    "all-destinations-different": ('("a.%d.*" % (i % 1000), "queue-%d" % i) for i in range(n)', 247),
    "stars-and-words": ('(".".join("*" if i >> b & 1 else "a" for b in range(17)), "q") for i in range(n)', 364),
    "loops-below-loops": ('(".".join("#.w%d" % (i >> 4 * b & 15) for b in range(5)), "q") for i in range(n)', 371),
}
"""How n bindings are made, and the bytes that each took in the process, on CPython 3.11."""


@pytest.mark.parametrize("shape", SHAPES)
def test_compiling_takes_memory_in_proportion_to_the_bindings(shape: str) -> None:
    made, measured = SHAPES[shape]
    compiling = "router = dr.compile(bindings); router.match('x')"
    half, whole = (peak(compiling, f"n = {count}; bindings = [{made}]") for count in (25_000, 50_000))
    assert whole < 4 * measured * 50_000
    assert whole < 3 * max(half, 4 * MB)


def unscrambled(number: int, bits: int) -> int:
    """Return the key of so many bits that the table of edges scrambles to ``number << 64 - bits``."""
    shift = 64 - bits
    key = (((number << shift) * pow(0x9E3779B97F4A7C15, -1, 2**64)) % 2**64) >> shift
    return key ^ key >> (65 - shift >> 1)


def test_words_that_were_chosen_to_collide_take_no_more_memory() -> None:
    """Children of neighbouring places in a table of 2^25: they stay in one place however often it is doubled."""
    count, symbol_bits, bits = 4_000, 12, 25
    pairs = [divmod(unscrambled(number, bits), 1 << symbol_bits) for number in range(5000, 5400)]
    pairs = [(parent, child) for parent, child in pairs if 0 < parent <= count and 0 < child <= count]
    assert len(pairs) > 40
    filled = sorted({*pairs, *((parent, child) for parent, _ in pairs for child in range(1, 7))})
    patterns = [f"w{number}" for number in range(1, count + 1)] + [f"w{parent}.w{child}" for parent, child in filled]
    assert peak("router = dr.compile(bindings)", f"bindings = [(pattern, 'q') for pattern in {patterns}]") < 30 * MB


HASHES = 'router = dr.compile([("#", "q%d" % i) for i in range({bindings})], cache_bytes={cache_bytes})'


@pytest.mark.parametrize("ask", ["match", "match_bindings", "any"])
def test_single_keys_leave_no_memory_behind_for_large_sets(ask: str) -> None:
    """Of 20,000 bindings, each of 1,000 different keys: 300 MB where answers are kept."""
    asking = f"for number in range(1000): router.{ask}('key.%d' % number)"
    assert peak(asking, HASHES.format(bindings=20_000, cache_bytes=1 * MB)) < 8 * MB


LARGE_SETS = """
rows = 100_000
words = [".".join("w%d" % (h % 200) for h in (i, i * 7 + 1, i * 31 + 5, i * 131 + 11)) for i in range(rows)]
router = dr.compile([("#.w%d.#" % i, "q%d" % i) for i in range(200)], cache_bytes=64 << 20)
keys = pa.array(words)
"""


def test_a_warm_cache_is_no_part_of_an_answer() -> None:
    """The cache has tens of thousands of sets; an answer has those of its own keys."""
    rows, batches, half, whole = peaks(
        LARGE_SETS + "router.match_batch(keys)",
        "for row in range(100): kept = router.match_batch(keys.slice(row, 1))",
        "kept = [router.match_batch(keys.slice(row, 1)) for row in range(1000)]",
        "kept = router.match_batch(keys.slice(0, rows // 2))",
        "kept = router.match_batch(keys)",
    )
    assert rows < 1 * MB
    assert batches < 8 * MB
    assert whole < 30 * MB  # 100,000 sets of four bindings, 7 MB
    assert whole < 3 * max(half, 1 * MB)


def test_lists_of_an_answer_take_memory_in_proportion_to_their_entries() -> None:
    answer = LARGE_SETS + "matches = router.match_batch(keys.slice(0, {rows}))\n"
    lists = "kept = matches.bindings(), matches.destinations()"
    half, whole = (peak(lists, answer.format(rows=rows)) for rows in (50_000, 100_000))
    assert whole < 100 * MB  # 400,000 entries, 26 MB
    assert whole < 3 * max(half, 1 * MB)


@pytest.mark.parametrize(
    ("bindings", "cache_bytes"),
    [
        (5000, 1000),
        (20_000, 1 * MB),
        (20_000, 64 * MB),
    ],
)
@pytest.mark.parametrize("key", ["'a.b'", "'key.%d' % number"], ids=["equal keys", "different keys"])
def test_a_batch_keeps_equal_large_sets_once(key: str, bindings: int, cache_bytes: int) -> None:
    before = HASHES.format(bindings=bindings, cache_bytes=cache_bytes)
    before += f"\nkeys = pa.array([{key} for number in range(20_000)])"
    assert peak("matches = router.match_batch(keys)", before) < 2 * cache_bytes + 40 * MB


GROWING = """
import random
chance = random.Random(5)
words = ["w%d" % number for number in range(300)]
def text(stars, least, most):
    return ".".join("*" if chance.random() < stars else chance.choice(words) for _ in range(chance.randint(least, most)))
router = dr.compile([(text(0.3, 2, 4), "q%d" % number) for number in range(3000)], cache_bytes={cache_bytes})
keys = pa.array([text(0, 2, 4) for _ in range(100_000)])
router.match_batch(keys.slice(0, 10))
"""


@pytest.mark.parametrize("mib", [2, 4, 8, 16])
def test_outgrown_tables_are_the_systems_again(mib: int) -> None:
    """What a process takes keeps to the bound, as what is counted does. Where malloc kept them, 4 MiB became 8.4 MB, and 8 MiB 13.7.

    What is no table (this batch, ends of pages, code that is read for the first time) takes 0.1 to 0.4 MB, whatever the bound.
    """
    matching = "for start in range(0, len(keys), 2048): router.match_batch(keys.slice(start, 2048))"
    cache_bytes = mib << 20
    assert peak(matching, GROWING.format(cache_bytes=cache_bytes)) < 1.1 * cache_bytes + 0.8 * MB


@pytest.mark.parametrize("key", ["'a.' + 'x' * 1_000_000", "'a' + '.x' * 500_000", "'.' * 1_000_000"])
def test_long_keys_take_no_memory_beyond_themselves(key: str) -> None:
    before = f'router = dr.compile([("a.#", "q"), ("#.b", "r"), ("*.x.#.c", "s")])\nkeys = pa.array([{key}] * 20)'
    assert peak("matches = router.match_batch(keys)", before) < 8 * MB
