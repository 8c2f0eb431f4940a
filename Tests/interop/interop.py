"""Tests two workers against docs/protocol.md, with a client that shares no code with them.

Usage: interop.py EDGE EDGE, the edges of two workers on one Redis that accept user names as tokens.
"""

import asyncio
import itertools
import json
import sys
import uuid

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed


class Device:
    """A session: messages are sent as they are, and received ones are kept until they are requested."""

    def __init__(self, socket):
        self.socket = socket
        self.ids = itertools.count(1)
        self.heard = []

    @classmethod
    async def hello(cls, edge, user, device, **more):
        self = cls(await connect(edge, compression=None))
        await self.say(type="hello", token=user, device=device, **more)
        self.welcome = await self.hears("welcome")
        assert self.welcome["user"] == user and self.welcome["device"] == device, self.welcome
        return self

    async def say(self, **message):
        await self.socket.send(json.dumps(message))

    async def ask(self, **message):
        """Sends a message and returns the answer to it."""
        id = next(self.ids)
        await self.say(id=id, **message)
        return await self.hears(lambda answer: answer.get("id") == id)

    async def takes_effect(self, **message):
        answer = await self.ask(**message)
        assert answer["type"] == "ack", (message, answer)

    async def hears(self, wanted, within=10):
        """The first unread message that matches: by type, or by a function."""
        fits = wanted if callable(wanted) else lambda message: message["type"] == wanted
        return await asyncio.wait_for(self.first(fits), within)

    async def first(self, fits):
        while True:
            for message in self.heard:
                if fits(message):
                    self.heard.remove(message)
                    return message
            self.heard.append(json.loads(await self.socket.recv()))

    async def closed(self, within=10):
        """The close code of the worker."""
        return await asyncio.wait_for(self.end(), within)

    async def end(self):
        try:
            while True:
                self.heard.append(json.loads(await self.socket.recv()))
        except ConnectionClosed as end:
            return end.rcvd.code if end.rcvd else None


def types(conversation, *users):
    """Whether a message says that exactly these users type there."""
    return lambda message: (
        message["type"] == "typing"
        and message["conversation"] == conversation
        and message["count"] == len(users)
        and {typist["user"] for typist in message["users"]} == set(users)
    )


def is_now(user, status):
    return lambda message: message["type"] == "presence" and any(
        each["user"] == user and each["status"] == status for each in message["users"]
    )


async def welcomes(first, second, name):
    alice = await Device.hello(first, name("alice"), "phone")
    assert {"session", "worker", "time", "ping", "typing", "limits"} <= alice.welcome.keys(), alice.welcome
    assert alice.welcome["typing"] == {"expiry": 3000, "throttle": 1000}, alice.welcome
    await alice.say(type="ping")
    pong = await alice.hears("pong")
    assert abs(pong["time"] - alice.welcome["time"]) < 5000, pong
    await alice.say(type="goodbye")
    assert await alice.closed() == 1000


async def shows_typing(first, second, name):
    room = name("c42")
    alice = await Device.hello(first, name("alice"), "phone")
    bob = await Device.hello(second, name("bob"), "laptop")
    for device in (alice, bob):
        await device.takes_effect(type="join", conversation=room)
        await device.hears(types(room))
    await alice.takes_effect(type="typing", conversation=room, typing=True)
    await bob.hears(types(room, name("alice")), within=1)
    await bob.takes_effect(type="typing", conversation=room, typing=True)
    await alice.hears(types(room, name("bob")), within=1)
    await alice.takes_effect(type="typing", conversation=room, typing=False)
    await bob.hears(types(room), within=1)
    await bob.takes_effect(type="leave", conversation=room)
    await alice.hears(types(room), within=1)
    await alice.takes_effect(type="typing", conversation=room, typing=True)
    carol = await Device.hello(second, name("carol"), "laptop")
    await carol.say(type="join", conversation=room)
    await carol.hears(types(room, name("alice")), within=1)
    await carol.hears(types(room), within=3.6)
    # A typing user is never shown to themselves.
    assert not any(message["type"] == "typing" and message["count"] for message in alice.heard), alice.heard


