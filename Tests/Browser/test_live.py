"""The live page of the admin port shows what happens."""

import contextlib
import http.client
import re
import time

import pytest
from selenium.webdriver.common.keys import Keys

from deployment import Redis, Worker, eventually, free_port, stopping
from live import Device, Live
from pages import CONTRASTS, soak

SETTINGS = {"typing.throttle": "0s", "typing.expiry": "8s", "presence.grace": "30s"}


@pytest.fixture
def deploy(site):
    """Starts a separate Redis and workers for one test."""
    with contextlib.ExitStack() as stack:
        def start(*names, **settings):
            redis = stack.enter_context(stopping(Redis()))
            return redis, *(
                stack.enter_context(stopping(Worker(name, redis, site, **SETTINGS, **settings))) for name in names)
        yield start


@pytest.fixture
def open_live(driver):
    opened = []

    def open_one(worker):
        opened.append(Live(driver, worker))
        return opened[-1]

    yield open_one
    for page in opened:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})
        page.run("sessionStorage.clear()")
        page.close()


@soak
def test_its_figures_are_a_count_by_hand(deploy, open_live):
    _, first, second = deploy("w1", "w2")
    page = open_live(first)
    here = [Device(first, f"alice{number}", "phone", "c42") for number in range(3)]
    there = [Device(second, f"bob{number}", "phone", "c42") for number in range(5)]
    for number, device in enumerate(here + there):
        device.type(number + 1)
    eventually("all are seen to type", lambda: (page.text("#busy li") or "").split("\n")[:3] == [
        "c42", "8 typing", "3 joined"])
    for worker, devices in ((first, here), (second, there)):
        sent = sum(device.signals for device in devices)

        def expected():
            # Messages of all types, including answers.
            heard = sum(len(device.heard) for device in devices)
            row = page.row(worker)
            return row and [row["Sessions"], row["Signals"].split()[-3], row["Published"].split()[-3],
                            row["Deliveries"].split()[-3]] == [f"{len(devices)}", f"{sent}", f"{sent}", f"{heard}"]
        eventually("the row agrees", expected)
        assert page.state(worker) == "alive"
    assert page.value("Sessions") == "8"
    assert re.fullmatch(r"[\d.]+ ms", page.value("Redis, a minute’s round trips"))
    assert page.console() == []


@soak
def test_its_rates_are_those_of_the_devices(deploy, open_live):
    _, worker = deploy("w1")
    page = open_live(worker)
    device = Device(worker, "alice", "phone", "c42")
    begin, sent = time.monotonic(), []

    def agrees():
        time.sleep(0.05)
        device.type()
        now = time.monotonic()
        sent.append(now)
        if now < begin + 5:
            return False
        rate = len([moment for moment in sent if moment > now - 3]) / 3
        shown = float(page.value("Typing signals").split()[0])
        return rate / 1.5 < shown < rate * 1.5

    eventually("the page shows how often somebody types", agrees, within=30)
    eventually("it falls back", lambda: page.value("Typing signals") == "0 /s")


def test_strangers_names_are_text(deploy, open_live):
    _, worker = deploy("w1")
    page = open_live(worker)
    name = "<img/src=x>&amp;<b>"
    device = Device(worker, name, "<script>", name)
    device.type()
    eventually("it is shown", lambda: (page.text("#busy .name") or "") == name)
    page.look_up(name)
    assert page.text("#devices .name") == "<script>"
    assert not page.run("return document.querySelector('main img, main script')")
    assert page.console() == []


@soak
def test_a_user_in_grace_is_explained_and_one_never_seen_too(deploy, open_live):
    _, first, second = deploy("w1", "w2")
    page = open_live(second)
    page.shows()
    device = Device(first, "bob", "iphone")
    page.look_up("bob")
    eventually("connected", lambda: page.text("#answer-rule") == f"online: iphone is active on {first.incarnation}")
    device.drop()
    eventually("the rule says for how long", lambda: re.fullmatch(
        r"online: iphone was active when its connection was lost .* ago, and counts for .* more",
        page.text("#answer-rule")))
    row = page.text("#devices tbody tr")
    assert "iphone" in row and "in grace: lost" in row and first.incarnation in row.replace("\n", "")
    assert page.text("#answer-status") == "online"
    page.look_up("nobody")
    assert page.text("#answer-status") == "unknown" and not page.text("#devices:not([hidden])")
    page.look_up("a{b")
    assert "not a valid name" in page.text("#answer-rule")
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert page.run("return document.getElementById('answer').hidden && document.activeElement.id === 'user'")


@soak
def test_a_dead_worker_is_shown_so_and_who_settled_what_it_left(deploy, open_live):
    _, first, second = deploy("w1", "w2", worker__lease="4s")
    Device(second, "carol", "tablet")
    page = open_live(first)
    eventually("it is alive", lambda: page.state(second) == "alive")
    second.crash()
    eventually("it is dead", lambda: page.state(second) in ("dead", "died"))
    eventually("it is settled, and not forgotten", lambda: page.state(second) == "died")
    eventually("the log says so", lambda: "swept a dead worker" in page.text("#events [data-kind=mended]"))
    assert second.incarnation in page.text("#events [data-kind=mended] code")


