// What holds of everything that is observed: how it begins and ends, what a reconnect does to it, what is refused.

import { RollcallError } from "/rollcall.js";
import { connected, equal, ok, seen, throws } from "./world.js";

const counts = (typings) => typings.map(({ count }) => count);

export const stories = {
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
};
