"""The faults that the demo page can cause, and how it shows them: networks, workers, Redis."""

import time

from selenium.webdriver.common.keys import Keys

from demo import BY_THEN, GRACE, LEASE
from deployment import eventually
from pages import soak

pytestmark = soak


def test_a_dropped_network_is_seen_after_the_grace_and_so_is_its_return(demo, devices):
    alice, bob, _ = devices
    alice.says("Online")
    start = time.monotonic()
    bob.loses_network()
    alice.says("Offline", within=GRACE + BY_THEN)
    assert time.monotonic() - start > GRACE - 1, "not before the grace has passed"
    bob.field.send_keys("Written in a tunnel", Keys.ENTER)
    demo.until(
        "the message waits", "document.querySelector('[data-device=bob-phone] .message:last-child .time')"
        ".textContent === 'waiting…'")
    bob.press("restore")
    alice.says("Online")
    alice.has_message("Written in a tunnel")


def test_a_short_tunnel_is_not_seen_at_all(demo, devices):
    alice, bob, _ = devices
    alice.says("Online")
    alice.record_line()
    bob.loses_network()
    bob.press("restore")
    bob.says("Online")
    demo.until("the grace has passed", "document.querySelector('.verdict.unnoticed')", within=12)
    assert alice.recorded_lines == ["Online"]


def test_without_a_network_nothing_reaches_a_device_whatever_it_opens(demo, devices):
    alice, bob, _ = devices
    has = ("[...document.querySelectorAll('[data-device=bob-phone] .words')]"
           ".some((each) => each.textContent === arguments[0])")
    bob.loses_network()
    alice.field.send_keys("Too far away", Keys.ENTER)
    alice.has_message("Too far away")
    bob.field.send_keys("In a tunnel", Keys.ENTER)
    bob.has_message("In a tunnel")
    demo.press("#group")
    assert not demo.run(f"return {has}", "In a tunnel"), "it waits in its own conversation"
    demo.press("#conversations [value=direct]")
    assert demo.run(f"return {has}", "In a tunnel")
    assert not demo.run(f"return {has}", "Too far away")
    bob.press("restore")
    bob.has_message("Too far away")
    alice.has_message("In a tunnel")


def test_who_was_seen_gone_is_told_of_what_caused_it_whatever_was_done_since(demo, devices):
    alice, bob, _ = devices
    alice.says("Online")
    bob.press("drop")
    alice.field.send_keys("Are you there?")
    alice.says("Offline", within=GRACE + BY_THEN)
    demo.until("all has been watched", "!document.querySelector('#told').textContent.includes('Watching')", within=12)
    assert not demo.run("return document.querySelector('.verdict.unnoticed')")
    acts = demo.run("return [...document.querySelectorAll('.act')].map((each) => each.innerText)")
    dropped = next(act for act in acts if act.startswith("Bob’s phone: network dropped"))
    assert "Bob is offline" in dropped


def test_what_is_typed_anew_is_measured_anew(demo):
    acts = demo.run(
        """
        const { Timeline } = await import("/model/timeline.js");
        const timeline = new Timeline();
        const first = timeline.continued("typing", "Alice’s phone");
        const same = timeline.continued("typing", "Alice’s phone");
        const others = timeline.continued("typing", "Bob’s phone");
        timeline.withdrawn("Bob’s phone");
        return [first === same, first === others, others === timeline.continued("typing", "Bob’s phone")];
        """)
    assert acts == [True, False, False]


def record_lines(devices):
    for device in devices:
        device.record_line()


def expect_no_flap(demo, devices):
    demo.until("the lease has passed", "document.querySelector('.act.newest .verdict.unnoticed')", within=LEASE + 7)
    for device in devices:
        assert set(device.recorded_lines) <= {"Online", "Connecting…"}, device.name


def test_a_killed_worker_makes_nobody_flap(demo, devices):
    alice, bob, _ = devices
    alice.says("Online")
    assert {alice.worker, bob.worker} == {"w1", "w2"}, "neighbours are on different workers"
    record_lines(devices)
    other, killed = alice.worker, bob.worker
    demo.crash(killed)
    eventually("Bob's phone is with the other worker", lambda: bob.worker == other)
    expect_no_flap(demo, devices)
    demo.start(killed)
    demo.until("it holds devices or none", "document.querySelectorAll('.part.down').length === 0")


def test_redis_killed_and_started_again_is_weather(demo, devices):
    alice, bob, _ = devices
    alice.says("Online")
    record_lines(devices)
    demo.crash("redis")
    expect_no_flap(demo, devices)
    demo.start("redis")
    expect_no_flap(demo, devices)
    # Signals are refused while Redis is away, so the test types until Redis is back.
    eventually("typing is seen again", lambda: alice.field.send_keys("x") or bob.shows_dots)
    alice.field.send_keys(Keys.ENTER)
    bob.says("Online")


def test_a_part_that_is_down_is_shown_so_after_a_reload(demo, dev):
    demo.crash("w2")
    demo.load(dev.ready["page"])
    demo.until("it is shown as down", "document.querySelector('.part.down')")
    demo.start("w2")


def test_what_another_window_killed_is_shown_once_one_looks(demo):
    demo.run("await fetch('parts/w2/crash', { method: 'POST' })")
    assert not demo.run("return document.querySelector('.part.down')")
    demo.run("dispatchEvent(new Event('focus'))")
    demo.until("it is shown as down", "document.querySelector('.part.down')")
    demo.start("w2")


def test_who_asks_twice_for_a_start_is_answered_once_it_runs(demo):
    demo.crash("w2")
    starts = "await Promise.all([1, 2].map(() => fetch('parts/w2/start', { method: 'POST' }).then(async () => ("
    starts += "(await (await fetch('settings.json')).json()).down))))"
    assert demo.run(f"return {starts}") == [[], []]


def test_a_busy_button_asks_once(demo):
    asked = demo.run(
        """
        window.asked = 0;
        const real = window.fetch;
        window.fetch = (...all) => { asked += 1; return real(...all); };
        const button = document.querySelector(".part[data-part=w2] button");
        button.click();
        button.click();
        return asked;
        """)
    assert asked == 1
    demo.until("it is down", "document.querySelector(arguments[0])", f"{demo.part('w2')}.down:not([aria-busy])")
    demo.start("w2")


def test_why_a_part_cannot_start_is_said(demo):
    demo.crash("redis")
    demo.crash("w2")
    demo.press(f"{demo.part('w2')} button")
    demo.until(
        "the reason is shown", "document.querySelector(arguments[0]).textContent", f"{demo.part('w2')} .failure", within=20)
    demo.start("redis")
    demo.start("w2")
    assert demo.text(f"{demo.part('w2')} .failure") == ""
