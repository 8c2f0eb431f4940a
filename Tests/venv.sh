#!/bin/sh
# Runs Python with the packages in a requirements file, in a virtual environment that is created at first use.
#
# Usage: venv.sh FOLDER REQUIREMENTS PYTHON-ARGUMENT...
set -eu

venv=$1 wanted=$2
shift 2

fail() {
    echo "$(basename "$venv"): $1" >&2
    exit 69
}

# Created next to its place and then moved there, since another run may be creating it too.
make_venv() {
    command -v python3 >/dev/null || fail "python3 is needed and not on the PATH"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        fail "Python 3.10 or later is needed and python3 is $(python3 --version): install one, first on the PATH as python3"
    half=$venv.$$
    log=$venv.$$.log
    trap 'rm -rf "$half" "$log"' EXIT
    python3 -m venv "$half" >"$log" 2>&1 || { cat "$log" >&2; fail "python3 cannot make a venv (apt: python3-venv)"; }
    "$half/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$wanted" >"$log" 2>&1 ||
        { cat "$log" >&2; fail "the packages could not be installed: can PyPI be reached?"; }
    cp "$wanted" "$half/installed.txt"
    rm -rf "$venv"
    mv "$half" "$venv" 2>/dev/null || true
}

if ! cmp -s "$wanted" "$venv/installed.txt"; then make_venv; fi
exec "$venv/bin/python" "$@"
