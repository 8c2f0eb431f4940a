"""The demo page of `rollcall dev`: a chat on three devices, and everything that can go wrong."""

import http.client
import os
import shutil
import time
import urllib.parse

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from conftest import stopping
from demo import Demo
from deployment import Dev, eventually

# As `rollcall dev` has them.
GRACE, LEASE = 5.0, 5.0
BY_THEN = 2.0


@pytest.fixture(scope="module")
def dev():
    with stopping(Dev()) as running:
        yield running


@pytest.fixture
def open_demo(driver, dev):
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


def test_typing_shows_on_the_others_and_clears_on_send(demo, devices):
    alice, bob, laptop = devices
    alice.field.send_keys("Hello")
    bob.says("Alice is typing…")
    assert bob.shows_dots
    assert not laptop.shows_dots, "nobody sees themselves typing"
    alice.field.send_keys(Keys.ENTER)
    bob.says("Online")
    assert not bob.shows_dots
    for device in devices:
        device.has_message("Hello")
    assert alice.field.get_property("value") == ""
    assert "Bob’s phone" in demo.text("#told"), "the timeline says who was told"


def test_nothing_moves_when_somebody_begins_to_type(demo, devices):
    alice, bob, _ = devices
    watched = (".messages", ".message:last-child", ".composer", ".chat-header")
    before = [bob.box(each) for each in watched]
    alice.field.send_keys("Hello")
    bob.says("Alice is typing…")
    assert [bob.box(each) for each in watched] == before
    alice.field.send_keys(Keys.BACKSPACE * 5)
    bob.says("Online")
    assert [bob.box(each) for each in watched] == before


def test_a_dropped_network_is_seen_after_the_grace_and_so_is_its_return(demo, devices):
    alice, bob, _ = devices
    alice.says("Online")
    start = time.monotonic()
    bob.press("drop")
    bob.says("No network")
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
    demo.record("seen", f"{alice.root} .chat-line")
    bob.press("drop")
    bob.says("No network")
    bob.press("restore")
    bob.says("Online")
    demo.until("the grace has passed", "document.querySelector('.verdict.unnoticed')", within=12)
    assert demo.recorded("seen") == ["Online"]


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


def holds(demo):
    """How many devices the workers hold for this window."""
    return demo.run(
        "return [...document.querySelectorAll('[data-part=role]')]"
        ".reduce((sum, each) => sum + (Number(each.textContent.match(/\\d+/)?.[0]) || 0), 0)")


def test_a_pause_keeps_the_bots_from_other_windows_and_outlasts_a_look_elsewhere(demo):
    held = "return (await navigator.locks.query()).held.length"
    demo.press("#group")
    eventually("the bots are here", lambda: holds(demo) == 9)
    demo.press("#crowd")
    assert demo.run(held) == 1
    demo.press("#conversations [value=direct]")
    demo.press("#group")
    assert demo.text("#crowd") == "Let the bots go on"
    demo.until("nobody types", "!document.querySelector('.typing-row.active')")
    assert demo.run(held) == 1
    assert holds(demo) == 9


def test_the_bots_are_in_the_window_that_is_seen(open_demo):
    first = open_demo()
    first.press("#group")
    eventually("the bots are in the first window", lambda: holds(first) == 9)
    second = open_demo()
    second.press("#group")
    eventually("the bots are in the second window", lambda: holds(second) == 9)
    eventually("the bots are in the first window again", lambda: holds(first) == 9)


def test_of_many_messages_the_newest_stand_there_in_their_order(demo):
    demo.run(
        """
        const windows = new BroadcastChannel("rollcall-demo");
        const message = (id, at) => ({ id, conversation: "c42", from: "bob", text: id, at });
        const now = Date.now();
        const messages = Array.from({ length: 70 }, (_, index) => message(`m${index}`, now + 10 * index));
        windows.postMessage({ kind: "messages", messages });
        windows.postMessage({ kind: "messages", messages: [message("late", now + 685)] });
        """)
    texts = "[...document.querySelectorAll('[data-device=alice-phone] .words')].map((each) => each.textContent)"
    demo.until("all have come", f"{texts}.includes('late')")
    wanted = [f"m{index}" for index in range(11, 69)] + ["late", "m69"]
    assert demo.run(f"return {texts}") == wanted
    assert demo.run("return document.querySelector('[data-device=alice-phone] .message').classList.contains('begins')")


