"""What is examined: a released package, what of it is asked, and what is known of the causes of its mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version

from dfa_router.language.dialects import AMQP, MQTT, Dialect

__all__ = ["SUBJECTS", "Subject"]

_ADAPTERS = "benchmarks.verification.findings.adapters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A package under examination."""

    name: str
    """What the command calls it."""
    package: str
    """The distribution's name."""
    asked: str
    """What of it answers, in the package's own terms."""
    adapter: str
    """The callable that asks it, as ``module:callable`` below the adapters."""
    dialect: Dialect
    broker: str
    """The scheme of the live broker that judges: ``amqp`` or ``mqtt``."""
    causes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Why it answers a minimal case (pattern, key) as it does, by those who read its code."""
    other_cause: str | None = None
    """The same for cases that are not among them, where all that were met have one cause."""

    @property
    def target(self) -> str:
        """The SPEC that the fuzzer opens."""
        return f"{_ADAPTERS}.{self.adapter}"

    @property
    def version(self) -> str | None:
        """The installed version, or None where the package is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


_MQTT_3 = replace(MQTT, name="mqtt without shared subscriptions", shared=None)
"""What a matcher that knows nothing of ``$share`` says about itself: it is examined in the rest."""

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
