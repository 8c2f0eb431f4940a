// Others' typing, as an observer sees it.

import { TypingAnnouncer, typingLabel } from "/rollcall.js";
import { connected, equal, mistakesOf, ok, presence, seen } from "./world.js";

const counts = (typings) => typings.map(({ count }) => count);

export const stories = {
  "T4: a set that the worker repeats is emitted once": () => connected(async (world, client) => {
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

  "T13: a user who is removed or was never admitted sees no typing, and the reason": () => connected(async (world, client) => {
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
  }),

  "C3: a conversation that waits for room is joined when the user is removed from another": () => connected(async (world, client) => {
    world.limits.joined_conversations = 2;
    world.socket.drop();
    await world.advance(2_000);
    const typings = ["c1", "c2", "c3"].map((conversation) => seen(client.typing(conversation)));
    await world.advance(0);
    equal(world.all("join").map(({ conversation }) => conversation), ["c1", "c2"]);
    world.socket.tell({ type: "removed", conversation: "c1" });
    await world.advance(0);
    equal(world.all("join").map(({ conversation }) => conversation), ["c1", "c2", "c3"]);
    equal(counts(typings[2]), [0]);
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
    world.socket.tell({
      type: "typing", conversation: "c42", count: 3, users: [
        { user: "a" }, { user: "b", kind: "recording" }, { user: "c", kind: "constructor" },
      ],
    });
    equal(typings.at(-1).typists.map(({ kind }) => kind), ["typing", "recording", "typing"]);
  }),

  "X4: the application's names are requested once each, and shown when they arrive": async () => {
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

  "X4: the first text waits for a name that the app looks up, 100 ms at most, and what is read aloud has it": async () => {
    for (const [takes, texts] of [[90, ["", "Bob is typing"]], [500, ["", "Someone is typing", "Bob is typing"]], [0, ["", "Bob is typing"]]]) {
      const later = (user) => new Promise((resolve) => setTimeout(() => resolve(user === "bob" ? "Bob" : null), takes));
      await connected(async (world, client) => {
        const announcer = new TypingAnnouncer();
        const announced = [];
        const typings = seen(client.typing("c42"));
        client.typing("c42").subscribe((typing) => announced.push(announcer.announcement(typing)));
        await world.advance(0);
        world.socket.tellTyping("c42", "bob");
        await world.advance(1_000);
        equal(typings.map((typing) => typingLabel(typing)), texts, `${takes} ms`);
        equal(announced, [null, ...texts.slice(1)]);
        // Whoever joins later does not wait.
        world.socket.tellTyping("c42", "bob", "carol");
        await world.advance(0);
        equal(typings.at(-1).count, 2);
      }, { names: takes === 0 ? () => "Bob" : later });
    }
  },

  "X4: however many names are on show, each is asked for once": async () => {
    let asked = 0;
    const names = async (user) => {
      asked += 1;
      return `Name of ${user}`;
    };
    await connected(async (world, client) => {
      const rooms = ["c1", "c2", "c3", "c4"].map((each) => seen(client.members(each)));
      await world.advance(3_000);
      const show = (room, count, from = 0) => {
        const users = Array.from({ length: count }, (_, number) => ({ user: `u${room}-${from + number}` }));
        world.socket.tell({ type: "members", conversation: `c${room}`, users, count });
        world.socket.tell({ type: "presence", users: users.map(({ user }) => presence(user, "online")) });
      };
      for (const room of [1, 2, 3]) show(room, 1_500);
      await world.advance(5_000);
      const unnamed = () => rooms.slice(0, 3).map((room) => room.at(-1).people.filter(({ name }) => !name).length);
      equal([asked, unnamed()], [4_500, [0, 0, 0]]);
      for (let step = 0; step < 20; step += 1) {
        for (const room of [1, 2, 3]) world.socket.tellPresence(`u${room}-7`, step % 2 ? "online" : "away");
        await world.advance(100);
      }
      equal([asked, unnamed()], [4_500, [0, 0, 0]]);
      // Names that nothing shows any more are dropped after a while.
      for (const room of rooms.slice(0, 3)) room.end();
      for (let round = 0; round < 6; round += 1) {
        show(4, 1_500, 1_500 * round);
        await world.advance(1_000);
      }
      seen(client.members("c1"));
      await world.advance(0);
      const before = asked;
      show(1, 10);
      await world.advance(1_000);
      equal(asked - before, 10);
    }, { names });
  },

  "X4: an app that comes to know other names, or whose callback failed, is asked for all again": async () => {
    const contacts = { carol: "Carol" };
    const asked = [];
    const names = async (user) => {
      asked.push(user);
      if (contacts[user] instanceof Error) throw contacts[user];
      return contacts[user];
    };
    await mistakesOf(async (mistakes) => {
      await connected(async (world, client) => {
        const typings = seen(client.typing("c42"));
        const shown = () => typings.at(-1).typists.map(({ name }) => name ?? null);
        await world.advance(0);
        contacts.dave = new Error("offline");
        world.socket.tellTyping("c42", "bob", "carol", "dave");
        await world.advance(60_000);
        world.socket.tellTyping("c42", "bob", "carol", "dave");
        await world.advance(0);
        equal([shown(), asked], [[null, "Carol", null], ["bob", "carol", "dave", "dave", "dave"]]);
        Object.assign(contacts, { bob: "Bob", carol: "Caroline", dave: "Dave" });
        client.namesChanged();
        await world.advance(0);
        equal([shown(), asked.slice(5)], [["Bob", "Caroline", "Dave"], ["bob", "carol", "dave"]]);
        client.close();
        await world.advance(10_000);
        equal([world.timers, mistakes.length], [0, 3]);
      }, { names });
    });
  },
};
