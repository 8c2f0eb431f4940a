"""Measures what a device, a connection and a change cost a worker and Redis, for docs/capacity.md.

A private Redis, one worker with default settings on some event loops, and devices over bare sockets, each of another user: they
connect, watch twenty users, join two conversations of ten, rest, type, look away and back, and are lost. On Linux.

Usage: ROLLCALL=.build/release/rollcall python3 Benchmarks/units.py [--tls] [DEVICES [LOOPS]], by default 10000 2
"""

import asyncio
import collections
import pathlib
import re
import ssl
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Tests/Browser"))
from certificate import Certificate  # noqa: E402
from deployment import Redis, Worker, stopping  # noqa: E402

WATCHED, ROOM, AT_ONCE = 20, 10, 100
# Changes a second: fewer would measure how a process wakes up.
RATE = 4_000
# Counters are reported once a second, and the last messages must arrive.
SETTLE, REST = 2.5, 10
HANDSHAKE = (b"GET /v1/connect HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
Reading = collections.namedtuple("Reading", "time worker redis memory stored kernel commands")


def frame(opcode, payload):
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack(">H", len(payload))
    return bytes([0x80 | opcode]) + size + b"\0\0\0\0" + payload


class Device(asyncio.Protocol):
    """Answers pings, and notices acknowledgements. It keeps no other message."""

    def __init__(self, number):
        self.number, self.bytes, self.acknowledged = number, b"", asyncio.Event()

    def connection_made(self, transport):
        self.transport = transport
        transport.write(HANDSHAKE)
        self.say(f'{{"type":"hello","id":0,"token":"user{self.number}","device":"phone"}}')

    def data_received(self, data):
        self.bytes += data
        if self.bytes.startswith(b"HTTP"):
            head, found, rest = self.bytes.partition(b"\r\n\r\n")
            self.bytes = rest if found else head
        while not self.bytes.startswith(b"HTTP") and (end := self.end_of_frame()):
            message, self.bytes = self.bytes[:end], self.bytes[end:]
            if message[0] & 15 == 9:
                self.transport.write(frame(10, message[2:]))
            elif b'"ack"' in message:
                self.acknowledged.set()

    def end_of_frame(self):
        if len(self.bytes) < 4:
            return None
        size, start = (struct.unpack(">H", self.bytes[2:4])[0], 4) if self.bytes[1] == 126 else (self.bytes[1], 2)
        return start + size if len(self.bytes) >= start + size else None

    def say(self, message):
        self.transport.write(frame(1, message.encode()))

    async def ask(self, message):
        if message:
            self.say(message)
        await asyncio.wait_for(self.acknowledged.wait(), 120)
        self.acknowledged.clear()


class Units:
    def __init__(self, worker, redis, count, tls):
        self.worker, self.redis, self.count, self.tls = worker, redis, count, tls

    def read(self):
        def processor(process):
            threads = pathlib.Path(f"/proc/{process.child.pid}/task").glob("*/schedstat")
            return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e3

        told = dict(line.split(":", 1) for line in self.redis.ask("INFO", "everything").split("\n") if ":" in line)
        status = pathlib.Path(f"/proc/{self.worker.child.pid}/status").read_text()
        slab = re.search(r"Slab: +(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]
        return Reading(time.monotonic(), processor(self.worker), processor(self.redis), int(re.search(r"VmRSS:\s+(\d+)", status)[1]),
                       int(told["used_memory"]) / 1024, int(slab), int(told["total_commands_processed"]))

    def row(self, name, worker, redis, unit):
        def shown(value):
            return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
        print(f"| {name} | {shown(worker)} | {shown(redis)} |", flush=True)

    async def rest(self):
        await asyncio.sleep(SETTLE)
        start = self.read()
        await asyncio.sleep(REST)
        end = self.read()
        self.idle = [(after - before) / (end.time - start.time) for before, after in zip(start, end)]
        return end

    async def costs(self, name, changes, work):
        """The processor time of each change, beyond what the same time costs at rest."""
        start = self.read()
        await work
        await asyncio.sleep(SETTLE)
        end = self.read()
        worker, redis = ((end[at] - start[at] - self.idle[at] * (end.time - start.time)) / changes for at in (1, 2))
        self.row(name, worker, redis, "µs")

    async def each(self, devices, message):
        for start in range(0, len(devices), AT_ONCE):
            await asyncio.gather(*(device.ask(message(device.number)) for device in devices[start:start + AT_ONCE]))

    async def say(self, devices, messages):
        start, said = time.monotonic(), 0
        for message in messages:
            for device in devices:
                if (early := start + said / RATE - time.monotonic()) > 0.002:
                    await asyncio.sleep(early)
                device.say(message(device.number))
                said += 1
            # Longer than the throttle.
            await asyncio.sleep(1.2)

    async def connect(self):
        self.devices = []
        for start in range(0, self.count, AT_ONCE):
            made = await asyncio.gather(*(asyncio.get_running_loop().create_connection(
                lambda number=number: Device(number), "127.0.0.1", self.worker.port, ssl=self.tls) for number in range(start, start + AT_ONCE)))
            self.devices += [device for _, device in made]
            await self.each(self.devices[start:], lambda _: None)

    async def lose(self):
        for device in self.devices:
            device.transport.abort()
        await asyncio.sleep(8)

    def watch(self, number):
        return f'{{"type":"watch","id":1,"users":[{",".join(chr(34) + f"user{(number + 1 + step) % self.count}" + chr(34) for step in range(WATCHED))}]}}'

    async def measure(self):
        print(f"| {self.count} devices{', TLS' if self.tls else ''} | worker | Redis |\n|---|---:|---:|")
        empty = await self.rest()
        self.row("without devices, memory", empty.memory / 1024, empty.stored / 1024, "MiB")
        self.row("without devices, a second", self.idle[1], self.idle[2], "µs")
        await self.costs("a device that connects", self.count, self.connect())
        connected = await self.rest()
        self.row("a connected device, memory", (connected.memory - empty.memory) / self.count, (connected.stored - empty.stored) / self.count, "KiB")
        print(f"| the same, in the kernel | {(connected.kernel - empty.kernel) / self.count / 2:.3g} KiB | |")
        await self.costs(f"watching {WATCHED} users", self.count, self.each(self.devices, self.watch))
        await self.costs("joining a conversation of ten", 2 * self.count, self.join())
        following = await self.rest()
        self.row(f"{WATCHED} watched users and two conversations, memory", (following.memory - connected.memory) / self.count,
                 (following.stored - connected.stored) / self.count, "KiB")
        self.row("a device at rest, a second", (self.idle[1]) / self.count, self.idle[2] / self.count, "µs")
        print(f"| commands to Redis a second, at rest | | {self.idle[6]:.3g} |")
        typists = self.devices[::ROOM]
        await self.costs("a start or stop of typing, shown to nine", 6 * len(typists), self.say(typists, [
            lambda number, on=on: f'{{"type":"typing","conversation":"near{number // ROOM}","typing":{on}}}' for on in ("true", "false") * 3]))
        await self.costs(f"a change of presence, shown to {WATCHED}", 2 * len(typists), self.say(typists, [
            lambda _, state=state: f'{{"type":"state","state":"{state}"}}' for state in ("idle", "active")]))
        await self.costs("a lost connection, until it is offline", self.count, self.lose())

    async def join(self):
        """A conversation of neighbours, and one of users from far apart."""
        await self.each(self.devices, lambda number: f'{{"type":"join","id":2,"conversation":"near{number // ROOM}"}}')
        await self.each(self.devices, lambda number: f'{{"type":"join","id":2,"conversation":"far{number % (self.count // ROOM)}"}}')


def main():
    tls = "--tls" in sys.argv
    count, loops = ([int(each) for each in sys.argv[1:] if each != "--tls"] + [10_000, 2][len(sys.argv) - 1 - tls:])[:2]
    with tempfile.TemporaryDirectory() as folder, stopping(Redis()) as redis:
        certificate = Certificate(pathlib.Path(folder)) if tls else None
        usual = dict.fromkeys(("presence__grace", "worker__lease", "worker__heartbeat", "worker__drain"))
        with stopping(Worker("units", redis, None, worker__loops=loops, edge__certificate=certificate and certificate.chain,
                             edge__private_key=certificate and certificate.key, **usual)) as worker:
            # The certificate is not verified: only the cost of a connection is measured.
            context = ssl._create_unverified_context() if tls else None  # noqa: S323
            asyncio.run(Units(worker, redis, count, context).measure())


if __name__ == "__main__":
    main()
