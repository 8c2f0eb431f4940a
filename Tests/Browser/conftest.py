"""Fixtures: one browser, one web server, one Redis with two workers, and one `rollcall dev` per file."""

import contextlib
import itertools

import pytest

import pages
from certificate import Certificate
from demo import Demo
from deployment import Dev, Redis, Worker, stopping
from network import Network

numbers = itertools.count(1)


@pytest.fixture(scope="session")
def site():
    with pages.serving() as origin:
        yield origin


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    return Certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="session")
def driver(certificate):
    driver, watcher = pages.start_browser(certificate.hash)
    yield driver
    driver.quit()
    watcher.communicate(b"done\n")


@pytest.fixture(scope="session")
def redis():
    with stopping(Redis()) as server:
        yield server


@pytest.fixture(scope="session")
def workers(redis, site):
    with stopping(Worker("w1", redis, site)) as first, stopping(Worker("w2", redis, site)) as second:
        yield first, second


@pytest.fixture
def worker(redis, site):
    """Starts separate workers for one test."""
    with contextlib.ExitStack() as stack:
        yield lambda **settings: stack.enter_context(
            stopping(Worker(f"own{next(numbers)}", redis, site, **settings)))


@pytest.fixture
def network():
    """Puts a simulated network in front of a worker."""
    with contextlib.ExitStack() as stack:
        yield lambda worker: stack.enter_context(contextlib.closing(Network(worker.port)))


@pytest.fixture
def open_page(driver, site):
    """Opens pages that are closed after the test; fails if a page reported errors."""
    opened = []

    def open_one():
        opened.append(pages.Page(driver, f"{site}/page.html"))
        return opened[-1]

    yield open_one
    for page in opened:
        if page.handle in driver.window_handles:
            mistakes = page.run("return window.mistakes")
            page.close()
            assert not mistakes


@pytest.fixture
def page(open_page):
    return open_page()


@pytest.fixture(scope="module")
def dev():
    with stopping(Dev()) as running:
        yield running


@pytest.fixture
def open_demo(driver, dev):
    """Opens demo pages, whose width and media features are reset after the test."""
    opened = []

    def open_one(**choices):
        opened.append(Demo(driver, dev.ready["page"], **choices))
        return opened[-1]

    yield open_one
    for page in opened:
        page.show()
        page.emulate()
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.close()


@pytest.fixture
def demo(open_demo):
    return open_demo()


@pytest.fixture
def devices(demo):
    return [demo.device(name) for name in ("alice-phone", "bob-phone", "alice-laptop")]


@pytest.fixture
def room():
    """A conversation and users that no other test uses."""
    return Room(next(numbers))


class Room:
    def __init__(self, number):
        self.name = f"c{number}"
        self.alice, self.bob, self.carol = (f"{name}{number}" for name in ("alice", "bob", "carol"))
