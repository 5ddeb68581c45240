"""What is examined: released packages, which part of each is asked, and what is known about the causes of their mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version

from dfa_router.language.dialects import AMQP, MQTT, Dialect

__all__ = ["SUBJECTS", "Subject"]

_ADAPTERS = "benchmarks.verification.findings.adapters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A package, and the part of it that is asked."""

    name: str
    """Its name in the command and the tables."""
    package: str
    """The distribution's name."""
    asked: str
    """The part of it that answers, in the package's own terms."""
    adapter: str
    """The function that asks it, as ``module:function`` below the adapters."""
    dialect: Dialect
    broker: str
    """The scheme of the live broker that judges: ``amqp`` or ``mqtt``."""
    causes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Minimal case (pattern, key) -> why the package answers it wrong, found by reading its code."""
    other_cause: str | None = None
    """The cause of all other cases, where they have one in common."""

    @property
    def target(self) -> str:
        """The target as the fuzzer's command line names it."""
        return f"{_ADAPTERS}.{self.adapter}"

    @property
    def version(self) -> str | None:
        """The installed version, or None where the package is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


_MQTT_3 = replace(MQTT, name="mqtt without shared subscriptions", shared=None)
"""The dialect of matchers that do not know ``$share``: they are not asked about it."""

_KOMBU_INSIDE = "`*` and `#` are not escaped inside a word: `a*` is read as the regular expression `a*`"
_KOMBU_ZERO = "`#` becomes `.*?`, but the dots around it stay: it never stands for zero words"
_KOMBU_EMPTY = "`*` becomes `[^\\.]+`, which takes no empty word"
_FASTSTREAM_END = "an empty word of the pattern ends the walk, as if the pattern ended there"
_FASTSTREAM_FIRST = "the word behind `#` is taken at its first occurrence, without looking for a later one"
_AIOMQTT = "there is no rule for topics that begin with `$`, which wildcards at the first level must not match"

SUBJECTS = (
    Subject(
        name="kombu",
        package="kombu",
        asked="the topic exchange of its virtual transports (`memory://`)",
        adapter="doubles:kombu",
        dialect=AMQP,
        broker="amqp",
        causes={
            ("*a", ""): _KOMBU_INSIDE,
            ("*a", "a"): _KOMBU_INSIDE,
            ("a*", ""): _KOMBU_INSIDE,
            ("a*", "a"): _KOMBU_INSIDE,
            ("a*", "a*"): _KOMBU_INSIDE,
            ("a.*a", "a.*a"): _KOMBU_INSIDE,
            ("#.#", ""): _KOMBU_ZERO,
            ("a.#", "a"): _KOMBU_ZERO,
            ("#.a.#", "a.b.b.a"): _KOMBU_ZERO,
            ("*.", "."): _KOMBU_EMPTY,
            ("*.*", "."): _KOMBU_EMPTY,
        },
    ),
    Subject(
        name="faststream",
        package="faststream",
        asked="`TestRabbitBroker`: `faststream.rabbit.testing.apply_pattern`",
        adapter="doubles:faststream",
        dialect=AMQP,
        broker="amqp",
        causes={
            ("*", ""): "the empty key is taken for one empty word, where it has none",
            ("", ""): "the empty key is taken for one empty word, where it has none",
            ("a.", "a"): _FASTSTREAM_END,
            ("#.a", "b.a.a"): _FASTSTREAM_FIRST,
            ("#.a", "a.a.a"): _FASTSTREAM_FIRST,
            ("#.*", "a.a.a"): _FASTSTREAM_FIRST,
            ("a.#", "a"): "`#` takes a word before it looks on: it never stands for zero words behind another",
        },
    ),
    Subject(
        name="hyperscan",
        package="hyperscan",
        asked="`Database.scan`, patterns as regular expressions",
        adapter="expressions:hyperscan",
        dialect=AMQP,
        broker="amqp",
        other_cause="alone, each expression matches; both in one database miss keys of some 18 bytes and more: the scanner's "
        "mistake (the wheel's calls itself 5.4.12)",
    ),
    Subject(
        name="google-re2",
        package="google-re2",
        asked="`re2.Set.FullMatchSet`, patterns as regular expressions",
        adapter="expressions:re2",
        dialect=AMQP,
        broker="amqp",
    ),
    Subject(
        name="aiomqtt",
        package="aiomqtt",
        asked="`Topic.matches`",
        adapter="clients:aiomqtt",
        dialect=MQTT,
        broker="mqtt",
        causes={
            ("#", "$"): _AIOMQTT,
            ("+", "$"): _AIOMQTT,
        },
    ),
    Subject(
        name="paho",
        package="paho-mqtt",
        asked="`topic_matches_sub`",
        adapter="clients:paho",
        dialect=_MQTT_3,
        broker="mqtt",
    ),
    Subject(
        name="paho-matcher",
        package="paho-mqtt",
        asked="`MQTTMatcher`, all filters in one tree",
        adapter="clients:paho_matcher",
        dialect=_MQTT_3,
        broker="mqtt",
    ),
    Subject(
        name="amqtt",
        package="amqtt",
        asked="its broker: `add_subscription`, and the matching of its broadcast",
        adapter="doubles:amqtt",
        dialect=_MQTT_3,
        broker="mqtt",
    ),
)