def test_without_a_network_nothing_reaches_a_device_whatever_it_opens(demo, devices):
    alice, bob, _ = devices
    has = ("[...document.querySelectorAll('[data-device=bob-phone] .words')]"
           ".some((each) => each.textContent === arguments[0])")
    bob.press("drop")
    bob.says("No network")
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


def test_background_idle_and_signing_out_are_seen_at_once(demo, devices):
    alice, bob, _ = devices
    for button, seen in (("idle", "Away"), ("background", "Offline"), ("active", "Online"), ("leave", "Offline")):
        bob.press(button)
        alice.says(seen, within=BY_THEN)
    bob.press("open")
    alice.says("Online")


def test_who_is_on_two_devices_stays_when_one_goes(demo, devices):
    alice, bob, laptop = devices
    bob.says("Online")
    demo.record("seen", f"{bob.root} .chat-line")
    alice.press("leave")
    laptop.press("idle")
    bob.says("Away")
    laptop.press("active")
    bob.says("Online")
    assert demo.recorded("seen") == ["Online", "Away", "Online"]


def record_lines(demo, devices):
    for device in devices:
        demo.record(device.name, f"{device.root} .chat-line")


def expect_no_flap(demo, devices):
    demo.until("the lease has passed", "document.querySelector('.act.newest .verdict.unnoticed')", within=LEASE + 7)
    for device in devices:
        assert set(demo.recorded(device.name)) <= {"Online", "Connecting…"}, device.name


def test_a_killed_worker_makes_nobody_flap(demo, devices):
    alice, bob, _ = devices
    alice.says("Online")
    assert {alice.worker, bob.worker} == {"w1", "w2"}, "neighbours are on different workers"
    record_lines(demo, devices)
    other, killed = alice.worker, bob.worker
    demo.crash(killed)
    eventually("Bob's phone is with the other worker", lambda: bob.worker == other)
    expect_no_flap(demo, devices)
    demo.start(killed)
    demo.until("it holds devices or none", "document.querySelectorAll('.part.down').length === 0")


def test_redis_killed_and_started_again_is_weather(demo, devices):
    alice, bob, _ = devices
    alice.says("Online")
    record_lines(demo, devices)
    demo.crash("redis")
    expect_no_flap(demo, devices)
    demo.start("redis")
    expect_no_flap(demo, devices)
    # A signal is refused while Redis is away, so one types until it is there.
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


def test_why_a_part_cannot_start_is_said(demo):
    demo.crash("redis")
    demo.crash("w2")
    demo.press(f"{demo.part('w2')} button")
    demo.until(
        "the reason is shown", "document.querySelector(arguments[0]).textContent", f"{demo.part('w2')} .failure", within=20)
    demo.start("redis")
    demo.start("w2")
    assert demo.text(f"{demo.part('w2')} .failure") == ""


def test_a_second_window_has_devices_of_its_own_in_the_same_chat(open_demo):
    first, second = open_demo(), open_demo()
    first.device("alice-phone").field.send_keys("From the first window", Keys.ENTER)
    second.device("bob-phone").has_message("From the first window")
    first.device("bob-phone").press("leave")
    second.device("bob-phone").press("leave")
    second.device("alice-phone").says("Offline")
    first.device("bob-phone").press("open")
    second.device("alice-phone").says("Online")


SAYINGS = {
    "de": "Alice schreibt\u00a0…", "ja": "Aliceさんが入力中…", "ar": "Alice بصدد الكتابة…", "he": "Alice מקליד/ה…",
}


