"""Writes docs/rules/corpora.md: what lint finds in definitions files of other projects, with a judgement of each finding.

    python scripts/lint_page.py FOLDER    # every *.json below it; a file that is no definitions file is named at the end

A finding whose judgement is not below makes the script fail: each was looked at by hand, in the file itself.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections import Counter
from pathlib import Path

from dfa_router import DefinitionsError, load_definitions
from dfa_router.lint import Finding, lint_topology

PAGE = Path(__file__).parents[1] / "docs" / "rules" / "corpora.md"

UNFED = "right as far as the file tells: internal, and no binding leads to it; programs may bind it when they start, so it is a note"
JUDGED = {
    (
        "wildcard-in-word",
        "*.*.gw.*gnr.*",
    ): "right, and a typing error: corrected in the project's next version, a day later",
    ("wildcard-in-word", "a#"): "right: made to test that; it matches the key 'a#' alone",
    ("longer-than-needed", "#.#"): "right: it is '#'",
    ("undeclared-alternate-exchange", "r.does-not-exist"): "right: made to test that",
    ("undeclared-alternate-exchange", "langohr.extensions.altexchanges.fanout1"): (
        "right: left over from a client's test, whose alternate exchange was deleted before the export"
    ),
    ("repeated-declaration", "bunny.basic_consume0.1364356981103202"): "right: the queue stands twice in the file",
    (
        "equal-binding",
        "k-201",
    ): "right: twenty bindings that differ in an argument which a direct exchange does not read",
    ("equal-binding", "k-10"): "right: many keys at a fanout exchange, for one queue",
    ("undeclared-vhost", "federated"): "right: the file declares others",
    ("undeclared-exchange", "to_cega"): "right: it is declared in another vhost only",
    ("undeclared-queue", "error"): "right: it is declared in another vhost only",
    ("undeclared-exchange", "localega"): "right: no such exchange in the file",
    ("undeclared-queue", "ansible"): "right: no such queue in the file",
}


def judgement(finding: Finding) -> str:
    """Return what was found by looking; raises KeyError for a finding nobody has looked at."""
    return UNFED if finding.rule.name == "unreachable-exchange" else JUDGED[finding.rule.name, finding.subject]


def page(folder: Path) -> str:
    """Return the page."""
    rows, clean, others, counts = [], [], [], Counter[str]()
    for path in sorted(folder.rglob("*.json")):
        name = path.relative_to(folder).as_posix()
        try:
            topology = load_definitions(path)
        except DefinitionsError as error:
            others.append(f"- `{name}`: {str(error).split(': ', 1)[1]}")
            continue
        found = lint_topology(topology)
        if not found:
            clean.append(f"`{name}` ({len(topology.bindings)})")
        for one in found:
            counts[one.rule.name] += 1
            rows.append(f"| `{name}` | `{one.place}` | {one.rule} | `{one.subject}` | {judgement(one)} |")
    lines = [
        "# What lint finds in definitions files of other projects",
        "",
        "Written by `python scripts/lint_page.py FOLDER`; each finding was judged by hand, in the file. "
        f"{sum(counts.values())} findings, none of them false: "
        + ", ".join(f"{count} {name}" for name, count in counts.most_common())
        + ".",
        "",
        "| file | place | rule | about | judgement |",
        "|---|---|---|---|---|",
        *rows,
        "",
        (
            "`*.*` and `*.bulk.search_api_v2_sync`, two bindings of one queue in `govuk/definitions.json`, look redundant and are "
            "not: `dfa-router relation` shows `bulk.bulk` for the one and `bulk.bulk.search_api_v2_sync` for the other."
        ),
        "",
        "Nothing found in (number of bindings): " + ", ".join(clean) + ".",
        *(
            ["", "Refused as they are no definitions files, or none that a broker could hold:", "", *others]
            if others
            else []
        ),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(description="write docs/rules/corpora.md")
    parser.add_argument("folder", type=Path)
    logging.disable(logging.WARNING)
    PAGE.write_text(page(parser.parse_args().folder))
    print(f"{PAGE.name}: written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
