"""Compares the AsyncAPI documents with the messages of real workers and devices, over WebSocket and Redis."""

import asyncio
import contextlib
import json
import re
import threading
import urllib.error
import urllib.request

import redis as client
import websockets

from conftest import TOKEN
from deployment import eventually


class Listener:
    """Receives every channel of a Redis."""

    def __init__(self, port):
        self.heard = []
        self.pubsub = client.Redis(port=port, protocol=2).pubsub(ignore_subscribe_messages=True)
        self.pubsub.psubscribe("*")
        assert eventually("the listener listens", lambda: self.pubsub.subscribed)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        with contextlib.suppress(client.ConnectionError):  # the end of the test is the server's
            for message in self.pubsub.listen():
                self.heard.append((message["channel"].decode(), message["data"].decode()))


class Device:
    """One connection, which keeps all of its messages."""

    def __init__(self, socket):
        self.socket, self.said, self.heard, self.next = socket, [], [], 0

    @classmethod
    async def connect(cls, worker, user, device, **hello):
        self = cls(await websockets.connect(worker.edge))
        self.reading = asyncio.create_task(self.read())
        await self.ask(type="hello", token=user, device=device, **hello)
        return self

    async def read(self):
        try:
            async for text in self.socket:
                self.heard.append(json.loads(text))
        except websockets.ConnectionClosed:
            pass

    async def say(self, **message):
        self.said.append(message)
        await self.socket.send(json.dumps(message))

    async def ask(self, **message):
        """Sends a message, and waits for its answer."""
        self.next += 1
        await self.say(id=self.next, **message)
        return await self.hears(lambda heard: heard.get("id") == self.next)

    async def hears(self, wanted):
        async with asyncio.timeout(10):
            while True:
                found = next((message for message in self.heard if wanted(message)), None)
                if found:
                    return found
                await asyncio.sleep(0.01)

    async def closed(self):
        async with asyncio.timeout(10):
            await self.socket.wait_closed()
            await self.reading
            return self.socket.close_code


async def admin(worker, method, path, body=None):
    request = urllib.request.Request(
        worker.admin + path, method=method, data=body and json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
    try:
        answer = await asyncio.to_thread(urllib.request.urlopen, request)
    except urllib.error.HTTPError as refusal:  # who has just started erases nobody yet
        assert refusal.code == 503
        await asyncio.sleep(int(refusal.headers["Retry-After"]))
        answer = await asyncio.to_thread(urllib.request.urlopen, request)
    assert answer.status in (200, 204)


async def a_day(first, second):
    """Sends every valid kind of message, and some invalid ones. Returns the devices."""
    phone = await Device.connect(first, "alice", "phone", state="idle")
    desk = await Device.connect(second, "bob", "desk")
    await admin(first, "PUT", "/v1/conversations/c42/members", {"members": {"alice": "Alice", "bob": ""}})
    await desk.ask(type="watch", users=["alice", "nobody"])
    await desk.ask(type="join", conversation="c42", presence=True)
    await phone.ask(type="join", conversation="c42")
    await phone.ask(type="state", state="active")
    await phone.ask(type="token", token="alice")
    await phone.ask(type="typing", conversation="c42", typing=True)
    await desk.hears(lambda heard: heard["type"] == "typing" and heard["count"] == 1)
    await phone.ask(type="typing", conversation="c42", typing=False)
    await phone.ask(type="get", users=["bob"])
    await phone.say(type="ping")
    await phone.hears(lambda heard: heard["type"] == "pong")
    assert (await phone.ask(type="typing", conversation="c1", typing=True))["code"] == "not_joined"
    assert (await phone.ask(type="watch", users=[]))["type"] == "ack"
    await desk.ask(type="unwatch", users=["alice"])
    await admin(first, "PUT", "/v1/conversations/c42/members/carol", {"name": "Carol"})
    await admin(first, "DELETE", "/v1/conversations/c42/members/alice")
    await phone.hears(lambda heard: heard["type"] == "removed")
    assert (await phone.ask(type="join", conversation="c42"))["code"] == "not_a_member"
    await desk.ask(type="leave", conversation="c42")
    newer = await Device.connect(second, "alice", "phone")
    assert await phone.closed() == 4104
    await admin(second, "DELETE", "/v1/users/alice/sessions?device=phone")
    assert await newer.closed() == 4106
    erased = await Device.connect(first, "dave", "phone")
    await admin(second, "DELETE", "/v1/users/dave")
    assert await erased.closed() == 4106
    left = await Device.connect(first, "erin", "phone")
    second.child.terminate()
    assert await desk.closed() == 4000
    await left.say(type="goodbye")
    assert await left.closed() == 1000
    return phone, desk, newer, erased, left


def test_what_is_said_is_what_the_documents_say(redis, workers, edge, channels):
    listener = Listener(redis.port)
    devices = asyncio.run(a_day(*workers))
    eventually("the last is heard", lambda: any('"erin","status":"offline"' in data for _, data in listener.heard))
    seen = set()
    for device in devices:
        for operation, messages in ("hear", device.said), ("tell", device.heard):
            for message in messages:
                kinds = edge.kinds(message, operation)
                assert len(kinds) == 1, (message, edge.complaint(message, operation))
                seen.update(kinds)
    assert seen == set(edge.tree["components"]["messages"])
    expect_channels(listener.heard, channels)


def expect_channels(heard, channels):
    seen = set()
    for name, data in heard:
        kind, key = re.fullmatch(r"(\w+):(\{[^{}]+\})", name).groups()
        assert channels.tree["channels"][kind]["address"].startswith(kind + ":{"), name
        message = json.loads(data)
        kinds = channels.kinds(message, kind)
        assert len(kinds) == 1, (name, message, channels.complaint(message, kind))
        seen.update(kinds)
        for field in message:
            without = {key: value for key, value in message.items() if key != field}
            assert field == "name" and "typing" in message or not channels.kinds(without, kind), f"{field} is missing"
            assert not channels.kinds({**message, field: [1]}, kind), f"{field} is a list"
        assert not channels.kinds({**message, "surprise": 1}, kind)
    assert seen == set(channels.tree["components"]["messages"]), "every message of the channels was heard"
