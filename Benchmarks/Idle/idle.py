"""Measures what devices cost that are only there: a worker's memory and processor time, Redis's memory and commands.

A private Redis, one worker, and devices over bare sockets, each another user's. First they only connect; then each
watches users and joins conversations, as an app in somebody's pocket does.

Usage: idle.py [--tls] [DEVICES], by default 10000; the program is that of $ROLLCALL, else .build/debug/rollcall
"""

import asyncio
import os
import pathlib
import ssl
import struct
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Tests/Browser"))

from certificate import Certificate  # noqa: E402
from deployment import Redis, Worker, stopping  # noqa: E402

WATCHED, JOINED = 20, 2
# Whoever it is: this is about what a connection costs.
TLS = ssl._create_unverified_context() if "--tls" in sys.argv else None  # noqa: S323
REST = 30
AT_ONCE = 100
HANDSHAKE = (b"GET /v1/connect HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")


def frame(opcode, payload):
    """A masked frame; the mask is zero, which changes nothing."""
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack(">H", len(payload))
    return bytes([0x80 | opcode]) + size + b"\0\0\0\0" + payload


class Device(asyncio.Protocol):
    """A device that answers pings."""

    def __init__(self, number):
        self.number, self.bytes, self.heard = number, b"", asyncio.Event()

    def connection_made(self, transport):
        self.transport = transport
        hello = f'{{"type":"hello","token":"user{self.number}","device":"phone"}}'
        transport.write(HANDSHAKE + frame(1, hello.encode()))

    def data_received(self, data):
        self.bytes += data
        if self.bytes.startswith(b"HTTP"):
            head, found, rest = self.bytes.partition(b"\r\n\r\n")
            self.bytes = rest if found else head
        while (end := self.end_of_frame()) and not self.bytes.startswith(b"HTTP"):
            first, self.bytes = self.bytes[:end], self.bytes[end:]
            if first[0] & 15 == 9:
                self.transport.write(frame(10, first[2:]))
            elif b'"welcome"' in first or b'"ack"' in first:
                self.heard.set()

    def end_of_frame(self):
        if len(self.bytes) < 4:
            return len(self.bytes) if len(self.bytes) > 1 and self.bytes[1] + 2 == len(self.bytes) else None
        size, start = self.bytes[1], 2
        if size == 126:
            size, start = struct.unpack(">H", self.bytes[2:4])[0], 4
        return start + size if len(self.bytes) >= start + size else None

    async def asks(self, message):
        self.heard.clear()
        self.transport.write(frame(1, message.encode()))
        await asyncio.wait_for(self.heard.wait(), 120)


async def connect(worker, number):
    _, device = await asyncio.get_running_loop().create_connection(
        lambda: Device(number), "127.0.0.1", worker.port, ssl=TLS)
    await asyncio.wait_for(device.heard.wait(), 120)
    return device


async def follow(device, count):
    """What an app shows: neighbours by number, so that each user is watched by as many as they watch."""
    users = ",".join(f'"user{(device.number + step) % count}"' for step in range(1, WATCHED + 1))
    await device.asks(f'{{"type":"watch","id":1,"users":[{users}]}}')
    for step in range(JOINED):
        await device.asks(f'{{"type":"join","id":2,"conversation":"c{(device.number + step) // 10}"}}')


async def in_batches(works):
    return [result for start in range(0, len(works), AT_ONCE)
            for result in await asyncio.gather(*(work() for work in works[start:start + AT_ONCE]))]


def resident(process):
    status = pathlib.Path(f"/proc/{process.child.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def processor(process):
    fields = pathlib.Path(f"/proc/{process.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def told(redis, section, name):
    return int(redis.ask("INFO", section).split(f"{name}:")[1].split()[0])


class Reading:
    """What everything costs at one moment, after the rest."""

    def __init__(self, worker, redis):
        self.worker, self.redis = resident(worker), told(redis, "memory", "used_memory")

    def since(self, before, count):
        return (f"{(self.worker - before.worker) / count / 1024:.1f} KiB of the worker, "
                f"{(self.redis - before.redis) / count / 1024:.2f} KiB of Redis")


async def at_rest(worker, redis):
    start, used, commands = time.monotonic(), processor(worker), told(redis, "stats", "total_commands_processed")
    await asyncio.sleep(REST)
    spent = time.monotonic() - start
    return (f"{(processor(worker) - used) / spent * 100:.1f} % of a core, "
            f"{(told(redis, 'stats', 'total_commands_processed') - commands) / spent:.0f} commands a second")


async def measure(worker, redis, count):
    nobody = Reading(worker, redis)
    print(f"a worker without devices: {nobody.worker / 2**20:.0f} MiB; {await at_rest(worker, redis)}")
    devices = await in_batches([lambda number=number: connect(worker, number) for number in range(count)])
    connected = Reading(worker, redis)
    print(f"a device that is connected: {connected.since(nobody, count)}")
    print(f"{count} of them at rest: {await at_rest(worker, redis)}")
    await in_batches([lambda device=device: follow(device, count) for device in devices])
    print(f"that it watches {WATCHED} users and joins {JOINED} conversations: "
          f"{Reading(worker, redis).since(connected, count)}")
    print(f"{count} of them at rest: {await at_rest(worker, redis)}")


def main(count, folder):
    certificate = Certificate(pathlib.Path(folder)) if TLS else None
    with stopping(Redis()) as redis, stopping(Worker(
            "idle", redis, None, presence__grace=None, worker__lease=None, worker__heartbeat=None, worker__drain=None,
            edge__certificate=certificate and certificate.chain, edge__private_key=certificate and certificate.key,
    )) as worker:
        asyncio.run(measure(worker, redis, count))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(next((int(argument) for argument in sys.argv[1:] if argument != "--tls"), 10_000), folder)
