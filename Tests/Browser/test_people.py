"""Users in real pages, on real workers and a real Redis."""

import json
import statistics
import time
import urllib.request

from selenium.webdriver import ActionChains

from deployment import eventually
from pages import soak

# A user in a page: a client, what it sees of a conversation and of others, and an input.
JOIN = """
    const [name, urls, user, conversation, others, more] = arguments;
    const client = new rollcall.RollcallClient({ url: urls, token: user, ...more });
    keep(`${name} connection`, client.connection);
    keep(`${name} typing`, client.typing(conversation));
    for (const other of others) keep(`${name} ${other}`, client.presence(other));
    const input = client.typingInput(conversation);
    window.people = { ...window.people, [name]: { client, input } };
    client.connect();
"""


class Person:
    def __init__(self, page, name, urls, user, room, others=(), **more):
        self.page, self.name, self.user = page, name, user
        page.run(JOIN, name, urls, user, room.name, list(others), more)
        self.until_connected()

    def until_connected(self, within=30.0):
        self.page.until(
            f"{self.name} is connected", f"people.{self.name}.client.connection.latest.status === 'connected'",
            within=within)

    def run(self, script, *arguments):
        return self.page.run(f"const {{ client, input }} = people.{self.name}; {script}", *arguments)

    def seen(self, what):
        """All observed values, as `{at, value}`."""
        return self.page.run("return seen[arguments[0]]", f"{self.name} {what}")

    def sees(self, what, condition, within=30.0):
        self.page.until(
            f"{self.name} sees {condition}",
            f"((value) => value !== undefined && ({condition}))(seen['{self.name} {what}'].at(-1)?.value)",
            within=within)

    def counts(self):
        return [each["value"]["count"] for each in self.seen("typing")]

    def statuses(self, user):
        return [each["value"]["status"] for each in self.seen(user)]

    @property
    def worker(self):
        return self.run("return client.connection.latest.session.worker")


QUICK = {"typing": {"debounce": 0}}
TAKE_ADDRESSES_IN_ORDER = "Math.random = () => 0.999"


@soak
def test_t11_typing_appears_and_ends_within_a_blink(page, workers, room):
    alice = Person(page, "alice", workers[0].edge, room.alice, room, **QUICK)
    Person(page, "bob", workers[1].edge, room.bob, room)
    # A new conversation for each round, since a worker forwards one start per throttle in each.
    took = alice.run(
        """
        const took = { appear: [], end: [] };
        for (let round = 0; round < 30; round += 1) {
          const conversation = `${arguments[0]}r${round}`;
          const counts = people.bob.client.typing(conversation)[Symbol.asyncIterator]();
          const input = client.typingInput(conversation);
          await counts.next();
          for (const [what, act] of [["appear", () => input.edited("x")], ["end", () => input.send()]]) {
            const start = performance.now();
            act();
            await counts.next();
            took[what].push(performance.now() - start);
          }
          counts.return();
          input.disappeared();
        }
        return took;
        """, room.name)
    for what, times in took.items():
        print(f"{what}: median {statistics.median(times):.1f} ms, slowest {max(times):.1f} ms")
    # The median, since other programs may use the machine for a while.
    assert statistics.median(took["appear"]) < 50
    assert statistics.median(took["end"]) < 100


@soak
def test_t6_nobody_sees_typing_outlive_the_message(page, workers, redis, room):
    alice = Person(page, "alice", workers[0].edge, room.alice, room, **QUICK)
    bob = Person(page, "bob", workers[1].edge, room.bob, room)
    alice.run("input.edited('Hello')")
    bob.sees("typing", "value.count === 1")
    key = f"typing:{{{room.name}}}:{room.alice}"
    assert redis.ask("EXISTS", key) == "1"
    assert alice.run("return input.sendConfirmed()") is True
    assert redis.ask("EXISTS", key) == "0"
    bob.sees("typing", "value.count === 0")


def test_c6_ten_lines_from_import_to_text_on_the_screen(page, workers, room):
    other = Person(page, "other", workers[1].edge, room.bob, room, token=f"{room.bob} Bob", **QUICK)
    page.run(
        """
        const [url, conversation, user] = arguments;
        const script = document.createElement("script");
        script.type = "module";
        script.textContent = `
          import { RollcallClient, typingText } from "/rollcall.js";

          const client = new RollcallClient({ url: "${url}", token: () => "${user}" });
          client.connect();
          const input = client.typingInput("${conversation}");
          field.addEventListener("input", () => input.edited(field.value));
          for await (const typing of client.typing("${conversation}")) line.textContent = typingText(typing);
        `;
        document.body.append(script);
        """, workers[0].edge, room.name, room.alice)
    other.run("input.edited('x')")
    page.until("the line is shown", "line.textContent === 'Bob is typing…'")
    page.driver.find_element("id", "field").send_keys("Hello")
    other.sees("typing", "value.count === 1")


