"""Accessibility of the demo page: languages, keyboard, screen reader, motion, widths, contrasts."""

import time

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from pages import CONTRASTS, soak

pytestmark = soak

SAYINGS = {
    "de": "Alice schreibt\u00a0…", "ja": "Aliceさんが入力中…", "ar": "Alice بصدد الكتابة…", "he": "Alice מקליד/ה…",
}


@pytest.mark.parametrize("language", SAYINGS)
def test_x5_the_language_switch_changes_texts_and_direction(demo, devices, language):
    alice, bob, _ = devices
    is_rtl = language in ("ar", "he")
    demo.choose(language)
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
    demo.choose("uk")
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
    demo.press("#conversations [value=group]")
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


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_stands_out_from_its_background(demo, devices, theme):
    demo.emulate(prefers_color_scheme=theme)
    devices[0].field.send_keys("Hello")
    devices[1].says("Alice is typing…")
    assert demo.run(CONTRASTS) == []
    demo.press("#conversations [value=group]")
    assert demo.run(CONTRASTS) == []
    demo.press("#crowd")
