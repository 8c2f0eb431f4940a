#!/bin/sh
# Another's implementation of WebSocket, Python's wsproto, asks a running worker case by case whether it keeps to RFC
# 6455. The worker takes names for tokens (auth.mode insecure).
#
# Usage: conformance.sh ws://HOST:PORT/v1/connect
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
exec sh "$root/Tests/venv.sh" "$root/.build-venv" "$root/Tests/interop/requirements.txt" \
    "$root/Tests/interop/conformance.py" "$@"
