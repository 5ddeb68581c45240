"""The notebooks of the teaching guide run from top to bottom, and say what the committed ones say."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.viz.material import content

REPOSITORY = Path(__file__).parents[2]
NOTEBOOKS = sorted((REPOSITORY / "examples" / "teaching").glob("*.ipynb"))


def _said(notebook: Any) -> list[tuple[Any, ...]]:
    """Return the kinds and texts of all outputs, and what is drawn in pictures; pages are too long to be stored."""
    said: list[tuple[Any, ...]] = []
    for cell in notebook.cells:
        streams: dict[str, str] = {}
        for output in cell.get("outputs", ()):
            data = {kind: text for kind, text in output.get("data", {}).items() if not text.startswith("<iframe ")}
            if output["output_type"] == "stream":  # a kernel sends it in pieces, as it likes
                streams[output["name"]] = streams.get(output["name"], "") + output["text"]
            else:
                said.append((output["output_type"], sorted(data), data.get("text/plain", "")))
                if "image/svg+xml" in data:
                    said.append(
                        (content(data["image/svg+xml"]), data.get("text/html") == f"<div>{data['image/svg+xml']}</div>")
                    )
        said += streams.items()
    return said


def test_there_are_five() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["1-patterns", "2-nfa", "3-dfa", "4-lazy-cache", "5-blow-up"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_says_what_it_said(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs nbformat and nbclient: pip install 'dfa-router[dev]'")
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel: pip install 'dfa-router[dev]'")
    config = pytest.importorskip("traitlets.config")
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    committed = _said(notebook)
    with tempfile.TemporaryDirectory() as folder:  # its path is short, as that of a socket must be
        # Without a file of its own, a kernel's sockets have the names of any other kernel's that runs in the same folder.
        own = {"transport": "ipc", "connection_file": f"{folder}/kernel.json"}
        nbclient.NotebookClient(
            notebook,
            timeout=120,
            resources={"metadata": {"path": str(REPOSITORY)}},
            config=config.Config({"KernelManager": own}),
        ).execute()
    nbformat.validate(notebook)
    assert _said(notebook) == committed, "run it again, and store what it says"
