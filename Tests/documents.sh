#!/bin/sh
# Compares docs/openapi.yaml and the two AsyncAPI documents with real workers and a real Redis, and sends requests
# generated from the first to the admin port. Also compares docs/features.md with the names of tests. The workers are
# those of $ROLLCALL, or else of .build/debug/rollcall.
#
# Usage: documents.sh [PYTEST-ARGUMENT...], such as -k traffic
# SECONDS_OF_ATTACK is how long requests are generated (by default, several hundred requests), SEED their random seed (by
# default, a new one, which is printed).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# The module that runs workers is among the browser tests.
PYTHONPATH="$root/Tests/Browser" PYTHONDONTWRITEBYTECODE=1 exec sh "$root/Tests/venv.sh" "$root/.build-venv-documents" \
    "$root/Tests/Documents/requirements.txt" -m pytest -q -p no:cacheprovider "$root/Tests/Documents" "$@"
