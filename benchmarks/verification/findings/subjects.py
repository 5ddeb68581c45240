"""What is examined: released packages, which part of each is asked, and what it claims."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from dfa_router.fuzz import Scope
from dfa_router.language.dialects import AMQP, MQTT, NATS, Dialect

__all__ = ["SUBJECTS", "Subject"]


_ALL = Scope()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A package, and the part of it that is asked."""

    name: str
    """Its name in the command and the tables."""
    registry: Literal["PyPI", "npm"]
    asked: str
    """The part of it that answers, in the package's own terms."""
    dialect: Dialect
    broker: str
    """The scheme of the live broker that judges: ``amqp``, ``mqtt`` or ``nats``."""
    adapter: str = ""
    """For Python, the function that asks it, as ``module:function`` below the adapters."""
    packages: tuple[str, ...] = ()
    """What is installed, if it is not the name alone: distributions, with versions where newer ones do not go together."""
    python: str = ""
    """The version of Python that it needs, such as ``3.10``; ours if it is empty."""
    scope: Scope = _ALL
    """What it claims, where that is less than its dialect."""
    source: tuple[str, str] = ("", "")
    """The file that decides, below the installed packages, and a text in the line to point at."""

    @property
    def installs(self) -> tuple[str, ...]:
        """What is installed for it; the first is the package itself."""
        return self.packages or (self.name,)


_NO_SHARED = Scope(shared=False)
_MQTT_ANY = replace(MQTT, name="mqtt without a rule for $", reserved=None, shared=None)
"""For packages that claim the wildcards of MQTT and no more: nothing is said of topics that begin with ``$``."""


_EVERYDAY = Scope(empty_words=False)
"""For packages whose documentation knows no empty words, and for NATS, where no subject has one."""


def _of(broker: str, dialect: Dialect, scope: Scope = _ALL) -> Callable[..., Subject]:
    """Return what makes the subjects that a broker judges, which differ in dialect and scope where they say so."""

    def made(
        name: str,
        registry: Literal["PyPI", "npm"],
        asked: str,
        source: tuple[str, str],
        dialect: Dialect = dialect,
        scope: Scope = scope,
        **more: Any,
    ) -> Subject:
        return Subject(
            name=name,
            registry=registry,
            asked=asked,
            dialect=dialect,
            broker=broker,
            scope=scope,
            source=source,
            **more,
        )

    return made


_amqp, _mqtt, _nats = _of("amqp", AMQP), _of("mqtt", MQTT), _of("nats", NATS, _EVERYDAY)


