"""The demo page of `rollcall dev`: a chat on three devices, and everything that can go wrong."""

import http.client
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
