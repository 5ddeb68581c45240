"""Saving and loading: the same router comes back, or an error says why not."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dfa_router as dr
from compiler.errors import Defect
from compiler.storage import seals
from tests.storage.saved_file import File, set_about, set_attribute, set_header, set_item, set_section, text
from tests.suite.cases import load_cases

DAMAGE = Path(__file__).with_name("damage.py")
BINDINGS = [("forex.*", "fx"), ("stock.#", "equities"), ("#", "audit"), ("", "fx"), ("#.*.é", "audit")]

WORDS = st.sampled_from(["a", "b", "", "*", "#", "longer-than-8", "longer-than-9", "é", "a\0", "**"])
TEXTS = st.lists(WORDS, max_size=6).map(".".join)


def rows(router: dr.Router, keys: Sequence[str]) -> Any:
    return router.match_batch(keys).bindings().to_pylist(), router.match_batch(keys).destinations().to_pylist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@settings(max_examples=60, deadline=None)
@given(
    bindings=st.lists(st.tuples(TEXTS, st.sampled_from(["x", "y", "", "é"])), max_size=12),
    keys=st.lists(TEXTS, max_size=30),
    dialect=st.sampled_from(["amqp", "exact"]),
    engines=st.tuples(*[st.sampled_from(["dfa", "nfa"])] * 2),
    sizes=st.tuples(*[st.sampled_from([0, 1, 1500, 4096, 1 << 20])] * 2),
)
def test_answers_are_the_same_before_and_after_with_any_cache(
    folder: Path,
    bindings: list[tuple[str, str]],
    keys: list[str],
    dialect: str,
    engines: tuple[str, str],
    sizes: tuple[int, int],
) -> None:
    before = dr.compile(bindings, dialect=dialect, engine=engines[0], cache_bytes=sizes[0])
    before.save(folder / "file")
    after = dr.load(folder / "file", engine=engines[1], cache_bytes=sizes[1])
    assert rows(after, keys) == rows(before, keys) == rows(dr.compile(bindings, dialect=dialect, engine="naive"), keys)
    assert [after.match(key) for key in keys] == [before.match(key) for key in keys]
    after.save(folder / "again")
    assert rows(dr.load(folder / "again"), keys) == rows(before, keys)


@pytest.mark.parametrize("engine", ["dfa", "nfa"])
def test_every_case_is_answered_right_after_loading(folder: Path, engine: str) -> None:
    for case in load_cases():
        left = [position for position in range(len(case.bindings)) if position not in case.removed]
        router = dr.compile([case.bindings[position] for position in left], dialect=case.dialect, engine=engine)
        router.save(folder / "case")
        found = dr.load(folder / "case").match_batch(case.keys).bindings().to_pylist()
        expected = [case.expected[key] for key in case.keys]
        assert [[left[position] for position in row] for row in found] == expected, case.title


def test_everything_that_makes_a_router_is_kept(tmp_path: Path) -> None:
    dialect = dr.Dialect(name="amqp", separator=b"/", one=b"+", many=b"\xff", max_bytes=None)
    for router in (
        dr.compile(BINDINGS, cache_bytes=12345),
        dr.compile(BINDINGS, engine="nfa"),
        dr.compile([("a/+", "one")], dialect=dialect),
        dr.compile([]),
    ):
        router.save(tmp_path / "file")
        loaded = dr.load(tmp_path / "file")
        assert loaded.bindings == router.bindings
        assert repr(loaded) == repr(router)
        assert (loaded.dialect, loaded.engine) == (router.dialect, router.engine)
        assert loaded.stats().capacity == router.stats().capacity
        assert loaded.subscriptions() == router.subscriptions()
        assert loaded.topics("audit") == router.topics("audit")
        again = pickle.loads(pickle.dumps(loaded))
        assert again.bindings == router.bindings
        assert again.match("forex.usd") == router.match("forex.usd")


def test_a_file_does_not_depend_on_what_was_asked_before(tmp_path: Path) -> None:
    router = dr.compile(BINDINGS)
    router.save(tmp_path / "cold")
    router.match_batch(["forex.usd", "a.b.c"])
    router.save(tmp_path / "warm")
    dr.load(tmp_path / "cold").save(tmp_path / "again")
    assert len({(tmp_path / name).read_bytes() for name in ("cold", "warm", "again")}) == 1


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("dialect", ["amqp", "mqtt", "nats"])
def test_a_sealed_router_is_warm_when_it_is_loaded(tmp_path: Path, dialect: str, mapped: bool) -> None:
    spoken = dr.dialect_named(dialect)
    separator, one = spoken.separator.decode(), (spoken.one or b"*").decode()
    bindings = [(separator.join(words), "-".join(words)) for words in (["a", one, "c"], ["a", "b"], ["b", one])]
    keys = [separator.join(words) for words in (["a", "x", "c"], ["a", "b"], ["b", "y"], ["c"], ["a", "b", "d"])]
    router = dr.compile(bindings, dialect=dialect)
    router.seal(keys).save(tmp_path / "sealed")
    loaded = dr.load(tmp_path / "sealed", mapped=mapped)
    naive = rows(dr.compile(bindings, dialect=dialect, engine="naive"), [*keys, separator.join("axd")])
    assert rows(loaded, keys) == rows(router, keys)
    found = loaded.stats()
    assert (found.sealed_keys, found.keys, found.states) == (2 * len(keys), 2 * len(keys), 0)
    assert rows(loaded, [*keys, separator.join("axd")]) == naive
    assert loaded.match(keys[0]) == router.match(keys[0])
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "sealed").read_bytes()
    pickled = pickle.loads(pickle.dumps(loaded))
    assert rows(pickled, keys) == rows(router, keys)
    assert pickled.stats().sealed_keys == 2 * len(keys)
    assert dr.load(tmp_path / "sealed", engine="nfa").stats().sealed_states == 0
    small = dr.load(tmp_path / "sealed", cache_bytes=300)
    assert rows(small, keys) == rows(router, keys)
    assert small.stats().sealed_states == 0


def test_a_sealed_router_is_loaded_with_another_bound(tmp_path: Path) -> None:
    """By which its automaton would be another one, with keys that are looked up whole, or without."""
    bindings = [(f"d{i}.temp", f"q{i % 7}") for i in range(20_000)] + [("*.temp.#", "all"), ("d7.#", "seven")]
    keys = ["d1.temp", "d19999.temp", "d7.x", "x.temp.y", "d1", "x.temp", ""]
    naive = rows(dr.compile(bindings, engine="trie"), keys)
    few, much = 8 << 20, 64 << 20
    for before, after in ((few, much), (much, few)):
        dr.compile(bindings, cache_bytes=before).seal(keys).save(tmp_path / "sealed")
        loaded = dr.load(tmp_path / "sealed", cache_bytes=after)
        assert loaded.stats().sealed_states > 0
        loaded.save(tmp_path / "again")
        for router in (loaded, pickle.loads(pickle.dumps(loaded)), dr.load(tmp_path / "again")):
            assert rows(router, keys) == naive
            assert (router.stats().sealed_states, router.stats().capacity) == (loaded.stats().sealed_states, after)
        assert rows(dr.load(tmp_path / "sealed", cache_bytes=300), keys) == naive


def test_tables_of_other_bindings_are_refused(tmp_path: Path) -> None:
    """All checks but that of the tables pass: their bytes are those of a router with as many words and positions."""
    keys = ["a.b", "a.c", "b.c"]
    for name, bindings in (("one", [("a.b", "x"), ("b.*", "y")]), ("two", [("a.*", "x"), ("b.a", "y")])):
        dr.compile(bindings).seal(keys).save(tmp_path / name)
    own, other = File(tmp_path / "one"), File(tmp_path / "two")
    for section in ("seal_begin", *(f"seal_{part}" for part in seals.PARTS)):
        own.sections[section] = other.sections[section]
    own.write(tmp_path / "mixed")
    with pytest.raises(dr.FileFormatError, match="not what the patterns say") as caught:
        dr.load(tmp_path / "mixed")
    assert caught.value.kind == Defect.SEAL


def test_very_long_words_and_patterns_are_kept_and_checked(tmp_path: Path) -> None:
    dialect = dr.Dialect(name="amqp", one=b"*", many=b"#", max_bytes=None)
    bindings = [
        ("a." * 3000 + "b", "x"),
        ("." * 400 + "#", "y"),
        ("w" * 100_000, "z"),
        ("w" * 99_999 + "v", "z"),
        ("a." + "l" * 2_000_000, "long"),
    ]
    dr.compile(bindings, dialect=dialect).save(tmp_path / "file")
    loaded = dr.load(tmp_path / "file")
    assert [loaded.match(key) for key, _ in bindings] == [("x",), ("y",), ("z",), ("z",), ("long",)]
    file = File(tmp_path / "file")
    file.sections["pattern_data"][4000] = ord("c")  # a dot or a word of the longest
    file.write(tmp_path / "other")
    with pytest.raises(dr.FileFormatError) as refused:
        dr.load(tmp_path / "other")
    assert refused.value.kind is Defect.PATTERNS


CHANGED_AFTER_LOADING = """
import os, sys
import dfa_router as dr
router = dr.load(sys.argv[1])
with open(sys.argv[1], "r+b") as file:  # as cp and editors write: into the same file
    size = os.fstat(file.fileno()).st_size
    {change}
