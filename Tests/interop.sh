#!/bin/sh
# Python's websockets, an independent WebSocket client, tests running workers using only docs/protocol.md. The workers
# accept user names as tokens (auth.mode insecure).
#
# Usage: interop.sh ws://HOST:PORT/v1/connect ws://HOST:PORT/v1/connect
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
exec sh "$root/Tests/venv.sh" "$root/.build-venv" "$root/Tests/interop/requirements.txt" \
    "$root/Tests/interop/interop.py" "$@"
