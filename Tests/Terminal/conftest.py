"""Fixtures: one Redis with two workers."""

import contextlib
import itertools
import json
import urllib.request

import pytest

from deployment import Redis, Worker, stopping
from terminal import Terminal

numbers = itertools.count(1)


@pytest.fixture(scope="session")
def redis():
    with stopping(Redis()) as server:
        yield server


@pytest.fixture(scope="session")
def workers(redis):
    with stopping(Worker("w1", redis, None)) as first, stopping(Worker("w2", redis, None)) as second:
        yield first, second


@pytest.fixture
def worker(redis):
    """Starts separate workers for one test."""
    with contextlib.ExitStack() as stack:
        yield lambda **settings: stack.enter_context(stopping(Worker(f"own{next(numbers)}", redis, None, **settings)))


@pytest.fixture
def terminal():
    """Opens terminals."""
    with contextlib.ExitStack() as stack:
        yield lambda *arguments, **options: stack.enter_context(contextlib.closing(Terminal(*arguments, **options)))


@pytest.fixture
def room(redis, workers):
    """A conversation and users that no other test uses."""
    return Room(next(numbers), redis, workers)


class Room:
    def __init__(self, number, redis, workers):
        self.name = f"c{number}"
        self.alice, self.bob, self.carol = (f"{name}{number}" for name in ("alice", "bob", "carol"))
        self.redis = redis
        self.workers = workers

    def watch(self, user, *arguments):
        """The arguments of `rollcall watch`, on the second worker."""
        return ["watch", "--as", user, "--url", self.workers[1].edge, *arguments]

    def type(self, user, *arguments):
        """The arguments of `rollcall type` in this conversation, on the first worker."""
        return ["type", self.name, "--as", user, "--url", self.workers[0].edge, *arguments]

    def has(self, **names):
        """Sets the conversation's members, such as `alice="Alice"`."""
        members = {getattr(self, person): name for person, name in names.items()}
        request = urllib.request.Request(
            f"{self.workers[0].admin}/v1/conversations/{self.name}/members", method="PUT",
            data=json.dumps({"members": members}).encode(), headers={"Content-Type": "application/json"})
        urllib.request.urlopen(request).close()

    def has_by_hand(self, **names):
        """Sets members directly in Redis, since the worker would refuse some names."""
        pairs = [word for person, name in names.items() for word in (getattr(self, person), name)]
        self.redis.ask("HSET", f"members:{{{self.name}}}", "{managed}", "1", *pairs)
