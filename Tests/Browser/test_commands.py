"""The commands, programs and files that the documentation shows, as they stand there but for the ports."""

import contextlib
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import pytest
import websocket

from deployment import PROGRAM, ROOT, eventually, watch_over

# Blocks that cannot be run here, by what they contain, and why.
NOT_RUN = {
    "$ make run": "it builds, and serves until it is stopped; test_demo_*.py play its page",
    "$ swift package init": "two builds of minutes; scripts/check-snippets compiles the program",
    "$ swift run hello": "the same",
    "$ docker compose": "needs a Docker engine; the workflow of CI starts these",
    "$ docker build": "needs a Kubernetes cluster",
    "$ make release": "installs into the system; Tests/deploy.sh does so in a folder, in make soak",
    "$ sudo systemctl": "needs systemd",
    "Benchmarks/units.py 10000": "it measures for minutes, and judges nothing",
    "$ redis-server redis.conf --appendonly no": "Tests/deploy.sh restores a backup so, in make soak",
    "redis://10.0.0.7": "an address of another machine",
    "npm install": "no test may use npm's registry; test_react.py loads the same files",
    "$ pip install websockets": "the test below runs the same program, with its own packages",
    "```nginx": "Tests/deploy.sh runs it, in make soak",
    "```caddy": "Tests/deploy.sh runs it, in make soak",
    "https://w1.internal:8081": "a host of yours; AdminTLSTests do the same",
    "scrape_configs:": "Prometheus's; promtool checks Config/prometheus in make soak",
    "ACL SETUSER doctor": "DoctorTests give a user these rights",
    "key=$(openssl kdf": "AdminRoleTests run it",
    "user default off": "an extract of Config/redis.acl, which Tests/deploy.sh loads",
    "ROLLCALL_EDGE_PORT=8090": "a file of variables; SettingTests name them",
    "[Service]": "a drop-in of systemd",
    ".package(url:": "the address is not known yet",
    "Auth.auth()": "Firebase's SDK exists on Apple's platforms only",
    "#Preview": "a macro of Apple's SDK",
    "RollcallWorker ───": "a drawing",
    "loop = Loop(": "a drawing, which scripts/check-docs compares with the code",
    "$ cat fullchain.pem": "needs a Docker engine and a real certificate",
    '{"questions": [{"user"': "what workers send, and are answered; Examples/Servers/try.sh runs both sides",
    "connected to w2.28a2222a6c16 as bob": "what the commands print, which the tests below expect",
}
CHECKED = ("swift", "js", "jsx", "json", "yaml")  # by check-snippets, test_docs.py and scripts/make-docs


def blocks():
    """All blocks of code: the page, how the fence begins, and the text."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for fence, code in re.findall(r"^ *(```[^\n]*)\n(.*?)^ *```$", page.read_text(encoding="utf-8"), re.M | re.S):
            yield page.name, fence, code


def block(page, part):
    found, = [code for name, fence, code in blocks() if name == page and part in f"{fence}\n{code}"]
    return found


def commands(code):
    """The commands of a console block, without what they print, and without what ends a line for people."""
    lines = re.findall(r"^\$ ((?:.*\\\n)*.*)$", code, re.M)
    return "\n".join(re.sub(r" {2,}# .*$", "", line) for line in lines)


# A daemon would outlive the test.
SERVER = """
import os, socket, sys, time
arguments = sys.argv[1:]
if "--port" not in arguments:
    arguments += ["--port", "%d"]
if "--daemonize" in arguments:
    at = arguments.index("--daemonize")
    del arguments[at:at + 2]
    if os.fork():
        port = next(int(value) for name, value in zip(arguments, arguments[1:]) if name in ("--port", "--tls-port") and value != "0")
        for _ in range(300):
            with socket.socket() as there:
                if there.connect_ex(("127.0.0.1", port)) == 0:
                    os._exit(0)
            time.sleep(0.1)
        os._exit(1)
