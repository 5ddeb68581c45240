#!/bin/sh
# Builds a Python without the global lock, for `python -m benchmarks seeds --free-threaded`:  scripts/free_threaded.sh FOLDER
#
# Makes a virtual environment FOLDER/venv with numpy, and with cereggii for benchmarks/seeds/threads/strangers.py, of
# python3.14t or python3.13t if one is on the path. Else Debian's source of Python 3.13 is fetched by apt and built into FOLDER,
# with the packages' defaults and without the lock: three minutes on a core. Nothing outside of FOLDER changes. The last line of the output is the interpreter.
#
#     scripts/free_threaded.sh /tmp/free
#     .venv/bin/python -m benchmarks seeds --free-threaded /tmp/free/venv/bin/python
#
# Needs Debian's archive as a source of apt, with the keys of its newer releases, a C compiler, and the development files of
# OpenSSL, zlib and libffi. RELEASE is trixie unless it is set.
set -eu
[ $# -eq 1 ] || {
    echo "usage: scripts/free_threaded.sh FOLDER" >&2
    exit 2
}
mkdir -p "$1"
folder=$(cd "$1" && pwd)
python=$(command -v python3.14t || command -v python3.13t || true)
if [ -z "$python" ]; then
    python=$folder/python/bin/python3.13t
fi
if [ ! -x "$python" ]; then
    mirror=$(sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' /etc/apt/sources.list \
        /etc/apt/sources.list.d/* 2>/dev/null | grep -m 1 '/debian/*$') || {
        echo "free_threaded: apt has no source of Debian here: put a python3.13t or python3.14t on the path" >&2
        exit 3
    }
    mkdir -p "$folder/apt/lists/partial" "$folder/source"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror ${RELEASE:-trixie} main" \
        >"$folder/apt/sources.list"
    apt="apt-get -qq -o Dir::Etc::sourcelist=$folder/apt/sources.list -o Dir::Etc::sourceparts=/dev/null
        -o Dir::State::lists=$folder/apt/lists -o APT::Sandbox::User=root"
    (
        cd "$folder/source"
        $apt update
        $apt source --download-only python3.13
        tar --strip-components 1 -xf python3.13_*.orig.tar.xz
        ./configure --quiet --disable-gil --prefix="$folder/python"
        make -s -j"${JOBS:-1}" >build.log 2>&1 || {
            tail -n 20 build.log >&2
            exit 1
        }
        make -s altinstall >install.log 2>&1
    )
    rm -r "$folder/source" "$folder/apt"
fi
[ -x "$folder/venv/bin/python" ] || "$python" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --only-binary :all: numpy cereggii
"$folder/venv/bin/python" -c 'import sys, numpy, cereggii; sys.exit(sys._is_gil_enabled())'
echo "$folder/venv/bin/python"
