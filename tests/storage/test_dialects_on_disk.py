"""Saved routers of every dialect: they come back the same, and a file of which a part was changed by hand is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dfa_router as dr
from compiler.errors import Defect
from tests.language.material import ALL, each_dialect, words_of
from tests.storage.saved_file import File, set_about, set_item, text

BINDINGS = [("$SYS/#", "sys"), ("#", "all"), ("+/a", "x"), ("a/b", "t"), ("$share/g/a/b", "s"), ("$SYS/a", "sys")]
KEYS = ["$SYS", "$SYS/a", "a/b", "b/a", "$share/g/a/b", "a/+", "", "#P2P/a", "a//b", "a", "$a"]


def answers(router: dr.Router) -> list[list[int]]:
    single = [list(router.match_bindings(key)) for key in KEYS]
    assert router.match_batch(KEYS).bindings().to_pylist() == single
    return single


def changed(router: dr.Router, path: Path, *changes: Callable[[File], None]) -> Path:
    """Save a router, and change its file in some places with all sums right."""
    router.save(path / "whole")
    file = File(path / "whole")
    for change in changes:
        change(file)
    file.write(path / "changed")
    return path / "changed"


@each_dialect
def test_a_router_of_every_dialect_comes_back(dialect: dr.Dialect, tmp_path: Path) -> None:
    between = dialect.separator.decode()
    rows = [
        between.join(row) for a in words_of(dialect) for b in words_of(dialect) for row in ((a,), (a, b), (b, a, b))
    ]
    patterns = [row for row in dict.fromkeys(rows) if dr.pattern_problem(row, dialect) is None]
    before = dr.compile([(pattern, pattern[:2]) for pattern in patterns], dialect=dialect)
    before.save(tmp_path / "file")
    for engine in ("dfa", "nfa"):
        after = dr.load(tmp_path / "file", engine=engine)
        assert after.dialect == dialect
        assert after.bindings == before.bindings
        assert after.match_batch(rows).destinations() == before.match_batch(rows).destinations()
    dr.load(tmp_path / "file").save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "file").read_bytes()


MQTT_BY_ANOTHER_BYTE = dataclasses.replace(dr.MQTT, reserved=b"a")
MQTT_WITHOUT_RESERVED = dataclasses.replace(dr.MQTT, reserved=None)
MQTT_WITHOUT_GROUPS = dataclasses.replace(dr.MQTT, shared=None)
MORE = dataclasses.replace(dr.SOLACE, many=b"#", inner_wildcards="literal")


@pytest.mark.parametrize(
    ("dialect", "bindings", "change", "kind", "message"),
    [
        # Automaton and dialect of one file that are those of two.
        (MQTT_BY_ANOTHER_BYTE, BINDINGS, {"reserved": "$"}, Defect.LABELS, "begins patterns at the wrong root"),
        (dr.MQTT, BINDINGS, {"reserved": "a"}, Defect.LABELS, "begins patterns at the wrong root"),
        (MQTT_WITHOUT_RESERVED, BINDINGS, {"reserved": "$"}, Defect.TREE, "ascend from 2"),
        (dr.MQTT, BINDINGS, {"reserved": None}, Defect.TREE, "ascend from 1"),
        (MQTT_WITHOUT_GROUPS, BINDINGS, {"shared": "$share"}, Defect.PATTERNS, "binding 4 is '$share/g/a/b'"),
        (dr.MQTT, BINDINGS, {"shared": None}, Defect.PATTERNS, "binding 4 is '$share/g/a/b'"),
        (dr.MQTT, BINDINGS, {"one": "*"}, Defect.PATTERNS, "binding 2 is '+/a'"),
        (dr.MQTT, BINDINGS, {"separator": "."}, Defect.TEXT, "binding 0 is no pattern of mqtt"),
        (dr.NATS, [("a.>", "q")], {"many": ">", "some": None}, Defect.PATTERNS, "binding 0 is 'a.>'"),
        (dr.NATS, [("a.>", "q")], {"one": ">", "some": "*"}, Defect.PATTERNS, "binding 0 is 'a.>'"),
        (dr.NATS, [("a.>", "q")], {"some": None}, Defect.PATTERNS, "binding 0 is 'a.>'"),
        (dr.NATS, [("a.*", "q")], {"one": None, "many": "*"}, Defect.PATTERNS, "binding 0 is 'a.*'"),
        (dr.SOLACE, [(">/a", "q")], {"tail_only": False}, Defect.PATTERNS, "binding 0 is '>/a'"),
        (dr.AMQP, [("#.a", "q")], {"tail_only": True, "stray_tail": "literal"}, Defect.PATTERNS, "binding 0 is '#.a'"),
        (MORE, [("a/#", "q")], {"many": ">", "some": "#"}, Defect.PATTERNS, "binding 0 is 'a/#'"),
        (MORE, [("a/#", "p"), ("a/>", "q")], {"many": ">", "some": "#"}, Defect.PATTERNS, "binding 0 is 'a/#'"),
        # Patterns that the dialect refuses.
        (dr.SOLACE, [(">/a", "q")], {"stray_tail": "refused"}, Defect.TEXT, "'>' is not the last word"),
        (dr.NATS, [("a*", "q")], {"inner_wildcards": "refused"}, Defect.TEXT, "the word 'a*' has the wildcard"),
        (dr.MQTT, [("a//b", "q")], {"empty_words": False}, Defect.TEXT, "it has an empty word"),
        (dr.AMQP, [("", "q")], {"empty_text": False}, Defect.TEXT, "it is empty"),
        (dr.AMQP, [("a b", "q")], {"forbidden": " "}, Defect.TEXT, "the character ' '"),
        (dr.AMQP, [("#.a.#", "q")], {"max_many": 1}, Defect.TEXT, "'#' occurs 2 times"),
        (dr.SOLACE, [("a/b", "q")], {"max_words": 1}, Defect.TEXT, "it has 2 words"),
        (dr.NATS, [("a.bc", "q")], {"max_bytes": 3}, Defect.TEXT, "it has 4 bytes"),
        # What no dialect can be.
        (dr.MQTT, BINDINGS, {"reserved": "$$"}, Defect.OPTIONS, "single byte"),
        (dr.MQTT, BINDINGS, {"one": "#"}, Defect.OPTIONS, "expected different ones"),
        (dr.MQTT, BINDINGS, {"shared": "a/b"}, Defect.OPTIONS, "with the separator"),
        (dr.MQTT, BINDINGS, {"tail_only": 1}, Defect.OPTIONS, "1 is neither true nor false"),
        (dr.MQTT, BINDINGS, {"empty_words": None}, Defect.OPTIONS, "None is neither true nor false"),
        (dr.MQTT, BINDINGS, {"stray_tail": "lost"}, Defect.OPTIONS, "'lost' is none of literal, refused"),
        (dr.MQTT, BINDINGS, {"inner_wildcards": []}, Defect.OPTIONS, "[] is none of"),
        (dr.MQTT, BINDINGS, {"dropped": None}, Defect.OPTIONS, "None is no text"),
        (dr.MQTT, BINDINGS, {"forbidden": 5}, Defect.OPTIONS, "5 is no text"),
        (dr.MQTT, BINDINGS, {"max_words": -1}, Defect.OPTIONS, "-1 is no number"),
        (dr.MQTT, BINDINGS, {"max_many": 1.5}, Defect.OPTIONS, "1.5 is no number"),
        (dr.MQTT, BINDINGS, {"unseen": "日"}, Defect.OPTIONS, "latin-1"),
        (dr.MQTT, BINDINGS, {"rules": 1}, Defect.OPTIONS, "a field too many or too few"),
    ],
)  # fmt: skip
def test_a_dialect_that_is_not_that_of_the_automaton_is_refused(
    dialect: dr.Dialect,
    bindings: list[tuple[str, str]],
    change: dict[str, Any],
    kind: Defect,
    message: str,
    tmp_path: Path,
) -> None:
    path = changed(dr.compile(bindings, dialect=dialect), tmp_path, set_about(dialect=change))
    with pytest.raises(dr.FileFormatError) as refused:
        dr.load(path)
    assert refused.value.kind is kind, refused.value
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (set_item("children", 0, 1), Defect.TREE),
        (set_item("children", 0, 3), Defect.TREE),
        (set_item("children", 1, 2), Defect.LABELS),  # the first root's children become the second's
        (set_item("labels", 1, 1), Defect.LABELS),
        (set_item("labels", 1, -1), Defect.LABELS),
        (lambda file: file.sections.__setitem__("word_data", text(b"$SYXab")), Defect.PATTERNS),
        (lambda file: file.sections.__setitem__("word_data", text(b"!SYSab")), Defect.LABELS),
        (lambda file: file.sections["pattern_data"].__setitem__(0, ord("!")), Defect.PATTERNS),
    ],
)
def test_an_automaton_of_two_roots_that_was_changed_is_refused(
    change: Callable[[File], None], kind: Defect, tmp_path: Path
) -> None:
    router = dr.compile(BINDINGS, dialect="mqtt")
    assert router.compiled().nfa.symbols.data.tobytes() == b"$SYSab"
    with pytest.raises(dr.FileFormatError) as refused:
        dr.load(changed(router, tmp_path, change))
    assert refused.value.kind is kind, refused.value


def test_a_path_moved_to_the_other_root_is_refused(tmp_path: Path) -> None:
    """``$SYS`` as a child of the root where other keys begin, all sections of a shape that could be."""
    router = dr.compile([("$SYS", "q"), ("a", "q")], dialect="mqtt")
    nfa = router.compiled().nfa
    assert nfa.children.tolist() == [2, 3, 4, 4, 4]
    assert [nfa.symbols.word(symbol) for symbol in nfa.labels[2:].tolist()] == [b"a", b"$SYS"]

    def move(file: File) -> None:
        # Children of the first root: $SYS and a, of the second: none.
        file.sections["labels"][2:] = [1, 2]
        file.sections["children"][:] = [2, 4, 4, 4, 4]
        file.sections["tags"][:] = [0, 1]

    with pytest.raises(dr.FileFormatError, match="begins patterns at the wrong root"):
        dr.load(changed(router, tmp_path, move))


def test_a_wildcard_moved_to_the_root_of_reserved_keys_is_refused(tmp_path: Path) -> None:
    """It spells the same pattern there, so that only its place tells that it is wrong."""
    router = dr.compile([("+", "q"), ("$a", "s")], dialect="mqtt")
    assert router.compiled().nfa.children.tolist() == [2, 3, 4, 4, 4]

    def move(file: File) -> None:
        file.sections["children"][:] = [2, 2, 4, 4, 4]

    with pytest.raises(dr.FileFormatError, match="a wildcard begins a pattern of keys that begin with b'\\$'"):
        dr.load(changed(router, tmp_path, move))


def test_the_pattern_without_words_moved_to_the_root_of_reserved_keys_is_refused(tmp_path: Path) -> None:
    """The empty key begins at the first root and ends there: at the other, the binding would be lost."""
    router = dr.compile([("", "q"), ("$a", "s")], dialect=dataclasses.replace(dr.AMQP, name="apart", reserved=b"$"))
    assert router.compiled().nfa.tag_offsets.tolist() == [0, 1, 1, 2]
    with pytest.raises(dr.FileFormatError, match="a pattern ends where keys that begin with b'\\$' begin"):
        dr.load(changed(router, tmp_path, set_item("tag_offsets", 1, 0)))


RULES_BESIDE_THE_AUTOMATON: list[dict[str, Any]] = [
    {"empty_text": True},
    {"empty_words": False},
    {"dropped": "+"},
    {"unseen": "a"},
    {"wildcard_keys": True},
    {"name": "other"},
    {"max_words": 100},
]


@pytest.mark.parametrize("change", RULES_BESIDE_THE_AUTOMATON, ids=str)
def test_a_rule_that_the_automaton_does_not_know_is_protected_by_the_fingerprint(
    change: dict[str, Any], tmp_path: Path
) -> None:
    router = dr.compile(BINDINGS, dialect="mqtt")

    def forget(file: File) -> None:
        file.fingerprint = False

    with pytest.raises(dr.FileFormatError) as refused:
        dr.load(changed(router, tmp_path, set_about(dialect=change), forget))
    assert refused.value.kind is Defect.FINGERPRINT
    # With a fingerprint to match it is another router's file, and that router's answers are given.
    other = dr.load(changed(router, tmp_path, set_about(dialect=change)))
    assert other.dialect != router.dialect
    assert answers(other) == answers(dr.compile(BINDINGS, dialect=other.dialect, engine="naive"))


def test_files_of_all_dialects_differ() -> None:
    assert len({repr(dataclasses.astuple(dialect)) for dialect in ALL}) == len(ALL)
