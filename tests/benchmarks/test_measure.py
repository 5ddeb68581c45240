"""What all pages say alike: which processor they are of, and whether a cache was warm."""

from __future__ import annotations

from pathlib import Path

import pytest

import dfa_router as dr
from benchmarks import measure


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="needs Linux's /proc")
def test_a_machine_is_named_with_its_family_and_model() -> None:
    assert measure.machine().startswith(measure.processor_of(Path("/proc/cpuinfo").read_text("utf-8")))


def test_an_ordinary_name_alone_stays_as_it_is() -> None:
    assert (
        measure.processor_of("model name\t: ARMv7 Processor rev 5\nmodel name\t: another\n") == "ARMv7 Processor rev 5"
    )


class Building:
    """A router that builds something in each of its first passes."""

    def __init__(self, passes: int) -> None:
        self.left, self.misses, self.made = passes, 0, 0

    def match_batch(self, _keys: object, *, threads: int) -> None:
        assert threads == 1
        self.made += 1
        self.misses += self.left > 0
        self.left -= 1

    def stats(self) -> dr.CacheStats:
        return dr.CacheStats(misses=self.misses)


def test_a_cache_that_is_not_warm_is_not_said_to_be() -> None:
    """The last pass that is tried may be the one that builds nothing; one before :func:`measure.warm_up` is counted, too."""
    for building, told in ((0, "warm after 2 passes"), (14, "warm after 16 passes"), (15, "not warm after 16 passes")):
        router = Building(building)
        assert measure.until_warm(1 + measure.warm_up(router, [])) == told  # type: ignore[arg-type]
        assert 1 + router.made <= measure.MOST_PASSES