def test_t7_the_background_and_a_closed_tab_end_typing_and_presence(open_page, workers, redis, room):
    watching = open_page()
    bob = Person(watching, "bob", workers[1].edge, room.bob, room, [room.alice])
    page = open_page()
    alice = Person(page, "alice", workers[0].edge, room.alice, room, **QUICK)
    alice.run("client.followPage({ hiddenIs: 'background' }); input.edited('Hello')")
    page.until("she is typing", "people.alice.client.deviceState === 'active'")
    watching.show()  # Which hides the other tab.
    bob.sees(room.alice, "value.status === 'offline'")
    bob.sees("typing", "value.count === 0")
    page.show()
    alice.run("input.edited('Hello again')")
    # The worker defers a start that arrives within its throttle of the last one.
    eventually("she types again", lambda: redis.ask("EXISTS", f"typing:{{{room.name}}}:{room.alice}") == "1")
    start = time.time()
    page.close()
    bob.sees("typing", "value.count === 0")
    bob.sees(room.alice, "value.status === 'offline'")
    assert bob.counts() == [0, 1, 0, 1, 0]
    last_typing = bob.seen("typing")[-1]["at"] / 1000
    assert last_typing - start < 1, "at once, and not by expiry"


def test_p5_a_reload_is_never_seen_as_gone(open_page, worker, workers, room):
    own = worker(presence__grace="10s")  # However long a page takes to load.
    watching = open_page()
    bob = Person(watching, "bob", workers[1].edge, room.bob, room, [room.alice])
    page = open_page()
    site = page.run("return location.href")
    # The observer's tab is hidden meanwhile, which does not affect a page without followPage.
    for _ in range(3):
        alice = Person(page, "web", own.edge, room.alice, room, **QUICK)
        alice.run("client.followPage(); input.edited('Hello')")
        page.load(site)
    Person(page, "web", own.edge, room.alice, room)
    bob.sees(room.alice, "value.status === 'online'")
    bob.sees("typing", "value.count === 0")
    assert bob.statuses(room.alice) == ["offline", "online"]


def test_p2_online_while_any_device_is(page, workers, room):
    bob = Person(page, "bob", workers[0].edge, room.bob, room, [room.alice])
    phone = Person(page, "phone", workers[0].edge, room.alice, room)
    laptop = Person(page, "laptop", workers[1].edge, room.alice, room)
    bob.sees(room.alice, "value.status === 'online'")
    phone.run("client.close()")
    laptop.run("client.setState('idle')")
    bob.sees(room.alice, "value.status === 'away'")
    laptop.run("client.close()")
    bob.sees(room.alice, "value.status === 'offline'")
    assert bob.statuses(room.alice) == ["offline", "online", "away", "offline"]
    said = page.run(
        f"""
        const {{ client }} = people.bob;
        const presence = client.presence("{room.alice}").latest;
        return [rollcall.lastSeenText(presence, client.now), Math.abs(client.now - presence.lastSeen) < 5000];
        """)
    assert said == ["Last seen just now", True]


@soak
def set_members(worker, room, *names):
    body = json.dumps({"members": {name: name.title() for name in names}}).encode()
    url = f"{worker.admin}/v1/conversations/{room.name}/members"
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method="PUT")
    urllib.request.urlopen(request).read()


def test_c8_tabs_and_clients_of_a_page_without_a_name_never_end_each_other(open_page, workers, room):
    watcher = Person(open_page(), "watcher", workers[1].edge, room.bob, room, [room.alice])
    watcher.sees(room.alice, "value.status === 'offline'")
    tab = open_page()
    devices = [Person(tab, name, workers[number].edge, room.alice, room) for number, name in enumerate(["one", "other"])]
    tab.run("sessionStorage.setItem('mine', 'x')")
    # A duplicated tab begins with a copy of the storage, of which a client keeps nothing.
    assert tab.run("return sessionStorage.length + localStorage.length") == 1
    copy = open_page()
    devices.append(Person(copy, "copy", workers[0].edge, room.alice, room))
    watcher.sees(room.alice, "value.status === 'online'")
    names = {person.run("return client.connection.latest.session.device") for person in devices}
    assert len(names) == 3
    time.sleep(3)
    for person in devices:
        assert person.run("return client.connection.latest.status") == "connected"
    devices[0].run("client.close()")
    devices[1].run("client.close()")
    time.sleep(3)
    assert watcher.statuses(room.alice) == ["offline", "online"]
    devices[2].run("client.close()")
    watcher.sees(room.alice, "value.status === 'offline'")


