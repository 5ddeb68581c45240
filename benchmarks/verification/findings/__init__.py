"""The fuzzer tests released packages: a finding is stated where a live broker answers as we do.

:func:`examine` runs the campaigns for one :class:`Subject` and asks the broker; :func:`write` writes a CSV file and a page
of the results. Packages that are not installed are left out and named.
"""

from __future__ import annotations

from benchmarks.verification.findings.page import write
from benchmarks.verification.findings.subjects import SUBJECTS, Subject
from benchmarks.verification.findings.survey import Examined, Judged, examine

__all__ = ["SUBJECTS", "Examined", "Judged", "Subject", "examine", "write"]
