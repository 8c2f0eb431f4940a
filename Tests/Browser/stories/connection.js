// The life of a connection: temporary failures and permanent errors.

import { RollcallClient } from "/rollcall.js";
import { equal, inWorld, ok, seen } from "./world.js";

const statuses = (client) => client.states.map(({ status }) => status);
const base64url = (value) => btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const jwt = (exp) => `${base64url({ alg: "none" })}.${base64url({ sub: "alice", exp })}.x`;

export const stories = {
  "C2: a client sends hello with its token, device and state, and learns its user": () => inWorld(async (world) => {
    const client = world.client();
    client.setPhase("background");
    equal(client.connection.latest, { status: "idle" });
    client.connect();
    await world.advance(0);
    const { token, device, state } = world.all("hello")[0];
    equal([token, device, state], ["alice", "web", "background"]);
    equal(client.connection.latest, {
      status: "connected", session: { user: "alice", device: "web", session: "s1", worker: "w1.abc" },
    });
    equal(statuses(client), ["connecting", "connected"]);
    equal(world.socket.url, "ws://one.example/v1/connect");
  }),

  "C2: whatever ends the connection, the client comes back, and asks for everything again": () => inWorld(async (world) => {
    const client = await world.connected();
    seen(client.presence("bob"));
    seen(client.typing("c42"));
    for (const code of [1006, 1000, 1005, 1009, 4000, 4001, 4002, 4003, 4099, 4200]) {
      await world.advance(0);
      world.socket.end(code);
      await world.advance(2_000);
      equal(client.connection.latest.status, "connected", `after ${code}`);
      equal(world.kinds(), ["hello", "join", "watch"], `after ${code}`);
    }
    equal(world.sockets.length, 11);
  }),

  "C2: it goes on for ever, with random pauses of up to a tenth of the outage, 1.5 s at least and 30 s at most": () => inWorld(async (world) => {
    world.listens = () => "no";
    const client = world.client();
    client.connect();
    await world.advance(0);
    equal(client.connection.latest.retryIn, 1_500);
    const pauseAfter = async (outage, chance) => {
      await world.advance(outage - world.now);
      world.chance = chance;
      await world.advance(30_000);
      const { retryIn } = client.states.findLast(({ status }) => status === "waiting");
      world.chance = 0.999999;
      return retryIn;
    };
    ok(await pauseAfter(100_000, 0.999999) > 10_000, "a tenth of it");
    equal([await pauseAfter(600_000, 0.999999), await pauseAfter(3_600_000, 0.999999), await pauseAfter(7_200_000, 0.5)],
      [30_000, 30_000, 15_000]);
    world.listens = () => "yes";
    await world.advance(30_000);
    equal(client.connection.latest.status, "connected");
  }),

  "C2: the worker's welcome says how long the first pauses are, from 0.25 to 30 s": () => inWorld(async (world) => {
    const client = await world.connected();
    const pauses = [];
    for (const reconnect of [4_000, 0, -1, 1e12, 1e12]) {
      world.reconnect = reconnect;
      await world.advance(10_000);
      world.socket.drop();
      await world.advance(0);
      pauses.push(client.connection.latest.retryIn);
      await world.advance(30_000);
    }
    equal(pauses, [1_500, 4_000, 250, 250, 30_000]);
  }),

  "C2: only a connection that lasted begins a new count, or a reason to try at once": () => inWorld(async (world) => {
    const client = await world.connected();
    world.listens = () => "no";
    world.socket.drop();
    await world.advance(60_000);
    world.listens = () => "yes";
    while (client.connection.latest.status !== "connected") await world.advance(100);
    const pause = async (held) => {
      await world.advance(held);
      world.socket.drop();
      await world.advance(0);
      const { retryIn } = client.connection.latest;
      await world.advance(20_000);
      return retryIn;
    };
    const early = await pause(0);
    ok(early > 6_000, `${early} after a connection that did not last`);
    equal(await pause(6_000), 1_500);
    for (const begin of [() => client.networkChanged(), () => client.connect(), () => {
      client.setPhase("background");
      client.setPhase("active");
    }]) {
      world.listens = () => "no";
      world.socket.drop();
      await world.advance(60_000);
      const tries = world.sockets.length;
      begin();
      await world.advance(0);
      equal([world.sockets.length - tries, client.connection.latest.retryIn], [1, 1_500]);
      world.listens = () => "yes";
      await world.advance(20_000);
    }
  }),

  "C2: a pause that a worker asked for is kept, but for the user's return, every 10 s at most": () => inWorld(async (world) => {
    const client = await world.connected();
    await world.advance(20_000);
    const busy = (socket) => {
      socket.tell({ type: "goodbye", reason: "busy", reconnect: true, after: 60_000 });
      socket.end(4002);
    };
    busy(world.socket);
    world.script = (message, socket) => busy(socket);
    await world.advance(1_000);
    const tries = world.sockets.length;
    dispatchEvent(new Event("online"));
    client.networkChanged();
    await world.advance(0);
    equal(world.sockets.length - tries, 0, "a network is no reason");
    const back = async () => {
      client.setPhase("background");
      client.setPhase("active");
      await world.advance(0);
    };
    await back();
    equal(world.sockets.length - tries, 1, "the last attempt was long ago");
    await back();
    client.connect();
    await world.advance(9_999);
    equal(world.sockets.length - tries, 1);
    await world.advance(1);
    equal(world.sockets.length - tries, 2);
    await world.advance(59_000);
    equal(world.sockets.length - tries, 2, "nobody came back");
  }),

  "C2: the worker says when and where to reconnect": () => inWorld(async (world) => {
    const client = await world.connected({ workerHosts: ["two.example"] });
    world.socket.tell({ type: "goodbye", reason: "draining", reconnect: true, after: 1_200, to: "ws://two.example/v1/connect" });
    world.socket.end(4000);
    await world.advance(1_199);
    equal(world.sockets.length, 1);
    equal([client.connection.latest.status, client.connection.latest.error.code], ["waiting", "asked"]);
    await world.advance(1);
    equal([world.socket.url, client.connection.latest.status], ["ws://two.example/v1/connect", "connected"]);
    world.socket.drop();
    await world.advance(2_000);
    equal(world.socket.url, "ws://one.example/v1/connect", "it goes home again");
    world.socket.tell({ type: "goodbye", reason: "busy", reconnect: true, after: 1e12, to: 7 });
    world.socket.end(4002);
    await world.advance(299_000);
    equal(world.sockets.length, 3);
    await world.advance(1_000);
    equal(world.sockets.length, 4, "an excessive delay requested by a worker is limited");
  }),

  "C2: where nobody answers within two seconds, home is next; and never from wss to ws": () => inWorld(async (world) => {
    world.listens = (url) => url.includes("gone") ? "silence" : "yes";
    await world.connected({ workerHosts: ["gone.example"] });
    world.socket.tell({ type: "goodbye", reason: "draining", after: 0, to: "ws://gone.example" });
    world.socket.end(4000);
    await world.advance(1_999);
    equal(world.socket.url, "ws://gone.example/v1/connect");
    await world.advance(1);
    equal(world.socket.url, "ws://one.example/v1/connect");
    const client = await world.connected({ url: "wss://safe.example", workerHosts: ["gone.example"] });
    world.socket.tell({ type: "goodbye", reason: "draining", after: 0, to: "ws://gone.example" });
    world.socket.end(4000);
    await world.advance(10);
    equal(world.socket.url, "wss://safe.example/v1/connect");
    client.close();
  }),

  "C2: a token goes to no host that the app did not name, whatever a worker says": () => inWorld(async (world) => {
    const client = await world.connected({ url: "wss://one.example", workerHosts: ["*.Fleet.example", "2001:DB8::7"] });
    for (const [host, follows] of [
      ["[2001:db8::8]", false], ["[2001:db8::7]:99", true],
      ["evil.example", false], ["xone.example", false], ["fleet.example", false], ["w.fleet.example.evil", false],
      ["one.example:99", true], ["w1.fleet.example", true],
    ]) {
      world.socket.tell({ type: "goodbye", reason: "draining", after: 0, to: `wss://${host}/v1/connect` });
      world.socket.end(4000);
      await world.advance(10_000);
      equal(world.socket.url, `wss://${follows ? host : "one.example"}/v1/connect`);
    }
    client.close();
  }),

  "C2: of several workers each is tried at once before there is a pause": () => inWorld(async (world) => {
    world.listens = (url) => url.includes("three") ? "yes" : "no";
    const client = world.client({ url: ["ws://one", "ws://two", "ws://three"] });
    client.connect();
    await world.advance(0);
    equal(client.connection.latest.status, "connected");
    ok(world.sockets.length <= 3, `${world.sockets.length} attempts`);
    world.listens = (url) => url.includes("two") ? "yes" : "no";
    world.socket.drop();
    await world.advance(1_500);
    equal([client.connection.latest.status, new URL(world.socket.url).host], ["connected", "two"]);
  }),

  "C2: a worker that accepts the connection but sends no welcome is abandoned after a while": () => inWorld(async (world) => {
    world.script = () => {};
    const client = await world.connected({ connectTimeout: 5_000 });
    await world.advance(4_999);
    equal(client.connection.latest.status, "connecting");
    await world.advance(1);
    equal([client.connection.latest.status, client.connection.latest.error.code], ["waiting", "unreachable"]);
    await world.advance(1_500);
    equal(world.sockets.length, 2);
  }),

  "C2: a connection that carries nothing is asked, and left if it does not answer": () => inWorld(async (world) => {
    const client = await world.connected();
    await world.advance(60_000);
    equal(world.all("ping").map(({ at }) => at), [20_000, 40_000, 60_000]);
    world.script = () => {};
    await world.advance(20_000);
    await world.advance(9_999);
    equal(client.connection.latest.status, "connected");
    await world.advance(1);
    equal([client.connection.latest.status, client.connection.latest.error.code], ["waiting", "connection_lost"]);
  }),

  "C2: a worker that is slow to read may answer late; once there is another reason to doubt it, it may not": () => inWorld(async (world) => {
    const client = await world.connected();
    world.script = (message, socket) => void globalThis.setTimeout(() => socket.behave(message), 9_000);
    await world.advance(300_000);
    equal([client.connection.latest.status, world.sockets.length], ["connected", 1]);
    world.script = () => {};
    const asked = world.all("ping").length;
    while (world.all("ping").length === asked) await world.advance(1_000);
    await world.advance(1_000);
    client.networkChanged();
    await world.advance(2_999);
    equal(client.connection.latest.status, "connected");
    await world.advance(1);
    equal(client.connection.latest.status, "waiting");
  }),

  "C2: a network change restarts an attempt over a dead path, with or without a hello": () => inWorld(async (world) => {
    for (const answer of ["silence", "yes"]) {
      world.listens = () => answer;
      world.script = () => {};
      const client = world.client();
      client.connect();
      await world.advance(2_000);
      world.listens = () => "yes";
      world.script = (message, socket) => socket.behave(message);
      const before = world.sockets.length;
      client.setPhase("background");
      client.setPhase("active");
      await world.advance(0);
      equal([world.sockets.length - before, client.connection.latest.status], [1, "connected"]);
      ok(!statuses(client).includes("waiting"), "nothing failed");
      client.close();
      await world.advance(0);
    }
  }),

  "C2: network changes in a loop restart an attempt once, after 2 s, and do not prevent it": () => inWorld(async (world) => {
    world.listens = () => "silence";
    const client = world.client();
    client.connect();
    await world.advance(0);
    for (let time = 50; time <= 7_500; time += 50) {
      await world.advance(50);
      client.networkChanged();
      await world.advance(0);
      equal(world.sockets.length, time < 2_000 ? 1 : 2, `after ${time} ms`);
    }
  }),

  "C2: what was under way before the question is no answer to it": () => inWorld(async (world) => {
    const client = await world.connected();
    world.script = () => {};
    client.networkChanged();
    world.socket.tellTyping("c42", "bob");
    await world.advance(2_000);
    world.socket.tellTyping("c42");
    await world.advance(2_999);
    equal(client.connection.latest.status, "connected", "the answer may have to wait behind it");
    await world.advance(1);
    equal(client.connection.latest.status, "waiting");
  }),

  "C2: a page that slept asks before it judges, and one with slow timers judges the second time": () => inWorld(async (world) => {
    const client = await world.connected();
    world.script = () => {};
    await world.sleep(600_000);
    equal([client.connection.latest.status, world.all("ping").length], ["connected", 1]);
    await world.sleep(60_000);
    equal([client.connection.latest.status, world.all("ping").length], ["connected", 2]);
    await world.sleep(60_000);
    equal(client.connection.latest.status, "waiting");
  }),

  "C2: a network change ends the pause before a retry, or makes the client ping the worker": () => inWorld(async (world) => {
    world.listens = () => "no";
    const client = world.client();
    client.connect();
    await world.advance(0);
    world.listens = () => "yes";
    globalThis.dispatchEvent(new Event("online"));
    await world.advance(0);
    equal(client.connection.latest.status, "connected");
    globalThis.dispatchEvent(new Event("offline"));
    globalThis.dispatchEvent(new Event("online"));
    await world.advance(0);
    equal(world.kinds(), ["hello", "ping"]);
    await client.close();
    globalThis.dispatchEvent(new Event("online"));
    await world.advance(5_000);
    equal(world.sockets.length, 2);
  }),

  "C2: a token that expires while no worker is reached, or the machine sleeps, is fetched anew": () => inWorld(async (world) => {
    for (const sleeps of [false, true]) {
      let asked = 0;
      const token = () => {
        asked += 1;
        world.listens = () => asked === 2 ? "no" : "yes";
        return `token ${asked}`;
      };
      world.script = (message, socket) => {
        if (message.type === "hello" && message.token !== "token 3") return socket.end(4101);
        socket.behave(message);
      };
      const client = await world.connected({ token });
      await world.advance(30_000);
      equal([client.connection.latest.error.code, asked], ["unreachable", 2]);
      // A monotonic clock may not advance meanwhile.
      const clock = Date.now;
      if (sleeps) Date.now = () => clock() + 3_600_000;
      else await world.advance(30_000);
      world.listens = () => "yes";
      await world.advance(6_000);
      equal([client.connection.latest.status, asked], ["connected", 3], sleeps ? "after a sleep" : "");
      client.close();
      await world.advance(0);
    }
  }),

  "C2: before the first welcome no clock says that a token has expired": () => inWorld(async (world) => {
    Date.now = () => 1_784_600_000_000 + 86_400_000 + world.now;
    let asked = 0;
    const token = () => {
      asked += 1;
      return jwt(1_784_600_000 + 3_600);
    };
    world.listens = () => "no";
    const client = await world.connected({ token });
    await world.advance(10_000);
    equal(asked, 1);
    world.listens = () => "yes";
    await world.advance(2_000);
    equal([client.connection.latest.status, asked], ["connected", 1]);
  }),

  "C2: a token callback that never answers for a renewal is asked once more, after a minute, and a late answer counts": () => inWorld(async (world) => {
    const fresh = (minutes) => jwt(1_784_600_000 + 60 * minutes);
    const answers = [];
    const token = () => new Promise((resolve) => answers.push(resolve) === 1 && resolve(fresh(10)));
    world.chance = 0;
    await world.connected({ token });
    await world.advance(540_000 + 59_999);
    equal(answers.length, 2);
    await world.advance(1);
    equal(answers.length, 3);
    await world.advance(239_000);
    equal(answers.length, 3, "at most two wait, but for one that is lost");
    answers[1](fresh(30));
    await world.advance(1_000);
    equal(world.all("token").map((message) => message.token), [fresh(30)], "however late it comes");
    answers[2](fresh(40));
    await world.advance(1_000);
    equal(world.all("token").length, 2, "a fresher one counts too");
    await world.advance(300_000);
    equal(answers.length, 3, "nobody is asked before that ends");
  }),

  "C2: clients that connected together ask for fresh tokens one by one, in the last two minutes": () => inWorld(async (world) => {
    for (const [chance, renewal] of [[0, 3_540_000], [0.5, 3_510_000], [0.75, 3_495_000]]) {
      const start = world.now;
      const token = jwt((1_784_600_000_000 + start) / 1_000 + 3_600);
      const asked = [];
      world.chance = chance;
      const client = await world.connected({ token: () => { asked.push(world.now - start); return token; } });
      await world.advance(3_550_000);
      equal(asked.slice(0, 2), [0, renewal]);
      client.close();
      await world.advance(10_000);
    }
  }),

  "C2: one call of the token callback serves all who wait, and its answer counts whenever it comes": () => inWorld(async (world) => {
    const answers = [];
    const client = await world.connected({ token: (request) => new Promise((resolve) => answers.push({ request, resolve })) });
    await world.advance(45_000);
    client.connect();
    await world.advance(0);
    equal([client.connection.latest.status, answers.length], ["connecting", 2], "connect() asks after ten seconds");
    for (let time = 0; time < 120_000; time += 1_000) {
      client.networkChanged();
      client.setPhase("background");
      client.setPhase("active");
      await world.advance(1_000);
    }
    equal(answers.map(({ request }) => request.reason), ["first", "first"], "at most two wait");
    answers[0].resolve("alice");
    await world.advance(0);
    equal([client.connection.latest.status, world.all("hello").map(({ token }) => token)], ["connected", ["alice"]]);
    answers[1].resolve("alice");
    await world.advance(20_000);
    equal(world.sockets.length, 1);
  }),

  "C2: what the token callback answers after disconnect counts no more, and it learns why it is called": () => inWorld(async (world) => {
    const answers = [];
    const client = await world.connected({ token: (request) => new Promise((resolve) => answers.push({ request, resolve })) });
    client.disconnect();
    client.connect();
    await world.advance(0);
    answers[0].resolve("of another user");
    await world.advance(0);
    equal([client.connection.latest.status, answers.length], ["connecting", 2]);
    answers[1].resolve(jwt(1_784_600_000 + 600));
    await world.advance(0);
    equal(client.connection.latest.status, "connected");
    world.socket.end(4101);
    await world.advance(0);
    answers[2].resolve(jwt(1_784_600_000 + 700));
    await world.advance(600_000);
    equal(answers.map(({ request: { reason, code } }) => [reason, code ?? ""].join(" ")), [
      "first ", "first ", "refused token_expired", "renewal ",
    ]);
  }),

  "C2: a callback that reached nobody is called again as soon as a connection would be tried": () => inWorld(async (world) => {
    const { RollcallError } = await import("/rollcall.js");
    for (const error of [
      new TypeError("Failed to fetch"), new TypeError("NetworkError when attempting to fetch resource."), new TypeError("Load failed"),
      new TypeError("fetch failed"), new TypeError("Network request failed"),
      Object.assign(new Error("firebase"), { code: "auth/network-request-failed" }), new RollcallError("unreachable", "no network"),
    ]) {
      let isDown = true;
      const client = await world.connected({ token: () => { if (isDown) throw error; return "alice"; } });
      await world.advance(20_000);
      isDown = false;
      await world.advance(2_000);
      equal(client.connection.latest.status, "connected", error.message);
      client.close();
      await world.advance(0);
    }
  }),

  "C2: a user who is signed out is so at once, also while connected, and nobody is asked until connect": () => inWorld(async (world) => {
    const { RollcallError } = await import("/rollcall.js");
    let asked = 0;
    const client = await world.connected({ token: () => {
      asked += 1;
      if (asked > 1) throw new RollcallError("bad_token", "signed out");
      return jwt(1_784_600_000 + 600);
    } });
    await world.advance(590_000);
    equal([client.connection.latest.status, client.connection.latest.error.code, asked], ["failed", "bad_token", 2]);
    equal(world.kinds().at(-1), "goodbye");
    await world.advance(3_600_000);
    client.networkChanged();
    equal(asked, 2);
    client.connect();
    await world.advance(0);
    equal(asked, 3);
  }),

  "C2: a token of another user ends the session, and what was shown is empty; only disconnect forgets the user": () => inWorld(async (world) => {
    let user = "alice";
    world.script = (message, socket) => {
      if (message.type === "hello" && message.user !== undefined && message.user !== user) return socket.end(4107);
      socket.behave(message);
    };
    const client = await world.connected({ token: () => user });
    const [bob, typings, mine] = [seen(client.presence("bob")), seen(client.typing("c42")), seen(client.here("doc"))];
    await world.advance(0);
    world.socket.tellTyping("c42", "bob");
    world.socket.tell({ type: "here", conversation: "doc", users: [{ user: "bob", since: 1 }], count: 1 });
    world.socket.tellPresence("bob", "online");
    await world.advance(20);
    equal([bob.at(-1).status, typings.at(-1).count, mine.at(-1).count], ["online", 1, 1]);
    user = "bob";
    world.socket.end(4101);
    await world.advance(0);
    equal([client.connection.latest.status, client.connection.latest.error.code], ["failed", "another_user"]);
    equal([bob.at(-1).status, bob.at(-1).version, typings.at(-1).count, mine.at(-1).count, client.isStale.latest], ["offline", 0, 0, 0, true]);
    await world.advance(3_600_000);
    equal(world.sockets.length, 2);
    client.connect();
    await world.advance(0);
    equal([world.all("hello").at(-1).user, client.connection.latest.error?.code], ["alice", "another_user"]);
    client.disconnect();
    client.connect();
    await world.advance(0);
    equal([world.all("hello").at(-1).user, client.connection.latest.status], [undefined, "connected"]);
  }),

  "C2: malformed and unknown messages are ignored, and the connection stays open": () => inWorld(async (world) => {
    const client = await world.connected();
    const typings = seen(client.typing("c42"));
    await world.advance(0);
    for (const text of [
      "", "{", "[]", "null", "7", '"x"', '{"type":"fireworks"}', '{"type":"constructor"}', '{"type":"typing"}',
      '{"type":"ack","id":99}', '{"type":"typing","conversation":"c42","users":"many","count":1}',
      '{"type":"typing","conversation":"c42","users":[{}],"count":1}', '{"type":"presence","users":[null]}',
      '{"type":"typing","conversation":"elsewhere","users":[],"count":3}', '{"type":"welcome"}',
      '{"type":"error","code":"not_joined","message":"?","retry":false}', '{"type":"removed","conversation":"elsewhere"}',
    ]) world.socket.tell(text);
    world.socket.dispatchEvent(new MessageEvent("message", { data: new Blob(["x"]) }));
    world.socket.tellTyping("c42", "bob");
    equal([typings.at(-1).count, world.sockets.length], [1, 1]);
  }),

  // Regression: a fresh token counted as one message, and as ten for workers.
  "C2: a client never sends more than a worker allows": () => inWorld(async (world) => {
    world.limits.message_rate = 10;
    world.limits.message_burst = 20;
    const bucket = { tokens: 20, at: 0 };
    const tooMany = [];
    world.script = (message, socket) => {
      bucket.tokens = Math.min(20, bucket.tokens + (world.now - bucket.at) / 1_000 * 10);
      bucket.at = world.now;
      if (bucket.tokens < 1) tooMany.push(world.now);
      bucket.tokens -= message.type === "token" ? 10 : 1;
      socket.behave(message);
    };
    const token = () => jwt(1_784_600_000 + Math.ceil(world.now / 1_000) + 3);
    const client = await world.connected({ token, typing: { debounce: 0 } });
    const inputs = Array.from({ length: 200 }, (_, number) => client.typingInput(`c${number}`));
    for (const input of inputs) input.edited("x");
    for (let step = 0; step < 200; step += 1) {
      await world.advance(50);
      inputs[step].edited("");
      inputs[step].edited("y");
    }
    await world.advance(90_000);
    equal(tooMany, []);
    equal([world.sockets.length, client.connection.latest.status], [1, "connected"]);
    ok(world.all("token").length > 5, "tokens were renewed");
    equal(new Set(world.all("join").map(({ conversation }) => conversation)).size, 200);
  }),

  "C3: closing says goodbye and is the end; disconnecting is not": () => inWorld(async (world) => {
    let user = "alice";
    const client = await world.connected({ token: () => user });
    const presences = seen(client.presence("bob"));
    await world.advance(0);
    client.disconnect();
    await world.advance(4_000);
    equal([client.connection.latest.status, world.kinds().at(-1)], ["idle", "goodbye"]);
    client.connect();
    await world.advance(0);
    equal(presences.length, 1, "nothing about Bob has changed");
    client.disconnect();
    await world.advance(60_000);
    equal(world.timers, 0);
    user = "carol";
    client.connect();
    await world.advance(0);
    equal([presences.length, world.all("hello").at(-1).token], [2, "carol"], "it was unknown, and the token is forgotten");
    client.disconnect({ goodbye: false });
    await world.advance(0);
    equal(world.kinds(), ["hello", "watch"]);
    client.connect();
    await world.advance(0);
    const closed = client.close();
    await world.advance(3_000);
    await closed;
    client.connect();
    client.disconnect();
    await world.advance(60_000);
    equal([client.connection.latest.status, world.kinds().at(-1), world.timers], ["closed", "goodbye", 0]);
  }),

  "C3: what a closed client showed ends empty": () => inWorld(async (world) => {
    const client = await world.connected();
    const typings = seen(client.typing("c42"));
    const [bob, people] = [seen(client.presence("bob")), seen(client.presence(["bob", "carol"]))];
    const rows = seen(client.conversations({ c42: ["bob"] }));
    const members = seen(client.members("c42"));
    await world.advance(0);
    world.socket.tellTyping("c42", "bob");
    world.socket.tell({ type: "members", conversation: "c42", users: [{ user: "bob" }], count: 1 });
    await world.advance(16);
    const last = () => [
      typings.at(-1).count, people.at(-1).size, rows.at(-1).get("c42").typing.count, rows.at(-1).get("c42").presences.size,
      members.at(-1).people.length, bob.at(-1).version > 0,
    ];
    equal(last(), [1, 2, 1, 1, 1, true]);
    const iterator = client.typing("c42")[Symbol.asyncIterator]();
    await iterator.next();
    client.close();
    await world.advance(0);
    equal(last(), [0, 0, 0, 0, 0, false], "a user who was never seen has no dot and no text");
    equal([(await iterator.next()).value.count, (await iterator.next()).done], [0, true]);
  }),

  "C3: what a listener does at once about the connection is done": () => inWorld(async (world) => {
    for (const [status, nth] of [["connecting", 1], ["connected", 1], ["waiting", 1], ["connecting", 2]]) {
      for (const [call, rest] of [["close", "closed"], ["disconnect", "idle"]]) {
        const client = world.client({ token: () => "alice" });
        const heard = [];
        client.connection.subscribe((state) => {
          heard.push(state.status);
          if (state.status === status && heard.filter((each) => each === status).length === nth) client[call]();
        });
        await world.advance(0);
        client.connect();
        await world.advance(0);
        if (world.socket?.readyState === 1) world.socket.drop();
        await world.advance(60_000);
        const where = `${call} in ${status} ${nth}: ${heard}`;
        equal([client.connection.latest.status, heard.at(-1), world.timers], [rest, rest, 0], where);
        equal(client.states.at(-1).status, rest, where);
        ok(world.sockets.every(({ readyState }) => readyState === 3), where);
        client.connect();
        await world.advance(0);
        equal(client.connection.latest.status, rest === "idle" ? "connected" : "closed", where);
        client.close();
        await world.advance(60_000);
      }
    }
  }),

  "C3: so is what a listener of presence or members does as a welcome tells the time": () => inWorld(async (world) => {
    for (const observed of [(client) => client.presence("bob"), (client) => client.members("c42")]) {
      for (const [call, rest] of [["close", "closed"], ["disconnect", "idle"]]) {
        const client = await world.connected({ token: jwt(1_784_600_000 + 1_000_000) });
        let isBack = false;
        observed(client).subscribe(() => { if (isBack) client[call](); });
        await world.advance(0);
        world.socket.tell({ type: "members", conversation: "c42", users: [{ user: "bob" }], count: 1 });
        world.socket.tellPresence("bob", "online");
        await world.advance(0);
        isBack = true;
        world.clockSet += 3_600_000;
        world.socket.drop();
        await world.advance(60_000);
        const where = `${call} in ${observed}`;
        equal([client.connection.latest.status, client.states.at(-1).status, world.timers], [rest, rest, 0], where);
        ok(client.states.filter(({ status }) => status === "connected").length === 1, where);
        client.close();
        await world.advance(60_000);
      }
    }
  }),

  "C3: whoever watches the wire may end the connection": () => inWorld(async (world) => {
    for (const type of ["hello", "watch", "welcome", "presence", "goodbye"]) {
      for (const [call, rest] of [["close", "closed"], ["disconnect", "idle"]]) {
        const client = world.client();
        client.addEventListener("wire", ({ detail }) => {
          if (JSON.parse(detail.sent ?? detail.received).type === type) client[call]();
        });
        seen(client.presence("bob"));
        seen(client.typing("c42"));
        client.connect();
        await world.advance(0);
        if (type === "goodbye") client.disconnect();
        await world.advance(60_000);
        equal([client.connection.latest.status, world.timers], [rest, 0], `${call} at ${type}`);
        client.close();
        await world.advance(60_000);
      }
    }
  }),

  "C2: a listener that connects at once while the client waits has its attempt's whole time": () => inWorld(async (world) => {
    const client = await world.connected();
    client.connection.subscribe(({ status }) => { if (status === "waiting") client.connect(); });
    world.listens = () => "silence";
    world.socket.drop();
    await world.advance(9_000);
    equal([client.connection.latest.status, world.sockets.length], ["connecting", 2]);
  }),

  "C2: a page that comes back from the back/forward cache connects only what leaving it had disconnected": () => inWorld(async (world) => {
    const leave = async () => {
      for (const type of ["pagehide", "pageshow"]) {
        globalThis.dispatchEvent(new PageTransitionEvent(type, { persisted: true }));
        await world.advance(0);
      }
    };
    const client = await world.connected();
    const end = client.followPage();
    await leave();
    equal([client.connection.latest.status, world.sockets.length], ["connected", 2]);
    client.disconnect();
    await leave();
    equal([client.connection.latest.status, world.sockets.length], ["idle", 2]);
    client.connect();
    await world.advance(0);
    world.socket.end(4104);
    await world.advance(0);
    await leave();
    equal([client.connection.latest.error.code, world.sockets.length], ["replaced", 3]);
    end();
  }),

  "C4: a runtime without WebSocket, and a page that may open none, say what to do": () => inWorld(async (world) => {
    for (const [WebSocket, code, sentence] of [
      [null, "no_websocket", "Node.js has one from version 22"],
      [class { constructor() { throw new DOMException("insecure", "SecurityError"); } }, "invalid_url", "a URL must be"],
    ]) {
      const client = world.client({ url: "ws://one.example" }, WebSocket);
      client.connect();
      await world.advance(0);
      const { status, error } = client.connection.latest;
      equal([status, error.code, error.message.includes(sentence)], ["failed", code, true], error.message);
    }
  }),

  "the wire can be watched": () => inWorld(async (world) => {
    const client = world.client();
    const carried = [];
    client.addEventListener("wire", ({ detail }) => carried.push(Object.keys(detail)[0]));
    client.connect();
    await world.advance(0);
    equal(carried, ["sent", "received"]);
    ok(client instanceof RollcallClient, "a client");
  }),

  "C4: a closed client that is to connect says so, and who closed a connection is said only if it is known": () => inWorld(async (world) => {
    const { warn } = console;
    const warnings = [];
    console.warn = (text) => warnings.push(text);
    try {
      const client = await world.connected();
      for (const [reason, sentence] of [["", "the connection was closed"], ["going", "the worker closed the connection (going)"]]) {
        await world.advance(10_000);
        world.socket.end(1001, reason);
        await world.advance(0);
        equal(client.connection.latest.error.message, sentence);
      }
      client.close();
      client.connect();
      await world.advance(0);
      equal([warnings.length, warnings[0].includes("a closed client does not connect")], [1, true]);
    } finally {
      console.warn = warn;
    }
  }),
};