def test_c4_a_page_learns_that_its_origin_may_not_connect(page, worker, site):
    own = worker(edge__origins="https://elsewhere.example")
    page.run("window.client = new rollcall.RollcallClient({ url: arguments[0], token: 'alice' }); client.connect()", own.edge)
    page.until("it says so", "client.connection.latest.error?.message.includes(`pages of ${location.origin} may not connect`)")
    page.run("client.close(); window.client = new rollcall.RollcallClient({ url: arguments[0], token: 'alice' }); client.connect()",
             own.edge.replace("connect", "wrong"))
    page.until("and where no worker is", "client.connection.latest.error?.message.includes('no worker answers at this path')")
    page.run("client.close()")


def test_t13_who_is_removed_sees_nobody(page, workers, redis, room):
    set_members(workers[0], room, room.alice, room.bob)
    alice = Person(page, "alice", workers[0].edge, room.alice, room, **QUICK)
    bob = Person(page, "bob", workers[1].edge, room.bob, room, **QUICK)
    carol = Person(page, "carol", workers[1].edge, room.carol, room)
    carol.sees("typing", "value.refusal?.code === 'not_a_member'")
    alice.run("input.edited('x')")
    bob.sees("typing", f"rollcall.typingText(value) === '{room.alice.title()} is typing…'")
    set_members(workers[0], room, room.alice)
    bob.sees("typing", "value.count === 0 && value.refusal?.code === 'not_a_member'")


def test_p9_who_belongs_to_a_conversation_and_is_here(page, workers, room):
    set_members(workers[0], room, room.alice, room.bob, room.carol)
    alice = Person(page, "alice", workers[0].edge, room.alice, room)
    bob = Person(page, "bob", workers[1].edge, room.bob, room)
    alice.run("keep('members', client.members(arguments[0]))", room.name)
    line = "(({ people, count }) => rollcall.groupCount(people.map((each) => each.presence), count).text)"
    page.until("two are here", f"seen.members.length > 0 && {line}(seen.members.at(-1).value) === '2 of 3 online'")
    assert page.run("return seen.members.at(-1).value.people[1].name") == room.bob.title()
    bob.run("client.close()")
    page.until("one is left", f"{line}(seen.members.at(-1).value) === '1 of 3 online'")
    set_members(workers[1], room, room.alice, room.bob)
    page.until("one has left for good", f"{line}(seen.members.at(-1).value) === '1 of 2 online'")


@soak
def test_c2_a_worker_killed_under_the_page(page, worker, workers, room):
    """Fifty users watched through a worker that is killed: no wrong state in between, the current one soon after."""
    own = worker()
    page.run(
        """
        const [urls, users] = arguments;
        window.crowd = users.map((user, index) => {
          const client = new rollcall.RollcallClient({ url: urls[index % 2], token: user, device: "web" });
          client.connect();
          return client;
        });
        """, [each.edge for each in workers], [f"{room.carol}n{number}" for number in range(50)])
    page.until("the crowd is there", "crowd.every((client) => client.connection.latest.status === 'connected')")
    bob = Person(page, "bob", own.edge, room.bob, room)
    page.run(TAKE_ADDRESSES_IN_ORDER)
    alice = Person(page, "alice", [own.edge, workers[1].edge], room.alice, room, [room.bob], **QUICK)
    assert alice.worker == own.incarnation
    alice.run(
        """
        for (const [index] of crowd.entries()) {
          keep(`member ${index}`, client.presence(`${arguments[0]}n${index}`));
        }
        """, room.carol)
    page.until("all are seen", "crowd.every((_, index) => seen[`member ${index}`].at(-1)?.value.status === 'online')")
    bob.run("input.edited('x')")
    alice.sees("typing", "value.count === 1")
    start = time.monotonic()
    own.crash()
    page.run("for (const client of crowd.slice(0, 25)) client.close()")
    page.until(
        "she is with the other worker",
        "people.alice.client.connection.latest.session?.worker === arguments[0]", workers[1].incarnation)
    page.until(
        "she sees the truth",
        """crowd.every((_, index) =>
             seen[`member ${index}`].at(-1).value.status === (index < 25 ? "offline" : "online"))""")
    print(f"converged {time.monotonic() - start:.2f} s after the crash")
    alice.sees(room.bob, "value.status === 'offline'")
    alice.sees("typing", "value.count === 0")
    wrong = page.run(
        """
        return crowd.flatMap((_, index) => {
          // Whoever was seen before they came was offline then.
          const statuses = seen[`member ${index}`].map(({ value }) => value.status).join().replace(/^offline,/, "");
          return statuses === (index < 25 ? "online,offline" : "online") ? [] : [[index, statuses]];
        });
        """)
    assert wrong == []
    page.run("for (const client of crowd) client.close()")


