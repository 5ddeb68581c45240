"""The fuzzer tests released packages: a finding is stated where a live broker answers as we do.

:func:`installed` makes an environment for each :class:`Subject`, :func:`examine` runs the campaign in it and asks the broker,
and :func:`write` writes a CSV file and a page of the results. What cannot be installed is named with the reason.
"""

from __future__ import annotations

from benchmarks.verification.findings.environments import Environment, InstallError, installed
from benchmarks.verification.findings.page import write
from benchmarks.verification.findings.subjects import SUBJECTS, Subject
from benchmarks.verification.findings.survey import Examined, Judged, examine

__all__ = ["SUBJECTS", "Environment", "Examined", "InstallError", "Judged", "Subject", "examine", "installed", "write"]
