"""What a worker and its Redis have used by some moment: processor time, memory, commands, bytes."""

import dataclasses
import pathlib
import re
import time
import urllib.request


@dataclasses.dataclass
class Reading:
    """Everything at one moment, or what came between two. Times are in seconds, sizes in bytes."""

    time: float
    worker: float
    redis: float
    worker_memory: float
    redis_memory: float
    commands: float
    redis_in: float
    redis_out: float
    edge_in: float
    edge_out: float
    messages: float
    heard: float
    published: float
    subscriptions: float
    channels: float
    kernel: float

    def __sub__(self, other):
        return Reading(*(mine - theirs for mine, theirs in
                         zip(dataclasses.astuple(self), dataclasses.astuple(other), strict=True)))

    def beyond(self, rest):
        """What came above what would have come anyhow, at rest."""
        share = self.time / rest.time
        return Reading(self.time, *(mine - theirs * share for mine, theirs in
                                    zip(dataclasses.astuple(self)[1:], dataclasses.astuple(rest)[1:], strict=True)))


class Meter:
    """Reads one worker and its Redis."""

    def __init__(self, worker, redis):
        self.worker, self.redis = worker, redis

    def read(self):
        page = self.page()
        told = dict(line.split(":", 1) for line in self.redis.ask("INFO", "everything").split("\n") if ":" in line)
        return Reading(
            time=time.monotonic(), worker=processor(self.worker), redis=processor(self.redis),
            worker_memory=resident(self.worker), redis_memory=int(told["used_memory"]),
            commands=int(told["total_commands_processed"]),
            redis_in=int(told["total_net_input_bytes"]), redis_out=int(told["total_net_output_bytes"]),
            edge_in=page("rollcall_received_bytes_total"), edge_out=page("rollcall_sent_bytes_total"),
            messages=page("rollcall_messages_sent_total"), heard=page("rollcall_redis_messages_total"),
            published=page("rollcall_typing_published_total"), subscriptions=page("rollcall_redis_subscriptions"),
            channels=int(told["pubsub_channels"]), kernel=kernel())

    def page(self):
        """The sum of a metric's series, by its name. Event loops hand theirs on once a second."""
        with urllib.request.urlopen(f"{self.worker.admin}/metrics", timeout=20) as answer:
            text = answer.read().decode()
        return lambda name: sum(map(float, re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)))


def resident(process):
    status = pathlib.Path(f"/proc/{process.child.pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


def kernel():
    """What the kernel holds for itself, sockets with both their ends among it."""
    slab = re.search(r"Slab: +(\d+) kB", pathlib.Path("/proc/meminfo").read_text(encoding="ascii"))
    return int(slab[1]) * 1024


def processor(process):
    """Of all threads there are; to the microsecond and better."""
    threads = pathlib.Path(f"/proc/{process.child.pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text(encoding="ascii").split()[0]) for thread in threads) / 1e9
