"""A page is back soon after an outage, however long that was: also in Firefox, which holds back WebSockets after failures."""

import time

import pytest

import pages
from deployment import eventually, stopping
from firefox import Firefox
from network import Network
from pages import soak

CONNECT = """
    window.client = new rollcall.RollcallClient({ url: "%s", token: "alice" });
    window.states = [];
    client.connection.subscribe(({ status }) => states.push([Date.now(), status]));
    client.connect();
"""


class Chromium(pages.Page):
    def stop(self):
        self.run("client.close()")
        self.close()


@pytest.fixture(params=["chromium", "firefox"])
def browser(request, driver, site):
    start = Firefox if request.param == "firefox" else lambda url: Chromium(driver, url)
    with stopping(start(f"{site}/page.html")) as browser:
        eventually("the module is loaded", lambda: browser.run("return Boolean(window.rollcall)"))
        yield browser


@soak
@pytest.mark.parametrize("outage", [20, 60])
def test_c9_back_within_2500_ms_of_the_end_of_an_outage(browser, workers, outage):
    network = Network(workers[0].port)
    port = network.port
    browser.run(CONNECT % network.edge)
    eventually("it is connected", lambda: browser.run("return states.at(-1)?.[1]") == "connected")
    time.sleep(6)
    network.close()
    time.sleep(outage)
    network = Network(workers[0].port, port)
    end = time.time() * 1000
    eventually("it is back", lambda: browser.run("return states.at(-1)[1]") == "connected", 60)
    late = browser.run("return states.at(-1)[0]") - end
    network.close()
    print(f"{type(browser).__name__}: back {late:.0f} ms after an outage of {outage} s")
    assert late < 2500