async def shows_presence(first, second, name):
    alice, bob = name("alice"), name("bob")
    observer = await Device.hello(second, bob, "laptop", state="idle")
    unseen = (await observer.ask(type="get", users=[alice]))["users"]
    assert [(each["user"], each["status"], each["last_seen"]) for each in unseen] == [(alice, "offline", None)], unseen
    await observer.takes_effect(type="watch", users=[alice, bob])
    await observer.hears(is_now(alice, "offline"))
    phone = await Device.hello(first, alice, "phone")
    await observer.hears(is_now(alice, "online"))
    await phone.takes_effect(type="state", state="idle")
    await observer.hears(is_now(alice, "away"))
    laptop = await Device.hello(second, alice, "laptop")
    await observer.hears(is_now(alice, "online"))
    await laptop.say(type="goodbye")
    await observer.hears(is_now(alice, "away"))
    await phone.say(type="goodbye")
    gone = await observer.hears(is_now(alice, "offline"))
    (record,) = [each for each in gone["users"] if each["user"] == alice]
    assert abs(record["last_seen"] - observer.welcome["time"]) < 10_000, record
    assert record["version"] > unseen[0]["version"], (record, unseen)
    answer = await observer.ask(type="get", users=[alice, bob])
    assert answer["type"] == "presence"
    assert {each["user"]: each["status"] for each in answer["users"]} == {alice: "offline", bob: "away"}, answer
    await observer.takes_effect(type="unwatch", users=[alice])


async def takes_messages_behind_the_hello(first, second, name):
    device = Device(await connect(first, compression=None))
    await device.say(type="hello", token=name("alice"), device="phone", id="h", extra={"ignored": True})
    await device.say(type="join", conversation=name("c42"), id="j")
    await device.say(type="typing", conversation=name("c42"), typing=True, id="t")
    assert (await device.hears("welcome"))["user"] == name("alice")
    answers = [await device.hears(lambda message: "id" in message) for _ in range(3)]
    assert {answer["id"]: answer["type"] for answer in answers} == {"h": "ack", "j": "ack", "t": "ack"}, answers


async def answers_mistakes(first, second, name):
    alice = await Device.hello(first, name("alice"), "phone")
    for message, code in [
        ({"type": "dance"}, "unknown_type"),
        ({"type": "watch", "users": "bob"}, "bad_request"),
        ({"type": "join", "conversation": "a room"}, "bad_request"),
        ({"type": "typing", "conversation": name("c42"), "typing": True}, "not_joined"),
    ]:
        error = await alice.ask(**message)
        assert (error["type"], error["code"], error["retry"]) == ("error", code, False), error
        assert error["message"], error
    await alice.say(type="dance")
    error = await alice.hears("error")
    assert "id" not in error and error["code"] == "unknown_type", error
    await alice.takes_effect(type="state", state="active")


async def closes_on_nonsense(first, second, name):
    for number, (nonsense, code) in enumerate([
        ("this is no JSON", 4102),
        ("[]", 4102),
        (json.dumps({"type": "hello", "token": name("x0"), "device": "phone"}), 4102),
        (b"\x00\x01", 1003),
        (" " * 70_000, 1009),
    ]):
        device = await Device.hello(first, name(f"x{number}"), "phone")
        await device.socket.send(nonsense)
        closed = await device.closed()
        assert closed == code, (nonsense[:40], closed)
    stranger = Device(await connect(first, compression=None))
    await stranger.say(type="join", conversation=name("c42"))
    assert await stranger.closed() == 4102


async def replaces_the_older_session(first, second, name):
    older = await Device.hello(first, name("alice"), "phone")
    await older.takes_effect(type="state", state="active")
    newer = await Device.hello(second, name("alice"), "phone")
    assert await older.closed() == 4104
    goodbye = await older.hears("goodbye")
    assert goodbye["reason"] == "replaced" and goodbye["reconnect"] is False, goodbye
    await newer.takes_effect(type="state", state="idle")


async def main(first, second):
    stories = [
        welcomes, shows_typing, shows_presence, takes_messages_behind_the_hello, answers_mistakes, closes_on_nonsense,
        replaces_the_older_session,
    ]
    for story in stories:
        run = uuid.uuid4().hex[:8]
        await story(first, second, lambda text: f"{text}-{run}")
        print(f"interop: {story.__name__.replace('_', ' ')}")


if len(sys.argv) != 3:
    sys.exit("usage: interop.py EDGE EDGE")
asyncio.run(main(*sys.argv[1:]))
