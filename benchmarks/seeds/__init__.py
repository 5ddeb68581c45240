"""The tables of published articles, measured again: every matcher that the literature compares, in one run on one machine.

Four sources gave figures that this project set out to repeat: Tyler Treat's "Fast Topic Matching" (latency, throughput,
memory, mixes of reads and writes by 2 to 16 threads) and his "Breaking and Entering" (inserts and look-ups at 1:1 and 1:3,
beside a trie under a lock), RabbitMQ's articles on topic routing (a factor of three for splitting keys once), and Kevin
Burns's skipfilter (a factor of 20,000). :func:`run` yields a :class:`Row` for each figure; :func:`write` writes a CSV file,
a page with tables beside the published figures, and plots.

Here all run in one Python interpreter; the published figures are of Go, Erlang and C on other processors. So only the
ratios within one column mean anything, and the page (:mod:`~benchmarks.seeds.page`) says so.
"""

from __future__ import annotations

from benchmarks.seeds.page import write
from benchmarks.seeds.rows import Row
from benchmarks.seeds.suite import Scale, run

__all__ = ["Row", "Scale", "run", "write"]