keys = [f"a.w{{i}}.x" for i in range(20_000)]
assert router.match_batch(keys).destinations().to_pylist() == [[f"q{{i}}", "all"] for i in range(20_000)]
assert router.match("a.w19999.y") == ("q19999", "all")
assert router.bindings[19_999] == ("a.w19999.*", "q19999")
print("right")
"""


@pytest.mark.parametrize("engine", ["dfa", pytest.param("nfa", marks=pytest.mark.long)])
@pytest.mark.parametrize("change", ["file.write(b'\\xff' * size)", "file.truncate(0)", "os.unlink(sys.argv[1])"])
def test_what_happens_to_a_file_after_it_was_loaded_changes_nothing(engine: str, change: str, tmp_path: Path) -> None:
    # In a process of its own: kernels that read a changed file would take this one with them.
    bindings = [(f"a.w{i}.*", f"q{i}") for i in range(20_000)] + [("#", "all")]
    dr.compile(bindings, engine=engine).save(tmp_path / "file")
    command = [sys.executable, "-c", CHANGED_AFTER_LOADING.format(change=change), str(tmp_path / "file")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "right\n"), ended.stderr


@pytest.mark.parametrize("mapped", [False, True])
def test_a_router_may_be_saved_to_the_file_that_it_was_loaded_from(mapped: bool, tmp_path: Path) -> None:
    dr.compile(BINDINGS).save(tmp_path / "file")
    router = dr.load(tmp_path / "file", mapped=mapped)
    dr.compile([("a", "other")]).save(tmp_path / "file")
    assert rows(router, ["forex.usd", "a"]) == rows(dr.compile(BINDINGS), ["forex.usd", "a"])
    router.save(tmp_path / "file")
    assert dr.load(tmp_path / "file", mapped=mapped).bindings == tuple(BINDINGS)


def test_a_router_is_saved_over_no_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="it is a pipe, which a file would replace: save to another path"):
        dr.compile(BINDINGS).save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize(
    ("path", "remedy"),
    [(b"a.dfar", "decode bytes with os.fsdecode"), (None, "give the name of a file"), (1, "give the name of a file")],
)
def test_what_is_no_path_is_told(path: Any, remedy: str) -> None:
    router = dr.compile([("a", "q")])
    for call in (dr.load, router.save):
        with pytest.raises(TypeError, match=f"the path is {path!r}: expected text .*; {remedy}") as caught:
            call(path)
        assert isinstance(caught.value, dr.InputError)


@pytest.mark.parametrize(
    ("name", "what"), [("a\0b", "a zero"), ("a\ud800b", r"its character 1, '\\ud800'")], ids=["zero", "surrogate"]
)
def test_what_no_file_can_be_called_is_told_alike_everywhere(name: str, what: str) -> None:
    definitions = "examples/demo/definitions.json"
    for call in (
        dr.compile([("a", "q")]).save,
        dr.load,
        dr.load_definitions,
        lambda given: dr.load_definitions(definitions, listings=[given]),
    ):
        with pytest.raises(
            dr.InputError, match=rf"the path is {re.escape(repr(name))}: no name of a file has {what}"
        ) as caught:
            call(name)
        assert type(caught.value) is dr.InputError


def test_saving_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys, dfa_router as dr\n"
        "os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)\n"
        "dr.compile([('a', 'b')]).save(sys.argv[1])"
    )
    killed = subprocess.run([sys.executable, "-c", program, str(tmp_path / "file")], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert list(tmp_path.iterdir()) not in ([], [tmp_path / "file"])
    dr.compile(BINDINGS).save(tmp_path / "file")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
    assert dr.load(tmp_path / "file").bindings == tuple(BINDINGS)


def test_options_can_be_changed_on_the_way_in(tmp_path: Path) -> None:
    dr.compile(BINDINGS).save(tmp_path / "file")
    assert dr.load(tmp_path / "file", cache_bytes=5000).stats().capacity == 5000
    assert dr.load(tmp_path / "file", engine="nfa").engine.name == "nfa"
    dr.compile(BINDINGS, engine="nfa").save(tmp_path / "file")
    assert dr.load(tmp_path / "file", engine="dfa").stats().capacity == dr.compile(BINDINGS).stats().capacity
    with pytest.raises(dr.OptionError, match="cache_bytes is '1'"):
        dr.load(tmp_path / "file", cache_bytes="1")  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", [name for name in dr.engines() if name not in ("dfa", "nfa")])
def test_engines_without_a_compiled_form_say_which_have_one(engine: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"topics": ["a"]} if dr.engine_info(engine).needs_topics else {}
    with pytest.raises(dr.OptionError, match="dfa, nfa have"):
        dr.compile([("a", "q")], engine=engine, **options).save(tmp_path / "file")
    assert not list(tmp_path.iterdir())
    dr.compile([("a", "q")]).save(tmp_path / "file")
    with pytest.raises(dr.OptionError, match="dfa, nfa have"):
        dr.load(tmp_path / "file", engine=engine)


def test_the_plain_python_twin_reads_the_same_files(tmp_path: Path) -> None:
    keys = ["forex.usd", "stock", "", "x.é"]
    router = dr.compile(BINDINGS)
    router.seal(keys).save(tmp_path / "file")
    program = (
        "import sys, dfa_router as dr; router = dr.load(sys.argv[1]); router.save(sys.argv[1])\n"
        f"print(router.match_batch({keys!r}).bindings().to_pylist())"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", program, str(tmp_path / "file")]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert out.strip() == str(rows(router, keys)[0])
    assert rows(dr.load(tmp_path / "file"), keys) == rows(router, keys)


def add_seal(**parts: Any) -> Callable[[File], None]:
    """Add sealed tables, each empty but for those that are given."""

    def change(file: File) -> None:
        for name, kind in seals.SCHEMA.items():
            file.sections[name] = parts.get(name, np.zeros(2 if name == "seal_begin" else 0, kind))

    return change


def add_former_seal(file: File) -> None:
    """Add sections as those of the sealed tables that no release has read since."""
    for name in ("numbers", "state_end", "info", "members", "set_end", "tags", "transitions", "filters"):
        file.sections[f"seal_{name}"] = np.zeros(5, np.int64)


DEFECTS: list[tuple[Callable[[File], None], Defect, str]] = [
    (set_header(0, b"PAR1PAR1"), Defect.LABEL, "label"),
    (set_header(1, 1), Defect.CHECKSUM, "checksum"),
    (set_header(2, 0x04030201), Defect.BYTE_ORDER, "endian"),
    (set_header(2, 7), Defect.BYTE_ORDER, "0x00000007"),
    (set_header(3, 2), Defect.VERSION, "version is 2, this release reads version 1"),
    (set_attribute("size", -1), Defect.SIZE, "says"),
    (lambda file: file.sections.__delitem__("codes"), Defect.TABLE, "12 sections"),
    (set_attribute("table", lambda table: table[:32] + b"\xff" * 8 + table[40:]), Defect.TABLE, "begins at"),
    (set_attribute("table", lambda table: table[:40] + b"\xff" * 8 + table[48:]), Defect.TABLE, "items end at"),
    (set_attribute("table", lambda table: table[:-1] + b"\1"), Defect.TABLE, "items end at"),
    (lambda file: set_section("labels", file.sections.pop("labels"))(file), Defect.SECTION, "expected section 'labels'"),
    (set_section("labels", np.zeros(3, np.int64)), Defect.SECTION, "its type is 'i8', expected 'i4'"),
    (set_section("about", text(b"{")), Defect.OPTIONS, "JSON"),
    (set_section("about", text(b"[" * 60_000)), Defect.OPTIONS, "JSON"),
    (set_section("about", text(b" " * 70_000)), Defect.OPTIONS, "70,000 bytes"),
    (set_section("about", text(b'{"dialect": "amqp"}')), Defect.OPTIONS, "JSON"),
    (set_about(engine="trie"), Defect.OPTIONS, "its engine is 'trie', expected one of dfa, nfa"),
    (set_about(engine=7), Defect.OPTIONS, "7 is no text"),
    (set_about(options={"cache_bytes": -1}), Defect.OPTIONS, "-1 is no number of bytes"),
    (set_about(options={"cache_bytes": True}), Defect.OPTIONS, "True is no number of bytes"),
    (set_about(options={"cache_bytes": 1 << 64}), Defect.OPTIONS, "no number of bytes"),
    (set_about(more=1), Defect.OPTIONS, "too many"),
    (set_about(dialect={"separator": ".."}), Defect.OPTIONS, "separator"),
    (set_about(dialect={"separator": None}), Defect.OPTIONS, "separator"),
    (set_about(dialect={"one": "日"}), Defect.OPTIONS, "latin-1"),
    (set_about(dialect={"tail_only": 1}), Defect.OPTIONS, "tail_only"),
    (set_about(dialect={"stray_tail": "perhaps"}), Defect.OPTIONS, "stray_tail"),
    (set_about(dialect={"dropped": None}), Defect.OPTIONS, "dropped"),
    (set_about(dialect={"reserved": "$$"}), Defect.OPTIONS, "reserved"),
    (set_about(dialect={"max_bytes": 3}), Defect.TEXT, "over 3 bytes"),
    (set_about(dialect={"one": "+"}), Defect.PATTERNS, "binding 0 is 'forex.*'"),
    (set_item("labels", -1, 99), Defect.LABELS, "literal words"),
    (set_item("children", 0, 2), Defect.TREE, "ascend"),
    (set_item("tag_offsets", 1, 99), Defect.OFFSETS, "ascend"),
    (set_item("tags", 0, 1), Defect.TAGS, "twice"),
    (set_item("word_offsets", 1, 99), Defect.OFFSETS, "ascend"),
    (set_item("word_data", 0, ord("F")), Defect.PATTERNS, "binding 0 is 'forex.*'"),
    (set_item("pattern_data", 0, ord("F")), Defect.PATTERNS, "binding 0 is 'Forex.*'"),
    (set_item("pattern_data", -1, 0xFF), Defect.TEXT, "UTF-8"),
    (set_item("pattern_offsets", 1, 99), Defect.OFFSETS, "ascend"),
    (set_section("pattern_offsets", np.array([0, 21])), Defect.SECTION, "1 text, expected 5"),
    (set_section("codes", np.zeros(4, np.int32)), Defect.SECTION, "4 items, expected 5"),
    (add_seal(), Defect.SEAL, "no pairs"),
    (add_seal(seal_begin=np.zeros(3, np.int64)), Defect.SEAL, "two references"),
    (add_seal(seal_begin=np.full(2, -1)), Defect.SEAL, "two references"),
    (add_seal(seal_begin=np.full(2, 1 << 29)), Defect.SEAL, "two references"),
    (add_seal(seal_records=np.zeros(4, np.uint64), seal_starts=np.zeros(1, np.uint64)), Defect.SEAL, "do not begin"),
    (add_former_seal, Defect.SECTION, "compile the bindings again with this release"),
    (set_item("codes", 0, 3), Defect.TEXT, "none of the 3"),
    (set_item("codes", 0, -1), Defect.TEXT, "none of the 3"),
    (set_item("codes", 1, 0), Defect.TEXT, "has no binding"),
    (set_item("name_data", 0, 0x80), Defect.TEXT, "UTF-8"),
    (set_item("name_offsets", 1, 99), Defect.OFFSETS, "ascend"),
    (
        lambda file: file.sections.update(
            name_data=text(b"fxfxaudit"), name_offsets=np.array([0, 2, 4, 9])
        ),
        Defect.TEXT,
        "occurs twice",
    ),
    (
        lambda file: file.sections.update(name_data=text("éfxa".encode()), name_offsets=np.array([0, 1, 4, 5])),
        Defect.TEXT,
        "within a character",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("change", "kind", "message"), DEFECTS, ids=[f"{d.name}-{m}" for _, d, m in DEFECTS])
def test_each_defect_has_its_error(change: Callable[[File], None], kind: Defect, message: str, tmp_path: Path) -> None:
    path = tmp_path / "file.dfar"
    dr.compile(BINDINGS).save(path)
    file = File(path)
    file.write(path)
    assert dr.load(path).match("stock.x") == ("equities", "audit")  # taking apart and putting together is no damage
    change(file)
    path.unlink()
    file.write(path)
    for mapped in (True, False):
        with pytest.raises(dr.FileFormatError) as refused:
            dr.load(path, mapped=mapped)
        assert refused.value.kind is kind, refused.value
        assert message in str(refused.value)
        assert str(path) in str(refused.value)
        assert "again" in str(refused.value) or "Router.save" in str(refused.value)
        copy = pickle.loads(pickle.dumps(refused.value))
        assert (str(copy), copy.kind, copy.section) == (str(refused.value), kind, refused.value.section)


def test_every_kind_of_defect_is_in_the_list() -> None:
    elsewhere = {
        Defect.UNREADABLE,
        Defect.WORDS,
        Defect.FINGERPRINT,
    }  # tests/compiler/storage/test_sections.py, and below
    assert {kind for _, kind, _ in DEFECTS} | elsewhere == set(Defect)


def test_another_destination_is_noticed_though_all_else_fits(tmp_path: Path) -> None:
    path = tmp_path / "file.dfar"
    dr.compile(BINDINGS).save(path)
    for change in (
        set_item("name_data", 0, ord("F")),
        set_about(options={"cache_bytes": 1}),
        set_about(dialect={"max_bytes": None}),
    ):
        file = File(path)
        file.fingerprint = False
        change(file)
        file.write(tmp_path / "other")
        with pytest.raises(dr.FileFormatError) as refused:
            dr.load(tmp_path / "other")
        assert refused.value.kind is Defect.FINGERPRINT
        (tmp_path / "other").unlink()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 31, 32, 33, 600, -64, -1])
def test_a_truncated_file_is_refused(size: int, tmp_path: Path) -> None:
    dr.compile(BINDINGS).save(tmp_path / "whole")
    (tmp_path / "part").write_bytes((tmp_path / "whole").read_bytes()[:size])
    for mapped in (True, False):
        with pytest.raises(dr.FileFormatError) as refused:
            dr.load(tmp_path / "part", mapped=mapped)
        assert refused.value.kind is (Defect.LABEL if 0 <= size < 8 else Defect.SIZE)


@pytest.mark.parametrize("engine", ["dfa", "nfa"])
def test_a_bound_beyond_all_memory_can_be_saved(engine: str, tmp_path: Path) -> None:
    router = dr.compile(BINDINGS, engine=engine, cache_bytes=10**30)
    router.save(tmp_path / "file")
    for loaded in (dr.load(tmp_path / "file"), dr.load(tmp_path / "file", cache_bytes=1 << 63)):
        loaded.save(tmp_path / "again")
        assert pickle.loads(pickle.dumps(loaded)).match("a.b") == router.match("a.b")


def damage(count: int, seed: int) -> None:
    command = [sys.executable, str(DAMAGE), str(count), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(DAMAGE.parents[2])}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"exit {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
    print(ended.stdout)


def test_a_thousand_damaged_files_are_refused_or_right() -> None:
    damage(1000, 1)


@pytest.mark.long
def test_twenty_thousand_damaged_files_are_refused_or_right() -> None:
    damage(20_000, 1_000_000)
