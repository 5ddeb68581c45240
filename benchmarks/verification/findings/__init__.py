"""The fuzzer pointed at released packages: what it finds in them, where a live broker takes our side.

:func:`examine` takes one :class:`Subject` through its campaigns and the broker, :func:`write` makes a CSV and a page of
the results. Packages that are not installed are left out and named.
"""

from __future__ import annotations

from benchmarks.verification.findings.page import write
from benchmarks.verification.findings.subjects import SUBJECTS, Subject
from benchmarks.verification.findings.survey import Examined, Judged, examine

__all__ = ["SUBJECTS", "Examined", "Judged", "Subject", "examine", "write"]
