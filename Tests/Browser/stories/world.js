// The test environment of the stories: a clock that the test advances, and a scripted worker. The module under test is
// the one that pages load; only the clock, random numbers and the WebSocket are replaced.

import { RollcallClient } from "/rollcall.js";
import { FakeSocket } from "/testing.js";

const real = {
  Worker: globalThis.Worker, setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, random: Math.random, date: Date.now,
};

/** Runs everything that is due now: promises, and what follows from them. */
export function settled() {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); resolve(); };
    port2.postMessage(null);
  });
}

export class World {
  now = 0;
  /** Every message that a client sent: `{ at, socket, ...message }`. */
  said = [];
  sockets = [];
  #clients = [];
  /** The random numbers: always the maximum. */
  chance = 0.999999;
  /** Whether handshakes are answered: "yes", "no" (refused), "silence". */
  listens = () => "yes";
  /** What the worker does with each message. */
  script = (message, socket) => socket.behave(message);
  limits = { watched_users: 2000, joined_conversations: 500, message_bytes: 65536, message_rate: 50, message_burst: 200 };
  expiry = 3_000;
  ping = 10_000;
  reconnect = 1_500;
  coalesce = 500;
  watch = "*";
  /** The page's timers ring at multiples of this, as in a hidden page; those of its threads do not. */
  grid = 0;
  /** Whether the page's policy forbids threads, and how many it has begun. */
  forbidsThreads = false;
  threads = 0;
  /** A browser that delays WebSockets after failures. */
  delays = null;
  /** By how much the clock of the worker's Redis was set. */
  clockSet = 0;
  #timers = new Map();
  #lastTimer = 0;

