"""The demo page's chat: typing, messages and presence between its devices, and the group of bots."""

from selenium.webdriver.common.keys import Keys

from demo import BY_THEN
from deployment import eventually
from pages import soak


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


@soak
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


@soak
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


@soak
def test_background_idle_and_signing_out_are_seen_at_once(devices):
    alice, bob, _ = devices
    for button, seen in (("idle", "Away"), ("background", "Offline"), ("active", "Online"), ("leave", "Offline")):
        bob.press(button)
        alice.says(seen, within=BY_THEN)
    bob.press("open")
    alice.says("Online")


@soak
def test_who_is_on_two_devices_stays_when_one_goes(devices):
    alice, bob, laptop = devices
    bob.says("Online")
    bob.record_line()
    alice.press("leave")
    laptop.press("idle")
    bob.says("Away")
    laptop.press("active")
    bob.says("Online")
    assert bob.recorded_lines == ["Online", "Away", "Online"]


@soak
def test_a_second_window_has_devices_of_its_own_in_the_same_chat(open_demo):
    first, second = open_demo(), open_demo()
    first.device("alice-phone").field.send_keys("From the first window", Keys.ENTER)
    second.device("bob-phone").has_message("From the first window")
    first.device("bob-phone").press("leave")
    second.device("bob-phone").press("leave")
    second.device("alice-phone").says("Offline")
    first.device("bob-phone").press("open")
    second.device("alice-phone").says("Online")


@soak
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


@soak
def test_a_pause_keeps_the_bots_from_other_windows_and_outlasts_a_look_elsewhere(demo):
    held = "return (await navigator.locks.query()).held.length"
    demo.press("#group")
    eventually("the bots are here", lambda: demo.held == 9)
    demo.press("#crowd")
    assert demo.run(held) == 1
    demo.press("#conversations [value=direct]")
    demo.press("#group")
    assert demo.text("#crowd") == "Let the bots go on"
    demo.until("nobody types", "!document.querySelector('.typing-row.active')")
    assert demo.run(held) == 1
    assert demo.held == 9


@soak
def test_the_bots_are_in_the_window_that_is_seen(open_demo):
    first = open_demo()
    first.press("#group")
    eventually("the bots are in the first window", lambda: first.held == 9)
    second = open_demo()
    second.press("#group")
    eventually("the bots are in the second window", lambda: second.held == 9)
    eventually("the bots are in the first window again", lambda: first.held == 9)


@soak
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
