"""The soak: it finds nothing where nothing is wrong, finds planted faults, and a seed repeats a round."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dfa_router as dr
from benchmarks import __main__ as cli
from benchmarks.resident import Memory, memory
from benchmarks.verification.soak import Tally, run, write
from benchmarks.verification.soak.answers import right_answers
from benchmarks.verification.soak.collisions import one_name, one_slot
from benchmarks.verification.soak.disturbances import DISTURBANCES, Disturbed
from benchmarks.verification.soak.material import FORMS, KINDS
from compiler.kernels.tables import SCRAMBLE
from compiler.kernels.words import name_word
from dfa_router.cli.exit_codes import ExitCode

SEEDS = range(109, 119)
"""Those of ten rounds that take half a second each, and have all circumstances."""


@pytest.fixture(scope="module")
def tally() -> Tally:
    return run(minutes=None, rounds=len(SEEDS), seed=SEEDS.start)


def test_no_answer_differs(tally: Tally) -> None:
    assert tally.disagreements == []
    assert tally.rounds == len(SEEDS)
    assert tally.keys > 10_000
    assert tally.pairs > tally.keys
    assert tally.by_specification > 100
    assert tally.clears > 0
    assert tally.fallbacks > 0


def test_rounds_differ_in_their_circumstances(tally: Tally) -> None:
    seen = set(tally.circumstances)
    assert len([name for name in seen if name.startswith("bindings:")]) >= 4
    assert len([name for name in seen if name.startswith("form:")]) >= len(FORMS) - 2
    assert {f"disturbed by: {name}" for name in DISTURBANCES} <= seen
    assert tally.interrupts > 0
    assert tally.forks > 0
    assert tally.refused_files > 0
    assert {"life: pickled", "life: saved and loaded", "asked at once: 4", "threads: 4"} <= seen
    assert {f"bindings: {kind}" for kind in KINDS} >= {name for name in seen if name.startswith("bindings:")}


def test_a_seed_repeats_a_round() -> None:
    once, again = (run(minutes=None, rounds=1, seed=104) for _ in range(2))
    assert once.circumstances == again.circumstances
    assert (once.keys, once.pairs, once.bindings) == (again.keys, again.pairs, again.bindings)


def test_time_ends_it() -> None:
    assert run(minutes=1e-9).rounds == 1


def test_a_lost_answer_is_found_with_its_seed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A planted fault: accept sets are not handed to the result before the cache is cleared."""
    from compiler.machine.collector import Collector
    from compiler.machine.walker import Walker

    clear = Walker._clear
    hand_over = Walker._hand_over_sets

    def forgetful(self: Walker, found: Collector, stop: int) -> None:
        if self.stats().clears == 0:
            hand_over(self, found, stop)

    monkeypatch.setattr(Walker, "_hand_over_sets", forgetful)
    # Arrow looks whether rows have sets that are there. Kernels, which list rows once many were listed in this process, would read beyond them.
    monkeypatch.setattr("dfa_router.arrow.sets.SOON", 1 << 62)
    assert Walker._clear is clear
    code = cli.run(["-q", "soak", "--rounds", "4", "--seed", "104", "--out", str(tmp_path)])
    assert code == ExitCode.FOUND
    text = (tmp_path / "soak.md").read_text("utf-8")
    assert "disagreements.**" in text
    assert "* seed 10" in text


def test_a_crash_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: dr.Router, key: str) -> bool:
        raise ZeroDivisionError(key[:1])

    monkeypatch.setattr(dr.Router, "any", broken)
    tally = run(minutes=None, rounds=2, seed=7)
    assert [one.split(":")[0] for one in tally.disagreements] == ["seed 7", "seed 8"]
    assert "ZeroDivisionError" in tally.disagreements[0]


def test_the_page_tells_counts_and_seeds(tally: Tally, tmp_path: Path) -> None:
    text = write(tally, tmp_path / "new", command="the command").read_text("utf-8")
    assert "**No answer differed.**" in text
    assert "seeds 109 to 118" in text
    assert f"| caches cleared | {tally.clears:,} |" in text


def _disturb(name: str) -> None:
    """Disturb a router several times."""
    bindings = [("a.#", "x"), ("*.b", "y"), ("#.c", "z")]
    rng = random.Random(5)
    keys = [".".join(rng.choices("abcd", k=rng.randint(0, 6))) for _ in range(3000)]
    right = right_answers(rng, bindings, list(dict.fromkeys(keys)), tally := Tally(first_seed=0))
    for _ in range(5):
        it = Disturbed("here", dr.compile(bindings, cache_bytes=4000), keys, keys, right)
        again = DISTURBANCES[name](rng, it, tally)
        Disturbed("afterwards", again, keys, keys, right).ask()


