"""What Redis alone spends on what grows with workers, with subscribers and with primaries."""

import contextlib
import pathlib
import re
import select
import socket
import subprocess
import tempfile
import time

from deployment import ROOT, Process, Redis, eventually, free_port, stopping
from meter import processor

SCRIPTS = ROOT / "Sources/RollcallRedis/Scripts"
KIB = 1024


def script(redis, *names):
    source = "\n".join((SCRIPTS / f"{name}.lua").read_text(encoding="utf-8") for name in names)
    return redis.ask("SCRIPT", "LOAD", source)


def told(redis, section, name):
    return int(redis.ask("INFO", section).split(f"{name}:")[1].split()[0])


def cost(redis, count, *command, clients=1, pipeline=1, during=lambda: None):
    """Redis's processor time for one command, in microseconds."""
    start = processor(redis)
    with subprocess.Popen(
            ["redis-benchmark", "-p", str(redis.port), "-n", str(count), "-c", str(clients), "-P", str(pipeline), "-q",
             *command], stdout=subprocess.DEVNULL) as benchmark:
        while benchmark.poll() is None:
            during()
            time.sleep(0.001)
    assert benchmark.returncode == 0
    return (processor(redis) - start) / count * 1e6


def encoded(*words):
    """A command as it goes over the wire."""
    return "".join([f"*{len(words)}\r\n", *(f"${len(word)}\r\n{word}\r\n" for word in words)]).encode()


class Client:
    """A connection that sends, and throws away what comes."""

    def __init__(self, redis):
        self.socket = socket.create_connection(("127.0.0.1", redis.port))
        self.socket.setblocking(False)

    def drain(self):
        with contextlib.suppress(BlockingIOError):
            while self.socket.recv(1 << 20):
                pass

    def send(self, *words):
        self.socket.sendall(encoded(*words))

    def subscribe(self, command, channels):
        """A command for each channel, as on a cluster; all are confirmed when this returns."""
        confirmed = 0
        for start in range(0, len(channels), 500):
            part = channels[start:start + 500]
            self.socket.setblocking(True)
            self.socket.sendall(b"".join(encoded(command, channel) for channel in part))
            while confirmed < start + len(part):
                confirmed += len(re.findall(rb"\*3\r\n", self.socket.recv(1 << 20)))
        self.socket.setblocking(False)


def signals(redis):
    """The script that a typing signal calls, in a room where nobody listens."""
    digest = script(redis, "time", "membership", "typing_set", "typing_signal")
    call = ["EVALSHA", digest, "3", "typing:{c}:user", "typing:{c}", "members:{c}", "user", "phone",
            str(int(time.time() * 1000) + 3_600_000), "3000", "open"]
    yield "a signal, one at a time", "µs", cost(redis, 30_000, *call)
    yield "a signal, sixteen in a pipeline", "µs", cost(redis, 200_000, *call, clients=8, pipeline=16)


def heartbeats(redis):
    """A heartbeat's reply names every worker."""
    digest = script(redis, "time", "heartbeat")
    for workers in (1, 100, 1_000):
        end = str(int(time.time() * 1000) + 3_600_000)
        redis.ask("DEL", "{workers}")
        redis.ask("ZADD", "{workers}", *(word for number in range(workers)
                                         for word in (end, f"worker-{number:04}.3f9a2c417b06")))
        call = ["EVALSHA", digest, "2", "{workers}", "{workers}:worker-0000.3f9a2c417b06", "renew",
                "worker-0000.3f9a2c417b06", "5000", "sessions", "10000"]
        count = 200_000 // (workers + 20)
        before = told(redis, "stats", "total_net_output_bytes")
        spent = cost(redis, count, *call)
        yield f"a heartbeat among {workers} workers", "µs", spent
        sent = told(redis, "stats", "total_net_output_bytes") - before
        yield f"a heartbeat among {workers} workers: its reply", "bytes", sent / count


