"""The differential fuzz tester: finds cases that a matcher answers wrong, and shrinks each to a minimal case.

In a test suite::

    from dfa_router.fuzz import assert_agrees

    def test_my_matcher():
        assert_agrees(my_matcher, "mqtt")  # f(patterns: list[str], key: str) -> positions that match

``patterns``, ``binding_sets``, ``keys_for`` and ``rounds`` are Hypothesis strategies for tests of your own. :func:`run`
is what the command ``dfa-router fuzz`` runs, and :func:`open_target` opens what its ``--target`` names. The specification
that decides is :mod:`dfa_router.reference.naive`.

Inside: ``generating`` makes rounds, ``targets`` opens what is asked, ``judging`` compares answers with the specification,
``shrinking`` reduces what differs, ``bench`` and ``campaign`` put these together, and ``text`` writes reports.
"""

from __future__ import annotations

from dfa_router.fuzz.campaign import run, work
from dfa_router.fuzz.check import DisagreementError, assert_agrees
from dfa_router.fuzz.findings import Case, Finding, Kind
from dfa_router.fuzz.generating.rounds import Size, round_of
from dfa_router.fuzz.generating.strategies import binding_sets, keys_for, patterns, rounds
from dfa_router.fuzz.scope import Scope
from dfa_router.fuzz.tally import Campaign, Plan, Tally
from dfa_router.fuzz.targets import open_target
from dfa_router.target import Refused, Round, Target, TargetFailure

__all__ = [
    "Campaign",
    "Case",
    "DisagreementError",
    "Finding",
    "Kind",
    "Plan",
    "Refused",
    "Round",
    "Scope",
    "Size",
    "Tally",
    "Target",
    "TargetFailure",
    "assert_agrees",
    "binding_sets",
    "keys_for",
    "open_target",
    "patterns",
    "round_of",
    "rounds",
    "run",
    "work",
]
