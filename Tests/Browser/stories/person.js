// What the client's own user decides that others see.

import { availabilityText, lastSeenText } from "/rollcall.js";
import { FakeWorker } from "/testing.js";
import { connected, equal, inWorld, ok, seen, throws } from "./world.js";

/** What a connection was told of the user. */
const told = (world) => world.said.filter(({ type }) => type === "person").map(({ at, socket, id, type, ...change }) => change);

/** A worker that does not answer what is set. */
const silent = (message, socket) => message.type === "person" ? undefined : socket.behave(message);

export const stories = {
  "is shown at once where it is set, on the user's other devices, and to others": () => inWorld(async (world) => {
    const worker = new FakeWorker();
    const [phone, laptop, alice] = [worker.client("bob", { device: "phone" }), worker.client("bob", { device: "laptop" }), worker.client("alice")];
    for (const client of [phone, laptop, alice]) client.connect();
    const [own, other, header] = [seen(phone.person), seen(laptop.person), seen(alice.presence("bob"))];
    await world.advance(0);
    equal([own.at(-1), header.at(-1).status], [{}, "online"]);
    phone.setPerson({ availability: "dnd", for: 60_000 });
    equal(phone.person.latest, { availability: "dnd" }, "before a worker has it");
    await world.advance(0);
    equal([other.at(-1), own.at(-1)].map(({ availability, until }) => [availability, Math.round((until - laptop.now) / 1_000)]), [["dnd", 60], ["dnd", 60]]);
    equal(lastSeenText(header.at(-1), alice.now, { language: "en" }), availabilityText(own.at(-1), phone.now, { language: "en" }));
    await world.advance(60_000);
    equal([own.at(-1), other.at(-1)], [{}, {}], "it has ended");
    laptop.setPerson({ availability: "invisible", until: null });
    await world.advance(0);
    equal([own.at(-1), header.at(-1).version], [{ availability: "invisible" }, 0]);
    phone.setPerson({ availability: null, lastSeen: "nobody" });
    await world.advance(0);
    equal([other.at(-1), header.at(-1).status], [{ lastSeen: "nobody" }, "online"]);
    phone.setPerson({ availability: "dnd", for: 3_600_000 });
    phone.setPerson({ for: 7_200_000 });
    await world.advance(0);
    await Promise.all([phone, laptop, alice].map((client) => client.close()));
    await world.advance(10_000);
    equal(world.timers, 0);
  }),

  "what is set without a connection is sent with the next one, once, the last of each kind": () => connected(async (world, client) => {
    world.script = silent;
    world.socket.drop();
    client.setPerson({ availability: "busy", for: 60_000 });
    client.setPerson({ availability: "dnd", until: new Date(4_000), presence: "shared" });
    equal(client.person.latest, { presence: "shared" }, "the end has passed");
    await world.advance(5_000);
    equal(told(world), [{ availability: "dnd", until: 4_000, presence: "shared" }]);
    world.socket.drop();
    client.setPerson({ presence: null });
    await world.advance(5_000);
    equal(told(world).at(-1), { availability: "dnd", until: 4_000, presence: null }, "it was not confirmed");
    const { id } = world.said.findLast(({ type }) => type === "person");
    world.socket.tell({ type: "ack", id });
    world.socket.drop();
    await world.advance(5_000);
    equal(told(world).length, 2);
  }),

  "what is refused for now is sent again; what is refused for good is a problem, and not shown": () => connected(async (world, client) => {
    world.script = silent;
    const problems = [];
    client.addEventListener("problem", ({ detail }) => problems.push(detail.code));
    const answer = (code, retry) => {
      const { id } = world.said.findLast(({ type }) => type === "person");
      world.socket.tell({ type: "error", id, code, message: "no", retry });
    };
    client.setPerson({ presence: "nobody" });
    await world.advance(0);
    answer("unavailable", true);
    client.setPerson({ lastSeen: "nobody" });
    await world.advance(1_000);
    equal(told(world).slice(1), [{ presence: "nobody", last_seen: "nobody" }]);
    answer("bad_request", false);
    await world.advance(10_000);
    equal([told(world).length, client.person.latest, problems], [2, {}, ["bad_request"]]);
    ok(throws(() => client.setPerson({ last_seen: "nobody" })) instanceof TypeError);
    ok(throws(() => client.setPerson("dnd")) instanceof TypeError);
  }),
};
