"""The demo page itself: who may request it, and what it writes to the console."""

import http.client
import urllib.parse

import pytest
from selenium.webdriver.common.keys import Keys

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
    assert ask(dev, "PUT", "/people/alice/blocked/{", **headers) == (400 if status == 404 else status)


def test_the_console_stays_silent(demo, devices):
    alice, bob, _ = devices
    demo.console()
    alice.field.send_keys("Hello", Keys.ENTER)
    bob.has_message("Hello")
    bob.press("drop")
    bob.press("restore")
    bob.press("background")
    bob.press("active")
    demo.press("#conversations [value=group]")
    demo.press("#crowd")
    assert demo.console() == []
