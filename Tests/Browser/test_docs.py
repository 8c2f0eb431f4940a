"""The samples for pages, as they stand in the documentation."""

import re

import pytest

import pages
from deployment import ROOT, eventually
from test_module import tsc
from test_react import text

# Samples that cannot be run here, by a line of theirs, and why.
NOT_RUN = {
    'import { AppState } from "react-native";': "React Native is in no registry that tests may use; doubles are in rest.js",
    'import { onDocumentWritten } from "firebase-functions/v2/firestore";': "Cloud Functions run at Firebase",
    'import { onRequest } from "firebase-functions/v2/https";': "the same",
    'import { act, render, screen } from "@testing-library/react";': "Debian has no Testing Library; test_react.py does the same by hand",
}


def samples():
    """All samples in JavaScript: the page and the code."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for code in re.findall(r"^```jsx?\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
            yield page.name, code


def sample(page, line):
    found, = [code for name, code in samples() if name == page and line in code]
    return found


def as_script(code, tmp_path):
    """What a bundler makes of JSX."""
    (tmp_path / "sample.jsx").write_text(code, encoding="utf-8")
    tsc("--allowJs", "--jsx", "react", "--outDir", tmp_path / "built", tmp_path / "sample.jsx")
    return (tmp_path / "built/sample.js").read_text(encoding="utf-8")


def run(page, code):
    page.run("document.head.append(Object.assign(document.createElement('script'), { type: 'module', textContent: arguments[0] }))", code)


def test_c6_each_sample_is_run_or_says_why_not(tmp_path):
    for page, code in samples():
        as_script(code, tmp_path)
        assert any(line in code for line in (*NOT_RUN, PLAIN, REACT, HERE, HERE_REACT, PERSON)), f"{page}: a sample that no test runs"


PLAIN = 'import { connectionText, presenceView, RollcallClient, typingText } from "./rollcall.js";'
REACT = 'from "rollcall/react";\nimport { auth }'
HERE = 'import { hereText, RollcallClient } from "./rollcall.js";'
HERE_REACT = 'import { useHere } from "rollcall/react";'
PERSON = 'import { usePerson } from "rollcall/react";'


def test_c6_the_plain_page_of_the_docs(driver, site, worker):
    page = pages.Page(driver, f"{site}/page.html")
    edge = worker().edge
    page.run("""
        document.body.innerHTML = `<p id="banner"></p><p id="light"></p><p id="lastSeen"></p><p id="line"></p>
          <form id="form"><input id="field"></form>`;
        window.freshToken = async () => "alice";
        window.bob = new rollcall.RollcallClient({ url: arguments[0], token: "bob Bob" });
        bob.connect();
        window.typing = bob.typingInput("c42");
        setInterval(() => typing.keepTyping(), 500);
        window.seen = [];
        bob.typing("c42").subscribe(({ count }) => seen.push(count));
        document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
    """, edge)
    run(page, sample("web.md", PLAIN).replace("wss://chat.example/v1/connect", edge))
    shown = ["Bob is typing…", "Active now", "green", ""]
    eventually("all is shown", lambda: [*(text(page, f"#{each}") for each in ("line", "lastSeen")),
                                        page.run("return light.className"), text(page, "#banner")] == shown)
    page.run("field.value = 'x'; field.dispatchEvent(new Event('input'))")
    eventually("bob sees it", lambda: page.run("return seen.at(-1)") == 1)
    page.run("form.requestSubmit()")
    eventually("and its end", lambda: page.run("return seen.at(-1)") == 0)
    assert page.run("return mistakes") == []
    page.run("bob.close()")
    page.close()


@pytest.mark.skipif(not pages.FILES["/react/react.development.js"].exists(), reason="React is a package of Debian")
def test_c6_the_react_app_of_the_docs(driver, site, worker, tmp_path):
    page = pages.Page(driver, f"{site}/react.html")
    edge = worker().edge
    page.run("""
        window.listeners = [];
        const user = (uid) => ({ uid, getIdToken: async () => `${uid} ${uid[0].toUpperCase()}${uid.slice(1)}` });
        window.auth = {
          onAuthStateChanged: (listener) => { listeners.push(listener); return () => {}; },
          signOut: () => listeners.at(-1)(null), signIn: (uid) => listeners.at(-1)(user(uid)),
        };
        window.sent = [];
        window.sendMessage = (message) => sent.push(message);
        window.bob = new rollcall.RollcallClient({ url: arguments[0], token: "bob Bob" });
        bob.connect();
        window.field = bob.typingInput("c42");
        window.alice = [];
        bob.presence("alice").subscribe(({ status }) => alice.push(status));
        window.typed = [];
        bob.typing("c42").subscribe(({ count }) => typed.push(count));
    """, edge)
    code = as_script(sample("web.md", REACT).replace("wss://chat.example/v1/connect", edge), tmp_path)
    run(page, re.sub(r'import \{ auth \} from.*', "", code) + 'ReactDOM.createRoot(document.getElementById("root")).render(React.createElement(App));')
    eventually("nobody is signed in", lambda: "sign in" in (text(page, "#root") or ""))
    page.run("auth.signIn('alice')")
    eventually("bob is seen", lambda: "Active now" in text(page, "#root"))
    page.run("field.edited('x')")
    eventually("he types", lambda: "Bob is typing…" in text(page, "#root"))
    assert page.run("return document.querySelector('[aria-live]').textContent") == "Bob is typing"
    page.run("""
        const input = document.querySelector('input');
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, 'Hi');
        input.dispatchEvent(new Event('input', { bubbles: true }));
    """)
    eventually("alice types", lambda: page.run("return typed.at(-1)") == 1)
    page.run("document.querySelector('form').requestSubmit()")
    eventually("and has sent", lambda: page.run("return [typed.at(-1), sent, document.querySelector('input').value]") == [0, ["Hi"], ""])
    page.run("document.querySelector('button').click()")
    eventually("she has signed out", lambda: [page.run("return alice.at(-1)"), "sign in" in text(page, "#root")] == ["offline", True])
    page.run("auth.signIn('carol')")
    eventually("another user sees bob", lambda: "Active now" in text(page, "#root"))
    assert page.run("return [mistakes, alice.at(-1)]") == [[], "offline"]
    page.run("auth.signOut(); bob.close()")
    page.close()


def test_h1_the_plain_sample_of_who_is_here(driver, site, worker):
    page = pages.Page(driver, f"{site}/page.html")
    edge = worker().edge
    page.run("""
        document.body.innerHTML = `<p id="line"></p>`;
        window.freshToken = async () => "alice Alice";
        window.bob = new rollcall.RollcallClient({ url: arguments[0], token: "bob Bob" });
        bob.connect();
        bob.enter("doc1");
        bob.here("doc1").subscribe((here) => { window.here = here; });
    """, edge)
    run(page, sample("here.md", HERE).replace("wss://chat.example/v1/connect", edge))
    eventually("bob is here", lambda: text(page, "#line") == "Bob is here")
    eventually("alice, too", lambda: page.run("return window.here?.others.map(({ name, data }) => [name, data])") == [["Alice", {"section": 5}]])
    assert page.run("bob.close(); return mistakes") == []
    page.close()


@pytest.mark.skipif(not pages.FILES["/react/react.development.js"].exists(), reason="React is a package of Debian")
def test_h1_the_react_sample_of_who_is_here(driver, site, worker, tmp_path):
    page = pages.Page(driver, f"{site}/react.html")
    edge = worker().edge
    page.run("""
        window.bob = new rollcall.RollcallClient({ url: arguments[0], token: "bob Bob" });
        bob.connect();
        bob.enter("doc1", { data: { section: 7 } });
        bob.here("doc1").subscribe((here) => { window.here = here; });
    """, edge)
    run(page, as_script(sample("here.md", HERE_REACT), tmp_path) + """
        import { RollcallProvider } from "rollcall/react";
        ReactDOM.createRoot(document.getElementById("root")).render(React.createElement(
          RollcallProvider, { options: { url: "URL", token: "alice Alice" } },
          React.createElement(DocumentHeader, { id: "doc1", section: 4 })));
    """.replace("URL", edge))
    eventually("bob is here", lambda: text(page, "header") == "B 7")
    assert page.run("return document.querySelector('header').title") == "Bob is here"
    eventually("alice, too", lambda: page.run("return window.here?.others.map(({ name, data }) => [name, data])") == [["Alice", {"section": 4}]])
    assert page.run("bob.close(); return mistakes") == []
    page.close()


@pytest.mark.skipif(not pages.FILES["/react/react.development.js"].exists(), reason="React is a package of Debian")
def test_the_react_settings_screens(driver, site, worker, tmp_path):
    # What she decides stays in the Redis of all tests, so she is nobody else's user.
    page = pages.Page(driver, f"{site}/react.html")
    edge = worker().edge
    page.run("""
        window.bob = new rollcall.RollcallClient({ url: arguments[0], token: "bob Bob" });
        bob.connect();
        bob.presence("zoe").subscribe((zoe) => { window.zoe = zoe; });
    """, edge)
    for component in ("PrivacySettings", "StatusMenu"):
        run(page, as_script(sample("privacy.md", f"function {component}"), tmp_path) + """
            import { RollcallProvider } from "rollcall/react";
            const root = document.body.appendChild(document.createElement("div"));
            ReactDOM.createRoot(root).render(React.createElement(
              RollcallProvider, { options: { url: "URL", token: "zoe Zoe" } }, React.createElement(COMPONENT)));
        """.replace("URL", edge).replace("COMPONENT", component))
    eventually("zoe is there", lambda: page.run("return zoe?.status") in ("online", "away"))
    page.run("[...document.querySelectorAll('button')].find((each) => each.textContent.startsWith('Do not')).click()")
    eventually("bob reads it", lambda: page.run("return zoe.availability") == "dnd")
    assert text(page, "summary").startswith("Do not disturb until ")
    page.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'Available').click()")
    eventually("no longer", lambda: page.run("return [zoe.availability ?? '', zoe.lastSeen !== null]") == ["", True])
    page.run("""
        const [, select] = document.querySelectorAll("select");
        Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, "value").set.call(select, "nobody");
        select.dispatchEvent(new Event("change", { bubbles: true }));
    """)
    eventually("she is hidden", lambda: page.run("return [zoe.status, zoe.version]") == ["offline", 0])
    assert page.run("bob.close(); return mistakes") == []
    page.close()
