#!/bin/sh
# A WebSocket client that nobody here wrote, Python's websockets, speaks to running workers by docs/protocol.md alone.
# The workers take names for tokens (auth.mode insecure).
#
# Usage: interop.sh ws://HOST:PORT/v1/connect ws://HOST:PORT/v1/connect
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
wanted=$root/Tests/interop/requirements.txt
venv=$root/.build-venv

fail() {
    echo "interop: $1" >&2
    exit 69
}

# Made beside its place and then moved there, since another run may be making it too.
make_venv() {
    command -v python3 >/dev/null || fail "python3 is needed and not on the PATH"
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || fail "Python 3.9 or later is needed"
    half=$root/.build-venv.$$
    log=$root/.build-venv.$$.log
    trap 'rm -rf "$half" "$log"' EXIT
    python3 -m venv "$half" >"$log" 2>&1 || { cat "$log" >&2; fail "python3 cannot make a venv (apt: python3-venv)"; }
    "$half/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$wanted" >"$log" 2>&1 ||
        { cat "$log" >&2; fail "websockets could not be installed: can PyPI be reached?"; }
    cp "$wanted" "$half/installed.txt"
    rm -rf "$venv"
    mv "$half" "$venv" 2>/dev/null || true
}

if ! cmp -s "$wanted" "$venv/installed.txt"; then make_venv; fi
exec "$venv/bin/python" "$root/Tests/interop/interop.py" "$@"
