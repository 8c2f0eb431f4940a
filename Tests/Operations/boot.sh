# Runs inside a machine booted by systemd: an operator's steps with two workers. Prints the results.
export PATH=/opt/rollcall/bin:$PATH

show() { systemctl show --property="$2" --value "rollcall@$1"; }

systemctl start redis rollcall@a rollcall@b && echo "started"
echo "status: $(show a StatusText)"
echo "other: $(show b StatusText)"
grep -E '^(CapEff|NoNewPrivs|Seccomp):' "/proc/$(show a MainPID)/status"
[ "$(stat --format=%u "/proc/$(show a MainPID)")" -gt 60000 ] && echo "a user of its own"

token=$(rollcall token alice --secret-file /etc/rollcall/secrets/jwt_secret)
ROLLCALL_TOKEN=$token timeout 20 rollcall type c42 --for 200ms 2>/dev/null && echo "somebody typed"

before=$(show a MainPID)
systemctl restart rollcall@a && [ "$(show a MainPID)" != "$before" ] && echo "restarted"
systemctl kill --signal=KILL rollcall@a
for _ in $(seq 100); do [ "$(show a NRestarts)" = 1 ] && [ "$(show a ActiveState)" = active ] && break; sleep 0.1; done
echo "after a crash: $(show a ActiveState)"
systemctl stop rollcall@a && echo "stopped: $(show a Result)"

echo ROLLCALL_EDGE_PROT=8090 >>/etc/rollcall/b.env
systemctl restart rollcall@b 2>/dev/null
sleep 2
echo "with a wrong configuration: $(show b ActiveState) $(show b ExecMainStatus), again $(show b NRestarts) times"
journalctl --no-pager --output=cat --unit='rollcall@*' | sed 's/^/log: /'
systemctl --force exit
