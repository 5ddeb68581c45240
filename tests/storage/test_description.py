"""The description of a saved router: it follows from the fields of dialects and options, and older forms are read."""

from __future__ import annotations

import json
import pickle
from dataclasses import MISSING, Field, dataclass, fields, replace
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_type_hints

import pytest

import dfa_router as dr
from compiler.errors import Defect
from dfa_router.engines.automaton import DfaOptions
from dfa_router.engines.registry import engine_spec
from dfa_router.language.dialects import DIALECTS
from dfa_router.storage.description import from_record, record
from tests.storage.saved_file import File, text
from tests.storage.test_save_load import BINDINGS, rows

KEYS = ["forex.usd", "stock.nyse.ibm", "", "x.é", "weather"]
BLANK = dr.Dialect(name="blank")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRules(dr.Dialect):
    """A dialect with two rules that are not there yet, of types that other rules have."""

    folded: bool = False
    folding: Literal["ascii", "unicode"] | None = None


def other_value(one: Field[Any]) -> Any:
    """Return a value of a field of ``Dialect`` that is not its default."""
    kind = get_type_hints(dr.Dialect)[one.name]
    if choices := [value for value in get_args(kind) if isinstance(value, str)]:
        return next(value for value in choices if value != one.default)
    kinds = [part for part in get_args(kind) if part is not NoneType] or [kind]
    values = {bool: not one.default, str: "é\0", bytes: b"|", int: 7}
    return values[kinds[0]]


RULES = [one for one in fields(dr.Dialect) if one.init and one.default is not MISSING]


@pytest.mark.parametrize("one", RULES, ids=lambda one: one.name)
def test_every_field_of_a_dialect_is_saved(one: Field[Any], tmp_path: Path) -> None:
    dialect = replace(BLANK, **{one.name: other_value(one)})
    assert dialect != BLANK
    dr.compile([("a", "q")], dialect=dialect).save(tmp_path / "file")
    assert dr.load(tmp_path / "file").dialect == dialect


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_descriptions_are_json_and_come_back(dialect: dr.Dialect) -> None:
    assert from_record(dr.Dialect, json.loads(json.dumps(record(dialect)))) == dialect


def test_a_new_rule_is_saved_and_taken_for_one_about_what_matches() -> None:
    old, new = NewRules(name="new"), NewRules(name="new", folded=True, folding="ascii")
    for dialect in (old, new):
        assert from_record(NewRules, json.loads(json.dumps(record(dialect)))) == dialect
    assert (old.plain, old.lenient) == (True, True)
    assert (new.plain, new.lenient) == (False, False)
    assert not dr.engine_info("codegen").speaks(new)


def test_a_field_of_a_type_that_no_reader_is_known_for_is_an_error() -> None:
    @dataclass(frozen=True)
    class Unknown:
        ratio: float = 0.5

    with pytest.raises(TypeError, match=r"Unknown\.ratio is of the type <class 'float'>, which cannot be saved"):
        record(Unknown())
    with pytest.raises(TypeError, match=r"enter a reader for it in dfa_router\.storage\.description"):
        from_record(Unknown, {"ratio": 0.5})


def test_the_options_of_every_engine_that_can_be_saved_are_saved() -> None:
    for name in dr.engines():
        spec = engine_spec(name)
        if spec.restore:
            assert tuple(one.name for one in fields(spec.options)) == spec.info.options
            required = {one.name: 5 for one in fields(spec.options) if one.default is MISSING}
            assert from_record(spec.options, record(spec.options(**required))) == spec.options(**required)


def test_a_value_that_its_type_does_not_allow_is_refused_when_it_is_saved(tmp_path: Path) -> None:
    dialect = replace(dr.AMQP, name="x")
    object.__setattr__(dialect, "tail_only", 1)  # it would be refused where it is given
    wrong = dr.compile([("a", "q")], dialect=dialect)
    with pytest.raises(dr.OptionError, match=r"tail_only of .* cannot be saved: 1 is neither true nor false"):
        wrong.save(tmp_path / "file")
    assert not list(tmp_path.iterdir())


def asked_twice(router: dr.Router) -> int:
    """Return how many keys the key cache answered."""
    keys = KEYS * 500  # few keys are not looked up
    for _ in range(2):
        assert rows(router, keys) == rows(dr.compile(BINDINGS, engine="naive"), keys)
    return router.stats().key_cache_hits


