// The user's own typing, from the text field to the connection, on the test clock.

import { InvalidTypingSettings, RollcallClient } from "/rollcall.js";
import { World, connected, equal, ok, randomNumbers, throws } from "./world.js";

async function typing(settings, story) {
  const world = new World();
  try {
    const client = await world.connected({ typing: settings });
    const input = client.typingInput("c42");
    await world.advance(0);
    await story(world, input, client);
  } finally {
    world.end();
  }
}

export const stories = {
  "T1: what nobody sees is no typing, nor what the program puts there; what is no string is a mistake": () => connected(async (world, client) => {
    const input = client.typingInput("c42");
    for (const text of [" \t\u00a0\u3000", "\u200b\u200d\ufeff", "\u2060\u00ad \ufe0f"]) input.edited(text);
    input.restored("a draft");
    await world.advance(5_000);
    equal(world.typed(), []);
    const start = world.now;
    input.edited("a draft!");
    await world.advance(400);
    input.restored("a draft! and more");
    await world.advance(100);
    input.restored("");
    await world.advance(5_000);
    equal(world.typed(), [`${start + 300} typing`, `${start + 500} stopped`]);
    for (const text of [undefined, null, 7, {}]) throws(() => input.edited(text));
  }),

  "T1: what has no text is kept up, and ends at once or by itself": () => connected(async (world, client) => {
    const input = client.typingInput("c42");
    for (let second = 0; second < 5; second += 1) {
      input.keepTyping();
      await world.advance(1_000);
    }
    input.stopTyping();
    await world.advance(0);
    equal([world.typed()[0], world.typed().at(-1)], ["300 typing", "5000 stopped"]);
    input.keepTyping();
    await world.advance(10_000);
    equal(world.typed().at(-1), "8000 stopped");
  }),

  "T1: others are told what the user does; of two inputs, the one edited last counts": () => connected(async (world, client) => {
    const [input, other] = [client.typingInput("c42"), client.typingInput("c42")];
    const last = async (milliseconds) => {
      await world.advance(milliseconds);
      const { typing, kind } = world.all("typing").at(-1);
      return [typing, kind];
    };
    input.keepTyping("recording");
    equal(await last(1), [true, "recording"]);
    other.keepTyping("uploading");
    equal(await last(0), [true, "uploading"]);
    other.stopTyping();
    equal(await last(1_000), [true, "recording"]);
    input.edited("x");
    equal(await last(0), [true, undefined]);
    input.send();
    equal(await last(0), [false, undefined]);
    ok(throws(() => input.keepTyping("dancing")) instanceof TypeError);
  }, { typing: { debounce: 0 } }),

  "T1: white space alone is not typing, and an emptied field stops at once": () => typing({}, async (world, input) => {
    for (const blank of ["", "  \n\t ", "\u0085\u00a0\u3000"]) input.edited(blank);
    await world.advance(5_000);
    equal(world.typed(), []);
    input.edited("  Hel");
    await world.advance(400);
    input.edited("   ");
    await world.advance(1);
    equal(world.typed(), ["5300 typing", "5400 stopped"]);
  }),

  "T2: a letter typed and deleted is never shown": () => typing({}, async (world, input) => {
    input.edited("x");
    await world.advance(299);
    input.edited("");
    await world.advance(5_000);
    equal(world.typed(), []);
    input.edited("x");
    await world.advance(300);
    equal(world.typed(), ["5599 typing"]);
  }),

  "T2: without a debounce, the first edit is the signal": () => typing({ debounce: 0 }, async (world, input) => {
    input.edited("x");
    await world.advance(0);
    equal(world.typed(), ["0 typing"]);
  }),

  "T3: continued typing is renewed once per throttle, however long the inactivity time is":
    () => typing({ inactivity: 8_000 }, async (world, input) => {
      input.edited("x");
      await world.advance(60_000);
      equal(world.typed(), [...Array(8).keys()].map((n) => `${n * 1000 + 300} typing`).concat("8000 stopped"));
    }),

  "T3: settings are checked together, and every problem is reported": async () => {
    const client = (settings) => () => new RollcallClient({ url: "ws://a", token: "alice", typing: settings });
    for (const right of [undefined, {}, { throttle: 2_000 }, { throttle: 3_000, expiry: 4_000 }]) client(right)();
    const late = throws(client({ throttle: 3_000 }));
    ok(late instanceof InvalidTypingSettings && late.problems.length === 1, "a throttle of 3 s asks for an expiry of 4 s");
    const wrong = throws(client({ debounce: -1, throttle: 0, inactivity: -2 }));
    equal(wrong.problems.length, 3);
    ok(wrong.message.includes("throttle is not positive"), wrong.message);
    equal(throws(client({ debounce: NaN, throttle: NaN, inactivity: NaN })).problems.length, 4);
  },

  "T3: a worker with a shorter typing expiry is sent signals more often": () => typing({}, async (world, input) => {
    world.expiry = 1_500;
    world.socket.drop();
    await world.advance(2_000);
    input.edited("x");
    const from = world.now;
    await world.advance(1_400);
    equal(world.all("typing").map(({ at }) => at - from), [300, 800, 1_300]);
  }),

  "T4: ten seconds at twelve keys a second are ten signals, a second apart": () => typing({}, async (world, input) => {
    for (let key = 0; key < 120; key += 1) {
      input.edited("x".repeat(key + 1));
      await world.advance(1_000 / 12);
    }
    input.send();
    await world.advance(0);
    equal(world.typed().length, 11);
    equal(world.typed().at(-1).split(" ")[1], "stopped");
  }),

  "T5: no edit for inactivity stops, and a later edit starts again at once": () => typing({}, async (world, input) => {
    input.edited("x");
    await world.advance(500);
    input.edited("xy");
    await world.advance(19_500);
    input.edited("xyz");
    await world.advance(0);
    equal(world.typed(), ["300 typing", "1300 typing", "2300 typing", "3300 typing", "3500 stopped", "20000 typing"]);
  }),

  "T6: sending stops the typing at once, and can be awaited until it is published": () => typing({}, async (world, input) => {
    input.edited("Hello");
    await world.advance(300);
    input.send();
    await world.advance(0);
    equal(world.typed(), ["300 typing", "300 stopped"]);
    input.edited("Again");
    await world.advance(300);
    equal(await input.sendConfirmed(), true);
    ok(world.all("typing").at(-1).id !== undefined, "the stop asks for an answer");
  }),

  "T6: an unconfirmed stop is reported, and delays nothing": () => typing({}, async (world, input, client) => {
    world.script = (message, socket) => { if (message.typing !== false) socket.behave(message); };
    const late = input.sendConfirmed({ within: 50 });
    await world.advance(50);
    equal(await late, false, "not acknowledged");
    const cut = input.sendConfirmed({ within: 60_000 });
    await world.advance(0);
    world.socket.drop();
    await world.advance(0);
    equal(await cut, false, "the connection was lost");
    await client.disconnect();
    equal(await input.sendConfirmed(), false, "not connected");
  }),

  "T7: leaving the view stops and leaves, and so does letting go": () => typing({}, async (world, input, client) => {
    input.edited("Hello");
    await world.advance(300);
    input.disappeared();
    await world.advance(0);
    equal(world.kinds().slice(1), ["join", "typing", "typing", "leave"]);
    input.edited("Late");
    await world.advance(300);
    equal(world.kinds().slice(5), [], "an autocorrection, for example");
    input.appeared();
    input.edited("Back");
    await world.advance(300);
    equal(world.kinds().slice(5), ["join", "typing"]);
    input[Symbol.dispose]();
    await world.advance(0);
    equal(world.kinds().slice(7), ["typing", "leave"]);
    const leaving = new AbortController();
    const other = client.typingInput("c43", { signal: leaving.signal });
    other.edited("x");
    await world.advance(300);
    leaving.abort();
    await world.advance(0);
    equal(world.typed("c43").at(-1), "1200 stopped");
    equal(world.kinds().at(-1), "leave");
  }),

  "T7: nothing is typed in the background, whatever edits the field": () => typing({}, async (world, input, client) => {
    client.setPhase("background");
    input.edited("Hello");
    input.keepTyping();
    await world.advance(5_000);
    equal(world.typed(), []);
    client.setPhase("active");
    input.edited("Hello!");
    await world.advance(300);
    equal(world.typed(), ["5300 typing"]);
  }),

  "T7: the background stops before it says so, and signing out says goodbye": () => typing({}, async (world, input, client) => {
    input.edited("Hello");
    await world.advance(300);
    client.setPhase("background");
    await world.advance(5_000);
    equal(world.kinds().slice(2), ["typing", "typing", "state"]);
    equal(world.all("state").map(({ state }) => state), ["background"]);
    client.setPhase("active");
    input.edited("Hello");
    await world.advance(300);
    client.close();
    await world.advance(0);
    equal(world.kinds().slice(-3), ["typing", "typing", "goodbye"]);
  }),

  "T8: conversations are independent": () => typing({}, async (world, one, client) => {
    const two = client.typingInput("c43");
    one.edited("a");
    await world.advance(150);
    two.edited("b");
    await world.advance(1_000);
    one.send();
    await world.advance(2_500);
    equal(world.typed(), ["300 typing", "1150 stopped"]);
    equal(world.typed("c43"), ["450 typing", "1450 typing", "2450 typing", "3150 stopped"]);
  }),

  "T8: with two fields of one conversation, the user types while either of them does":
    () => typing({ debounce: 0, inactivity: 60_000 }, async (world, one, client) => {
      const two = client.typingInput("c42");
      one.edited("a");
      two.edited("b");
      await world.advance(10);
      one.send();
      equal(await one.sendConfirmed(), true, "there is nothing to stop while the other goes on");
      ok(world.typed().every((each) => each.endsWith("typing")), "nothing stopped");
      two.send();
      await world.advance(0);
      equal(world.typed().at(-1), "10 stopped");
      one.disappeared();
      await world.advance(0);
      equal(world.all("leave").length, 0, "the other is still there");
    }),

  "T9: typing while disconnected is dropped; a reconnect sends the current state":
    () => typing({}, async (world, over, client) => {
      over.edited("a");
      await world.advance(300);
      world.listens = () => "no";
      world.socket.drop();
      await world.advance(100);
      over.send();
      const now = client.typingInput("c43");
      for (let edit = 0; edit < 20; edit += 1) now.edited("b");
      await world.advance(2_000);
      world.listens = () => "yes";
      client.networkChanged();
      await world.advance(0);
      equal(world.kinds(), ["hello", "join", "join", "typing"]);
      equal(world.said.at(-1).conversation, "c43");
    }),

  "T10: an edit costs the field nothing": async () => {
    const world = new World();
    const client = await world.connected();
    const input = client.typingInput("c42");
    await world.advance(0);
    world.end();
    const text = "How are you? ".repeat(100);
    const edits = 10_000;
    input.edited(text);
    // The fastest of twenty runs: the time of an edit while nothing else uses the processor.
    const times = Array.from({ length: 20 }, () => {
      const start = performance.now();
      for (let edit = 0; edit < edits; edit += 1) input.edited(text);
      return performance.now() - start;
    });
    const each = Math.min(...times) / edits * 1_000;
    input.send();
    ok(each < 20, `${each.toFixed(3)} µs an edit`);
    return `${each.toFixed(3)} µs an edit of ${text.length} characters`;
  },

  "C2: typing where the worker has no room for the conversation costs nothing, and shows once there is room":
    () => typing({ debounce: 0 }, async (world, input, client) => {
      world.limits.joined_conversations = 3;
      world.socket.drop();
      await world.advance(2_000);
      const views = ["c1", "c2"].map((each) => client.typing(each).subscribe(() => {}));
      await world.advance(0);
      const beyond = client.typingInput("beyond");
      await world.advance(0);
      beyond.edited("x");
      await world.advance(500);
      beyond.edited("");
      await world.advance(500);
      beyond.edited("xy");
      await world.advance(1_500);
      input.edited("x");
      await world.advance(1_000);
      beyond.edited("xyz");
      equal([world.typed("beyond"), world.typed().length], [[], 2]);
      const start = world.now;
      views[0]();
      await world.advance(1_000);
      equal(world.typed("beyond").length, 1);
      ok(world.all("typing").at(-1).at <= start + 1_000, "with the next renewal at the latest");
    }),

  "C2: typing in more conversations than a client joins before the welcome costs nothing": () => typing({}, async (world) => {
    world.script = () => {};
    const slow = await world.connected({ connectTimeout: 120_000, typing: { debounce: 0 } });
    const inputs = Array.from({ length: 250 }, (_, number) => slow.typingInput(`d${number}`));
    for (const input of inputs) input.edited("x");
    await world.advance(40_000);
    for (const input of inputs) input.edited("xy");
    await world.advance(60_000);
    equal(world.all("join").filter(({ conversation }) => conversation.startsWith("d")).length, 200);
  }),

  "in any case, starts and stops alternate, and no two typing signals are closer than allowed":
    () => typing({}, async (world, input) => {
      const random = randomNumbers();
      for (let step = 0; step < 600; step += 1) {
        await world.advance(random(1_500));
        const event = random(8);
        if (event === 0) input.edited(" ");
        else if (event === 1) input.send();
        else input.edited("x");
      }
      await world.advance(60_000);
      let last = null;
      for (const { at, typing } of world.all("typing")) {
        if (typing && last !== null) ok(Math.abs(at - last - 1_000) < 0.001, `seed ${random.seed}: renewed at ${at} after ${last}`);
        if (!typing) ok(last !== null, `seed ${random.seed}: stopped twice at ${at}`);
        last = typing ? at : null;
      }
      equal(last, null, `seed ${random.seed}: still typing`);
    }),
};
