#!/bin/sh
# Starts or validates each deployment file once: Config, docker-compose.yml and what scripts/install writes.
#
# Usage: Tests/deploy.sh, with .build/release/rollcall built
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
server=
others=
trap '[ -z "$server$others" ] || { kill $others $server; wait || true; }; rm -rf "$folder"' EXIT
step() { echo "deploy: $*"; }

step secrets, twice
scripts/make-secrets "$folder/secrets"
[ -z "$(scripts/make-secrets "$folder/secrets")" ]

step HAProxy
sed "s|/run/secrets/edge.pem|$folder/secrets/edge.pem|" Config/haproxy.cfg >"$folder/haproxy.cfg"
haproxy -c -f "$folder/haproxy.cfg"
sed "s|/etc/haproxy/edge.pem|$folder/secrets/edge.pem|" Config/haproxy-hosts.cfg >"$folder/haproxy.cfg"
haproxy -c -f "$folder/haproxy.cfg"
[ "$(diff Config/haproxy.cfg Config/haproxy-hosts.cfg | grep -c '^[<>]')" = 32 ] ||
    { echo "Config/haproxy-hosts.cfg differs from Config/haproxy.cfg in more than its workers" >&2; exit 1; }

step Redis, with its configuration and users, a worker beside it, and the doctor
port=$((20000 + $$ % 10000))
printf 'user default on >admin ~* &* +@all\n%s >password\n' "$(cat Config/redis.acl)" >"$folder/users.acl"
printf password >"$folder/password"
chmod 600 "$folder/password"
grep -v '^dir ' Config/redis.conf >"$folder/redis.conf"
redis-server "$folder/redis.conf" --port "$port" --bind 127.0.0.1 --dir "$folder" --aclfile "$folder/users.acl" >/dev/null &
server=$!
timeout 10 sh -c "until redis-cli -p $port --user default --pass admin --no-auth-warning PING 2>&1 | grep -q PONG; do sleep 0.1; done"
.build/release/rollcall doctor --config Config/worker.yaml --set "redis.url=redis://rollcall@127.0.0.1:$port" \
    --set "redis.password_file=$folder/password" --set "auth.secret_file=$folder/secrets/jwt_secret" \
    --set edge.port=0 --set admin.port=0

step a backup that restores, as docs/operating.md says
admin() { at=$1; shift; redis-cli -p "$at" --user default --pass admin --no-auth-warning "$@"; }
admin "$port" HSET 'members:{c}' '{managed}' 1 alice Alice >/dev/null
admin "$port" --rdb "$folder/members.rdb" >/dev/null 2>&1
mkdir "$folder/restored"
cp "$folder/members.rdb" "$folder/restored/dump.rdb"
restored() {
    redis-server "$folder/redis.conf" --port "$((port + 7))" --bind 127.0.0.1 --dir "$folder/restored" \
        --aclfile "$folder/users.acl" "$@" >/dev/null &
    timeout 10 sh -c "until redis-cli -p $((port + 7)) --user default --pass admin --no-auth-warning PING 2>&1 | grep -q PONG; do sleep 0.1; done"
}
restored --appendonly no
admin "$((port + 7))" CONFIG SET appendonly yes >/dev/null
until admin "$((port + 7))" INFO persistence | grep -q aof_rewrite_in_progress:0; do sleep 1; done
admin "$((port + 7))" SHUTDOWN || true
restored --appendonly yes
[ "$(admin "$((port + 7))" HGET 'members:{c}' alice)" = Alice ] || { echo "the backup restored nothing" >&2; exit 1; }
admin "$((port + 7))" SHUTDOWN || true

step nginx and Caddy, as docs/operating.md says
# Pages of the proxy's host may connect, which takes the header Host.
.build/release/rollcall worker --set "redis.url=redis://rollcall@127.0.0.1:$port" --set "redis.password_file=$folder/password" \
    --set "auth.secret_file=$folder/secrets/jwt_secret" --set "edge.port=$((port + 4))" --set admin.port=0 >/dev/null 2>&1 &
others="$others $!"
recipe() {
    sed -n "/^\`\`\`$1/,/^\`\`\`$/p" docs/operating.md |
        sed "/^\`\`\`/d; s|127.0.0.1:80\b|127.0.0.1:$2|; s|127.0.0.1:8080|127.0.0.1:$((port + 4))|; s|127.0.0.1:8090|127.0.0.1:1|"
}
{
    echo "pid $folder/nginx.pid; error_log stderr; daemon off; events {} http { access_log off;"
    recipe nginx "$((port + 5))"
    echo "}"
} >"$folder/nginx.conf"
nginx -p "$folder" -c "$folder/nginx.conf" 2>/dev/null &
others="$others $!"
{ echo "{ admin off
}"; recipe caddy "$((port + 6))"; } >"$folder/Caddyfile"
HOME=$folder caddy run --adapter caddyfile --config "$folder/Caddyfile" 2>/dev/null &
others="$others $!"
for proxy in 5 6; do
    page() {
        curl -s -o /dev/null -m 1 -w '%{http_code}' -H 'Connection: Upgrade' -H 'Upgrade: websocket' \
            -H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==' \
            -H "Origin: http://$1" "http://127.0.0.1:$((port + proxy))$2" || true
    }
    for i in 1 2 3 4 5 6 7 8 9 10; do [ "$(page "127.0.0.1:$((port + proxy))" /v1/connect)" = 101 ] && break || sleep 1; done
    got="$(page "127.0.0.1:$((port + proxy))" /v1/connect) $(page evil.example /v1/connect) $(page x /)"
    [ "$got" = "101 403 200" ] || { echo "proxy $proxy answered $got" >&2; exit 1; }
