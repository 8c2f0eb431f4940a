// A worker for tests of apps and for previews: its clients are real, but there is no network and no Redis. `testing.d.ts`
// documents it. Time is that of the program, so the fake timers of a test framework move it.

import { RollcallClient } from "./client.js";
import { SECOND, soon } from "./messages.js";

/**
 * A WebSocket to a worker in the same program, which has `connecting(socket)`, `received(socket, message)` and, at will,
 * `sent(socket, message)` and `ended(socket)`.
 */
export class FakeSocket {
  readyState = 0;
  #worker;
  #isDead = false;
  #listeners = [];

  constructor(url, worker) {
    this.url = url;
    this.#worker = worker;
    worker.connecting(this);
  }

  addEventListener(type, listener) { this.#listeners.push([type, listener]); }
  removeEventListener(type, listener) {
    this.#listeners = this.#listeners.filter((each) => each[0] !== type || each[1] !== listener);
  }
  dispatchEvent(event) { for (const [type, listener] of this.#listeners) if (type === event.type) listener(event); }

  get isAlive() { return this.readyState === 1 && !this.#isDead; }

  /** The worker accepts the connection. */
  open() {
    if (this.readyState !== 0) return;
    this.readyState = 1;
    this.dispatchEvent({ type: "open" });
  }

  send(text) {
    if (this.readyState !== 1) throw new Error("sent on a socket that is not open");
    const message = JSON.parse(text);
    this.#worker.sent?.(this, message);
    soon(() => this.readyState !== 3 && !this.#isDead && this.#worker.received(this, message));
  }

  /** Passes a message to the client. */
  tell(message) {
    if (this.isAlive) this.dispatchEvent({ type: "message", data: typeof message === "string" ? message : JSON.stringify(message) });
  }

  /** What was sent before still arrives. */
  close(code = 1000) {
    if (this.readyState > 1) return;
    this.readyState = 2;
    soon(() => this.end(code));
  }

  /** Ends the connection with a close code; 1006 means without a close frame. */
  end(code, reason = "") {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.#worker.ended?.(this);
    soon(() => this.dispatchEvent({ type: "close", code, reason }));
  }

  drop() { this.end(1006); }

  /** Nothing arrives from now on, and neither end notices. */
  die() { this.#isDead = true; }
}

export class FakeWorker {
  /** How long typing lasts after a signal, a device after its connection, and how often a set that lasts is repeated. */
  static EXPIRY = 3 * SECOND;
  static GRACE = 5 * SECOND;
  static REPEAT = 2 * SECOND;
  static LIMITS = {
    watched_users: 2000, joined_conversations: 500, message_bytes: 65_536, message_rate: 50, message_burst: 200,
  };

  #heard = [];
  #isReachable = true;
  #isAvailable = true;
  #version = 0;
  #sockets = new Set();
  /** What the client of a socket has said. */
  #sessions = new Map();
  /** The state of each device, by user, and what is shown of the user. */
  #devices = new Map();
  #presences = new Map();
  /** By conversation and user: `{ kind, name, ends }`, with the timer of each device. */
  #typing = new Map();
  #repeats = new Map();
  #members = new Map();
  /** What users have decided, by their names in messages. */
  #persons = new Map();
  /** By conversation and user: `{ name, since, devices }`, where each device has its data, the one that sent it last at the end. */
  #here = new Map();

  get messages() { return [...this.#heard]; }

  client(user, options = {}) {
    const worker = this;
    return new RollcallClient({
      url: "ws://worker.test", token: user, ...options,
      WebSocket: /** @type {any} */ (class extends FakeSocket {
        constructor(url) {
          super(url, worker);
          this.user = user;
        }
      }),
    });
  }

  person(user, { name = undefined } = {}) {
    const become = (state, lastSeen = Date.now()) => this.#changed(user, "person", state, lastSeen);
    return {
      user, types: (conversation, kind = "typing") => this.#typed(user, "person", conversation, kind, name),
      enters: (conversation, data = undefined) => this.#entered(user, "person", conversation, { name, data }),
      exits: (conversation) => this.#exited(user, "person", conversation),
      stops: (conversation) => this.#typed(user, "person", conversation, null),
      comes: () => become("active"), idles: () => become("idle"), goes: () => become(null),
      wasSeen: (ago) => become(null, Date.now() - ago),
    };
  }

  // MARK: Connections

  drops() { for (const socket of [...this.#sockets]) socket.drop(); }
  closes(code, reason = "") { for (const socket of [...this.#sockets]) socket.end(code, reason); }
  goesAway() {
    this.#isReachable = false;
    this.drops();
  }
  comesBack() { this.#isReachable = true; }
  becomesUnavailable() { this.#isAvailable = false; }
  becomesAvailable() { this.#isAvailable = true; }

  connecting(socket) {
    this.#sockets.add(socket);
    soon(() => this.#isReachable ? socket.open() : socket.drop());
  }

  ended(socket) {
    this.#sockets.delete(socket);
    const session = this.#sessions.get(socket);
    this.#sessions.delete(socket);
    if (!session) return;
    const { user, device, joined } = session;
    for (const conversation of joined.keys()) this.#typed(user, device, conversation, null);
    const lost = Date.now();
    const isBack = () => [...this.#sessions.values()].some((each) => each.user === user && each.device === device);
    later(() => {
      if (isBack()) return;
      this.#changed(user, device, null, lost);
      for (const conversation of this.#here.keys()) this.#exited(user, device, conversation);
    }, session.isOver ? 0 : FakeWorker.GRACE);
  }

  // MARK: Messages

  received(socket, message) {
    const { user } = socket;
    this.#heard.push({ user, ...message });
    const session = this.#sessions.get(socket);
    const { type, id, conversation, users } = message;
    const needsRedis = ["person", "join", "enter", "watch", "get", "typing"].includes(type);
    if (needsRedis && !this.#isAvailable) {
      return socket.tell({ type: "error", id, code: "unavailable", message: "Redis is away", retry: true });
    }
    switch (type) {
      case "hello": this.#greet(socket, message); break;
      case "state":
        session.state = message.state;
        this.#changed(user, session.device, message.state);
        break;
      case "watch":
        for (const each of users) session.watched.add(each);
        this.#tellPresence(socket, users);
        break;
      case "unwatch": for (const each of users) session.watched.delete(each); break;
      case "get": this.#tellPresence(socket, users, id); break;
      case "join":
        if (this.#members.get(conversation)?.has(user) === false) {
          return socket.tell({ type: "error", id, code: "not_a_member", message: `${user} is not a member`, retry: false });
        }
        session.joined.set(conversation, message.presence ?? session.joined.get(conversation) ?? false);
        this.#tellTyping(socket, conversation);
        this.#tellMembers(socket, conversation);
        session.follows[message.here ? "add" : "delete"](conversation);
        if (message.here) this.#tellHere(socket, conversation);
        break;
      case "enter":
        if (!session.joined.has(conversation)) {
          return socket.tell({ type: "error", id, code: "not_joined", message: "join the conversation first", retry: false });
        }
        this.#entered(user, session.device, conversation, message);
        break;
      case "exit": this.#exited(user, session.device, conversation); break;
      case "leave":
        session.joined.delete(conversation);
        session.follows.delete(conversation);
        this.#exited(user, session.device, conversation);
        this.#typed(user, session.device, conversation, null);
        break;
      case "typing":
        this.#typed(user, session.device, conversation, message.typing ? message.kind ?? "typing" : null, undefined, FakeWorker.EXPIRY);
        break;
      case "person": this.#personSet(user, message); break;
      case "ping": socket.tell({ type: "pong", time: Date.now() }); break;
      case "goodbye":
        session.isOver = true;
        socket.end(1000);
    }
    if (id !== undefined) socket.tell({ type: "ack", id });
  }

  #greet(socket, { device = "device", state = "active" }) {
    const { user } = socket;
    this.#sessions.set(socket, { user, device, state, watched: new Set(), joined: new Map(), follows: new Set(), isOver: false });
    socket.tell({
      type: "welcome", user, device, session: `s${this.#heard.length}`, worker: "fake", time: Date.now(), ping: 10 * SECOND,
      typing: { expiry: FakeWorker.EXPIRY, throttle: SECOND }, limits: FakeWorker.LIMITS, watch: "*",
    });
    if (this.#persons.has(user)) socket.tell({ ...this.#persons.get(user), type: "person" });
    this.#changed(user, device, state);
  }

  // MARK: Presence

  status(user) { return this.#presence(user).status; }

  /** As others see it, who have all blocked nobody. */
  #presence(user) {
    const { presence, last_seen, availability, text, emoji, until } = this.#persons.get(user) ?? {};
    const [has, lasts] = [this.#presences.get(user), !(until <= Date.now())];
    if (!has || presence === "nobody" || availability === "invisible" && lasts) {
      return { user, status: "offline", last_seen: null, updated_at: null, version: 0 };
    }
    return { ...has, ...lasts && { availability, text, emoji, until }, ...last_seen === "nobody" && { last_seen: null, updated_at: null, version: 1 } };
  }

  #personSet(user, { type, id, for: lasting, ...change }) {
    const person = { ...this.#persons.get(user), ...change, ...lasting !== undefined && { until: Date.now() + lasting } };
    for (const [key, value] of Object.entries(person)) if (value === null) delete person[key];
    this.#persons.set(user, { ...person, revision: (person.revision ?? 0) + 1 });
    for (const socket of this.#sessions.keys()) if (socket.user === user) socket.tell({ ...this.#persons.get(user), type: "person" });
    this.#shown(user);
  }

  #shown(user) {
    for (const [socket, session] of this.#sessions) {
      const isMember = [...session.joined].some(([conversation, asks]) => asks && this.#members.get(conversation)?.has(user));
      if (session.watched.has(user) || isMember) this.#tellPresence(socket, [user]);
    }
  }

  /** @param state null for a device that is gone */
  #changed(user, device, state, lastSeen = Date.now()) {
    const devices = this.#devices.get(user) ?? new Map();
    this.#devices.set(user, devices.set(device, state));
    const states = [...devices.values()];
    const status = states.includes("active") ? "online" : states.includes("idle") ? "away" : "offline";
    const before = this.#presences.get(user)?.status ?? "offline";
    const isShown = status !== before || status === "offline" && device === "person";
    if (!isShown) return;
    this.#version += 1;
    this.#presences.set(user, { user, status, last_seen: lastSeen, updated_at: Date.now(), version: this.#version });
    this.#shown(user);
  }

  #tellPresence(socket, users, id = undefined) {
    socket.tell({ type: "presence", id, users: users.map((user) => this.#presence(user)) });
  }

  // MARK: Conversations

  setMembers(conversation, members) {
    this.#members.set(conversation, new Map(Object.entries(members)));
    for (const [user, { devices }] of this.#here.get(conversation) ?? []) {
      if (!(user in members)) for (const device of [...devices.keys()]) this.#exited(user, device, conversation);
    }
    for (const [socket, { user, joined, follows }] of this.#sessions) {
      if (!joined.has(conversation)) continue;
      if (user in members) this.#tellMembers(socket, conversation);
      else {
        joined.delete(conversation);
        follows.delete(conversation);
        socket.tell({ type: "removed", conversation });
      }
    }
  }

  #tellMembers(socket, conversation) {
    if (!this.#sessions.get(socket).joined.get(conversation)) return;
    const users = [...this.#members.get(conversation) ?? []].sort().map(([user, name]) => ({ user, name }));
    socket.tell({ type: "members", conversation, users, count: users.length });
    this.#tellPresence(socket, users.map(({ user }) => user));
  }

  typists(conversation) { return [...this.#typing.get(conversation)?.keys() ?? []]; }

  /** @param kind what a device does; null if it no longer types */
  #typed(user, device, conversation, kind, name = undefined, lasts = Infinity) {
    const typists = this.#typing.get(conversation) ?? new Map();
    this.#typing.set(conversation, typists);
    const typist = typists.get(user) ?? { ends: new Map() };
    if (kind === null && !typist.ends.has(device)) return;
    clearTimeout(typist.ends.get(device));
    typist.ends.delete(device);
    const [wasTyping, before] = [typists.has(user), typist.kind];
    if (kind !== null) {
      const stop = () => this.#typed(user, device, conversation, null);
      typist.ends.set(device, lasts === Infinity ? undefined : later(stop, lasts));
      Object.assign(typist, { kind, name: name ?? this.#members.get(conversation)?.get(user) });
    }
    if (typist.ends.size > 0) typists.set(user, typist);
    else typists.delete(user);
    if (wasTyping !== typists.has(user) || before !== typist.kind) this.#showTyping(conversation);
  }

  /** Also again and again, since clients drop what is not repeated. */
  #showTyping(conversation) {
    for (const [socket, { joined }] of this.#sessions) if (joined.has(conversation)) this.#tellTyping(socket, conversation);
    clearTimeout(this.#repeats.get(conversation));
    if (this.typists(conversation).length > 0) {
      this.#repeats.set(conversation, later(() => this.#showTyping(conversation), FakeWorker.REPEAT));
    }
  }

  #tellTyping(socket, conversation) {
    const users = [...this.#typing.get(conversation) ?? []].filter(([user]) => user !== socket.user)
      .map(([user, { name, kind }]) => ({ user, ...name !== undefined && { name }, ...kind !== "typing" && { kind } }));
    socket.tell({ type: "typing", conversation, users, count: users.length });
  }

  #entered(user, device, conversation, { name = undefined, data = undefined }) {
    if (this.#members.get(conversation)?.has(user) === false) return;
    const users = this.#here.get(conversation) ?? new Map();
    this.#here.set(conversation, users);
    const entry = users.get(user) ?? { name, since: Date.now(), devices: new Map() };
    entry.devices.delete(device);
    users.set(user, { ...entry, devices: entry.devices.set(device, data) });
    this.#showHere(conversation);
  }

  #exited(user, device, conversation) {
    const users = this.#here.get(conversation);
    const devices = users?.get(user)?.devices;
    if (!devices?.delete(device)) return;
    if (devices.size === 0) users.delete(user);
    this.#showHere(conversation);
  }

  #showHere(conversation) {
    for (const [socket, { follows }] of this.#sessions) if (follows.has(conversation)) this.#tellHere(socket, conversation);
  }

  #tellHere(socket, conversation) {
    const users = [...this.#here.get(conversation) ?? []].map(([user, { name, since, devices }]) => (
      { user, name, since, data: [...devices.values()].filter((data) => data !== undefined).at(-1) }));
    socket.tell({ type: "here", conversation, users, count: users.length });
  }

  async settled() { for (let turn = 0; turn < 50; turn += 1) await null; }
}

/** A timer that keeps no program running. */
function later(body, delay) {
  const timer = setTimeout(body, delay);
  /** @type {any} */ (timer)?.unref?.();
  return timer;
}
