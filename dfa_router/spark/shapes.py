"""Which columns of a DataFrame are routed by, and what columns come out; nothing here runs anything.

Names of columns are found as Spark finds them: regardless of case, unless ``spark.sql.caseSensitive`` is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DoubleType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from dfa_router.errors import MessagesError, OptionError

__all__ = [
    "FATE",
    "KEYS",
    "ONE_OF",
    "OUTPUT",
    "QUEUE",
    "KeyColumns",
    "check_flags",
    "check_texts",
    "key_columns",
    "output",
    "quoted",
    "spelt_keys",
]

OUTPUT = StructType(
    [
        StructField("queues", ArrayType(StringType())),
        StructField("routed", BooleanType()),
        StructField("not_simulated", ArrayType(StringType())),
        StructField("problem", StringType()),
    ]
)
"""The columns that routing adds, unless options say otherwise."""

_CANDIDATE = StructType(
    [
        StructField("destination", StringType()),
        StructField("destination_type", StringType()),
        StructField("share", DoubleType()),
    ]
)
ONE_OF = StructField(
    "one_of",
    ArrayType(StructType([StructField("exchange", StringType()), StructField("candidates", ArrayType(_CANDIDATE))])),
)
"""What it adds behind these where an exchange takes one of its destinations, and nobody can tell which."""

QUEUE = "queue"
"""In place of ``queues``, where each copy has a row."""

FATE = "fate"
"""What became of a message, in a word."""

KEYS = ("exchange", "routing_key", "vhost")
"""What every message is routed by; ``vhost`` may be absent."""


def output(chooses: bool) -> StructType:
    """Return the columns that routing adds for a topology that has exchanges that choose, or has none."""
    return StructType([*OUTPUT, ONE_OF]) if chooses else OUTPUT


@dataclass(frozen=True, slots=True)
class KeyColumns:
    """The columns to route by."""

    keys: tuple[str, ...]
    """What they are to the router: exchange, routing_key and, where there are such columns, vhost and attributes."""
    names: tuple[str, ...]
    """Their names in the DataFrame."""


def key_columns(
    schema: StructType,
    read: Iterable[str],
    *,
    added: Iterable[str],
    given: Mapping[str, str] | None = None,
    case_sensitive: bool = False,
) -> KeyColumns:
    """Return the columns to route by, after checking the schema against them and against the names that are added.

    ``read`` are the attributes that the topology's exchanges read, ``given`` names for keys that differ from their own. A column
    with an attribute's name is passed over where its type does not fit, unless ``given`` names it.
    Raises :class:`MessagesError` for columns that do not fit, and :class:`OptionError` for a name given to no key.
    """
    read = tuple(read)
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise OptionError(f"columns is {given!r}: expected names by key, such as {{'routing_key': 'topic'}}")
    for key, name in given.items():
        if key not in (*KEYS, *read):
            raise OptionError(f"columns: {key!r} is no key of a message; expected {', '.join((*KEYS, *read))}")
        if not isinstance(name, str):
            raise OptionError(f"columns: {key!r} is {name!r}: expected the name of a column")
    listed = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema) or "none"
    columns: dict[str, StructField] = {}
    for field in schema:
        seen = columns.setdefault(_folded(field.name, case_sensitive), field)
        if seen is not field:
            raise MessagesError(
                f"the messages have two columns {seen.name!r}{'' if seen.name == field.name else f' and {field.name!r}'}; "
                f"they have: {', '.join(schema.names)}. Rename one"
            )
    found: dict[str, StructField] = {}
    for key in (*KEYS, *read):
        name = given.get(key, key)
        column = columns.get(_folded(name, case_sensitive))
        if column is not None and (key in KEYS or key in given or _is_readable(key, column.dataType)):
            found[key] = column
        elif key in given or key in KEYS[:2]:
            raise MessagesError(
                f"the messages have no column {name!r}; they have: {listed}. Rename one to it, or in Python name it with "
                f"columns={{{key!r}: ...}}"
            )
    for name in added:
        if _folded(name, case_sensitive) in columns:
            raise MessagesError(
                f"the messages have a column {name!r}, which the result adds; they have: {listed}. "
                "Rename or drop it first; a program may set a prefix for what is added instead"
            )
    if "vhost" not in found:
        _check_other_case(schema, listed)
    for key in KEYS:
        if key in found:
            _check_type(key, found[key], listed)
    return KeyColumns(tuple(found), tuple(field.name for field in found.values()))


def check_texts(**given: object) -> None:
    """Raise :class:`OptionError` for an option that is no text: workers would find that out, in the middle of a job."""
    for name, value in given.items():
        if not isinstance(value, str):
            raise OptionError(f"{name} is {value!r}: expected text")


def check_flags(**given: object) -> None:
    """Raise :class:`OptionError` for an option that is neither true nor false: the text ``"no"`` would be taken for true."""
    for name, value in given.items():
        if not isinstance(value, bool):
            raise OptionError(f"{name} is {value!r}: expected True or False")


def spelt_keys(names: Iterable[str]) -> dict[str, str]:
    """Return how a log spells the keys that it has, regardless of case.

    >>> spelt_keys(["Exchange", "routing_key", "n"])
    {'exchange': 'Exchange', 'routing_key': 'routing_key'}
    """
    spelt = {name.lower(): name for name in names}
    return {key: spelt[key] for key in KEYS if key in spelt}


def quoted(name: str) -> str:
    """Return a column name as an expression may hold it."""
    return "`" + name.replace("`", "``") + "`"


def _folded(name: str, case_sensitive: bool) -> str:
    return name if case_sensitive else name.lower()


def _check_other_case(schema: StructType, listed: str) -> None:
    """Pass over no column that may have been meant for the vhost: without one, all messages are of one vhost."""
    other_case = next((name for name in schema.names if name.lower() == "vhost"), None)
    if other_case is not None:
        raise MessagesError(
            f"column {other_case!r} differs from 'vhost' by its case alone; the messages have: {listed}. Rename it to "
            "'vhost', or to something else if it is none"
        )


def _is_readable(key: str, kind: DataType) -> bool:
    """Tell whether a column that nobody has named for it can be an attribute: another column may happen to have its name."""
    if key == "headers":
        return isinstance(kind, MapType | StructType | StringType) or (
            isinstance(kind, ArrayType) and isinstance(kind.elementType, StructType) and len(kind.elementType) == 2
        )
    if key in ("cc", "bcc"):
        return isinstance(kind, ArrayType) and isinstance(kind.elementType, StringType | BinaryType)
    return True


def _check_type(key: str, field: StructField, listed: str) -> None:
    allowed: tuple[type[DataType], ...] = (StringType, BinaryType) if key == "routing_key" else (StringType,)
    if not isinstance(field.dataType, allowed):
        raise MessagesError(
            f"column {field.name!r} is {field.dataType.simpleString()}: expected a string; the messages have: {listed}. "
            "Cast it first"
        )