done

step HAProxy, before a worker whose Redis is away for 60 s
# As it is shipped, but for the names and ports of its network.
sed "/^resolvers/,/^$/d; s| resolvers containers init-addr none||; s|:8443 .*|127.0.0.1:$((port + 1))|
    s|-template worker 32 worker:8080| w1 127.0.0.1:$((port + 2))|; s|check port 8081|check port $((port + 3))|" \
    Config/haproxy.cfg >"$folder/haproxy.cfg"
.build/release/rollcall worker --set "redis.url=redis://rollcall@127.0.0.1:$port" --set auth.mode=insecure \
    --set "redis.password_file=$folder/password" --set "edge.port=$((port + 2))" --set "admin.port=$((port + 3))" \
    >/dev/null 2>&1 &
others="$others $!"
haproxy -f "$folder/haproxy.cfg" >/dev/null &
others="$others $!"
answer() {
    curl -s -o /dev/null -m 1 -w '%{http_code}' -H 'Connection: Upgrade' -H 'Upgrade: websocket' \
        -H 'Sec-WebSocket-Version: 13' -H "Sec-WebSocket-Key: $(head -c 16 /dev/urandom | base64)" \
        "http://127.0.0.1:$((port + 1))/v1/connect" || true
}
for i in 1 2 3 4 5 6 7 8 9 10; do [ "$(answer)" = 101 ] && break || sleep 1; done
kill "$server"
wait "$server" || true
server=
for i in $(seq 60); do
    got=$(answer)
    [ "$got" = 101 ] || { echo "after $i s without Redis, HAProxy answered $got" >&2; exit 1; }
done

step the installed unit
DESTDIR=$folder/root scripts/install .build/release/rollcall
sed "s|/usr/local/bin/rollcall|$PWD/.build/release/rollcall|" \
    "$folder/root/usr/local/lib/systemd/system/rollcall@.service" >"$folder/rollcall@a.service"
systemd-analyze verify "$folder/rollcall@a.service"

step the image of docker-compose.yml
docker-compose -f docker-compose.yml config --quiet

step names, with a DNS server that answers late, or not at all for IPv6, or names a silent server first
cat >"$folder/dns.py" <<'EOF'
import socket, sys, threading, time
mode, server = sys.argv[1], socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
mute = socket.create_server(("127.0.0.1", 6379)) if mode == "silent" else None
def answer(question, client):
    end = question.index(b"\0", 12) + 5
    isV4 = question[end - 3] == 1
    if mode == "ipv4" and not isV4:
        return
    time.sleep(0.9 if mode == "late" else 0)
    found = [b"\x7f\0\0" + last for last in ((b"\1", b"\2") if mode == "silent" else (b"\2",))] if isV4 else []
    body = b"".join(b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + address for address in found)
    server.sendto(question[:2] + b"\x81\x80\0\1\0" + bytes([len(found)]) + b"\0" * 4 + question[12:end] + body, client)
while True:
    threading.Thread(target=answer, args=server.recvfrom(512), daemon=True).start()
EOF
cat >"$folder/dns.sh" <<'EOF'
ip link set lo up
echo 'nameserver 127.0.0.1' >"$1/resolv.conf"
mount --bind "$1/resolv.conf" /etc/resolv.conf
python3 "$1/dns.py" "$2" &
redis-server --bind 127.0.0.2 --save '' >/dev/null &
sleep 1
timeout 5 .build/release/rollcall worker --set redis.url=redis://redis.example --set auth.mode=insecure | grep '^ready'
kill %1 %2
EOF
for mode in late ipv4 silent; do unshare -r -n -m bash "$folder/dns.sh" "$folder" "$mode"; done

step alerts and scrape configuration
promtool check rules Config/prometheus/alerts.yaml
promtool test rules Tests/alerts.yaml
sed "s|/etc/prometheus/||g; /credentials_file/d" Config/prometheus/prometheus.yaml >"$folder/prometheus.yaml"
cp Config/prometheus/alerts.yaml "$folder"
promtool check config --syntax-only "$folder/prometheus.yaml"

step Kubernetes
echo 'kubernetes-validate==1.37.0' >"$folder/requirements.txt"
sh Tests/venv.sh .build-venv-deploy "$folder/requirements.txt" -m kubernetes_validate --strict Config/kubernetes.yaml