@soak
def test_it_wants_the_token_where_the_port_does(deploy, open_live, tmp_path):
    (tmp_path / "token").write_text("0123456789abcdef", encoding="utf-8")
    _, worker = deploy("w1", admin__token_file=tmp_path / "token")
    page = open_live(worker)
    field = lambda: page.driver.find_element("id", "token")
    eventually("it asks", lambda: page.text("#token-form:not([hidden])"))
    assert page.run("return document.activeElement.id") == "token" and page.text("#all:not([hidden])") is None
    field().send_keys("wrong", Keys.ENTER)
    eventually("it says that it is wrong", lambda: "Wrong token" in (page.text("#token-failure") or ""))
    # Regression: a header contains bytes. With letters beyond Latin-1, no request was sent, and no worker seemed to
    # answer.
    for beyond in ("t\u20acken", "\u00e9"):
        page.run("document.getElementById('token-failure').textContent = ''")
        field().send_keys(beyond, Keys.ENTER)
        eventually("that is wrong, too", lambda: "Wrong token" in (page.text("#token-failure") or ""))
    asked = page.run("return performance.getEntriesByType('resource').length")
    page.run("const field = document.getElementById('user'); field.value = 'alice'; field.form.requestSubmit()")
    assert page.run("return performance.getEntriesByType('resource').length") == asked, "nothing is asked without it"
    field().send_keys("0123456789abcdef", Keys.ENTER)
    page.shows()
    eventually("alice is looked up then", lambda: page.text("#answer:not([hidden]) #answer-user") == "alice")
    assert page.text("#token-form:not([hidden])") is None
    page.load(f"{worker.admin}/live")
    page.shows()
    assert page.run("return [localStorage.length, location.href]") == [0, f"{worker.admin}/live"]


@soak
def test_while_redis_is_away_it_says_so_and_keeps_what_it_knew(deploy, open_live, site):
    port = free_port()
    with stopping(Redis(port)) as redis, stopping(Worker("w1", redis, site)) as worker:
        page = open_live(worker)
        eventually("it is alive", lambda: page.state(worker) == "alive")
        redis.stop()
        eventually("it says so", lambda: (page.banner or "").startswith("Redis is away"))
        assert page.state(worker) == "alive", "the figures from before stay"
        with stopping(Redis(port)):
            eventually("it is back", lambda: page.banner is None)
            assert page.text("#announcement") == "The figures are live again."
            eventually("faults and mending are told", lambda: page.run(
                "return new Set([...document.querySelectorAll('#events li')].map((each) => each.dataset.kind)).size > 1"))
        worker.crash()
        eventually("nobody answers", lambda: (page.banner or "").startswith("This worker does not answer"))


@soak
def test_who_opens_it_while_redis_is_away_sees_what_the_worker_knows(deploy, open_live, site):
    """Regression: it answered 503, and the page stayed empty."""
    with stopping(Redis()) as redis, stopping(Worker("w1", redis, site)) as worker:
        redis.stop()
        page = open_live(worker)
        eventually("it says so", lambda: (page.banner or "").startswith("Redis is away"))
        eventually("it shows what happened", lambda: "Redis lost" in (page.text("#events") or ""))
        assert "the workers are not known" in page.text("#workers")
        assert page.text("#source").startswith(f"As {worker.incarnation}")


@soak
def test_what_stays_the_same_is_left_alone(deploy, open_live):
    """Regression: a selection, and the position of a screen reader, were lost every second."""
    _, worker = deploy("w1")
    page = open_live(worker)
    eventually("it is alive", lambda: page.state(worker) == "alive")
    page.run("""
        window.kept = [...document.querySelectorAll("#workers th, #workers td, #events li, #events time")];
        getSelection().selectAllChildren(document.querySelector("#workers .name"))""")
    Device(worker, "alice", "phone", "c42").type(3)
    eventually("it goes on", lambda: page.row(worker)["Sessions"] == "1" and page.row(worker)["Signals"].split()[-3] == "3")
    assert page.run("return kept.every((each) => each.isConnected)")
    assert page.run("return getSelection().toString()") == worker.incarnation


@soak
@pytest.mark.parametrize("width", [360, 820, 1400])
def test_it_fits_the_screen(deploy, open_live, width):
    _, worker = deploy("a-worker-with-quite-a-long-name-of-its-own")
    page = open_live(worker)
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
    Device(worker, "alice", "phone", "c" * 128).type()
    eventually("it is shown", lambda: page.text("#busy .name"))
    assert page.run("return document.documentElement.scrollWidth") <= width


@soak
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_can_be_read(deploy, open_live, theme):
    _, first, second = deploy("w1", "w2")
    page = open_live(first)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    Device(first, "alice", "phone", "c42").type()
    page.shows()
    second.crash()
    eventually("all colours are there", lambda: page.state(second) == "died")
    page.look_up("alice")
    assert page.run(CONTRASTS) == []
    assert page.run("return getComputedStyle(document.body).color") == {
        "light": "rgb(22, 24, 36)", "dark": "rgb(236, 238, 246)"}[theme]


@soak
def test_anybody_gets_the_page_and_nobody_frames_it(deploy):
    _, worker = deploy("w1")
    connection = http.client.HTTPConnection(worker.admin.removeprefix("http://"), timeout=10)
    for path, kind in (("/live", "text/html"), ("/live/live.js", "text/javascript"), ("/live/live.css", "text/css")):
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == 200 and answer.headers["content-type"] == f"{kind}; charset=utf-8" and answer.read()
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
