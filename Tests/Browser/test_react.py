"""The hooks for React, with React itself, in strict mode, beside a client without it."""

import pytest

import pages
from deployment import eventually

pytestmark = pytest.mark.skipif(
    not pages.FILES["/react/react.development.js"].exists(), reason="React is a package of Debian")


@pytest.fixture
def app(driver, site, worker):
    page = pages.Page(driver, f"{site}/react.html")
    page.worker = worker()
    page.run("start({ url: arguments[0], token: 'alice', staleAfter: 500 })", page.worker.edge)
    page.run(
        "window.bob = new rollcall.RollcallClient({ url: arguments[0], token: 'bob' }); bob.connect()", page.worker.edge)
    yield page
    page.run("stop(); bob.close()")
    assert page.run("return mistakes") == []
    page.close()


def text(page, selector):
    return page.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)


def test_c6_hooks_show_sentences_that_follow(app):
    eventually("it is connected, though strict mode mounts twice", lambda: text(app, "#connection") == "true")
    eventually("bob is here", lambda: text(app, "#bob") == "Active now")
    assert app.run("return [bob.deviceState, document.querySelector('#bob').className, document.querySelector('#bob').title]") \
        == ["active", "green", "Online"]
    app.run("window.field = bob.typingInput('react0'); field.edited('x')")
    eventually("bob types", lambda: text(app, "#typing") == "Someone is typing…")
    assert [text(app, "#announced"), text(app, "#react0"), text(app, "#react1")] == ["Someone is typing", "Someone is typing…", ""]
    app.run("field.send()")
    eventually("no more", lambda: [text(app, "#typing"), text(app, "#announced")] == ["", ""])
    app.run("window.seen = []; bob.typing('react0').subscribe(({ count }) => seen.push(count)); input.edited('x')")
    eventually("alice types, once, though two clients were made", lambda: app.run("return seen.at(-1)") == 1)
    app.run("setView({ rows: 0, chat: null })")
    eventually("an unmounted field types no more", lambda: app.run("return seen.at(-1)") == 0)
    app.run("bob.close(); setView({ rows: 0, chat: 'react1' })")
    eventually("bob was here", lambda: text(app, "#bob") == "Last seen just now")


def test_c6_two_hundred_rows_render_together_and_leave_nothing(app):
    eventually("it is connected", lambda: text(app, "#connection") == "true")
    app.run("""
        window.friends = [0, 1, 2].map((number) => new rollcall.RollcallClient({
          url: arguments[0], token: `friend${number}` }));
        for (const friend of friends) friend.connect();
    """, app.worker.edge)
    eventually("they are here", lambda: [text(app, f"#react{row}") for row in (0, 1, 2, 199)] == ["Active now"] * 3 + [""])
    renders = app.run("return rendered.rows")
    app.run("window.field = friends[0].typingInput('react7'); window.timer = setInterval(() => field.keepTyping(), 500)")
    eventually("one types", lambda: text(app, "#react7") == "Someone is typing…")
    # Strict mode renders each row twice.
    assert app.run("return rendered.rows") - renders <= 2 * 200 * 2
    app.run("setView({ rows: 100, chat: null })")
    app.run("setView({ rows: 150, chat: null })")
    eventually("what stays is still shown", lambda: text(app, "#react7") == "Someone is typing…" and text(app, "#react149") == "")
    app.run("clearInterval(timer); for (const friend of friends) friend.close(); setView({ rows: 0, chat: null })")


def test_c6_after_a_while_without_connection_hooks_show_nobody(app):
    eventually("bob is here", lambda: text(app, "#bob") == "Active now")
    app.worker.crash()
    eventually("nobody is shown", lambda: app.run(
        "return [document.querySelector('#bob').textContent, document.querySelector('#bob').className,"
        " document.querySelector('#connection').textContent]") == ["", "none", "false"])


def test_c6_the_provider_follows_the_newest_token_and_makes_a_client_for_another_url(driver, site, worker):
    page = pages.Page(driver, f"{site}/react.html")
    first, second = worker(), worker()
    page.run("start({ url: arguments[0], token: () => undefined })", first.edge)
    eventually("it is not connected yet", lambda: text(page, "#connection") == "false")
    page.run("render({ url: arguments[0], token: () => 'alice' })", first.edge)
    eventually("there is a token", lambda: page.run("return worker") == first.incarnation)
    page.run("render({ url: arguments[0], token: () => 'alice' })", second.edge)
    eventually("it is at the other worker", lambda: page.run("return worker") == second.incarnation)
    page.run("stop()")
    assert page.run("return mistakes") == []
    page.close()


def test_c6_a_hook_without_provider_says_so(driver, site):
    page = pages.Page(driver, f"{site}/react.html")
    page.run("""
        import("/react.js").then(({ useTyping }) => ReactDOM.createRoot(document.getElementById("root")).render(
          React.createElement(() => useTyping("c1").text)));
    """)
    page.until("it says so", "mistakes.some((each) => each.includes('RollcallProvider'))")
    page.close()
