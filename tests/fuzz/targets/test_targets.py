"""Targets by their SPEC: what each answers, and that whatever goes wrong with one is told for what it is."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dfa_router as dr
from dfa_router.dialects import AMQP, MQTT, NATS
from dfa_router.errors import OptionError
from dfa_router.fuzz.target import Refused, Target, TargetFailure
from dfa_router.fuzz.targets import open_target
from dfa_router.fuzz.targets.process import LINE_LIMIT, STDERR_LIMIT

EXAMPLES = Path(__file__).parents[3] / "examples" / "matchers"

PATTERNS = ("a.*", "#", "a.*", "", "#.b", "*.*", 'q".\\', "ü.\u2028", "##", "#.#.a")
KEYS = ("a.b", "", "a", "a.", ".", 'q".\\', "ü.\u2028", "##", "b.a.a", "a.b.b", "\x85", "\n", "\x7f")

node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on this machine")
compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler on this machine")


def truth(patterns: tuple[str, ...], keys: tuple[str, ...]) -> list[tuple[int, ...]]:
    router = dr.compile([(pattern, "") for pattern in patterns], engine="naive")
    return [router.match_bindings(key) for key in keys]


@pytest.fixture
def opened() -> Iterator[list[Target]]:
    """Targets of a test, closed after it."""
    targets: list[Target] = []
    yield targets
    for target in targets:
        target.close()
        target.close()


@pytest.fixture
def program(tmp_path: Path, opened: list[Target]):  # type: ignore[no-untyped-def]
    """Make a target of a Python program that is asked as any other; its loop is given, the rest is not."""

    def make(loop: str, *, before: str = "", timeout: float = 10.0) -> Target:
        file = tmp_path / f"program{len(opened)}.py"
        indented = "\n    ".join(loop.splitlines())
        file.write_text(
            f"import json, os, sys, time\n{before}\npatterns = []\n"
            f"def say(value): print(json.dumps(value), flush=True)\n"
            f"for line in sys.stdin:\n    question = json.loads(line)\n    {indented}\n"
        )
        target = open_target(f"cmd:{sys.executable} -I {file}", AMQP, timeout=timeout)
        opened.append(target)
        return target

    return make


RIGHT = """\
if "patterns" in question:
    patterns = question["patterns"]
    say(True)
else:
    say([i for i, pattern in enumerate(patterns) if pattern == question["key"]])
