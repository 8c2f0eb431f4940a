"""The demo page itself: who may request it, how it opens, and how it survives the end of what it shows."""

import http.client
import os
import shutil
import urllib.parse

import pytest
from selenium.webdriver.common.keys import Keys

from deployment import Dev, stopping
from pages import soak

pytestmark = soak


def ask(dev, method, path, **headers):
    """The status of a response of the page's server."""
    address = urllib.parse.urlsplit(dev.ready["page"]).netloc
    connection = http.client.HTTPConnection(address, timeout=10)
    named = {name.replace("_", "-"): value.replace("OWN", address) for name, value in headers.items()}
    connection.putrequest(method, path, skip_host=True)
    for name, value in ({"Host": address} | named).items():
        connection.putheader(name, value)
    connection.putheader("Content-Length", "0")
    connection.endheaders()
    return connection.getresponse().status


@pytest.mark.parametrize(("method", "headers", "status"), [
    ("GET", {}, 200),
    ("GET", {"Host": "localhost:8000"}, 200),
    ("GET", {"Host": "rebound.example:8000"}, 403),
    ("GET", {"Host": "127.0.0.1.rebound.example"}, 403),
    ("GET", {"Host": "[::1"}, 403),
])
def test_the_page_answers_to_its_own_name_only(dev, method, headers, status):
    assert ask(dev, method, "/settings.json", **headers) == status


@pytest.mark.parametrize(("headers", "status"), [
    ({}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "https://other.example"}, 403),
    ({"Origin": "http://127.0.0.1:1"}, 403),
    ({"Host": "rebound.example", "Origin": "http://rebound.example"}, 403),
    ({"Origin": "http://OWN"}, 404),
])
def test_no_other_page_may_break_anything(dev, headers, status):
    assert ask(dev, "POST", "/parts/nothing/crash", **headers) == status


def test_an_open_page_goes_over_to_a_deployment_that_was_started_anew(demo, devices):
    demo.run(
        """
        window.isOld = true;
        window.fetch = async () => Response.json({ workers: [{ id: "w1", edge: "ws://127.0.0.1:1" }], down: [] });
        """)
    for device in devices:
        device.press("leave")
    demo.until("it is loaded anew", "!window.isOld && document.querySelectorAll('.badge[data-worker^=w]').length === 3",
               within=20)


def test_a_page_that_is_opened_before_all_runs_says_so_and_waits(demo, dev):
    script = """
        const real = window.fetch;
        window.fetch = (...all) => window.runs ? real(...all) : Promise.resolve(new Response("", { status: 503 }));
        """
    added = demo.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    demo.load(dev.ready["page"])
    demo.until("it says so", "document.querySelector('#starting:not([hidden])')")
    demo.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)
    demo.run("window.runs = true")
    demo.until("all is there", "document.querySelectorAll('.badge[data-worker^=w]').length === 3", within=20)
    assert not demo.run("return document.querySelector('#starting')")


def test_where_no_browser_can_be_opened_all_else_runs(tmp_path):
    for name in ("redis-server", "redis-cli", "sh", "mkdir", "rm", "cat", "kill", "sleep"):
        if program := shutil.which(name):
            (tmp_path / name).symlink_to(program)
    with stopping(Dev("--open", env=os.environ | {"PATH": str(tmp_path)})) as running:
        assert ask(running, "GET", "/settings.json") == 200


def test_the_console_stays_silent(demo, devices):
    alice, bob, _ = devices
    demo.console()
    alice.field.send_keys("Hello", Keys.ENTER)
    bob.has_message("Hello")
    bob.press("drop")
    bob.press("restore")
    bob.press("background")
    bob.press("active")
    demo.press("#group")
    demo.press("#theme [value=dark]")
    demo.run("for (const each of document.querySelectorAll('details')) each.open = true")
    demo.until("frames are shown", "document.querySelectorAll('.wire li').length > 5")
    demo.press("#crowd")
    assert demo.console() == []
