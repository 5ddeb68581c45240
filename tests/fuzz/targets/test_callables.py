"""Python callables as targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from dfa_router.errors import OptionError
from dfa_router.fuzz.targets import open_target
from dfa_router.language.dialects import AMQP
from dfa_router.target import Refused, Target
from tests.fuzz.targets.asking import failure

MODULE = """
import ctypes, os, sys, time
class Place:
    @staticmethod
    def equal(patterns, key):
        print("this is no answer")
        os.write(1, b"nor is this\\n")
        return {i for i, pattern in enumerate(patterns) if pattern == key}
def lazily(patterns, key): return (i for i, pattern in enumerate(patterns) if pattern == key)
def numpy_(patterns, key):
    import numpy as np
    return np.flatnonzero(np.array(patterns) == key)
def spoils(patterns, key):
    found = [i for i, pattern in enumerate(patterns) if pattern == key]
    patterns.clear()
    return found
def mask(patterns, key): return [pattern == key for pattern in patterns]
def numpy_mask(patterns, key):
    import numpy as np
    return np.array(patterns) == key
def fractions(patterns, key): return [0.0]
def nothing(patterns, key): return None
def texts(patterns, key): return "0"
def beyond(patterns, key): return [len(patterns)]
def picky(patterns, key):
    if key == "b": raise ValueError("no b, please")
    return []
def broken(patterns, key): return {}[key]
def endless(patterns, key):
    while key == "b": pass
    return []
def reads(patterns, key): return [] if sys.stdin.read() or os.read(0, 9) else list(range(len(patterns)))
def crash(patterns, key): ctypes.string_at(0)
def leaves(patterns, key): sys.exit(5)
number = 4
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "its_matchers.py").write_text(MODULE)
    (tmp_path / "json.py").write_text("1 / 0  # a name that the standard library has too\n")
    (tmp_path / "its_broken_module.py").write_text("import its_missing_part\n")
    (tmp_path / "its_raising_module.py").write_text("1 / 0\n")
    (tmp_path / "its_endless_module.py").write_text("while True: pass\n")
    monkeypatch.chdir(tmp_path)
    return "its_matchers"


@pytest.mark.parametrize("name", ["Place.equal", "lazily", "numpy_", "spoils"])
def test_a_callable_may_return_positions_in_any_form(module: str, opened: list[Target], name: str) -> None:
    opened.append(open_target(f"{module}:{name}", AMQP))
    assert opened[0].answer(("a", "b", "a"), ("a", "b", "c")) == [(0, 2), (1,), ()]


@pytest.mark.parametrize("name", ["mask", "numpy_mask", "fractions", "nothing", "texts", "beyond"])
def test_other_returns_are_nonsense(module: str, opened: list[Target], name: str) -> None:
    opened.append(open_target(f"{module}:{name}", AMQP))
    caught = failure(opened[0])
    assert caught.kind == "nonsense"
    assert "returned" not in caught.reason, "that is the protocol's word"
    assert name != "nothing" or " answered None, expected the positions" in caught.reason


def test_a_callable_that_reads_its_standard_input_finds_it_empty(module: str, opened: list[Target]) -> None:
    opened.append(open_target(f"{module}:reads", AMQP))
    assert opened[0].answer(("a", "b"), ("a", "b")) == [(0, 1), (0, 1)]
    opened[0].restart()  # type: ignore[attr-defined]
    assert opened[0].answer(("a",), ("a",)) == [(0,)]


def test_value_errors_refuse(module: str, opened: list[Target]) -> None:
    opened.append(open_target(f"{module}:picky", AMQP))
    with pytest.raises(Refused, match="ValueError: no b, please") as caught:
        opened[0].answer(("x",), ("a", "b"))
    assert (caught.value.pattern, caught.value.key) == (None, None)
    assert opened[0].answer(("x",), ("a",)) == [()]


def test_other_exceptions_are_failures_with_their_traceback(module: str, opened: list[Target]) -> None:
    opened.append(open_target(f"{module}:broken", AMQP))
    caught = failure(opened[0])
    assert (caught.kind, caught.keys) == ("raised", ("a",))
    assert "its_matchers.py" in caught.reason
    assert "KeyError: 'a'" in caught.reason
    assert "serve.py" not in caught.reason


@pytest.mark.parametrize(
    ("name", "kind", "said"), [("endless", "hung", "'b'"), ("crash", "died", "SIG"), ("leaves", "died", "code 5")]
)
def test_a_callable_cannot_take_the_fuzzer_with_it(
    module: str, opened: list[Target], name: str, kind: str, said: str
) -> None:
    opened.append(open_target(f"{module}:{name}", AMQP, timeout=3.0))
    caught = failure(opened[0])
    assert caught.kind == kind
    assert said in caught.reason


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("its_matchers:missing", "no attribute 'missing'"),
        ("its_matchers:number", "expected something to call"),
        ("its_absent_module:f", "No module named 'its_absent_module'"),
        ("its_broken_module:f", "No module named 'its_missing_part'"),
        ("its_raising_module:f", "ZeroDivisionError"),
    ],
)
def test_a_callable_that_cannot_be_imported(module: str, spec: str, said: str) -> None:
    with pytest.raises(OptionError, match="cannot import the target") as caught:
        open_target(spec, AMQP)
    assert said in str(caught.value)
    assert str(Path.cwd()) in str(caught.value)
    assert "serve.py" not in str(caught.value), "what imports it is not the target's"
    assert "importlib" not in str(caught.value)


def test_an_import_that_takes_too_long_is_told_as_that(module: str) -> None:
    with pytest.raises(OptionError, match=r"gave no answer within 1 s[^$]*includes the import[^$]*--timeout") as caught:
        open_target("its_endless_module:f", AMQP, timeout=1.0)
    assert "cannot import" not in str(caught.value)
