// Names of devices, and what a client spares token servers and workers that are ill.

import { equal, inWorld, ok } from "./world.js";

export const stories = {
  "C8: without a name each client draws one and keeps it, and a token that names a device is left to do so": () => inWorld(async (world) => {
    const claims = btoa(JSON.stringify({ sub: "alice", device: "kiosk" }));
    for (const token of ["alice", "alice", `e30.${claims}.c2ln`]) {
      await world.connected({ device: undefined, token });
      world.socket.drop();
      await world.advance(2_000);
    }
    const [one, again, other, otherAgain, ...kiosk] = world.all("hello").map(({ device }) => device);
    ok(/^web-[a-z0-9]+$/.test(one) && one === again && other === otherAgain && one !== other, `${one} ${again} ${other}`);
    equal(kiosk, [undefined, undefined]);
  }),

  "C9: a token server that fails, and a worker without room, get pauses of at least half a limit that grows to 15 s": () => inWorld(async (world) => {
    for (const chance of [0, 0.999999]) {
      world.chance = chance;
      let asked = [];
      const client = await world.connected({ token: () => { asked.push(world.now); throw new Error("503"); } });
      await world.advance(120_000);
      await client.close();
      const pauses = asked.slice(1).map((at, index) => Math.round(at - asked[index]));
      const limits = [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000];
      equal(pauses.slice(0, 8), limits.map((limit) => chance === 0 ? limit / 2 : limit));
    }
    world.script = (message, socket) => socket.end(4002);
    const before = world.sockets.length;
    world.chance = 0;
    await world.connected();
    await world.advance(30_000);
    ok(world.sockets.length - before <= 10, `${world.sockets.length - before} attempts in 30 s`);
  }),

  "C9: a token server says when to ask again, five minutes at most": () => inWorld(async (world) => {
    for (const [retryAfter, pause] of [[30_000, 30_125], [1e12, 300_000], [-5, 125], ["x", 125]]) {
      world.chance = 0;
      const client = await world.connected({ token: () => { throw Object.assign(new Error(), { retryAfter }); } });
      equal(Math.round(client.connection.latest.retryIn), pause);
      await client.close();
    }
  }),

  "C9: while no worker answers, the page asks over HTTP, and opens a WebSocket once somebody does, or after a while": () => inWorld(async (world) => {
    const original = { WebSocket: globalThis.WebSocket, fetch: globalThis.fetch };
    const probes = [];
    let answer = () => { throw new TypeError("nobody"); };
    world.listens = () => "no";
    try {
      const client = world.client();
      globalThis.WebSocket = client.WebSocketForTests;
      globalThis.fetch = async (url, { mode, credentials, cache }) => {
        probes.push([url, mode, credentials, cache].join(" "));
        return { status: answer() };
      };
      client.connect();
      await world.advance(9_000);
      equal(world.sockets.length, 1);
      equal(probes[0], "http://one.example/v1/connect cors omit no-store");
      ok(probes.length >= 6, `${probes.length} probes`);
      await world.advance(3_000);
      equal(world.sockets.length, 2, "a policy of the page may forbid probes");
      await world.advance(18_000);
      equal(world.sockets.length, 2, "then twice as long");
      await world.advance(5_000);
      equal(world.sockets.length, 3);
      for (const [status, sentence] of [[403, `pages of ${location.origin} may not`], [404, "no worker answers at this path"]]) {
        answer = () => status;
        await world.advance(2_000);
        const { status: state, error } = client.connection.latest;
        equal([state, error.code, error.message.includes(sentence)], ["waiting", "unreachable", true], error.message);
      }
      answer = () => 503;
      await world.advance(9_000);
      equal(world.sockets.length, 3, "a proxy answered");
      answer = () => 426;
      world.listens = () => "yes";
      await world.advance(2_000);
      equal([client.connection.latest.status, world.sockets.length], ["connected", 4]);
    } finally {
      Object.assign(globalThis, original);
    }
  }),
};
