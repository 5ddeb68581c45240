"""The claims of the documents: each has a verdict that follows from figures, and the committed pages are of today's engines."""

from __future__ import annotations

import ast
import csv
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks import __main__ as cli
from benchmarks.seeds import Row
from benchmarks.seeds.claims import CLAIMS, Figures
from benchmarks.seeds.claims.claim import AGREES, CANNOT, DISAGREES, Claim
from benchmarks.seeds.pages.claims import claims_page
from benchmarks.seeds.pages.files import MEASURED
from benchmarks.seeds.rows import COLUMNS
from benchmarks.seeds.sources import code_of, digest, modules
from benchmarks.seeds.suite import TABLES
from benchmarks.seeds.threads.strangers import strangers
from dfa_router.cli.exit_codes import ExitCode

REPOSITORY = Path(__file__).parents[2]
RESULTS = REPOSITORY / "benchmarks" / "results"


@pytest.fixture(scope="module")
def committed() -> list[Row]:
    """The rows of the committed file of figures."""
    with (RESULTS / "seeds.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    kept = [name for name in COLUMNS if name != "published"]
    return [Row(**{**{name: line[name] for name in kept}, "value": float(line["value"])}) for line in lines]  # type: ignore[arg-type]


@pytest.mark.parametrize("page", ["seeds.md", "seeds-claims.md"])
def test_the_pages_are_of_this_checkouts_engines(page: str) -> None:
    """``python -m benchmarks seeds`` writes them anew; code of an engine has changed since they were written if this fails."""
    text = (RESULTS / page).read_text("utf-8")
    assert text.partition(f"{MEASURED}`")[2].partition("`")[0] == digest(), "run: python -m benchmarks seeds"


def test_the_committed_claims_follow_from_the_committed_figures(committed: list[Row]) -> None:
    text = (RESULTS / "seeds-claims.md").read_text("utf-8")
    assert text == claims_page(committed, text.split("\n\n")[1])


def test_every_claim_that_is_measured_has_its_figures(committed: list[Row]) -> None:
    """A claim whose figures nobody measures would pass for one that cannot be tested."""
    figures = Figures(committed)
    lost = [claim.name for claim in CLAIMS if claim.reachable and claim.verdict(figures).word == CANNOT]
    assert lost == []
    assert {table for claim in CLAIMS for table in claim.tables} == set(TABLES)


def test_the_names_of_claims_are_unique_and_the_documents_have_their_share() -> None:
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS) > 60
    assert {claim.name.partition(".")[0] for claim in CLAIMS} == {
        "topics",
        "locks",
        "automata",
        "bitmaps",
        "predicates",
    }
    assert {word for claim in CLAIMS for word in [claim.verdict(Figures([])).word]} == {AGREES, DISAGREES, CANNOT}


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim.test], ids=lambda claim: claim.name)
def test_the_test_that_shows_a_claim_exists(claim: Claim) -> None:
    path, _, name = claim.test.partition("::")
    tree = ast.parse((REPOSITORY / path).read_text("utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_one_claim_is_judged_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["-q", "seeds", "--quick", "--claim", "automata.dfa-complex"]) == ExitCode.OK
    said = capsys.readouterr().out
    assert "automata.dfa-complex: agrees" in said
    assert "as many lines as the trie" in said


def test_an_unknown_claim_and_a_python_that_has_the_lock_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["-q", "seeds", "--claim", "automata.split"]) == ExitCode.USAGE
    assert "there is no claim 'automata.split'" in capsys.readouterr().err.replace("\n", " ")
    assert cli.run(["-q", "seeds", "--free-threaded", sys.executable]) == ExitCode.ENVIRONMENT
    assert "scripts/free_threaded.sh builds one" in capsys.readouterr().err.replace("\n", " ")


def test_the_digest_changes_with_an_engines_code_and_with_nothing_else(tmp_path: Path) -> None:
    relay = "compiler/relay/relay.py"
    for name in modules():
        path = REPOSITORY.joinpath(*name.split("."))
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        copy = tmp_path / path.relative_to(REPOSITORY)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    (tmp_path / relay).parent.mkdir(exist_ok=True)
    shutil.copy(REPOSITORY / relay, tmp_path / relay)

    def edit(name: str, old: str, new: str) -> None:
        path = tmp_path / name
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")

    edit("compiler/kernels/walk.py", "from __future__", "# A comment.\n\nfrom __future__")
    edit("dfa_router/reference/trie.py", '"""A node of the trie', '"""Not a node of the trie')
    edit(relay, "self", "itself")
    found = {digest(), digest(tmp_path)}
    assert len(found) == 1, "a comment, a docstring or what is no engine has changed it"
    for name in ("compiler/kernels/walk.py", "dfa_router/reference/trie.py"):
        edit(name, "from __future__ import annotations\n", "from __future__ import annotations\nADDED = 1\n")
        found.add(digest(tmp_path))
    assert len(found) == 3


def test_the_engines_are_made_of_their_own_modules() -> None:
    found = modules()
    assert {"compiler.kernels.walk", "compiler.machine.cache", "dfa_router.reference.cstrie.trie"} <= found
    assert not {name for name in found if name.startswith(("dfa_router.rabbitmq", "dfa_router.cli", "compiler.relay"))}


def test_code_is_the_same_however_it_is_laid_out_and_commented() -> None:
    plain = 'def f(x):\n    """Adds."""\n    return x + "# no comment"\n'
    laid_out = 'def f(\n    x\n):  # why\n    """Adds one thing."""\n\n    return x + "# no comment"\n'
    assert code_of(plain) == code_of(laid_out)
    assert code_of(plain) != code_of(plain.replace("# no", "# a"))


@pytest.mark.skipif(
    "FREE_THREADED_PYTHON" not in os.environ, reason="needs a free-threaded Python: FREE_THREADED_PYTHON"
)
def test_the_tables_of_threads_are_measured_without_the_interpreters_lock() -> None:
    from benchmarks.seeds.threads.interpreters import FREE, check_free_threaded, threads

    python = Path(os.environ["FREE_THREADED_PYTHON"])
    check_free_threaded(python)
    rows = list(threads("cstrie", 4, python))
    assert {row.table for row in rows} == {f"{table}{FREE}" for table in ("mix", "inserts", "reads", "tail")}


@pytest.mark.skipif(find_spec("cereggii") is None, reason="needs cereggii: pip install 'dfa-router[atomics]'")
def test_with_the_interpreters_lock_no_cell_returns_a_stranger() -> None:
    wrong, reads = strangers(50)
    assert wrong == 0 < reads


def test_the_program_of_the_threads_needs_neither_numba_nor_bitmaps() -> None:
    """As in a free-threaded Python, for which they have no builds: their imports fail here, too."""
    child = REPOSITORY / "benchmarks" / "seeds" / "threads" / "child.py"
    program = (
        "import runpy, sys\n"
        "for name in ('numba', 'pyroaring', 'pyarrow'): sys.modules[name] = None\n"
        "path, *sys.argv[1:] = sys.argv[1:]\n"
        "sys.path.insert(0, '')\n"
        "runpy.run_path(path, run_name='__main__')\n"
    )
    for label, expected in (("cstrie", '"figures"'), ("inverted", '"missing"')):
        command = [sys.executable, "-c", program, str(child), label, "2"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
        assert expected in done.stdout
