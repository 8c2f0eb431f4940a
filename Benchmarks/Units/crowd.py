"""Devices over bare sockets, each another user's, that do what they are told and answer pings."""

import asyncio
import ssl
import struct

WATCHED, ROOM = 20, 10
AT_ONCE = 100
HANDSHAKE = (b"GET /v1/connect HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
             b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")


def frame(opcode, payload):
    """A masked frame; the mask is zero, which changes nothing."""
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + struct.pack(">H", len(payload))
    return bytes([0x80 | opcode]) + size + b"\0\0\0\0" + payload


class Device(asyncio.Protocol):
    """A device that answers pings, and knows how often it was welcomed or acknowledged."""

    def __init__(self, number):
        self.number, self.bytes, self.heard = number, b"", asyncio.Event()

    def connection_made(self, transport):
        self.transport = transport
        hello = f'{{"type":"hello","id":0,"token":"user{self.number}","device":"phone"}}'
        transport.write(HANDSHAKE + frame(1, hello.encode()))

    def data_received(self, data):
        self.bytes += data
        if self.bytes.startswith(b"HTTP"):
            head, found, rest = self.bytes.partition(b"\r\n\r\n")
            self.bytes = rest if found else head
        while not self.bytes.startswith(b"HTTP") and (end := self.end_of_frame()):
            first, self.bytes = self.bytes[:end], self.bytes[end:]
            if first[0] & 15 == 9:
                self.transport.write(frame(10, first[2:]))
            elif b'"ack"' in first:
                self.heard.set()

    def end_of_frame(self):
        if len(self.bytes) < 2:
            return None
        size, start = self.bytes[1], 2
        if size == 126:
            size, start = struct.unpack(">H", self.bytes[2:4])[0] if len(self.bytes) > 3 else 1 << 20, 4
        return start + size if len(self.bytes) >= start + size else None

    def say(self, message):
        self.transport.write(frame(1, message.encode()))

    async def hears(self):
        await asyncio.wait_for(self.heard.wait(), 120)
        self.heard.clear()


class Crowd:
    """Devices on one worker. Each belongs to a room of its neighbours and to one of people from far apart."""

    def __init__(self, worker, count, is_encrypted=False):
        self.worker, self.count, self.devices = worker, count, []
        # The certificate is not verified: only the cost of a connection is measured.
        self.tls = ssl._create_unverified_context() if is_encrypted else None  # noqa: S323

    async def connect(self):
        """All come, and each is there for others to see."""
        async def one(number):
            loop = asyncio.get_running_loop()
            _, device = await loop.create_connection(lambda: Device(number), "127.0.0.1", self.worker.port, ssl=self.tls)
            await device.hears()
            return device
        for start in range(0, self.count, AT_ONCE):
            numbers = range(start, min(start + AT_ONCE, self.count))
            self.devices += await asyncio.gather(*(one(number) for number in numbers))

    async def watch(self, numbers):
        """Each watches the twenty after it, and so is watched by the twenty before."""
        async def one(device):
            users = ",".join(f'"user{(device.number + 1 + step) % self.count}"' for step in range(WATCHED))
            device.say(f'{{"type":"watch","id":1,"users":[{users}]}}')
            await device.hears()
        await self.each(numbers, one)

    async def join(self, kind, numbers):
        """Each joins a room: of its neighbours (`near`), or of people from far apart (`far`)."""
        async def one(device):
            room = device.number // ROOM if kind == "near" else device.number % (self.count // ROOM)
            device.say(f'{{"type":"join","id":2,"conversation":"{kind}{room}"}}')
            await device.hears()
        await self.each(numbers, one)

    async def each(self, numbers, work):
        for start in range(0, len(numbers), AT_ONCE):
            await asyncio.gather(*(work(self.devices[number]) for number in numbers[start:start + AT_ONCE]))

    async def say(self, numbers, message, rate):
        """One device after the other says something, so many a second, whatever comes of it; `message` is of a number."""
        loop = asyncio.get_running_loop()
        start = loop.time()
        for place, number in enumerate(numbers):
            if (early := start + place / rate - loop.time()) > 0.002:
                await asyncio.sleep(early)
            self.devices[number].say(message(number))

    def typists(self):
        """One of each room of neighbours."""
        return range(0, self.count, ROOM)

    def typing(self, number, is_typing):
        return (f'{{"type":"typing","conversation":"near{number // ROOM}",'
                f'"typing":{"true" if is_typing else "false"}}}')

    def drop(self):
        """All are gone without a word."""
        for device in self.devices:
            device.transport.abort()
