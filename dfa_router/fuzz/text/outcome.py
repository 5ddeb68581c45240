"""What a campaign came to, for other programs: kept results that are read again, JUnit's XML, and annotations of GitHub."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from dfa_router.errors import OptionError
from dfa_router.fuzz.tally import Campaign
from dfa_router.fuzz.text.report import finding_text, headline, summary_text

__all__ = ["github_lines", "junit", "read_result", "with_known"]


def read_result(path: Path) -> dict[str, Any]:
    """Read what ``--json`` wrote; raises :class:`OptionError` that says what to do."""
    try:
        told = json.loads(path.read_text("utf-8"))
        findings = told["findings"]
        if not all(isinstance(one["shape"], str) and isinstance(one["dialect"], str) for one in findings):
            raise ValueError("a finding without a shape")
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise OptionError(f"cannot read {path}: {reason}: expected a file that dfa-router fuzz --json wrote") from None
    return dict(told)


def with_known(campaign: Campaign, baseline: dict[str, Any]) -> Campaign:
    """Return the campaign with those findings marked that a former result has."""
    known = {(one["dialect"], one["shape"]) for one in baseline["findings"]}
    tally = campaign.tally
    for name, finding in tally.findings.items():
        tally.findings[name] = replace(finding, known=(finding.dialect.name, finding.shape) in known)
    return campaign


def junit(campaign: Campaign) -> str:
    """Return the result as JUnit's XML: a test case for each finding, or one that passes where there is none."""
    findings = campaign.findings
    failed = sum(finding.counts for finding in findings)
    given_up = campaign.tally.given_up
    suite = ET.Element(
        "testsuite",
        name="dfa-router fuzz",
        tests=str(max(1, len(findings) + (given_up is not None))),
        failures=str(failed),
        errors=str(int(given_up is not None)),
        skipped=str(len(findings) - failed),
        time=f"{campaign.seconds:.3f}",
    )
    target = _clean(campaign.target)
    for finding in findings:
        case = ET.SubElement(suite, "testcase", classname=target, name=_clean(headline(finding)))
        if finding.counts:
            ET.SubElement(case, "failure", message=_clean(headline(finding))).text = _clean(finding_text(finding))
        else:
            ET.SubElement(case, "skipped", message="known" if finding.known else _clean(f"the broker {finding.broker}"))
    if given_up is not None:
        case = ET.SubElement(suite, "testcase", classname=target, name="answers")
        ET.SubElement(case, "error", message=_clean(given_up))
    elif not findings:
        ET.SubElement(suite, "testcase", classname=target, name="agrees with the specification")
    ET.SubElement(suite, "system-out").text = _clean(summary_text(campaign))
    return "<?xml version='1.0' encoding='utf-8'?>\n" + ET.tostring(suite, encoding="unicode") + "\n"


def _clean(text: str) -> str:
    """Return the text without the characters that XML does not have."""
    return re.sub("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)


def github_lines(campaign: Campaign) -> list[str]:
    """Return a line for each finding that counts, which GitHub's runners show beside the change."""

    def escaped(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    def title(text: str) -> str:
        return escaped(text).replace(":", "%3A").replace(",", "%2C")

    lines = [
        f"::error title={title(headline(finding))}::{escaped(finding_text(finding))}"
        for finding in campaign.findings
        if finding.counts
    ]
    if campaign.tally.given_up is not None:
        lines.append(f"::error title=the target was given up::{escaped(campaign.tally.given_up)}")
    return lines
