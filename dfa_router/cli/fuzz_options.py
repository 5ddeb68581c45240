"""The options of ``dfa-router fuzz`` that say what a target may be asked, and what becomes of the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dfa_router.cli.tables import write_line
from dfa_router.cli.written import GivenPath, check_place, written

if TYPE_CHECKING:
    from dfa_router.fuzz.scope import Scope
    from dfa_router.fuzz.tally import Campaign
    from dfa_router.language.dialects import Dialect

__all__ = ["READ", "Outcome", "outcome_options", "scope_of", "scope_options"]

Command = Callable[..., Any]

READ = GivenPath(dir_okay=False, exists=True)
"""The type of an option for a file that is read."""
_FILE = GivenPath(dir_okay=False, writable=True)

_SCOPE = (
    click.option(
        "--shared/--no-shared", default=None, help="Whether $share is asked.  [default: if the target knows it]"
    ),
    click.option("--no-empty-words", is_flag=True, help="Ask nothing with empty words, nor empty texts."),
    click.option("--plain-words", is_flag=True, help="Ask words of letters, digits and _ only."),
    click.option("--max-words", type=click.IntRange(min=1), help="The most words of a pattern or key."),
    click.option(
        "--max-wildcards", type=click.IntRange(min=1), help="The most wildcards for several words in a pattern."
    ),
    click.option("--max-bindings", type=click.IntRange(min=1), help="The most patterns of a set."),
    click.option("--no-changes", is_flag=True, help="Do not bind and unbind, though the target offers it."),
    click.option("--growth", is_flag=True, help="Accuse a target whose time grows exponentially with a pattern."),
    click.option(
        "--threads",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Threads that ask a callable at once.",
    ),
)
_OUTCOME = (
    click.option("--confirm", metavar="URL", help="A live broker that is asked before the target is accused."),
    click.option(
        "--baseline",
        type=READ,
        metavar="FILE",
        help="A former --json result: what it has does not fail, nor end the run.",
    ),
    click.option("--junit", type=_FILE, metavar="FILE", help="Write the result as JUnit's XML, too."),
    click.option(
        "--github",
        is_flag=True,
        help="Print findings as annotations of GitHub's runners, too; with --json to stderr, which they read as well.",
    ),
)


def _with(options: tuple[Callable[[Command], Command], ...]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


scope_options = _with(_SCOPE)
"""Adds the options that make a :class:`~dfa_router.fuzz.Scope`."""
outcome_options = _with(_OUTCOME)
"""Adds the options that say what becomes of a result."""


def scope_of(options: dict[str, Any]) -> Scope:
    """Return what the options of :data:`scope_options` allow, and take them out of ``options``."""
    from dfa_router.fuzz.scope import Scope

    return Scope(
        shared=options.pop("shared"),
        empty_words=not options.pop("no_empty_words"),
        plain_words=options.pop("plain_words"),
        max_words=options.pop("max_words"),
        max_wildcards=options.pop("max_wildcards"),
        max_bindings=options.pop("max_bindings"),
        changes=not options.pop("no_changes"),
        growth=options.pop("growth"),
        threads=options.pop("threads"),
    )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What becomes of a result: the values of :data:`outcome_options`."""

    confirm: str | None
    baseline: Path | None
    junit: Path | None
    github: bool
    corpus: Path | None
    as_json: bool
    """Whether the result goes to stdout as one JSON object, which nothing else may be written to then."""

    def judged(self, campaign: Campaign) -> Campaign:
        """Return the campaign with the broker's word on its findings, and the known ones marked.

        A broker that is gone by now loses no finding.
        """
        from dfa_router.errors import RouterError
        from dfa_router.fuzz.confirm import confirmed, unconfirmed
        from dfa_router.fuzz.targets.live import open_broker
        from dfa_router.fuzz.text.outcome import read_result, with_known

        if self.confirm is not None and campaign.findings:
            try:
                with open_broker(self.confirm, campaign.plan.dialect) as broker:
                    campaign = confirmed(campaign, broker)
            except RouterError as error:
                campaign = unconfirmed(campaign, error)
        return campaign if self.baseline is None else with_known(campaign, read_result(self.baseline))

    def check(self, dialect: Dialect) -> None:
        """Raise before the campaign what would else be raised after it: a file that cannot be read or written, no broker."""
        from dfa_router.fuzz.targets.live import open_broker
        from dfa_router.fuzz.text.outcome import read_result

        if self.baseline is not None:
            read_result(self.baseline)
        if self.junit is not None:
            check_place(self.junit, "--junit")
        if self.corpus is not None:
            with written(self.corpus, "--corpus"):
                self.corpus.mkdir(parents=True, exist_ok=True)
        if self.confirm is not None:
            open_broker(self.confirm, dialect).close()

    def write(self, campaign: Campaign) -> list[Path]:
        """Write what the options ask for; return the new files of the corpus."""
        from dfa_router.fuzz.text.corpus import write_corpus
        from dfa_router.fuzz.text.outcome import github_lines, junit

        if self.github:
            for line in github_lines(campaign):
                write_line(line, to_stderr=self.as_json)
        if self.junit is not None:
            with written(self.junit, "--junit"):
                self.junit.write_text(junit(campaign), "utf-8")
        if self.corpus is None:
            return []
        with written(self.corpus, "--corpus"):
            return write_corpus(self.corpus, campaign.findings)
