"""The founding documents' tables, measured again: every matcher that the literature compares, in one run on one
machine.

Four documents gave figures that this project set out to repeat: Tyler Treat's "Fast Topic Matching" (latency,
throughput, memory, mixes of reads and writes at 2 to 16 threads) and his "Breaking and Entering" (inserts and look-ups
at 1:1 and 1:3 against a trie under a lock), RabbitMQ's articles on topic routing (a factor of three for splitting keys
once), and Kevin Burns's skipfilter (a factor of 20,000). :func:`run` yields a :class:`Row` per figure, :func:`write`
makes of them a CSV, a Markdown table beside the published figures, and plots.

What is compared is one interpreter's Python here with Go, Erlang and C there, on other processors, so only ratios
within one column mean anything; :mod:`~benchmarks.seeds.report` says so in the result.
"""

from __future__ import annotations

from benchmarks.seeds.report import write
from benchmarks.seeds.rows import Row
from benchmarks.seeds.suite import Scale, run

__all__ = ["Row", "Scale", "run", "write"]
