#!/bin/sh
# Runs the tests with other versions of the packages that this one needs:  scripts/try_versions.sh lowest|newest [ARG...]
#
# Makes an environment in a temporary folder, installs this checkout and its extras there, and hands ARG... to pytest in it.
#
#   lowest    the lowest version that pyproject.toml allows of each package that it names; of those that these need, the newest
#   newest    the newest that are allowed
#
#     scripts/try_versions.sh lowest tests/compiler tests/engines
#     EXTRAS=cli PYTHON=python3.13 scripts/try_versions.sh newest tests/cli     # pytest comes along
#
# A tool of the extra "dev" may need a newer version of a package than the lowest that users may have: name fewer EXTRAS to
# have that one. EXTRAS is all unless it is set (1 GB with Spark), PYTHON that of .venv. The environment is removed at the
# end; WORK=DIR keeps it in DIR. uv's own variables and configuration hold, and PIP_INDEX_URL where UV_DEFAULT_INDEX is not set.
set -eu
cd "$(dirname "$0")/.."
case ${1:-} in
lowest) resolution=lowest-direct ;;
newest) resolution=highest ;;
*)
    echo "usage: scripts/try_versions.sh lowest|newest [PYTEST-ARGUMENT...]" >&2
    exit 2
    ;;
esac
shift
uv=$(command -v .venv/bin/uv || command -v uv) || {
    echo "try_versions: uv is not installed: 'make check' sets up .venv with it" >&2
    exit 3
}
. scripts/work_folder.sh
[ -n "${UV_DEFAULT_INDEX:-}" ] || [ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX="$PIP_INDEX_URL"

"$uv" venv --quiet --clear --python "${PYTHON:-.venv/bin/python}" "$work/venv"
export VIRTUAL_ENV="$work/venv"
"$uv" pip install --quiet --resolution "$resolution" --editable ".[${EXTRAS:-all}]"
"$uv" pip install --quiet "pytest>=9,<10" "pytest-timeout>=2.4" "pytest-xdist>=3.8" "hypothesis>=6.130"
"$uv" pip list
"$work/venv/bin/python" -m pytest -n auto -m "not long" "$@"
