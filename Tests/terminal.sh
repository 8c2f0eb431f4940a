#!/bin/sh
# Tests `rollcall watch`, `type` and `top` on a pseudo terminal, with real workers and a real Redis. The program is that
# of $ROLLCALL, or else .build/debug/rollcall.
#
# Usage: terminal.sh [PYTEST-ARGUMENT...], such as -k paste
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# The module that runs workers is among the browser tests.
PYTHONPATH="$root/Tests/Browser" PYTHONDONTWRITEBYTECODE=1 exec sh "$root/Tests/venv.sh" "$root/.build-venv-terminal" \
    "$root/Tests/Terminal/requirements.txt" -m pytest -q -p no:cacheprovider "$root/Tests/Terminal" "$@"
