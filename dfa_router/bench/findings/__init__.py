"""The fuzzer pointed at released packages: what it finds in them, where a live broker takes our side.

:func:`examine` takes one :class:`Subject` through its campaigns and the broker, :func:`write` makes a CSV and a page of
the results. Packages that are not installed are left out and named.
"""

from __future__ import annotations

from dfa_router.bench.findings.report import write
from dfa_router.bench.findings.subjects import SUBJECTS, Subject
from dfa_router.bench.findings.survey import Examined, Judged, examine

__all__ = ["SUBJECTS", "Examined", "Judged", "Subject", "examine", "write"]
