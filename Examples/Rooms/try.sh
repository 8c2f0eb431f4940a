#!/bin/sh
# Builds the example, and asks it who is in a room, with a private Redis.
set -eu
cd "$(dirname "$0")"
swift build --scratch-path ../../.build/rooms

folder=$(mktemp -d)
trap 'kill "$redis" "$rooms" 2>/dev/null; rm -rf "$folder"' EXIT
redis-server --port 0 --unixsocket "$folder/redis" --save '' >"$folder/log" &
redis=$!
until [ -S "$folder/redis" ]; do sleep 0.1; done
redis-cli -s "$folder/redis" HSET 'members:{c42}' '{managed}' 1 greeter 'The greeter' >"$folder/reply"
ROLLCALL_REDIS_URL=redis+unix://$folder/redis PORT=18999 ../../.build/rooms/debug/rooms &
rooms=$!
for _ in $(seq 300); do
    answer=$(python3 -c 'import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:18999/rooms/c42").read().decode())' 2>/dev/null) || answer=
    case $answer in *'["The greeter"]'*) echo "rooms: $answer"; exit 0 ;; esac
    sleep 0.1
done
echo "rooms: it answers $answer" >&2
exit 1
