// Rollcall for browsers: who is here and who is typing, over one WebSocket.
//
//     const client = new RollcallClient({ url: "wss://example.org/v1/connect", token: () => fetchToken(), device: "web" });
//     client.watch(["bob"], (presence) => dot.dataset.status = presence.status);
//     const room = client.join("c42", (typing) => line.textContent = typingText(typing.users, typing));
//     field.addEventListener("input", () => room.input.edit(field.value));
//     client.connect();
//
// Nothing is thrown for weather: while the network is away the last known state stays, typing runs out by itself, and
// the client comes back and catches up alone.

import { TypingInput } from "./typing-input.js";

export { TypingInput };
export { lastSeenText, typingText } from "./texts.js";

const FIRST_BACKOFF = 250;
const LONGEST_BACKOFF = 15_000;
const PONG_PATIENCE = 5_000;
const INVITATION_PATIENCE = 2_000;
const LONGEST_TYPING = 10_000;
const DEFAULT_TIMES = { ping: 10_000, typing: { expiry: 3_000, throttle: 1_000 } };

/** An answer that said no. `code` is stable; `retry` says whether the same request may succeed later. */
export class RollcallError extends Error {
  constructor({ code, message, retry = false }) {
    super(message);
    this.code = code;
    this.retry = retry;
  }
}

/**
 * A device's connection. Events: `connection` (read `connection`, `worker`, `reason`), `removed` and `wire`, whose
 * `detail` is the conversation, or `{ sent | received: text }`.
 */
export class RollcallClient extends EventTarget {
  /** One of `closed`, `connecting`, `open`, `waiting` (for the next attempt). */
  connection = "closed";
  /** What the worker said of itself and its limits; null until welcomed. */
  welcome = null;
  /** Why the connection ended for good, or null. */
  reason = null;

  #urls;
  /** Where a worker sent this device: tried once, before the URLs. */
  #invitation = null;
  #token;
  #device;
  #state;
  #socket = null;
  #failures = 0;
  #retry = null;
  #farewell = null;
  #lastHeard = 0;
  #heartbeat = null;
  #clockOffset = 0;
  #nextID = 1;
  #answers = new Map();
  #watched = new Map();
  #rooms = new Map();

