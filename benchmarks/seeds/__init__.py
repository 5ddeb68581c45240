"""The tables of published articles, measured again, and their claims judged: every matcher that the literature compares.

Five documents gave figures and claims that this project set out to repeat: Tyler Treat's "Fast Topic Matching" (latency,
throughput, memory, mixes of reads and writes by 2 to 16 threads) and his "Breaking and Entering" (inserts and look-ups at
1:1 and 1:3, beside a trie under a lock), RabbitMQ's article on topic routing (a factor of three for splitting keys once),
ZeroMQ's whitepaper "High-speed message matching" (inverted bitmaps), and Kevin Burns's skipfilter (a factor of 20,000).
:func:`run` yields a :class:`Row` for each figure, :mod:`~benchmarks.seeds.claims` judges each statement by them, and
:func:`write` writes a CSV file, pages and plots.

Here all run in one Python interpreter; the published figures are of Go, Erlang and C on other processors. So only the
ratios within one column mean anything, and the page (:mod:`~benchmarks.seeds.pages`) says so.
"""

from __future__ import annotations

from benchmarks.seeds.pages import write
from benchmarks.seeds.rows import Row
from benchmarks.seeds.suite import TABLES, Scale, run

__all__ = ["TABLES", "Row", "Scale", "run", "write"]
