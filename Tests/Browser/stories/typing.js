// Others' typing, as an observer sees it.

import { connected, equal, seen } from "./world.js";

const counts = (typings) => typings.map(({ count }) => count);

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