  constructor() {
    globalThis.setTimeout = (ring, delay = 0) => {
      const due = this.now + Math.max(0, delay);
      return this.#timer(() => this.grid ? Math.ceil(due / this.grid) * this.grid : due, ring);
    };
    const world = this;
    globalThis.Worker = class {
      onmessage = null;
      onerror = null;
      #ringing;

      constructor() {
        world.threads += 1;
        if (world.forbidsThreads) queueMicrotask(() => this.onerror?.(new Event("error")));
      }

      postMessage(delay) {
        this.terminate();
        const due = world.now + delay;
        if (!world.forbidsThreads) this.#ringing = world.#timer(() => due, () => this.onmessage?.({ data: null }));
      }

      terminate() { clearTimeout(this.#ringing); }
    };
    globalThis.clearTimeout = (timer) => this.#timers.delete(timer);
    performance.now = () => this.now;
    Date.now = () => 1_000_000 + this.now;
    Math.random = () => this.chance;
  }

  /** Closes its clients; otherwise, they would set timers in the next test's environment. */
  end() {
    for (const client of this.#clients) client.close();
    Object.assign(globalThis, { setTimeout: real.setTimeout, clearTimeout: real.clearTimeout, Worker: real.Worker });
    delete performance.now;
    Math.random = real.random;
    Date.now = real.date;
  }

  /** @param due returns when it rings */
  #timer(due, ring) {
    this.#lastTimer += 1;
    this.#timers.set(this.#lastTimer, { get at() { return due(); }, ring });
    return this.#lastTimer;
  }

  get timers() { return this.#timers.size; }
  /** When the next of them rings. */
  get next() { return Math.min(...[...this.#timers.values()].map(({ at }) => at)); }

  /** The worker's time. */
  get time() { return 1_784_600_000_000 + this.now + this.clockSet; }

  /** Advances the time, timer by timer. Fails for a client that sets timers endlessly while no time passes. */
  async advance(duration) {
    const end = this.now + duration;
    await settled();
    for (let rung = 0, at = this.now; ; rung += 1) {
      if (this.now > at) [rung, at] = [0, this.now];
      if (rung > 1_000) throw new Error(`timers ring without end at ${this.now}`);
      const due = [...this.#timers].filter(([, { at }]) => at <= end).sort(([, one], [, other]) => one.at - other.at)[0];
      if (!due) break;
      this.#timers.delete(due[0]);
      this.now = Math.max(this.now, due[1].at);
      due[1].ring();
      await settled();
    }
    this.now = end;
  }

  /** Time passes while nothing runs, as with a closed laptop or a suspended tab. */
  async sleep(duration) {
    this.now += duration;
    await this.advance(0);
  }

  client(options = {}, WebSocket = undefined) {
    const world = this;
    const WebSocketForTests = class extends Socket { constructor(url) { super(url, world); } };
    const client = Object.assign(new RollcallClient({
      url: "ws://one.example", device: "web", token: "alice", ...options,
      WebSocket: WebSocket === undefined ? WebSocketForTests : WebSocket,
    }), { WebSocketForTests });
    this.#clients.push(client);
    client.states = [];
    client.connection.subscribe((state) => client.states.push(state));
    return client;
  }

  async connected(options) {
    const client = this.client(options);
    client.connect();
    await this.advance(0);
    return client;
  }

  // The worker of the sockets.

  connecting(socket) {
    socket.at = this.now;
    // Not to be compared.
    Object.defineProperty(socket, "world", { value: this });
    this.sockets.push(socket);
    const held = this.delays?.left ?? 0;
    if (held > 0) setTimeout(() => this.#answer(socket), held);
    else this.#answer(socket);
  }

  #answer(socket) {
    const answer = socket.readyState === 0 ? this.listens(socket.url) : "silence";
    if (answer === "silence") return;
    if (answer === "no") this.delays?.failed();
    queueMicrotask(() => {
      if (answer === "no") return socket.drop();
      if (socket.readyState === 0) this.delays?.opened();
      socket.open();
    });
  }

  sent(socket, message) { this.said.push({ at: this.now, socket, ...message }); }
  received(socket, message) { this.script(message, socket); }

  /** The newest connection. */
  get socket() { return this.sockets.at(-1); }

  /** The typing messages of a conversation, as "TIME STATE". */
  typed(conversation = "c42") {
    return this.said.filter((message) => message.type === "typing" && message.conversation === conversation)
      .map(({ at, typing }) => `${at} ${typing ? "typing" : "stopped"}`);
  }

  kinds(socket = this.socket) { return this.said.filter((message) => message.socket === socket).map(({ type }) => type); }
  all(type) { return this.said.filter((message) => message.type === type); }
}

/** A WebSocket that is connected to the scripted worker. */
class Socket extends FakeSocket {
  tellTyping(conversation, ...users) {
    this.tell({ type: "typing", conversation, users: users.map((user) => ({ user })), count: users.length });
  }

  tellPresence(user, status, more = {}) { this.tell({ type: "presence", users: [presence(user, status)], ...more }); }

  /** What any worker does. */
  behave({ type, id, conversation, users }) {
    const { limits, expiry, ping, time, reconnect, coalesce, watch } = this.world;
    switch (type) {
      case "hello":
        this.tell({
          type: "welcome", user: "alice", device: "web", session: "s1", worker: "w1.abc", time, ping,
          typing: { expiry, throttle: 1_000 }, limits, reconnect, presence: { coalesce }, watch,
        });
        break;
      case "join": this.tellTyping(conversation); break;
      case "watch": this.tell({ type: "presence", users: users.map((user) => presence(user, "offline")) }); break;
      case "get": this.tell({ type: "presence", id, users: users.map((user) => presence(user, "away")) }); break;
      case "ping": this.tell({ type: "pong", time }); break;
      case "goodbye": this.end(1000); break;
    }
    if (id !== undefined) this.tell({ type: "ack", id });
  }
}

/** Runs a story in a new environment. */
export async function inWorld(story) {
  const world = new World();
  try {
    await story(world);
  } finally {
    world.end();
  }
}

/** Runs a story in a new environment whose client is connected. */
export async function connected(story, options) {
  const world = new World();
  try {
    await story(world, await world.connected(options));
  } finally {
    world.end();
  }
}

export function presence(user, status) {
  return { user, status, last_seen: 1_784_599_990_000, updated_at: 1_784_599_990_000, version: 1_784_599_990_000 };
}

/** Collects what an observer sees, in order, with a function that ends it. */
export function seen(updates, options) {
  const values = [];
  const end = updates.subscribe((value) => values.push(value), options);
  return Object.assign(values, { end });
}

/** Runs code that causes errors of the application, and returns their messages without reporting them to the page. */
export async function mistakesOf(story) {
  const mistakes = [];
  const noted = (event) => { mistakes.push(event.message); event.preventDefault(); event.stopImmediatePropagation(); };
  globalThis.addEventListener("error", noted, { capture: true });
  try {
    await story(mistakes);
  } finally {
    globalThis.removeEventListener("error", noted, { capture: true });
  }
  return mistakes;
}

/** Returns whole numbers below another, from a seed that is in the page's address or new. */
export function randomNumbers() {
  const seed = Number(new URLSearchParams(globalThis.location?.search).get("seed") ?? crypto.getRandomValues(new Uint32Array(1))[0]);
  let state = seed;
  return Object.assign((below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  }, { seed });
}

export function equal(actual, expected, because = "") {
  const [left, right] = [actual, expected].map((value) => JSON.stringify(value));
  if (left !== right) throw new Error(`${because}\n   got ${left}\nwanted ${right}`);
}

export function ok(condition, because) { if (!condition) throw new Error(because); }

export function throws(body, code) {
  try {
    body();
  } catch (error) {
    if (code) equal(error.code, code);
    return error;
  }
  throw new Error("nothing was thrown");
}
