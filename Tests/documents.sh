#!/bin/sh
# Holds docs/openapi.yaml and the two AsyncAPI documents to what real workers say and do, with a real Redis, and attacks
# the admin port by the first. The workers are those of $ROLLCALL, else of .build/debug/rollcall.
#
# Usage: documents.sh [PYTEST-ARGUMENT...], such as -k traffic
# SECONDS_OF_ATTACK says how long the attack lasts (without, some hundreds of requests), SEED which one it is (drawn, and
# told).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
# What runs workers is at home with the browser's stories.
PYTHONPATH="$root/Tests/Browser" PYTHONDONTWRITEBYTECODE=1 exec sh "$root/Tests/venv.sh" "$root/.build-venv-documents" \
    "$root/Tests/Documents/requirements.txt" -m pytest -q -p no:cacheprovider "$root/Tests/Documents" "$@"
