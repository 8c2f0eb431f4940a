#!/bin/bash
# Tries the examples with a private Redis and a worker: what they print and store when somebody comes and goes.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$folder"' EXIT
redis-server --port 0 --unixsocket "$folder/redis" --save '' >"$folder/redis.log" &
until [ -S "$folder/redis" ]; do sleep 0.1; done

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check standardwebhooks
read -r hook < <(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
(umask 077; echo "whsec_$(openssl rand -base64 32)" >"$folder/secret"; openssl rand -hex 32 >"$folder/token"
    openssl rand -hex 32 >"$folder/operator")
rollcall=${ROLLCALL:-../../.build/release/rollcall}
"$rollcall" worker --set redis.url="redis+unix://$folder/redis" --set auth.mode=insecure --set edge.port=0 --set admin.port=0 \
    --set events.enabled=true --set events.webhook.url="http://127.0.0.1:$hook/" \
    --set events.webhook.secret_file="$folder/secret" --set admin.token_file="$folder/operator" \
    --set admin.app_token_file="$folder/token" >"$folder/worker" 2>"$folder/worker.log" &
# Waits until a file has this line.
await() {
    for _ in $(seq 300); do ! grep -qs -- "$2" "$1" || return 0; sleep 0.1; done
    echo "servers: never \"$2\" in $(basename "$1"):" >&2
    cat "$1" "$folder/worker.log" >&2
    exit 1
}
await "$folder/worker" '^ready'
edge=$(sed -n 's/.* edge=\([^ ]*\).*/\1/p' "$folder/worker") ROLLCALL_ADMIN=$(sed -n 's/.* admin=//p' "$folder/worker")
ROLLCALL_TOKEN=$(cat "$folder/token") WEBHOOK_SECRET=$(cat "$folder/secret")
export ROLLCALL_ADMIN ROLLCALL_TOKEN WEBHOOK_SECRET
"$folder/venv/bin/python" webhook.py "$hook" >"$folder/webhook" 2>&1 &
python3 last_seen.py "$folder/people.db" 2>"$folder/last_seen" &
last_seen=$!
node bot.mjs ada c42 >"$folder/bot" 2>&1 &

stored() {
    for _ in $(seq 300); do
        found=$(python3 -c 'import sqlite3, sys
print(*(f"{user}={status}" for user, status in sqlite3.connect(sys.argv[1]).execute("SELECT user, status FROM people ORDER BY user")))' "$folder/people.db" 2>/dev/null || true)
        [ "$found" != "$1" ] || return 0
        sleep 0.1
    done
    echo "servers: the database has \"$found\" and not \"$1\"" >&2
    cat "$folder/last_seen" "$folder/worker.log" >&2
    exit 1
}
connect() { "$rollcall" type c42 --for 10m --url "$edge" --as "$1" >"$folder/$1" 2>&1 & }
await "$folder/webhook" 'reset'
connect alice
alice=$!
await "$folder/webhook" 'alice online'
stored 'alice=online'
await "$folder/bot" 'Hello, alice!'
kill "$last_seen"
kill -9 "$alice"
connect bob
await "$folder/webhook" 'alice offline'
python3 last_seen.py "$folder/people.db" 2>"$folder/last_seen" &
stored 'alice=offline bob=online'
# Redis loses everything: the worker writes what it knows, and readers read again.
redis-cli -s "$folder/redis" FLUSHALL >"$folder/reply"
redis-cli -s "$folder/redis" CLIENT KILL TYPE normal >"$folder/reply"
await "$folder/webhook" 'reset: read again'
stored 'alice=offline bob=online'
echo "servers: the examples do what they say"