@pytest.mark.parametrize("language", SAYINGS)
def test_x5_the_language_switch_changes_texts_and_direction(demo, devices, language):
    alice, bob, _ = devices
    is_rtl = language in ("ar", "he")
    demo.run("const select = document.getElementById('language'); select.value = arguments[0];"
             "select.dispatchEvent(new Event('change'))", language)
    alice.field.send_keys("Hello")
    bob.says(SAYINGS[language])
    attributes = demo.run("const { dir, lang } = document.querySelector('[data-part=screen]'); return [dir, lang]")
    assert attributes == ["rtl" if is_rtl else "ltr", language]
    assert demo.run("return document.documentElement.dir") == "", "the page itself is English"
    left, _, right, _ = alice.box(".messages")
    own_left, _, own_right, _ = alice.box(".message.own .bubble")
    assert (own_left - left < right - own_right) == is_rtl, "one's own bubbles are at the end of the line"


def test_x5_every_language_is_offered_and_remembered(demo, dev):
    assert demo.run("return document.getElementById('language').length") == 18
    demo.run("const select = document.getElementById('language'); select.value = 'uk';"
             "select.dispatchEvent(new Event('change'))")
    demo.load(dev.ready["page"])
    demo.until("it is remembered", "document.querySelector('.screen')?.lang === 'uk'")


def test_a_message_is_sent_with_the_keyboard_alone(demo, devices):
    _, bob, _ = devices
    keys = ActionChains(demo.driver)
    keys.send_keys("By keys").perform()
    bob.says("Alice is typing…")
    keys.send_keys(Keys.ENTER).perform()
    bob.has_message("By keys")


def test_everything_is_reached_with_tab_and_shows_that_it_has_the_focus(demo):
    wanted = demo.run(
        """
        document.activeElement.blur();
        window.visited = new Set();
        window.scrollTo(0, 0);
        const all = document.querySelectorAll("button, input, select, summary, [tabindex='0']");
        return [...all].filter((each) => each.checkVisibility() && !each.disabled).length;
        """)
    for _ in range(wanted + 5):
        ActionChains(demo.driver).send_keys(Keys.TAB).perform()
        outline = demo.run(
            """
            const { activeElement } = document;
            if (activeElement !== document.body) visited.add(activeElement);
            return activeElement === document.body ? null : getComputedStyle(activeElement).outlineStyle;
            """)
        assert outline != "none"
    assert demo.run("return visited.size") == wanted


def test_x6_the_live_region_hears_changes_alone(demo, devices):
    alice, bob, _ = devices
    bob.field.click()
    demo.record("spoken", "#announcement")
    end = time.monotonic() + 4
    letters = 0
    while time.monotonic() < end:
        letters += 1
        alice.type_from_afar("x" * letters)
    bob.says("Alice is typing…")
    alice.type_from_afar("")
    bob.says("Online")
    alice.press("leave")
    demo.device("alice-laptop").press("leave")
    bob.says("Offline")
    assert demo.recorded("spoken")[1:] == ["Alice is typing", "", "Alice: Offline"]
    assert demo.run("return document.querySelectorAll('[role=status], [aria-live]').length") == 1


def test_x6_every_message_is_heard_and_in_a_group_nothing_else(demo, devices):
    alice, bob, _ = devices
    bob.field.click()
    demo.run(
        """
        window.heard = [];
        new MutationObserver((changes) => changes.forEach(({ addedNodes }) => (
          heard.push(...[...addedNodes].map(({ textContent }) => textContent)))))
          .observe(document.getElementById("announcement"), { childList: true });
        """)
    for count in (1, 2):
        alice.type_from_afar("Hi")
        bob.says("Alice is typing…")
        demo.run("document.querySelector(arguments[0]).requestSubmit()", f"{alice.root} .composer")
        bob.says("Online")
        demo.until("the message is heard", "heard.filter((each) => each === 'Alice: Hi').length === arguments[0]", count)
        assert demo.text("#announcement") == "Alice: Hi", "the end of typing takes no message away"
    demo.press("#group")
    demo.run("heard.length = 0")
    demo.until("a message is heard", "heard.length > 0", within=30)
    demo.press("#crowd")
    assert all(": " in each for each in demo.run("return heard"))


@pytest.mark.parametrize(("motion", "moves"), [("reduce", False), ("no-preference", True)])
def test_x7_with_reduced_motion_nothing_moves(demo, devices, motion, moves):
    alice, bob, _ = devices
    demo.emulate(prefers_reduced_motion=motion)
    alice.field.send_keys("Hello")
    bob.says("Alice is typing…")
    assert (demo.run("return document.getAnimations().length") > 0) == moves


