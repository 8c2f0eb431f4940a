// What applies to everything that is observed: start, end, reconnects and refusals.

import { presenceView, RollcallError } from "/rollcall.js";
import { connected, equal, inWorld, mistakesOf, ok, seen, settled, throws } from "./world.js";

const counts = (typings) => typings.map(({ count }) => count);

/** Returns how many objects the page has, which only the debugger knows. */
function counted() { return new Promise((resolve) => { globalThis.countObjects = resolve; }); }

/** Records every Map and Set created from now on, so that those still in use and their entries can be counted. */
function collections() {
  const real = { Map: globalThis.Map, Set: globalThis.Set };
  let made = [];
  const noted = (kind) => class extends kind {
    constructor(...entries) {
      super(...entries);
      made.push(new WeakRef(this));
    }
  };
  Object.assign(globalThis, { Map: noted(real.Map), Set: noted(real.Set) });
  return {
    end() { Object.assign(globalThis, real); },
    async count() {
      for (let round = 0; round < 3; round += 1) {
        await settled();
        globalThis.gc();
        await settled();
        made = made.filter((each) => each.deref());
      }
      const entries = made.reduce((sum, each) => sum + (each.deref()?.size ?? 0), 0);
      // The records of released collections are gone as well.
      await settled();
      globalThis.gc();
      const heap = performance.memory.usedJSHeapSize;
      return { collections: made.length, entries, heap, objects: await counted() };
    },
  };
}

