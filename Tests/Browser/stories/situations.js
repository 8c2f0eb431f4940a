// Plays the table of situations: what the network, the worker and the platform do over time, and what must come out. The
// Swift client plays the same table (SituationTests), which describes the fields of a row.

import { ok, randomNumbers, World } from "./world.js";
import { RollcallError } from "/rollcall.js";

/** Delays WebSockets after failures, as Firefox does: from 0.2 s on, 1.5 times as long each time. */
class LongDelays {
  #delay = 0;
  #failedAt = -Infinity;

  constructor(world) { this.world = world; }

  get left() { return this.#failedAt + this.#delay - this.world.now; }

  failed() {
    this.#delay = this.#delay ? Math.min(this.#delay * 1.5, 60_000) : 200 + 200 * Math.random();
    this.#failedAt = this.world.now;
  }

  opened() { this.#delay = 0; }
}

/** The same as Chromium does: one to five seconds, halved for each of 16 failures that are missing within two minutes. */
class ShortDelays {
  #failures = [];

  constructor(world) { this.world = world; }

  get left() {
    const failures = this.#failures.filter((at) => at > this.world.now - 120_000).length;
    return (1_000 + 4_000 * Math.random()) * 2 ** (Math.min(failures, 16) - 16);
  }

  failed() { this.#failures.push(this.world.now); }
  opened() {}
}

const BROWSERS = {
  delaysLong: ["Gecko/20100101 Firefox/128.0", LongDelays], delaysShort: ["AppleWebKit/537.36 Chrome/140.0 Safari/537.36", ShortDelays],
};

/** Answers a plain request as this situation does, or throws where a page learns nothing. */
function answerTo({ upgrade = "welcome", plain }, signal) {
  const { status, ours, retryAfter } = plain ?? (upgrade === "welcome" || upgrade.close ? { status: 204, ours: true } : upgrade);
  if ((plain ?? upgrade) === "silent") return new Promise((_, reject) => signal.addEventListener("abort", reject));
  if (!status || status === 302) throw new TypeError("nothing that may be read");
  return new Response(null, { status, headers: { ...ours && { Rollcall: "1" }, ...retryAfter && { "Retry-After": retryAfter } } });
}

/** Plays one row, and returns its figures. */
async function play(row, random) {
  const world = new World();
  Object.defineProperty(world, "chance", { get: () => random(1_000_000) / 1_000_000 });
  const original = { WebSocket: globalThis.WebSocket, fetch: globalThis.fetch };
  let [now, isOnline, isHidden] = [{}, true, false];
  world.forbidsThreads = row.threads === false;
  Object.defineProperty(document, "hidden", { get: () => isHidden, configurable: true });
  const requests = [];
  Object.defineProperty(navigator, "onLine", { get: () => isOnline, configurable: true });
  const [userAgent, Delays] = BROWSERS[row.platform] ?? ["another"];
  Object.defineProperty(navigator, "userAgent", { value: userAgent, configurable: true });
  if (Delays) world.delays = new Delays(world);
  world.listens = () => {
    const { upgrade = "welcome" } = now;
    if (upgrade === "silent") return "silence";
    return upgrade === "welcome" || upgrade.close ? "yes" : "no";
  };
  world.script = (message, socket) => {
    if (message.type === "hello" && now.upgrade?.close) {
      const { close, reason } = now.upgrade;
      if (reason) socket.tell({ type: "goodbye", reason, reconnect: true, after: 2_000 });
      socket.end(close);
    }
    else socket.behave(message);
  };
  const tokens = {
    throws: () => { throw new Error("503"); }, nothing: () => undefined, waits: () => new Promise(() => {}),
    signedOut: () => { throw new RollcallError("bad_token", "signed out"); },
  };
  const client = world.client({
    url: row.url ?? "wss://chat.example", device: undefined, token: () => tokens[now.token]?.() ?? (now.token ? undefined : "alice"),
  });
  globalThis.WebSocket = client.WebSocketForTests;
  globalThis.fetch = async (_, { signal }) => {
    requests.push(world.now);
    return answerTo({ ...now, ...row.plain && { plain: row.plain } }, signal);
  };
  const look = (hidden) => {
    isHidden = hidden;
    // A browser delays the timers of a hidden page.
    world.grid = hidden ? 1_000 * (row.grid ?? 0) : 0;
    document.dispatchEvent(new Event("visibilitychange"));
  };
  let stale = 0;
  client.isStale.subscribe((isStale) => { stale += Number(isStale && client.connection.latest.status === "connected"); });
  const tells = {
    hidden: () => look(true), visible: () => look(false), resume: () => document.dispatchEvent(new Event("resume")),
    drain: () => {
      world.socket.tell({ type: "goodbye", reason: "draining", reconnect: true, after: 0 });
      world.socket.end(4000);
    },
    noNetwork: () => { isOnline = false; dispatchEvent(new Event("offline")); },
    network: () => { isOnline = true; dispatchEvent(new Event("online")); },
    background: () => client.setPhase("background"), foreground: () => client.setPhase("active"),
  };
  const tell = (words = []) => { for (const word of words) tells[word](); };
  try {
    if (row.starts !== "new") {
      client.connect();
      await world.advance(30_000);
    }
    const begin = world.now;
    for (const phase of row.phases) {
      now = phase;
      const { upgrade = "welcome" } = phase;
      const socket = world.sockets.at(-1);
      if (upgrade.close) socket?.end(upgrade.close);
      else if (upgrade !== "welcome") socket?.drop();
      await world.advance(0);
      if (phase.slept && !phase.survives) socket.die();
      tell(phase.tells);
      if (row.starts === "new" && phase === row.phases[0]) client.connect();
      await (phase.slept ? world.sleep(1_000 * phase.for) : world.advance(1_000 * phase.for));
    }
    const end = world.now;
    const most = (times) => Math.max(0, ...times.filter((at) => at >= begin)
      .map((at) => times.filter((other) => other >= at && other < at + 60_000).length));
    const tried = world.sockets.map(({ at }) => at);
    // At this moment, an attempt may be under way.
    const { status, error } = client.states.findLast((state) => state.status !== "connecting") ?? client.connection.latest;
    const figures = {
      shows: error ? `${status} ${error.code}` : status, attempts: most(tried.filter((at) => at < end)), requests: most(requests),
      atLast: tried.filter((at) => at >= end - 60_000 && at < end).length,
      reports: client.states.filter((state) => state.status === "failed").length,
    };
    now = {};
    tell(row.then);
    const isBack = () => client.connection.latest.status === "connected" && world.socket.isAlive;
    await world.advance(0);
    const limit = end + 1_000 * (row.back ?? 700);
    while (!isBack() && world.next <= limit) await world.advance(world.next - world.now);
    return { ...figures, stale, back: isBack() ? (world.now - end) / 1_000 : null };
  } finally {
    world.end();
    Object.assign(globalThis, original);
    delete document.hidden;
    delete navigator.onLine;
    delete navigator.userAgent;
  }
}

/** What of the figures is not as the row says. */
function mistakes(row, figures) {
  const most = { requests: row.attempts, ...row };
  return [
    (row.back === null ? figures.back !== null : figures.back === null || figures.back > row.back) && "back",
    ...["shows", "reports", "stale"].map((name) => name in row && figures[name] !== row[name] && name),
    ...["attempts", "atLast", "requests"].map((name) => figures[name] > most[name] && name),
  ].filter(Boolean);
}

export const stories = {
  "C9, C10: a client is back in time, asks as rarely as it may, and shows why, in each situation of the table": async () => {
    const random = randomNumbers();
    const wrong = [];
    const lines = [];
    for (const row of await (await fetch("/situations.json")).json()) {
      const figures = await play(row, random);
      lines.push(`${row.name}: ${JSON.stringify(figures)}`);
      if (mistakes(row, figures).length > 0) wrong.push(`${mistakes(row, figures)}: ${lines.at(-1)}`);
    }
    ok(wrong.length === 0, `seed ${random.seed}\n${wrong.join("\n")}`);
    return lines.join("\n");
  },
};
