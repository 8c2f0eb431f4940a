"""The live page as operators see it, and devices that count every message."""

import contextlib
import json
import socket
import threading

import websocket

from deployment import eventually
from pages import Page


class Device:
    """One session of the bare protocol, which counts what it sends and receives."""

    def __init__(self, worker, user, device, conversation=None):
        self.socket = websocket.create_connection(worker.edge, timeout=20, suppress_origin=True)
        self.heard = []
        self.signals = 0
        self.asked = 0
        threading.Thread(target=self._hear, daemon=True).start()
        self.ask(type="hello", token=user, device=device)
        self.until("welcome")
        if conversation:
            self.conversation = conversation
            self.ask(type="join", conversation=conversation)

    def _hear(self):
        with contextlib.suppress(OSError, websocket.WebSocketException):
            while text := self.socket.recv():
                self.heard.append(json.loads(text))

    def until(self, kind, **fields):
        return eventually(f"{kind} is heard", lambda: next(
            (each for each in self.heard if each["type"] == kind and fields.items() <= each.items()), None))

    def ask(self, **message):
        """Sends a message, and waits until it has taken effect."""
        self.asked += 1
        self.socket.send(json.dumps(message | {"id": self.asked}))
        if message["type"] != "hello":
            self.until("ack", id=self.asked)

    def type(self, times=1):
        for _ in range(times):
            self.signals += 1
            self.ask(type="typing", conversation=self.conversation, typing=True)

    def drop(self):
        """Closes the connection without a close frame."""
        self.socket.sock.shutdown(socket.SHUT_RDWR)


class Live(Page):
    """The page of a worker, newly loaded."""

    def __init__(self, driver, worker):
        super().__init__(driver, f"{worker.admin}/live")

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? null", selector)

    def row(self, worker):
        """The values in a worker's row, by column title."""
        return self.run(
            "return Object.fromEntries([...document.querySelectorAll(`[data-worker='${arguments[0]}'] > [data-title]`)]"
            ".map((cell) => [cell.dataset.title, cell.innerText.replaceAll('\\n', ' ')]))", worker.incarnation)

    def state(self, worker):
        return self.run(
            "return document.querySelector(`[data-worker='${arguments[0]}']`)?.dataset.state", worker.incarnation)

    def value(self, title, line=0):
        """The current value of a chart."""
        return self.run(
            "return [...document.querySelectorAll('.chart')].find((each) => each.querySelector('h2').innerText ==="
            " arguments[0]).querySelectorAll('.value b')[arguments[1]].innerText", title, line)

    def look_up(self, user):
        self.run(
            "const field = document.getElementById('user'); field.value = arguments[0]; field.form.requestSubmit()",
            user)
        eventually(f"{user} is looked up", lambda: self.text("#answer:not([hidden]) #answer-user") == user)

    def shows(self):
        self.until("it shows something", "!document.getElementById('all').hidden")

    @property
    def banner(self):
        return self.text("#banner:not([hidden])")
