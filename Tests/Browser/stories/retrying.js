// What a client does about refusals with `"retry":true`, and what its application sees of them.

import { Outbox } from "/outbox.js";
import { connected, equal, ok, randomNumbers, seen } from "./world.js";

/** While `code` is set, the worker refuses every message with an id that is of one of these kinds. */
function refusing(world, kinds = ["watch", "unwatch", "join", "leave", "get", "state", "token", "typing"]) {
  const refuser = { code: "unavailable", refused: [] };
  world.script = (message, socket) => {
    const { id, type } = message;
    if (!refuser.code || !kinds.includes(type) || id === undefined) return socket.behave(message);
    refuser.refused.push(message);
    socket.tell({ type: "error", id, code: refuser.code, message: "later", retry: true });
  };
  return refuser;
}

function problemsOf(client) {
  const problems = [];
  client.addEventListener("problem", ({ detail }) => problems.push(detail.code));
  return problems;
}

export const stories = {
  "C2: watches and joins that are refused temporarily are repeated until they succeed, and views show no refusal": () => connected(async (world, client) => {
    const problems = problemsOf(client);
    world.limits.message_burst = 1_000;
    world.socket.drop();
    await world.advance(2_000);
    for (const code of ["unavailable"]) {
      const refuser = refusing(world);
      refuser.code = code;
      const observers = [];
      for (let number = 0; number < 101; number += 1) {
        observers.push(seen(client.presence(`${code}${number}`)));
        await world.advance(0);
      }
      const typings = seen(client.typing(`${code}1`));
      const members = seen(client.members(`${code}2`));
      await world.advance(0);
      equal(refuser.refused.length, 103);
      await world.advance(60_000);
      ok(observers.every(({ length }) => length === 0) && typings.length + members.length === 0, "nothing is shown");
      // Pauses of 250, 500, 1,000, 2,000, 4,000, 8,000, 15,000 and 15,000 ms, each followed by two joins and one watch.
      equal(refuser.refused.length, 103 + 8 * 3);
      equal(refuser.refused.at(-1).users.length, 101);
      refuser.code = null;
      await world.advance(15_000);
      ok(observers.every((values) => values.at(-1)?.status === "offline"), "everybody is known");
      equal([typings.at(-1).count, typings.at(-1).refusal ?? null], [0, null]);
      const joins = world.all("join").filter(({ conversation }) => conversation === `${code}2`);
      equal(joins.at(-1).presence, true);
      equal(refuser.refused.length, 103 + 8 * 3);
      // After a while without refusals, the pauses are short again.
      await world.advance(45_000);
    }
    equal([problems.length, world.sockets.length], [0, 2]);
  }),

  "C2: a refused conversation is joined again, rarely, and shown once the user is a member, also after a removal": () => connected(async (world, client) => {
    let isMember = false;
    world.script = (message, socket) => message.type !== "join" || isMember
      ? socket.behave(message)
      : socket.tell({ type: "error", id: message.id, code: "not_a_member", message: "members only", retry: false });
    const start = world.now;
    const typings = seen(client.typing("c42"));
    const members = seen(client.members("c42"));
    const brief = seen(client.typing("c43"));
    await world.advance(0);
    brief.end();
    const joins = () => world.all("join").filter(({ conversation }) => conversation === "c42");
    await world.advance(130_000);
    // Pauses of 6, 10, 18, 34 and 60 seconds.
    equal(joins().map(({ at }) => Math.round((at - start) / 1_000)), [0, 6, 16, 34, 68, 128]);
    ok(joins().every(({ presence }) => presence), "with the members");
    equal(world.all("join").length, joins().length + 1, "what is given up is not joined again");
    ok([...typings, ...members].every(({ refusal }) => refusal.message === "members only"), "the refusal stays");
    isMember = true;
    await world.advance(60_000);
    equal([typings.at(-1).refusal ?? null, joins().length], [null, 7]);
    await world.advance(120_000);
    equal(joins().length, 7, "it is joined only once");
    world.socket.tell({ type: "removed", conversation: "c42" });
    equal(typings.at(-1).refusal.code, "not_a_member");
    await world.advance(5_990);
    equal(joins().length, 7);
    await world.advance(10);
    equal([typings.at(-1).refusal ?? null, joins().length, world.sockets.length], [null, 8, 1]);
  }),

  "C2: a view that is opened again and again does not shorten the pauses": () => connected(async (world, client) => {
    const refuser = refusing(world);
    refuser.code = "unavailable";
    for (let step = 0; step < 240; step += 1) {
      const views = [seen(client.presence("bob")), seen(client.typing("c42")), seen(client.members("c43"))];
      await world.advance(step % 2 ? 10 : 15);
      for (const view of views) view.end();
      await world.advance(step % 2 ? 15 : 10);
    }
    const types = refuser.refused.map(({ type }) => type);
    for (const [type, most] of [["watch", 5], ["join", 10]]) {
      const asked = types.filter((each) => each === type).length;
      ok(asked >= most - 2 && asked <= most, `${asked} of ${type} in 6 s`);
    }
    refuser.code = null;
    const bob = seen(client.presence("bob"));
    await world.advance(15_000);
    equal(bob.at(-1).status, "offline");
  }),

  "what is given up while it waits for its retry is not requested again": () => connected(async (world, client) => {
    const refuser = refusing(world);
    const bob = seen(client.presence("bob"));
    const typings = seen(client.typing("c42"));
    await world.advance(0);
    bob.end();
    typings.end();
    await world.advance(60_000);
    equal(refuser.refused.length, 2);
    equal(world.kinds().filter((kind) => kind !== "ping"), ["hello", "join", "watch", "leave", "unwatch"]);
    equal(world.timers, 1, "what is left is the watch over the connection");
  }),

  "a reconnect requests everything at once, and sends nothing that belongs to the old connection": () => connected(async (world, client) => {
    const refuser = refusing(world);
    seen(client.presence("bob"));
    await world.advance(5_000);
    refuser.code = null;
    world.socket.drop();
    await world.advance(60_000);
    equal(world.kinds().filter((kind) => kind !== "ping"), ["hello", "watch"]);
  }),

  "a state refused for now is said again, as it is then": () => connected(async (world, client) => {
    const refuser = refusing(world);
    client.setState("idle");
    await world.advance(0);
    client.setState("background");
    await world.advance(5_000);
    refuser.code = null;
    await world.advance(60_000);
    const states = world.all("state").map(({ state }) => state);
    equal([states.filter((state) => state === "idle").length, states.at(-1)], [1, "background"]);
    ok(states.length === refuser.refused.length + 1, `${states}`);
  }),

  "P6: a request for many users that is refused as a whole is repeated once per attempt for each user": () => connected(async (world, client) => {
    const refuser = refusing(world);
    const found = client.currentPresence(Array.from({ length: 1_000 }, (_, number) => `user${number}`), { within: 60_000 });
    await world.advance(800);
    const asked = world.all("get").reduce((count, { users }) => count + users.length, 0);
    equal(asked, 3_000, "at once, after 250 ms and after 750 ms");
    refuser.code = null;
    await world.advance(16_000);
    equal((await found).size, 1_000);
  }),

  "T6: a stop that is awaited is told to be unconfirmed, and not sent again": () => connected(async (world, client) => {
    const input = client.typingInput("c42");
    input.edited("Hello");
    await world.advance(400);
    refusing(world);
    const confirmed = input.sendConfirmed();
    await world.advance(60_000);
    equal(await confirmed, false);
    equal(world.typed(), ["300 typing", "400 stopped"]);
  }),

  "typing after a join that was refused temporarily is not reported as a problem": () => connected(async (world, client) => {
    const problems = problemsOf(client);
    const refuser = refusing(world);
    client.typingInput("c42").edited("Hello");
    await world.advance(0);
    world.socket.tell({ type: "error", code: "not_joined", message: "join the conversation first", retry: false });
    refuser.code = null;
    await world.advance(1_500);
    equal([problems.length, world.said.at(-1).type], [0, "typing"]);
  }),

  "users and conversations beyond a limit are requested when there is room, and the limit is reported": () => connected(async (world, client) => {
    const problems = problemsOf(client);
    Object.assign(world.limits, { watched_users: 40, joined_conversations: 3, message_rate: 500, message_burst: 500 });
    const served = { users: new Set(), rooms: new Set() };
    world.script = (message, socket) => {
      const { type, id, users, conversation } = message;
      if (type === "hello") Object.assign(served, { users: new Set(), rooms: new Set() });
      const isTooMany = type === "watch" && new Set([...served.users, ...users]).size > 40
        || type === "join" && !served.rooms.has(conversation) && served.rooms.size >= 3;
      if (isTooMany) return socket.tell({ type: "error", id, code: "limit", message: "too many", retry: false });
      if (type === "watch") for (const user of users) served.users.add(user);
      if (type === "unwatch") for (const user of users) served.users.delete(user);
      if (type === "join") served.rooms.add(conversation);
      if (type === "leave") served.rooms.delete(conversation);
      socket.behave(message);
    };
    world.socket.drop();
    await world.advance(0);
    const users = Array.from({ length: 60 }, (_, number) => seen(client.presence(`user${number}`)));
    const rooms = Array.from({ length: 5 }, (_, number) => seen(client.typing(`c${number}`)));
    await world.advance(20_000);
    const isShown = (values) => values.length > 0 && !values.at(-1).refusal;
    equal([users.filter(isShown).length, rooms.filter(isShown).length], [40, 3]);
    ok(problems.includes("limit"), "it is told");
    for (const view of [...users, ...rooms].filter(isShown)) view.end();
    await world.advance(20_000);
    ok([...users, ...rooms].every(isShown), "the others have come");
  }),

  "C2: whatever is wanted, refused, answered late or lost, the worker ends up serving what is wanted": () => {
    const random = randomNumbers();
    const outbox = new Outbox();
    const learn = () => outbox.limitsReceived({
      watched_users: 2_000, joined_conversations: 500, message_bytes: 65_536, message_rate: 1_000_000, message_burst: 5,
    }, now);
    let [now, watched, joined, answers] = [0, new Set(), new Map(), []];
    const [wanted, wishes] = [new Set(), new Map()];
    const serve = (isRefusing) => {
      now += 10;
      for (const message of outbox.take(now)) {
        const { type, id, users, conversation, presence = false } = message;
        const isTaken = id === undefined || !isRefusing || random(2) === 0;
        if (id !== undefined) answers.push({ id, isTaken });
        if (!isTaken) continue;
        if (type === "watch") for (const user of users) watched.add(user);
        if (type === "unwatch") for (const user of users) watched.delete(user);
        if (type === "join") joined.set(conversation, presence);
        if (type === "leave") joined.delete(conversation);
      }
    };
    const answer = (most) => {
      for (let left = Math.min(most, answers.length); left > 0; left -= 1) {
        const [{ id, isTaken }] = answers.splice(random(answers.length), 1);
        if (isTaken) outbox.acknowledged(id);
        else outbox.refused(random(2) ? { id, code: "unavailable", retry: true } : { id, code: "bad_request", retry: false }, now);
      }
    };
    const sorted = (names) => [...names].sort();
    const wait = () => outbox.deadlinePassed(now += 70_000);
    learn();
    for (let step = 1; step <= 10_000; step += 1) {
      const [user, conversation, event] = [`u${random(10)}`, `c${random(4)}`, random(14)];
      if (event < 2) outbox.users.want(user), wanted.add(user);
      else if (event < 4) outbox.users.unwant(user), wanted.delete(user);
      else if (event < 7) {
        wishes.set(conversation, random(2) === 0);
        outbox.conversations.want(conversation, wishes.get(conversation));
      } else if (event === 7) outbox.conversations.unwant(conversation), wishes.delete(conversation);
      else if (event < 11) serve(true);
      else if (event === 11) answer(random(4));
      else if (event === 12) wait();
      else if (random(10) === 0) {
        outbox.connectionLost();
        [watched, joined, answers] = [new Set(), new Map(), []];
      }
      for (let round = 0; step % 500 === 0 && round < 30; round += 1) {
        serve(false);
        answer(Infinity);
        wait();
      }
      if (step % 500 > 0) continue;
      equal(outbox.take(now), [], `seed ${random.seed}`);
      equal([watched, joined].map(sorted), [wanted, wishes].map(sorted), `seed ${random.seed}, step ${step}`);
    }
  },
};
