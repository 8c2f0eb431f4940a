// The fake worker for tests of apps: clients that share it see each other as with a real one.

import { presenceView, typingText } from "/rollcall.js";
import { FakeWorker } from "/testing.js";
import { equal, inWorld, ok, seen } from "./world.js";

const options = { language: "en" };

export const stories = {
  "C12: an app's test, with a fake worker and real clients": () => inWorld(async (world) => {
    const worker = new FakeWorker();
    const client = worker.client("alice");
    const typings = seen(client.typing("c42"));
    const bob = seen(presenceView(client, "bob", options));
    const line = () => [typings.length === 0 ? "" : typingText(typings.at(-1), options), bob.at(-1).text];
    client.connect();
    await world.advance(20);
    equal(line(), ["", ""]);
    const person = worker.person("bob", { name: "Bob" });
    person.wasSeen(180_000);
    await world.advance(20);
    equal(line(), ["", "3m ago"]);
    person.comes();
    person.types("c42");
    await world.advance(20);
    equal(line(), ["Bob is typing…", "Active now"]);
    await world.advance(60_000);
    equal(line()[0], "Bob is typing…", "as long as it lasts");
    person.types("c42", "recording");
    await world.advance(20);
    equal(line()[0], "Bob is recording…");
    worker.goesAway();
    await world.advance(10_000);
    equal(line(), ["", ""]);
    person.stops("c42");
    person.goes();
    worker.comesBack();
    await world.advance(2_000);
    equal([line(), worker.status("bob")], [["", "Last seen just now"], "offline"]);
    await client.close();
    await world.advance(10_000);
    equal([worker.status("alice"), world.timers], ["offline", 0]);
  }),

  "C12: two clients of a fake worker see each other, a loss has its grace, and a goodbye has none": () => inWorld(async (world) => {
    const worker = new FakeWorker();
    const [alice, bob] = [worker.client("alice"), worker.client("bob", { device: "phone" })];
    const [statuses, typings] = [seen(alice.presence("bob")), seen(alice.typing("c42"))];
    for (const client of [alice, bob]) client.connect();
    await world.advance(0);
    const input = bob.typingInput("c42");
    input.edited("x");
    await world.advance(400);
    equal([worker.typists("c42"), typings.at(-1).typists[0].user], [["bob"], "bob"]);
    ok(await Promise.race([input.sendConfirmed(), world.advance(1_000)]), "the end is confirmed");
    equal(typings.at(-1).count, 0);
    worker.drops();
    await world.advance(2_000);
    bob.setState("idle");
    await world.advance(0);
    const shown = () => statuses.map(({ status }) => status).filter((status, index, all) => status !== all[index - 1]);
    equal(shown().slice(-2), ["online", "away"], "without having been offline");
    bob.close();
    await world.advance(1);
    equal(shown().at(-1), "offline");
    ok(worker.messages.some(({ user, type }) => user === "bob" && type === "goodbye"), "it is said");
    alice.close();
  }),

  "C12: members, refusals and a Redis that is away": () => inWorld(async (world) => {
    const worker = new FakeWorker();
    worker.setMembers("c42", { alice: "Alice", bob: "Bob" });
    const [alice, carol] = [worker.client("alice"), worker.client("carol")];
    const [members, refused] = [seen(alice.members("c42")), seen(carol.typing("c42"))];
    carol.addEventListener("problem", () => {});
    worker.becomesUnavailable();
    for (const client of [alice, carol]) client.connect();
    await world.advance(5_000);
    equal(members.length, 0);
    worker.becomesAvailable();
    await world.advance(10_000);
    equal(members.at(-1).people.map(({ name, presence }) => `${name} ${presence.status}`), ["Alice online", "Bob offline"]);
    equal(refused.at(-1).refusal.code, "not_a_member");
    worker.setMembers("c42", { bob: "Bob" });
    await world.advance(20);
    equal(members.at(-1).refusal.code, "not_a_member");
    worker.closes(4106);
    await world.advance(0);
    equal(alice.connection.latest.error.code, "sent_away");
    for (const client of [alice, carol]) client.close();
  }),
};