@pytest.mark.parametrize("key_cache", ["on", "off", "auto"])
def test_the_key_cache_survives_saving_loading_and_pickling(key_cache: str, tmp_path: Path) -> None:
    before = dr.compile(BINDINGS, key_cache=key_cache, cache_bytes=1 << 20)
    before.save(tmp_path / "file")
    loaded = dr.load(tmp_path / "file")
    loaded.save(tmp_path / "again")
    for router in (loaded, dr.load(tmp_path / "again"), pickle.loads(pickle.dumps(before))):
        assert router.compiled().options == DfaOptions(cache_bytes=1 << 20, key_cache=key_cache)  # type: ignore[arg-type]
        assert (asked_twice(router) > 0) == (key_cache != "off")
    for changed in ("on", "off"):
        router = dr.load(tmp_path / "file", key_cache=changed)
        assert (asked_twice(router) > 0) == (changed == "on")
        assert router.stats().capacity == 1 << 20
    for engine in ("dfa", "nfa"):
        with pytest.raises(dr.OptionError, match="key_cache is 'never'"):
            dr.load(tmp_path / "file", engine=engine, key_cache="never")
        with pytest.raises(dr.OptionError, match="cache_bytes is -1: expected a number of bytes from 0 up"):
            dr.load(tmp_path / "file", engine=engine, cache_bytes=-1)


def test_an_engine_without_options_takes_none_from_the_file(tmp_path: Path) -> None:
    dr.compile(BINDINGS, key_cache="on").save(tmp_path / "dfa")
    simulated = dr.load(tmp_path / "dfa", engine="nfa")
    assert record(simulated.compiled().options) == {}
    simulated.save(tmp_path / "nfa")
    assert dr.load(tmp_path / "nfa", engine="dfa").compiled().options == dr.compile(BINDINGS).compiled().options


AS_BEFORE = {
    "name": "amqp",
    "separator": ".",
    "one": "*",
    "many": "#",
    "some": None,
    "tail_only": False,
    "stray_tail": "refused",
    "inner_wildcards": "literal",
    "empty_text": True,
    "empty_words": True,
    "wildcard_keys": True,
    "dropped": "",
    "forbidden": "",
    "reserved": None,
    "unseen": None,
    "shared": None,
    "max_bytes": 255,
    "max_words": None,
    "max_many": None,
}
"""A dialect as the first form of the description had it, which knew ``cache_bytes`` as the only option."""


def described(about: object, path: Path) -> Path:
    """Write a router's file whose description is another one."""
    dr.compile(BINDINGS).save(path / "whole")
    file = File(path / "whole")
    file.sections["about"] = text(json.dumps(about).encode())
    file.write(path / "other")
    return path / "other"


@pytest.mark.parametrize(("engine", "cache_bytes"), [("dfa", 12_345), ("nfa", None)])
def test_a_file_of_the_form_before_is_loaded(engine: str, cache_bytes: int | None, tmp_path: Path) -> None:
    path = described({"engine": engine, "cache_bytes": cache_bytes, "dialect": AS_BEFORE}, tmp_path)
    loaded = dr.load(path)
    assert (loaded.dialect, loaded.engine.name, loaded.bindings) == (dr.AMQP, engine, dr.compile(BINDINGS).bindings)
    assert loaded.stats().capacity == (cache_bytes or 0)
    assert rows(loaded, KEYS) == rows(dr.compile(BINDINGS), KEYS)


def test_a_rule_that_a_file_does_not_know_is_one_that_its_dialect_does_not_have(tmp_path: Path) -> None:
    known = {name: value for name, value in AS_BEFORE.items() if name not in ("max_many", "shared")}
    path = described({"engine": "dfa", "options": {"cache_bytes": 12_345}, "dialect": known}, tmp_path)
    assert dr.load(path).dialect == dr.AMQP
    assert dr.load(path).compiled().options == DfaOptions(cache_bytes=12_345, key_cache="auto")


@pytest.mark.parametrize(
    ("about", "problem"),
    [
        (
            {"engine": "dfa", "cache_bytes": -1, "dialect": AS_BEFORE},
            "DfaOptions.cache_bytes: -1 is no number of bytes",
        ),
        ({"engine": "nfa", "cache_bytes": 5, "dialect": AS_BEFORE}, "too many or too few"),
        ({"engine": "dfa", "options": None, "dialect": AS_BEFORE}, "None is no record"),
        (
            {"engine": "dfa", "options": {"cache_bytes": 5, "key_cache": 1}, "dialect": AS_BEFORE},
            "1 is none of auto, on",
        ),
        ({"engine": "dfa", "options": {"cache_bytes": 5}, "dialect": {**AS_BEFORE, "name": None}}, "None is no text"),
        ({"engine": "dfa", "options": {"cache_bytes": 5}, "dialect": {"one": "*"}}, "too many or too few"),
        (["engine", "options", "dialect"], "JSON"),
        (5, "JSON"),
    ],
)
def test_a_description_that_no_release_wrote_is_refused(about: object, problem: str, tmp_path: Path) -> None:
    with pytest.raises(dr.FileFormatError) as refused:
        dr.load(described(about, tmp_path))
    assert (refused.value.kind, refused.value.section) == (Defect.OPTIONS, "about")
    assert problem in str(refused.value)
