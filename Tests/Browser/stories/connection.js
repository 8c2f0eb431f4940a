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

  "C2: it goes on for ever, with pauses that grow to a ceiling, jittered fully": () => inWorld(async (world) => {
    world.listens = () => "no";
    const client = world.client();
    client.connect();
    await world.advance(600_000);
    const pauses = client.states.filter(({ status }) => status === "waiting").map(({ retryIn }) => retryIn);
    equal(pauses.slice(0, 5), [250, 500, 1_000, 1_500, 1_500]);
    ok(pauses.length > 390, `${pauses.length} attempts in ten minutes`);
    world.chance = 0.1;
    await world.advance(2_000);
    equal(client.connection.latest.retryIn, 150);
    world.listens = () => "yes";
    world.chance = 0.5;
    await world.advance(2_000);
    equal(client.connection.latest.status, "connected");
  }),

  "C2: only a connection that lasted resets the pauses": () => inWorld(async (world) => {
    const client = await world.connected();
    const pause = async (held) => {
      await world.advance(held);
      world.socket.drop();
      await world.advance(0);
      const { retryIn } = client.connection.latest;
      await world.advance(2_000);
      return retryIn;
    };
    equal([await pause(0), await pause(0), await pause(0), await pause(6_000)], [250, 250, 250, 250].map((first, n) => n < 3 ? first * 2 ** n : first));
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
    await world.advance(250);
    equal([client.connection.latest.status, new URL(world.socket.url).host], ["connected", "two"]);
  }),

  "C2: a worker that accepts the connection but sends no welcome is abandoned after a while": () => inWorld(async (world) => {
    world.script = () => {};
    const client = await world.connected({ connectTimeout: 5_000 });
    await world.advance(4_999);
    equal(client.connection.latest.status, "connecting");
    await world.advance(1);
    equal([client.connection.latest.status, client.connection.latest.error.code], ["waiting", "unreachable"]);
    await world.advance(250);
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
      await world.advance(1_500);
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

  "C2: a token callback that never answers for a renewal is asked again": () => inWorld(async (world) => {
    const fresh = (minutes) => jwt(1_784_600_000 + 60 * minutes);
    const answers = [];
    const token = () => new Promise((resolve) => answers.push(resolve) === 1 && resolve(fresh(10)));
    world.chance = 0;
    await world.connected({ token });
    // Its time limit, and half of five seconds.
    await world.advance(540_000 + 12_499);
    equal(answers.length, 2);
    await world.advance(1);
    equal(answers.length, 3);
    answers[1](fresh(20));
    await world.advance(1_000);
    equal(world.all("token"), [], "that came too late");
    answers[2](fresh(30));
    await world.advance(1_000);
    equal(world.all("token").map((message) => message.token), [fresh(30)]);
    await world.advance(300_000);
    equal(answers.length, 3, "nobody is asked before that ends");
  }),

  "C2: a token that says when it ends is renewed before": () => inWorld(async (world) => {
    const start = 1_784_600_000;
    let asked = 0;
    const token = async () => {
      asked += 1;
      if (asked === 2) throw new Error("no network");
      return jwt(start + 100 * asked);
    };
    world.chance = 0;
    const client = await world.connected({ token });
    await world.advance(74_999);
    equal(asked, 1);
    await world.advance(1);
    equal([asked, world.all("token").length], [2, 0], "asked for when a quarter is left, and weather");
    await world.advance(18_750);
    equal([asked, world.all("token").map((message) => message.token)], [3, [jwt(start + 300)]]);
    await world.advance(100_000);
    equal([client.connection.latest.status, world.sockets.length, asked], ["connected", 1, 3]);
    const fixed = await world.connected({ token: jwt(start + 1_000) });
    await world.advance(900_000);
    equal([fixed.connection.latest.status, world.kinds().includes("token")], ["connected", false], "one that is always the same is not sent again");
  }),

  "C2: a fresh token is used once the worker has taken it; refused for good, the app is asked for another": () => inWorld(async (world) => {
    const start = 1_784_600_000;
    let [asked, refusals] = [0, 1];
    world.script = (message, socket) => {
      if (message.type !== "token" || refusals-- <= 0) return socket.behave(message);
      socket.tell({ type: "error", id: message.id, code: "bad_request", message: "a rule", retry: false });
    };
    world.chance = 0;
    const client = await world.connected({ token: async () => jwt(start + 100 * (asked += 1)) });
    await world.advance(76_000);
    equal([asked, world.all("token").map(({ token }) => token)], [2, [jwt(start + 200)]]);
    world.socket.drop();
    await world.advance(1_000);
    equal(world.all("hello").map(({ token }) => token), [jwt(start + 100), jwt(start + 100)], "the present one");
    await world.advance(20_000);
    equal([client.connection.latest.status, world.all("token").at(-1).token], ["connected", jwt(start + 300)]);
    world.socket.drop();
    await world.advance(1_000);
    equal(world.all("hello").at(-1).token, jwt(start + 300));
  }),

  "C2: a token whose key no worker has is asked for anew every second time": () => inWorld(async (world) => {
    let asked = 0;
    world.script = (message, socket) => {
      if (message.type !== "hello" || message.token === "token 2") return socket.behave(message);
      socket.tell({ type: "goodbye", reason: "unknown_key", reconnect: true, after: 2_000 });
      socket.end(4002);
    };
    const client = world.client({ token: async () => `token ${asked += 1}` });
    client.connect();
    await world.advance(100);
    const { status, error } = client.connection.latest;
    equal([status, error.code, error.message.includes("unknown_key"), asked], ["waiting", "bad_token", true, 1]);
    await world.advance(2_000);
    equal([client.connection.latest.status, asked], ["waiting", 1]);
    await world.advance(2_000);
    equal([client.connection.latest.status, asked], ["connected", 2]);
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

  "C2: a token callback that never answers is asked again, and a token that comes too late is not used": () => inWorld(async (world) => {
    const answers = [];
    const client = await world.connected({ token: () => new Promise((resolve) => answers.push(resolve)) });
    await world.advance(9_999);
    equal([client.connection.latest.status, answers.length], ["connecting", 1]);
    await world.advance(1);
    equal([client.connection.latest.status, client.connection.latest.error.code], ["waiting", "token_unavailable"]);
    answers[0]("too late");
    await world.advance(250);
    equal([client.connection.latest.status, answers.length, world.sockets.length], ["connecting", 2, 0]);
    globalThis.dispatchEvent(new Event("online"));
    await world.advance(0);
    equal(answers.length, 3, "a network that is back is reason to ask again");
    answers[1]("too late");
    answers[2]("alice");
    await world.advance(0);
    equal([client.connection.latest.status, world.all("hello").map(({ token }) => token)], ["connected", ["alice"]]);
    await world.advance(20_000);
    equal(world.sockets.length, 1);
  }),

  "C4, C10: a refusal is told once, with its code, and only a newer session and an operator end the attempts for good": () => inWorld(async (world) => {
    const codes = {
      4100: "bad_token", 4102: "protocol_error", 4103: "too_many_messages", 4104: "replaced", 4105: "too_many_sessions",
      4106: "sent_away", 4150: "refused",
    };
    for (const [code, name] of Object.entries(codes)) {
      const isFinal = name === "replaced" || name === "sent_away";
      const least = isFinal ? undefined : name === "too_many_sessions" ? 15_000 : 60_000;
      let asked = 0;
      const client = await world.connected({ token: () => `token ${asked += 1}` });
      world.socket.end(Number(code));
      await world.advance(0);
      const { status, error, retryIn } = client.connection.latest;
      equal([status, error.code, error.closeCode, error.retry], ["failed", name, Number(code), false]);
      ok(isFinal ? retryIn === undefined : retryIn >= least && retryIn <= 1.25 * least, `in ${retryIn}`);
      client.networkChanged();
      await world.advance(isFinal ? 3_600_000 : least - 1);
      equal([client.connection.latest.status, asked], ["failed", 1]);
      const told = client.states.length;
      world.script = (message, socket) => message.type === "hello" ? socket.end(Number(code)) : socket.behave(message);
      await world.advance(20_000);
      equal([client.states.length - told, asked], [0, isFinal ? 1 : 2], "without a word, and with a fresh token");
      world.script = (message, socket) => socket.behave(message);
      client.connect();
      await world.advance(0);
      equal(client.connection.latest.status, "connected");
      client.close();
      await world.advance(0);
    }
  }),

  "C4: a goodbye without reconnect ends the attempts, even if its close frame was lost": () => inWorld(async (world) => {
    const client = await world.connected();
    world.socket.tell({ type: "goodbye", reason: "replaced", reconnect: false });
    world.socket.drop();
    await world.advance(60_000);
    equal([client.connection.latest.status, client.connection.latest.error.code], ["failed", "replaced"]);
  }),

  "C4: a goodbye ends with its connection": () => inWorld(async (world) => {
    const client = await world.connected();
    world.socket.tell({ type: "goodbye", reason: "replaced", reconnect: false });
    client.disconnect();
    client.connect();
    await world.advance(0);
    equal(client.connection.latest.status, "connected");
    world.socket.drop();
    await world.advance(2_000);
    equal([client.connection.latest.status, world.sockets.length], ["connected", 3]);
  }),

  "C4: a URL that is none is a mistake; a path is one of the page's own host": () => inWorld(async (world) => {
    for (const url of ["http://example.com", "ws://", "nonsense", [], ["ws://a", "http://b"], "ws://me:secret@a"]) {
      const client = world.client({ url });
      client.connect();
      await world.advance(0);
      equal([client.connection.latest.status, client.connection.latest.error.code], ["failed", "invalid_url"], `${url}`);
    }
    await world.connected({ url: "/v1/connect" });
    equal(world.socket.url, `ws://${location.host}/v1/connect`);
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
};
