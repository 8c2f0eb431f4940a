#!/bin/sh
# Tests the browser module in headless Chromium, with real workers and a real Redis. The workers are those of $ROLLCALL,
# or else of .build/debug/rollcall.
#
# Usage: browser.sh [PYTEST-ARGUMENT...], such as -k T7
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)

needs() {
    for program; do
        if command -v "$program" >/dev/null; then return; fi
    done
    echo "browser: $1 is needed and not on the PATH: run scripts/setup browser" >&2
    exit 69
}

needs chromium chromium-browser google-chrome
needs chromedriver
needs tsc
needs redis-server
PYTHONDONTWRITEBYTECODE=1 exec sh "$root/Tests/venv.sh" "$root/.build-venv-browser" \
    "$root/Tests/Browser/requirements.txt" -m pytest -q -p no:cacheprovider "$root/Tests/Browser" "$@"
