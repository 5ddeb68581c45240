"""The ``dfa`` engine compared with live brokers: millions of cases each, what they refuse, and where a broker deviates.

:func:`compare` asks one broker everything; :func:`write` writes a CSV file and a page of the results.

::

    comparison   the campaign: cases that the broker answered, counted as they are answered
    refusals     patterns asked one by one: which side takes them, which refuses them, and why
    shared       shared subscriptions, case by case, as Mosquitto has rules of its own for them
    page         the page and the CSV file
"""

from __future__ import annotations

from benchmarks.verification.brokers.comparison import SIZE, Compared, compare, dialect_of
from benchmarks.verification.brokers.page import write

__all__ = ["SIZE", "Compared", "compare", "dialect_of", "write"]
