"""The demo page as visitors see it."""

from selenium.webdriver.common.by import By

from pages import Page

# Records every text that an element shows from now on.
RECORD = """
    const [name, selector] = arguments;
    const element = document.querySelector(selector);
    const kept = [element.textContent];
    window.kept = { ...window.kept, [name]: kept };
    new MutationObserver(() => {
      if (kept.at(-1) !== element.textContent) kept.push(element.textContent);
    }).observe(element, { childList: true, characterData: true, subtree: true });
"""


class Demo(Page):
    """The page of `rollcall dev`, newly loaded."""

    def __init__(self, driver, url, language="en"):
        super().__init__(driver, url)
        self.run("localStorage.setItem('rollcall-demo-language', arguments[0])", language)
        self.load(url)
        self.until(
            "three devices are connected", "document.querySelectorAll('.badge[data-worker^=w]').length === 3", within=30)

    def emulate(self, **features):
        """Sets media features, such as `prefers_color_scheme="dark"`."""
        listed = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": listed})

    def resize(self, width, height=900):
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def device(self, name):
        return Device(self, name)

    def choose(self, language):
        self.run("const select = document.getElementById('language'); select.value = arguments[0];"
                 "select.dispatchEvent(new Event('change'))", language)

    def press(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def record(self, name, selector):
        self.run(RECORD, name, selector)

    def recorded(self, name):
        return self.run("return kept[arguments[0]]", name)

    def part(self, name):
        return f".part[data-part={name}]"

    def crash(self, part):
        self.press(f"{self.part(part)} button")
        self.until(f"{part} is down", "document.querySelector(arguments[0])", f"{self.part(part)}.down:not([aria-busy])")

    def start(self, part):
        self.press(f"{self.part(part)}.down button")
        self.until(
            f"{part} is up again", "document.querySelector(arguments[0])", f"{self.part(part)}:not(.down, [aria-busy])",
            within=30)


class Device:
    """One of the devices on the page: `alice-phone`, `bob-phone` or `alice-laptop`."""

    def __init__(self, page, name):
        self.page, self.name = page, name
        self.root = f"[data-device={name}]"

    @property
    def field(self):
        self.page.show()
        return self.page.driver.find_element(By.CSS_SELECTOR, f"{self.root} input")

    @property
    def worker(self):
        return self.page.text(f"{self.root} .badge")

    @property
    def line(self):
        """The text below the other user's name, without the invisible characters that isolate names."""
        return self.page.text(f"{self.root} .chat-line").replace("\u2068", "").replace("\u2069", "")

    def press(self, button):
        self.page.press(f"{self.root} button[value={button}]")

    def says(self, line, within=30.0):
        self.page.until(
            f"{self.name} says {line}",
            "document.querySelector(arguments[0]).textContent.replace(/[\\u2068\\u2069]/g, '') === arguments[1]",
            f"{self.root} .chat-line", line, within=within)

    @property
    def shows_dots(self):
        return self.page.run("return Boolean(document.querySelector(arguments[0]))", f"{self.root} .typing-row.active")

    def has_message(self, text):
        self.page.until(
            f"{self.name} has the message {text}",
            "[...document.querySelectorAll(arguments[0])].some((each) => each.textContent === arguments[1])",
            f"{self.root} .words", text)

    def box(self, selector):
        """The position of an element on the page: left, top, right, bottom."""
        return self.page.run(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [box.left, box.top + scrollY, box.right, box.bottom + scrollY]", f"{self.root} {selector}")

    def type_from_afar(self, text):
        """Clicks without moving the focus, as on another machine."""
        self.page.run(
            "const field = document.querySelector(arguments[0]); field.value = arguments[1];"
            "field.dispatchEvent(new Event('input'))", f"{self.root} input", text)
