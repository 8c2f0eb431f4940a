#!/bin/bash
# Tries the examples with a private Redis and a worker: what they print and store when somebody comes and goes.
set -euo pipefail
cd "$(dirname "$0")"
swift build --scratch-path ../../.build/servers
folder=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$folder"' EXIT
redis-server --port 0 --unixsocket "$folder/redis" --save '' >"$folder/redis.log" &
until [ -S "$folder/redis" ]; do sleep 0.1; done

port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
# Waits until a command prints this line.
prints() {
    wanted=$1
    shift
    for _ in $(seq 300); do
        found=$("$@" 2>/dev/null || true)
        [ "$found" != "$wanted" ] || return 0
        sleep 0.1
    done
    echo "servers: $* prints \"$found\" and not \"$wanted\"" >&2
    cat "$folder"/*.log >&2
    exit 1
}
redis=redis+unix://$folder/redis
redis-cli -s "$folder/redis" HSET 'members:{c42}' '{managed}' 1 greeter 'The greeter' >"$folder/reply"
rooms=$(port)
ROLLCALL_REDIS_URL=$redis PORT=$rooms ../../.build/servers/debug/rooms 2>"$folder/rooms.log" &
prints '{"here":["The greeter"],"typing":[]}' curl -fs "http://127.0.0.1:$rooms/rooms/c42"
kill $!
redis-cli -s "$folder/redis" FLUSHALL >"$folder/reply"

python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check standardwebhooks
hook=$(port)
(umask 077; echo "whsec_$(openssl rand -base64 32)" >"$folder/secret"; openssl rand -hex 32 >"$folder/token"
    openssl rand -hex 32 >"$folder/operator")
rollcall=${ROLLCALL:-../../.build/release/rollcall}
"$rollcall" worker --set redis.url="$redis" --set auth.mode=insecure --set edge.port=0 --set admin.port=0 \
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
python3 last_seen.py "$folder/people.db" 2>"$folder/last_seen.log" &
last_seen=$!
node bot.mjs ada c42 >"$folder/bot" 2>&1 &
swift=(../../.build/servers/debug/last-seen "$folder/people.json" "$redis")
"${swift[@]}" 2>"$folder/swift.log" &
in_swift=$!

stored() {
    prints "$1" python3 -c 'import sqlite3, sys
print(*(f"{user}={status}" for user, status in sqlite3.connect(sys.argv[1]).execute("SELECT user, status FROM people ORDER BY user")))' "$folder/people.db"
    prints "$1" python3 -c 'import json, sys
people = json.load(open(sys.argv[1]))["people"]
print(*sorted(user + "=" + people[user]["status"] for user in people))' "$folder/people.json"
}
connect() { "$rollcall" type c42 --for 10m --url "$edge" --as "$1" >"$folder/$1" 2>&1 & }
await "$folder/webhook" 'reset'
connect alice
alice=$!
await "$folder/webhook" 'alice online'
stored 'alice=online'
await "$folder/bot" 'Hello, alice!'
kill "$last_seen" "$in_swift"
kill -9 "$alice"
connect bob
await "$folder/webhook" 'alice offline'
python3 last_seen.py "$folder/people.db" 2>"$folder/last_seen.log" &
"${swift[@]}" 2>"$folder/swift.log" &
stored 'alice=offline bob=online'
# Redis loses everything: the worker writes what it knows, and readers read again.
redis-cli -s "$folder/redis" FLUSHALL >"$folder/reply"
redis-cli -s "$folder/redis" CLIENT KILL TYPE normal >"$folder/reply"
await "$folder/webhook" 'reset: read again'
stored 'alice=offline bob=online'
# Each of the two servers lets in whom it knows, and answers nobody who does not know the secret.
for server in "$folder/venv/bin/python access.py" "node access.mjs"; do
    name=${server##*.} asked=$(port)
    ACCESS_SECRET=$(cat "$folder/secret") $server "$asked" >"$folder/$name" 2>&1 &
    env -u ROLLCALL_ADMIN -u ROLLCALL_TOKEN "$rollcall" worker --set redis.url="$redis" --set redis.prefix="$name:" --set auth.mode=insecure --set edge.port=0 \
        --set admin.port=0 --set access.url="http://127.0.0.1:$asked/" --set access.secret_file="$folder/secret" \
        >"$folder/worker.$name" 2>"$folder/worker.$name.log" &
    await "$folder/worker.$name" '^ready'
    edge=$(sed -n 's/.* edge=\([^ ]*\).*/\1/p' "$folder/worker.$name")
    "$rollcall" type c42 --for 1s --url "$edge" --as alice 2>"$folder/alice"
    "$rollcall" type c42 --for 1s --url "$edge" --as mallory 2>"$folder/mallory" || true
    await "$folder/mallory" 'does not let you in'
    prints 401 curl -s -o "$folder/reply" -w '%{http_code}' -d '{"questions":[]}' "http://127.0.0.1:$asked/"
done
echo "servers: the examples do what they say"
