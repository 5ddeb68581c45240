"""The vectors as other processors would run them: compiled for less than this one has, in processes of their own."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.kernels._gathering_lanes import GATHERING
from compiler.kernels._lanes import features, processor

HERE = Path(__file__).parent
TESTS = ["test_lanes.py", "test_record_lanes.py", "test_key_lanes.py", "test_text_lanes.py", "-k", "not windows"]
"""All but those that compile the whole walk, which takes long."""
MASKS = ("avx512", "evex", "avx10")
WIDE = ("avx", "fma", "f16c", "vaes", "vpclmulqdq", "xop", "bmi", *MASKS)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names of features are those of x86-64")
@pytest.mark.parametrize(
    ("name", "lacks"),
    [("haswell", MASKS), ("x86-64", WIDE), ("icelake-server", ()), ("sapphirerapids", ())],
    ids=["no masks of bits", "nothing wide", "gathering one by one", "gathering at once"],
)
def test_vectors_of_another_processor_are_right(name: str, lacks: tuple[str, ...]) -> None:
    """A processor with AVX-512 compiles nothing for AVX2 by itself, and one with AVX2 nothing for less; nor one that gathers at once what others do."""
    known = {feature[1:]: feature.startswith("+") for feature in features()}
    has = {feature for feature, there in known.items() if there}
    left = {feature for feature in has if not feature.startswith(lacks)}
    if lacks and left == has:
        pytest.skip(f"this processor has none of {', '.join(lacks)}, so all other tests run that code")
    if not lacks and "avx512f" not in has:
        pytest.skip("this processor has no AVX-512, which both kinds have")
    if not lacks and (name in GATHERING) == (processor() in GATHERING):
        pytest.skip("all other tests run that code")
    told = ",".join(f"{'+' if feature in left else '-'}{feature}" for feature in sorted(known))
    environment = {**os.environ, "NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": told}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "-m", "not slow", *TESTS]
    done = subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
