"""Counts are exact, whether they were spilled or not, and in however many passes they were added up."""

from __future__ import annotations

import random
import resource
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dfa_router.logs import counting, ranking, routing
from dfa_router.logs.counts_file import counts_file
from dfa_router.logs.planning import planned
from dfa_router.logs.publishing import attempts_of
from dfa_router.logs.ranking import counts_of, ranked
from dfa_router.logs.routing import work_of
from dfa_router.logs.stores import place_of
from dfa_router.logs.summary import limits, summary_of
from tests.topologies import TWO_VHOSTS


def messages(rows: int, seed: int) -> pa.Table:
    chance = random.Random(seed)
    words = ["a", "b", "c"]
    columns = {
        "vhost": [chance.choice(["/", "b", None]) for _ in range(rows)],
        "exchange": [chance.choice(["x", "x", "h", "nowhere", None]) for _ in range(rows)],
        "routing_key": [
            chance.choice([None, b"\xff", f"u.{number % 700}".encode(), ".".join(chance.choices(words, k=3)).encode()])
            for number in range(rows)
        ],
    }
    return pa.table(columns, schema=pa.schema([("vhost", "string"), ("exchange", "string"), ("routing_key", "binary")]))


@pytest.mark.parametrize("spilling", [False, True])
def test_counts_are_those_of_a_plain_recount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, spilling: bool
) -> None:
    if spilling:
        monkeypatch.setattr(counting.Tally.__init__, "__defaults__", (100,))
        monkeypatch.setattr(routing, "INLINE_ROWS", 50)
        monkeypatch.setattr(routing, "MOST_ROWS", 400)
        monkeypatch.setattr(routing, "SPILLED_GROUP", 16)
        monkeypatch.setattr(ranking, "PASS_ROWS", 300)
    log, router = messages(5_000, seed=1), TWO_VHOSTS.compile()
    (tmp_path / "log").mkdir()
    for number in range(3):
        pq.write_table(
            log.take(list(range(number, 5_000, 3))),
            tmp_path / "log" / f"{number}.parquet",
        )
    source, target = place_of(str(tmp_path / "log")), place_of(str(tmp_path / "out"))
    assert source is not None
    assert target is not None
    plan = planned(source, pattern=False, cores=2)
    attempts = attempts_of(target)
    work = work_of(plan, attempts, keys={name: name for name in ("exchange", "routing_key", "vhost")}, vhost="/")
    written = [work(router, part) for part in plan.parts]
    assert any(one.spilled for one in written) == spilling
    totals, tables = counts_of(written, attempts)
    with counts_file(str(tmp_path / "counts.parquet")) as write:
        found = ranked(tables, limits(0), write)

    expected: Counter[tuple[str, str | None, str, bytes | None]] = Counter()
    fates: Counter[str] = Counter()
    routed = router.route_columns(log["exchange"], log["routing_key"], log["vhost"])
    rows = zip(
        *(column.to_pylist() for column in (log["vhost"], log["exchange"], log["routing_key"], *routed)), strict=True
    )
    for vhost, exchange, key, queues, is_routed, unknown, problem in rows:
        expected.update(("queue", vhost, queue, None) for queue in queues)
        expected.update(("not_simulated", vhost, name, None) for name in unknown)
        if exchange is not None:
            expected["exchange", vhost, exchange, None] += 1
        if problem is not None:
            expected["problem", None, problem, None] += 1
        fates["routed" if is_routed else "undecided" if unknown else "unroutable"] += 1
        if not is_routed and not unknown and None not in {vhost, exchange, key}:
            expected["unroutable", vhost, exchange, key] += 1
    counted = {
        tuple(row[name] for name in ("kind", "vhost", "name", "key")): row["messages"]
        for kind in found.values()
        for row in kind.rows.to_pylist()
    }
    assert counted == expected
    assert (totals.routed, totals.unroutable, totals.undecided) == tuple(
        fates[name] for name in ("routed", "unroutable", "undecided")
    )
    file = pq.read_table(tmp_path / "counts.parquet")
    assert file.column_names == ["kind", "vhost", "name", "key", "messages"]
    assert Counter(file["kind"].to_pylist()) == Counter(kind for kind, *_ in expected)
    assert sum(file["messages"].to_pylist()) == sum(expected.values())
    summary = summary_of("out", totals, found, vhosts_apart=True)
    assert summary.copies_per_queue == {
        "q": expected["queue", "/", "q", None],
        "'q (b)' of vhost '/'": expected["queue", "/", "q (b)", None],
        "'q' of vhost 'b'": expected["queue", "b", "q", None],
    }
    short = summary_of("out", totals, ranked(counts_of(written, attempts)[1], limits(1)), vhosts_apart=True)
    assert (len(short.copies_per_queue), short.other_queues) == (1, 2)
    assert short.other_copies + sum(short.copies_per_queue.values()) == short.copies == summary.copies
    assert short.unroutable_keys == summary.unroutable_keys[:1]


def test_counts_for_which_there_is_no_room_name_their_file(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with (
            pytest.raises(OSError, match=r"/counts\.parquet: cannot be written: .*File too large.*; make room there"),
            counts_file(str(path)),
        ):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_a_spilled_row_is_read_in_the_one_pass_of_its_checksum(tmp_path: Path) -> None:
    """The border between two passes may be the checksum of a row, and the first or the last of its file."""
    rows = {"kind": ["queue"] * 3, "vhost": ["/"] * 3, "name": ["a", "b", "c"], "key": pa.nulls(3, pa.binary())}
    table = counting.with_checksums(pa.table({**rows, "messages": [1, 2, 3]}, schema=counting.COUNTS))
    pq.write_table(table, tmp_path / "spilled.parquet")
    place = place_of(str(tmp_path / "spilled.parquet"))
    assert place is not None
    spilled = ranking._Spilled(place)
    for checksum, name in zip(table[counting.CHECKSUM].to_pylist(), table["name"].to_pylist(), strict=True):
        assert spilled.read(checksum, checksum + 1)["name"].to_pylist() == [name]
        assert name not in spilled.read(0, checksum)["name"].to_pylist()
        assert name not in spilled.read(checksum + 1, 1 << 32)["name"].to_pylist()
