# Read by other scripts, with `.`: makes a folder to work in and sets $work to it. WORK=DIR keeps it, in DIR; else it is removed at
# the end. Nothing but what is installed there may be found: neither a checkout by the path, nor another environment.
if [ -n "${WORK:-}" ]; then
    mkdir -p "$WORK"
    work=$(cd "$WORK" && pwd)
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
fi
unset PYTHONPATH VIRTUAL_ENV || true

# Build the wheel of a checkout with a Python, and set $wheel to it. In an environment as well: the interpreters of some systems
# have no pip of their own.
build_wheel() {
    rm -rf "$work/wheel" "$work/build"
    "$1" -m venv "$work/build"
    "$work/build/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work/wheel" "$2"
    wheel=$(ls "$work"/wheel/dfa_router-*.whl)
}

# Print a command and run it.
run() {
    printf '+ %s\n' "$*"
    "$@"
}
