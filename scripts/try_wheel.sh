#!/bin/sh
# Tries the wheel as a user would install it:  scripts/try_wheel.sh PYTHON...
#
# Builds the wheel of this checkout. Then, for each interpreter: makes an empty environment, installs the wheel with its
# extras, and runs from outside of the checkout the README's Python sessions, `dfa-router fuzz` on a right and on a wrong
# callable, and `dfa-router route` on a small log of the demo's. Prints every command, goes on to the next interpreter
# when one fails, and fails if any did.
#
#     scripts/try_wheel.sh python3.11 python3.13
#     EXTRAS=cli,fuzz scripts/try_wheel.sh python3.14      # without DuckDB and Spark, and so without `dfa-router route`
#
# EXTRAS is cli,fuzz,duckdb,spark unless it is set. The environments go to a temporary folder (500 MB each with Spark) that is
# removed at the end; WORK=DIR keeps them in DIR. Spark needs a Java runtime: add spark-java to EXTRAS where there is none.
set -eu
extras=${EXTRAS:-cli,fuzz,duckdb,spark}
[ $# -gt 0 ] || {
    echo "usage: scripts/try_wheel.sh PYTHON..." >&2
    exit 2
}
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/work_folder.sh"

# Run a command that must end with the exit code that is given first.
expect() {
    code=$1
    shift
    printf '+ %s    # must exit with %s\n' "$*" "$code"
    got=0
    "$@" || got=$?
    [ "$got" = "$code" ] || {
        printf 'try_wheel: exit code %s instead of %s\n' "$got" "$code" >&2
        return 1
    }
}

# The checks of one interpreter, in a subshell that ends at the first command that fails.
try() (
    set -e
    python=$1
    place=$2
    rm -rf "$place"
    mkdir -p "$place/run"
    run "$python" --version
    run "$python" -m venv "$place/venv"
    bin=$place/venv/bin
    export NUMBA_CACHE_DIR="$place/kernels"
    run "$bin/python" -m pip install --quiet --disable-pip-version-check "$wheel[$extras]"

    # What the sessions and the demo read, and two matchers to be tested.
    mkdir "$place/run/examples"
    cp "$root/README.md" "$place/run/"
    cp -r "$root/examples/demo" "$place/run/examples/"
    cat >"$place/run/matchers.py" <<'END'
import functools
import re

import dfa_router as dr


@functools.cache
def router(patterns):
    return dr.compile([(pattern, "") for pattern in patterns], engine="trie")


def right(patterns, key):
    return router(tuple(patterns)).match_bindings(key)


def wrong(patterns, key):
    """Takes `#` for "anything", so that `a.#` does not match `a`."""
    forms = [re.escape(pattern).replace(r"\*", "[^.]*").replace(r"\#", ".*") for pattern in patterns]
    return [position for position, form in enumerate(forms) if re.fullmatch(form, key)]
END
    cat >"$place/run/sessions.py" <<'END'
import doctest
import importlib.util
import pathlib
import re
import sys

import dfa_router

assert pathlib.Path(dfa_router.__file__).is_relative_to(sys.prefix), f"not the wheel's: {dfa_router.__file__}"
page = pathlib.Path("README.md")
for package, part in (("duckdb", r"(?s)```python\n>>> import duckdb\n.*?```\n"), ("pyspark", r"(?s)\n## On Spark\n.*?(?=\n## )")):
    if importlib.util.find_spec(package) is None:
        text, cut = re.subn(part, "", page.read_text("utf-8"))
        assert cut == 1, f"the README has {cut} parts for {package}, not one"
        page.write_text(text, "utf-8")
results = doctest.testfile("README.md", module_relative=False)
print(f"Python {sys.version.split()[0]}: {results.attempted} examples of the README, {results.failed} failed")
sys.exit(results.failed > 0 or results.attempted < 9)
END
    cd "$place/run"
    run "$bin/python" sessions.py
    expect 0 "$bin/dfa-router" fuzz --target matchers:right --rounds 40 --seed 1
    expect 1 "$bin/dfa-router" fuzz --target matchers:wrong --rounds 40 --seed 1
    case ",$extras," in
    *,spark,*)
        run "$bin/python" -m examples.demo.make_log --out log.parquet --messages 20000
        run "$bin/dfa-router" route --definitions examples/demo/definitions.json --messages log.parquet --out routed \
            --master 'local[2]' --top 2
        ;;
    *) echo "no extra spark: dfa-router route is not tried" ;;
    esac
)

build_wheel "$1" "$root"
try_each try_wheel "" "$@"
