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

# Call `try ITEM FOLDER` for each item of what $1 names, and go on to the next when one fails; fail if any did. The folder is
# removed behind it unless WORK is set. `try` runs in a subshell that ends at the first command that fails.
try_each() {
    script=$1 what=$2
    shift 2
    failed=
    for item in "$@"; do
        folder=$work/$(printf '%s' "$what$item" | tr -c 'A-Za-z0-9.-' _)
        printf '\n=== %s%s\n' "$what" "$item"
        # Not `if try`: within a condition, set -e has no effect.
        set +e
        try "$item" "$folder"
        code=$?
        set -e
        if [ $code = 0 ]; then
            echo "=== $what$item: passed"
        else
            echo "=== $what$item: FAILED with code $code"
            failed="$failed $item"
        fi
        [ -n "${WORK:-}" ] || rm -rf "${folder:?}"
    done
    [ -z "$failed" ] || {
        printf '\n%s: failed on%s\n' "$script" "$failed" >&2
        exit 1
    }
    printf '\n%s: passed on %s\n' "$script" "$*"
}
