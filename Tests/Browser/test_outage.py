"""A client is back soon after an outage, however long that was and whatever stands before the workers, and nobody sees it go.

`make test-browser` plays two rows; `make soak` plays all. OUTAGES=75,300 plays others.
"""

import contextlib
import json
import os
import threading
import time

import pytest
import websocket

import runtimes
from deployment import eventually, stopping
from network import Front
from pages import soak

FRONTS = {
    "nothing": {},
    "a policy without https": {"csp": "connect-src ws:"},
    "a site, 200": {"plain": "200 OK"},
    "a site, 404": {"plain": "404 Not Found"},
    "a site, 403": {"plain": "403 Forbidden"},
    "a login page": {"plain": "302 Found\r\nLocation: https://login.invalid/"},
    "a service worker": {},
    "a balancer, 503": {"away": "503 Service Unavailable"},
    "a gateway, 404 while away": {"away": "404 Not Found", "plain": "404 Not Found"},
    "a proxy that loses Upgrade": {"away": "426 Upgrade Required\r\nRollcall: 1"},
}
ALL = [(runtime, front, float(outage)) for outage in os.environ.get("OUTAGES", "0.2,2,5,20").split(",")
       for runtime in ("chromium", "firefox", "node", "node22", "swift") for front in FRONTS
       if runtime in ("chromium", "firefox") or front not in ("a policy without https", "a service worker")]
QUICK = [("chromium", "a policy without https", 0.2), ("node", "a site, 404", 2.0)]
ROWS = [pytest.param(*row, marks=() if row in QUICK else soak, id="-".join(map(str, row))) for row in {*ALL, *QUICK}]


class Observer:
    """Another user's device, which sees whether alice is online."""

    def __init__(self, edge):
        self.socket = websocket.create_connection(edge, suppress_origin=True)
        self.seen = []
        self.socket.send('{"type":"hello","token":"carol","device":"d"}')
        self.socket.send('{"type":"watch","users":["alice"]}')
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        with contextlib.suppress(Exception):
            while text := self.socket.recv():
                for user in json.loads(text).get("users", []):
                    if user.get("user") == "alice":
                        self.seen.append((time.time() * 1000, user["status"]))

    def stop(self):
        self.socket.close()


MAY_ASK = ("nothing", "a balancer, 503", "a proxy that loses Upgrade")


def longest(runtime, front, outage):
    """The most milliseconds until it is back. Browsers delay WebSockets by themselves, if the client may not ask otherwise."""
    pause = max(1_500, 100 * outage) + 1_000
    if front == "a proxy that loses Upgrade" and outage > 10:
        return 15_000
    if runtime == "firefox" and front not in MAY_ASK:
        return 10_000 if outage <= 30 else 65_000
    return pause + 4_500 if runtime == "chromium" and front not in MAY_ASK and outage > 5 else pause


@pytest.mark.parametrize(("runtime", "front", "outage"), sorted(ROWS, key=lambda row: row.id))
def test_c9_back_in_time_after_an_outage(driver, site, worker, runtime, front, outage):
    own = worker(presence__grace="5s", worker__lease="4s", edge__origins="*")
    pages_port = int(site.rpartition(":")[2])
    network = Front(own.port, pages_port, **FRONTS[front])
    with stopping(runtimes.start(runtime, driver, network, front == "a service worker")) as client, \
            stopping(Observer(own.edge)) as observer:
        eventually("it is connected", lambda: client.states()[-1:] and client.states()[-1][1] == "connected")
        # A page learns with the first pong whether it may ask.
        time.sleep(25 if runtime in ("chromium", "firefox") and front in MAY_ASK else 6)
        network.goes()
        time.sleep(outage)
        network.comes()
        end = time.time() * 1000
        eventually("it is back", lambda: client.states()[-1][1] == "connected" and len(
            [each for each in client.states() if each[1] == "connected"]) > 1, 90)
        late = client.states()[-1][0] - end
        time.sleep(1)
        offline = [f"{(at - end) / 1000:.1f}" for at, status in observer.seen if status == "offline" and at > end - 1000 * outage]
        network.close()
        print(f"{runtime}, {front}, {outage:g} s: back after {late / 1000:.2f} s, offline at {offline or 'no time'}")
    assert late < longest(runtime, front, outage)
    if outage + max(late, 0) / 1000 < 4.5:
        assert not offline