  /**
   * @param {object} options
   * @param {string | string[]} options.url where to connect; of several, a failed attempt moves on to the next
   * @param {string | (() => string | Promise<string>)} options.token asked for at each connection if a function
   * @param {string} [options.device] the device's name, unless the token has it
   * @param {"active" | "idle" | "background"} [options.state]
   */
  constructor({ url, token, device, state = "active" }) {
    super();
    this.#urls = [url].flat();
    this.#token = typeof token === "function" ? token : () => token;
    this.#device = device;
    this.#state = state;
    globalThis.addEventListener?.("online", () => this.#hurry());
  }

  get worker() { return this.welcome?.worker ?? null; }
  get device() { return this.welcome?.device ?? this.#device; }
  /** The time now by the server's clock, in milliseconds; right also where this device's clock is wrong. */
  get now() { return Date.now() + this.#clockOffset; }

  get state() { return this.#state; }
  set state(state) {
    if (state === this.#state) return;
    this.#state = state;
    for (const room of this.#rooms.values()) if (state === "background") room.input.stop();
    this.#say({ type: "state", state });
  }

  connect() {
    if (this.connection !== "closed") return;
    this.reason = null;
    this.#failures = 0;
    this.#open();
  }

  /** Signs out: the device is gone for everybody at once. */
  close() {
    for (const room of this.#rooms.values()) room.input.stop();
    this.#say({ type: "goodbye" });
    this.#end("signed out");
  }

  /** Lets the connection go without a goodbye, as a lost network does. The worker keeps the device for its grace. */
  abandon() {
    this.#end("abandoned");
  }

  /**
   * Calls `changed` with the presence of each of these users, now and at each change.
   * @returns {() => void} what ends it
   */
  watch(users, changed) {
    const added = users.filter((user) => !this.#watched.has(user));
    for (const user of added) this.#watched.set(user, { presence: null, observers: new Set() });
    for (const user of users) {
      const { presence, observers } = this.#watched.get(user);
      observers.add(changed);
      if (presence) changed(presence);
    }
    if (added.length) this.#say({ type: "watch", users: added });
    return () => this.#unwatch(users, changed);
  }

  /** Calls `changed` with `{ conversation, users, count }` of those who type there, now and at each change. */
  join(conversation, changed) {
    let room = this.#rooms.get(conversation);
    if (!room) {
      room = new Room(conversation, this);
      this.#rooms.set(conversation, room);
      this.#say({ type: "join", conversation });
    }
    room.observers.add(changed);
    changed(room.typing);
    return {
      input: room.input,
      leave: () => {
        room.observers.delete(changed);
        if (room.observers.size === 0) this.#leave(room);
      },
    };
  }

  /** The presence of these users once. Rejects with a RollcallError. */
  get(users) {
    return this.request({ type: "get", users }).then((answer) => answer.users);
  }

  /** Sends a message and waits for its answer. Rejects with a RollcallError, `unavailable` if the connection ends. */
  request(message) {
    return new Promise((resolve, reject) => {
      if (this.connection !== "open") return reject(notConnected());
      const id = this.#nextID++;
      this.#answers.set(id, { resolve, reject });
      this.#say({ ...message, id });
    });
  }

  /** @internal for a typing input: dropped while disconnected; a stop resolves once the worker has published it. */
  signal(conversation, typing) {
    const message = { type: "typing", conversation, typing };
    if (typing) return this.#say(message);
    return this.request(message).catch(() => {});
  }

  get typingTimes() { return (this.welcome ?? DEFAULT_TIMES).typing; }

  #unwatch(users, changed) {
    const ended = users.filter((user) => {
      const watched = this.#watched.get(user);
      watched?.observers.delete(changed);
      return watched?.observers.size === 0 && this.#watched.delete(user);
    });
    if (ended.length) this.#say({ type: "unwatch", users: ended });
  }

  #leave(room) {
    if (this.#rooms.get(room.conversation) !== room) return;
    room.end();
    this.#rooms.delete(room.conversation);
    this.#say({ type: "leave", conversation: room.conversation });
  }

  async #open() {
    this.#farewell = null;
    this.#become("connecting");
    let token;
    try {
      token = await this.#token();
    } catch {
      return this.#again();
    }
    if (this.connection !== "connecting") return;
    const socket = new WebSocket(this.#invitation ?? this.#urls[0]);
    this.#socket = socket;
    // Whatever an abandoned socket still says is nobody's business.
    const current = (handle) => (event) => { if (this.#socket === socket) handle(event); };
    const tooLate = current(() => { if (this.connection === "connecting") this.#again(); });
    if (this.#invitation) setTimeout(tooLate, INVITATION_PATIENCE);
    socket.addEventListener("open", current(() => {
      this.#say({ type: "hello", token, device: this.#device, state: this.#state });
    }));
    socket.addEventListener("message", current((event) => this.#received(event.data)));
    socket.addEventListener("close", current((event) => this.#closed(event)));
  }

  #received(text) {
    this.#lastHeard = performance.now();
    this.#wire({ received: text });
    const message = JSON.parse(text);
    switch (message.type) {
      case "welcome": this.#welcomed(message); break;
      case "presence": this.#present(message); break;
      case "typing": this.#rooms.get(message.conversation)?.received(message); break;
      case "removed": this.#removed(message.conversation); break;
      case "goodbye": this.#farewell = message; break;
      case "ack":
      case "error": this.#answered(message); break;
    }
  }

  #welcomed(welcome) {
    this.welcome = welcome;
    this.#invitation = null;
    this.#clockOffset = welcome.time - Date.now();
    this.#failures = 0;
    this.#heartbeat = setInterval(() => this.#listen(), welcome.ping);
    this.#become("open");
    if (this.#watched.size) this.#say({ type: "watch", users: [...this.#watched.keys()] });
    for (const room of this.#rooms.values()) {
      this.#say({ type: "join", conversation: room.conversation });
      room.input.reconnected();
    }
  }

  #present(message) {
    if (message.id !== undefined) return this.#answered(message);
    for (const presence of message.users) {
      const watched = this.#watched.get(presence.user);
      if (!watched) continue;
      watched.presence = presence;
      for (const observer of watched.observers) observer(presence);
    }
  }

  #answered(message) {
    const answer = this.#answers.get(message.id);
    this.#answers.delete(message.id);
    if (message.type === "error") answer?.reject(new RollcallError(message));
    else answer?.resolve(message);
  }

  #removed(conversation) {
    this.#rooms.get(conversation)?.end();
    this.#rooms.delete(conversation);
    this.dispatchEvent(new CustomEvent("removed", { detail: conversation }));
  }

  /** Notices a dead path: browsers hide WebSocket's pings, so silence is asked about. */
  #listen() {
    const silence = performance.now() - this.#lastHeard;
    if (silence < 2 * this.welcome.ping) return;
    if (silence > 2 * this.welcome.ping + PONG_PATIENCE) return this.#again();
    this.#say({ type: "ping" });
  }

  #closed({ code }) {
    const farewell = this.#farewell;
    // A token that was good at the hello has run out: the next attempt asks for a fresh one.
    const fixable = code === 4101 && this.connection === "open";
    const isFinal = code >= 4100 && code < 4200 || farewell?.reconnect === false;
    if (isFinal && !fixable) return this.#end(farewell?.reason ?? `closed with ${code}`);
    if (this.connection === "open" && this.#mayFollow(farewell?.to)) this.#invitation = farewell.to;
    this.#again(farewell?.after);
  }

  /** Never from an encrypted connection to one that is not: the token goes along. */
  #mayFollow(url) {
    return url?.startsWith("wss:") || url?.startsWith("ws:") && this.#urls[0].startsWith("ws:");
  }

  /** Comes back after `delay`, else after a backoff with full jitter. */
  #again(delay) {
    const neverOpened = this.connection === "connecting";
    this.#drop();
    if (neverOpened && this.#invitation) delay = 0;
    else if (neverOpened) this.#urls.push(this.#urls.shift());
    if (neverOpened) this.#invitation = null;
    const backoff = Math.min(FIRST_BACKOFF * 2 ** this.#failures++, LONGEST_BACKOFF);
    this.#retry = setTimeout(() => this.#open(), delay ?? Math.random() * backoff);
    this.#become("waiting");
  }

  #hurry() {
    if (this.connection !== "waiting") return;
    clearTimeout(this.#retry);
    this.#open();
  }

  #end(reason) {
    this.#drop();
    clearTimeout(this.#retry);
    this.reason = reason;
    this.#become("closed");
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    clearInterval(this.#heartbeat);
    for (const { reject } of this.#answers.values()) reject(notConnected());
    this.#answers.clear();
  }

  /** What is not said now is said again in other words on the next `welcome`. */
  #say(message) {
    const early = message.type !== "hello" && this.connection !== "open";
    if (early || this.#socket?.readyState !== WebSocket.OPEN) return;
    const text = JSON.stringify(message);
    this.#socket.send(text);
    this.#wire({ sent: text });
  }

  #become(connection) {
    this.connection = connection;
    this.dispatchEvent(new Event("connection"));
  }

  #wire(detail) {
    this.dispatchEvent(new CustomEvent("wire", { detail }));
  }
}

/** A conversation that was joined: who types there, with a deadline of its own against a worker that falls silent. */
class Room {
  observers = new Set();
  #client;
  #deadline = null;

  constructor(conversation, client) {
    this.conversation = conversation;
    this.#client = client;
    this.typing = { conversation, users: [], count: 0 };
    this.input = new TypingInput(conversation, client);
  }

  received({ users, count }) {
    clearTimeout(this.#deadline);
    const patience = Math.min(this.#client.typingTimes.expiry + 2_000, LONGEST_TYPING);
    if (count > 0) this.#deadline = setTimeout(() => this.#show([], 0), patience);
    this.#show(users, count);
  }

  end() {
    clearTimeout(this.#deadline);
    this.input.stop();
    this.#show([], 0);
  }

  #show(users, count) {
    this.typing = { conversation: this.conversation, users, count };
    for (const observer of this.observers) observer(this.typing);
  }
}

function notConnected() {
  return new RollcallError({ code: "unavailable", message: "not connected", retry: true });
}
