"""What a deployment of so many devices takes, from what one of each thing costs: the arithmetic of docs/scaling.md.

Usage: plan.py [DEVICES...], by default 1000000 10000000 100000000
"""

import math
import sys

MICRO, KIB, GIB, GIGABIT = 1e-6, 2**10, 2**30, 1e9 / 8


class Life:
    """What people do in a busy hour of a chat app: how often one device does it in a second."""

    messages = 1 / 300          # a user writes one every five minutes
    signals = 5 * messages      # a start, three renewals and a stop,
    turns = 3 * messages        # sent to observers: the start, the stop, and one repetition in between
    looks = 2 / 600             # idle and active again, every ten minutes
    visits = 1 / 1800           # half an hour each, with one connection and its loss
    deploys = 1 / 3600          # all workers are replaced within an hour
    audit = 1 / 300             # each record is read every five minutes
    watched, rooms, room = 20, 2, 10
    known = 4                   # users with a record, for each who is connected


class Worker:
    """What one of each thing costs a worker, in microseconds of processor time and KiB; of watching and joining, where
    nobody else on the event loop does."""

    idle, connect, watch, join, loss = 2.8, 180, 9, 66, 100
    signal, look, heard, told = 60, 5, 13, 6
    device, watched, joined, kernel, base = 3.2, 0.6, 0.5, 5.7, 40 * 1024


class Redis:
    """What one of each thing costs Redis, in microseconds and bytes; and how much of its one core is to be used."""

    connect, watch, join, loss = 36, 4, 25, 65
    signal, look, hears, audit = 32, 40, 4, 10
    ping, heartbeat, lease, slots = 15, 24, 0.7, 60
    listing = 12                # of a connection and its loss: the worker's list, which is stored with the leases
    record, channel, subscription, connection = 700, 274, 128, 2_300
    used = 0.5


class Bytes:
    """What goes over the network, headers of Ethernet, IP and TCP and acknowledgements included."""

    ping = 3 * 66 + 8
    told, signal, connect = 280, 200, 4_000
    call, heard = 500, 250


class Plan:
    """A deployment. What happens is counted a second, over all of it."""

    def __init__(self, devices):
        self.devices = devices
        # More devices use fewer and larger workers: what workers cost each other grows with the square of their number.
        self.size, self.cores = (50_000, 2) if devices <= 2e6 else (100_000, 4) if devices <= 2e7 else (400_000, 16)
        # One worker in ten may be missing.
        self.workers = math.ceil(devices / self.size * 1.1)
        self.signals = devices * Life.signals
        self.connects = devices * (Life.visits + Life.deploys)
        self.looks = devices * Life.looks
        written = self.looks + 2 * self.connects
        # With so many event loops, two observers hardly ever share one.
        self.heard = self.signals * Life.room + written * Life.watched
        shown = self.looks + 2 * devices * Life.visits
        self.told = devices * Life.turns * (Life.room - 1) + shown * Life.watched
        self.calls = self.signals + written + devices * Life.audit

    @property
    def worker_cores(self):
        return MICRO * (
            self.devices * Worker.idle + self.signals * Worker.signal + self.looks * Worker.look
            + self.connects * (Worker.connect + Life.watched * Worker.watch + Life.rooms * Worker.join + Worker.loss)
            + self.heard * Worker.heard + self.told * Worker.told)

    @property
    def worker_memory(self):
        each = Worker.device + Life.watched * Worker.watched + Life.rooms * Worker.joined + Worker.kernel
        return KIB * (self.devices * each + self.workers * Worker.base)

    @property
    def redis_cores(self):
        """Without what every connection costs each primary."""
        return MICRO * (
            self.signals * Redis.signal + self.looks * Redis.look + self.heard * Redis.hears
            + self.connects * (Redis.connect + Life.watched * Redis.watch + Life.rooms * Redis.join + Redis.loss)
            + self.devices * Life.audit * Redis.audit)

    @property
    def connections(self):
        """To one primary."""
        return self.workers * (2 * self.cores + 1)

    @property
    def primaries(self):
        left = Redis.used - MICRO * self.connections * Redis.ping
        return max(3, math.ceil(self.redis_cores / left))

    @property
    def leases(self):
        """Of the one core of the primary that has the leases: each heartbeat's answer names every worker, and lists of
        sessions lie there, too."""
        return MICRO * (
            self.workers * (Redis.heartbeat + self.workers * Redis.lease)
            + self.connects * Redis.listing)

    @property
    def map(self):
        """Of one core, where all workers ask the same node for the map."""
        return MICRO * self.workers * 2 * Redis.slots

    @property
    def subscriptions(self):
        return self.devices * (Life.watched + 2 * Life.rooms)

    @property
    def redis_memory(self):
        channels = self.devices * (1 + 2 * Life.rooms / Life.room)
        return (self.devices * Life.known * Redis.record + channels * (Redis.channel - Redis.subscription)
                + self.subscriptions * Redis.subscription + self.primaries * self.connections * Redis.connection)

    @property
    def again(self):
        """Seconds until a worker has read all again that it shows, after an outage of Redis, at the promised rate."""
        return self.size * Life.watched / 20_000

    @property
    def edge(self):
        return (self.devices / 10 * Bytes.ping + self.told * Bytes.told + self.signals * Bytes.signal
                + self.connects * Bytes.connect)

    @property
    def inside(self):
        return self.calls * Bytes.call + self.heard * Bytes.heard

    def rows(self):
        """What, and how much."""
        yield "devices", count(self.devices)
        yield "signals a second", count(self.signals)
        yield "connections a second", count(self.connects)
        yield "messages from Redis a second", count(self.heard)
        yield "messages to devices a second", count(self.told)
        yield "workers", count(self.workers)
        yield "a worker: devices", count(self.size)
        yield "a worker: cores", count(self.cores)
        yield "a worker: busy", f"{self.worker_cores / self.workers / self.cores:.0%}"
        yield "a worker: GiB, the kernel's included", count(self.worker_memory / self.workers / GIB)
        yield "a worker: connections to Redis", count(self.primaries * (2 * self.cores + 1) + 1)
        yield "a worker: s to read all again", count(self.again)
        yield "primaries", count(self.primaries)
        yield "a primary: busy", f"{self.redis_cores / self.primaries + MICRO * self.connections * Redis.ping:.0%}"
        yield "a primary: GiB", count(self.redis_memory / self.primaries / GIB)
        yield "a primary: connections", count(self.connections)
        yield "a primary: subscriptions", count(self.subscriptions / self.primaries)
        yield "the one with the leases: busy besides", f"{self.leases:.1%}"
        yield "a node, if all ask it for maps: busy", f"{self.map:.1%}"
        yield "network of the devices, Gbit/s", count(self.edge / GIGABIT)
        yield "network of Redis, Gbit/s", count(self.inside / GIGABIT)
        yield "cores, with a replica of each primary", count(self.workers * self.cores + 2 * self.primaries)
        yield "GiB, with replicas and room to save", count((self.worker_memory + 4 * self.redis_memory) / GIB)


def count(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def main(sizes):
    plans = [dict(Plan(size).rows()) for size in sizes]
    for name in plans[0]:
        print(f"{name:42}", *(f"{plan[name]:>14}" for plan in plans))


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1_000_000, 10_000_000, 100_000_000])
