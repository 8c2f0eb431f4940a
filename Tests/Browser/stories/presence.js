// Presence: the device's own, and that of others, observed or requested once.

import { groupCount, lastSeenText } from "/rollcall.js";
import { connected, equal, ok, presence, seen, settled } from "./world.js";

const statuses = (presences) => presences.map(({ status }) => status);

export const stories = {
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

  "P3: a hidden page is idle after a minute where there is a mouse, in the background at once on a phone, and ends typing": () => connected(async (world, client) => {
    let isHidden = false;
    Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
    const hide = async (hidden) => {
      isHidden = hidden;
      document.dispatchEvent(new Event("visibilitychange"));
      await world.advance(0);
    };
    const states = () => world.all("state").map(({ state }) => state);
    let unfollow = client.followPage();
    try {
      const input = client.typingInput("c42");
      input.edited("x");
      await world.advance(1_000);
      await hide(true);
      equal(world.typed().at(-1), `${world.now} stopped`);
      await hide(false);
      const said = world.said.length;
      for (let tab = 0; tab < 10; tab += 1) for (const hidden of [true, false]) {
        await hide(hidden);
        await world.advance(500);
      }
      equal([states(), world.said.length - said], [[], 0], "ten quick tab switches");
      await hide(true);
      await world.advance(59_999);
      equal(states(), []);
      await world.advance(1);
      equal(states(), ["idle"]);
      await hide(false);
      equal([states(), world.said.at(-2).type], [["idle", "active"], "ping"], "the connection may have died meanwhile");
      unfollow();
      unfollow = client.followPage({ hiddenIs: "background" });
      await hide(true);
      equal(states(), ["idle", "active", "background"]);
      await hide(false);
      unfollow();
      await hide(true);
      await world.advance(120_000);
      equal(states().at(-1), "active");
    } finally {
      unfollow();
      delete document.hidden;
    }
  }),

  "P4: a device whose input stays away is idle, and active at the next": () => connected(async (world, client) => {
    await world.advance(3_600_000);
    equal(world.all("state"), [], "an application that reports no input never becomes idle");
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

  "P6: several users are one value a frame": () => connected(async (world, client) => {
    const users = Array.from({ length: 1_000 }, (_, number) => `user${number}`);
    const group = seen(client.presence(users));
    await world.advance(0);
    equal(group.at(-1).size, 1_000);
    ok(group.length < 10, `${group.length} values`);
    world.socket.tellPresence("user7", "online");
    await world.advance(16);
    equal(groupCount(group.at(-1).values(), 1_000).text, "1 of 1000 online");
    ok(group.at(-2) !== group.at(-1) && group.at(-2).get("user7").status === "offline", "values do not change");
    group.end();
    await world.advance(0);
    equal(world.all("unwatch").flatMap((message) => message.users).length, 1_000);
  }),

  "P9: the members of a conversation, and which of them are online": () => connected(async (world, client) => {
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
    for (const user of ["bob", "carol"]) {
      world.socket.tell({ type: "presence", users: [{ ...presence(user, "online"), name: "Of the sign-in" }] });
    }
    await settled();
    equal(shown().slice(1), ["bob Bob online", "carol Of the sign-in online"], "where the list has no name");
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

  "P9: members are shown when everybody's presence is there, or after a second": () => connected(async (world, client) => {
    const members = seen(client.members("c42"));
    const count = () => {
      const { people, count } = members.at(-1);
      return groupCount(people.map((each) => each.presence), count).text;
    };
    const list = (conversation, ...users) => world.socket.tell({
      type: "members", conversation, users: users.map((user) => ({ user })), count: users.length,
    });
    await world.advance(0);
    list("c42", "bob", "carol");
    await world.advance(30);
    world.socket.tellPresence("bob", "online");
    await world.advance(30);
    equal(members.length, 0, "nobody reads `0 of 2 online`, nor `1 of 2`");
    world.socket.tellPresence("carol", "online");
    await settled();
    equal([members.length, count()], [1, "2 of 2 online"]);
    list("c42", "bob", "carol", "dave");
    await settled();
    equal(count(), "2 of 3 online", "later lists do not wait");
    const start = world.now;
    const others = seen(client.members("c43"));
    await world.advance(0);
    list("c43", "bob", "erin");
    await world.advance(500);
    list("c43", "bob", "erin", "frank");
    await world.advance(499);
    equal(others.length, 0);
    await world.advance(1);
    equal([world.now - start, others.length, others.at(-1).people.map((each) => each.presence?.status ?? null)],
      [1_000, 1, ["online", null, null]]);
    world.socket.tell({ type: "removed", conversation: "c43" });
    await settled();
    list("c43", "erin");
    await settled();
    equal(others.at(-1).refusal.code, "not_a_member", "after a refusal the picture is a first one again");
    world.socket.tellPresence("erin", "away");
    await settled();
    equal([others.at(-1).refusal ?? null, others.at(-1).people[0].presence.status], [null, "away"]);
    const empty = seen(client.members("c44"));
    await world.advance(0);
    list("c44");
    await settled();
    equal(empty.at(-1).count, 0);
    const brief = seen(client.members("c45"));
    await world.advance(0);
    list("c45", "zoe");
    for (const view of [members, others, empty, brief]) view.end();
    await world.advance(60_000);
    equal([brief.length, world.timers], [0, 1], "what is left is the watch over the connection");
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

  "P7: when Redis's clock is set, last seen is right again within a minute, and views are told": async () => {
    for (const hours of [3, -3]) await connected(async (world, client) => {
      const bob = seen(client.presence("bob"));
      const members = seen(client.members("c42"));
      const group = seen(client.presence(["bob"]));
      const line = () => lastSeenText(bob.at(-1), client.now, { style: "exact" });
      const tell = (ago) => world.socket.tell({
        type: "presence", users: [{ user: "bob", status: "offline", last_seen: world.time - ago, updated_at: world.time, version: 1 }],
      });
      await world.advance(0);
      world.socket.tell({ type: "members", conversation: "c42", users: [{ user: "bob" }], count: 1 });
      tell(120_000);
      await world.advance(30_000);
      equal(line(), "Last seen 2 minutes ago");
      const before = [bob.length, members.length, group.length];
      world.clockSet = hours * 3_600_000;
      await world.advance(30_000);
      equal(client.now, world.time);
      const after = [bob.length, members.length, group.length];
      ok(after.every((length, index) => length > before[index]), `${before}, then ${after}`);
      tell(120_000);
      equal(line(), "Last seen 2 minutes ago");
    });
  },

  "P7: the time is asked for once a minute while somebody may read it, and never otherwise": () => connected(async (world, client) => {
    const traffic = async (minutes) => {
      const before = world.all("ping").length;
      for (let second = 0; second < minutes * 60; second += 1) {
        world.socket.tellTyping("elsewhere");
        await world.advance(1_000);
      }
      return world.all("ping").length - before;
    };
    equal(await traffic(5), 0, "nobody is observed");
    const bob = seen(client.presence("bob"));
    await world.advance(0);
    equal(world.all("ping").length, 1, "the welcome was long ago");
    equal(await traffic(5), 5);
    client.setPhase("background");
    equal(await traffic(5), 0, "nobody looks");
    client.setPhase("active");
    await world.advance(0);
    equal(await traffic(5), 5);
    equal(bob.length, 1, "nothing has changed");
    bob.end();
    await world.advance(0);
    equal([await traffic(5), world.timers], [0, 1]);
  }),

  "P7: an answer that comes late moves the time no more than it must": () => connected(async (world, client) => {
    seen(client.presence("bob"));
    world.script = ({ type }, socket) => {
      const { time } = world;
      if (type === "ping") globalThis.setTimeout(() => socket.tell({ type: "pong", time }), 2_500);
    };
    await world.advance(63_000);
    equal([client.now, world.sockets.length], [world.time, 1]);
    world.clockSet = -10_000;
    await world.advance(70_000);
    ok(Math.abs(client.now - world.time) <= 2_500, `${client.now - world.time}`);
  }),

  "C2: an answer about the time is no answer to a doubt that came later": () => connected(async (world, client) => {
    seen(client.presence("bob"));
    await world.advance(0);
    const pongs = [];
    world.script = ({ type }, socket) => {
      if (type === "ping") pongs.push(() => socket.tell({ type: "pong", time: world.time }));
    };
    for (let second = 0; second < 61; second += 1) {
      world.socket.tellTyping("elsewhere");
      await world.advance(1_000);
    }
    equal(pongs.length, 1);
    client.networkChanged();
    pongs[0]();
    await world.advance(3_000);
    equal([pongs.length, client.connection.latest.status], [2, "waiting"]);
  }),

  "P7: now is the server's, and this device's clock changes nothing": () => connected(async (world, client) => {
    equal(client.now, 1_784_600_000_000);
    Date.now = () => 5;
    await world.advance(1_000);
    equal(client.now, 1_784_600_001_000);
  }),

  "P4: what a page may do by itself, such as to move the focus, counts for 30 minutes after its user's last input": async () => {
    const { Attention } = await import("/attention.js");
    const idleAt = (use) => {
      const attention = new Attention(300_000);
      attention.inputHappened(0);
      attention.isInUse = () => use === "frame";
      let now = 0;
      for (; attention.state === "active" && now < 7_200_000; now += 60_000) {
        if (use === "focus") attention.inputHappened(now, false);
        attention.deadlinePassed(now);
      }
      attention.inputHappened(now, false);
      const isBack = attention.state === "active";
      attention.inputHappened(now);
      return [now - 60_000, isBack, attention.state];
    };
    equal(["", "focus", "frame"].map(idleAt), [[300_000, true, "active"], [2_040_000, false, "active"], [1_800_000, false, "active"]]);
  },
};
