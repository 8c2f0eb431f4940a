"""Tells where the time of a typing signal goes, from socket to socket: runs `bench` on two people who type, and looks at
the packets of the loopback meanwhile, whose times the kernel takes. Nothing is added to what is measured.

Usage: stages.py BENCH [ROUNDS]; on Linux, as root, for the packets of others are read
"""

import collections
import os
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import threading

STAGES = [
    "device to server: woken, frame read, decided, written to Redis",
    "Redis: woken, command run, written to who subscribes",
    "server to device: woken, message read, decided, frame written",
]
SO_TIMESTAMPNS, OUTGOING, LARGEST, IPV4 = 35, 4, 4096, b"\x08\x00"

Packet = collections.namedtuple("Packet", "time source target payload")


def packets(loopback):
    """What is sent over the loopback, each with the time at which it was."""
    while True:
        data, notes, _, address = loopback.recvmsg(LARGEST, 128)
        if address[2] != OUTGOING or data[12:14] != IPV4 or data[23] != socket.IPPROTO_TCP:
            continue
        seconds, nanoseconds = struct.unpack("qq", notes[0][2][:16])
        segment = data[14 + (data[14] & 15) * 4:]
        source, target = struct.unpack(">HH", segment[:4])
        yield Packet(seconds + nanoseconds / 1e9, source, target, segment[(segment[12] >> 4) * 4:])


def owner(port):
    """The process that has a socket at this port."""
    sockets = {
        line.split()[9] for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
        if int(line.split()[1].split(":")[1], 16) == port
    }
    for link in pathlib.Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link).removeprefix("socket:[").removesuffix("]") in sockets:
                return int(link.parts[2])
        except OSError:
            continue
    return None


class Owners(dict):
    def __missing__(self, port):
        self[port] = owner(port)
        return self[port]


class Reader:
    """Follows one signal at a time: there are twenty a second."""

    def __init__(self):
        self.times = {"floor": [], "Rollcall": []}
        self.owners = Owners()
        self.forget()

    def forget(self):
        self.side, self.signalled, self.asked, self.told = None, None, None, {}

    def read(self, packet):
        payload = packet.payload
        if payload[:1] == b"\x81" and payload[1:2] >= b"\x80":
            self.forget()
            self.signalled = packet.time
        elif self.signalled is None:
            return
        elif self.asked is None and (b"EVALSHA" in payload or b"PUBLISH" in payload):
            self.side = "Rollcall" if b"EVALSHA" in payload else "floor"
            self.asked = packet.time
        elif self.asked is not None and payload[1:2] == b"3" and b"message\r\n" in payload[:24]:
            self.told[self.owners[packet.target]] = packet.time
        elif payload[:1] == b"\x81" and b'"count"' in payload:
            told = self.told.get(self.owners[packet.source])
            if told is not None:
                moments = [self.signalled, self.asked, told, packet.time]
                self.times[self.side].append([after - before for before, after in zip(moments, moments[1:])])
            self.forget()


def look(reader):
    loopback = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    loopback.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    loopback.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
    loopback.bind(("lo", 0))
    threading.Thread(target=lambda: [reader.read(packet) for packet in packets(loopback)], daemon=True).start()


def main(bench, rounds="5"):
    reader = Reader()
    try:
        look(reader)
    except PermissionError:
        sys.exit("stages: only root may read the packets of the loopback; try it with sudo")
    subprocess.run([bench, "--only", "typing, 2 people", "--rounds", rounds], check=True)
    floor, ours = reader.times["floor"], reader.times["Rollcall"]
    if not floor or not ours:
        sys.exit("stages: no signal was seen on its way")
    print(f"\n| stage, medians of {len(floor)} and {len(ours)} signals, µs | floor | Rollcall |\n|---|---:|---:|")
    for name, *sides in [
        *((name, [times[place] for times in floor], [times[place] for times in ours])
          for place, name in enumerate(STAGES)),
        ("from the first write to the last", [sum(times) for times in floor], [sum(times) for times in ours]),
    ]:
        print(f"| {name} | " + " | ".join(f"{statistics.median(side) * 1e6:.0f}" for side in sides) + " |")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