def test_t16_a_network_that_is_cut_and_comes_back(page, workers, network, room):
    net = network(workers[0])
    alice = Person(page, "alice", net.edge, room.alice, room, [room.bob], **QUICK)
    bob = Person(page, "bob", workers[1].edge, room.bob, room, [room.alice], **QUICK)
    alice.sees(room.bob, "value.status === 'online'")
    alice.run("input.edited('x')")
    bob.sees("typing", "value.count === 1")
    net.cut()
    bob.sees("typing", "value.count === 0")
    assert alice.run("return client.connection.latest.status") in ("waiting", "connecting")
    bob.run("client.setState('idle'); input.edited('y')")
    assert alice.seen(room.bob)[-1]["value"]["status"] == "online", "what was last known stands"
    start = time.monotonic()
    net.mend()
    alice.until_connected()
    alice.sees(room.bob, "value.status === 'away'")
    alice.sees("typing", "value.count === 1")
    print(f"back to the truth {time.monotonic() - start:.2f} s after the network")
    assert time.monotonic() - start < 4


@soak
@soak
def test_c2_an_orderly_stop_sends_the_page_elsewhere(page, worker, workers, room):
    own = worker()
    bob = Person(page, "bob", workers[0].edge, room.bob, room, [room.alice])
    alice = Person(page, "alice", own.edge, room.alice, room)
    bob.sees(room.alice, "value.status === 'online'")
    own.stop()
    page.until(
        "she is with another worker",
        "/^w[12]\\./.test(people.alice.client.connection.latest.session?.worker)")
    assert bob.statuses(room.alice)[-1:] == ["online"]
    assert "offline" not in bob.statuses(room.alice)[1:]
    alice.run("client.close()")


@soak
@soak
def test_c3_views_opened_and_closed_leave_no_memory(page, workers, room):
    alice = Person(page, "alice", workers[0].edge, room.alice, room)
    views = """
        for (let round = 0; round < arguments[0]; round += 1) {
          const stop = client.typing(`c${round % 5}`).subscribe(() => {});
          const presences = client.presence(`user${round % 7}`)[Symbol.asyncIterator]();
          const view = client.typingInput(`c${round % 5}`);
          view.edited("x");
          if (round % 100 === 0) await new Promise((resolve) => setTimeout(resolve));
          stop();
          presences.return();
          view.disappeared();
        }
        """
    heap = """
        gc();
        await new Promise((resolve) => setTimeout(resolve, 50));
        gc();
        return performance.memory.usedJSHeapSize;
        """
    alice.run(views, 1_000)
    before = page.run(heap)
    alice.run(views, 10_000)
    after = page.run(heap)
    page.run("window.stops = []; const { client } = people.alice;"
             "for (let n = 0; n < 10; n += 1) stops.push(client.presence(`seen${n}`).subscribe(() => {}));")
    observing = page.run(heap)
    print(f"{(after - before) / 1e6:.2f} MB after ten thousand views; {(observing - after) / 1e3:.0f} kB for ten users")
    assert after - before < 1_000_000
    assert observing - after < 1_000_000
    assert page.run("return people.alice.client.connection.latest.status") == "connected"


def test_p4_input_counts_though_a_page_stops_its_events_and_in_frames(open_page, workers, driver):
    page = open_page()
    page.show()
    page.run("""
        document.body.innerHTML = `<div id="editor" tabindex="0">An editor</div><iframe srcdoc="<p>A frame</p><iframe srcdoc='<p>One in it</p>'></iframe>"></iframe>`;
        for (const type of ["pointermove", "pointerdown", "keydown", "click"]) {
          editor.addEventListener(type, (event) => event.stopPropagation());
        }
        window.client = new rollcall.RollcallClient({ url: arguments[0], token: "alice", idleAfter: 700 });
        client.connect();
        client.followPage();
    """, workers[0].edge)

    def in_frames(depth):
        driver.switch_to.default_content()
        for _ in range(depth):
            driver.switch_to.frame(0)
        ActionChains(driver).move_to_element(driver.find_element("tag name", "p")).click().perform()
        driver.switch_to.default_content()

    editor = driver.find_element("id", "editor")
    for what, act in [
        ("a pointer over what stops its events", lambda: ActionChains(driver).move_to_element(editor).move_by_offset(2, 2).perform()),
        ("a key there", lambda: editor.send_keys("x")), ("a click in a frame", lambda: in_frames(1)),
        ("a click in a frame within it", lambda: in_frames(2)),
    ]:
        page.until("it is idle", "client.deviceState === 'idle'")
        act()
        assert page.run("return client.deviceState") == "active", what
    page.until("it is idle", "client.deviceState === 'idle'")
    page.run("editor.dispatchEvent(new Event('pointermove', { bubbles: true }))")
    assert page.run("return client.deviceState") == "idle", "what a page makes up is no input"
    page.run("client.close()")
