#!/bin/sh
# Makes .venv with this checkout and some of its extras in it:  scripts/setup.sh EXTRA...
#
# Everything goes into .venv (and pip's cache). A runtime for Spark is added where the machine has no Java that Spark
# runs on. PYTHON=... chooses the interpreter; pip's own variables and configuration hold, PIP_INDEX_URL among them.
#
# LOCKED=1 installs the versions of requirements-dev.lock first, each file checked by its hash: all that the extra "all"
# needs, the tool that builds this package included. What the named extras need beyond that is taken as without it.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }
die() {
    say "$@"
    exit 3
}

runs_3_11() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for name in ${PYTHON:-python3.11 python3.12 python3.13 python3 python}; do
        if runs_3_11 "$name"; then
            echo "$name"
            return
        fi
    done
    die "setup: no Python 3.11 or newer found (tried: ${PYTHON:-python3.11 python3.12 python3.13 python3 python})." \
        "Install one, or name it: make PYTHON=/path/to/python3.11 ..."
}

if ! runs_3_11 .venv/bin/python; then
    python=$(find_python)
    say "setup: making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv || die "setup: $python could not make a virtual environment (see above)." \
        "On Debian and Ubuntu the package python3-venv is needed for that."
fi

install() {
    say "setup: installing dfa-router[$1] into .venv (the first time a minute or two; Spark takes 500 MB of disk)"
    pip_install ${LOCKED:+--no-build-isolation} --editable ".[$1]"
}

pip_install() {
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --retries 2 "$@" ||
        die "setup: pip could not install $* (see above). It needs a package index: the network," \
            "or PIP_INDEX_URL for a mirror, or PIP_NO_INDEX=1 with PIP_FIND_LINKS for a folder of wheels."
}

if [ -n "${LOCKED:-}" ]; then
    say "setup: installing the versions of requirements-dev.lock into .venv"
    pip_install --require-hashes --requirement requirements-dev.lock
fi

install "$(echo "$*" | tr ' ' ',')"

# Where Spark is among the extras, a Java for it must be there, too.
has_spark() { .venv/bin/python -c 'import pyspark' 2>/dev/null; }
find_java() {
    .venv/bin/python - <<'END'
import sys
from dfa_router.errors import EnvironmentLacksError
from dfa_router.spark.java import find_java
try:
    java = find_java()
except EnvironmentLacksError as error:
    sys.exit(f"setup: {error}")
print(f"setup: Spark will run on Java {java.version} (found by {java.source}: {java.home})", file=sys.stderr)
END
}

if has_spark && ! find_java 2>/dev/null; then
    install spark-java
fi
if has_spark; then
    find_java || exit 3
fi