@pytest.mark.parametrize("language", ["en", "ar", "de"])
@pytest.mark.parametrize("width", [360, 800, 1280])
def test_nothing_is_wider_than_the_window(open_demo, language, width):
    demo = open_demo(language=language)
    demo.resize(width)
    for conversation in ("direct", "group"):
        demo.press(f"#conversations [value={conversation}]")
        assert demo.run("return document.documentElement.scrollWidth <= innerWidth")
        cut = demo.run(
            """
            const controls = [...document.querySelectorAll("main button, main input, select")];
            return controls.filter((each) => each.checkVisibility())
              .map((each) => each.getBoundingClientRect())
              .filter(({ left, right }) => left < 0 || right > innerWidth).length;
            """)
        assert cut == 0
    demo.press("#crowd")


# Text against the nearest background that is opaque; faces and the curtain stand on gradients of their own.
CONTRASTS = """
    const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const pixel = (colour) => {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      return context.getImageData(0, 0, 1, 1).data;
    };
    const luminance = ([...channels]) => channels.slice(0, 3)
      .map((value) => value / 255).map((value) => value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4)
      .reduce((sum, value, index) => sum + value * [.2126, .7152, .0722][index], 0);
    const background = (element) => {
      for (let each = element; each; each = each.parentElement) {
        const colour = pixel(getComputedStyle(each).backgroundColor);
        if (colour[3] === 255) return colour;
      }
      return pixel("white");
    };
    const poor = [];
    for (const element of document.querySelectorAll("body *")) {
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      if (!hasText || !element.checkVisibility() || element.closest(".avatar, .curtain, .unseen, option")) continue;
      const [dark, light] = [pixel(getComputedStyle(element).color), background(element)]
        .map(luminance).sort((one, other) => one - other);
      const ratio = (light + .05) / (dark + .05);
      if (ratio < 4.5) poor.push(`${ratio.toFixed(2)} ${element.className} ${element.textContent.trim().slice(0, 20)}`);
    }
    return [...new Set(poor)];
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_stands_out_from_its_background(demo, devices, theme):
    demo.press(f"#theme [value={theme}]")
    devices[0].field.send_keys("Hello")
    devices[1].says("Alice is typing…")
    assert demo.run(CONTRASTS) == []
    demo.press("#group")
    assert demo.run(CONTRASTS) == []
    demo.press("#crowd")


def test_a_group_of_eight_chats_by_itself_and_can_be_paused(demo, devices):
    alice, *_ = devices
    demo.press("#group")
    demo.until("all eight are online", "document.querySelectorAll('[data-device=alice-phone] .members "
               "[data-dot=green]').length === 8", within=10)
    before = demo.run("return document.querySelectorAll('[data-device=alice-phone] .message').length")
    demo.until("somebody types", "document.querySelector('[data-device=alice-phone] .typing-row.active')", within=15)
    demo.until(
        "and sends", "document.querySelectorAll('[data-device=alice-phone] .message').length > arguments[0]", before,
        within=30)
    demo.press("#crowd")
    demo.until("nobody types", "!document.querySelector('.typing-row.active')")
    assert alice.line.endswith("of 8 online")


def test_x3_names_and_faces_never_swap_places(demo):
    demo.press("#group")
    demo.run(
        """
        window.orders = [];
        const faces = document.querySelector("[data-device=alice-phone] [data-part=typing-faces]");
        new MutationObserver(() => orders.push([...faces.children].map((each) => each.style.getPropertyValue("--hue"))))
          .observe(faces, { childList: true });
        """)
    demo.until("several have typed", "orders.filter((order) => order.length > 1).length >= 2", within=60)
    orders = demo.run("return orders")
    demo.press("#crowd")
    for before, after in zip(orders, orders[1:]):
        both = [each for each in before if each in after]
        assert both == [each for each in after if each in both]


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


def ask(dev, method, path, **headers):
    """The status of an answer to whoever asks the page's server."""
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
