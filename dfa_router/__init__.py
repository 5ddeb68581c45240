"""Routing patterns of message brokers, compiled.

Binding patterns such as ``*.stock.#`` become one automaton that answers for a whole column of routing keys:

>>> import dfa_router as dr
>>> router = dr.compile([("forex.*", "fx"), ("stock.#", "equities"), ("#", "audit")])
>>> router.match("stock.nyse.ibm")
('equities', 'audit')
>>> router.match_batch(["forex.usd", "weather"]).destinations().to_pylist()
[['fx', 'audit'], ['audit']]
"""

from __future__ import annotations

import dfa_router.started  # noqa: F401 - it takes the time before all that takes time
from dfa_router.siblings import check_sibling

check_sibling("compiler")  # before anything of it is imported

from compiler.prepare import compile_kernels
from compiler.values import CacheStats
from dfa_router.build import compile, load
from dfa_router.engines.protocol import EngineInfo
from dfa_router.engines.registry import engine_info, engines
from dfa_router.errors import (
    BindingError,
    CapacityError,
    ConversionError,
    DefinitionsError,
    EnvironmentLacksError,
    FileFormatError,
    InputError,
    JobError,
    KeyTypeError,
    MessagesError,
    OptionError,
    PatternError,
    PublishRefusedError,
    ReentryError,
    RouterError,
    UnknownNameError,
)
from dfa_router.language.bindings import Binding
from dfa_router.language.convert import convert
from dfa_router.language.dialects import AMQP, AMQP_4_3_5, MQTT, NATS, SOLACE, Dialect, dialect_named
from dfa_router.language.validity import key_problem, pattern_problem
from dfa_router.rabbitmq import Route, Topology, load_definitions
from dfa_router.results import Matches
from dfa_router.router import Router
from dfa_router.tracing import trace

__all__ = [
    "AMQP",
    "AMQP_4_3_5",
    "Binding",
    "BindingError",
    "CacheStats",
    "CapacityError",
    "ConversionError",
    "DefinitionsError",
    "Dialect",
    "EngineInfo",
    "EnvironmentLacksError",
    "FileFormatError",
    "InputError",
    "JobError",
    "KeyTypeError",
    "MQTT",
    "Matches",
    "MessagesError",
    "NATS",
    "OptionError",
    "PatternError",
    "PublishRefusedError",
    "ReentryError",
    "Route",
    "Router",
    "RouterError",
    "SOLACE",
    "Topology",
    "UnknownNameError",
    "compile",
    "compile_kernels",
    "convert",
    "dialect_named",
    "engine_info",
    "engines",
    "key_problem",
    "load",
    "load_definitions",
    "pattern_problem",
    "trace",
]

__version__ = "0.1.0"
