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
        "window.bob = new rollcall.RollcallClient({ url: arguments[0], token: 'bob Bob' }); bob.connect()", page.worker.edge)
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
    eventually("bob types", lambda: text(app, "#typing") == "Bob is typing…")
    assert [text(app, "#announced"), text(app, "#react0"), text(app, "#react1")] == ["Bob is typing", "Bob is typing…", ""]
    app.run("field.send()")
    eventually("no more", lambda: [text(app, "#typing"), text(app, "#announced")] == ["", ""])
    app.run("window.seen = []; bob.typing('react0').subscribe(({ count }) => seen.push(count)); input.edited('x')")
    eventually("alice types, once, though two clients were made", lambda: app.run("return seen.at(-1)") == 1)
    app.run("setView({ rows: 0, chat: null })")
    eventually("an unmounted field types no more", lambda: app.run("return seen.at(-1)") == 0)
    app.run("bob.close(); setView({ rows: 0, chat: 'react1' })")
    eventually("bob was here", lambda: text(app, "#bob") == "Last seen just now")


def test_what_a_user_sets_is_shown_to_them_and_to_others(app):
    app.run("window.seen = null; bob.presence('alice').subscribe((value) => { seen = value; })")
    # A page that is not seen is idle.
    eventually("alice is there", lambda: app.run("return seen?.status") in ("online", "away"))
    app.run("setMe({ availability: 'dnd', for: 3_600_000 })")
    eventually("she reads until when", lambda: text(app, "#me").startswith("dnd Do not disturb until "))
    eventually("and bob", lambda: app.run("return [seen.availability, seen.until > bob.now + 3_000_000]") == ["dnd", True])
    app.run("setMe({ availability: 'invisible', until: null })")
    eventually("she is hidden", lambda: app.run("return [seen.status, seen.version]") == ["offline", 0])
    app.run("setMe({ availability: null })")
    eventually("she is back", lambda: [text(app, "#me"), app.run("return seen.status !== 'offline'")] == [" ", True])


def test_h1_a_mounted_component_is_here_and_shows_who_else_is(app):
    app.run("""
        window.here = null;
        bob.here("react0").subscribe((value) => { here = value; });
        window.entry = bob.enter("react0");
    """)
    eventually("bob is here", lambda: text(app, "#here") == "Bob is here")
    eventually("alice is here, once", lambda: app.run("return here?.others.map(({ user }) => user)") == ["alice"])
    app.run("show({ section: 4 })")
    eventually("what she shows", lambda: app.run("return here.others[0].data") == {"section": 4})
    app.run("entry.close(); setView({ rows: 0, chat: null })")
    eventually("an unmounted component is here no more", lambda: app.run("return here.count") == 0)


def test_c6_two_hundred_rows_render_together_and_leave_nothing(app):
    eventually("it is connected", lambda: text(app, "#connection") == "true")
    app.run("""
        window.friends = [0, 1, 2].map((number) => new rollcall.RollcallClient({
          url: arguments[0], token: `friend${number} Friend ${number}` }));
        for (const friend of friends) friend.connect();
    """, app.worker.edge)
    eventually("they are here", lambda: [text(app, f"#react{row}") for row in (0, 1, 2, 199)] == ["Active now"] * 3 + [""])
    renders = app.run("return rendered.rows")
    app.run("window.field = friends[0].typingInput('react7'); window.timer = setInterval(() => field.keepTyping(), 500)")
    eventually("one types", lambda: text(app, "#react7") == "Friend 0 is typing…")
    # Strict mode renders twice, and only the row that changed.
    assert app.run("return rendered.rows") - renders <= 4
    app.run("setView({ rows: 100, chat: null })")
    app.run("setView({ rows: 150, chat: null })")
    eventually("what stays is still shown", lambda: text(app, "#react7") == "Friend 0 is typing…" and text(app, "#react149") == "")
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


@pytest.fixture
def fake(driver, site):
    """An app whose client is that of a fake worker, as in a test of an app."""
    page = pages.Page(driver, f"{site}/react.html")
    page.run("""
        start();
        window.fake = new FakeWorker();
        window.client = fake.client("alice", { language: "de" });
        render(null, client);
        client.connect();
    """)
    eventually("it is connected", lambda: text(page, "#connection") == "true")
    yield page
    page.run("stop()")
    assert page.run("return [mistakes, client.connection.latest.status]") == [[], "connected"], "the client is the app's"
    page.run("client.close()")
    page.close()


def test_c12_an_app_is_shown_with_a_client_of_a_fake_worker_in_its_language(fake):
    fake.run("window.bob = fake.person('bob', { name: 'Bob' }); bob.comes(); bob.types('react0')")
    eventually("bob types", lambda: [text(fake, "#typing"), text(fake, "#bob")] == ["Bob schreibt\u00a0…", "Jetzt aktiv"])
    fake.run("document.querySelector('#record').click()")
    eventually("a handler's event is no kind of typing", lambda: "alice" in fake.run("return fake.typists('react0')"))
    fake.run("fake.closes(4150)")
    eventually("it says so", lambda: text(fake, "#banner") == "Keine Verbindung")
    fake.run("client.connect()")
    eventually("it is back", lambda: [text(fake, "#banner"), text(fake, "#connection")] == ["", "true"])


