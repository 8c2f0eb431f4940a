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

  "C9: a token server says when to ask again, five minutes at most": () => inWorld(async (world) => {
    for (const [retryAfter, pause] of [[30_000, 30_125], [1e12, 300_000], [-5, 125], ["x", 125]]) {
      world.chance = 0;
      const client = await world.connected({ token: () => { throw Object.assign(new Error(), { retryAfter }); } });
      equal(Math.round(client.connection.latest.retryIn), pause);
      await client.close();
    }
  }),

  "C9: the connection shows whose answer it is, and what to correct": () => inWorld(async (world) => {
    const original = { WebSocket: globalThis.WebSocket, fetch: globalThis.fetch };
    world.listens = () => "no";
    const requests = [];
    let answer;
    try {
      const client = world.client({ url: "wss://chat.example" });
      globalThis.WebSocket = client.WebSocketForTests;
      globalThis.fetch = async (url, { mode, credentials, cache, redirect }) => {
        requests.push([url, mode, credentials, cache, redirect].join(" "));
        return new Response(null, answer);
      };
      client.connect();
      const marked = { Rollcall: "1" };
      for (const [status, headers, sentence] of [
        [403, marked, `pages of ${location.origin} may not connect: add it to the worker's edge.origins`],
        [404, marked, "no worker answers at this path; a worker's is /v1/connect"],
        [204, marked, "does a proxy pass Host and Upgrade on"], [429, marked, "too many connections from this address"],
        [503, marked, "the worker has no room"], [404, {}, "no worker answered, but something that answers 404"],
      ]) {
        answer = { status, headers };
        await world.advance(40_000);
        const { error } = client.connection.latest;
        equal([error?.code, error?.message.includes(sentence)], ["unreachable", true], error?.message);
      }
      equal(requests[0], "https://chat.example/v1/connect cors same-origin no-store error");
    } finally {
      Object.assign(globalThis, original);
    }
  }),

  "C9: what a worker answers brings the next attempt forward": () => inWorld(async (world) => {
    const original = { WebSocket: globalThis.WebSocket, fetch: globalThis.fetch };
    let answer = { status: 503, headers: { Rollcall: "1", "Retry-After": "60" } };
    world.listens = () => "no";
    try {
      const client = world.client();
      globalThis.WebSocket = client.WebSocketForTests;
      let reply;
      globalThis.fetch = () => new Promise((resolve) => { reply = () => resolve(new Response(null, answer)); });
      client.connect();
      await world.advance(0);
      // The worker becomes ready between the handshake and the plain request.
      [world.listens, answer] = [() => "yes", { status: 204, headers: { Rollcall: "1" } }];
      reply();
      await world.advance(1);
      equal([client.connection.latest.status, world.sockets.length], ["connected", 2]);
    } finally {
      Object.assign(globalThis, original);
    }
  }),
};
