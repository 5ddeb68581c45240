"""Findings as SARIF 2.1.0, the format in which GitHub and others take the results of static analysis.

Places of a definitions file are JSON paths, and SARIF wants lines: :func:`entry_lines` finds the line of each entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from json import JSONDecoder
from typing import Any
from urllib.parse import quote

from dfa_router.lint.findings import RULES, Finding, Rule, Severity
from dfa_router.lint.suppression import Suppression

__all__ = ["entry_lines", "sarif"]

_LEVELS = {Severity.NOTE: "note", Severity.WARNING: "warning", Severity.ERROR: "error"}
_SPACE = re.compile(r"[ \t\r\n]*")
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ENTRY = re.compile(r"(\w+)\[(\d+)\]")


def sarif(
    findings: Iterable[Finding],
    suppressions: Iterable[tuple[Finding, Suppression]],
    file: str,
    lines: Mapping[str, int],
    version: str,
    *,
    rules: Mapping[str, Rule] = RULES,
) -> dict[str, Any]:
    """Return a SARIF log with one run; ``lines`` are those of :func:`entry_lines`, ``file`` names the file as seen from the repository.

    ``rules`` are all that a finding may be of.
    """
    uri = quote(file)  # a blank may not stand in a URI, and # would begin another part of it
    results = [_result(finding, uri, lines) for finding in findings]
    for finding, suppression in suppressions:
        kept = {"kind": "external", "justification": suppression.reason}
        results.append({**_result(finding, uri, lines), "suppressions": [kept]})
    names = list(rules)
    for result in results:
        result["ruleIndex"] = names.index(result["ruleId"])
    described = [
        {
            "id": rule.name,
            "shortDescription": {"text": rule.summary},
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        }
        for rule in rules.values()
    ]
    driver = {"name": "dfa-router", "version": version, "rules": described}
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}],
    }


def _result(finding: Finding, uri: str, lines: Mapping[str, int]) -> dict[str, Any]:
    entry = _ENTRY.match(finding.place)
    line = int(finding.place) if finding.place.isdigit() else lines.get(entry[0], 1) if entry else 1
    shown = "" if finding.witness is None else f" For instance the key {finding.witness!r}."
    return {
        "ruleId": finding.rule.name,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.subject!r}: {finding.message}.{shown}"},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}},
                "logicalLocations": [{"fullyQualifiedName": finding.place}],
            }
        ],
        "partialFingerprints": {"subject/v1": f"{finding.rule.name}/{finding.vhost}/{finding.subject}"},
    }


def entry_lines(text: str) -> dict[str, int]:
    r"""Return the line on which each entry of each list at the top of a JSON object begins, by ``name[number]``.

    >>> entry_lines('{"bindings": [\n  {"a": 1},\n  {"b": 2}]}')
    {'bindings[0]': 2, 'bindings[1]': 3}
    """
    decoder, found = JSONDecoder(), {}
    at = _skip(text, text.index("{") + 1)
    line, counted = 1, 0
    while text[at] == '"':
        name, at = decoder.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if text[at] == "[":
            at, number = _skip(text, at + 1), 0
            while text[at] != "]":
                line, counted = line + text.count("\n", counted, at), at
                found[f"{name}[{number}]"] = line
                _, at = decoder.raw_decode(text, at)
                at, number = _comma(text, at), number + 1
            at += 1
        else:
            _, at = decoder.raw_decode(text, at)
        at = _comma(text, at)
    return found


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _comma(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at