def test_l4_five_hundred_people_render_together_and_only_who_changes_renders_again(fake):
    fake.run("""
        window.users = Array.from({ length: 500 }, (_, number) => `user${number}`);
        for (const user of users) fake.person(user).wasSeen(7_200_000);
        setView({ rows: 100, chat: null, people: users.slice(0, 30) });
    """)
    eventually("they are shown", lambda: text(fake, "#user29") in ("Zuletzt heute gesehen", "Zuletzt gestern gesehen"))
    fake.run("window.before = { ...rendered }; fake.person('user7').comes()")
    eventually("one comes", lambda: text(fake, "#user7") == "Jetzt aktiv")
    assert fake.run("return rendered.people - before.people") <= 2
    # Someone scrolls through all of them.
    for first in range(10, 480, 20):
        fake.run("setView({ rows: 0, chat: null, people: users.slice(arguments[0], arguments[0] + 30) })", first)
    eventually("the last are shown", lambda: text(fake, "#user499") in ("Zuletzt heute gesehen", "Zuletzt gestern gesehen"))
    print(fake.run("""
        const watches = fake.messages.filter(({ type }) => type === 'watch');
        return `${watches.length} watches of ${watches.flatMap(({ users }) => users).length} users,`
          + ` ${rendered.people} rows and ${rendered.lists} lists rendered`;
    """))


def test_c6_a_component_mounted_again_keeps_its_client_and_options_that_change_are_noted(driver, site):
    page = pages.Page(driver, f"{site}/react.html")
    # Strict mode mounts each component twice.
    page.run("""
        window.fake = new FakeWorker();
        window.sockets = 0;
        window.options = { url: 'ws://one.example', token: 'alice', WebSocket: class extends EventTarget {
          constructor() { super(); sockets += 1; }
          close() {}
        } };
        start(options);
    """)
    eventually("it connects, once", lambda: page.run("return sockets") == 1)
    page.run("render({ ...options, names: () => null, token: () => 'bob' })")
    assert page.run("return warnings") == []
    page.run("render({ ...options, idleAfter: 1_000 })")
    eventually("it is noted", lambda: "key" in "".join(page.run("return warnings")))
    assert page.run("return sockets") == 1
    page.run("stop()")
    page.close()


def test_c6_a_hook_without_provider_says_so(driver, site):
    page = pages.Page(driver, f"{site}/react.html")
    page.run("""
        import("/react.js").then(({ useTyping }) => ReactDOM.createRoot(document.getElementById("root")).render(
          React.createElement(() => useTyping("c1").text)));
    """)
    page.until("it says so", "mistakes.some((each) => each.includes('RollcallProvider'))")
    page.close()


@pytest.mark.parametrize("early", ["undefined", "null", "''"])
def test_c6_an_id_that_is_not_there_yet_shows_nothing(fake, early):
    fake.run("window.problems = []; client.addEventListener('problem', ({ detail }) => problems.push(detail.code));"
             f"setView({{ rows: 0, chat: null, early: {early} }})")
    eventually("nothing is shown", lambda: text(fake, "#early") == "|none|||none|")
    fake.run("fake.person('bob').comes(); setView({ rows: 0, chat: null, early: 'bob' })")
    eventually("now it is there", lambda: text(fake, "#early").startswith("|green||"))
    assert fake.run("return problems") == []


@pytest.mark.parametrize("wrong", ["'John Smith'", "'a{1}'", "42", "{}"])
def test_c6_an_invalid_id_is_a_problem_and_shows_nothing(fake, wrong):
    fake.run("window.problems = []; client.addEventListener('problem', ({ detail }) => problems.push(detail.code));"
             f"setView({{ rows: 0, chat: null, early: {wrong} }})")
    eventually("it is told", lambda: "invalid_name" in fake.run("return problems"))
    assert text(fake, "#early").startswith("|none||")
    assert set(fake.run("return problems")) == {"invalid_name"}


def test_x6_what_is_announced_has_the_names_of_the_newest_render(fake):
    fake.run("setView({ rows: 0, chat: null, names: {} }); window.bob = fake.person('bob'); bob.comes(); bob.types('named')")
    eventually("somebody types", lambda: text(fake, "#named") != "")
    fake.run("setView({ rows: 0, chat: null, names: { bob: 'Bob' } })")
    eventually("it is Bob", lambda: text(fake, "#named") == "Bob schreibt")


def test_c3_rows_that_change_keep_no_earlier_render(fake):
    """Regression: each change of a list kept 4 KB for ever."""
    fake.run("""
        window.friends = Array.from({ length: 20 }, (_, number) => fake.person(`friend${number}`));
        window.change = async (times) => {
          for (let time = 0; time < times; time += 1) {
            const friend = friends[time % 20];
            time % 40 < 20 ? friend.comes() : friend.goes();
            await new Promise((resolve) => setTimeout(resolve, 2));
          }
          return true;
        };
    """)

    def heap_after(changes):
        fake.run("window.isDone = false; change(arguments[0]).then(() => { isDone = true; })", changes)
        eventually("they have changed", lambda: fake.run("return isDone"), within=60)
        fake.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        return fake.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"]

    before = heap_after(200)
    assert heap_after(1_000) - before < 1_000_000
