#!/bin/sh
# Tries the wheel with versions of Spark:  scripts/try_spark.sh VERSION...
#
# Builds the wheel of this checkout. Then, for each version: makes an empty environment, installs the wheel, that PySpark and
# nothing of the checkout; runs the tests of routing on Spark, those on Spark Connect among them, outside of the checkout; and
# starts a master and two workers of a standalone cluster on the loopback interface, to which spark-submit hands the program
# scripts/spark_program.py. Goes on to the next version when one fails, and fails if any did.
#
#     scripts/try_spark.sh 3.5 4.0 4.3
#     TESTS="tests/spark/test_sql.py" PYTHON=python3.11 scripts/try_spark.sh 4.1
#
# PYTHON is python3.11 unless it is set: Spark 3.5 knows none that is newer. Needs a Java that the version supports (17 suits
# all) as JAVA_HOME or on the path. Each environment takes 1.5 GB, in a temporary folder that is removed at the end; WORK=DIR
# keeps it in DIR, and an environment that is there already is used again.
set -eu
[ $# -gt 0 ] || {
    echo "usage: scripts/try_spark.sh VERSION..." >&2
    exit 2
}
root=$(cd "$(dirname "$0")/.." && pwd)
python=${PYTHON:-python3.11}
. "$root/scripts/work_folder.sh"
rooms="route real_topologies options sql stream connect executors file logs job"
tests=${TESTS:-$(for room in $rooms; do echo "tests/spark/test_$room.py"; done)}

# A port of this machine that nobody listens on.
free_port() {
    "$bin/python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Wait until a file holds a text, or fail after two minutes.
wait_for() {
    for _ in $(seq 240); do
        ! grep -q "$2" "$1" 2>/dev/null || return 0
        sleep 0.5
    done
    echo "try_spark: $1 does not say '$2':" >&2
    tail -n 20 "$1" >&2
    return 1
}

# A cluster of its own for one program, whose processes end with the subshell.
on_a_cluster() (
    set -e
    SPARK_HOME=$("$bin/python" -c 'import pathlib, pyspark; print(pathlib.Path(pyspark.__file__).parent)')
    port=$(free_port)
    export SPARK_HOME SPARK_LOCAL_IP=127.0.0.1 PYSPARK_PYTHON="$bin/python" SPARK_NO_DAEMONIZE=1
    trap 'kill $master $one $two 2>/dev/null || true' EXIT
    master='' one='' two=''
    "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.master.Master --host 127.0.0.1 --port "$port" --webui-port 0 \
        >master.log 2>&1 &
    master=$!
    wait_for master.log "New state: ALIVE"
    "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --cores 1 --memory 1g \
        --webui-port 0 --work-dir "$PWD/one" "spark://127.0.0.1:$port" >one.log 2>&1 &
    one=$!
    "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.worker.Worker --host 127.0.0.1 --cores 1 --memory 1g \
        --webui-port 0 --work-dir "$PWD/two" "spark://127.0.0.1:$port" >two.log 2>&1 &
    two=$!
    wait_for one.log "Successfully registered"
    wait_for two.log "Successfully registered"
    run "$SPARK_HOME/bin/spark-submit" --master "spark://127.0.0.1:$port" --conf spark.ui.enabled=false \
        --conf spark.log.level=ERROR --conf spark.executor.memory=512m spark_program.py 2>submit.log || {
        tail -n 40 submit.log >&2
        exit 1
    }
)

try() (
    set -e
    place=$2
    bin=$place/venv/bin
    rm -rf "$place/run"
    mkdir -p "$place/run"
    if [ ! -e "$place/installed" ]; then
        run "$python" -m venv --clear "$place/venv"
        # PySpark comes as a source archive, of which pip makes a wheel.
        case $1 in 3.*) extra=spark ;; *) extra=spark-connect ;; esac
        run "$bin/python" -m pip install --quiet --disable-pip-version-check "$wheel[cli,$extra]" "pyspark==$1.*" \
            "pytest>=9,<10" "pytest-timeout>=2.4" "hypothesis>=6.130"
        touch "$place/installed"
    fi
    run "$bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
    export NUMBA_CACHE_DIR="$place/kernels"
    cp -r "$root/tests" "$root/conftest.py" "$root/pyproject.toml" "$root/scripts/spark_program.py" "$place/run/"
    cd "$place/run"
    run "$bin/python" -c 'import sys, dfa_router; assert dfa_router.__file__.startswith(sys.prefix), dfa_router.__file__'
    # PySpark before 4.1 warns of what newer packages have deprecated.
    # shellcheck disable=SC2086  # several files
    run "$bin/python" -m pytest -q -m "not long" -W default -p no:warnings $tests
    on_a_cluster
)

build_wheel "$python" "$root"
try_each try_spark "Spark " "$@"
