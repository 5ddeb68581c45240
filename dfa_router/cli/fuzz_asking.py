"""What the options of ``dfa-router fuzz`` ask for, and which of them do not go together."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dfa_router.cli.fuzz_options import scope_of
from dfa_router.errors import OptionError

if TYPE_CHECKING:
    from dfa_router.fuzz.tally import Campaign, Plan
    from dfa_router.fuzz.text.resuming import Begun
    from dfa_router.target import Round, Target

__all__ = ["Asked", "asked_of"]

_EXCLUDED = (
    ("dialect_file", "holds the whole dialect, and names another there with like", ("dialect",)),
    (
        "case_file",
        "asks the cases of its file alone, in one process",
        ("corpus", "only", "rounds", "resume", "size", "jobs", "master"),
    ),
    ("only", "asks one round alone", ("rounds", "resume")),
    ("resume", "goes on with the seed of its file", ("seed",)),
    ("master", "spreads the rounds over Spark's executors", ("jobs",)),
)
"""Options, what they do, and the others that would be passed over beside them."""
_NAMES = {"only": "round", "case_file": "case", "master": "spark"}
"""Options whose parameter has another name."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a campaign is to ask, of whom, and where."""

    spec: str
    plan: Plan
    seconds: float | None
    since: float | None
    rounds: int | None
    first: int
    timeout: float
    python: str | None
    corpus: list[tuple[str, Round]]
    replay_only: bool
    before: Begun | None
    """The run that this one goes on from."""

    @property
    def limits(self) -> dict[str, Any]:
        """What bounds the campaign, from where its seconds count, and what it asks first."""
        rounds = self.rounds or (1 if self.replay_only else None)
        return {
            "seconds": self.seconds,
            "since": self.since,
            "rounds": rounds,
            "first": self.first,
            "corpus": self.corpus,
        }

    @property
    def going_on(self) -> Asked:
        """The same, but going on after a disagreement."""
        return replace(self, plan=replace(self.plan, keep_going=True))

    def ended_by_its_finding(self, campaign: Campaign) -> bool:
        """Tell whether a finding ended it."""
        return bool(campaign.findings) and not (self.plan.keep_going or campaign.interrupted)

    def may_begin_again(self, campaign: Campaign) -> bool:
        """Tell whether enough of the time is left to ask again what was asked until then, and more."""
        if self.seconds is None:
            return True
        passed = campaign.seconds if self.since is None else time.monotonic() - self.since
        return self.seconds - passed > campaign.seconds

    def check_target(self, target: Target) -> None:
        """Raise :class:`OptionError` where an option is for callables only, and the target is none."""
        from dfa_router.fuzz.targets.function import FunctionTarget

        if isinstance(target, FunctionTarget):
            return
        for option, does, given in (
            ("--python", "names the interpreter that imports a callable", self.python is not None),
            ("--threads", "asks a callable by several threads at once", self.plan.scope.threads > 1),
        ):
            if given:
                raise OptionError(f"{option} {does}, and {target.name} is none: leave it out")

    def check(self, campaign: Campaign) -> None:
        """Raise :class:`OptionError` where the cases of a file were to be asked, and none could be."""
        if self.replay_only and campaign.agrees and not (campaign.tally.rounds or campaign.interrupted):
            raise OptionError(
                f"{campaign.target} was asked none of the cases of the file: they are outside of its scope, or patterns that it "
                "need not refuse (--validity asks these)"
            )


def asked_of(options: dict[str, Any], since: float | None) -> Asked:
    """Return what the options ask for; raises :class:`OptionError` for what does not go together."""
    from dfa_router.fuzz.generating.rounds import Size
    from dfa_router.fuzz.tally import Plan
    from dfa_router.fuzz.text.corpus import read_case_file, read_corpus
    from dfa_router.fuzz.text.outcome import read_result
    from dfa_router.fuzz.text.resuming import begun
    from dfa_router.language.dialect_files import read_dialect
    from dfa_router.language.dialects import dialect_named

    _check(options)
    named, case_file, only, seed = (options[name] for name in ("dialect_file", "case_file", "only", "seed"))
    language = dialect_named(options["dialect"] or "amqp") if named is None else read_dialect(named)
    before = None if options["resume"] is None else begun(read_result(options["resume"]), language)
    if before is not None:
        seed = before.seed
    corpus = [] if options["corpus"] is None else read_corpus(options["corpus"], language)
    if case_file is not None:
        corpus = read_case_file(case_file, language)
    rounds = 1 if only is not None else options["rounds"]
    bounded = rounds is not None or case_file is not None
    return Asked(
        spec=options["spec"],
        plan=Plan(
            dialect=language,
            seed=time.time_ns() % 1_000_000_000 if seed is None else seed,
            size=None if options["size"] is None else Size.parse(options["size"]),
            keep_going=options["keep_going"],
            validity=options["validity"],
            scope=scope_of(options),
        ),
        seconds=60.0 if options["seconds"] is None and not bounded else options["seconds"],
        since=since,
        rounds=rounds,
        first=only if only is not None else before.next_round if before is not None else 0,
        timeout=options["timeout"],
        python=options["python"],
        corpus=corpus,
        replay_only=case_file is not None,
        before=before,
    )


def _check(options: dict[str, Any]) -> None:
    """Raise :class:`OptionError` for an option that would be passed over."""

    def shown(name: str) -> str:
        return "--" + _NAMES.get(name, name).replace("_", "-")

    for name, does, others in _EXCLUDED:
        for other in others if options[name] is not None else ():
            if options[other] is not None and (other != "jobs" or options[other] > 1):
                raise OptionError(f"{shown(name)} {does}: leave {shown(other)} out")
    if options["only"] is not None and options["seed"] is None:
        raise OptionError("--round asks a round of a seed: name it, too, with --seed")