export const stories = {
  "T16: after a reconnect, and on return to the front, the truth of now is shown": () => connected(async (world, client) => {
    const typings = seen(client.typing("c42"));
    const presences = seen(client.presence(["bob"]));
    await world.advance(0);
    world.socket.tellTyping("c42", "bob");
    world.socket.tellPresence("bob", "online");
    await world.advance(16);
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
    await world.advance(4_500);
    equal(world.sockets.length, 3, "a connection that does not answer is left");
  }),

  "P11: while the connection is down, it is known since when what is shown may be old": () => connected(async (world, client) => {
    const stale = [];
    client.connection.subscribe(() => stale.push(client.staleSince));
    await world.advance(5_000);
    world.socket.tellTyping("c42");
    await world.advance(3_000);
    world.listens = () => "no";
    world.socket.drop();
    await world.advance(60_000);
    const since = world.time - 63_000;
    equal([client.staleSince, stale.at(-1)], [since, since]);
    world.listens = () => "yes";
    await world.advance(7_000);
    equal([client.staleSince, stale.at(-1)], [null, null]);
  }),

  "P11: after an outage presence is unknown until the new connection confirms it, user by user": () => connected(async (world, client) => {
    const [bob, both, rows] = [client.presence("bob"), ["bob", "carol"], { c1: ["bob"] }];
    const [one, several, list] = [seen(bob), seen(client.presence(both)), seen(client.conversations(rows))];
    const stale = seen(client.isStale);
    await world.advance(0);
    const known = () => [bob.latest?.status, several.at(-1).size, list.at(-1).get("c1").presences.size];
    world.listens = () => "no";
    world.socket.drop();
    await world.advance(4_999);
    equal([...known(), stale.at(-1)], ["offline", 2, 1, false], "it is shown for staleAfter");
    await world.advance(1);
    equal([...known(), stale.at(-1)], [undefined, 0, 0, true]);
    // Redis is away: the worker keeps the watch.
    world.script = (message, socket) => message.type === "watch" || socket.behave(message);
    world.listens = () => "yes";
    await world.advance(10_000);
    equal([...known(), stale.at(-1), client.connection.latest.status], [undefined, 0, 0, false, "connected"]);
    world.socket.tellPresence("bob", "offline");
    await world.advance(0);
    equal([...known(), one.length], ["offline", 1, 1, 2]);
  }),

  "P11: after an outage members are shown again once everybody's presence is confirmed": () => connected(async (world, client) => {
    const people = () => members.at(-1).people.map(({ presence }) => presence?.status);
    const tell = () => world.socket.tell({ type: "members", conversation: "c1", users: [{ user: "bob" }, { user: "carol" }], count: 2 });
    const members = seen(client.members("c1"));
    await world.advance(0);
    tell();
    for (const user of ["bob", "carol"]) world.socket.tellPresence(user, "online");
    await world.advance(0);
    equal(people(), ["online", "online"]);
    world.listens = () => "no";
    world.socket.drop();
    await world.advance(6_000);
    equal(people(), [undefined, undefined]);
    world.listens = () => "yes";
    await world.advance(2_000);
    tell();
    world.socket.tellPresence("bob", "online");
    await world.advance(0);
    equal(people(), [undefined, undefined], "no `1 of 2 online` meanwhile");
    world.socket.tellPresence("carol", "online");
    await world.advance(0);
    equal(people(), ["online", "online"]);
  }),

  "P11: a page that slept asks once, and an answer on the same connection confirms what it shows": () => connected(async (world, client) => {
    const [one, stale] = [seen(client.presence("bob")), seen(client.isStale)];
    await world.advance(0);
    const { script } = world;
    world.script = () => {};
    await world.sleep(600_000);
    equal([stale.at(-1), world.all("ping").length], [true, 1]);
    world.script = script;
    world.socket.tell({ type: "pong", time: world.time });
    await world.advance(0);
    equal([stale.at(-1), one.length, client.presence("bob").latest.status], [false, 1, "offline"]);
    world.script = () => {};
    await world.sleep(600_000);
    world.listens = () => "no";
    await world.advance(3_000);
    equal([stale.at(-1), client.presence("bob").latest], [true, undefined], "a dead connection confirms nothing");
  }),

  "P11: a client that starts without a network is stale after staleAfter": () => inWorld(async (world) => {
    world.listens = () => "no";
    const client = world.client();
    const stale = seen(client.isStale);
    await world.advance(60_000);
    equal(stale.at(-1), false, "nobody has connected it");
    client.connect();
    await world.advance(4_999);
    equal(stale.at(-1), false);
    await world.advance(1);
    equal([stale.at(-1), client.staleSince], [true, null]);
  }),

  "C4: why a conversation is not shown is a problem, once for each reason, and a warning if nobody listens": () => connected(async (world, client) => {
    world.script = (message, socket) => message.type !== "join" ? socket.behave(message)
      : socket.tell({ type: "error", id: message.id, code: "not_a_member", message: "members only", retry: false });
    const warnings = [];
    const { warn } = console;
    console.warn = (text) => warnings.push(text);
    try {
      seen(client.typing("c42"));
      await world.advance(300_000);
      equal(warnings, ["Rollcall: members only"]);
      const problems = [];
      client.addEventListener("problem", ({ detail }) => problems.push(`${detail.code} ${detail.message}`));
      seen(client.members("c43"));
      await world.advance(300_000);
      equal([problems, warnings.length], [["not_a_member members only"], 1]);
      const other = new client.constructor({ url: "nonsense", token: "x" });
      other.connect();
      await world.advance(0);
      equal(warnings.length, 2, "a connection that nobody observes has failed");
    } finally {
      console.warn = warn;
    }
  }),

  "P15: where sessions see only those with whom they share a conversation, it is joined before they are asked for": () => inWorld(async (world) => {
    world.watch = ["acme/*"];
    world.script = (message, socket) => {
      const { type, conversation, presence } = message;
      const users = ["bob", "carol", "dave", "erin", "frank"].map((user) => ({ user }));
      if (type === "join" && presence) socket.tell({ type: "members", conversation, users, count: 5 });
      socket.behave(message);
    };
    const client = world.client();
    const problems = [];
    client.addEventListener("problem", ({ detail }) => problems.push(detail.code));
    const ends = [
      client.presence("bob", { in: "c1" }).subscribe(() => {}), client.presence(["carol"], { in: "c2" }).subscribe(() => {}),
      presenceView(client, "dave", { in: "c3" }).subscribe(() => {}), client.conversations({ c4: ["erin"] }).subscribe(() => {}),
    ];
    const read = client.currentPresence("frank", { in: "c5" });
    client.connect();
    await world.advance(0);
    const said = world.said.filter(({ type }) => ["join", "watch", "get"].includes(type));
    equal(said.map(({ type, conversation, presence, users }) => [type, conversation ?? users.join(), presence].join(" ").trim()), [
      "join c4", "join c1 true", "join c2 true", "join c3 true", "join c4 true", "join c5 true", "watch bob,carol,dave,erin", "get frank",
    ]);
    equal((await read).status, "away");
    for (const end of ends) end();
    await world.advance(1_000);
    equal(world.said.filter(({ type }) => type === "leave").map(({ conversation }) => conversation).sort(), ["c1", "c2", "c3", "c4", "c5"]);
    equal(problems, []);
    throws(() => client.presence("bob", { in: "" }), "invalid_name");
  }),

  "P15: where everybody may be seen, nothing is joined for it": () => inWorld(async (world) => {
    const client = world.client();
    client.presence("bob", { in: "c1" }).subscribe(() => {});
    client.connect();
    await world.advance(0);
    equal(world.said.map(({ type }) => type), ["hello", "watch"]);
    world.watch = [];
    world.socket.drop();
    await world.advance(2_000);
    equal(world.said.slice(2).map(({ type }) => type), ["hello", "watch", "join"], "the rule of the last welcome counts until the next");
  }),

  "P15: whom no rule covers is a problem, once; whoever is in a list is not": () => inWorld(async (world) => {
    world.watch = ["acme/*"];
    world.script = (message, socket) => {
      socket.behave(message);
      const { conversation } = message;
      if (message.type === "join") socket.tell({ type: "members", conversation, users: [{ user: "bob" }], count: 1 });
    };
    const client = world.client();
    const problems = [];
    client.addEventListener("problem", ({ detail }) => problems.push(detail.code));
    client.connect();
    client.members("c1").subscribe(() => {});
    for (const user of ["bob", "alice", "acme/carol"]) client.presence(user).subscribe(() => {});
    await world.advance(1_000);
    equal(problems, []);
    for (const user of ["dave", "erin"]) client.presence(user, { in: "c1" }).subscribe(() => {});
    await world.advance(1_000);
    equal(problems, ["not_shared"]);
  }),

  "L1, L4: what arrives together is one value, and rows that have not changed stay the same objects": () => inWorld(async (world) => {
    const people = Array.from({ length: 500 }, (_, number) => `user${number}`);
    const rows = Object.fromEntries(people.slice(0, 100).map((user, row) => [`c${row}`, [user]]));
    // Each answer is a message of its own.
    world.script = (message, socket) => {
      const { users = [] } = message;
      if (message.type === "watch") for (const user of users) socket.tellPresence(user, "offline");
      else socket.behave(message);
    };
    const client = world.client();
    const [list, views] = [seen(client.conversations(rows)), seen(presenceView(client, people))];
    client.connect();
    await world.advance(5_000);
    equal([list.at(-1).size, views.at(-1).size, views.at(-1).get("user7").text], [100, 500, "Last seen just now"]);
    ok(list.length <= 4 && views.length <= 6, `${list.length} and ${views.length} values at connect`);
    const [before, told] = [list.at(-1), list.length];
    for (const status of ["online", "away", "online"]) {
      world.socket.tellPresence("user7", status);
      await settled();
    }
    await world.advance(16);
    equal([list.length - told, list.at(-1).get("c7").presences.get("user7").status], [2, "online"]);
    equal([list.at(-1).get("c8") === before.get("c8"), list.at(-1).get("c7") === before.get("c7")], [true, false]);
    equal([views.at(-1).get("user8") === views.at(-2).get("user8"), views.at(-1).get("user7").dot], [true, "green"]);
    const frozen = views.length;
    await world.advance(60_000);
    equal([views.length > frozen, views.at(-1).get("user8").text, views.at(-1).get("user7").text], [true, "1m ago", "Active now"]);
    return `values at connect: ${told} of 100 conversations, ${frozen} of 500 people`;
  }),

  "P7: a view of a user ages, grows stale and ends by itself": () => connected(async (world, client) => {
    const bob = seen(presenceView(client, "bob"));
    const texts = () => bob.map(({ text, dot }) => `${text} ${dot}`.trim());
    await world.advance(130_000);
    equal(texts(), ["none", "Last seen just now grey", "1m ago grey", "2m ago grey"]);
    world.socket.tellPresence("bob", "online");
    await world.advance(0);
    world.listens = () => "no";
    world.socket.drop();
    await world.advance(4_999);
    equal([texts().at(-1), bob.at(-1).label], ["Active now green", "Online"]);
    await world.advance(100);
    equal(texts().at(-1), "none");
    const iterator = presenceView(client, "bob", { language: "de" })[Symbol.asyncIterator]();
    equal((await iterator.next()).value.text, "");
    bob.end();
    client.close();
    await world.advance(10_000);
    equal([(await iterator.next()).done, world.timers], [true, 0]);
  }, { staleAfter: 5_000 }),

  "L1: a list of 200 conversations costs a join for each and few watches, and then nothing while nothing changes": () => connected(async (world, client) => {
    const rows = Object.fromEntries(Array.from({ length: 200 }, (_, row) => (
      [`c${row}`, [`user${row}`, `user${row + 1}`, "bob"]])));
    const list = seen(client.conversations(rows));
    await world.advance(5_000);
    const count = (type) => world.all(type).length;
    equal([count("join"), count("watch"), world.all("watch").flatMap(({ users }) => users).length], [200, 1, 202]);
    equal([list.at(-1).size, list.at(-1).get("c7").presences.size], [200, 3]);
    const before = [world.said.filter(({ type }) => type !== "ping").length, list.length];
    await world.advance(600_000);
    equal([world.said.filter(({ type }) => type !== "ping").length, list.length], before);
    world.socket.tellTyping("c7", "user7");
    world.socket.tellPresence("bob", "online");
    await settled();
    equal(list.length, before[1] + 1, "one value");
    equal([list.at(-1).get("c7").typing.count, list.at(-1).get("c8").presences.get("bob").status], [1, "online"]);
    // Rows scroll: the first goes, and another comes.
    const next = seen(client.conversations({ ...rows, c0: [], c200: ["bob"] }));
    list.end();
    await world.advance(5_000);
    equal([count("join"), count("leave"), count("unwatch")], [201, 0, 1]);
    next.end();
    await world.advance(20_000);
    equal([count("leave"), world.timers], [201, 1]);
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

  "C3: ten thousand views opened and closed change nothing": async () => {
    const kept = collections();
    try {
      await connected(async (world, client) => {
        const problems = [];
        client.addEventListener("problem", ({ detail }) => problems.push(detail));
        Object.assign(world.limits, { message_rate: 1e6, message_burst: 1e6 });
        world.socket.drop();
        await world.advance(2_000);
        const left = { join: 0, leave: 0, watch: 0, unwatch: 0 };
        const openAndClose = async (views) => {
          for (let view = 0; view < views; view += 1) {
            const conversation = `c${view % 5}`;
            const user = `user${view % 7}`;
            const open = [
              seen(client.typing(conversation)), seen(client.members(conversation)), seen(client.presence([user, "bob"])),
              seen(client.connection),
            ];
            const presences = client.presence(user)[Symbol.asyncIterator]();
            const next = presences.next();
            const input = client.typingInput(conversation);
            input.edited("x");
            const leaving = new AbortController();
            const fetched = client.currentPresence(user, { signal: leaving.signal });
            // Some views are kept until they have shown something, the others are closed before that.
            if (view % 50 === 0) {
              await world.advance(400);
              await next;
            }
            for (const each of open) each.end();
            presences.return();
            input.disappeared();
            leaving.abort();
            await fetched;
            if (view % 50 === 0) {
              await world.advance(1);
              for (const { type } of world.said.splice(0)) if (type in left) left[type] += 1;
            }
          }
          await world.advance(60_000);
          for (const { type } of world.said.splice(0)) if (type in left) left[type] += 1;
        };
        await openAndClose(1_000);
        const before = await kept.count();
        await openAndClose(10_000);
        // A busy browser collects garbage later, and what is kept stays however often it is counted.
        let after = await kept.count();
        for (let round = 0; round < 20 && after.objects - before.objects >= 100; round += 1) after = await kept.count();
        equal(problems, []);
        equal([left.join - left.leave, left.watch - left.unwatch], [0, 0], "subscriptions");
        ok(left.join >= 200 && left.watch >= 200, `views were told: ${JSON.stringify(left)}`);
        equal(world.timers, 1, "what is left is the watch over the connection");
        // This may include garbage that is not collected yet, but nothing for each view.
        ok(after.collections - before.collections < 10, `${before.collections} maps and sets became ${after.collections}`);
        ok(after.entries - before.entries < 10, `with ${before.entries} entries, then ${after.entries}`);
        // Not even an empty object is left of each view: no closure, promise or array.
        ok(after.objects - before.objects < 100, `${before.objects} objects became ${after.objects}`);
        // Other data (strings, the contents of arrays) is on the heap, together with newly compiled code, which becomes
        // less over time: about 60, 45, 30, 5 and 15 kB for five times 5,000 views.
        ok(after.heap - before.heap < 10_000 * 24, `${after.heap - before.heap} bytes more on the heap`);
        equal([client.typing("c1").latest, client.presence("bob").latest], [undefined, undefined]);
      });
    } finally {
      kept.end();
    }
  },

  "C4: names are checked where they are given": () => connected(async (world, client) => {
    for (const wrong of ["", " ", "a b", "{c42}", "a\u0000", "\ud800", "ä".repeat(128), null, 7]) {
      for (const call of [() => client.typing(wrong), () => client.presence([wrong]), () => client.typingInput(wrong)]) {
        ok(throws(call, "invalid_name") instanceof RollcallError, "typed");
      }
    }
    client.typing("ä".repeat(64));
    client.presence(["ä".repeat(127)]);
    throws(() => client.typing("ä".repeat(65)), "invalid_name");
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
    const mistakes = await mistakesOf(async () => {
      client.presence("bob").subscribe(() => { throw new Error("mine"); });
      const other = seen(client.presence("bob"));
      await world.advance(0);
      equal(other.length, 1);
    });
    equal(mistakes, ["Uncaught Error: mine"]);
  }),
};
