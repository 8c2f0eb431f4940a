// Who has a conversation open, and that this device has.

import { hereLabel, hereText, languages } from "/rollcall.js";
import { FakeWorker } from "/testing.js";
import { connected, equal, inWorld, mistakesOf, ok, seen, throws } from "./world.js";

const english = { language: "en" };

/** What a connection was told of what is open. */
const told = (world, socket = world.socket) => world.said
  .filter((message) => message.socket === socket && ["join", "enter", "exit", "leave"].includes(message.type))
  .map(({ type, here, data }) => [type, here, data].filter((each) => each !== undefined));

export const stories = {
  "H1: who else is here is shown, and what they show": () => inWorld(async (world) => {
    const worker = new FakeWorker();
    const [alice, carol] = [worker.client("alice"), worker.client("carol")];
    for (const client of [alice, carol]) client.connect();
    const [page, other] = [seen(alice.here("doc")), seen(carol.here("doc"))];
    const entry = alice.enter("doc");
    await world.advance(0);
    equal([page.at(-1).count, page.at(-1).otherCount, hereText(page.at(-1), english)], [1, 0, ""], "nobody else");
    const bob = worker.person("bob", { name: "Bob" });
    bob.enters("doc", { section: 4 });
    await world.advance(0);
    equal([hereText(page.at(-1), english), page.at(-1).others[0].data], ["Bob is here", { section: 4 }]);
    entry.show({ section: 7 });
    await world.advance(0);
    equal([other.at(-1).others[0].data, other.at(-1).otherCount], [{ section: 7 }, 2]);
    equal(hereLabel(other.at(-1), { ...english, name: (user) => user.toUpperCase() }), "ALICE and BOB are here");
    bob.exits("doc");
    entry.close();
    await world.advance(0);
    equal([other.at(-1).count, alice.here("doc").latest.count], [0, 0]);
    await Promise.all([alice.close(), carol.close()]);
    await world.advance(10_000);
    equal(world.timers, 0);
  }),

  "H1: data with half of a surrogate pair, which many parsers refuse, is sent with U+FFFD": () => connected(async (world, client) => {
    client.enter("doc", { data: { "a\ud800": ["\udc00b", "\\ud800", "😀"] } });
    await world.advance(0);
    equal(told(world), [["join"], ["enter", { "a\ufffd": ["\ufffdb", "\\ud800", "😀"] }]]);
  }),

  "H1: several entries count once, and the last one that closes exits and leaves": () => connected(async (world, client) => {
    const one = client.enter("doc", { data: { section: 1 } });
    const over = new AbortController();
    client.enter("doc", over);
    await world.advance(0);
    equal(told(world), [["join"], ["enter"]], "what was shown last");
    one.show({ section: 2 });
    one.show({ section: 3 });
    await world.advance(0);
    one.show({ section: 3 });
    await world.advance(0);
    equal(told(world).slice(2), [["enter", { section: 3 }]]);
    one.close();
    one.close();
    await world.advance(0);
    equal(told(world).slice(3), [["enter"]], "the other one is still open");
    over.abort();
    await world.advance(0);
    equal(told(world).slice(4), [["leave"]], "which exits");
    one.show();
    await world.advance(0);
    const observed = seen(client.here("doc"));
    one.close();
    await world.advance(0);
    equal(told(world).slice(5), [["join"], ["enter"], ["exit"], ["join", true]]);
    observed.end();
  }),

  "H1: an entry that is aborted before never enters, and one of a closed client neither": () => connected(async (world, client) => {
    client.enter("doc", { signal: AbortSignal.abort() });
    await world.advance(0);
    equal(told(world), []);
    const here = seen(client.here("doc"));
    await world.advance(0);
    world.socket.tell({ type: "here", conversation: "doc", users: [{ user: "bob", since: 5 }], count: 1 });
    await world.advance(0);
    await client.close();
    client.enter("doc").show({});
    await world.advance(10_000);
    equal([here.map(({ count }) => count), world.timers], [[1, 0], 0]);
  }),

  "H1: after a reconnect it enters again; while stale, nobody is known to be here": () => connected(async (world, client) => {
    const here = seen(client.here("doc"));
    client.enter("doc", { data: { section: 3 } });
    await world.advance(0);
    const tell = () => world.socket.tell({
      type: "here", conversation: "doc", count: 2, users: [
        { user: "bob", name: "Bob", since: 5, idle: true, data: { colour: "red" } }, { user: "alice", since: 9, data: 7 }] });
    tell();
    await world.advance(0);
    equal(here.at(-1).users, [
      { user: "bob", name: "Bob", since: 5, isIdle: true, data: { colour: "red" } }, { user: "alice", since: 9, isIdle: false }]);
    equal(here.at(-1).others.map(({ user }) => user), ["bob"]);
    world.listens = () => "no";
    world.socket.drop();
    await world.advance(4_000);
    equal(here.at(-1).count, 2, "for a short loss, what was known stands");
    await world.advance(2_000);
    equal([here.at(-1).count, here.at(-1).others, client.here("doc").latest], [0, [], undefined]);
    world.listens = () => "yes";
    await world.advance(3_000);
    equal(told(world), [["join", true], ["enter", { section: 3 }]]);
    tell();
    await world.advance(0);
    equal(here.at(-1).count, 2);
  }),

  "H1: what is refused is a problem, and is entered again after the join that follows": () => connected(async (world, client) => {
    const problems = [];
    client.addEventListener("problem", ({ detail }) => problems.push(detail.code));
    const refuse = (code, retry = false) => (message, socket) => {
      if (!["join", "enter"].includes(message.type)) return socket.behave(message);
      const answer = message.type === "enter" && code === "not_a_member" ? "not_joined" : code;
      return socket.tell({ type: "error", id: message.id, code: answer, message: code, retry });
    };
    world.script = refuse("not_a_member");
    const here = seen(client.here("doc"));
    client.enter("doc", { data: { section: 1 } });
    await world.advance(0);
    equal([problems, here.at(-1).refusal?.code, here.at(-1).others], [["not_a_member"], "not_a_member", []]);
    world.script = (message, socket) => socket.behave(message);
    await world.advance(70_000);
    equal(told(world).slice(-2), [["join", true], ["enter", { section: 1 }]]);
    equal(client.here("doc").latest.refusal?.code, "not_a_member", "until the worker says who is here");
    // No room for this entry, until another one is closed.
    const joins = world.all("join").length;
    const limit = refuse("limit");
    world.script = (message, socket) => (message.type === "enter" ? limit : socket.behave.bind(socket))(message, socket);
    const second = client.enter("notes");
    await world.advance(0);
    equal(problems.at(-1), "limit");
    world.script = (message, socket) => socket.behave(message);
    const before = world.all("enter").length;
    await world.advance(20_000);
    equal([world.all("enter").length - before, world.all("join").length - joins], [0, 1], "there is no room yet");
    client.enter("elsewhere").close();
    const third = client.enter("third");
    await world.advance(1_000);
    third.close();
    await world.advance(1_000);
    equal(world.all("enter").slice(before).map(({ conversation }) => conversation), ["third", "notes"], "now there is");
    world.socket.tell({ type: "removed", conversation: "notes" });
    await world.advance(70_000);
    equal(world.all("enter").length - before, 3, "a member again");
    second.close();
  }),

  "H1: what an entry shows is an object": () => connected(async (world, client) => {
    for (const data of [7, "x", [1], null, () => {}, { toJSON: () => 5 }]) {
      throws(() => client.enter("doc", { data }));
    }
    const entry = client.enter("doc");
    const loop = {};
    loop.loop = loop;
    throws(() => entry.show(loop));
    const changing = { section: 1 };
    entry.show(changing);
    changing.section = 2;
    await world.advance(0);
    equal(told(world), [["join"], ["enter", { section: 1 }]], "as it was when it was shown");
    equal(await mistakesOf(() => entry.close()), []);
  }),

  "H1: texts: names, others, and people without names, in every language": () => {
    for (const { id } of languages()) {
      const text = (names, otherCount = names.length) => hereLabel({
        conversation: "doc", users: [], count: 0, others: names.map((name, at) => ({ user: `u${at}`, since: 0, isIdle: false, name })),
        otherCount }, { language: id });
      equal(text([]), "");
      ok(text(["Ada"]).includes("Ada"), id);
      ok(text(["Ada", "Bob", "Eve"], 12).includes("10"), id);
      ok(text([undefined, undefined], 12).includes("12"), id);
      if (id !== "en") continue;
      equal([text(["Ada", "Bob"]), text(["Ada", "Bob", "Eve"], 12)], ["Ada and Bob are here", "Ada, Bob, and 10 others are here"]);
      equal([text([undefined]), text([undefined, undefined], 12)], ["Someone is here", "12 people are here"]);
    }
  },

  "H1: after a reconnect a device says first where it is, whatever else it observes": () => connected(async (world, client) => {
    for (let number = 0; number < 480; number += 1) client.typing(`c${number}`).subscribe(() => {});
    client.enter("doc", { data: { section: 1 } });
    await world.advance(60_000);
    world.socket.drop();
    await world.advance(2_000);
    equal(world.said.filter(({ socket }) => socket === world.socket).slice(0, 3).map(({ type, conversation }) => [type, conversation]),
      [["hello", undefined], ["join", "doc"], ["enter", "doc"]]);
  }),

  "H1: a cursor is sent four times at once and then at the worker's pace, and keeps nothing else from being sent": () => connected(async (world, client) => {
    world.coalesce = 250;
    world.socket.drop();
    await world.advance(2_000);
    const entry = client.enter("doc");
    for (let number = 0; number < 200; number += 1) client.typing(`c${number}`).subscribe(() => {});
    let step = 0;
    const move = async (duration) => {
      for (let time = 0; time < duration; time += 16) {
        entry.show({ x: step += 1 });
        await world.advance(16);
      }
    };
    await move(1_000);
    const members = seen(client.members("c4"));
    const before = world.all("enter").length;
    await move(10_000);
    ok(members.length > 0 || world.all("join").some(({ conversation, presence }) => conversation === "c4" && presence), "the list is asked for");
    ok(world.all("enter").length - before <= 41, `${world.all("enter").length - before} enters in ten seconds`);
    await world.advance(1_000);
    equal(world.all("enter").at(-1).data, { x: step }, "the last one counts");
  }),

  "H1: what the worker's limits forbid is not sent, is told once, and sent once there is room": () => connected(async (world, client) => {
    const problems = [];
    client.addEventListener("problem", ({ detail }) => problems.push(detail.code));
    const entries = Array.from({ length: 11 }, (_, number) => client.enter(`doc${number}`));
    await world.advance(60_000);
    equal([world.all("enter").length, problems], [10, ["limit"]]);
    entries[3].close();
    await world.advance(1_000);
    equal(world.all("enter").at(-1).conversation, "doc10");
    entries[0].show({ text: "x".repeat(600) });
    await world.advance(60_000);
    equal([world.all("enter").length, problems], [11, ["limit", "limit"]]);
    entries[0].show({ text: "x" });
    await world.advance(1_000);
    equal([world.all("enter").length, problems.length], [12, 2]);
  }),

  "H1: data that differs only in an empty list and an empty object is a change": () => connected(async (world, client) => {
    const here = seen(client.here("doc"));
    for (const a of [[], {}, []]) {
      await world.advance(0);
      world.socket.tell({ type: "here", conversation: "doc", users: [{ user: "bob", since: 5, data: { a } }], count: 1 });
    }
    await world.advance(0);
    equal(here.map(({ users }) => users[0].data), [{ a: [] }, { a: {} }, { a: [] }]);
  }),

  "C3: a signal that outlives what it ends keeps nothing of it": () => connected(async (world, client) => {
    const signal = new AbortController().signal;
    let listeners = 0;
    const [add, remove] = [signal.addEventListener, signal.removeEventListener];
    signal.addEventListener = (...words) => { listeners += 1; add.apply(signal, words); };
    signal.removeEventListener = (...words) => { listeners -= 1; remove.apply(signal, words); };
    for (let number = 0; number < 100; number += 1) {
      const entry = client.enter("doc", { signal });
      const input = client.typingInput("c42", { signal });
      const listener = () => {};
      client.addEventListener("wire", listener, { signal });
      client.typing("c42").subscribe(() => {}, { signal })();
      await Promise.all([client.currentPresence("bob", { signal }), world.advance(10_000)]);
      entry.close();
      input.disappeared();
      client.removeEventListener("wire", listener);
    }
    equal(listeners, 0);
  }),
};