"""


def failure(
    target: Target, patterns: tuple[str, ...] = ("a", "b"), keys: tuple[str, ...] = ("a", "b")
) -> TargetFailure:
    with pytest.raises(TargetFailure) as caught:
        target.answer(patterns, keys)
    assert target.name in str(caught.value)
    return caught.value


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return (
        Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z" if Path("/proc").exists() else True
    )


def gone(pid: int) -> bool:
    """Whoever is killed is gone a moment later."""
    until = time.monotonic() + 5
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(pid)


# --- what is answered -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", dr.engines())
def test_every_engine_is_a_target(engine: str) -> None:
    target = open_target(engine, AMQP)
    assert target.answer(PATTERNS, KEYS) == truth(PATTERNS, KEYS)
    assert target.answer((), KEYS) == [()] * len(KEYS)
    assert target.answer(PATTERNS, ()) == []
    target.close()


def test_an_engine_refuses_what_the_dialect_refuses() -> None:
    with pytest.raises(Refused, match="not the last word") as caught:
        open_target("dfa", MQTT).answer(["a", "#/a"], ["a"])
    assert caught.value.pattern == 1


def test_an_engine_that_does_not_speak_the_dialect_is_no_target() -> None:
    with pytest.raises(OptionError, match="does not speak 'nats'"):
        open_target("inverted", NATS)


@node
def test_the_right_matcher_in_node(opened: list[Target]) -> None:
    opened.append(open_target(f"cmd:node {EXAMPLES / 'right.mjs'}", AMQP))
    assert opened[0].answer(PATTERNS, KEYS) == truth(PATTERNS, KEYS)
    assert opened[0].answer(PATTERNS[::-1], KEYS) == truth(PATTERNS[::-1], KEYS)


@node
def test_the_wrong_matcher_in_node(opened: list[Target]) -> None:
    opened.append(open_target(f"cmd:node {EXAMPLES / 'wrong.mjs'}", AMQP))
    # The dot before a # is not optional, * takes no empty word, and # is a wildcard within a word.
    assert opened[0].answer(("a.#", "*", "a#"), ("a", "", "ab")) == [(1, 2), (), (1, 2)]
    assert truth(("a.#", "*", "a#"), ("a", "", "ab")) == [(0, 1), (), (1,)]


@compiler
@pytest.mark.parametrize("flag", ["-DRIGHT", "-DGREEDY"])
def test_the_matcher_in_c(tmp_path: Path, opened: list[Target], flag: str) -> None:
    source, binary = EXAMPLES / "matcher.c", tmp_path / "matcher"
    subprocess.run(
        ["cc", "-Wall", "-Wextra", "-Werror", "-pedantic", "-std=gnu11", flag, "-o", binary, source], check=True
    )
    opened.append(open_target(f"cmd:{binary}", AMQP))
    wanted = truth(PATTERNS, KEYS)
    if flag == "-DGREEDY":
        wanted = [
            tuple(i for i in row if (PATTERNS[i], key) != ("#.b", "a.b.b"))
            for key, row in zip(KEYS, wanted, strict=True)
        ]
        assert wanted != truth(PATTERNS, KEYS)
    assert opened[0].answer(PATTERNS, KEYS) == wanted


def test_order_and_repetition_of_positions_do_not_matter(program) -> None:  # type: ignore[no-untyped-def]
    assert program("say(True if 'patterns' in question else [1, 0, 1])").answer(("a", "b"), ("x",)) == [(0, 1)]


def test_a_round_larger_than_any_pipe(program) -> None:  # type: ignore[no-untyped-def]
    """Both sides write megabytes: whoever reads only after writing would wait for ever."""
    patterns, keys = tuple("a" * 200 for _ in range(3000)), ("a" * 200,) * 500
    assert program(RIGHT).answer(patterns, keys) == [tuple(range(3000))] * 500


def test_what_is_escaped_on_the_wire(program) -> None:  # type: ignore[no-untyped-def]
    """As the page on the protocol says: no more than it must be, and no line is two to those who know other line ends."""
    target = program('say({"refused": line})')
    with pytest.raises(Refused) as caught:
        target.answer(('é#.*"', "a\x85\u2028\u2029\x7f\n\x00", "\ud800"), ())
    assert caught.value.reason == ('{"patterns": ["é#.*\\"", "a\\u0085\\u2028\\u2029\\u007f\\n\\u0000", "\\ud800"]}\n')
    assert len(caught.value.reason.splitlines()) == 1


def test_a_program_is_told_dialect_and_version(program) -> None:  # type: ignore[no-untyped-def]
    told = program('say({"refused": os.environ["DFA_ROUTER_DIALECT"] + " " + os.environ["DFA_ROUTER_FUZZ"]})')
    with pytest.raises(Refused, match=r"^amqp 1$"):
        told.answer((), ())


# --- refusals -------------------------------------------------------------------------------------------------------


def test_a_program_refuses_a_pattern_and_stays_in_step(program) -> None:  # type: ignore[no-untyped-def]
    target: Any = program(
        'if "bad" in question.get("patterns", []):\n    say({"refused": "bad it is", "pattern": 1})\nelse:\n'
        + "\n".join("    " + line for line in RIGHT.splitlines())
    )
    running = target._process._process.pid
    with pytest.raises(Refused, match="bad it is") as caught:
        target.answer(("a", "bad"), ("a", "b"))
    assert (caught.value.pattern, caught.value.key) == (1, None)
    assert target.answer(("a", "b"), ("a", "b")) == [(0,), (1,)]
    assert target._process._process.pid == running  # it was not ended for having been right


def test_a_program_refuses_a_key(program) -> None:  # type: ignore[no-untyped-def]
    target = program('say(True if "patterns" in question else {"refused": "no"} if question["key"] == "b" else [])')
    with pytest.raises(Refused, match="no") as caught:
        target.answer(("a",), ("a", "b", "c"))
    assert (caught.value.pattern, caught.value.key) == (None, 1)
    assert target.answer(("a",), ("a", "c")) == [(), ()]


def test_a_refusal_of_a_pattern_that_is_not_there_is_nonsense(program) -> None:  # type: ignore[no-untyped-def]
    assert failure(program('say({"refused": "no", "pattern": 7})')).kind == "nonsense"


# --- failures: each with its kind, its last case, and what it said -------------------------------------------------------


def test_a_program_that_hangs_at_a_key(program) -> None:  # type: ignore[no-untyped-def]
    target = program('if question.get("key") == "b": time.sleep(60)\n' + RIGHT, timeout=0.7)
    started = time.monotonic()
    caught = failure(target, ("a", "b"), ("a", "b", "c"))
    assert time.monotonic() - started < 3
    assert (caught.kind, caught.patterns, caught.keys) == ("hung", ("a", "b"), ("b", "c"))
    assert "no answer within 0.7 s" in caught.reason
    assert "for the key 'b'" in caught.reason
    assert target.answer(("a", "b"), ("a",)) == [(0,)]  # and it runs again


def test_a_program_that_drips_bytes_hangs_too(program) -> None:  # type: ignore[no-untyped-def]
    drip = 'while True:\n    os.write(1, b"[")\n    os.write(2, b"x" * 1000)\n    time.sleep(0.05)'
    caught = failure(program(drip, timeout=0.5))
    assert caught.kind == "hung"
    assert len(caught.reason) < STDERR_LIMIT + 1000


def test_a_program_that_reads_nothing_hangs(opened: list[Target]) -> None:
    opened.append(open_target("cmd:sleep 60", AMQP, timeout=0.5))
    assert failure(opened[0], ("a" * 250,) * 10_000, ("a",)).kind == "hung"


def test_a_program_that_keeps_its_answers_to_itself_hangs(program) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program('print("true")', timeout=1.0))
    assert caught.kind == "hung"
    assert caught.keys == ("a", "b")


def test_a_program_that_exits(program) -> None:  # type: ignore[no-untyped-def]
    dying = 'if question.get("key") == "b":\n    print("out of cheese", file=sys.stderr)\n    sys.exit(3)\n'
    caught = failure(program(dying + RIGHT))
    assert (caught.kind, caught.keys) == ("died", ("b",))
    assert "exited with code 3" in caught.reason
    assert "out of cheese" in caught.reason


def test_a_program_that_is_killed(program) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program('if "key" in question: os.kill(os.getpid(), 11)\n' + RIGHT))
    assert caught.kind == "died"
    assert "SIGSEGV" in caught.reason


def test_a_program_that_stops_after_each_round(program) -> None:  # type: ignore[no-untyped-def]
    """It must not be started again as if nothing had happened."""
    target = program(RIGHT + 'if question.get("key") == "b": break')
    assert target.answer(("a", "b"), ("a", "b")) == [(0,), (1,)]
    caught = failure(target)
    assert caught.kind == "died"
    assert "code 0 (it must go on" in caught.reason


def test_a_program_that_closes_its_output(program) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program("os.close(1)\ntime.sleep(60)"))
    assert caught.kind == "died"
    assert "did not end" in caught.reason


def test_an_unfinished_line_is_no_answer(program) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program('os.write(1, b"true")\nbreak'))
    assert caught.kind == "died"
    assert "after b'true'" in caught.reason


@pytest.mark.parametrize("flood", ['b"["', 'b"true\\n"'])
def test_a_program_that_floods(program, flood: str) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program(f"while True: os.write(1, {flood} * 10_000)"), keys=())
    assert caught.kind == "flooded"
    assert f"{LINE_LIMIT:,} bytes" in caught.reason


def test_a_program_that_floods_stderr_is_read_as_any_other(program) -> None:  # type: ignore[no-untyped-def]
    target = program('os.write(2, b"x" * 1_000_000)\n' + RIGHT)
    assert target.answer(("a", "b"), ("a",) * 20) == [(0,)] * 20


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("'[0'", "no JSON"),
        ("'hello'", "no JSON"),
        ("'[' * 100_000", "no JSON"),
        ("b'\\xff'", "no JSON"),
        ("''", "no JSON"),
        ("'0'", "expected the positions"),
        ("'{}'", "expected the positions"),
        ("'[[0]]'", "expected the positions"),
        ("'[true]'", "expected the positions"),
        ("'[0.0]'", "expected the positions"),
        ("'[\"a\"]'", "expected the positions"),
        ("'null'", "expected the positions"),
        ("'[2]'", "from 0 to 1 of 2"),
        ("'[-1]'", "from 0 to 1 of 2"),
        ("'[0]\\n[0]'", "one line for each question"),
    ],
)
def test_nonsense(program, answer: str, complaint: str) -> None:  # type: ignore[no-untyped-def]
    write = f"answer = {answer}\nos.write(1, (answer if isinstance(answer, bytes) else answer.encode()) + b'\\n')"
    target = program(
        f'if question.get("key") == "b":\n    {write.replace(chr(10), chr(10) + "    ")}\n    continue\n' + RIGHT
    )
    caught = failure(target, ("a", "b"), ("a", "b"))
    assert (
        (caught.kind, caught.keys) == ("nonsense", ("b",)) if "one line" not in complaint else ("nonsense", ("a", "b"))
    )
    assert complaint in caught.reason
    assert len(caught.reason) < 1500
    assert target.answer(("a", "b"), ("a",)) == [(0,)]


def test_too_few_answers_are_a_hang_and_a_shift_is_noticed(program) -> None:  # type: ignore[no-untyped-def]
    assert (
        failure(
            program(
                'if question.get("key") != "a":\n' + "\n".join("    " + line for line in RIGHT.splitlines()),
                timeout=0.7,
            )
        ).kind
        == "hung"
    )
    late = 'if "key" in question and question["key"] == "b":\n    say([1]); time.sleep(0.2)\n' + RIGHT
    target = program(late)
    assert target.answer(("a", "b"), ("a", "b")) == [(0,), (1,)]
    time.sleep(0.5)  # the second answer to the last question is there now
    assert failure(target).kind == "nonsense"


def test_a_program_that_is_gone_when_it_is_needed_again(tmp_path: Path, opened: list[Target]) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 4\n")
    program.chmod(0o755)
    opened.append(open_target(f"cmd:{program}", AMQP))
    assert "code 4" in failure(opened[0]).reason
    program.unlink()
    caught = failure(opened[0])
    assert caught.kind == "died"
    assert "cannot be started again" in caught.reason


def test_answering_the_patterns_with_positions_is_nonsense(program) -> None:  # type: ignore[no-untyped-def]
    caught = failure(program("say([0])"))
    assert caught.kind == "nonsense"
    assert "to the patterns, expected true" in caught.reason


def test_a_program_can_say_that_it_failed(program) -> None:  # type: ignore[no-untyped-def]
    target = program('say(True if "patterns" in question else {"raised": "oh dear"} if question["key"] == "b" else [])')
    caught = failure(target, ("a",), ("a", "b", "c"))
    assert (caught.kind, caught.keys) == ("raised", ("b",))
    assert "oh dear" in caught.reason


# --- nothing is left behind -----------------------------------------------------------------------------------------


def test_a_failure_ends_the_program_and_its_children(program, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    pids = tmp_path / "pids"
    start = (
        "import subprocess\nchild = subprocess.Popen(['sleep', '600'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')"
    )
    target = program("time.sleep(600)", before=start, timeout=1.5)
    assert failure(target).kind == "hung"
    for pid in map(int, pids.read_text().split()):
        assert gone(pid)


def test_closing_ends_a_program_that_ignores_the_end_of_its_input(program, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    pids = tmp_path / "pids"
    start = (
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"open({str(pids)!r}, 'w').write(str(os.getpid()))"
    )
    target = program(RIGHT + 'if question.get("key") == "b": time.sleep(600)', before=start)
    assert target.answer(("a",), ("b",)) == [()]
    assert alive(int(pids.read_text()))
    target.close()
    assert gone(int(pids.read_text()))


def test_an_interrupt_ends_the_program(program, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    pids = tmp_path / "pids"
    target = program("time.sleep(600)", before=f"open({str(pids)!r}, 'w').write(str(os.getpid()))", timeout=60)
    timer = threading.Timer(1.0, os.kill, [os.getpid(), signal.SIGINT])  # as a terminal sends it: to the process
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        target.answer(("a",), ("a",))
    timer.join()
    assert time.monotonic() - started < 10
    assert gone(int(pids.read_text()))


def test_a_program_that_nobody_closed_ends_with_the_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "forgetful.py"
    script.write_text(
        "from dfa_router.dialects import AMQP\nfrom dfa_router.fuzz.targets import open_target\n"
        "target = open_target('cmd:sleep 600', AMQP)\nprint(target._process._process.pid)\n"
    )
    root = Path(__file__).parents[3]
    said = subprocess.run(
        [sys.executable, script], env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, check=True
    )
    assert gone(int(said.stdout))


# --- Python callables -----------------------------------------------------------------------------------------------

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
    monkeypatch.chdir(tmp_path)
    return "its_matchers"


@pytest.mark.parametrize("name", ["Place.equal", "lazily", "numpy_", "spoils"])
def test_a_callable_may_return_positions_in_any_form(module: str, opened: list[Target], name: str) -> None:
    opened.append(open_target(f"{module}:{name}", AMQP))
    assert opened[0].answer(("a", "b", "a"), ("a", "b", "c")) == [(0, 2), (1,), ()]


@pytest.mark.parametrize("name", ["mask", "numpy_mask", "fractions", "nothing", "texts", "beyond"])
def test_other_returns_are_nonsense(module: str, opened: list[Target], name: str) -> None:
    opened.append(open_target(f"{module}:{name}", AMQP))
    assert failure(opened[0]).kind == "nonsense"


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
    opened.append(open_target(f"{module}:{name}", AMQP, timeout=1.0))
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


# --- SPECs that name nothing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("dfaa", "did you mean dfa"),
        ("", "unknown target ''"),
        ("ampq://localhost", "did you mean amqp://"),
        ("http://localhost", "a live broker (amqp://host"),
        ("./my-matcher", "a program (cmd:./my-matcher)"),
        ("my matcher:f", "a Python callable (module:callable)"),
        ("cmd:", "names no program"),
        ("cmd:'x", "cannot be split into words"),
        ("cmd:no-such-program-here x", "cannot start the target"),
        ("cmd:no-such-program-here x", "write ./ before"),
        ("cmd:./no-such-program-here", "No such file"),
        ("cmd:/", "Permission denied"),
    ],
)
def test_unknown_specs_say_what_is_possible(spec: str, said: str) -> None:
    with pytest.raises(OptionError) as caught:
        open_target(spec, AMQP)
    assert said in str(caught.value)


def test_the_timeout_is_a_time() -> None:
    with pytest.raises(OptionError, match="above 0"):
        open_target("dfa", AMQP, timeout=0)


def test_the_page_on_the_protocol_tells_what_happens(tmp_path: Path) -> None:
    page = (EXAMPLES.parents[1] / "docs" / "fuzz-protocol.md").read_text("utf-8")
    assert f"more than {LINE_LIMIT >> 20} MiB" in page
    assert f"last {STDERR_LIMIT >> 10} KiB" in page
    session = page.split("```console\n$ ", 1)[1].split("\n```", 1)[0]
    command, _, output = session.partition("\n")
    if shutil.which("node") is None:
        pytest.skip("there is no node on this machine")
    ran = subprocess.run(command, shell=True, cwd=EXAMPLES.parents[1], capture_output=True, text=True, check=True)
    assert ran.stdout.rstrip("\n") == output
