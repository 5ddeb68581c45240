"""The exceptions of ``dfa_router``, one tree under :class:`RouterError`.

::

    RouterError                      anything this project raises on purpose
    ├── InputError                   (ValueError) the caller's input is wrong
    │   ├── PatternError             a binding pattern
    │   │   └── ConversionError      a pattern that has no equal in another dialect
    │   ├── CapacityError            an automaton would exceed its limit
    │   ├── FileFormatError          a file of a compiled router: .kind and .section say what is wrong, and where
    │   ├── BindingError             an entry of a binding list, or a change to one
    │   ├── KeyTypeError             (TypeError) a routing key that is neither text nor bytes
    │   ├── OptionError              an unknown engine, dialect or option, or a value out of range
    │   ├── DefinitionsError         a RabbitMQ definitions file: file, place, remedy
    │   ├── UnknownNameError         (LookupError) an exchange or vhost that a topology does not have
    │   ├── PublishRefusedError      an exchange that no client may publish to
    │   ├── MessagesError            a message log: a missing column, an unknown format
    │   ├── PathTypeError            (TypeError) what is no path of a file (defined in file_names)
    │   └── CorpusError              a kept case of the fuzzer (defined in fuzz.text.casefile)
    ├── JobError                     a Spark job that failed, or lost rows
    ├── ReentryError                 (RuntimeError) a signal handler that asks in the middle of a call that cannot be shared
    ├── Refused, TargetFailure       what a target of the fuzzer did (defined in dfa_router.target)
    └── EnvironmentLacksError        (RuntimeError) Java, an extra, a broker: what to install

``InputError`` and its branches mean "change the input"; ``EnvironmentLacksError`` means "change the machine".
"""

from __future__ import annotations

from compiler.errors import CapacityError, FileFormatError, InputError, PatternError, RouterError

__all__ = [
    "BindingError",
    "CapacityError",
    "ConversionError",
    "DefinitionsError",
    "EnvironmentLacksError",
    "FileFormatError",
    "InputError",
    "JobError",
    "KeyTypeError",
    "MessagesError",
    "OptionError",
    "PatternError",
    "PublishRefusedError",
    "ReentryError",
    "RouterError",
    "UnknownNameError",
]


class BindingError(InputError):
    """An entry of a binding list is not a (pattern, destination) pair, or a change to one does not fit."""


class ConversionError(PatternError):
    """A pattern has no equal in another dialect; the text names what cannot be said there."""


class KeyTypeError(InputError, TypeError):
    """A routing key is neither ``str`` nor ``bytes``, or a batch of keys is not a column of strings."""


class OptionError(InputError):
    """An unknown engine, dialect or option, or an option's value out of range."""


class DefinitionsError(InputError):
    """A RabbitMQ definitions file cannot be used; the text names the file, the place and the remedy."""


class UnknownNameError(InputError, LookupError):
    """A topology has no vhost or exchange of that name; the text lists similar names."""


class MessagesError(InputError):
    """A message log cannot be read: a missing column, an unknown format, an output that exists."""


class PublishRefusedError(InputError):
    """The exchange is internal: the broker lets no client publish to it."""


class JobError(RouterError):
    """A Spark job failed, or its result does not have as many rows as its input."""


class ReentryError(RouterError, RuntimeError):
    """A call has interrupted another one of its thread, and would wait for ever for what that holds."""


class EnvironmentLacksError(RouterError, RuntimeError):
    """Something is missing on the machine (Java, an extra, a broker); the text says what to install."""
