"""Firefox over WebDriver BiDi, since Debian has no geckodriver."""

import contextlib
import json
import re
import shutil
import subprocess
import tempfile

import websocket


class Firefox:
    """A browser without a window, with one tab."""

    def __init__(self, url):
        self.profile = tempfile.mkdtemp(prefix="rollcall-firefox-")
        self.child = subprocess.Popen(
            ["firefox-esr" if shutil.which("firefox-esr") else "firefox", "--headless", "--no-remote", "--profile", self.profile,
             "--remote-debugging-port", "0"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        port = next(found[1] for line in self.child.stderr if (found := re.search(r"BiDi listening on \S+:(\d+)", line)))
        self.socket = websocket.create_connection(f"ws://127.0.0.1:{port}/session", timeout=120, suppress_origin=True)
        self.asked = 0
        self.ask("session.new", capabilities={})
        self.context = self.ask("browsingContext.create", type="tab")["context"]
        self.ask("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def ask(self, method, **params):
        self.asked += 1
        self.socket.send(json.dumps({"id": self.asked, "method": method, "params": params}))
        while (answer := json.loads(self.socket.recv())).get("id") != self.asked:
            pass
        assert answer["type"] == "success", answer
        return answer["result"]

    def run(self, script):
        """The result of a function's body, as JSON."""
        answer = self.ask(
            "script.evaluate", expression=f"JSON.stringify((() => {{ {script} }})() ?? null)", awaitPromise=False,
            target={"context": self.context})
        assert answer["type"] == "success", answer
        return json.loads(answer["result"]["value"])

    def stop(self):
        self.socket.close()
        self.child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.child.wait(10)
        self.child.kill()
        shutil.rmtree(self.profile, ignore_errors=True)
