#!/bin/sh
# Tests what operators do: the installation, the systemd unit, the manual page, and the commands of the documentation.
# The program is that of $ROLLCALL, or else .build/debug/rollcall.
#
# Usage: operations.sh [PYTEST-ARGUMENT...], such as -k unit
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# The module that runs workers is among the browser tests.
PYTHONPATH="$root/Tests/Browser" PYTHONDONTWRITEBYTECODE=1 exec sh "$root/Tests/venv.sh" "$root/.build-venv-operations" \
    "$root/Tests/Operations/requirements.txt" -m pytest -q -p no:cacheprovider "$root/Tests/Operations" "$@"
