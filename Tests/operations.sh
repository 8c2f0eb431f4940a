#!/bin/sh
# Tries what an operator does: the installation, the systemd unit, the manual, and the commands of the documentation. The
# program is that of $ROLLCALL, else .build/debug/rollcall.
#
# Usage: operations.sh [PYTEST-ARGUMENT...], such as -k unit
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# What runs workers is at home with the browser's stories.
PYTHONPATH="$root/Tests/Browser" PYTHONDONTWRITEBYTECODE=1 exec sh "$root/Tests/venv.sh" "$root/.build-venv-operations" \
    "$root/Tests/Operations/requirements.txt" -m pytest -q -p no:cacheprovider "$root/Tests/Operations" "$@"
