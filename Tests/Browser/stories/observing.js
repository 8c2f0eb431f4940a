// What an observer sees: typing, presence, presence once.

import { RollcallError, groupCount } from "/rollcall.js";
import { World, equal, ok, presence, seen, settled, throws } from "./world.js";

async function connected(story, options) {
  const world = new World();
  try {
    await story(world, await world.connected(options));
  } finally {
    world.end();
  }
}

const counts = (typings) => typings.map(({ count }) => count);
const statuses = (presences) => presences.map(({ status }) => status);

export const stories = {
  "T4: a set that the worker repeats is told once": () => connected(async (world, client) => {
    const typings = seen(client.typing("c42"));
    await world.advance(0);
    for (const users of [["bob"], ["bob"], ["bob"], ["bob", "carol"], ["carol"]]) world.socket.tellTyping("c42", ...users);
    equal(counts(typings), [0, 1, 2, 1]);
  }),

  "T12: only in conversations that are observed, and only while they are": () => connected(async (world, client) => {
    client.typing("c42");
    await world.advance(0);
    equal(world.kinds(), ["hello"]);
    const typings = seen(client.typing("c42"));
    await world.advance(0);
    typings.end();
    await world.advance(0);
    equal(world.kinds(), ["hello", "join", "leave"]);
    world.socket.tellTyping("c42", "bob");
    equal(counts(typings), [0]);
  }),

  "T13: who is removed, or was never let in, sees nobody, and why": () => connected(async (world, client) => {
    world.script = ({ id, ...message }, socket) => message.conversation === "closed"
      ? socket.tell({ type: "error", id, code: "not_a_member", message: "members only", retry: false })
      : socket.behave({ id, ...message });
    const closed = seen(client.typing("closed"));
    const open = seen(client.typing("open"));
    await world.advance(0);
    equal([closed.at(-1).count, closed.at(-1).refusal.code, closed.at(-1).refusal.message], [0, "not_a_member", "members only"]);
    world.socket.tellTyping("open", "bob");
    world.socket.tell({ type: "removed", conversation: "open" });
    equal([open.at(-1).count, open.at(-1).refusal.code], [0, "not_a_member"]);
    open.end();
    closed.end();
    await world.advance(0);
    equal(world.all("leave").length, 0, "the worker had left us already");
  }),

  "T14: a worker that falls silent about a conversation leaves nobody typing for ever": () => connected(async (world, client) => {
    const typings = seen(client.typing("c42"));
    const others = seen(client.typing("c43"));
    await world.advance(0);
    world.socket.tellTyping("c42", "bob");
    world.socket.tellTyping("c43", "bob");
    for (let repeat = 0; repeat < 10; repeat += 1) {
      await world.advance(3_000);
      world.socket.tellTyping("c43", "bob");
      if (repeat === 0) equal(counts(typings), [0, 1]);
    }
    equal(counts(typings), [0, 1, 0], "5 s after the last word on it");
    equal(counts(others), [0, 1], "a repeated set stays, without flicker");
    world.expiry = 3_600_000;
    world.socket.drop();
    await world.advance(2_000);
    world.socket.tellTyping("c42", "bob");
    await world.advance(9_900);
    equal(typings.at(-1).count, 1);
    await world.advance(200);
    equal(typings.at(-1).count, 0, "10 s at most, whatever a worker claims");
  }),

  "T15: a group of 300 is one value, and those named keep their places": () => connected(async (world, client) => {
    const typings = seen(client.typing("c42"));
    await world.advance(0);
    const users = [..."abcdefghij"].map((user) => ({ user }));
    world.socket.tell({ type: "typing", conversation: "c42", users, count: 300 });
    world.socket.tell({ type: "typing", conversation: "c42", users: users.toReversed().concat({ user: "k" }), count: 299 });
    equal(counts(typings), [0, 300, 299]);
    equal(typings.at(-1).typists.map(({ user }) => user).join(""), "abcdefghijk");
  }),

  "T16: after a reconnect, and on return to the front, the truth of now is shown": () => connected(async (world, client) => {
    const typings = seen(client.typing("c42"));
    const presences = seen(client.presence(["bob"]));
    await world.advance(0);
    world.socket.tellTyping("c42", "bob");
    world.socket.tellPresence("bob", "online");
    world.socket.drop();
    await world.advance(0);
    equal(presences.at(-1).get("bob").status, "online", "what was last known stands");
    await world.advance(2_000);
    equal(counts(typings), [0, 1, 0]);
    equal(presences.at(-1).get("bob").status, "offline");
    client.setPhase("background");
    await world.advance(1_000);
    world.script = () => {};
    client.setPhase("active");
    await world.advance(3_500);
    equal(world.sockets.length, 3, "a connection that does not answer is left");
  }),

  "P1: a user never seen is offline, and no error": () => connected(async (world, client) => {
    const presences = seen(client.presence("nobody"));
    await world.advance(0);
    world.socket.tell({ type: "presence", users: [{ user: "nobody", status: "hibernating", last_seen: null, updated_at: null }] });
    equal(presences.at(-1), { user: "nobody", status: "offline", lastSeen: null, updatedAt: null, version: 0 });
  }),

  "P3: phases become states, a glance elsewhere changes nothing, and nothing is said twice": () => connected(async (world, client) => {
    for (const phase of ["inactive", "active", "background", "inactive", "background"]) {
      client.setPhase(phase);
      await world.advance(0);
    }
    client.setState("background");
    client.setPhase("active");
    await world.advance(0);
    client.setState("idle");
    await world.advance(0);
    client.inputHappened();
    await world.advance(0);
    equal(world.all("state").map(({ state }) => state), ["background", "active", "idle", "active"]);
    client.setState("background");
    client.setState("active");
    await world.advance(0);
    equal(world.all("state").at(-1).state, "active");
    world.socket.drop();
    client.setPhase("background");
    await world.advance(2_000);
    equal(world.all("hello").map(({ state }) => state), ["active", "background"]);
  }),

  "P4: a device whose input stays away is idle, and active at the next": () => connected(async (world, client) => {
    await world.advance(3_600_000);
    equal(world.all("state"), [], "an app that reports no input says nothing by its silence");
    client.inputHappened();
    await world.advance(299_999);
    equal(world.all("state").length, 0);
    await world.advance(1);
    client.typingInput("c42").edited("x");
    await world.advance(0);
    equal(world.all("state").map(({ state }) => state), ["idle", "active"]);
  }),

  "P6: ten observers of one user cost one subscription, and the last to go ends it": () => connected(async (world, client) => {
    const observers = Array.from({ length: 10 }, () => seen(client.presence("bob")));
    await world.advance(0);
    world.socket.tellPresence("bob", "online");
    for (const observer of observers) equal(statuses(observer), ["offline", "online"]);
    const late = seen(client.presence("bob"));
    equal(late.length, 0, "not within the call that begins it");
    await world.advance(0);
    equal(statuses(late), ["online"]);
    for (const observer of observers) observer.end();
    world.socket.tellPresence("bob", "away");
    equal(statuses(late), ["online", "away"]);
    late.end();
    late.end();
    await world.advance(0);
    equal(world.kinds(), ["hello", "watch", "unwatch"]);
    equal(client.presence("bob").latest, undefined, "what nobody observes is not kept");
  }),

  "P6: what one task begins and ends again is never sent": () => connected(async (world, client) => {
    const first = seen(client.presence("bob"));
    await world.advance(0);
    first.end();
    seen(client.presence("bob"));
    seen(client.presence("carol")).end();
    await world.advance(0);
    equal(world.kinds(), ["hello", "watch"]);
  }),

  "P6: a thousand in one call, in messages that fit": () => connected(async (world, client) => {
    world.limits.message_bytes = 16_384;
    world.socket.drop();
    await world.advance(2_000);
    const users = Array.from({ length: 1_000 }, (_, number) => `user${number}`);
    const found = await client.currentPresence(users);
    equal(found.size, 1_000);
    const gets = world.all("get");
    ok(gets.length > 10 && gets.every((get) => JSON.stringify(get).length < 16_384), "in chunks");
    equal((await client.currentPresence("bob")).status, "away");
    equal(await client.currentPresence([]), new Map());
  }),

  "P6: no more at once than a worker serves a session": () => connected(async (world, client) => {
    world.limits.watched_users = 100;
    world.socket.drop();
    await world.advance(2_000);
    let most = 0;
    let unanswered = 0;
    world.script = (message, socket) => {
      if (message.type !== "get") return socket.behave(message);
      unanswered += message.users.length;
      most = Math.max(most, unanswered);
      globalThis.setTimeout(() => { unanswered -= message.users.length; socket.behave(message); }, 10);
    };
    const fetched = client.currentPresence(Array.from({ length: 1_000 }, (_, number) => `user${number}`), { within: 60_000 });
    await world.advance(30_000);
    equal((await fetched).size, 1_000);
    equal(most, 100);
  }),

  "P6: an answer may come in parts, late, or after a reconnect; what does not come is absent": () => connected(async (world, client) => {
    world.script = ({ type, id, users, ...message }, socket) => {
      if (type !== "get") return socket.behave({ type, id, users, ...message });
      socket.tell({ type: "ack", id });
      for (const user of users.slice(0, 2)) socket.tell({ type: "presence", id, users: [presence(user, "online")] });
    };
    const parts = client.currentPresence(["a", "b", "c"], { within: 1_000 });
    await world.advance(1_000);
    equal([...(await parts).keys()], ["a", "b"]);
    let asked = 0;
    world.script = (message, socket) => {
      if (message.type !== "get") return socket.behave(message);
      asked += 1;
      if (asked === 1) socket.tell({ type: "error", id: message.id, code: "unavailable", message: "later", retry: true });
      else if (asked === 2) socket.drop();
      else socket.behave(message);
    };
    const again = client.currentPresence("bob");
    await world.advance(4_000);
    equal((await again).status, "away");
    equal(asked, 3);
    world.script = (message, socket) => message.type === "get" || socket.behave(message);
    const leaving = new AbortController();
    const left = client.currentPresence("bob", { within: 3_600_000, signal: leaving.signal });
    await world.advance(0);
    leaving.abort();
    equal(await left, undefined);
  }),

  "P6: several users are one value a task": () => connected(async (world, client) => {
    const users = Array.from({ length: 1_000 }, (_, number) => `user${number}`);
    const group = seen(client.presence(users));
    await world.advance(0);
    equal(group.at(-1).size, 1_000);
    ok(group.length < 10, `${group.length} values`);
    world.socket.tellPresence("user7", "online");
    await settled();
    equal(groupCount(group.at(-1).values(), 1_000).text, "1 of 1000 online");
    ok(group.at(-2) !== group.at(-1) && group.at(-2).get("user7").status === "offline", "values do not change");
    group.end();
    await world.advance(0);
    equal(world.all("unwatch").flatMap((message) => message.users).length, 1_000);
  }),

  "P9: who belongs to a conversation, and who of them is here": () => connected(async (world, client) => {
    world.script = (message, socket) => {
      socket.behave(message);
      if (message.type !== "join" || !message.presence) return;
      const users = [{ user: "alice", name: "Alice" }, { user: "bob", name: "Bob" }, { user: "carol" }];
      socket.tell({ type: "members", conversation: "c42", users, count: 3 });
      socket.tell({ type: "presence", users: [presence("alice", "online"), presence("bob", "away"), presence("carol", "offline")] });
    };
    const typings = seen(client.typing("c42"));
    await world.advance(0);
    const members = seen(client.members("c42"));
    await world.advance(0);
    const shown = () => members.at(-1).people.map(({ user, name, presence }) => `${user} ${name} ${presence?.status}`);
    equal(shown(), ["alice Alice online", "bob Bob away", "carol undefined offline"]);
    ok(members.length <= 2, "a list and its presence are few values");
    equal(groupCount(members.at(-1).people.map((each) => each.presence), members.at(-1).count).text, "1 of 3 online");
    world.socket.tellPresence("bob", "online");
    await settled();
    equal(shown()[1], "bob Bob online");
    world.socket.tell({ type: "members", conversation: "c42", users: [{ user: "bob", name: "Bobby" }, { user: "dave" }], count: 2 });
    await settled();
    equal(shown(), ["bob Bobby online", "dave undefined undefined"]);
    world.socket.drop();
    await world.advance(2_000);
    equal(shown(), ["alice Alice online", "bob Bob away", "carol undefined offline"]);
    members.end();
    await world.advance(0);
    world.socket.tellTyping("c42", "bob");
    equal(typings.at(-1).count, 1, "typing goes on");
    typings.end();
    await world.advance(0);
    const joins = world.all("join").map((message) => message.presence ?? null);
    equal([joins, world.all("leave").length, world.all("watch").length], [[null, true, true, false], 1, 0]);
    equal([client.members("c42").latest, client.presence("bob").latest], [undefined, undefined], "nothing is kept");
  }),

  "P9: a member who is watched besides costs one subscription, and both go on as long as they are wanted":
    () => connected(async (world, client) => {
      const bob = seen(client.presence("bob"));
      const members = seen(client.members("c42"));
      await world.advance(0);
      world.socket.tell({ type: "members", conversation: "c42", users: [{ user: "bob" }], count: 1 });
      await world.advance(0);
      equal(members.at(-1).people[0].presence.status, "offline", "what is known is shown at once");
      bob.end();
      await world.advance(0);
      equal(world.kinds(), ["hello", "join", "watch", "unwatch"]);
      world.socket.tellPresence("bob", "online");
      await settled();
      equal(members.at(-1).people[0].presence.status, "online");
      world.socket.tell({ type: "removed", conversation: "c42" });
      await settled();
      equal([members.at(-1).people, members.at(-1).refusal.code], [[], "not_a_member"]);
      members.end();
      await world.advance(0);
      equal(client.presence("bob").latest, undefined);
    }),

  "P7: now is the server's, and this device's clock changes nothing": () => connected(async (world, client) => {
    equal(client.now, 1_784_600_000_000);
    Date.now = () => 5;
    await world.advance(1_000);
    equal(client.now, 1_784_600_001_000);
  }),

  "C1: for await shows the latest, and a slow reader skips values": () => connected(async (world, client) => {
    const shown = [];
    const reading = (async () => {
      for await (const typing of client.typing("c42")) {
        shown.push(typing.count);
        if (typing.count === 3) break;
      }
    })();
    await world.advance(0);
    world.socket.tellTyping("c42", "a");
    world.socket.tellTyping("c42", "a", "b");
    world.socket.tellTyping("c42", "a", "b", "c");
    await reading;
    await world.advance(0);
    equal([shown.at(0), shown.at(-1)], [0, 3]);
    ok(shown.length < 4, `skipped: ${shown}`);
    equal(world.kinds(), ["hello", "join", "leave"], "breaking off ends it");
  }),

  "C1: a signal ends what it was given to, and so does the end of the client": () => connected(async (world, client) => {
    const leaving = new AbortController();
    let ended = 0;
    const read = async (updates) => { for await (const _ of updates) {} ended += 1; };
    read(client.presence("bob", { signal: leaving.signal }));
    const heard = seen(client.presence("bob"), { signal: leaving.signal });
    await world.advance(0);
    leaving.abort();
    await world.advance(0);
    equal([ended, heard.length, world.kinds().at(-1)], [1, 1, "unwatch"]);
    read(client.presence("bob", { signal: leaving.signal }));
    await world.advance(0);
    equal([ended, world.kinds().at(-1)], [2, "unwatch"], "an aborted one ends as it begins");
    const last = [];
    read(client.typing("c42"));
    (async () => { for await (const state of client.connection) last.push(state.status); ended += 1; })();
    await world.advance(0);
    client.close();
    await world.advance(0);
    equal([ended, last.at(-1)], [4, "closed"]);
    read(client.presence("bob"));
    await world.advance(0);
    equal(ended, 5, "a closed client shows nothing");
  }),

  "C3: ten thousand views opened and closed leave nothing": () => connected(async (world, client) => {
    const problems = [];
    client.addEventListener("problem", ({ detail }) => problems.push(detail));
    for (let round = 0; round < 10_000; round += 1) {
      const typings = seen(client.typing(`c${round % 5}`));
      const presences = client.presence(`user${round % 7}`)[Symbol.asyncIterator]();
      const input = client.typingInput(`c${round % 5}`);
      input.edited("x");
      if (round % 1_000 === 0) await world.advance(1);
      typings.end();
      presences.return();
      input.disappeared();
    }
    await world.advance(10_000);
    equal(problems, []);
    equal(client.typing("c1").latest, undefined);
    const left = { join: 0, leave: 0, watch: 0, unwatch: 0 };
    for (const { type } of world.said) if (type in left) left[type] += 1;
    equal([left.join - left.leave, left.watch - left.unwatch], [0, 0]);
    equal(world.timers, 1, "what is left is the watch over the connection");
  }),

  "C4: names are checked where they are given": () => connected(async (world, client) => {
    for (const wrong of ["", " ", "a b", "{c42}", "a\u0000", "\ud800", "ä".repeat(65), null, 7]) {
      for (const call of [() => client.typing(wrong), () => client.presence([wrong]), () => client.typingInput(wrong)]) {
        ok(throws(call, "invalid_name") instanceof RollcallError, "typed");
      }
    }
    client.typing("ä".repeat(64));
  }),

  "C4: what the worker refuses is told as a problem; weather is not": () => connected(async (world, client) => {
    const problems = [];
    client.addEventListener("problem", ({ detail }) => problems.push(detail.code));
    world.socket.tell({ type: "error", code: "unavailable", message: "later", retry: true });
    world.socket.tell({ type: "error", code: "bad_request", message: "what?", retry: false });
    equal(problems, ["bad_request"]);
    world.limits.watched_users = 2;
    world.socket.drop();
    await world.advance(2_000);
    const observers = ["a", "b", "c"].map((user) => seen(client.presence(user)));
    await world.advance(0);
    equal(problems, ["bad_request", "limit"]);
    equal(observers.map(({ length }) => length), [1, 1, 0]);
    observers[0].end();
    await world.advance(0);
    equal(observers[2].length, 1, "there is room now");
  }),

  "an observer's own mistake spoils nothing for the others": () => connected(async (world, client) => {
    const mistakes = [];
    const noted = (event) => { mistakes.push(event.message); event.preventDefault(); event.stopImmediatePropagation(); };
    globalThis.addEventListener("error", noted, { capture: true });
    client.presence("bob").subscribe(() => { throw new Error("mine"); });
    const other = seen(client.presence("bob"));
    await world.advance(0);
    globalThis.removeEventListener("error", noted, { capture: true });
    equal([other.length, mistakes.length], [1, 1]);
  }),

  "X4: the app's names are asked for once each, and shown when they come": async () => {
    const asked = [];
    const answers = new Map();
    const names = (user) => {
      asked.push(user);
      return user === "dave" ? "Dave here" : new Promise((resolve) => answers.set(user, resolve));
    };
    await connected(async (world, client) => {
      const typings = seen(client.typing("c42"));
      const shown = () => typings.at(-1).typists.map(({ name }) => name);
      await world.advance(0);
      const users = [{ user: "bob", name: "Bob" }, { user: "carol", name: "Carol" }, { user: "dave", name: "D" }];
      world.socket.tell({ type: "typing", conversation: "c42", users, count: 3 });
      equal(shown(), ["Bob", "Carol", "Dave here"], "the members' names first, but one at hand at once");
      answers.get("bob")("Bobby");
      answers.get("carol")(null);
      await world.advance(0);
      equal(shown(), ["Bobby", "Carol", "Dave here"]);
      world.socket.tell({ type: "typing", conversation: "c42", users: users.slice(0, 2), count: 2 });
      equal(asked, ["bob", "carol", "dave"]);
    }, { names });
  },
};
