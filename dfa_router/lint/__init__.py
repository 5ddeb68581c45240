"""Defects of binding tables, found by proof: each with its place, a witness where there is one, and what to do.

>>> from dfa_router.lint import lint_bindings
>>> [str(finding.rule) for finding in lint_bindings([("stock.#", "q"), ("stock.*", "q"), ("a*.b", "r")])]
['covered-binding', 'wildcard-in-word']
"""

from __future__ import annotations

from dfa_router.lint.findings import RULES, Finding, Rule, Severity
from dfa_router.lint.linting import lint_bindings, lint_topology

__all__ = ["RULES", "Finding", "Rule", "Severity", "lint_bindings", "lint_topology"]
