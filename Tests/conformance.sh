#!/bin/sh
# Python's wsproto, an independent implementation of WebSocket, tests case by case whether a running worker conforms to
# RFC 6455. The worker accepts user names as tokens (auth.mode insecure).
#
# Usage: conformance.sh ws://HOST:PORT/v1/connect
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
exec sh "$root/Tests/venv.sh" "$root/.build-venv" "$root/Tests/interop/requirements.txt" \
    "$root/Tests/interop/conformance.py" "$@"
