"""The demo page's chat: typing, messages and presence between its devices, and the group of bots."""

from selenium.webdriver.common.keys import Keys

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


def test_the_list_of_conversations_is_live(demo, devices):
    alice, bob, _ = devices
    demo.press(f"{bob.root} .back")
    row = f"{bob.root} .row[value=direct]"
    assert demo.text(f"{row} bdi") == "Alice"
    alice.field.send_keys("Hi")
    demo.until("the row shows who types", "document.querySelector(arguments[0]).textContent.includes('typing…')", row)
    alice.field.send_keys(Keys.ENTER)
    demo.until("then the message", "document.querySelector(arguments[0]).textContent.includes('Alice: Hi')", row)
    demo.press(row)
    bob.has_message("Hi")


def test_what_users_decide_shows_on_the_others_and_on_their_own_devices(demo, devices):
    alice, bob, laptop = devices
    bob.says("Online")
    box = "{} [data-part={}]"
    is_checked = "document.querySelector(arguments[0]).checked === arguments[1]"
    demo.press(box.format(alice.root, "dnd"))
    demo.until("bob reads it", "document.querySelector(arguments[0]).textContent.startsWith('Do not disturb until ')", f"{bob.root} .chat-line")
    demo.until("her laptop knows", is_checked, box.format(laptop.root, "dnd"), True)
    demo.press(box.format(laptop.root, "invisible"))
    bob.says("Offline")
    alice.field.send_keys("x")
    demo.until("her phone knows", is_checked, box.format(alice.root, "invisible"), True)
    assert not bob.shows_dots, "what an invisible user types is not sent"
    demo.press(box.format(alice.root, "invisible"))
    bob.says("Online")
    demo.press(box.format(bob.root, "blocked"))
    alice.says("Offline")
    bob.says("Offline")
    demo.until("neither may write", "document.querySelector(arguments[0]).inert", f"{alice.root} .composer")
    demo.press(box.format(bob.root, "blocked"))
    alice.says("Online")


def test_a_bot_thinks_and_then_types(demo, devices):
    alice, *_ = devices
    demo.press("#conversations [value=assistant]")
    alice.field.send_keys("What time is it?", Keys.ENTER)
    alice.says("Ada 🤖 is thinking…")
    alice.says("Ada 🤖 is typing…")
    demo.until("the answer", "document.querySelectorAll(arguments[0]).length === 3", f"{alice.root} .words")


def test_a_document_shows_who_has_it_open_and_where(demo, devices):
    alice, bob, laptop = devices
    demo.press("#conversations [value=document]")
    demo.press("#crowd")
    alice.says("Bob is here")
    bob.says("Alice is here")
    laptop.says("Bob is here")
    there = "[...document.querySelectorAll(arguments[0])].map((each) => each.textContent).join('|') === arguments[1]"
    names = f"{alice.root} .section .unseen"
    demo.until("Bob begins at the first section", there, names, "Bob|||")
    demo.press(f"{bob.root} .paper li:nth-child(3) button")
    demo.until("and goes to the third", there, names, "||Bob|")
    demo.press(f"{laptop.root} .paper li:nth-child(4) button")
    demo.until("Alice is where she last was, on one of her devices", there, f"{bob.root} .section .unseen", "|||Alice")
    bob.press("background")
    demo.until("nobody else is there", "document.querySelector(arguments[0]).children.length === 0",
               f"{alice.root} .chat-header .faces")
    bob.press("active")
    demo.until("Bob is back where he was", there, names, "||Bob|")
    demo.press(f"{bob.root} .back")
    bob_row = f"{bob.root} .row[value=document]"
    demo.until("the list says it too", "document.querySelector(arguments[0]).textContent.includes('is here')", bob_row)
    demo.until("and he is gone for Alice", there, names, "|||")


@soak
def test_x3_names_and_faces_never_swap_places(demo):
    demo.press("#conversations [value=group]")
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
