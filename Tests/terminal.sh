#!/bin/sh
# Tries `rollcall watch`, `type` and `top` on a pseudo terminal, against real workers and a real Redis. The program is
# that of $ROLLCALL, else .build/debug/rollcall.
#
# Usage: terminal.sh [PYTEST-ARGUMENT...], such as -k paste
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# What runs workers is at home with the browser's stories.
PYTHONPATH="$root/Tests/Browser" PYTHONDONTWRITEBYTECODE=1 exec sh "$root/Tests/venv.sh" "$root/.build-venv-terminal" \
    "$root/Tests/Terminal/requirements.txt" -m pytest -q -p no:cacheprovider "$root/Tests/Terminal" "$@"
