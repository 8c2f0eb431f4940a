"""A web server with the module and the pages that test it, and the browser that opens them."""

import contextlib
import http.server
import os
import pathlib
import re
import shutil
import ssl
import threading

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from deployment import ROOT, eventually, watch_over

HERE = pathlib.Path(__file__).resolve().parent
MODULE = ROOT / "Sources/RollcallBrowser/Module"
FILES = {
    "/golden.json": ROOT / "Tests/RollcallClientTests/Text/golden.json",
    "/situations.json": ROOT / "Tests/RollcallClientTests/Client/situations.json",
    "/page.html": HERE / "page.html",
    "/react.html": HERE / "react.html",
    "/react/module.js": HERE / "react-module.js",
} | {
    f"/react/{name}.development.js": pathlib.Path(f"/usr/share/nodejs/{name}/umd/{name}.development.js")
    for name in ("react", "react-dom")
} | {f"/stories/{story.name}": story for story in (HERE / "stories").glob("*.js")
} | {f"/{file.name}": file for file in MODULE.iterdir()}
# What `make test-browser` leaves to `make soak`.
soak = pytest.mark.skipif("SOAK" not in os.environ, reason="runs in make soak")
TYPES = {".js": "text/javascript", ".ts": "text/plain", ".json": "application/json", ".html": "text/html"}


# Compares text with the nearest opaque background; avatars and the curtain have gradients as background.
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


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        file = FILES.get(self.path.split("?")[0])
        self.send_response(200 if file else 404)
        self.send_header("Content-Type", f"{TYPES[file.suffix]}; charset=utf-8" if file else "text/plain")
        self.end_headers()
        self.wfile.write(file.read_bytes() if file else b"")

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(certificate=None):
    """A web server on a free port of loopback, with TLS if it has a certificate; gives its origin."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate.chain, certificate.key)
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}"
    server.shutdown()


def find(*names):
    return next((path for path in map(shutil.which, names) if path), None)


def start_browser(key):
    """Headless Chromium and its driver. It accepts certificates with this key, whatever their issuer."""
    options = webdriver.ChromeOptions()
    options.binary_location = find("chromium", "chromium-browser", "google-chrome")
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1200,900",
                 "--js-flags=--expose-gc", "--enable-precise-memory-info"):
        options.add_argument(flag)
    options.add_argument(f"--ignore-certificate-errors-spki-list={key}")
    service = Service(find("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    driver.set_script_timeout(30)
    return driver, watch_over(service.process.pid)


class Page:
    """A separate tab."""

    def __init__(self, driver, url):
        self.driver = driver
        driver.switch_to.new_window("tab")
        self.handle = driver.current_window_handle
        self.load(url)

    def load(self, url):
        self.show()
        self.driver.get(url)
        eventually("the module is loaded", lambda: self.run("return Boolean(window.rollcall ?? true)"))

    def show(self):
        """Brings the tab to the front, which hides the others."""
        if self.driver.current_window_handle != self.handle:
            self.driver.switch_to.window(self.handle)

    def console(self):
        """Returns this page's errors and warnings in the browser's console.

        The browser may report late that a WebSocket connection of an earlier test's page failed. Such messages are left
        out: they begin with the URL of a script of another origin.
        """
        origin = self.run("return location.origin")

        def is_of_earlier_page(message):
            return (re.match(r"https?://\S+ \S+ WebSocket connection to \S+ failed", message)
                    and not message.startswith(f"{origin}/"))

        return [
            entry for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")
            and not is_of_earlier_page(entry["message"])]

    def run(self, script, *arguments):
        """Runs a script and returns its result; a promise is awaited."""
        self.show()
        return self.driver.execute_script(script, *arguments)

    def until(self, what, condition, *arguments, within=30.0):
        return eventually(what, lambda: self.run(f"return {condition}", *arguments), within)

    def close(self):
        self.show()
        self.driver.close()
        self.driver.switch_to.window(self.driver.window_handles[0])