def _leaves_a_mark(match_batch: Callable[..., Any]) -> Callable[..., Any]:
    marked: list[int] = []

    def broken(self: dr.Router, keys: Any, **options: Any) -> Any:
        if marked:
            return match_batch(self, ["a"] * len(keys), **options)
        marked.append(1)
        found = [match_batch(self, keys, **options) for _ in range(3)]
        marked.clear()
        return found[0]

    return broken


def _works_in_one_process(match_batch: Callable[..., Any]) -> Callable[..., Any]:
    process = os.getpid()

    def broken(self: dr.Router, keys: Any, **options: Any) -> Any:
        if os.getpid() != process:
            raise RuntimeError("not here")
        return match_batch(self, keys, **options)

    return broken


@pytest.mark.parametrize(
    ("name", "plant", "told"),
    [
        ("interrupts", _leaves_a_mark, "matches"),
        ("a fork", _works_in_one_process, "here: a forked process ended with 1"),
    ],
)
def test_a_fault_that_shows_when_disturbed_is_found(
    name: str, plant: Callable[..., Any], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _disturb(name)
    monkeypatch.setattr(dr.Router, "match_batch", plant(dr.Router.match_batch))
    with pytest.raises(AssertionError, match=told):
        _disturb(name)


@pytest.mark.parametrize(
    ("name", "told"), [("damaged files", "a damaged file was loaded"), ("a file replaced", "is not read")]
)
def test_a_load_that_does_not_look_at_the_file_is_found(name: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _disturb(name)
    other = dr.compile([("b", "x")])
    monkeypatch.setattr(dr, "load", lambda *_, **__: other)
    with pytest.raises(AssertionError, match=told if name == "damaged files" else f"{told}|matches"):
        _disturb(name)


HANGS = """
import sys, threading
import dfa_router as dr
from benchmarks import __main__ as cli
from benchmarks.resident import Memory, memory
dr.Router.any = lambda *_: threading.Event().wait()
sys.exit(cli.run(["-q", "soak", "--rounds", "1", "--seed", "31", "--hang-after", "10", "--out", sys.argv[1]]))
"""


def test_a_round_that_never_ends_leaves_its_seed_and_the_stacks(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", HANGS, str(tmp_path)], capture_output=True, check=False, timeout=600)
    assert done.returncode == 1
    text = (tmp_path / "soak-hang.txt").read_text("utf-8")
    assert "the round of seed 31 took longer than 10 seconds" in text
    assert "rounds.py" in text


@pytest.mark.parametrize(
    ("leak", "told"),
    [
        (Memory(resident=20 << 20, native=0, objects=0), "resident"),
        (Memory(resident=0, native=1 << 20, objects=0), "native"),
        (Memory(resident=0, native=0, objects=1000), "objects"),
    ],
)
def test_memory_that_never_falls_back_is_a_finding(leak: Memory, told: str) -> None:
    ragged = [Memory(*((3 + 20 * (i % 7 == 0)) * size for size in (100 << 20, 16 << 20, 200_000))) for i in range(90)]
    assert Tally(first_seed=0, memory=ragged).growth() is None
    leaking = [Memory(*(size + i * more for size, more in zip(one, leak, strict=True))) for i, one in enumerate(ragged)]
    assert str(Tally(first_seed=0, memory=leaking).growth()).startswith(f"memory grew: at least {told} ")
    assert Tally(first_seed=0, memory=leaking[:30]).growth() is None


def test_what_threads_of_any_kind_keep_is_seen_and_what_is_given_back_is_not() -> None:
    before = memory()
    if before is None or not before.native:
        pytest.skip("needs Linux and glibc")
    kept: list[object] = []
    thread = threading.Thread(target=lambda: kept.extend([bytearray(1 << 23), [object() for _ in range(50_000)]]))
    thread.start()
    thread.join()
    during = memory()
    kept.clear()
    after = memory()
    assert during is not None
    assert after is not None
    assert during.native - before.native >= 1 << 23
    assert during.objects - before.objects >= 50_000
    assert after.native - before.native < 1 << 20
    assert after.objects - before.objects < 1000


def test_words_collide_as_they_should() -> None:
    def names(words: list[str]) -> set[int]:
        data = np.frombuffer(b"".join(word.encode() for word in words) + bytes(72), np.uint8)
        length = len(words[0])
        return {
            int(name_word(data, np.uint64(i * length), np.uint64(length), np.uint64(SCRAMBLE)))
            for i in range(len(words))
        }

    assert len(one_name(0)) >= 20
    assert len(names(one_name(0))) == 1
    assert len(one_slot(0)) >= 100
    found = names(one_slot(0))
    assert len(found) == len(one_slot(0))
    assert len({(name * SCRAMBLE % 2**64) >> 51 for name in found}) == 1
