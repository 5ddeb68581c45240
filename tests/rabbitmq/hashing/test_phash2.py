"""Erlang's hash: held to Erlang itself where it is installed, and to numbers that it gave."""

from __future__ import annotations

import random
import shutil
import subprocess

import numpy as np
import pytest

from dfa_router.rabbitmq import Binding, Exchange, topology_of
from dfa_router.rabbitmq.hashing.phash2 import phash2, phash2_column

LENGTHS = [0, 1, 3, 4, 7, 8, 11, 12, 13, 23, 24, 25, 40, 255]


def test_numbers_that_erlang_gave() -> None:
    assert [phash2([]), phash2([b"a"]), phash2([b"a", b"b"])] == [113427502, 53691870, 3094894]


def test_the_column_is_the_single_form() -> None:
    chance = random.Random(1)
    keys = [chance.randbytes(chance.choice(LENGTHS)) for _ in range(3000)]
    offsets = np.cumsum([0, *map(len, keys)]).astype(np.int32)
    found = phash2_column(offsets, np.frombuffer(b"".join(keys), np.uint8))
    assert found.tolist() == [phash2([key]) for key in keys]
    assert phash2_column(offsets[5:9], np.frombuffer(b"".join(keys), np.uint8)).tolist() == found[5:8].tolist()
    assert phash2_column(np.zeros(1, np.int32), np.empty(0, np.uint8)).tolist() == []


def test_erlang_says_the_same() -> None:
    if shutil.which("erl") is None:
        pytest.skip("needs Erlang")
    chance = random.Random(2)
    cases = [[chance.randbytes(chance.choice(LENGTHS)) for _ in range(chance.randrange(4))] for _ in range(300)]
    terms = ",".join("[" + ",".join(f"<<{','.join(map(str, one))}>>" for one in case) + "]" for case in cases)
    program = f'io:format("~w", [[erlang:phash2(Term, 134217728) || Term <- [{terms}]]]), halt().'
    said = subprocess.run(
        ["erl", "-noshell", "-eval", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert said.stdout == "[" + ",".join(str(phash2(case)) for case in cases) + "]"


def test_a_modulus_hash_counts_off_its_sorted_destinations_since_4_3() -> None:
    """Exchanges come before queues, names by their bytes, and a destination that is bound twice counts twice."""
    bindings = [
        Binding(source="h", destination="q2", routing_key="1"),
        Binding(source="h", destination="q1", routing_key="2"),
        Binding(source="h", destination="q2", routing_key="3"),
        Binding(source="h", destination="z", destination_type="exchange"),
        Binding(source="z", destination="behind"),
    ]
    exchanges = [Exchange(name="h", type="x-modulus-hash"), Exchange(name="z", type="fanout")]
    topology = topology_of(exchanges=exchanges, bindings=bindings)
    slots = ["behind", "q1", "q2", "q2"]
    keys = [f"key.{number}" for number in range(200)]
    copies = [[] if number % 3 else [f"copy.{number}"] for number in range(200)]
    expected = [
        [slots[phash2([key.encode(), *(one.encode() for one in more)]) % 4]]
        for key, more in zip(keys, copies, strict=True)
    ]
    assert len({names[0] for names in expected}) == 3
    assert [list(topology.route("h", key, cc=more).queues) for key, more in zip(keys, copies, strict=True)] == expected
    for engine in ("dfa", "naive"):
        router = topology.compile(engine=engine)
        assert router.route_columns(["h"] * 200, keys, cc=copies).queues.to_pylist() == expected
    before = topology.compile(broker="4.2").route("h", "key.1")
    assert before.queues == ()
    assert [(one.destination, one.share) for one in before.one_of[0].candidates] == [
        ("z", 0.25),
        ("q1", 0.25),
        ("q2", 0.5),
    ]