def messages(redis):
    """What a message costs for each connection that hears it."""
    channel, payload = "presence:{user1}", "x" * 130
    spent = {}
    for receivers in (0, 1, 16, 64):
        clients = [Client(redis) for _ in range(receivers)]
        for client in clients:
            client.subscribe("SUBSCRIBE", [channel])

        def drain():
            for ready in select.select([client.socket for client in clients], [], [], 0)[0] if clients else []:
                with contextlib.suppress(BlockingIOError):
                    ready.recv(1 << 20)

        spent[receivers] = cost(redis, 5_000, "PUBLISH", channel, payload, during=drain)
        for client in clients:
            client.socket.close()
        time.sleep(0.2)
    yield "a message that nobody hears", "µs", spent[0]
    yield "a message that one connection hears: more", "µs", spent[1] - spent[0]
    yield "a message that 64 connections hear: more, for each", "µs", (spent[64] - spent[0]) / 64


def subscriptions(redis, command, count=100_000):
    channels = [f"presence:{{user{number:07}}}" for number in range(count)]
    clients = [Client(redis) for _ in range(3)]
    before = told(redis, "memory", "used_memory")
    for place, client in enumerate(clients):
        spent = processor(redis)
        client.subscribe(command, channels)
        after = told(redis, "memory", "used_memory")
        if place != 1:
            name = "a channel, and its first subscription" if place == 0 else "a further subscription"
            yield f"{command}: {name}", "bytes", (after - before) / count
            yield f"{command}: {name}", "µs", (processor(redis) - spent) / count * 1e6
        before = after
    for client in clients:
        client.socket.close()


def connections(redis, count=500):
    before = told(redis, "memory", "used_memory")
    clients = [Client(redis) for _ in range(count)]
    for client in clients:
        client.socket.sendall(b"PING\r\n")
    time.sleep(5)
    # By now their buffers have shrunk to the size of an idle connection's.
    yield "a connection", "KiB", (told(redis, "memory", "used_memory") - before) / count / KIB
    for client in clients:
        client.socket.close()
    yield "a PING", "µs", cost(redis, 30_000, "PING")


class Node(Process):
    """A server of a cluster, without keys."""

    def __init__(self, port):
        self.port, folder = port, tempfile.mkdtemp(prefix="rollcall-units-")
        super().__init__(
            ["redis-server", "--port", str(port), "--cluster-enabled", "yes", "--save", "", "--dir", folder,
             "--cluster-port", str(free_port())], stdout=subprocess.DEVNULL)
        eventually("a node answers", lambda: self.ask("PING") == "PONG")

    ask = Redis.ask


def clusters():
    """What workers ask twice a second, each."""
    for count in (1, 3, 6):
        with contextlib.ExitStack() as stack:
            nodes = [stack.enter_context(stopping(Node(free_port()))) for _ in range(count)]
            for place, node in enumerate(nodes):
                first, last = place * 16384 // count, (place + 1) * 16384 // count - 1
                node.ask("CLUSTER", "ADDSLOTSRANGE", str(first), str(last))
                node.ask("CLUSTER", "SET-CONFIG-EPOCH", str(place + 1))
                if place:
                    bus = re.search(r"@(\d+)", node.ask("CLUSTER", "NODES"))[1]
                    nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", str(node.port), bus)
            eventually("the cluster is well", lambda: all(
                f"cluster_known_nodes:{count}\n" in (info := node.ask("CLUSTER", "INFO"))
                and "cluster_state:ok" in info for node in nodes), within=30)
            if count == 1:
                yield from subscriptions(nodes[0], "SSUBSCRIBE")
            yield f"CLUSTER SLOTS and CLUSTER INFO, of {count}", "µs", (
                cost(nodes[0], 5_000, "CLUSTER", "SLOTS") + cost(nodes[0], 5_000, "CLUSTER", "INFO"))


def measure():
    """What is measured, with its unit and its value, by name."""
    found = {}
    for part in (signals, heartbeats, messages, lambda redis: subscriptions(redis, "SUBSCRIBE"), connections):
        with stopping(Redis()) as redis:
            found |= {f"{name}, {unit}": (unit, value) for name, unit, value in part(redis)}
    return found | {f"{name}, {unit}": (unit, value) for name, unit, value in clusters()}
