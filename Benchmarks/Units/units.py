"""Measures what one of each thing costs: a device, a connection, a signal, a message to a socket, a subscription.

A private Redis, one worker with default settings, and devices over bare sockets (crowd.py): they connect, follow each
other, are at rest, type, look away and back, and are gone. Then Redis alone (alone.py): what grows with workers,
subscribers and primaries. Prints tables in Markdown.

Usage: units.py [--json FILE] [--tls] [DEVICES...], by default 2000 15000; the program is that of $ROLLCALL, else
.build/debug/rollcall. With --tls devices speak TLS to the worker, and nothing is asked of Redis alone.
"""

import argparse
import asyncio
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests/Browser"))

import alone  # noqa: E402
from certificate import Certificate  # noqa: E402
from crowd import ROOM, WATCHED, Crowd  # noqa: E402
from deployment import Redis, Worker, stopping  # noqa: E402
from meter import Meter  # noqa: E402

REST = 10
# This many per second keep a worker about half busy. Far fewer would mostly measure how it wakes up.
RATE = 4_000
# Event loops report their counts once a second, and the last messages must arrive.
SETTLE = 2.5
KIB = 1024


class Run:
    """One worker with so many devices, from the first to the last."""

    def __init__(self, meter, crowd):
        self.meter, self.crowd, self.rows = meter, crowd, {}
        self.rest = None

    def note(self, name, unit, value):
        self.rows[name] = (unit, value)

    async def at_rest(self, name):
        await asyncio.sleep(SETTLE)
        start = self.meter.read()
        await asyncio.sleep(REST)
        end = self.meter.read()
        self.rest = end - start
        for who, spent in (("worker", self.rest.worker), ("Redis", self.rest.redis)):
            self.note(f"{name}: {who}", "ms a second", spent / self.rest.time * 1e3)
        self.note(f"{name}: commands", "a second", self.rest.commands / self.rest.time)
        self.note(f"{name}: edge, out and in", "bytes a second",
                  (self.rest.edge_out + self.rest.edge_in) / self.rest.time)
        return end

    async def during(self, work):
        """What some work came to, beyond what would have come at rest."""
        start = self.meter.read()
        await work
        await asyncio.sleep(SETTLE)
        end = self.meter.read()
        return (end - start).beyond(self.rest), end

    def costs(self, name, spent, count):
        self.note(f"{name}: worker", "µs", spent.worker / count * 1e6)
        self.note(f"{name}: Redis", "µs", spent.redis / count * 1e6)
        self.note(f"{name}: Redis, commands", "", spent.commands / count)
        self.note(f"{name}: Redis, in and out", "bytes", (spent.redis_in + spent.redis_out) / count)
        self.note(f"{name}: edge, in and out", "bytes", (spent.edge_in + spent.edge_out) / count)

    def rest_of(self, name, spent, first, count):
        """What so many cost, where some of what was spent was for the first on the other event loop."""
        self.note(f"{name}: worker", "µs", (spent.worker - first.worker) / count * 1e6)
        self.note(f"{name}: Redis", "µs", (spent.redis - first.redis) / count * 1e6)

    def memory(self, name, before, after, count):
        self.note(f"{name}: worker", "KiB", (after.worker_memory - before.worker_memory) / count / KIB)
        self.note(f"{name}: Redis", "KiB", (after.redis_memory - before.redis_memory) / count / KIB)

    async def play(self):
        crowd, count = self.crowd, self.crowd.count
        nobody = await self.at_rest("nobody, at rest")
        self.note("a worker without devices: memory", "MiB", nobody.worker_memory / KIB / KIB)
        spent, _ = await self.during(crowd.connect())
        self.costs("a connection", spent, count)
        here = await self.at_rest("connected, at rest")
        self.memory("a connection, memory", nobody, here, count)
        self.note("a connection, memory: kernel, at either end", "KiB",
                  (here.kernel - nobody.kernel) / count / KIB / 2)

        watching = await self.watching(here)
        joined = await self.joining()
        following = await self.at_rest("following, at rest")
        self.memory(f"watching {WATCHED}, memory", here, watching, count)
        self.memory("joining two conversations, memory", watching, joined, count)
        self.note("subscriptions a device", "", (following.subscriptions - nobody.subscriptions) / count)
        self.note("channels a device", "", (following.channels - nobody.channels) / count)
        await self.typing()
        await self.presence()
        await self.hearing()
        await self.leaving(nobody)

    async def watching(self, before):
        """First one in twenty, so that each user is watched once; then the others, for whom all are known but on the
        other event loop."""
        crowd, count = self.crowd, self.crowd.count
        first = range(0, count, WATCHED)
        alone_, after = await self.during(crowd.watch(first))
        self.memory("watching one whom no other watches, memory", before, after, count)
        self.costs("watching one whom no other watches", alone_, count)
        others, end = await self.during(crowd.watch([number for number in range(count) if number % WATCHED]))
        self.rest_of("watching one whom another watches", others, alone_, count * (WATCHED - 2))
        return end

    async def joining(self):
        crowd, count = self.crowd, self.crowd.count
        alone_, _ = await self.during(crowd.join("near", range(0, count, ROOM)))
        self.costs("joining where no other is", alone_, count // ROOM)
        others, _ = await self.during(crowd.join("near", [number for number in range(count) if number % ROOM]))
        self.rest_of("joining where another is", others, alone_, count - 2 * count // ROOM)
        _, end = await self.during(crowd.join("far", range(count)))
        return end

    async def typing(self):
        """Starts and stops are told to nine others each. What is said again changes nothing, but that somebody types is
        repeated to them every three seconds, and once that it is over."""
        crowd, typists = self.crowd, self.crowd.typists()

        async def say(is_typing):
            # Longer than the throttle.
            pause = asyncio.ensure_future(asyncio.sleep(1.2))
            await crowd.say(typists, lambda number: crowd.typing(number, is_typing), RATE)
            await pause

        async def starts_and_stops():
            for _ in range(3):
                await say(True)
                await say(False)

        async def again():
            for _ in range(4):
                await say(True)

        spent, _ = await self.during(starts_and_stops())
        changes = 6 * len(typists)
        self.note("a start or stop: messages", "", spent.messages / changes)
        self.costs("a start or stop", spent, changes)
        await say(True)
        renewals, _ = await self.during(again())
        self.note("a renewal: messages", "", renewals.messages / (4 * len(typists)))
        self.costs("a renewal", renewals, 4 * len(typists))
        await asyncio.sleep(4)

    async def presence(self):
        """One in ten looks away and back, seen by all who watch."""
        crowd, few = self.crowd, range(3, self.crowd.count, ROOM)

        async def look_away_and_back():
            for state in ("idle", "active"):
                await crowd.say(few, lambda _: f'{{"type":"state","state":"{state}"}}', RATE)
                await asyncio.sleep(1)

        spent, _ = await self.during(look_away_and_back())
        changes = 2 * len(few)
        self.note("a change of presence: messages", "", spent.messages / changes)
        self.note("a change of presence: heard from Redis", "", spent.heard / changes)
        self.costs("a change of presence", spent, changes)

    async def hearing(self):
        """Messages of changes that are known already: each is heard on both event loops, and told to nobody."""
        client, count = alone.Client(self.meter.redis), 12_000
        payload = '{"user":"user1","status":"online","last_seen":1,"updated_at":1,"version":1,"devices":1,"at":1}'

        async def publish():
            start = asyncio.get_running_loop().time()
            for number in range(count):
                if (early := start + number / RATE - asyncio.get_running_loop().time()) > 0:
                    await asyncio.sleep(early)
                client.send("PUBLISH", "presence:{user1}", payload)
                client.drain()

        spent, _ = await self.during(publish())
        self.note("a message from Redis, told to nobody: worker", "µs", spent.worker / spent.heard * 1e6)

    async def leaving(self, nobody):
        async def leave():
            self.crowd.drop()
            await asyncio.sleep(9)
        start = self.meter.read()
        await leave()
        end = self.meter.read()
        spent = (end - start)
        self.costs("a loss, and offline after its grace", spent, self.crowd.count)
        self.note("a user who is offline: Redis", "KiB",
                  (end.redis_memory - nobody.redis_memory) / self.crowd.count / KIB)


def run(count, certificate):
    with stopping(Redis()) as redis, stopping(Worker(
            "units", redis, None, presence__grace=None, worker__lease=None, worker__heartbeat=None, worker__drain=None,
            edge__certificate=certificate and certificate.chain, edge__private_key=certificate and certificate.key,
    )) as worker:
        run = Run(Meter(worker, redis), Crowd(worker, count, certificate is not None))
        asyncio.run(run.play())
        return run.rows


def text(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.2g}" if abs(value) < 10 else f"{value:.1f}"


def table(runs):
    """A line for each thing, a column for each number of devices."""
    print("| |", " | ".join(f"{count} devices" for count in runs), "| |")
    print("|---|", "---:|" * len(runs), "---|", sep="")
    first = next(iter(runs.values()))
    for name, (unit, _) in first.items():
        print(f"| {name} |", " | ".join(text(rows[name][1]) for rows in runs.values()), f"| {unit} |", flush=True)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("devices", nargs="*", type=int, default=[2_000, 15_000])
    arguments.add_argument("--json", type=pathlib.Path)
    arguments.add_argument("--tls", action="store_true")
    arguments = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        certificate = Certificate(pathlib.Path(folder)) if arguments.tls else None
        runs = {count: run(count, certificate) for count in arguments.devices}
    table(runs)
    redis = {} if arguments.tls else alone.measure()
    if redis:
        print("\n| Redis alone | | |\n|---|---:|---|")
    for name, (unit, value) in redis.items():
        print(f"| {name} | {text(value)} | {unit} |")
    if arguments.json:
        arguments.json.write_text(json.dumps({"worker": runs, "redis": redis}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
