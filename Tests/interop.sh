#!/bin/sh
# A WebSocket client that nobody here wrote, Python's websockets, speaks to running workers by docs/protocol.md alone.
# The workers take names for tokens (auth.mode insecure).
#
# Usage: interop.sh ws://HOST:PORT/v1/connect ws://HOST:PORT/v1/connect
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
exec sh "$root/Tests/venv.sh" "$root/.build-venv" "$root/Tests/interop/requirements.txt" \
    "$root/Tests/interop/interop.py" "$@"