SUBJECTS = (
    _amqp(
        "kombu",
        "PyPI",
        "the topic exchange of its virtual transports (`memory://`)",
        ("kombu/transport/virtual/exchange.py", "def key_to_pattern"),
        adapter="doubles:kombu",
    ),
    _amqp(
        "faststream",
        "PyPI",
        "`TestRabbitBroker`: `faststream.rabbit.testing.apply_pattern`",
        ("faststream/rabbit/testing.py", "def apply_pattern"),
        adapter="doubles:faststream",
        packages=("faststream[rabbit]",),
    ),
    _amqp(
        "hyperscan",
        "PyPI",
        "`Database.scan`, patterns as regular expressions",
        ("", ""),
        adapter="expressions:hyperscan",
    ),
    _amqp(
        "google-re2",
        "PyPI",
        "`re2.Set.FullMatchSet`, patterns as regular expressions",
        ("", ""),
        adapter="expressions:re2",
    ),
    _mqtt("aiomqtt", "PyPI", "`Topic.matches`", ("aiomqtt/topic.py", "def matches"), adapter="clients:aiomqtt"),
    _mqtt(
        "paho-mqtt",
        "PyPI",
        "`topic_matches_sub`",
        ("paho/mqtt/client.py", "def topic_matches_sub"),
        adapter="clients:paho",
        scope=_NO_SHARED,
    ),
    _mqtt(
        "paho-matcher",
        "PyPI",
        "`MQTTMatcher`, all filters in one tree",
        ("paho/mqtt/matcher.py", "def iter_match"),
        adapter="clients:paho_matcher",
        packages=("paho-mqtt",),
        scope=_NO_SHARED,
    ),
    _mqtt(
        "amqtt",
        "PyPI",
        "its broker: `add_subscription`, and the matching of its broadcast",
        ("amqtt/broker.py", "def _matches"),
        adapter="doubles:amqtt",
        scope=_NO_SHARED,
    ),
    _mqtt(
        "asyncio-mqtt",
        "PyPI",
        "`Topic.matches`",
        ("asyncio_mqtt/client.py", "def matches"),
        adapter="clients:asyncio_mqtt",
    ),
    _mqtt(
        "fastapi-mqtt",
        "PyPI",
        "`FastMQTT.match`",
        ("fastapi_mqtt/fastmqtt.py", "def match("),
        adapter="clients:fastapi_mqtt",
    ),
    _mqtt(
        "hbmqtt",
        "PyPI",
        "the matching of its broker's broadcast",
        ("hbmqtt/broker.py", "def matches"),
        adapter="doubles:hbmqtt",
        packages=("hbmqtt", "websockets<9"),
        python="3.10",
        scope=_NO_SHARED,
    ),
    _mqtt(
        "mqttools",
        "PyPI",
        "its broker: `iter_subscribers`",
        ("mqttools/broker.py", "def compile_wildcards_topic"),
        adapter="doubles:mqttools",
        scope=_NO_SHARED,
    ),
    _mqtt(
        "adafruit-circuitpython-minimqtt",
        "PyPI",
        "`MQTTMatcher`, all filters in one tree",
        ("adafruit_minimqtt/matcher.py", "def iter_match"),
        adapter="clients:adafruit",
        scope=_NO_SHARED,
    ),
    _nats(
        "cliffracer",
        "PyPI",
        "`subject_matches`",
        ("cliffracer/core/subjects.py", "def subject_matches"),
        adapter="clients:cliffracer",
        python="3.13",
    ),
    _amqp("qlobber", "npm", "`Qlobber`, with `match_empty_levels`", ("qlobber/lib/qlobber.js", "_match")),
    _amqp("smqp", "npm", "`getRoutingKeyPattern`", ("smqp/src/shared.js", "function getRoutingKeyPattern")),
    _amqp(
        "@onify/fake-amqplib",
        "npm",
        "a topic exchange, and a queue for each pattern",
        ("smqp/src/shared.js", "function getRoutingKeyPattern"),
    ),
    _amqp(
        "mock-amqplib",
        "npm",
        "a topic exchange, and a queue for each pattern",
        ("mock-amqplib/src/main.js", "createTopicExchange"),
    ),
    _amqp("amqp-match", "npm", "its function", ("amqp-match/index.js", "regexString"), scope=_EVERYDAY),
    _amqp("fake-amqp", "npm", "its router's bindings", ("fake-amqp/lib/MockRouter.js", "var regexMatch")),
    _mqtt(
        "mqemitter",
        "npm",
        "`on` and `emit`, with MQTT's separator and wildcards",
        ("qlobber/lib/qlobber.js", "_match"),
        _MQTT_ANY,
    ),
    _mqtt("mqtt-match", "npm", "its function", ("mqtt-match/index.js", "module.exports"), _MQTT_ANY),
    _mqtt("mqtt-pattern", "npm", "`matches`", ("mqtt-pattern/index.js", "function matches"), _MQTT_ANY),
    _mqtt("mqtt-regex", "npm", "`exec` of the compiled pattern", ("mqtt-regex/index.js", "function"), _MQTT_ANY),
    _mqtt("mqtt-emitter", "npm", "`on` and `emit`", ("mqtt-store/index.js", "function"), _MQTT_ANY),
    _mqtt("mqtt-wildcard", "npm", "its function", ("mqtt-wildcard/index.js", "function mqttWildcard"), _MQTT_ANY),
    _mqtt(
        "@sap/xb-msg-mqtt-v311",
        "npm",
        "its `Matcher`",
        ("@sap/xb-msg-mqtt-v311/lib/tools/matcher.js", "static filterToRegExp"),
        scope=_NO_SHARED,
    ),
    _mqtt(
        "@node-red/nodes",
        "npm",
        "`matchTopic` of its MQTT node",
        ("@node-red/nodes/core/network/10-mqtt.js", "function matchTopic"),
        _MQTT_ANY,
    ),
    _nats(
        "nats-micro",
        "npm",
        "`TokenEventEmitter`",
        ("nats-micro/lib/cjs/tokenEventEmitter.js", "matchSubject(wildcard"),
    ),
    _nats(
        "nats-hemera", "npm", "`Util.natsWildcardToRegex`", ("nats-hemera/lib/util.js", "static natsWildcardToRegex")
    ),
    _nats("mock-node-nats", "npm", "its client", ("", "")),
    _nats(
        "mock-nats-client",
        "npm",
        "`subscribe` and `publish`",
        ("mock-nats-client/lib/utils.js", "utils.matchSubject"),
    ),
)
