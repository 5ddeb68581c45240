"""What an answer does not import: pandas takes 150 ms, which pyarrow's own functions for Python's and numpy's values begin with."""

from __future__ import annotations

import subprocess
import sys

import pytest

ANSWERS = """
import sys
import pyarrow as pa
import dfa_router as dr
from dfa_router.arrow import sets
sets.SOON = {soon}
router = dr.compile([("a.*", "x"), ("#.b", "y"), ("c", "x")])
column = pa.StringArray.from_buffers(3, pa.py_buffer(bytes([0, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0])), pa.py_buffer(b"a.bc"))
for keys in (["a.b", "c"], ["a.b", None, "c"] * 1000, column, column.dictionary_encode()):
    matches = router.match_batch(keys)
    assert len(matches.destinations()) == len(matches.bindings()) == len(matches.set_ids) == len(matches), keys
    assert matches.pair_count and len(matches.sets)
pa.RecordBatchReader.from_stream(matches).read_all()
router.match("a.b")
print("pandas" in sys.modules)
"""


@pytest.mark.parametrize("soon", [0, 1 << 62])
def test_answers_import_no_pandas(soon: int) -> None:
    pytest.importorskip("pandas")
    done = subprocess.run(
        [sys.executable, "-c", ANSWERS.format(soon=soon)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("False\n", "")