os.execv("%s", ["redis-server", *arguments, "--bind", "127.0.0.1"])
"""


def quiet_ports():
    """Free ports below those of outgoing connections, which could take one before it is used. Nodes of a cluster listen on a
    second one, 10,000 above."""
    for port in itertools.chain(range(11_000 + os.getpid() % 10_000, 22_000), range(11_000, 22_000)):
        with socket.socket() as first, socket.socket() as second, contextlib.suppress(OSError):
            first.bind(("127.0.0.1", port))
            second.bind(("127.0.0.1", port + 10_000))
            yield port


class Running:
    """A process with all that it starts. Its output goes to a file, since what stays in the background would keep a pipe open."""

    def __init__(self, arguments, folder, environment):
        handle, name = tempfile.mkstemp(dir=folder)
        self.file, self.read = pathlib.Path(name), 0
        self.child = subprocess.Popen(
            arguments, cwd=folder, env=environment, start_new_session=True, stdin=subprocess.DEVNULL, stdout=handle, stderr=subprocess.STDOUT)
        os.close(handle)
        self.watcher = watch_over(f"-{self.child.pid}")

    def output(self):
        return self.file.read_text(encoding="utf-8")

    def line(self, start=""):
        """The next line of its output that begins so."""
        def found():
            lines = self.output().splitlines(keepends=True)
            for index in range(self.read, len(lines)):
                if lines[index].startswith(start) and lines[index].endswith("\n"):
                    self.read = index + 1
                    return lines[index]
        return eventually(f"a line {start}", found)

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.watcher.communicate(b"done\n")


class Sandbox:
    """A folder like a clone, in which the ports that the documentation names are free ones, and what is started ends."""

    PORTS = (6379, 6380, 7001, 7002, 7003, 8080, 8081, 8090, 8091, 26379, 26380, 26381)

    def __init__(self, folder):
        self.folder = folder
        self.ports = dict(zip(self.PORTS, quiet_ports()))
        for name in ("Config", "scripts", "Examples"):
            (folder / name).symlink_to(ROOT / name)
        tools = folder / "bin"
        tools.mkdir()
        # The defaults of --url and --admin are no text of the documentation.
        self.tool("rollcall", f'''case "$1 $*" in
            *--url*|*--admin*) ;;
            watch*|type*) set -- "$@" --url ws://127.0.0.1:{self.ports[8080]}/v1/connect ;;
            explain*|workers*|send-away*) set -- "$@" --admin http://127.0.0.1:{self.ports[8081]} ;;
            esac
            exec "{PROGRAM}" "$@"''')
        self.tool("redis-cli", f'''case " $* " in *" -p "*|*" --cluster "*) set -- "$@" ;; *) set -- -p {self.ports[6379]} "$@" ;; esac
            exec {shutil.which("redis-cli")} "$@"''')
        self.tool("redis-server", f"exec {sys.executable} {folder}/bin/server.py \"$@\"")
        (tools / "server.py").write_text(SERVER % (self.ports[6379], shutil.which("redis-server")), encoding="utf-8")
        self.environment = {
            **os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "ROLLCALL_REDIS_URL": f"redis://127.0.0.1:{self.ports[6379]}",
            "ROLLCALL_EDGE_PORT": str(self.ports[8080]), "ROLLCALL_ADMIN_PORT": str(self.ports[8081]),
        }
        self.running = []

    def tool(self, name, script):
        file = self.folder / "bin" / name
        file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        file.chmod(0o755)

    def moved(self, text):
        return re.sub(r"(?<![\d.])(%s)(?!\d)" % "|".join(map(str, self.PORTS)), lambda found: str(self.ports[int(found[0])]), text)

    def start(self, script, options=()):
        """Runs a script of bash in the background, until the test ends, however it ends."""
        running = Running(["bash", *options, "-c", self.moved(script)], self.folder, self.environment)
        self.running.append(running)
        return running

    def run(self, script, within=60):
        """What a script of bash prints, whose every command must succeed. What it leaves in the background goes on."""
        running = self.start(script, ("-euo", "pipefail"))
        status = running.child.wait(within)
        assert status == 0, running.output()
        return running.output()

    def redis(self):
        self.run("redis-server --save '' --daemonize yes && until redis-cli PING; do sleep 0.1; done")

    def worker(self, *settings):
        """A worker, once it is ready."""
        running = self.start(" ".join(["exec rollcall worker --set auth.mode=insecure --set worker.id=w1", *settings]))
        running.line("ready ")
        return running

    def close(self):
        for each in self.running:
            each.stop()


@pytest.fixture
def sandbox(tmp_path):
    box = Sandbox(tmp_path)
    yield box
    box.close()


def test_each_block_is_run_or_says_why_not():
    source = pathlib.Path(__file__).read_text(encoding="utf-8")
    run = re.findall(r'block\("([\w.-]+)", "((?:[^"\\]|\\.)*)"\)', source)
    stale = [part for part in NOT_RUN if not any(part in f"{fence}\n{code}" for _, fence, code in blocks())]
    assert stale == [], "nothing shows these any longer"
    for page, fence, code in blocks():
        text = f"{fence}\n{code}"
        assert fence[3:].split(" ")[0] in CHECKED and " " not in fence or any(part in text for part in NOT_RUN) or any(
            name == page and part in text for name, part in run), f"{page}: a block that no test runs: {code[:80]}"
        done = subprocess.run(["bash", "-n", "-c", commands(code)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{page}: {code[:80]}: {done.stderr}"


def test_getting_started(sandbox):
    start = commands(block("getting-started.md", "$ redis-server --save")).replace('export PATH="$PWD/.build/debug:$PATH"\n', "")
    sandbox.redis()
    sandbox.start(start.split("\n", 1)[1] + "\nwait")
    eventually("both workers have a lease", lambda: sandbox.run("redis-cli ZCARD '{workers}'").strip() == "2")
    watch, subscribe = commands(block("getting-started.md", "$ rollcall watch --as bob")).split("\n")
    subscriber, bob = sandbox.start(subscribe.replace(" | paste - - -", "")), sandbox.start("exec " + watch)
    shown = [bob.line() for _ in range(3)]
    assert subscriber.line() == "subscribe\n"
    first, *asked = commands(block("getting-started.md", "$ rollcall type c42")).split("\n")
    sandbox.start(first + "\nwait")
    shown.append(bob.line())
    shown.append(bob.line())
    expected = re.sub(r"^\$ .*\n", "", block("getting-started.md", "$ rollcall type c42"), flags=re.M)

    def plain(text):
        return re.sub(r"\d{6,}(-\w+)?|w\d\.\w+", "…", text)

    answers = sandbox.run("\n".join(asked)).replace("iphone\tAlice", '"iphone\\tAlice"')
    printed = re.sub(r'(?m)^(?:\(integer\) | *\d+\) )?"?|"$', "", expected)
    assert plain(re.sub(r'(?m)^"|"$', "", answers)) == plain(printed)
    shown += [bob.line() for _ in range(2)]
    wanted = block("getting-started.md", "connected to w2").splitlines(keepends=True)
    assert [plain(line) for line in shown] == [plain(line) for line in wanted]


def test_redis_cli(sandbox):
    sandbox.redis()
    sandbox.worker()
    address = f"ws://127.0.0.1:{sandbox.ports[8080]}/v1/connect"
    alice = websocket.create_connection(address)
    for message in ({"type": "hello", "token": "alice Alice", "device": "phone"}, {"type": "join", "conversation": "c42"},
                    {"type": "typing", "conversation": "c42", "typing": True}, {"type": "join", "conversation": "doc1", "here": True},
                    {"type": "enter", "conversation": "doc1", "data": {"section": 4}, "id": 1}):
        alice.send(json.dumps(message))
    eventually("she is here", lambda: sandbox.run("redis-cli HLEN 'here:{doc1}'").strip() == "1")
    seen = sandbox.run(commands(block("here.md", "HLEN")))
    assert "alice" in seen and '{"section":4}' in seen
    first, rest = commands(block("redis-data.md", "PSUBSCRIBE")).split("\n", 1)
    assert sandbox.start("exec " + first).line() == "psubscribe\n"
    seen = sandbox.run(rest)
    assert "alice phone" in seen and "device:phone" in seen and "\nw1." in seen
    moved = json.loads(sandbox.run(commands(block("operating.md", "v1/rebalance"))))
    assert (moved["moving"], moved["workers"]) == (0, 1)
    assert "ERR" not in sandbox.run(commands(block("admin.md", "HSET 'members")))
    lines = commands(block("cli.md", "$ rollcall watch --as bob -c c42 -c")).split("\n")
    watched = sandbox.start("exec " + lines[0])
    watched.line("connected to w1.")
    if shutil.which("jq"):
        counted = sandbox.start(commands(block("cli.md", "| jq")))
        assert counted.line() == "1\n"
    seen = sandbox.run(commands(block("admin.md", "$ rollcall explain alice")))
    assert seen.startswith("alice is online: phone is active on w1.") and "doc1 on phone" in seen
    alice.close()
    assert "phone" in sandbox.run(commands(block("admin.md", "$ rollcall send-away")))
    eventually("she is gone", lambda: sandbox.run("redis-cli HGET 'presence:{alice}' status").strip() == "offline")


def test_servers(sandbox):
    sandbox.redis()
    (sandbox.folder / "secrets").mkdir()
    for name in ("app_token", "admin_token"):
        file = sandbox.folder / "secrets" / name
        file.write_text(f"{name}-0123456789\n", encoding="utf-8")
        file.chmod(0o600)
    sandbox.worker("--set events.enabled=true --set admin.token_file=secrets/admin_token --set admin.app_token_file=secrets/app_token")
    start = commands(block("servers.md", "$ export ROLLCALL")) + "\n"
    assert '"advice":"push"' in sandbox.run(start + commands(block("servers.md", "/v1/reach")))
    sandbox.run(start + commands(block("servers.md", "typing/ada")))
    assert '"type":"reset"' in sandbox.run(start + commands(block("servers.md", "/v1/events?after=0")))
    assert '"status":"offline"' in sandbox.run(start + commands(block("servers.md", "/v1/presence -H")))
    assert "\nrollcall_ready " in sandbox.run(commands(block("metrics.md", "$ curl")))
    admin = commands(block("admin.md", "$ curl -s -X PUT")).replace("curl -s", 'curl -s -H "Authorization: Bearer $(cat secrets/admin_token)"')
    assert sandbox.run(admin) == '{"members":{"alice":"Alice","bob":"Bob"}}'
    person = commands(block("privacy.md", "/blocked/mallory")).replace("curl -s", 'curl -s -H "Authorization: Bearer $(cat secrets/app_token)"')
    decided = json.loads("{" + sandbox.run(person).rsplit('{"blocked"', 1)[1].join(('"blocked"', "")))
    assert list(decided["blocked"]) == ["mallory"] and decided["availability"] == "dnd"


def test_operators(sandbox):
    sandbox.redis()
    secrets, worker = commands(block("operating.md", "--set worker.id=w1")).split("\n", 1)
    sandbox.run(secrets)
    doctor = sandbox.start("exec " + commands(block("doctor.md", "$ rollcall doctor")))
    assert doctor.child.wait(60) in (0, 1) and "Redis " in doctor.output()
    running = sandbox.start("exec " + worker)
    running.line("ready worker=w1.")


def test_tokens(sandbox):
    sandbox.redis()
    made = sandbox.run(commands(block("identity.md", "$ rollcall token"))).splitlines()[-1:]
    sandbox.run("cat >keys.sh <<'END'\n" + block("identity.md", "```sh keys.sh") + "END\nsh keys.sh")
    for name, part in {"mint.py": block("identity.md", "```python mint.py"), "keys.mjs": block("identity.md", "```js keys.mjs"),
                       "token.mjs": block("identity.md", "```js token.mjs")}.items():
        (sandbox.folder / name).write_text(part, encoding="utf-8")
        made += sandbox.run(f"{sys.executable if name.endswith('.py') else 'node'} {name}").split()
    assert len(made) == 3
    sandbox.worker("--set auth.mode=jwt --set auth.secret_file=secrets/jwt_secret --set auth.jwks_file=keys.json")
    for token in made:
        connection = websocket.create_connection(f"ws://127.0.0.1:{sandbox.ports[8080]}/v1/connect")
        connection.send(json.dumps({"type": "hello", "token": token, "device": "phone"}))
        welcome = json.loads(connection.recv())
        assert (welcome["type"], welcome["user"], bool(welcome["join"])) == ("welcome", "alice", True)
        connection.close()


def test_a_client_in_python(sandbox):
    sandbox.redis()
    worker = sandbox.worker()
    (sandbox.folder / "client.py").write_text(block("write-a-client.md", "```python client.py"), encoding="utf-8")
    url = "ws://127.0.0.1:8080/v1/connect"
    first = sandbox.start(f'exec {sys.executable} client.py {url} "alice Alice" c42')
    assert first.line() == "nobody typing, 0 in all\n"
    second = sandbox.start(f'exec {sys.executable} client.py {url} "bob Bob" c42')
    assert first.line() == "Bob typing, 1 in all\n"
    assert "typing," in second.line()
    assert first.line() == "nobody typing, 0 in all\n"
    worker.child.kill()
    sandbox.worker()
    while "typing," not in (line := first.line()):  # it is back
        assert "'unavailable'" in line  # a worker accepts devices before it holds its lease, and takes no typing until then
    refused = sandbox.start(f'exec {sys.executable} client.py {url} "{{" c42')
    assert refused.child.wait(30) == 1 and "something must be fixed first" in refused.output()


def test_redis_with_tls(sandbox):
    script, started = commands(block("redis.md", "$ openssl req -x509")).rsplit("\n", 1)
    sandbox.run(script + "\nexport >exports")
    worker = sandbox.start("source exports\nexec " + started)
    worker.line("ready worker=w1.")


def test_redis_behind_sentinels(sandbox):
    lines = commands(block("redis.md", "sentinel monitor mymaster")).split("\nrollcall worker")
    sandbox.run(lines[0] + "\nexport >exports")
    # One that has still the address of the single server.
    sandbox.worker("--set worker.id=w0 --set edge.port=8090 --set admin.port=8091")
    started, *then = lines[1].split("\n")
    worker = sandbox.start("source exports\nexec rollcall worker" + started)
    worker.line("ready worker=w1.")
    assert sandbox.run("redis-cli ZCARD '{workers}'").strip() == "2"
    eventually("the sentinels know the replica and each other", lambda: "num-other-sentinels\n2" in sandbox.run(
        "redis-cli -p 26379 SENTINEL MASTER mymaster") and "num-slaves\n1" in sandbox.run("redis-cli -p 26379 SENTINEL MASTER mymaster"))
    sandbox.run(then[0])
    eventually("a replica takes over", lambda: str(sandbox.ports[6380]) in sandbox.run(then[1]), within=60)
    eventually("the worker follows", lambda: sandbox.run("redis-cli -p 6380 ZCARD '{workers}'").strip() != "0")
    # To upgrade: the ports have changed their parts, and the sentinels must know the replica.
    sandbox.run("redis-server --port 6379 --save '' --replicaof '127.0.0.1 6380' --daemonize yes")
    eventually("the sentinel knows the replica", lambda: "master-link-status\nok" in sandbox.run(
        "redis-cli -p 26379 SENTINEL REPLICAS mymaster"), within=60)
    upgrade = commands(block("redis.md", "SENTINEL FAILOVER")).replace("6380", "6379").replace("-p 6379", "-p 6380")
    sandbox.run(upgrade.replace("--port 6379", "--port 6380"), within=120)
    eventually("the worker follows", lambda: sandbox.run("redis-cli -p 6379 ZCARD '{workers}'").strip() != "0")


def test_redis_cluster(sandbox):
    script, rest = commands(block("redis.md", "--cluster create")).split("\nrollcall worker")
    sandbox.run(script)
    started, slot, subscribe = rest.split("\n")
    eventually("the cluster is whole", lambda: "cluster_state:ok" in sandbox.run("redis-cli -p 7001 CLUSTER INFO"))
    worker = sandbox.start("exec rollcall worker" + started)
    worker.line("ready worker=w1.")
    assert sandbox.run(slot).strip() == "7547"
    assert sandbox.start("exec " + subscribe).line() == "ssubscribe\n"


def test_the_readme(sandbox):
    # Docker is not here; the secrets that it starts from are made.
    sandbox.run(commands(block("README.md", "$ scripts/make-secrets")).split("\n")[0])
    assert (sandbox.folder / "secrets/edge_certificate.pem").exists()
