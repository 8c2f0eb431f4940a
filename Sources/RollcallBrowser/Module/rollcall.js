// Made by `make browser-module` from the modules in Sources/RollcallBrowser/JavaScript: edit those.

// Rollcall for browsers: who is online and who is typing, over one WebSocket. One file without dependencies.
//
//     import { RollcallClient, typingText } from "./rollcall.js";
//
//     const rollcall = new RollcallClient({ url: "wss://chat.example/v1/connect", device: "web", token: freshToken });
//     rollcall.connect();
//     const input = rollcall.typingInput("c42");
//     field.addEventListener("input", () => input.edited(field.value));
//     for await (const typing of rollcall.typing("c42")) line.textContent = typingText(typing);
//
// States (who types, who is online, the connection) are `Updates`. Things that happen once (a problem) are events. A lost
// connection throws nothing: the client reconnects forever, and emits the current state then.
//
// The client has four layers. Decisions are objects without timers or I/O: their methods are events, take the time and
// return what to do. The engine and its parts do it. The client and its `Updates` are what an app holds. The texts turn
// values into words, in any of the languages.

// ---- errors.js

// The errors that an app sees, and how close codes and `error` messages of a worker become errors.

/** The codes of failures that the client retries. With every other code, somebody has to correct something first. */
const TRANSIENT = new Set(["token_unavailable", "unreachable", "connection_lost", "asked"]);

/** A failure that ended something, or the reason why a connection is `waiting`. Match on `code`, which is stable. */
export class RollcallError extends Error {
  /**
   * @param {import("./rollcall.js").RollcallErrorCode} code
   * @param {string} message a sentence for a person
   * @param {{ closeCode?: number, cause?: unknown }} details
   */
  constructor(code, message, { closeCode, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "RollcallError";
    this.code = code;
    this.closeCode = closeCode;
  }

  /** Whether a retry may help. If so, the client already retries. */
  get retry() { return TRANSIENT.has(this.code); }
}

/** The typing settings contradict each other. `problems` lists every contradiction. */
export class InvalidTypingSettings extends RangeError {
  /** @param {string[]} problems */
  constructor(problems) {
    super(`invalid typing settings: ${problems.join("; ")}`);
    this.name = "InvalidTypingSettings";
    this.problems = problems;
  }
}

/** The errors for close codes. Any other code from 4100 to 4199 is `refused`. */
const CLOSE_CODE_ERRORS = new Map([
  [4100, ["bad_token", "the worker does not take the token"]],
  [4101, ["token_expired", "the token has expired"]],
  [4102, ["protocol_error", "the worker could not read a message"]],
  [4103, ["too_many_messages", "more messages than the worker allows"]],
  [4104, ["replaced", "a newer session of this device is connected"]],
  [4105, ["too_many_sessions", "the user has too many sessions"]],
  [4106, ["sent_away", "an operator ended the session"]],
]);
const TOKEN_EXPIRED = 4101;

/** The close codes that mean the same as the reason of a `goodbye`. */
const GOODBYE_CLOSE_CODES = new Map([
  ["replaced", 4104], ["expired", TOKEN_EXPIRED], ["limit", 4105], ["sent_away", 4106],
]);

/** The error for a connection that the worker closed for good. */
function closeCodeError(closeCode) {
  /** @type {any[]} */
  const [code, message] = CLOSE_CODE_ERRORS.get(closeCode)
    ?? ["refused", `the worker ended the session with code ${closeCode}`];
  return new RollcallError(code, message, { closeCode });
}

/** A worker's `removed` message, in the form of an `error` message. */
const REMOVED = { code: "not_a_member", message: "the user is no longer a member", retry: false };

/** The error that a worker's `error` message reports. */
function workerError({ code, message, retry }) {
  if (code === "not_a_member" || code === "limit") return new RollcallError(code, message);
  return new RollcallError(retry ? "asked" : "bad_request", message);
}

// ---- units.js

// Times in milliseconds, text in bytes. All durations in these modules are numbers of milliseconds.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function clamp(value, least, most) { return Math.min(Math.max(value, least), most); }

const encoder = new TextEncoder();

function utf8Length(text) { return encoder.encode(text).length; }

// ---- alarm.js

// A timer for a deadline that moves.

/** Calls a function when a deadline on the steady clock passes. To move the deadline later costs nothing. */
class Alarm {
  /** The longest delay of a browser's timer. */
  static LONGEST = 2 ** 31 - 1;

  #ring;
  #deadline = null;
  #scheduled = Infinity;
  #timer = null;

  constructor(ring) { this.#ring = ring; }

  /** Sets the deadline; null for none. */
  set(deadline) {
    this.#deadline = deadline;
    if (deadline === null) this.#cancel();
    else if (deadline < this.#scheduled) this.#schedule();
  }

  #schedule() {
    this.#cancel();
    this.#scheduled = this.#deadline;
    this.#timer = setTimeout(() => this.#fired(), clamp(this.#deadline - performance.now(), 0, Alarm.LONGEST));
  }

  #cancel() {
    if (this.#scheduled === Infinity) return;
    clearTimeout(this.#timer);
    this.#scheduled = Infinity;
  }

  #fired() {
    this.#scheduled = Infinity;
    if (performance.now() < this.#deadline) return this.#schedule();
    this.#deadline = null;
    this.#ring();
  }
}

// ---- addresses.js

// Where to connect: the app's URLs, and the address that a worker named when it sent this device elsewhere.
// The Swift client has `Itinerary` for this.

/** Returns the URL of a worker (`ws:`, `wss:` or a path on the page's own host), or null if it is not valid. */
function parseAddress(text) {
  try {
    const page = globalThis.location?.href;
    const url = text.startsWith("/") ? new URL(text, page?.replace(/^http/, "ws")) : new URL(text);
    if (!["ws:", "wss:"].includes(url.protocol) || url.username || url.password || url.hash) return null;
    if (url.pathname === "/") url.pathname = "/v1/connect";
    return url;
  } catch {
    return null;
  }
}

/** The host of an address, without the brackets of IPv6. */
function hostOf({ hostname }) { return hostname.replace(/^\[(.*)\]$/, "$1"); }

/** The address of the next attempt: each of the app's addresses in turn, but first the one that a worker named. */
class AddressList {
  /** How long an attempt may take while there is another address to try. */
  static SHORT_TIMEOUT = 2 * SECOND;

  /** The app's addresses, and which of them is next. */
  #addresses;
  #index = 0;
  /** How many of them were not tried in this round. */
  #untried;
  /** Whether no address answered in a whole round since the last welcome. Then the network itself may be slow. */
  #allFailed = false;
  /** The address that a worker named. It is tried once, before the app's addresses. */
  #redirect = null;
  /** Whether a worker may send this device, with its token, to a host. */
  #allows;

  /**
   * Shuffles the addresses, so that the clients of several workers spread over them.
   *
   * @param hosts hosts to which a worker may send this device, in addition to those of `addresses`; "*." before a domain
   *   stands for all hosts in it
   */
  constructor(addresses, hosts = []) {
    const allowed = [...addresses.map(hostOf), ...hosts.map((host) => host.toLowerCase())];
    this.#allows = (host) => allowed.some((each) => each.startsWith("*.") ? host.endsWith(each.slice(1)) : host === each);
    this.#addresses = shuffled(addresses);
    this.#untried = addresses.length;
  }

  get next() { return this.#redirect ?? this.#addresses[this.#index]; }

  timeout(longest) {
    const hasOthers = this.#redirect !== null || this.#untried > 1;
    return hasOthers && !this.#allFailed ? Math.min(longest, AddressList.SHORT_TIMEOUT) : longest;
  }

  welcomed() {
    this.#untried = this.#addresses.length;
    this.#allFailed = false;
  }

  /** No worker answered. Returns whether to try the next address at once, because this round has not tried it yet. */
  connectFailed() {
    if (this.#redirect !== null) {
      this.#redirect = null;
      return true;
    }
    this.#advance();
    this.#untried -= 1;
    if (this.#untried > 0) return true;
    this.#untried = this.#addresses.length;
    this.#allFailed = true;
    return false;
  }

  /** The connection ended. Its worker may be gone, so the next address follows, or the one that the worker named. */
  connectionEnded(to) {
    const named = typeof to === "string" ? parseAddress(to) : null;
    // The token must not go from an encrypted connection to an unencrypted one.
    const isSafe = named?.protocol === "wss:" || this.next.protocol === "ws:";
    this.#redirect = named && isSafe && this.#allows(hostOf(named)) ? named : null;
    this.#advance();
  }

  #advance() { this.#index = (this.#index + 1) % this.#addresses.length; }
}

function shuffled(values) {
  const mixed = [...values];
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other], mixed[last]];
  }
  return mixed;
}

// ---- backoff.js

// Pauses between attempts.

/** Exponential backoff with full jitter, so that the clients of a worker that stopped do not all return together. */
class Backoff {
  /** How long a connection must have lasted for its end to count as a first failure. */
  static STEADY = 5 * SECOND;

  #first;
  #longest;
  #failures = 0;

  constructor(first, longest) {
    this.#first = first;
    this.#longest = longest;
  }

  connectionLasted(duration) { if (duration >= Backoff.STEADY) this.#failures = 0; }

  /** Returns the pause after one more failure: a random time below a limit that doubles with each failure. */
  failed() {
    const limit = Math.min(this.#longest, this.#first * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    return Math.random() * limit;
  }
}

/**
 * When to send again what a worker refused for now (`"retry":true`). One schedule serves all types of messages: the
 * reasons (Redis is unavailable, the session asked for too much) concern the whole session, and everything that waits
 * is sent in a few messages.
 */
class RetrySchedule {
  static FIRST = 250;
  static LONGEST = 15 * SECOND;

  #backoff = new Backoff(RetrySchedule.FIRST, RetrySchedule.LONGEST);
  /** The types of messages that were refused since the last success. */
  #refused = new Set();
  /** The number of the last message before the current attempt. */
  #before = 0;
  /** When to send again what was refused; null if nothing waits. */
  deadline = null;

  /** Refusals that arrive before the next attempt count as one. */
  refused(type, now) {
    this.#refused.add(type);
    this.deadline ??= now + this.#backoff.failed();
  }

  /**
   * The worker accepted a message. The backoff ends only if the message belongs to the current attempt and is of a type
   * that was refused. Other messages prove nothing: a worker accepts at once whatever costs it nothing.
   */
  succeeded(type, message) {
    if (this.deadline !== null || message <= this.#before || !this.#refused.has(type)) return;
    this.#backoff = new Backoff(RetrySchedule.FIRST, RetrySchedule.LONGEST);
    this.#refused.clear();
  }

  /** An attempt begins, after this message. */
  begin(message) {
    this.deadline = null;
    this.#before = message;
  }
}

/**
 * When to join again the conversations of which the user is not a member. An app may open a conversation before its
 * server has set the members, and a removed user may be added again. No worker reports either to a session that has not
 * joined. Most users who are refused will never be members, so the pauses grow up to a minute.
 */
class RejoinSchedule {
  static SHORTEST = 2 * SECOND;
  static FIRST = 4 * SECOND;
  static LONGEST = 58 * SECOND;

  /** By conversation: `{ backoff, end }`. `end` is null while an answer is awaited. */
  #pauses = new Map();

  /** When to call `takeDue`; null if no conversation waits. */
  get deadline() {
    let deadline = null;
    for (const { end } of this.#pauses.values()) if (end !== null) deadline = Math.min(deadline ?? end, end);
    return deadline;
  }

  /** The worker refused the conversation or removed the user. Further refusals do not change the pause. */
  refused(conversation, now) {
    const pause = this.#pauses.get(conversation)
      ?? { backoff: new Backoff(RejoinSchedule.FIRST, RejoinSchedule.LONGEST), end: null };
    pause.end ??= now + RejoinSchedule.SHORTEST + pause.backoff.failed();
    this.#pauses.set(conversation, pause);
  }

  /** The worker accepted a join. This means nothing after a newer refusal. */
  accepted(conversation) {
    if (this.#pauses.get(conversation)?.end === null) this.#pauses.delete(conversation);
  }

  /** The conversation is given up or requested anew. */
  forget(conversation) { this.#pauses.delete(conversation); }

  /** Returns the conversations whose pauses have ended. */
  takeDue(now) {
    const due = [];
    for (const [conversation, pause] of this.#pauses) {
      if (pause.end === null || pause.end > now) continue;
      pause.end = null;
      due.push(conversation);
    }
    return due;
  }
}

// ---- liveness.js

// Whether a connection is alive. Browsers hide WebSocket's own pings, so the client sends pings of its own.

/**
 * The client pings after silence. A page that did not run itself (a sleeping laptop) pings again before it judges. A
 * page whose timers are only slow judges the second time.
 */
class Liveness {
  static ANSWER_TIME = 3 * SECOND;
  /** If a deadline is noticed this much late, the page did not run in the meantime. */
  static ASLEEP = SECOND;

  /** How long silence may last before the client pings. */
  #silence;
  /** How long the answer to a ping because of silence may take: a worker that is still reading answers late. */
  #longAnswerTime;
  /** How long the answer to the current ping may take. */
  #answerTime = Liveness.ANSWER_TIME;
  /** How many pings have been sent since the last answer. */
  #unanswered = 0;

  /** @param {number} ping how often the worker pings */
  constructor(ping, now) {
    this.#silence = 2 * ping;
    this.#longAnswerTime = Math.max(ping, Liveness.ANSWER_TIME);
    this.deadline = now + this.#silence;
  }

  /**
   * A message arrived. While an answer is awaited, no other message counts as one: it may have been on its way, or in
   * this machine, since before the connection died. But it gives the answer more time, which may have to wait behind it.
   */
  received(isAnswer, now) {
    if (isAnswer) this.#unanswered = 0;
    this.deadline = now + (this.#unanswered > 0 ? this.#answerTime : this.#silence);
  }

  /** There is reason for doubt: the page came back to the foreground, or the network changed. */
  doubted(now) {
    if (this.#unanswered === 0) return this.#ping(now, Liveness.ANSWER_TIME);
    // The answer to a ping because of silence is now due sooner.
    this.#answerTime = Liveness.ANSWER_TIME;
    this.deadline = Math.min(this.deadline, now + this.#answerTime);
    return "alive";
  }

  /** Returns `"alive"`, `"ping"` (send one) or `"dead"`. */
  deadlinePassed(now) {
    if (now < this.deadline) return "alive";
    const isLate = now >= this.deadline + Liveness.ASLEEP;
    if (this.#unanswered === 0) return this.#ping(now, isLate ? Liveness.ANSWER_TIME : this.#longAnswerTime);
    return this.#unanswered === 1 && isLate ? this.#ping(now, Liveness.ANSWER_TIME) : "dead";
  }

  #ping(now, answerTime) {
    this.#unanswered += 1;
    this.#answerTime = answerTime;
    this.deadline = now + answerTime;
    return "ping";
  }
}

// ---- messages.js

// Messages from a worker, checked field by field, and the rules for names in messages to a worker.

const NAME_PATTERN = /^[^\p{White_Space}\p{Cc}\p{Cs}{}]+$/u;

/**
 * Returns the name of a user, a device or a conversation, or throws. Names are checked before they are sent because a
 * worker refuses a whole message for one invalid name.
 */
function validName(text) {
  if (typeof text === "string" && NAME_PATTERN.test(text) && utf8Length(text) <= 128) return text;
  throw new RollcallError("invalid_name", `no name, of 1 to 128 bytes without white space or braces: ${text}`);
}

/** Limits that every worker allows. They count until the worker has sent its own. */
const DEFAULT_LIMITS = {
  watched_users: 1000, joined_conversations: 200, message_bytes: 8192, message_rate: 10, message_burst: 20,
};

/** One parser for each type of message. A parser throws if a field has the wrong type. */
const PARSERS = {
  welcome: (message) => ({
    user: requireString(message.user),
    device: requireString(message.device),
    session: requireString(message.session),
    worker: requireString(message.worker),
    time: requireNumber(message.time),
    ping: clamp(requireNumber(message.ping), 100, HOUR),
    expiry: clamp(requireNumber(message.typing?.expiry ?? 3 * SECOND), 0, HOUR),
    limits: Object.fromEntries(
      Object.entries(DEFAULT_LIMITS).map(([limit, value]) => [limit, message.limits?.[limit] ?? value])),
  }),
  presence: ({ id, users }) => ({ id, users: users.map(parsePresence) }),
  typing: ({ conversation, users, count }) => ({
    conversation, count: requireNumber(count), typists: users.map(parsePerson),
  }),
  members: ({ conversation, users, count }) => ({
    conversation, count: requireNumber(count), people: users.map(parsePerson),
  }),
  removed: ({ conversation }) => ({ conversation }),
  goodbye: ({ reason, reconnect, after, to }) => ({ reason, reconnect: reconnect !== false, after, to }),
  pong: ({ time }) => ({ time: requireNumber(time) }),
  ack: ({ id }) => ({ id }),
  error: ({ id, code, message, retry }) => ({ id, code, message, retry: retry === true }),
};

function parsePresence({ user, status, last_seen, updated_at, version }) {
  return {
    user: requireString(user),
    // A status that this version does not know counts as offline.
    status: status === "online" || status === "away" ? status : "offline",
    lastSeen: last_seen ?? null, updatedAt: updated_at ?? null, version: version ?? 0,
  };
}

function parsePerson({ user, name }) {
  return typeof name === "string" ? { user: requireString(user), name } : { user: requireString(user) };
}

/** Returns the message, or null for a message that is invalid or of a type that only a newer client knows. */
function parseMessage(text) {
  try {
    const message = JSON.parse(text);
    return Object.hasOwn(PARSERS, message.type) ? { type: message.type, ...PARSERS[message.type](message) } : null;
  } catch {
    return null;
  }
}

function requireString(value) {
  if (typeof value === "string") return value;
  throw new TypeError("not a string");
}

function requireNumber(value) {
  if (Number.isFinite(value)) return value;
  throw new TypeError("not a number");
}

// ---- reconnecting.js

// What follows the end of a connection, or of an attempt to connect: a retry, where and when, or giving up.
// The Swift client has `Reconnecting` for this.

/**
 * Each event returns `{ after, freshToken, error }` for a retry after so many milliseconds, or only `{ error }` to give
 * up. Close codes from 4100 to 4199 mean that somebody has to correct something first.
 */
class ReconnectPolicy {
  /** The longest time that a worker may make a client wait. A worker that names a longer one is probably wrong. */
  static LONGEST_WAIT = 5 * MINUTE;
  /** A token that is refused as expired within this time after the app gave it was not a fresh one. */
  static FRESH = MINUTE;

  #addresses;
  #backoff;
  /** What the worker sent before it closed the connection. */
  #goodbye = null;
  /** Whether close code 4101 made the client ask for a fresh token, and no welcome has arrived since. */
  #isRefreshed = false;

  constructor(addresses, backoff) {
    this.#addresses = addresses;
    this.#backoff = backoff;
  }

  get address() { return this.#addresses.next; }
  timeout(longest) { return this.#addresses.timeout(longest); }

  welcomed() {
    this.#isRefreshed = false;
    this.#addresses.welcomed();
  }

  /** A connection begins. A goodbye belongs to the connection on which it arrived. */
  opening() { this.#goodbye = null; }

  goodbyeReceived(goodbye) { this.#goodbye = goodbye; }

  /** The token callback threw or did not answer. The client retries unless the error says that a retry cannot help. */
  tokenFailed(cause) {
    if (cause instanceof RollcallError && !cause.retry) return { error: cause };
    const error = new RollcallError("token_unavailable", "the app gave no token", { cause });
    return { after: this.#backoff.failed(), freshToken: true, error };
  }

  /** No worker answered at the address. */
  connectFailed() {
    const error = new RollcallError("unreachable", "no worker answered");
    return { after: this.#addresses.connectFailed() ? 0 : this.#backoff.failed(), freshToken: false, error };
  }

  /**
   * @param {number | null} code the close code; null if the connection was lost
   * @param {number} duration how long the connection had lasted since its welcome
   * @param {number} tokenAge how long ago the app gave the token
   */
  connectionEnded(code, duration, tokenAge) {
    const goodbye = this.#goodbye;
    this.#goodbye = null;
    if (code === TOKEN_EXPIRED) return this.#tokenExpired(tokenAge);
    if (code >= 4100 && code <= 4199) return { error: closeCodeError(code) };
    if (goodbye && !goodbye.reconnect) return { error: closeCodeError(GOODBYE_CLOSE_CODES.get(goodbye.reason) ?? code) };
    this.#addresses.connectionEnded(goodbye?.to);
    this.#backoff.connectionLasted(duration);
    const pause = this.#backoff.failed();
    const requested = Number.isFinite(goodbye?.after) ? clamp(goodbye.after, 0, ReconnectPolicy.LONGEST_WAIT) : null;
    const error = code === null
      ? new RollcallError("connection_lost", "the connection was lost")
      : new RollcallError("asked", "the worker closed the connection", { closeCode: code });
    return { after: requested ?? pause, freshToken: false, error };
  }

  #tokenExpired(age) {
    const error = closeCodeError(TOKEN_EXPIRED);
    if (this.#isRefreshed && age <= ReconnectPolicy.FRESH) return { error };
    this.#isRefreshed = true;
    this.#addresses.connectionEnded();
    return { after: 0, freshToken: true, error };
  }
}

// ---- token.js

// How long a token is valid, and when to replace it. The Swift client has `TokenLife` for this.

/** Returns when a JWT expires, in server time, or null if the token does not say. */
function tokenExpiry(token) {
  try {
    const payload = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(payload));
    return Number.isFinite(exp) ? exp * SECOND : null;
  } catch {
    return null;
  }
}

/**
 * Measures the time since it was made. The steady clock may stop while the machine sleeps, and the device's clock may be
 * set back, so the one that has advanced more counts.
 */
class Stopwatch {
  #steady = performance.now();
  #device = Date.now();

  get elapsed() { return Math.max(performance.now() - this.#steady, Date.now() - this.#device); }
}

/** How long before its expiry a token is replaced, at least. For a short-lived token it is less. */
const RENEWAL_MARGIN = MINUTE;

/**
 * Returns when to ask for the next token: one to two margins before the expiry, at random, so that clients that
 * connected together do not ask together. After a failure, the same rule applies to the time left. Null: it is too late.
 */
function renewalTime(left, now) {
  if (left <= SECOND) return null;
  const margin = Math.min(RENEWAL_MARGIN, left / 4);
  return now + left - margin * (1 + Math.random());
}

// ---- connection.js

// The life of the connection to a worker: a token, a socket, hello, welcome, and what follows each end.
// The Swift client has `Connector` for this.

/**
 * Does what `ReconnectPolicy` and `Liveness` decide, and tells its owner what happens. There is at most one attempt at a
 * time. Events of an earlier attempt's socket are ignored.
 */
class Connection {
  /** `idle`, `authenticating`, `opening`, `greeting` (hello is sent), `connected`, `waiting`, `failed` or `closed`. */
  #stage = "idle";
  #socket = null;
  #liveness = null;
  /** The pings without an answer, in order: `{ at, isCheck }`. `isCheck`: whether `#liveness` waits for the answer. */
  #pings = [];
  #connectedAt = 0;
  /** The current attempt to connect. `isOutdated`: the network has changed since, but too soon to begin again. */
  #opening = { began: 0, end: 0, isOutdated: false };
  /** How often changes of the network have restarted attempts since the last one that ended otherwise. */
  #restarts = 0;
  #token = null;
  /** Measures the time since the app gave the token. */
  #tokenAge = new Stopwatch();
  /** Counts attempts and renewals of the token, so that a token which arrives too late is recognised. */
  #attempt = 0;
  /** Null if a URL of the app is not valid. */
  #policy = null;
  #alarm = new Alarm(() => this.#deadlinePassed());
  #renewalAlarm = new Alarm(() => this.#renewToken());
  /** Aborting it ends the listening for changes of the network. */
  #listening = null;
  #options;
  #owner;

  constructor(options, owner) {
    this.#options = options;
    this.#owner = owner;
    const addresses = options.urls.map(parseAddress);
    if (addresses.length === 0 || addresses.includes(null)) return;
    this.#policy = new ReconnectPolicy(
      new AddressList(addresses, options.workerHosts), new Backoff(options.firstPause, options.longestPause));
  }

  /** Whether messages may be sent. */
  get isOpen() { return this.#stage === "greeting" || this.#stage === "connected"; }

  /** Whether there is a connection, or will be one without another call. */
  get isActive() { return !["idle", "failed", "closed"].includes(this.#stage); }

  connect() { if (["idle", "failed", "waiting"].includes(this.#stage)) this.#begin(); }

  send(messages) {
    const socket = this.#socket;
    for (const message of messages) {
      // A listener of the `wire` event may have ended the connection.
      if (this.#socket !== socket) return;
      const text = JSON.stringify(message);
      socket.send(text);
      this.#owner.wireUsed({ sent: text });
    }
  }

  /** Asks for the worker's time. */
  requestTime() { this.#ping({ isCheck: false }); }

  #ping({ isCheck }) {
    this.#pings.push({ at: performance.now(), isCheck });
    this.send([{ type: "ping" }]);
  }

  /** Checks the connection, or makes the next attempt at once, also if a token is awaited. */
  networkChanged() {
    switch (this.#stage) {
      case "waiting":
      case "authenticating": this.#begin(); break;
      case "opening":
      case "greeting": this.#attemptOutdated(); break;
      case "connected": this.#follow(this.#liveness.doubted(performance.now())); break;
      case "idle":
      case "failed":
      case "closed": break;
    }
  }

  /**
   * Restarts an attempt, whose path may be dead, once it has lasted a second. With each restart, this time doubles: an
   * app may report changes in a loop, and must neither connect in that loop nor prevent every attempt.
   */
  #attemptOutdated() {
    const due = this.#opening.began + SECOND * 2 ** this.#restarts;
    if (performance.now() >= due) return this.#restart();
    this.#opening.isOutdated = true;
    this.#alarm.set(Math.min(due, this.#opening.end));
  }

  /** Begins the attempt again, at the same address. This is not a failure. */
  #restart() {
    this.#restarts += 1;
    const wasOpen = this.isOpen;
    this.#dropSocket();
    this.#stage = "waiting";
    if (wasOpen) this.#owner.connectionLost();
    this.#begin();
  }

  /**
   * Ends the connection, with a goodbye or without one like a lost network. Resolves once the socket is closed.
   *
   * @param {"idle" | "closed"} state
   */
  end(state, { goodbye }) {
    if (goodbye && this.isOpen) this.send([{ type: "goodbye" }]);
    if (this.#stage === "closed") return Promise.resolve();
    const socket = this.#socket;
    this.#stop(state, { status: state });
    return socketClosed(socket);
  }

  /** Call this last, after the alarm is set: an observer of the connection may connect or close at once. */
  #become(stage, state) {
    this.#stage = stage;
    this.#owner.connectionChanged(state);
  }

  /** Ends everything that would happen without another call. */
  #stop(stage, state) {
    const wasOpen = this.isOpen;
    this.#attempt += 1;
    this.#stage = stage;
    this.#dropSocket();
    if (wasOpen) this.#owner.connectionLost();
    this.#listening?.abort();
    this.#listening = null;
    this.#become(stage, state);
  }

  #dropSocket() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#alarm.set(null);
    this.#renewalAlarm.set(null);
  }

  // The attempt.

  async #begin() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#alarm.set(null);
    if (!this.#policy) return this.#giveUp(invalidURL());
    this.#listen();
    if (this.#token !== null && !this.#isTokenExpired()) return this.#open();
    this.#alarm.set(performance.now() + this.#options.connectTimeout);
    this.#become("authenticating", { status: "connecting" });
    if (attempt !== this.#attempt) return;
    const { token, error } = await this.#freshToken()
      .then((fresh) => ({ token: fresh, error: null }), (reason) => ({ token: null, error: reason }));
    if (attempt !== this.#attempt) return;
    if (token === null) return this.#retryOrGiveUp(this.#policy.tokenFailed(error));
    this.#tokenReceived(token);
    this.#open();
  }

  async #freshToken() {
    const { token } = this.#options;
    const fresh = typeof token === "function" ? await token() : token;
    if (typeof fresh === "string") return fresh;
    throw new RollcallError("bad_token", "the token callback gave no string");
  }

  #tokenReceived(token) {
    this.#token = token;
    this.#tokenAge = new Stopwatch();
  }

  /** Compares the token's own expiry with the worker's time. The worker refuses every other expired token (4101). */
  #isTokenExpired() {
    const expiry = tokenExpiry(this.#token);
    return expiry !== null && this.#owner.serverTime !== null && expiry <= this.#owner.serverTime;
  }

  #listen() {
    if (this.#listening || !globalThis.addEventListener) return;
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    globalThis.addEventListener("online", () => this.networkChanged(), { signal });
    globalThis.addEventListener("offline", () => this.#stage === "connected" && this.networkChanged(), { signal });
  }

  #open() {
    this.#policy.opening();
    let socket;
    try {
      socket = new this.#options.WebSocket(this.#policy.address.href);
    } catch (cause) {
      return this.#giveUp(invalidURL(cause));
    }
    this.#socket = socket;
    this.#pings = [];
    const on = (type, handle) => socket.addEventListener(type, (event) => {
      if (this.#socket === socket) handle(event);
    });
    on("open", () => this.#greet());
    on("message", ({ data }) => this.#received(data));
    on("close", ({ code }) => this.#closed(code));
    const began = performance.now();
    this.#opening = { began, end: began + this.#policy.timeout(this.#options.connectTimeout), isOutdated: false };
    this.#alarm.set(this.#opening.end);
    this.#become("opening", { status: "connecting" });
  }

  #greet() {
    this.#stage = "greeting";
    const { device } = this.#options;
    this.send([{ type: "hello", token: this.#token, ...device && { device }, state: this.#owner.deviceState }]);
    if (this.isOpen) this.#owner.connectionOpened();
  }

  // The connection.

  #received(data) {
    if (typeof data !== "string") return;
    this.#owner.wireUsed({ received: data });
    if (!this.isOpen) return;
    const message = parseMessage(data);
    const ping = message?.type === "pong" ? this.#pings.shift() : undefined;
    if (this.#stage === "connected") this.#noteLife(ping?.isCheck === true);
    switch (message?.type) {
      case undefined: break;
      case "welcome": if (this.#stage === "greeting") this.#welcomed(message); break;
      case "goodbye": this.#policy.goodbyeReceived(message); break;
      case "pong": this.#owner.timeReceived(message.time, ping?.at ?? performance.now()); break;
      default: this.#owner.messageReceived(message);
    }
  }

  #noteLife(isAnswer) {
    this.#liveness.received(isAnswer, performance.now());
    this.#alarm.set(this.#liveness.deadline);
  }

  #welcomed(welcome) {
    const now = performance.now();
    const { user, device, session, worker } = welcome;
    this.#restarts = 0;
    this.#policy.welcomed();
    this.#liveness = new Liveness(welcome.ping, now);
    this.#connectedAt = now;
    this.#alarm.set(this.#liveness.deadline);
    this.#stage = "connected";
    this.#owner.welcomed(welcome);
    // Race: an observer that was called because of the worker's time may have ended the connection.
    if (this.#stage !== "connected") return;
    this.#scheduleRenewal();
    this.#owner.connectionChanged({ status: "connected", session: { user, device, session, worker } });
  }

  /** @param judgement what `Liveness` decided */
  #follow(judgement) {
    this.#alarm.set(this.#liveness.deadline);
    if (judgement === "ping") this.#ping({ isCheck: true });
    if (judgement === "dead") this.#connectionEnded(null);
  }

  #deadlinePassed() {
    switch (this.#stage) {
      case "waiting": this.#begin(); break;
      case "authenticating": this.#tokenTimedOut(); break;
      case "opening":
      case "greeting": this.#openingTimedOut(); break;
      case "connected": this.#follow(this.#liveness.deadlinePassed(performance.now())); break;
      case "idle":
      case "failed":
      case "closed": break;
    }
  }

  /** The attempt ends here, so a token that arrives later is ignored. */
  #tokenTimedOut() {
    this.#attempt += 1;
    this.#retryOrGiveUp(this.#policy.tokenFailed(new Error("the token callback did not answer in time")));
  }

  #closed(code) {
    if (this.#stage === "opening") this.#connectFailed();
    // 1006 is what a browser reports if there was no close frame.
    else this.#connectionEnded(code === 1006 ? null : code);
  }

  #openingTimedOut() {
    const { isOutdated, end } = this.#opening;
    if (isOutdated && performance.now() < end) this.#restart();
    else this.#connectFailed();
  }

  #connectFailed() {
    const wasOpen = this.isOpen;
    this.#ended(wasOpen, this.#policy.connectFailed());
  }

  #connectionEnded(code) {
    const duration = this.#stage === "connected" ? performance.now() - this.#connectedAt : 0;
    this.#ended(true, this.#policy.connectionEnded(code, duration, this.#tokenAge.elapsed));
  }

  #ended(wasOpen, next) {
    this.#restarts = 0;
    this.#dropSocket();
    this.#stage = "waiting";
    if (wasOpen) this.#owner.connectionLost();
    this.#retryOrGiveUp(next);
  }

  /** @param next what `ReconnectPolicy` decided */
  #retryOrGiveUp({ after, freshToken, error }) {
    if (after === undefined) return this.#giveUp(error);
    if (freshToken) this.#token = null;
    this.#alarm.set(performance.now() + after);
    this.#become("waiting", { status: "waiting", retryIn: Math.round(after), error });
  }

  #giveUp(error) {
    this.#token = null;
    this.#stop("failed", { status: "failed", error });
  }

  // The renewal of the token.

  #scheduleRenewal() {
    const expiry = tokenExpiry(this.#token);
    this.#renewalAlarm.set(expiry === null ? null : renewalTime(expiry - this.#owner.now, performance.now()));
  }

  /** Asks the app for the next token, and again if the app does not answer in time. */
  async #renewToken() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#renewalAlarm.set(performance.now() + this.#options.connectTimeout);
    const token = await this.#freshToken().catch(() => this.#token);
    if (attempt !== this.#attempt || this.#stage !== "connected") return;
    if (tokenExpiry(token) > tokenExpiry(this.#token)) {
      this.#tokenReceived(token);
      this.#owner.tokenRenewed(token);
    }
    this.#scheduleRenewal();
  }
}

function invalidURL(cause) {
  return new RollcallError(
    "invalid_url", "a URL must be ws://HOST or wss://HOST, with port and path at will, or a path on the page's host",
    { cause });
}

/** Resolves once a closing socket has closed, after two seconds at most. */
function socketClosed(socket) {
  if (!socket || socket.readyState === 3) return Promise.resolve();
  return new Promise((resolve) => {
    socket.addEventListener("close", () => resolve(), { once: true });
    setTimeout(resolve, 2 * SECOND);
  });
}

// ---- device-state.js

// Whether this device is active, idle or in the background, from the app's phase and the user's input.
// The Swift client has `Attention` for this.

class DeviceState {
  #idleAfter;
  #inBackground = false;
  /** Set by the app or by a passed deadline, until the app's phase changes or input happens. */
  #isIdle = false;
  /** The last input; null until the app reports one. An app that never reports input never becomes idle by itself. */
  #inputAt = null;

  constructor(idleAfter) { this.#idleAfter = idleAfter; }

  get state() {
    if (this.#inBackground) return "background";
    return this.#isIdle ? "idle" : "active";
  }

  /** When to call `deadlinePassed`; null for never. */
  get deadline() {
    if (this.state !== "active" || this.#idleAfter === null || this.#inputAt === null) return null;
    return this.#inputAt + this.#idleAfter;
  }

  phaseChanged(phase, now) {
    if (phase === "active") this.stateSet("active", now);
    if (phase === "background") this.#inBackground = true;
  }

  stateSet(state, now) {
    this.#inBackground = state === "background";
    this.#isIdle = state === "idle";
    if (this.#inputAt !== null) this.#inputAt = now;
  }

  inputHappened(now) {
    this.#inputAt = now;
    this.#isIdle = false;
  }

  /** An edit counts as input if the app reports input. Otherwise it must not start the idle timer. */
  edited(now) { if (this.#inputAt !== null) this.inputHappened(now); }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#isIdle = true; }
}

// ---- conversation-state.js

// Who types in a conversation and who its members are, as an observer sees it. Without timers or I/O.
// The Swift client has `TypingPicture` and `MembersPicture` for this.

/**
 * Who types in one conversation. A worker repeats a set of typists that does not change, so a set that is not repeated
 * in time is over: its last message may be lost.
 */
class TypingState {
  /** How long after the worker's expiry a set ends by itself, and the longest that any set lasts without a message. */
  static TOLERANCE = 2 * SECOND;
  static LONGEST = 10 * SECOND;

  /** When to call `deadlinePassed`; null for never. */
  deadline = null;

  constructor(conversation) { this.typing = { conversation, typists: [], count: 0 }; }

  /**
   * Users who continue to type keep their places, and new ones follow in the worker's order. So no names change places
   * after a reconnect to a worker that learned of the typists in another order.
   */
  received({ typists, count }, expiry, now) {
    const present = new Map(typists.map((typist) => [typist.user, typist]));
    const places = new Set([...this.typing.typists.map(({ user }) => user), ...present.keys()]);
    const inPlace = [...places].flatMap((user) => present.get(user) ?? []);
    this.#show({ typists: inPlace, count: Math.max(count, inPlace.length) });
    if (this.typing.count > 0) {
      this.deadline = now + Math.min(expiry + TypingState.TOLERANCE, TypingState.LONGEST);
    }
  }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#show({ typists: [], count: 0 }); }

  /** The worker does not serve this conversation, or no longer. */
  refused(refusal) { this.#show({ typists: [], count: 0, refusal }); }

  #show(shown) {
    this.typing = { conversation: this.typing.conversation, ...shown };
    this.deadline = null;
  }
}

/**
 * The members of one conversation and their presence. The worker sends the list first and then each member's presence.
 * The first value waits until all have arrived, so that nobody sees `0 of 5 online` for a moment.
 */
class MembersState {
  /** How long the first value waits for the presence of all members. */
  static TIMEOUT = SECOND;

  /** When to call `deadlinePassed`; null for never. */
  deadline = null;
  #conversation;
  /** The worker's list. */
  #list = null;
  #presences = new Map();
  #refusal = null;
  #isShown = false;

  constructor(conversation) { this.#conversation = conversation; }

  received({ people, count }, now) {
    const users = new Set(people.map(({ user }) => user));
    for (const user of this.#presences.keys()) if (!users.has(user)) this.#presences.delete(user);
    this.#list = { people, count: Math.max(count, people.length) };
    this.#refusal = null;
    if (!this.#isShown) this.deadline ??= now + MembersState.TIMEOUT;
  }

  presenceReceived(presence) { this.#presences.set(presence.user, presence); }

  /** The worker does not serve this conversation, or no longer. What it serves later is a first value again. */
  refused(refusal) {
    this.#presences.clear();
    this.#list = this.deadline = null;
    this.#refusal = refusal;
    this.#isShown = false;
  }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#startShowing(); }

  /**
   * Returns the members to show, or undefined if there is no first value yet.
   *
   * @param nameOf returns the app's name for a user
   */
  members(nameOf) {
    const conversation = this.#conversation;
    if (this.#refusal) return { conversation, people: [], count: 0, refusal: this.#refusal };
    if (!this.#list) return undefined;
    const { people, count } = this.#list;
    if (people.every(({ user }) => this.#presences.has(user))) this.#startShowing();
    if (!this.#isShown) return undefined;
    return { conversation, people: people.map((member) => this.#member(member, nameOf(member.user))), count };
  }

  #member({ user, name }, shown = name) {
    const presence = this.#presences.get(user);
    return { user, ...shown !== undefined && { name: shown }, ...presence && { presence } };
  }

  #startShowing() {
    this.#isShown = true;
    this.deadline = null;
  }
}

// ---- observed-value.js

// A value that several observers follow, and the rules for when an observer is called.
// The Swift client has `Topic` for this.

/**
 * The current value of one thing, and its observers. An observer is `{ receive }`, with `needsWatch` if the worker must
 * be asked for the value because of this observer.
 */
class ObservedValue {
  latest = undefined;
  #observers = new Set();

  constructor(latest) { this.latest = latest; }

  get isObserved() { return this.#observers.size > 0; }

  /** Whether the worker must be asked for the value because of one of the observers. */
  get needsWatch() { return [...this.#observers].some(({ needsWatch }) => needsWatch); }

  /**
   * A new observer receives the latest value before anything else, but not within this call: its caller does not have
   * the function yet that ends the observation.
   */
  add(observer) {
    this.#observers.add(observer);
    queueMicrotask(() => {
      if (!observer.hasReceived && this.latest !== undefined) this.#notify(observer);
    });
  }

  remove(observer) { this.#observers.delete(observer); }

  /** Notifies the observers, unless the value is equal to the latest. */
  update(value) {
    if (isEqual(value, this.latest)) return;
    this.latest = value;
    for (const observer of this.#observers) {
      // Race: an observer has just caused the next change, of which all observers were notified.
      if (this.latest !== value) return;
      this.#notify(observer);
    }
  }

  /** Notifies the observers of the same value again, because what it means has changed. */
  repeat() {
    const { latest } = this;
    if (latest === undefined) return;
    for (const observer of this.#observers) if (this.latest === latest) this.#notify(observer);
  }

  /** Reports what an observer throws as an error of the page, so that the other observers are still notified. */
  #notify(observer) {
    if (!this.#observers.has(observer)) return;
    observer.hasReceived = true;
    try {
      observer.receive(this.latest);
    } catch (error) {
      reportError(error);
    }
  }
}

/** Whether two plain values have equal contents. */
function isEqual(left, right) {
  if (Object.is(left, right)) return true;
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
  if (left instanceof RollcallError && right instanceof RollcallError) {
    return left.code === right.code && left.message === right.message && left.closeCode === right.closeCode;
  }
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => isEqual(left[key], right[key]));
}

/** The presence of several users as one map, sent once per task: a snapshot of a thousand users is one value. */
class PresenceGroup {
  #send;
  #presences = new Map();
  #isDue = false;

  /** @param send called with a copy of the map */
  constructor(send) { this.#send = send; }

  received(presence) {
    this.#presences.set(presence.user, presence);
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#send(new Map(this.#presences));
    });
  }
}

// ---- conversation.js

// A conversation that somebody observes or types in: its state, its timers and its observers.
// The Swift client has `Room` and `Gathering` for this.

/** Who types in one conversation, and its member list if somebody observes that. */
class Conversation {
  typing = new ObservedValue();
  /** The members, while somebody observes them or the worker still sends them. */
  memberList = null;
  #names;
  #state;
  #alarm = new Alarm(() => {
    this.#state.deadlinePassed(performance.now());
    this.#show();
  });

  constructor(name, names) {
    this.name = name;
    this.#names = names;
    this.#state = new TypingState(name);
  }

  typingReceived(message, expiry) {
    this.#state.received(message, expiry, performance.now());
    this.#show();
  }

  refused(error) {
    this.#state.refused(error);
    this.memberList?.refused(error);
    this.#show();
  }

  /** All users who are on show here. */
  get users() {
    return [...this.#state.typing.typists.map(({ user }) => user), ...this.memberList?.users ?? []];
  }

  /** @param {Set<string>} users */
  namesChanged(users) {
    this.memberList?.namesChanged(users);
    if (this.#state.typing.typists.some(({ user }) => users.has(user))) this.#show();
  }

  get isObserved() { return this.typing.isObserved || this.memberList?.members.isObserved === true; }

  end() {
    this.#alarm.set(null);
    this.endMemberList();
  }

  endMemberList() {
    this.memberList?.end();
    this.memberList = null;
  }

  #show() {
    const { typing, deadline } = this.#state;
    const typists = typing.typists.map((typist) => {
      const name = this.#names.name(typist.user);
      return name === undefined ? typist : { ...typist, name };
    });
    this.typing.update({ ...typing, typists });
    this.#alarm.set(deadline);
  }
}

/**
 * The members of a conversation and their presence. The worker sends the presence of all members without a `watch` for
 * each. If a member is also watched, the worker sends that presence once.
 */
class MemberList {
  members = new ObservedValue();
  #names;
  #observePresence;
  #state;
  /** The functions that end the observation of each member's presence. */
  #endings = new Map();
  #isDue = false;
  #alarm = new Alarm(() => {
    this.#state.deadlinePassed(performance.now());
    this.#showSoon();
  });

  /** @param observePresence starts to observe a user's presence, and returns the function that ends it */
  constructor(conversation, names, observePresence) {
    this.#state = new MembersState(conversation);
    this.#names = names;
    this.#observePresence = observePresence;
  }

  get users() { return this.#endings.keys(); }

  received(message) {
    const users = new Set(message.people.map(({ user }) => user));
    this.#state.received(message, performance.now());
    for (const user of this.#endings.keys()) if (!users.has(user)) this.#remove(user);
    for (const user of users) if (!this.#endings.has(user)) this.#add(user);
    this.#showSoon();
  }

  refused(refusal) {
    this.end();
    this.#state.refused(refusal);
    this.#showSoon();
  }

  /** @param {Set<string>} users */
  namesChanged(users) { if ([...users].some((user) => this.#endings.has(user))) this.#showSoon(); }

  end() {
    this.#state.deadline = null;
    this.#alarm.set(null);
    for (const user of [...this.#endings.keys()]) this.#remove(user);
  }

  #add(user) {
    this.#endings.set(user, this.#observePresence(user, (presence) => {
      this.#state.presenceReceived(presence);
      this.#showSoon();
    }));
  }

  #remove(user) {
    this.#endings.get(user)();
    this.#endings.delete(user);
  }

  /** Updates the observers once per task: the presence of a thousand members is one change. */
  #showSoon() {
    this.#alarm.set(this.#state.deadline);
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      const members = this.#state.members((user) => this.#names.name(user));
      this.#alarm.set(this.#state.deadline);
      if (members) this.members.update(members);
    });
  }
}

// ---- name-cache.js

// The app's names for people, from its `names` callback. The Swift client has `NameBook` for this.

/**
 * Asks the app once for each name, and remembers the answer. Names that are on show are never dropped, so that no number
 * of them makes the cache ask for the same names again and again.
 */
class NameCache {
  /** With more names than this, the cache drops those that are not on show and asks for them again when needed. */
  static CAPACITY = 4096;
  /** How many answers are awaited at once. The next call is made after an answer or a timeout. */
  static CONCURRENCY = 8;
  /** How long names that arrive one by one are collected, because each report costs as much as all that is on show. */
  static COLLECTION_TIME = 100;
  /** The limits of the first pause and of every pause before the app is asked again for a name that it failed to give. */
  static FIRST_PAUSE = SECOND;
  static LONGEST_PAUSE = 5 * MINUTE;

  #resolve;
  #timeout;
  #namesChanged;
  #shownUsers;
  /** How many names the cache may contain before it drops those that are not on show. */
  #capacity = NameCache.CAPACITY;
  #names = new Map();
  /** Users for whom the app threw or took too long: `{ backoff, retryAt }`; null: ask again once the user is shown. */
  #failed = new Map();
  #queue = new Set();
  /** The calls without an answer, the oldest first: `{ until }`, when the answer takes too long. */
  #pending = new Map();
  /** Users to report: their name has arrived, or the app may be asked for it again. */
  #changed = new Set();
  #reportedAt = -Infinity;
  #reportAlarm = new Alarm(() => this.#report());
  #retryAt = Infinity;
  #retryAlarm = new Alarm(() => this.#retry());
  #timeoutAlarm = new Alarm(() => this.#endLate());

  /**
   * @param resolve the app's callback, if it has one
   * @param timeout how long an answer may take before the next call is made in its place
   * @param namesChanged called with the set of users to show again
   * @param shownUsers returns the set of users who are on show
   */
  constructor(resolve, timeout, namesChanged, shownUsers) {
    this.#resolve = resolve;
    this.#timeout = timeout;
    this.#namesChanged = namesChanged;
    this.#shownUsers = shownUsers;
  }

  /** Returns the app's name if it is known. If it is not, `namesChanged` is called once it is. */
  name(user) {
    const isAnswered = this.#names.has(user) || (this.#failed.get(user)?.retryAt ?? null) !== null;
    if (this.#resolve && !isAnswered && !this.#pending.has(user)) {
      this.#queue.add(user);
      this.#askNext();
    }
    return this.#names.get(user);
  }

  /** The app is no longer asked. */
  close() {
    this.#resolve = null;
    this.#queue.clear();
    this.#pending.clear();
    for (const alarm of [this.#reportAlarm, this.#retryAlarm, this.#timeoutAlarm]) alarm.set(null);
  }

  #askNext() {
    while (this.#queue.size > 0 && this.#pending.size < NameCache.CONCURRENCY) {
      const [user] = this.#queue;
      this.#queue.delete(user);
      this.#ask(user);
    }
    const [oldest] = this.#pending.values();
    this.#timeoutAlarm.set(oldest?.until ?? null);
  }

  /** A name that the app returns without a promise is shown at once. */
  #ask(user) {
    try {
      const answer = this.#resolve(user);
      if (typeof answer?.then !== "function") return this.#answered(user, answer);
      const call = { until: performance.now() + this.#timeout };
      this.#pending.set(user, call);
      // A name counts however late it arrives. A late failure does not: it was recorded when the answer took too long.
      const failed = (error) => { if (this.#pending.get(user) === call) this.#failedFor(user, error); };
      answer.then((name) => this.#answered(user, name), failed).then(() => this.#askNext());
    } catch (error) {
      this.#failedFor(user, error);
    }
  }

  /** Calls that take too long make room for the next ones. */
  #endLate() {
    for (const [user, { until }] of this.#pending) {
      if (until > performance.now()) break;
      this.#failedFor(user, new Error("the names callback did not answer in time"));
    }
    this.#askNext();
  }

  #answered(user, name) {
    this.#pending.delete(user);
    this.#failed.delete(user);
    this.#names.set(user, name ?? undefined);
    this.#dropHidden();
    this.#reportSoon(user);
  }

  /** Reports what the app throws as an error of the page. */
  #failedFor(user, error) {
    reportError(error);
    this.#pending.delete(user);
    const { backoff } = this.#failed.get(user)
      ?? { backoff: new Backoff(NameCache.FIRST_PAUSE, NameCache.LONGEST_PAUSE) };
    const retryAt = performance.now() + backoff.failed();
    this.#failed.set(user, { backoff, retryAt });
    this.#dropHidden();
    this.#retryBy(retryAt);
  }

  /** Drops users who are not on show. The capacity is then twice what is left, so that this costs little per name. */
  #dropHidden() {
    if (this.#count <= this.#capacity) return;
    const shown = this.#shownUsers();
    for (const users of [this.#names, this.#failed, this.#queue]) {
      for (const user of users.keys()) if (!shown.has(user)) users.delete(user);
    }
    this.#capacity = Math.max(NameCache.CAPACITY, 2 * this.#count);
  }

  get #count() { return this.#names.size + this.#failed.size + this.#queue.size; }

  #reportSoon(user) {
    if (!this.#resolve) return;
    this.#changed.add(user);
    this.#reportAlarm.set(Math.max(performance.now(), this.#reportedAt + NameCache.COLLECTION_TIME));
  }

  #report() {
    this.#reportedAt = performance.now();
    const changed = this.#changed;
    this.#changed = new Set();
    this.#namesChanged(changed);
  }

  /** Retries at most once a second, however many users are due. */
  #retryBy(time) {
    if (!this.#resolve) return;
    this.#retryAt = Math.min(this.#retryAt, Math.max(time, performance.now() + SECOND));
    if (this.#retryAt < Infinity) this.#retryAlarm.set(this.#retryAt);
  }

  /** The app is asked again for a user when the user is shown again. For users who are on show, that is now. */
  #retry() {
    let next = Infinity;
    for (const [user, failure] of this.#failed) {
      if (failure.retryAt === null) continue;
      if (failure.retryAt > performance.now()) {
        next = Math.min(next, failure.retryAt);
        continue;
      }
      failure.retryAt = null;
      this.#reportSoon(user);
    }
    this.#retryAt = Infinity;
    this.#retryBy(next);
  }
}

// ---- observations.js

// What the app observes: the connection, users, and conversations with their typists and members.

/**
 * The first observer of a user or a conversation makes the client request it from the worker, and the last one to end
 * makes the client give it up. A value without observers is kept as long as the worker still sends it: a new observer
 * may come before the worker is told to stop.
 *
 * Each `observe…` method takes `receive`, called with each value, and `finish`, called when the observation ends. It
 * returns a function that ends the observation.
 */
class Observations {
  connectionState = new ObservedValue({ status: "idle" });
  #sender;
  #hasField;
  #presencesChanged;
  #names;
  #presences = new Map();
  /** The conversations that are observed or typed in. */
  #conversations = new Map();
  /** The functions that end the current observations. */
  #endings = new Set();

  /**
   * @param hasField returns whether the user has an input field in a conversation
   * @param presencesChanged called after users were added or removed
   */
  constructor({ names, connectTimeout }, sender, hasField, presencesChanged) {
    this.#sender = sender;
    this.#hasField = hasField;
    this.#presencesChanged = presencesChanged;
    this.#names = new NameCache(
      names, connectTimeout,
      (users) => { for (const conversation of this.#conversations.values()) conversation.namesChanged(users); },
      () => new Set([...this.#conversations.values()].flatMap((conversation) => conversation.users)));
  }

  get hasPresences() { return this.#presences.size > 0; }

  close() {
    for (const end of [...this.#endings]) end();
    for (const conversation of this.#conversations.values()) conversation.end();
    this.#presences.clear();
    this.#conversations.clear();
    this.#names.close();
  }

  // Observers.

  observeConnection(receive, finish) {
    const observer = { receive };
    this.connectionState.add(observer);
    return this.#begin(finish, () => this.connectionState.remove(observer));
  }

  observeTyping(name, receive, finish) {
    if (this.#sender.isClosed) return endedAtOnce(finish);
    const observer = { receive };
    this.join(name).typing.add(observer);
    return this.#begin(finish, () => {
      this.#conversations.get(name)?.typing.remove(observer);
      this.release(name);
    });
  }

  observeMembers(name, receive, finish) {
    if (this.#sender.isClosed) return endedAtOnce(finish);
    const observer = { receive };
    const conversation = this.join(name);
    conversation.memberList ??= new MemberList(
      name, this.#names, (user, receivePresence) => this.#observeMember(user, receivePresence));
    conversation.memberList.members.add(observer);
    this.#sender.outbox.memberLists.add(name);
    return this.#begin(finish, () => {
      this.#conversations.get(name)?.memberList?.members.remove(observer);
      this.#releaseMembers(name);
      this.release(name);
    });
  }

  observePresence(users, receive, finish) {
    if (this.#sender.isClosed) return endedAtOnce(finish);
    const observers = users.map((user) => ({ user, receive, needsWatch: true }));
    for (const observer of observers) this.#watch(observer);
    return this.#begin(finish, () => {
      for (const observer of observers) this.#releasePresence(observer);
    });
  }

  observePresenceOfMany(users, receive, finish) {
    let isOver = false;
    const group = new PresenceGroup((presences) => isOver || receive(presences));
    const end = this.observePresence(users, (presence) => group.received(presence), finish);
    return () => {
      isOver = true;
      end();
    };
  }

  latestMembers(name) { return this.#conversations.get(name)?.memberList?.members.latest; }
  latestTyping(name) { return this.#conversations.get(name)?.typing.latest; }
  latestPresence(user) { return this.#presences.get(user)?.latest; }

  latestPresences(users) {
    return new Map(users.flatMap((user) => {
      const presence = this.latestPresence(user);
      return presence ? [[user, presence]] : [];
    }));
  }

  #begin(finish, release) {
    const end = () => {
      if (!this.#endings.delete(end)) return;
      release();
      finish();
    };
    this.#endings.add(end);
    if (this.#sender.isClosed) queueMicrotask(end);
    return end;
  }

  // Users.

  #presence(user) {
    const presence = this.#presences.get(user) ?? new ObservedValue();
    this.#presences.set(user, presence);
    this.#presencesChanged();
    return presence;
  }

  /** Observes a member, whose presence the worker sends without a watch. */
  #observeMember(user, receive) {
    const observer = { user, receive };
    this.#presence(user).add(observer);
    return () => this.#releasePresence(observer);
  }

  #watch(observer) {
    this.#presence(observer.user).add(observer);
    this.#sender.outbox.users.add(observer.user);
    this.#sender.changed();
  }

  #releasePresence(observer) {
    const { user } = observer;
    const presence = this.#presences.get(user);
    presence?.remove(observer);
    if (!presence || presence.needsWatch) return;
    this.#sender.outbox.users.remove(user);
    this.dropUnusedPresence(user);
    this.#sender.changed();
  }

  /** Drops a user whom nobody observes and whom the worker no longer sends. */
  dropUnusedPresence(user) {
    const isKept = this.#presences.get(user)?.isObserved || this.#sender.outbox.users.isRequested(user);
    if (!isKept) this.#presences.delete(user);
    this.#presencesChanged();
  }

  // Conversations.

  /** Returns the conversation, and requests it from the worker, again if the worker refused it before. */
  join(name) {
    const conversation = this.#conversations.get(name) ?? new Conversation(name, this.#names);
    this.#conversations.set(name, conversation);
    this.#sender.outbox.conversationWanted(name);
    this.#sender.changed();
    return conversation;
  }

  /** Gives up a conversation that is no longer used. */
  release(name) {
    const conversation = this.#conversations.get(name);
    if (!conversation || this.#isUsed(conversation)) return;
    this.#sender.outbox.conversationUnwanted(name);
    this.dropUnusedConversation(name);
    this.#sender.changed();
  }

  #releaseMembers(name) {
    const memberList = this.#conversations.get(name)?.memberList;
    if (!memberList || memberList.members.isObserved) return;
    this.#sender.outbox.memberLists.remove(name);
    this.dropUnusedConversation(name);
    this.#sender.changed();
  }

  #isUsed(conversation) { return conversation.isObserved || this.#hasField(conversation.name); }

  /** Drops a conversation, or only its members, if it is not used and the worker no longer sends it. */
  dropUnusedConversation(name) {
    const conversation = this.#conversations.get(name);
    if (!conversation) return;
    const { outbox } = this.#sender;
    const hasMembers = conversation.memberList?.members.isObserved || outbox.memberLists.isRequested(name);
    if (!hasMembers) conversation.endMemberList();
    if (this.#isUsed(conversation) || outbox.conversations.isRequested(name)) return;
    conversation.end();
    this.#conversations.delete(name);
  }

  // What happens at the worker.

  typingReceived(message, expiry) { this.#conversations.get(message.conversation)?.typingReceived(message, expiry); }
  membersReceived(message) { this.#conversations.get(message.conversation)?.memberList?.received(message); }
  presenceReceived(presence) { this.#presences.get(presence.user)?.update(presence); }

  refused(name, error) { this.#conversations.get(name)?.refused(error); }

  /** The user was removed from a conversation. */
  removed(name, error) {
    this.#sender.removed(name);
    this.refused(name, error);
    this.dropUnusedConversation(name);
    // There is room for a conversation beyond the limit.
    this.#sender.changed();
  }

  /**
   * Drops what this message gives up.
   *
   * @param {{ type: string, users?: string[], conversation?: string, presence?: boolean }} message
   */
  messageSent({ type, users, conversation, presence }) {
    if (type === "unwatch") for (const user of users) this.dropUnusedPresence(user);
    if (type === "leave" || type === "join" && presence === false) this.dropUnusedConversation(conversation);
  }

  connectionLost() {
    for (const name of this.#conversations.keys()) this.dropUnusedConversation(name);
    for (const user of this.#presences.keys()) this.dropUnusedPresence(user);
  }

  /** The worker's clock was set, so texts like "last seen" have changed. */
  clockSet() {
    for (const presence of this.#presences.values()) presence.repeat();
    for (const conversation of this.#conversations.values()) conversation.memberList?.members.repeat();
  }
}

/** For an observation that ends as soon as it begins. */
function endedAtOnce(finish) {
  queueMicrotask(finish);
  return () => {};
}

// ---- typing-field.js

// When a person counts as typing in one input field, and when the worker must be told.

/** Returns the app's settings with defaults. They are checked together because each limits the others. */
function checkedTypingSettings({
  debounce = 300, throttle = SECOND, inactivity = 3 * SECOND, expiry = 3 * SECOND,
} = {}) {
  const problems = [];
  if (!(debounce >= 0)) problems.push("debounce is negative");
  if (!(throttle > 0)) problems.push("throttle is not positive");
  if (!(inactivity > debounce)) problems.push("inactivity is not longer than debounce");
  if (!(throttle <= expiry - SECOND)) {
    problems.push("throttle is longer than expiry less 1 s: a renewal could come too late");
  }
  if (problems.length) throw new InvalidTypingSettings(problems);
  return { debounce, throttle, inactivity };
}

/**
 * The state of one input field, without timers or I/O. Each event returns the signal that the worker needs now:
 * `"typing"`, `"stopped"` or null.
 */
class TypingField {
  /** `empty`; `debouncing`, with text for less than the debounce; `typing`; or `paused`, with text but no edits. */
  #phase = "empty";
  #settings;
  #throttle;
  #filledAt = 0;
  #signalledAt = 0;
  #editedAt = 0;

  constructor(settings) {
    this.#settings = settings;
    this.#throttle = settings.throttle;
  }

  get isTyping() { return this.#phase === "typing"; }

  /** When to call `deadlinePassed`; null for never. */
  get deadline() {
    const { debounce, inactivity } = this.#settings;
    switch (this.#phase) {
      case "debouncing": return this.#filledAt + debounce;
      case "typing": return Math.min(this.#signalledAt + this.#throttle, this.#editedAt + inactivity);
      default: return null;
    }
  }

  /** @param {boolean} hasText whether the field contains anything but white space */
  edited(hasText, now) {
    if (!hasText) return this.ended();
    this.#editedAt = now;
    switch (this.#phase) {
      case "empty":
        this.#phase = "debouncing";
        this.#filledAt = now;
        return this.deadlinePassed(now);
      case "paused": return this.#signal(now);
      default: return this.deadlinePassed(now);
    }
  }

  /** The text was sent or deleted, the field was hidden, or the app went to the background. */
  ended() {
    const wasTyping = this.isTyping;
    this.#phase = "empty";
    return wasTyping ? "stopped" : null;
  }

  deadlinePassed(now) {
    if (this.deadline === null || now < this.deadline) return null;
    if (!this.isTyping || now < this.#editedAt + this.#settings.inactivity) return this.#signal(now);
    this.#phase = "paused";
    return "stopped";
  }

  /** A new connection has opened. Its worker does not know yet that the user types here. */
  connected(now) { return this.isTyping ? this.#signal(now) : null; }

  /** The worker ends typing `expiry` after the last signal, so a renewal must arrive a second before that. */
  expiryLearned(expiry) {
    this.#throttle = Math.min(this.#settings.throttle, Math.max(100, expiry - SECOND));
    return null;
  }

  #signal(now) {
    this.#phase = "typing";
    this.#signalledAt = now;
    return "typing";
  }
}

/**
 * A `TypingField` with its timer. A conversation may have several (two windows of an app): the user types there while
 * any of them is being typed in.
 */
class InputField {
  #field;
  #signal;
  #alarm = new Alarm(() => this.#handle((field, now) => field.deadlinePassed(now)));

  /** @param signal called with `"typing"` or `"stopped"` */
  constructor(conversation, settings, expiry, signal) {
    this.conversation = conversation;
    this.#signal = signal;
    this.#field = new TypingField(settings);
    this.#field.expiryLearned(expiry);
  }

  get isTyping() { return this.#field.isTyping; }
  edited(hasText) { this.#handle((field, now) => field.edited(hasText, now)); }
  ended() { this.#handle((field) => field.ended()); }
  connected() { this.#handle((field, now) => field.connected(now)); }
  expiryLearned(expiry) { this.#handle((field) => field.expiryLearned(expiry)); }

  #handle(event) {
    const signal = event(this.#field, performance.now());
    this.#alarm.set(this.#field.deadline);
    if (signal) this.#signal(signal);
  }
}

// ---- own-typing.js

// The user's own typing in this app: the input fields, and what the worker is told of them.

/**
 * Without a connection, signals are dropped and the fields keep their state. A new connection is told what is true then.
 */
class OwnTyping {
  #settings;
  #sender;
  #observations;
  #edited;
  /** How long after a signal the worker ends the typing. */
  #expiry = 3 * SECOND;
  /** The fields whose views are shown. */
  #fields = new Set();
  /** The signals that end typing and are not confirmed yet. */
  #stops = new Set();

  /** @param edited called on each edit */
  constructor(settings, sender, observations, edited) {
    this.#settings = settings;
    this.#sender = sender;
    this.#observations = observations;
    this.#edited = edited;
  }

  hasField(conversation) { return this.#fieldsIn(conversation).length > 0; }

  makeField(conversation) {
    return new InputField(conversation, this.#settings, this.#expiry, (signal) => {
      if (!this.#sender.isOpen || signal === "stopped" && this.#isTyping(conversation)) return;
      this.#sender.outbox.typingSignalled(signal === "typing", conversation);
      this.#sender.changed();
    });
  }

  fieldAppeared(field) {
    if (this.#sender.isClosed) return;
    field.expiryLearned(this.#expiry);
    this.#fields.add(field);
    this.#observations.join(field.conversation);
  }

  fieldEdited(field, hasText) {
    if (this.#sender.isClosed) return;
    if (hasText && !this.#fields.has(field)) this.fieldAppeared(field);
    this.#edited();
    field.edited(hasText);
  }

  fieldDisappeared(field) {
    field.ended();
    this.#fields.delete(field);
    this.#observations.release(field.conversation);
  }

  /**
   * Ends the typing in a field. Resolves with true once the end is published, and with false if that is not known after
   * `within` milliseconds.
   */
  endAndConfirm(field, within) {
    field.ended();
    const { conversation } = field;
    if (this.#isTyping(conversation)) return Promise.resolve(true);
    if (!this.#sender.isOpen) return Promise.resolve(false);
    // This worker was never told of the typing, so nobody sees it.
    if (!this.#sender.outbox.conversations.isRequested(conversation)) return Promise.resolve(true);
    return new Promise((resolve) => this.#sendStop(conversation, within, resolve));
  }

  #sendStop(conversation, within, resolve) {
    const stop = { end: (isPublished) => {
      alarm.set(null);
      this.#stops.delete(stop);
      resolve(isPublished);
    } };
    const alarm = new Alarm(() => stop.end(false));
    alarm.set(performance.now() + within);
    this.#stops.add(stop);
    this.#sender.outbox.typingSignalled(false, conversation, stop);
    this.#sender.changed();
  }

  endAll() { for (const field of this.#fields) field.ended(); }

  connectionOpened() { for (const field of this.#fields) field.connected(); }

  expiryLearned(expiry) {
    this.#expiry = expiry;
    for (const field of this.#fields) field.expiryLearned(expiry);
  }

  connectionLost() { for (const stop of [...this.#stops]) stop.end(false); }

  close() { this.#fields.clear(); }

  #fieldsIn(conversation) { return [...this.#fields].filter((field) => field.conversation === conversation); }
  #isTyping(conversation) { return this.#fieldsIn(conversation).some((field) => field.isTyping); }
}

// ---- updates.js

// How an app observes a value, and how it ends that.

/**
 * The method with which `using` ends something, if the browser supports that.
 *
 * @type {typeof Symbol.dispose}
 */
const DISPOSE = Symbol.dispose ?? /** @type {any} */ (Symbol("dispose"));

/**
 * Returns a function that calls `end`, and that `using` calls too.
 *
 * @returns {import("./rollcall.js").Ending}
 */
function ending(end) { return /** @type {any} */ (Object.assign(() => end(), { [DISPOSE]: () => end() })); }

/** Calls `end` when the signal is aborted. Returns a function that stops the listening. */
function onAbort(signal, end) {
  if (signal?.aborted) queueMicrotask(end);
  signal?.addEventListener("abort", end);
  return () => signal?.removeEventListener("abort", end);
}

/**
 * The latest value of something, and its changes. Observe it with a callback or with `for await`, as often as needed and
 * at the same time. A slow reader skips values but always gets the latest. The observation ends with the client, and
 * when its `signal` is aborted.
 *
 * @template Value
 */
export class Updates {
  #observe;
  #latest;
  #signal;

  /** @internal */
  constructor(observe, latest, signal) {
    this.#observe = observe;
    this.#latest = latest;
    this.#signal = signal;
  }

  /** The value that is known now. Undefined if nothing observes it, or if no value has arrived yet. */
  get latest() { return this.#latest(); }

  /**
   * Calls `listener` with the latest value, but not within this call, and then with every change.
   *
   * @param {(value: Value) => void} listener
   * @param {{ signal?: AbortSignal }} options
   * @returns a function that ends it
   */
  subscribe(listener, { signal } = {}) { return this.#begin(listener, () => {}, signal); }

  /** @returns {AsyncIterableIterator<Value>} */
  [Symbol.asyncIterator]() {
    return new LatestIterator((receive, finish) => this.#begin(receive, finish));
  }

  #begin(receive, finish, signal) {
    const forget = [this.#signal, signal].map((each) => onAbort(each, () => end()));
    const end = this.#observe(receive, () => {
      for (const each of forget) each();
      finish();
    });
    return ending(end);
  }
}

/** An iterator that keeps one value: a slow reader skips values, so they do not pile up. */
class LatestIterator {
  /** At most one of the two is set: a value that nobody has taken, or a call of `next` that waits for one. */
  #value = null;
  #waiting = null;
  #isOver = false;
  #end;

  constructor(observe) {
    this.#end = observe((value) => this.#received(value), () => this.#finished());
  }

  [Symbol.asyncIterator]() { return this; }

  next() {
    const result = this.#value;
    this.#value = null;
    if (result) return Promise.resolve(result);
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
    this.#waiting?.resolve({ done: true, value: undefined });
    return new Promise((resolve) => { this.#waiting = { resolve }; });
  }

  return() {
    this.#value = null;
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  #received(value) {
    const result = { done: false, value };
    if (this.#waiting) this.#waiting.resolve(result);
    else this.#value = result;
    this.#waiting = null;
  }

  #finished() {
    this.#isOver = true;
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = null;
  }
}

// ---- presence-fetches.js

// Presence that an app asks for once, without observing it.

/** The fetches that are not complete: `{ awaited, found, done }`. They survive the end of a connection. */
class PresenceFetches {
  #sender;
  #fetches = new Set();

  constructor(sender) { this.#sender = sender; }

  /** Resolves with what is known once all users are, after `within` milliseconds, or when `signal` is aborted. */
  fetch(users, within, signal) {
    return new Promise((resolve) => {
      if (this.#sender.isClosed || users.length === 0 || signal?.aborted) return resolve(new Map());
      const end = () => this.end(fetch);
      const alarm = new Alarm(end);
      const forget = onAbort(signal, end);
      const fetch = { awaited: new Set(users), found: new Map(), done: (found) => {
        alarm.set(null);
        forget();
        resolve(found);
      } };
      alarm.set(performance.now() + within);
      this.#fetches.add(fetch);
      if (!this.#sender.isOpen) return;
      this.#request(fetch);
      this.#sender.changed();
    });
  }

  #request(fetch) { this.#sender.outbox.fetchRequested(fetch, [...fetch.awaited]); }

  connectionOpened() { for (const fetch of this.#fetches) this.#request(fetch); }

  /** Presence arrived in answer to the message with this id. */
  received(id, presences) {
    this.#sender.outbox.getAnswered(id);
    const fetch = this.#sender.outbox.fetchOf(id);
    if (fetch) this.#found(fetch, presences);
    this.#sender.changed();
  }

  #found(fetch, presences) {
    for (const presence of presences) {
      if (fetch.awaited.delete(presence.user)) fetch.found.set(presence.user, presence);
    }
    if (fetch.awaited.size === 0) this.end(fetch);
  }

  end(fetch) {
    if (!this.#fetches.delete(fetch)) return;
    this.#sender.outbox.fetchEnded(fetch);
    fetch.done(fetch.found);
  }

  close() { for (const fetch of this.#fetches) this.end(fetch); }
}

// ---- message-budget.js

// How many messages the client may send now.

/** The number of messages that workers count these as. Verifying a fresh token costs them more than any other. */
const costOf = (messages) => messages.reduce((sum, { type }) => sum + (type === "token" ? 10 : 1), 0);

/**
 * A token bucket. A worker slows down or closes a session that sends too much, so the client uses less than the worker
 * allows: three quarters of the burst and nine tenths of the rate. A network may bunch messages that were sent evenly.
 */
class MessageBudget {
  #perSecond = DEFAULT_LIMITS.message_rate;
  #capacity = DEFAULT_LIMITS.message_burst;
  #left = this.#capacity;
  #countedAt;

  constructor(now) { this.#countedAt = now; }

  limitsReceived({ message_rate, message_burst }, now) {
    const spent = this.#capacity - this.#available(now);
    this.#perSecond = Math.max(1, message_rate * 0.9);
    this.#capacity = Math.max(1, message_burst * 0.75);
    this.#left = Math.max(0, this.#capacity - spent);
  }

  /** How many messages may be sent. A thousandth is added so that rounding never leaves no room at `nextRoom`. */
  allowance(now) { return Math.max(0, Math.floor(this.#available(now) + 0.001)); }

  spend(messages) { this.#left -= messages; }

  /** When there is room for another message. */
  get nextRoom() { return this.#countedAt + Math.max(0, 1 - this.#left) / this.#perSecond * SECOND; }

  #available(now) {
    const elapsed = Math.max(0, now - this.#countedAt);
    this.#left = Math.min(this.#capacity, this.#left + elapsed / SECOND * this.#perSecond);
    this.#countedAt = now;
    return this.#left;
  }
}

// ---- subscriptions.js

// What a client wants from its worker by name (users to watch, conversations to join), and what it has requested.
// The Swift client has `Wanted` for this.

/**
 * The difference between the names that are wanted and those that were requested on this connection. Sending the
 * difference brings a connection up to date, also a new one, on which nothing was requested yet.
 *
 * Messages are numbered in the order in which they are sent. Their answers may arrive in any order, so a refusal counts
 * only for names that were not given up, and requested again, after the refused message.
 */
class Subscriptions {
  #wanted = new Set();
  /**
   * The names that were requested and not given up since: the number of the first message that requested each, and how
   * many messages that requested it were not refused. The worker serves a name unless it refuses all of them.
   */
  #requested = new Map();
  /** Wanted, and to be requested. */
  #missing = new Set();
  /** No longer wanted, and to be given up. */
  #surplus = new Set();
  /** Refused for now: not requested before `retry`, even if they are removed and added again before that. */
  #delayed = new Set();
  /** The worker refused for now to give these up. It may serve them even if it refuses to serve them anew. */
  #lingering = new Set();

  get requestedCount() { return this.#requested.size; }
  get hasMissing() { return this.#missing.size > 0; }
  get hasSurplus() { return this.#surplus.size > 0; }
  isWanted(name) { return this.#wanted.has(name); }
  isRequested(name) { return this.#requested.has(name); }
  isMissing(name) { return this.#missing.has(name); }
  /** Whether a name is missing or surplus for which `isReady` is true. */
  isDue(isReady) { return [...this.#missing, ...this.#surplus].some(isReady); }

  add(name) {
    this.#wanted.add(name);
    this.#surplus.delete(name);
    if (!this.#requested.has(name) && !this.#delayed.has(name)) this.#missing.add(name);
  }

  remove(name) {
    this.#wanted.delete(name);
    this.#missing.delete(name);
    const isLingering = this.#lingering.has(name) && !this.#delayed.has(name);
    if (this.#requested.has(name) || isLingering) this.#surplus.add(name);
  }

  /** The worker does not serve the name. It is not requested again before the next connection or `add`. */
  refused(name) {
    for (const names of [this.#requested, this.#surplus, this.#delayed, this.#lingering]) names.delete(name);
  }

  /** Whether a refusal of this message still concerns the name: it was not given up and requested again since. */
  isRefused(name, message) { return this.#requested.get(name)?.first <= message; }

  /** The worker refused for now to serve the names that this message requested. */
  refusedForNow(names, message) {
    for (const name of names) {
      if (!this.isRefused(name, message) || --this.#requested.get(name).count > 0) continue;
      this.#requested.delete(name);
      this.#surplus.delete(name);
      this.#delayed.add(name);
    }
  }

  /** The worker refused for now to give these names up. */
  keptForNow(names) { for (const name of names) this.#lingering.add(name); }

  /** Everything that was refused for now is due again. */
  retry() {
    for (const name of this.#delayed) if (this.#wanted.has(name)) this.#missing.add(name);
    for (const name of this.#lingering) if (!this.#wanted.has(name)) this.#surplus.add(name);
    this.#delayed.clear();
  }

  /** The connection ended, and its worker forgets everything. */
  connectionLost() {
    for (const names of [this.#requested, this.#surplus, this.#delayed, this.#lingering]) names.clear();
    this.#missing = new Set(this.#wanted);
  }

  /** This message requests the name, perhaps in addition to something else. */
  requested(name, message) {
    this.#missing.delete(name);
    this.#delayed.delete(name);
    const request = this.#requested.get(name) ?? { first: message, count: 0 };
    request.count++;
    this.#requested.set(name, request);
  }

  /** Returns up to `limit` names to request. Call `requested` for each that is. */
  nextMissing(limit, isReady) { return firstOf(this.#missing, limit, isReady); }

  /** Returns up to `limit` names to give up, which count as given up from now on. */
  takeSurplus(limit, isReady) {
    const names = firstOf(this.#surplus, limit, isReady);
    for (const name of names) {
      this.#surplus.delete(name);
      this.#requested.delete(name);
      this.#lingering.delete(name);
    }
    return names;
  }
}

function firstOf(names, limit, isReady = (name) => true) {
  const found = [];
  for (const name of names) {
    if (found.length >= limit) break;
    if (isReady(name)) found.push(name);
  }
  return found;
}

// ---- outbox.js

// What the client has to send to its worker, in which order, and what follows from the worker's answers.
// The Swift client has `Agenda` for this.

/** The type of the message that had this subject. */
function messageType({ fetch, users, conversation, unwatched, left, stop, state }) {
  if (fetch) return "get";
  if (users) return "watch";
  if (conversation !== undefined) return "join";
  if (unwatched) return "unwatch";
  if (left !== undefined) return "leave";
  if (stop) return "typing";
  return state ? "state" : "token";
}

/**
 * The messages that are due, without timers or I/O. The user's own typing goes first because people wait for it, then
 * whatever makes room at the worker, then whatever asks for more. A message that another one replaces before it is sent
 * is never sent. What the worker refuses for now is sent again later, as long as it is wanted.
 *
 * A message with an id has a subject, which the answer is about: `{ users }` for `watch`, `{ unwatched }`,
 * `{ conversation }` for `join` (with `withoutMembers` if it gives up the members), `{ left }` for `leave`,
 * `{ fetch, users }` for `get`, `{ stop }` for the end of typing, `{ state }` or `{ token }`.
 */
class Outbox {
  users = new Subscriptions();
  conversations = new Subscriptions();
  /** The conversations whose members are wanted too. */
  memberLists = new Subscriptions();
  #limits = DEFAULT_LIMITS;
  #state = null;
  #token = null;
  /** The user's own typing: `{ conversation, typing, stop }`. `stop` is set if the client waits for its publication. */
  #signals = [];
  /** Presence to ask for once: `{ fetch, users }`. */
  #gets = [];
  /** Refused for now. */
  #delayedState = null;
  #delayedToken = null;
  #delayedGets = [];
  #retries = new RetrySchedule();
  #rejoins = new RejoinSchedule();
  /** The subjects of messages without an answer, by message id. */
  #unanswered = new Map();
  /** How many users each `get` without an answer contains, even if nobody waits for the answer any more. */
  #getSizes = new Map();
  #lastID = 0;
  /** The ids of the last messages with the device's state and with a fresh token. */
  #lastState = 0;
  #lastToken = 0;

  /** When to call `retryDue`; null if nothing waits for a retry. */
  get retryTime() { return this.#retries.deadline; }

  /** When to call `rejoinDue`; null if the user is a member of all wanted conversations. */
  get rejoinTime() { return this.#rejoins.deadline; }

  /** Whether there are more messages that the worker's limits allow. */
  get hasMore() {
    return this.#state !== null || this.#token !== null
      || this.#signals.some(({ conversation }) => this.#isJoined(conversation))
      || this.users.hasSurplus || this.conversations.hasSurplus || this.memberLists.isDue(this.#isJoined)
      || this.#gets.length > 0 && this.#getRoom > 0
      || this.users.hasMissing && this.#userRoom > 0
      || this.conversations.hasMissing && this.#conversationRoom > 0;
  }

  /** Whether more users or conversations are wanted than the worker allows a session. */
  get isBeyondLimits() {
    return this.users.hasMissing && this.#userRoom <= 0 || this.conversations.hasMissing && this.#conversationRoom <= 0;
  }

  limitsReceived(limits) { this.#limits = limits; }

  /** Requests the conversation at once, also if the worker refused it before. */
  conversationWanted(conversation) {
    this.#rejoins.forget(conversation);
    this.conversations.add(conversation);
  }

  conversationUnwanted(conversation) {
    this.#rejoins.forget(conversation);
    this.conversations.remove(conversation);
  }

  stateChanged(state) {
    this.#state = state;
    this.#delayedState = null;
  }

  tokenRenewed(token) {
    this.#token = token;
    this.#delayedToken = null;
  }

  fetchRequested(fetch, users) { this.#gets.push({ fetch, users }); }

  fetchEnded(fetch) {
    this.#gets = this.#gets.filter((get) => get.fetch !== fetch);
    this.#delayedGets = this.#delayedGets.filter((get) => get.fetch !== fetch);
    for (const [id, subject] of this.#unanswered) if (subject.fetch === fetch) this.#unanswered.delete(id);
  }

  /** Replaces an earlier signal of the conversation that was not sent yet, unless the client waits for that one. */
  typingSignalled(typing, conversation, stop) {
    this.#signals = this.#signals.filter((signal) => signal.conversation !== conversation || signal.stop);
    this.#signals.push({ conversation, typing, stop });
  }

  // Answers.

  /** The worker answered a `get` with presence, so there is room for more. */
  getAnswered(id) {
    if (this.#getSizes.delete(id)) this.#retries.succeeded("get", id);
  }

  /** Returns the fetch to which a message without an answer belongs. */
  fetchOf(id) { return this.#unanswered.get(id)?.fetch; }

  /** Returns the subject of the acknowledged message, once. */
  acknowledged(id) {
    const subject = this.#unanswered.get(id);
    if (subject) this.#retries.succeeded(messageType(subject), id);
    if (subject?.conversation !== undefined) this.#rejoins.accepted(subject.conversation);
    // The answer to a fetch is presence, which may arrive after the acknowledgement.
    return this.fetchOf(id) ? undefined : this.#takeSubject(id);
  }

  /**
   * The worker refused a message. Returns the message's subject and the outcome: the message is `retried`, the refusal
   * is `final`, or it is `stale` because it concerns nothing that is wanted now.
   *
   * A refusal with `limit` is final for the app, but the message is sent again: there is room after something else was
   * given up. And a session that met the limit before it received the limits asks for less from then on.
   */
  refused({ id, code, retry }, now) {
    this.#getSizes.delete(id);
    const subject = this.#takeSubject(id);
    if (!subject) return { outcome: "stale" };
    const needsRoom = subject.users || subject.conversation !== undefined;
    // A stop is not sent again: the app learns of the refusal at once, and the typing expires by itself.
    if (subject.stop || !retry && !(code === "limit" && needsRoom)) {
      const outcome = this.#refusedForGood(subject, id);
      if (outcome === "final" && code === "not_a_member") this.#notAMember(subject.conversation, now);
      return { subject, outcome };
    }
    this.#delay(subject, id);
    this.#retries.refused(messageType(subject), now);
    return { subject, outcome: retry || subject.fetch ? "retried" : "final" };
  }

  /** The worker ended a conversation, because the user is no longer a member. */
  removed(conversation, now) {
    this.conversations.refused(conversation);
    this.memberLists.refused(conversation);
    this.#notAMember(conversation, now);
  }

  #notAMember(conversation, now) {
    if (this.conversations.isWanted(conversation)) this.#rejoins.refused(conversation, now);
  }

  /** Makes the joins due whose pauses have ended. */
  rejoinDue(now) { for (const conversation of this.#rejoins.takeDue(now)) this.conversations.add(conversation); }

  /** Makes everything due that was refused for now. */
  retryDue() {
    this.#retries.begin(this.#lastID);
    for (const names of [this.users, this.conversations, this.memberLists]) names.retry();
    this.#state ??= this.#delayedState;
    this.#token ??= this.#delayedToken;
    this.#gets.push(...this.#delayedGets);
    this.#forgetDelayed();
  }

  #takeSubject(id) {
    const subject = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    return subject;
  }

  #delay({ users, fetch, conversation, unwatched, left, withoutMembers, state, token }, id) {
    if (fetch) this.#delayedGets.push({ fetch, users });
    else if (users) this.users.refusedForNow(users, id);
    else if (unwatched) this.users.keptForNow(unwatched);
    else if (left !== undefined) this.conversations.keptForNow([left]);
    else if (withoutMembers) {
      this.conversations.refusedForNow([conversation], id);
      this.memberLists.keptForNow([conversation]);
    }
    else if (conversation !== undefined) {
      this.conversations.refusedForNow([conversation], id);
      this.memberLists.refusedForNow([conversation], id);
    } else if (state && id === this.#lastState) this.#delayedState = state;
    else if (token && id === this.#lastToken) this.#delayedToken = token;
  }

  /** Drops what is refused, unless it was requested again since. */
  #refusedForGood(subject, id) {
    const { users, fetch, conversation } = subject;
    if (users && !fetch) for (const user of users) if (this.users.isRefused(user, id)) this.users.refused(user);
    if (conversation === undefined) return "final";
    if (!this.conversations.isRefused(conversation, id)) return "stale";
    this.conversations.refused(conversation);
    this.memberLists.refused(conversation);
    return "final";
  }

  #forgetDelayed() {
    this.#delayedState = this.#delayedToken = null;
    this.#delayedGets = [];
  }

  /** The worker of the old connection forgets everything. Typing signals are dropped, not kept for the next one. */
  connectionLost() {
    this.users.connectionLost();
    this.conversations.connectionLost();
    this.memberLists.connectionLost();
    this.#signals = [];
    this.#gets = [];
    this.#state = this.#token = null;
    this.#forgetDelayed();
    this.#retries = new RetrySchedule();
    this.#rejoins = new RejoinSchedule();
    this.#unanswered.clear();
    this.#getSizes.clear();
  }

  // Messages.

  /** Returns the next messages, at most `count`. They count as sent from now on. */
  take(count) {
    const messages = [];
    const room = () => count - messages.length;
    this.#takeSignals(messages, room);
    if (this.#token !== null && room() > 0) {
      messages.push({ type: "token", token: this.#token, id: this.#lastToken = this.#newID({ token: this.#token }) });
      this.#token = null;
    }
    if (this.#state !== null && room() > 0) {
      messages.push({ type: "state", state: this.#state, id: this.#lastState = this.#newID({ state: this.#state }) });
      this.#state = null;
    }
    for (const conversation of this.conversations.takeSurplus(room())) {
      this.memberLists.refused(conversation);
      messages.push({ type: "leave", conversation, id: this.#newID({ left: conversation }) });
    }
    if (room() > 0 && this.users.hasSurplus) {
      const users = this.users.takeSurplus(this.#usersPerMessage);
      messages.push({ type: "unwatch", users, id: this.#newID({ unwatched: users }) });
    }
    this.#takeJoins(messages, room);
    this.#takeSignals(messages, room);
    if (this.#conversationRoom <= 0) this.#dropSignalsBeyondLimits();
    this.#takeWatches(messages, room);
    this.#takeGets(messages, room);
    return messages;
  }

  /** New conversations first, then those where only the wish for their members has changed. */
  #takeJoins(messages, room) {
    const join = (conversation, presence, subject = {}) => {
      const id = this.#newID({ conversation, ...subject });
      messages.push({ type: "join", conversation, ...presence, id });
      return id;
    };
    for (const conversation of this.conversations.nextMissing(Math.min(room(), this.#conversationRoom))) {
      const withMembers = this.memberLists.isWanted(conversation);
      const id = join(conversation, withMembers && { presence: true });
      this.conversations.requested(conversation, id);
      if (withMembers) this.memberLists.requested(conversation, id);
    }
    for (const each of this.memberLists.nextMissing(room(), this.#isJoined)) {
      const id = join(each, { presence: true });
      this.conversations.requested(each, id);
      this.memberLists.requested(each, id);
    }
    for (const each of this.memberLists.takeSurplus(room(), this.#isJoined)) {
      this.conversations.requested(each, join(each, { presence: false }, { withoutMembers: true }));
    }
  }

  #isJoined = (conversation) => this.conversations.isRequested(conversation);

  /** Takes the signals of joined conversations. Others wait for their join, or are dropped if none is to come. */
  #takeSignals(messages, room) {
    this.#signals = this.#signals.filter((signal) => {
      const { conversation, typing, stop } = signal;
      if (!this.conversations.isRequested(conversation)) return this.conversations.isMissing(conversation);
      if (room() <= 0) return true;
      messages.push({ type: "typing", conversation, typing, ...stop && { id: this.#newID({ stop }) } });
      return false;
    });
  }

  /** Drops the signals of conversations for which the worker has no room. */
  #dropSignalsBeyondLimits() { this.#signals = this.#signals.filter(({ conversation }) => this.#isJoined(conversation)); }

  #takeWatches(messages, room) {
    while (room() > 0 && this.users.hasMissing && this.#userRoom > 0) {
      const users = this.users.nextMissing(Math.min(this.#usersPerMessage, this.#userRoom));
      const id = this.#newID({ users });
      for (const user of users) this.users.requested(user, id);
      messages.push({ type: "watch", users, id });
    }
  }

  #takeGets(messages, room) {
    while (room() > 0 && this.#gets.length > 0 && this.#getRoom > 0) {
      const [get] = this.#gets;
      const users = get.users.slice(0, Math.min(this.#usersPerMessage, this.#getRoom));
      get.users = get.users.slice(users.length);
      if (get.users.length === 0) this.#gets.shift();
      const id = this.#newID({ fetch: get.fetch, users });
      this.#getSizes.set(id, users.length);
      messages.push({ type: "get", users, id });
    }
  }

  #newID(subject) {
    this.#lastID += 1;
    this.#unanswered.set(this.#lastID, subject);
    return this.#lastID;
  }

  get #userRoom() { return this.#limits.watched_users - this.users.requestedCount; }
  get #conversationRoom() { return this.#limits.joined_conversations - this.conversations.requestedCount; }
  get #getRoom() {
    let room = this.#limits.watched_users;
    for (const users of this.#getSizes.values()) room -= users;
    return room;
  }

  /** How many names certainly fit into one message. A name takes 128 bytes at most, or twice that if all are escaped. */
  get #usersPerMessage() { return Math.max(1, Math.floor((this.#limits.message_bytes - 128) / 260)); }
}

// ---- sender.js

// Sends the messages of the outbox, as fast as the worker allows.

class Sender {
  outbox = new Outbox();
  /** Whether the client was closed. Then nothing is observed or sent any more. */
  isClosed = false;
  #connection;
  #sent;
  #report;
  #budget = new MessageBudget(0);
  /** The worker's limits; null before the first welcome. */
  #limits = null;
  #isFlushDue = false;
  #isBeyondLimits = false;
  #budgetAlarm = new Alarm(() => this.flush());
  #retryAlarm = new Alarm(() => {
    this.outbox.retryDue();
    this.changed();
  });
  #rejoinAlarm = new Alarm(() => {
    this.outbox.rejoinDue(performance.now());
    this.#rejoinAlarm.set(this.outbox.rejoinTime);
    this.changed();
  });

  /**
   * @param sent called with each message that was sent
   * @param report called with an error that does not end the connection
   */
  constructor(connection, sent, report) {
    this.#connection = connection;
    this.#sent = sent;
    this.#report = report;
  }

  get isOpen() { return this.#connection.isOpen; }

  /** Sends what is due at the end of this task. What the same task undoes is never sent. */
  changed() {
    if (this.#isFlushDue || !this.isOpen) return;
    this.#isFlushDue = true;
    queueMicrotask(() => {
      this.#isFlushDue = false;
      this.flush();
    });
  }

  /** Sends what is due now. */
  flush() {
    if (!this.isOpen) return;
    const now = performance.now();
    const messages = this.outbox.take(this.#budget.allowance(now));
    this.#budget.spend(costOf(messages));
    this.#connection.send(messages);
    if (!this.isOpen) return;
    for (const message of messages) this.#sent(message);
    this.#budgetAlarm.set(this.outbox.hasMore ? this.#budget.nextRoom : null);
    this.#reportLimits();
  }

  /** Counts messages that do not come from the outbox. */
  spend(messages) { this.#budget.spend(messages); }

  #reportLimits() {
    const { isBeyondLimits } = this.outbox;
    if (isBeyondLimits && !this.#isBeyondLimits) {
      this.#report(
        new RollcallError("limit", "more users or conversations are observed than the worker serves a session"));
    }
    this.#isBeyondLimits = isBeyondLimits;
  }

  /** A connection has opened, on which only the hello was sent. */
  connectionOpened(now) {
    this.#budget = new MessageBudget(now);
    if (this.#limits) this.#budget.limitsReceived(this.#limits, now);
    this.#budget.spend(1);
  }

  limitsReceived(limits) {
    this.#limits = limits;
    this.outbox.limitsReceived(limits);
    this.#budget.limitsReceived(limits, performance.now());
  }

  connectionLost() {
    this.outbox.connectionLost();
    this.#budgetAlarm.set(null);
    this.#retryAlarm.set(null);
    this.#rejoinAlarm.set(null);
  }

  /** The worker refused a message. Returns the message's subject and the outcome, as `Outbox` does. */
  refused(message) {
    const refused = this.outbox.refused(message, performance.now());
    this.#retryAlarm.set(this.outbox.retryTime);
    this.#rejoinAlarm.set(this.outbox.rejoinTime);
    this.changed();
    return refused;
  }

  /** The worker ended a conversation. */
  removed(conversation) {
    this.outbox.removed(conversation, performance.now());
    this.#rejoinAlarm.set(this.outbox.rejoinTime);
  }
}

// ---- server-clock.js

// The worker's time, estimated with this device's steady clock between two messages that contain it.

/**
 * The worker's clock may be set at any moment. So the client asks for the time every minute, and sooner if a presence
 * seems to come from the future.
 */
class ServerClock {
  /** How often to ask. */
  static INTERVAL = MINUTE;
  /** How soon to ask again while the clock is in doubt: a worker learns of a set clock with its next heartbeat. */
  static RECHECK = 5 * SECOND;
  /** A difference that no text shows. */
  static TOLERANCE = SECOND;

  /** The worker's time less this device's steady time; null until the worker has sent its time. */
  #offset = null;
  #askedAt = -Infinity;
  /** The latest timestamp in a message. */
  #latest = -Infinity;
  /** How many times to ask after `RECHECK` instead of `INTERVAL`. */
  #rechecks = 0;

  /** When to ask for the time. */
  get deadline() { return this.#askedAt + (this.#rechecks > 0 ? ServerClock.RECHECK : ServerClock.INTERVAL); }

  /** Until the first welcome, this is the device's own time. */
  time(now) { return Math.round(this.#offset === null ? Date.now() : now + this.#offset); }

  timeRequested(now) {
    this.#askedAt = now;
    this.#rechecks = Math.max(0, this.#rechecks - 1);
  }

  /**
   * The worker's time arrived. The worker read it at some moment since `askedAt`. Returns whether the clock was set, so
   * that texts like "last seen" are out of date.
   */
  timeReceived(time, askedAt, now) {
    const before = this.#offset;
    const estimate = before === null ? time : clamp(now + before, time, time + now - askedAt);
    this.#askedAt = Math.max(this.#askedAt, askedAt);
    this.#offset = estimate - now;
    return before !== null && Math.abs(this.#offset - before) > ServerClock.TOLERANCE;
  }

  /**
   * A message contains a timestamp of the worker's clock. If it is in the future, then the clock was set forward since
   * the client asked, or set back after the timestamp: only the worker knows which.
   */
  timestampReceived(timestamp, now) {
    if (!(timestamp > this.#latest)) return;
    this.#latest = timestamp;
    if (this.#offset !== null && timestamp > this.time(now) + ServerClock.TOLERANCE) this.#rechecks = 2;
  }
}

// ---- engine.js

// The core of the client: joins the connection to what is observed, typed and sent.

/** The owner of a `Connection`. */
class Engine {
  connection;
  observations;
  typing;
  fetches;
  #sender;
  #emit;
  #clock = new ServerClock();
  #clockAlarm = new Alarm(() => this.#requestTime());
  /** When the hello of this connection was sent. */
  #openedAt = 0;
  #welcome = null;
  #device;
  #deviceAlarm = new Alarm(() => {
    this.#device.deadlinePassed(performance.now());
    this.#deviceStateChanged();
  });
  /** The device's state as the worker knows it. */
  #sentState = null;

  /** @param emit dispatches an event of the client, given its type and detail */
  constructor(options, emit) {
    this.#emit = emit;
    this.connection = new Connection(options, this);
    this.#sender = new Sender(
      this.connection, (message) => this.observations.messageSent(message), (error) => this.#report(error));
    this.observations = new Observations(
      options, this.#sender, (conversation) => this.typing.hasField(conversation), () => this.#followClock());
    this.typing = new OwnTyping(options.typing, this.#sender, this.observations, () => this.#edited());
    this.fetches = new PresenceFetches(this.#sender);
    this.#device = new DeviceState(options.idleAfter);
  }

  /** The worker's time; until the first welcome, this device's. */
  get now() { return this.#clock.time(performance.now()); }
  /** The worker's time; null before the first welcome. */
  get serverTime() { return this.#welcome && this.now; }
  get deviceState() { return this.#device.state; }
  get #expiry() { return this.#welcome?.expiry ?? 3 * SECOND; }

  close() {
    if (this.#sender.isClosed) return Promise.resolve();
    this.typing.endAll();
    this.#sender.flush();
    this.#sender.isClosed = true;
    const closed = this.connection.end("closed", { goodbye: true });
    for (const part of [this.fetches, this.observations, this.typing]) part.close();
    this.#followClock();
    this.#deviceAlarm.set(null);
    return closed;
  }

  /** Ends the connection, but not the client. */
  disconnect({ goodbye }) {
    if (goodbye) this.typing.endAll();
    this.#sender.flush();
    return this.connection.end("idle", { goodbye });
  }

  #report(error) { this.#emit("problem", error); }

  // The worker's time.

  /** Requests the time while somebody may read when users were last seen. */
  #followClock() {
    const isRead = this.connection.isOpen && this.observations.hasPresences && this.deviceState !== "background";
    this.#clockAlarm.set(isRead ? this.#clock.deadline : null);
  }

  #requestTime() {
    this.#clock.timeRequested(performance.now());
    this.#sender.spend(1);
    this.connection.requestTime();
    this.#followClock();
  }

  timeReceived(time, askedAt) {
    const isSet = this.#clock.timeReceived(time, askedAt, performance.now());
    this.#followClock();
    if (isSet) this.observations.clockSet();
  }

  // The device's state.

  phaseChanged(phase) {
    const isBack = phase === "active" && this.deviceState === "background";
    if (phase === "background") this.typing.endAll();
    this.#device.phaseChanged(phase, performance.now());
    this.#deviceStateChanged();
    // A user who comes back must not see what a dead connection brought last.
    if (isBack) this.connection.networkChanged();
  }

  stateSet(state) {
    if (state === "background") this.typing.endAll();
    this.#device.stateSet(state, performance.now());
    this.#deviceStateChanged();
  }

  inputHappened() {
    this.#device.inputHappened(performance.now());
    this.#deviceStateChanged();
  }

  #edited() {
    this.#device.edited(performance.now());
    this.#deviceStateChanged();
  }

  #deviceStateChanged() {
    if (this.#sender.isClosed) return;
    this.#deviceAlarm.set(this.#device.deadline);
    if (!this.connection.isOpen || this.deviceState === this.#sentState) return;
    this.#sentState = this.deviceState;
    this.#followClock();
    this.#sender.outbox.stateChanged(this.deviceState);
    this.#sender.changed();
  }

  // Events of the connection.

  connectionOpened() {
    const now = performance.now();
    this.#sentState = this.deviceState;
    this.#openedAt = now;
    this.#clock.timeRequested(now);
    this.#followClock();
    this.#sender.connectionOpened(now);
    this.fetches.connectionOpened();
    this.typing.connectionOpened();
    this.#sender.flush();
  }

  welcomed(welcome) {
    this.#welcome = welcome;
    this.timeReceived(welcome.time, this.#openedAt);
    this.#sender.limitsReceived(welcome.limits);
    this.typing.expiryLearned(welcome.expiry);
    this.#sender.changed();
  }

  tokenRenewed(token) {
    this.#sender.outbox.tokenRenewed(token);
    this.#sender.changed();
  }

  /** The worker notices the loss too, and ends the user's typing by itself. */
  connectionLost() {
    this.#sender.connectionLost();
    this.#clockAlarm.set(null);
    this.typing.connectionLost();
    this.observations.connectionLost();
  }

  connectionChanged(state) { this.observations.connectionState.update(state); }

  wireUsed(detail) { this.#emit("wire", detail); }

  messageReceived(message) {
    switch (message.type) {
      case "presence": return this.#presencesReceived(message);
      case "typing": return this.observations.typingReceived(message, this.#expiry);
      case "members": return this.observations.membersReceived(message);
      case "removed": return this.observations.removed(message.conversation, workerError(REMOVED));
      case "ack": return this.#sender.outbox.acknowledged(message.id)?.stop?.end(true);
      case "error": return this.#errorReceived(message);
    }
  }

  #presencesReceived({ id, users }) {
    const now = performance.now();
    for (const presence of users) {
      this.#clock.timestampReceived(presence.updatedAt, now);
      this.observations.presenceReceived(presence);
    }
    this.#followClock();
    if (id !== undefined) this.fetches.received(id, users);
  }

  #errorReceived(message) {
    const { subject, outcome } = this.#sender.refused(message);
    if (outcome === "stale") this.#staleErrorReceived(message);
    if (outcome === "final") this.#refused(subject, message);
    if (subject?.conversation !== undefined) this.observations.dropUnusedConversation(subject.conversation);
    if (subject?.users && !subject.fetch) for (const user of subject.users) this.observations.dropUnusedPresence(user);
  }

  #refused({ conversation, fetch, stop, token }, message) {
    if (conversation !== undefined) this.observations.refused(conversation, workerError(message));
    else if (fetch) this.fetches.end(fetch);
    else if (stop) stop.end(false);
    // A worker that refuses a fresh token ends the session when the old one expires. Then a new session begins.
    else if (!token) this.#report(workerError(message));
  }

  /**
   * Reports an error that concerns nothing that is wanted now, except for errors of typing signals: a signal that could
   * not be published is followed by another, and a signal after a refused `join` fails for the same reason.
   */
  #staleErrorReceived(message) {
    if (!message.retry && message.code !== "not_joined") this.#report(workerError(message));
  }
}

// ---- typing-input.js

// The input field of a conversation, as an app holds it.

/**
 * One input field of one conversation. While its view is shown, the conversation is joined. Hiding the view, or leaving
 * the scope of a `using`, ends the typing.
 */
export class TypingInput {
  /** Ends the typing of inputs that an app dropped without a call. */
  static #dropped = new FinalizationRegistry((end) => end());

  #typing;
  #field;

  /** @internal */
  constructor(conversation, typing, signal) {
    this.conversation = conversation;
    this.#typing = typing;
    const field = typing.makeField(conversation);
    this.#field = field;
    if (signal?.aborted) return;
    this.appeared();
    const disappear = () => typing.fieldDisappeared(field);
    const forget = onAbort(signal, disappear);
    TypingInput.#dropped.register(this, () => {
      forget();
      disappear();
    });
  }

  /**
   * Reports the field's whole text after an edit. The text is not kept. White space alone does not count as typing.
   *
   * @param {string} text
   */
  edited(text) { this.#typing.fieldEdited(this.#field, /\P{White_Space}/u.test(text)); }

  /** Ends the typing. Call it right before the text is sent. */
  send() { this.#field.ended(); }

  /**
   * Like `send`, and waits until the worker has published the end, so that other users do not see typing after the
   * message.
   *
   * @param {{ within?: number }} options how many milliseconds to wait at most
   * @returns {Promise<boolean>} false if the worker did not confirm it in time, or if the client is disconnected. The
   *   typing ends in either case, and the app should send its message in either case.
   */
  sendConfirmed({ within = 2 * SECOND } = {}) { return this.#typing.endAndConfirm(this.#field, within); }

  /** Reports that the field's view is shown again. A new input counts as shown. */
  appeared() { this.#typing.fieldAppeared(this.#field); }

  /** Reports that the field's view is no longer shown: the typing ends, and the input leaves the conversation. */
  disappeared() { this.#typing.fieldDisappeared(this.#field); }

  [DISPOSE]() { this.disappeared(); }
}

// ---- client.js

// The client, as an app holds it.

/**
 * A device's connection to Rollcall: who is online, who is typing, and what other users may know of this device.
 *
 * The client reconnects forever, and after each reconnect its `Updates` emit the current state. Only an error that a
 * retry cannot help ends that, and the connection's state contains this error. Calls return at once.
 *
 * Events: `problem`, whose `detail` is a RollcallError that did not end the connection, for a log; and `wire`, whose
 * `detail` is `{ sent }` or `{ received }`, the text of a message, for debugging.
 */
export class RollcallClient extends EventTarget {
  #engine;

  /**
   * @param {import("./rollcall.js").ClientOptions} options
   * @throws {InvalidTypingSettings}
   */
  constructor({
    url, device, token, typing, names, idleAfter = 5 * MINUTE, workerHosts = [], firstPause = 250, longestPause = 1_500,
    connectTimeout = 10 * SECOND, WebSocket = globalThis.WebSocket,
  }) {
    super();
    const options = {
      urls: [url].flat(), device: device === undefined ? undefined : validName(device), token, names, idleAfter,
      workerHosts, firstPause, longestPause, connectTimeout, WebSocket, typing: checkedTypingSettings(typing),
    };
    this.#engine = new Engine(options, (type, detail) => this.dispatchEvent(new CustomEvent(type, { detail })));
  }

  /** Connects, or tries again after `failed`. The device's presence begins with the connection. */
  connect() { this.#engine.connection.connect(); }

  /**
   * Ends the connection but not the client: `connect` connects again. Without a goodbye (`goodbye: false`), the worker
   * treats it as a lost connection and keeps the device for its grace period. Resolves once the connection is closed.
   *
   * @param {{ goodbye?: boolean }} options
   */
  disconnect({ goodbye = true } = {}) { return this.#engine.disconnect({ goodbye }); }

  /**
   * Says goodbye and closes the client for good: this device's presence and typing end at once, and so do all
   * observations. Resolves once the goodbye is sent, after two seconds at most.
   */
  close() { return this.#engine.close(); }

  [DISPOSE]() { this.close(); }

  /** The state of the connection. */
  get connection() {
    const { observations } = this.#engine;
    return new Updates(
      (receive, finish) => observations.observeConnection(receive, finish), () => observations.connectionState.latest);
  }

  /** The time on the worker's clock, in milliseconds since 1970. Before the first welcome, this device's clock. */
  get now() { return this.#engine.now; }

  /** The state of this device, as reported to the worker: `active`, `idle` or `background`. */
  get deviceState() { return this.#engine.deviceState; }

  /**
   * The users who are typing in a conversation. While it is observed, the conversation is joined.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  typing(conversation, { signal } = {}) {
    validName(conversation);
    const { observations } = this.#engine;
    return new Updates(
      (receive, finish) => observations.observeTyping(conversation, receive, finish),
      () => observations.latestTyping(conversation), signal);
  }

  /**
   * The members of a conversation and their presence. While it is observed, the conversation is joined. The first value
   * comes once the presence of all members is known, but at most one second after their names.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  members(conversation, { signal } = {}) {
    validName(conversation);
    const { observations } = this.#engine;
    return new Updates(
      (receive, finish) => observations.observeMembers(conversation, receive, finish),
      () => observations.latestMembers(conversation), signal);
  }

  /**
   * The presence of a user, or of several users as a map. Users whose presence is not known yet are absent from it.
   * While the client is disconnected, the last known presence stays. Emitted again without a change if the worker's
   * clock was set, since texts such as "last seen" then change.
   *
   * @param {string | Iterable<string>} users
   * @param {{ signal?: AbortSignal }} options
   */
  presence(users, { signal } = {}) {
    const { observations } = this.#engine;
    if (typeof users === "string") {
      const user = [validName(users)];
      return new Updates(
        (receive, finish) => observations.observePresence(user, receive, finish),
        () => observations.latestPresence(users), signal);
    }
    const several = [...new Set(users)].map(validName);
    return new Updates(
      (receive, finish) => observations.observePresenceOfMany(several, receive, finish),
      () => observations.latestPresences(several), signal);
  }

  /**
   * Reads the presence of a user once. Undefined if there is no answer in time. For several users, it is a map, and
   * users without an answer are absent.
   *
   * @param {string | Iterable<string>} users
   * @param {{ within?: number, signal?: AbortSignal }} options how many milliseconds to wait at most
   */
  async currentPresence(users, { within = 5 * SECOND, signal } = {}) {
    const several = typeof users === "string" ? [users] : [...new Set(users)];
    const found = await this.#engine.fetches.fetch(several.map(validName), within, signal);
    return typeof users === "string" ? found.get(users) : found;
  }

  /**
   * Returns a typing input for one input field of a conversation.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  typingInput(conversation, { signal } = {}) {
    return new TypingInput(validName(conversation), this.#engine.typing, signal);
  }

  /**
   * Reports the app's phase: `active`; `inactive`, a brief interruption, which changes nothing; or `background`, which
   * ends the user's typing at once. A return from the background checks the connection.
   *
   * @param {"active" | "inactive" | "background"} phase
   */
  setPhase(phase) { this.#engine.phaseChanged(phase); }

  /**
   * Sets the device's state directly, for apps that know more than phases and input show.
   *
   * @param {"active" | "idle" | "background"} state
   */
  setState(state) { this.#engine.stateSet(state); }

  /** Reports input on this device. Once an app has called this, the device is idle `idleAfter` the last call. */
  inputHappened() { this.#engine.inputHappened(); }

  /** Reports that the network is back or has changed. The browser's own events for this are handled already. */
  networkChanged() { this.#engine.connection.networkChanged(); }

  /**
   * Reports phases and input from the page's events: a hidden page is in the background, and a pointer or key event is
   * input. When the user leaves the page, the typing ends, but there is no goodbye: after a reload the device is back
   * within the grace period, and no other user sees it offline.
   *
   * @returns a function that ends it
   */
  followPage() {
    const { document } = globalThis;
    const following = new AbortController();
    const on = (target, types, handle) => {
      for (const type of types) target.addEventListener(type, handle, { signal: following.signal, passive: true });
    };
    const follow = () => this.setPhase(document.hidden ? "background" : "active");
    let isLeft = false;
    let isSuspended = false;
    on(document, ["visibilitychange"], () => isLeft || follow());
    on(globalThis, ["pagehide"], ({ persisted }) => {
      isLeft = true;
      this.#engine.typing.endAll();
      // A page that the browser keeps for its back button must not keep a connection.
      isSuspended = persisted && this.#engine.connection.isActive;
      if (isSuspended) this.disconnect({ goodbye: false });
    });
    on(globalThis, ["pageshow"], ({ persisted }) => {
      isLeft = false;
      if (persisted && isSuspended) this.connect();
      isSuspended = false;
      follow();
    });
    on(document, ["pointerdown", "pointermove", "wheel", "keydown", "touchstart"], () => this.inputHappened());
    follow();
    this.inputHappened();
    return ending(() => following.abort());
  }
}

// ---- display-name.js

// Names of people, made safe to show in one line of text.

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The most bytes for each allowed character: enough for any script, and for families of emoji. */
const BYTES_PER_CHARACTER = 32;

/**
 * Returns a name in one line, without characters that control the text around it, and shortened to `longest` characters.
 * Null if nothing visible is left: the name then counts as unknown.
 */
function shownName(name, longest) {
  if (typeof name !== "string") return null;
  const words = name.replace(/\p{Bidi_Control}|(?!\p{White_Space})\p{Cc}/gu, "").split(/\p{White_Space}+/u);
  const clean = words.filter((word) => word !== "").join(" ");
  if (!/[^\p{Default_Ignorable_Code_Point} ]/u.test(clean) || longest < 1) return null;
  const characters = firstCharacters(clean, longest + 1);
  const isShort = (text) => utf8Length(text) <= longest * BYTES_PER_CHARACTER;
  if (characters.length <= longest && isShort(clean)) return clean;
  let kept = "";
  for (const character of characters.slice(0, longest - 1)) {
    if (!isShort(kept + character)) break;
    kept += character;
  }
  return kept.trimEnd() === "" ? null : `${kept.trimEnd()}…`;
}

function firstCharacters(text, count) {
  const characters = [];
  for (const { segment } of graphemes.segment(text)) {
    if (characters.push(segment) === count) break;
  }
  return characters;
}

/** Letters of scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFE\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/** Isolates a name, if necessary, so that it and the sentence around it cannot change each other's direction. */
function isolated(name, words) {
  return words.direction === "rtl" || RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

// ---- words.js

// The words of all languages. Made by `make browser-module` from Sources/RollcallClient/Text/words.json: edit that.

/** @type {import("./rollcall.js").LanguageWords[]} */
const WORDS = [
  {"id": "en", "name": "English", "direction": "ltr", "list": {"pair": " and ", "middle": ", ", "last": ", and "}, "typing": {"one": "{name} is typing", "list": {"other": "{list} are typing"}, "someone": "Someone is typing", "people": {"other": "{count} people are typing"}, "several": "Several people are typing", "person": "{name}", "others": {"one": "{count} other", "other": "{count} others"}, "someoneElse": "someone else", "beforeDots": ""}, "lastSeen": {"now": "Active now", "minutes": {"other": "{count}m ago"}, "recently": "Active recently", "today": "Last seen today", "earlier": "Last seen recently", "minutesAgo": {"one": "Last seen {count} minute ago", "other": "Last seen {count} minutes ago"}, "hoursAgo": {"one": "Last seen {count} hour ago", "other": "Last seen {count} hours ago"}, "daysAgo": {"one": "Last seen {count} day ago", "other": "Last seen {count} days ago"}}, "presence": {"online": "Online", "away": "Away", "offline": "Offline", "group": {"other": "{online} of {total} online"}}},
  {"id": "de", "name": "Deutsch", "direction": "ltr", "list": {"pair": " und ", "middle": ", ", "last": " und "}, "typing": {"one": "{name} schreibt", "list": {"other": "{list} schreiben"}, "someone": "Jemand schreibt", "people": {"other": "{count} Personen schreiben"}, "several": "Mehrere Personen schreiben", "person": "{name}", "others": {"one": "{count} weitere Person", "other": "{count} weitere Personen"}, "someoneElse": "noch jemand", "beforeDots": " "}, "lastSeen": {"now": "Jetzt aktiv", "minutes": {"other": "Vor {count} Min."}, "recently": "Vor Kurzem aktiv", "today": "Zuletzt heute gesehen", "earlier": "Zuletzt kürzlich gesehen", "minutesAgo": {"one": "Zuletzt vor {count} Minute gesehen", "other": "Zuletzt vor {count} Minuten gesehen"}, "hoursAgo": {"one": "Zuletzt vor {count} Stunde gesehen", "other": "Zuletzt vor {count} Stunden gesehen"}, "daysAgo": {"one": "Zuletzt vor {count} Tag gesehen", "other": "Zuletzt vor {count} Tagen gesehen"}}, "presence": {"online": "Online", "away": "Abwesend", "offline": "Offline", "group": {"other": "{online} von {total} online"}}},
  {"id": "fr", "name": "Français", "direction": "ltr", "list": {"pair": " et ", "middle": ", ", "last": " et "}, "typing": {"one": "{name} est en train d’écrire", "list": {"other": "{list} sont en train d’écrire"}, "someone": "Quelqu’un est en train d’écrire", "people": {"other": "{count} personnes sont en train d’écrire"}, "several": "Plusieurs personnes sont en train d’écrire", "person": "{name}", "others": {"one": "{count} autre personne", "other": "{count} autres personnes"}, "someoneElse": "quelqu’un d’autre", "beforeDots": ""}, "lastSeen": {"now": "En ligne", "minutes": {"other": "Il y a {count} min"}, "recently": "En ligne il y a peu", "today": "Dernière connexion aujourd’hui", "earlier": "Connexion récente", "minutesAgo": {"one": "Dernière connexion il y a {count} minute", "other": "Dernière connexion il y a {count} minutes"}, "hoursAgo": {"one": "Dernière connexion il y a {count} heure", "other": "Dernière connexion il y a {count} heures"}, "daysAgo": {"one": "Dernière connexion il y a {count} jour", "other": "Dernière connexion il y a {count} jours"}}, "presence": {"online": "En ligne", "away": "Absent(e)", "offline": "Hors ligne", "group": {"other": "{online} sur {total} en ligne"}}},
  {"id": "es", "name": "Español", "direction": "ltr", "list": {"pair": " y ", "middle": ", ", "last": " y ", "before": {"starts": ["i", "í", "hi", "hí"], "except": ["hia", "hiá", "hie", "hié"], "use": " e "}}, "typing": {"one": "{name} está escribiendo", "list": {"other": "{list} están escribiendo"}, "someone": "Alguien está escribiendo", "people": {"other": "{count} personas están escribiendo"}, "several": "Varias personas están escribiendo", "person": "{name}", "others": {"one": "{count} persona más", "other": "{count} personas más"}, "someoneElse": "alguien más", "beforeDots": ""}, "lastSeen": {"now": "En línea", "minutes": {"other": "Hace {count} min"}, "recently": "En línea hace poco", "today": "Última conexión hoy", "earlier": "Conexión reciente", "minutesAgo": {"one": "Última conexión hace {count} minuto", "other": "Última conexión hace {count} minutos"}, "hoursAgo": {"one": "Última conexión hace {count} hora", "other": "Última conexión hace {count} horas"}, "daysAgo": {"one": "Última conexión hace {count} día", "other": "Última conexión hace {count} días"}}, "presence": {"online": "En línea", "away": "Ausente", "offline": "Sin conexión", "group": {"other": "{online} de {total} en línea"}}},
  {"id": "pt", "name": "Português", "direction": "ltr", "list": {"pair": " e ", "middle": ", ", "last": " e "}, "typing": {"one": "{name} está digitando", "list": {"other": "{list} estão digitando"}, "someone": "Alguém está digitando", "people": {"other": "{count} pessoas estão digitando"}, "several": "Várias pessoas estão digitando", "person": "{name}", "others": {"one": "mais {count} pessoa", "other": "mais {count} pessoas"}, "someoneElse": "mais alguém", "beforeDots": ""}, "lastSeen": {"now": "Online agora", "minutes": {"other": "Há {count} min"}, "recently": "Online há pouco", "today": "Último acesso hoje", "earlier": "Acesso recente", "minutesAgo": {"one": "Último acesso há {count} minuto", "other": "Último acesso há {count} minutos"}, "hoursAgo": {"one": "Último acesso há {count} hora", "other": "Último acesso há {count} horas"}, "daysAgo": {"one": "Último acesso há {count} dia", "other": "Último acesso há {count} dias"}}, "presence": {"online": "Online", "away": "Ausente", "offline": "Offline", "group": {"other": "{online} de {total} online"}}},
  {"id": "it", "name": "Italiano", "direction": "ltr", "list": {"pair": " e ", "middle": ", ", "last": " e ", "before": {"starts": ["e", "é", "è"], "except": [], "use": " ed "}}, "typing": {"one": "{name} sta scrivendo", "list": {"other": "{list} stanno scrivendo"}, "someone": "Qualcuno sta scrivendo", "people": {"other": "{count} persone stanno scrivendo"}, "several": "Diverse persone stanno scrivendo", "person": "{name}", "others": {"one": "un’altra persona", "other": "altre {count} persone"}, "someoneElse": "qualcun altro", "beforeDots": ""}, "lastSeen": {"now": "Online ora", "minutes": {"other": "{count} min fa"}, "recently": "Online poco fa", "today": "Ultimo accesso oggi", "earlier": "Accesso recente", "minutesAgo": {"one": "Ultimo accesso {count} minuto fa", "other": "Ultimo accesso {count} minuti fa"}, "hoursAgo": {"one": "Ultimo accesso {count} ora fa", "other": "Ultimo accesso {count} ore fa"}, "daysAgo": {"one": "Ultimo accesso {count} giorno fa", "other": "Ultimo accesso {count} giorni fa"}}, "presence": {"online": "Online", "away": "Assente", "offline": "Offline", "group": {"other": "{online} su {total} online"}}},
  {"id": "nl", "name": "Nederlands", "direction": "ltr", "list": {"pair": " en ", "middle": ", ", "last": " en "}, "typing": {"one": "{name} is aan het typen", "list": {"other": "{list} zijn aan het typen"}, "someone": "Iemand is aan het typen", "people": {"other": "{count} mensen zijn aan het typen"}, "several": "Meerdere mensen zijn aan het typen", "person": "{name}", "others": {"one": "{count} ander", "other": "{count} anderen"}, "someoneElse": "nog iemand", "beforeDots": ""}, "lastSeen": {"now": "Nu actief", "minutes": {"other": "{count} min. geleden"}, "recently": "Onlangs actief", "today": "Vandaag voor het laatst gezien", "earlier": "Onlangs voor het laatst gezien", "minutesAgo": {"one": "{count} minuut geleden voor het laatst gezien", "other": "{count} minuten geleden voor het laatst gezien"}, "hoursAgo": {"other": "{count} uur geleden voor het laatst gezien"}, "daysAgo": {"one": "{count} dag geleden voor het laatst gezien", "other": "{count} dagen geleden voor het laatst gezien"}}, "presence": {"online": "Online", "away": "Afwezig", "offline": "Offline", "group": {"other": "{online} van de {total} online"}}},
  {"id": "pl", "name": "Polski", "direction": "ltr", "list": {"pair": " i ", "middle": ", ", "last": " i "}, "typing": {"one": "{name} pisze", "list": {"other": "{list} piszą"}, "someone": "Ktoś pisze", "people": {"few": "{count} osoby piszą", "other": "{count} osób pisze"}, "several": "Kilka osób pisze", "person": "{name}", "others": {"one": "jeszcze {count} osoba", "few": "jeszcze {count} osoby", "other": "jeszcze {count} osób"}, "someoneElse": "ktoś jeszcze", "beforeDots": ""}, "lastSeen": {"now": "Teraz online", "minutes": {"other": "{count} min temu"}, "recently": "Niedawno online", "today": "Ostatnia aktywność: dzisiaj", "earlier": "Ostatnia aktywność: niedawno", "minutesAgo": {"one": "Ostatnia aktywność: {count} minutę temu", "few": "Ostatnia aktywność: {count} minuty temu", "other": "Ostatnia aktywność: {count} minut temu"}, "hoursAgo": {"one": "Ostatnia aktywność: {count} godzinę temu", "few": "Ostatnia aktywność: {count} godziny temu", "other": "Ostatnia aktywność: {count} godzin temu"}, "daysAgo": {"one": "Ostatnia aktywność: {count} dzień temu", "other": "Ostatnia aktywność: {count} dni temu"}}, "presence": {"online": "Online", "away": "Z dala od urządzenia", "offline": "Offline", "group": {"other": "{online} z {total} online"}}},
  {"id": "ru", "name": "Русский", "direction": "ltr", "list": {"pair": " и ", "middle": ", ", "last": " и "}, "typing": {"one": "{name} печатает", "list": {"other": "{list} печатают"}, "someone": "Кто-то печатает", "people": {"one": "{count} человек печатает", "few": "{count} человека печатают", "other": "{count} человек печатают"}, "several": "Несколько человек печатают", "person": "{name}", "others": {"one": "ещё {count} человек", "few": "ещё {count} человека", "other": "ещё {count} человек"}, "someoneElse": "кто-то ещё", "beforeDots": ""}, "lastSeen": {"now": "Сейчас в сети", "minutes": {"other": "{count} мин. назад"}, "recently": "Недавно в сети", "today": "Последний раз в сети сегодня", "earlier": "Последний раз в сети недавно", "minutesAgo": {"one": "Последний раз в сети {count} минуту назад", "few": "Последний раз в сети {count} минуты назад", "other": "Последний раз в сети {count} минут назад"}, "hoursAgo": {"one": "Последний раз в сети {count} час назад", "few": "Последний раз в сети {count} часа назад", "other": "Последний раз в сети {count} часов назад"}, "daysAgo": {"one": "Последний раз в сети {count} день назад", "few": "Последний раз в сети {count} дня назад", "other": "Последний раз в сети {count} дней назад"}}, "presence": {"online": "В сети", "away": "Нет на месте", "offline": "Не в сети", "group": {"other": "{online} из {total} в сети"}}},
  {"id": "ar", "name": "العربية", "direction": "rtl", "list": {"pair": " و", "middle": " و", "last": " و"}, "typing": {"one": "{name} بصدد الكتابة", "list": {"other": "{list} بصدد الكتابة"}, "someone": "شخص ما بصدد الكتابة", "people": {"two": "شخصان بصدد الكتابة", "few": "{count} أشخاص بصدد الكتابة", "many": "{count} شخصًا بصدد الكتابة", "other": "{count} شخص بصدد الكتابة"}, "several": "عدة أشخاص بصدد الكتابة", "person": "{name}", "others": {"one": "شخص آخر", "two": "شخصان آخران", "few": "{count} أشخاص آخرين", "many": "{count} شخصًا آخر", "other": "{count} شخص آخر"}, "someoneElse": "شخص آخر", "beforeDots": ""}, "lastSeen": {"now": "على الإنترنت الآن", "minutes": {"one": "قبل دقيقة", "two": "قبل دقيقتين", "few": "قبل {count} دقائق", "other": "قبل {count} دقيقة"}, "recently": "آخر نشاط قبل قليل", "today": "آخر ظهور اليوم", "earlier": "آخر ظهور مؤخرًا", "minutesAgo": {"one": "آخر ظهور قبل دقيقة", "two": "آخر ظهور قبل دقيقتين", "few": "آخر ظهور قبل {count} دقائق", "other": "آخر ظهور قبل {count} دقيقة"}, "hoursAgo": {"one": "آخر ظهور قبل ساعة", "two": "آخر ظهور قبل ساعتين", "few": "آخر ظهور قبل {count} ساعات", "other": "آخر ظهور قبل {count} ساعة"}, "daysAgo": {"one": "آخر ظهور قبل يوم", "two": "آخر ظهور قبل يومين", "few": "آخر ظهور قبل {count} أيام", "many": "آخر ظهور قبل {count} يومًا", "other": "آخر ظهور قبل {count} يوم"}}, "presence": {"online": "على الإنترنت", "away": "بلا نشاط", "offline": "بلا اتصال", "group": {"other": "{online} من {total} على الإنترنت"}}},
  {"id": "he", "name": "עברית", "direction": "rtl", "list": {"pair": " ו-", "middle": ", ", "last": " ו-", "before": {"starts": ["א", "ב", "ג", "ד", "ה", "ו", "ז", "ח", "ט", "י", "כ", "ל", "מ", "נ", "ס", "ע", "פ", "צ", "ק", "ר", "ש", "ת"], "except": [], "use": " ו"}}, "typing": {"one": "{name} מקליד/ה", "list": {"other": "{list} מקלידים"}, "someone": "מישהו מקליד", "people": {"other": "{count} אנשים מקלידים"}, "several": "כמה אנשים מקלידים", "person": "{name}", "others": {"one": "עוד אדם אחד", "other": "עוד {count} אנשים"}, "someoneElse": "עוד מישהו", "beforeDots": ""}, "lastSeen": {"now": "כאן עכשיו", "minutes": {"one": "לפני דקה", "two": "לפני שתי דקות", "other": "לפני {count} דקות"}, "recently": "פעילות לפני זמן קצר", "today": "חיבור אחרון: היום", "earlier": "חיבור אחרון: לא מזמן", "minutesAgo": {"one": "חיבור אחרון: לפני דקה", "two": "חיבור אחרון: לפני שתי דקות", "other": "חיבור אחרון: לפני {count} דקות"}, "hoursAgo": {"one": "חיבור אחרון: לפני שעה", "two": "חיבור אחרון: לפני שעתיים", "other": "חיבור אחרון: לפני {count} שעות"}, "daysAgo": {"one": "חיבור אחרון: לפני יום", "two": "חיבור אחרון: לפני יומיים", "other": "חיבור אחרון: לפני {count} ימים"}}, "presence": {"online": "מחובר/ת", "away": "לא ליד המכשיר", "offline": "לא מחובר/ת", "group": {"one": "{online} מתוך {total} מחובר/ת", "other": "{online} מתוך {total} מחוברים"}}},
  {"id": "hi", "name": "हिन्दी", "direction": "ltr", "list": {"pair": " और ", "middle": ", ", "last": " और "}, "typing": {"one": "{name} टाइप कर रहे हैं", "list": {"other": "{list} टाइप कर रहे हैं"}, "someone": "कोई टाइप कर रहा है", "people": {"other": "{count} लोग टाइप कर रहे हैं"}, "several": "कई लोग टाइप कर रहे हैं", "person": "{name}", "others": {"one": "{count} अन्य व्यक्ति", "other": "{count} अन्य लोग"}, "someoneElse": "एक अन्य व्यक्ति", "beforeDots": ""}, "lastSeen": {"now": "अभी ऑनलाइन", "minutes": {"other": "{count} मिनट पहले"}, "recently": "कुछ देर पहले ऑनलाइन", "today": "आख़िरी बार आज ऑनलाइन", "earlier": "हाल ही में ऑनलाइन", "minutesAgo": {"other": "आख़िरी बार {count} मिनट पहले ऑनलाइन"}, "hoursAgo": {"other": "आख़िरी बार {count} घंटे पहले ऑनलाइन"}, "daysAgo": {"other": "आख़िरी बार {count} दिन पहले ऑनलाइन"}}, "presence": {"online": "ऑनलाइन", "away": "फ़िलहाल दूर", "offline": "ऑफ़लाइन", "group": {"other": "{total} में से {online} ऑनलाइन"}}},
  {"id": "ja", "name": "日本語", "direction": "ltr", "list": {"pair": "と", "middle": "、", "last": "、"}, "typing": {"one": "{name}が入力中", "list": {"other": "{list}が入力中"}, "someone": "誰かが入力中", "people": {"other": "{count}人が入力中"}, "several": "複数の人が入力中", "person": "{name}さん", "others": {"other": "ほか{count}人"}, "someoneElse": "ほか1人", "beforeDots": ""}, "lastSeen": {"now": "オンライン中", "minutes": {"other": "{count}分前"}, "recently": "少し前までオンライン", "today": "最終アクセス：今日", "earlier": "最近アクセスあり", "minutesAgo": {"other": "最終アクセス：{count}分前"}, "hoursAgo": {"other": "最終アクセス：{count}時間前"}, "daysAgo": {"other": "最終アクセス：{count}日前"}}, "presence": {"online": "オンライン", "away": "離席中", "offline": "オフライン", "group": {"other": "{total}人中{online}人がオンライン"}}},
  {"id": "ko", "name": "한국어", "direction": "ltr", "list": {"pair": "과 ", "middle": ", ", "last": " 및 "}, "typing": {"one": "{name}이 입력 중", "list": {"other": "{list}이 입력 중"}, "someone": "누군가 입력 중", "people": {"other": "{count}명이 입력 중"}, "several": "여러 명이 입력 중", "person": "{name}님", "others": {"other": "다른 {count}명"}, "someoneElse": "다른 1명", "beforeDots": ""}, "lastSeen": {"now": "현재 활동 중", "minutes": {"other": "{count}분 전"}, "recently": "조금 전 활동", "today": "마지막 접속: 오늘", "earlier": "최근 접속", "minutesAgo": {"other": "마지막 접속: {count}분 전"}, "hoursAgo": {"other": "마지막 접속: {count}시간 전"}, "daysAgo": {"other": "마지막 접속: {count}일 전"}}, "presence": {"online": "온라인", "away": "자리 비움", "offline": "오프라인", "group": {"other": "{total}명 중 {online}명 온라인"}}},
  {"id": "zh-Hans", "name": "简体中文", "direction": "ltr", "list": {"pair": "和", "middle": "、", "last": "和"}, "typing": {"one": "{name}正在输入", "list": {"other": "{list}正在输入"}, "someone": "有人正在输入", "people": {"other": "{count}人正在输入"}, "several": "多人正在输入", "person": "{name}", "others": {"other": "另外{count}人"}, "someoneElse": "另外1人", "beforeDots": ""}, "lastSeen": {"now": "当前在线", "minutes": {"other": "{count}分钟前"}, "recently": "不久前在线", "today": "上次在线：今天", "earlier": "最近上线过", "minutesAgo": {"other": "上次在线：{count}分钟前"}, "hoursAgo": {"other": "上次在线：{count}小时前"}, "daysAgo": {"other": "上次在线：{count}天前"}}, "presence": {"online": "在线", "away": "离开", "offline": "离线", "group": {"other": "{total}人中有{online}人在线"}}},
  {"id": "zh-Hant", "name": "繁體中文", "direction": "ltr", "list": {"pair": "和", "middle": "、", "last": "和"}, "typing": {"one": "{name}正在輸入", "list": {"other": "{list}正在輸入"}, "someone": "有人正在輸入", "people": {"other": "{count}人正在輸入"}, "several": "多人正在輸入", "person": "{name}", "others": {"other": "另外{count}人"}, "someoneElse": "另外1人", "beforeDots": ""}, "lastSeen": {"now": "目前在線上", "minutes": {"other": "{count}分鐘前"}, "recently": "不久前在線上", "today": "上次上線：今天", "earlier": "最近上線過", "minutesAgo": {"other": "上次上線：{count}分鐘前"}, "hoursAgo": {"other": "上次上線：{count}小時前"}, "daysAgo": {"other": "上次上線：{count}天前"}}, "presence": {"online": "線上", "away": "離開", "offline": "離線", "group": {"other": "{total}人中有{online}人在線上"}}},
  {"id": "tr", "name": "Türkçe", "direction": "ltr", "list": {"pair": " ve ", "middle": ", ", "last": " ve "}, "typing": {"one": "{name} yazıyor", "list": {"other": "{list} yazıyor"}, "someone": "Birisi yazıyor", "people": {"other": "{count} kişi yazıyor"}, "several": "Birkaç kişi yazıyor", "person": "{name}", "others": {"other": "{count} kişi daha"}, "someoneElse": "bir kişi daha", "beforeDots": ""}, "lastSeen": {"now": "Şu anda çevrimiçi", "minutes": {"other": "{count} dk. önce"}, "recently": "Kısa süre önce çevrimiçiydi", "today": "Son görülme: bugün", "earlier": "Son görülme: yakın zamanda", "minutesAgo": {"other": "Son görülme: {count} dakika önce"}, "hoursAgo": {"other": "Son görülme: {count} saat önce"}, "daysAgo": {"other": "Son görülme: {count} gün önce"}}, "presence": {"online": "Çevrimiçi", "away": "Uzakta", "offline": "Çevrimdışı", "group": {"other": "{online}/{total} kişi çevrimiçi"}}},
  {"id": "uk", "name": "Українська", "direction": "ltr", "list": {"pair": " і ", "middle": ", ", "last": " і ", "before": {"starts": ["і", "ї", "й", "i"], "except": [], "use": " та "}}, "typing": {"one": "{name} друкує", "list": {"other": "{list} друкують"}, "someone": "Хтось друкує", "people": {"one": "{count} людина друкує", "few": "{count} людини друкують", "other": "{count} людей друкують"}, "several": "Кілька людей друкують", "person": "{name}", "others": {"one": "ще {count} людина", "few": "ще {count} людини", "other": "ще {count} людей"}, "someoneElse": "ще хтось", "beforeDots": ""}, "lastSeen": {"now": "Зараз у мережі", "minutes": {"other": "{count} хв тому"}, "recently": "Нещодавно в мережі", "today": "Востаннє в мережі сьогодні", "earlier": "Востаннє в мережі нещодавно", "minutesAgo": {"one": "Востаннє в мережі {count} хвилину тому", "few": "Востаннє в мережі {count} хвилини тому", "other": "Востаннє в мережі {count} хвилин тому"}, "hoursAgo": {"one": "Востаннє в мережі {count} годину тому", "few": "Востаннє в мережі {count} години тому", "other": "Востаннє в мережі {count} годин тому"}, "daysAgo": {"one": "Востаннє в мережі {count} день тому", "few": "Востаннє в мережі {count} дні тому", "other": "Востаннє в мережі {count} днів тому"}}, "presence": {"online": "У мережі", "away": "Немає на місці", "offline": "Не в мережі", "group": {"other": "{online} з {total} у мережі"}}},
];

// ---- languages.js

// The available languages: the choice of one, its plural forms, and its patterns.

const languagesByTag = new Map(WORDS.map((words) => [words.id, words]));
const pluralRules = new Map();

/**
 * Returns the words of the first of these languages that is available; English if none is.
 *
 * @param {string | readonly string[]} language
 */
function wordsOf(language = "en") {
  for (const tag of [language].flat()) {
    const words = languagesByTag.get(tag) ?? languagesByTag.get(bestTag(tag));
    if (words) return words;
  }
  return languagesByTag.get("en");
}

/** Returns the available tag for the same language and script: `zh-Hant` for `zh-TW`, `de` for `de-AT`. */
function bestTag(tag) {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return [`${language}-${script}`, language].find((each) => languagesByTag.has(each));
  } catch {
    return undefined;
  }
}

/** Returns the form for a number, by the plural categories of CLDR; `other` if the words do not have that form. */
function formOf({ id }, forms, count) {
  const rules = pluralRules.get(id) ?? new Intl.PluralRules(id);
  pluralRules.set(id, rules);
  return forms[rules.select(count)] ?? forms.other;
}

/** Fills in the `{name}` parts of a pattern. */
function fill(pattern, values) { return pattern.replace(/\{(\w+)\}/g, (_, name) => values[name]); }

/**
 * Adds a language, or replaces one.
 *
 * @param {import("./rollcall.js").LanguageWords} words
 * @throws {RangeError} which lists everything that is missing
 */
export function addLanguage(words) {
  const missing = [...missingFrom(words, languagesByTag.get("en"), "")];
  if (missing.length) throw new RangeError(`the words of ${words?.id ?? "a language"} lack ${missing.join(", ")}`);
  new Intl.Locale(words.id);
  languagesByTag.set(words.id, words);
}

/** Yields the paths of missing words. Of plural forms, only `other` is required. */
function* missingFrom(words, model, path) {
  for (const [key, example] of Object.entries(model)) {
    const word = words?.[key];
    if (key === "one" && "other" in model) continue;
    if (typeof example === "object") yield* missingFrom(word, example, `${path}${key}.`);
    else if (typeof word !== "string") yield `${path}${key}`;
  }
}

/** Returns the available languages, in the order in which an app offers them: `{ id, name, direction }`. */
export function languages() {
  return [...languagesByTag.values()].map(({ id, name, direction }) => ({ id, name, direction }));
}

// ---- typing-text.js

// Who is typing: a line of text, a label for screen readers, and three moving dots.

const DOTS = { ellipsis: "…", three: "...", none: "" };

/**
 * Returns the line that people read: `Alice and Bob are typing…`; empty if nobody types.
 *
 * @param {import("./rollcall.js").Typing} typing
 * @param {import("./rollcall.js").TypingTextOptions & { dots?: "ellipsis" | "three" | "none" }} options
 */
export function typingText(typing, { dots = "ellipsis", ...options } = {}) {
  const words = wordsOf(options.language);
  const sentence = typingSentence(typing, words, options, (name) => isolated(name, words));
  if (sentence === "" || dots === "none") return sentence;
  return sentence + words.typing.beforeDots + DOTS[dots];
}

/**
 * Returns the line for a screen reader: without dots, and without the invisible characters that isolate names.
 *
 * @param {import("./rollcall.js").Typing} typing
 * @param {import("./rollcall.js").TypingTextOptions} options
 */
export function typingLabel(typing, options = {}) {
  return typingSentence(typing, wordsOf(options.language), options, (name) => name);
}

/** Decides when a screen reader announces who is typing: when the typists change, not when a name or the order does. */
export class TypingAnnouncer {
  #options;
  #announced = new Set();
  #count = 0;

  /** @param {import("./rollcall.js").TypingTextOptions} options */
  constructor(options = {}) { this.#options = options; }

  /**
   * @param {import("./rollcall.js").Typing} typing
   * @returns {string | null} what to announce; null if the typists are the same as at the last call, empty if nobody
   *   types any more
   */
  announcement(typing) {
    const users = new Set(typing.typists.map(({ user }) => user));
    const isSame = typing.count === this.#count && users.size === this.#announced.size
      && [...users].every((user) => this.#announced.has(user));
    if (isSame) return null;
    this.#announced = users;
    this.#count = typing.count;
    return typingLabel(typing, this.#options);
  }
}

function typingSentence(typing, words, options, isolate) {
  const { maximumNames = 3, severalFrom = Infinity } = options;
  const count = Math.max(typing.count, typing.typists.length);
  if (count === 0) return "";
  if (count >= Math.max(2, severalFrom)) return words.typing.several;
  const names = namesOf(typing.typists, words, options);
  const shown = names.slice(0, count > maximumNames ? Math.min(2, maximumNames) : maximumNames);
  if (shown.length === 0) {
    return count === 1 ? words.typing.someone : fill(formOf(words, words.typing.people, count), { count });
  }
  const items = shown.map((name) => ({ name, text: fill(words.typing.person, { name: isolate(name) }) }));
  if (count === 1) return fill(words.typing.one, { name: items[0].text });
  if (count > shown.length) items.push(othersItem(count, count - shown.length, names, words, maximumNames));
  return fill(formOf(words, words.typing.list, count), { list: joined(items, words) });
}

/** The last item of a list: `someone else` if only one typist has no name, otherwise a number of others. */
function othersItem(count, others, names, words, maximumNames) {
  const isUnnamed = count - names.length === 1 && count <= maximumNames;
  const text = isUnnamed
    ? words.typing.someoneElse
    : fill(formOf(words, words.typing.others, others), { count: others });
  return { name: text, text };
}

/** The names of the typists who have one, in the order that the options ask for. */
function namesOf(typists, words, { name = (user) => undefined, order = "beginning", longestName = 40 }) {
  const names = typists.flatMap((typist) =>
    shownName(name(typist.user), longestName) ?? shownName(typist.name, longestName) ?? []);
  if (order === "beginning") return names;
  const collator = new Intl.Collator(words.id, { numeric: true });
  // Names that the language treats as equal still need a fixed order, so that they never change places.
  return names.sort((left, right) => collator.compare(left, right) || (left < right ? -1 : 1));
}

/**
 * Joins the items with the words' own patterns, which are those of CLDR. It does not use `Intl.ListFormat` because
 * browsers have different versions of CLDR, and because that does not see the first letter of a name behind an isolate.
 */
function joined(items, { list }) {
  const [first, ...rest] = items;
  return rest.reduce((text, item, index) => {
    const isLast = index === rest.length - 1;
    if (!isLast) return text + list.middle + item.text;
    const usual = rest.length === 1 ? list.pair : list.last;
    return text + (changesWord(item.name, list.before) ? list.before.use : usual) + item.text;
  }, first.text);
}

/** Whether the name changes the word before it, as "Isabel" makes "e" of the Spanish "y". */
function changesWord(name, before) {
  const begins = (start) => name.normalize("NFC").toLowerCase().startsWith(start);
  return before !== undefined && before.starts.some(begins) && !before.except.some(begins);
}

/**
 * Returns the state of three dots that light up in turn beside the text, 0.4 s each: which dot's turn it is, and the
 * three opacities. It depends only on the time, so the code that draws the dots keeps no state.
 *
 * @param {number} elapsed milliseconds since the dots appeared
 * @param {{ reducesMotion?: boolean }} options whether the user asked for less motion: the dots do not move then
 */
export function typingDots(elapsed, { reducesMotion = false } = {}) {
  if (reducesMotion) return { phase: null, opacities: [1, 1, 1] };
  const turns = Math.max(0, elapsed / 400);
  const phase = Math.floor(turns % 3);
  const part = turns % 1;
  const light = 0.3 + 0.7 * 4 * part * (1 - part);
  return { phase, opacities: [0, 1, 2].map((dot) => dot === phase ? light : 0.3) };
}

// ---- presence-text.js

// What an app writes beside a user: last seen, online, and how many of a group are online.

/**
 * Says when a user was last seen; empty for a user who is unknown or was never seen. `discreet`, the default,
 * protects privacy with vague texts: `Active now`, `3m ago`, `Active recently`, `Last seen today`. `exact` gives
 * `Last seen 3 minutes ago`.
 *
 * @param {import("./rollcall.js").Presence | undefined} presence
 * @param {number} now the client's `now`
 * @param {import("./rollcall.js").LastSeenOptions} options
 */
export function lastSeenText(presence, now, { language, style = "discreet" } = {}) {
  const { lastSeen: words, id } = wordsOf(language);
  if (!presence) return "";
  if (presence.status !== "offline") return words.now;
  if (presence.lastSeen === null) return "";
  const age = now - presence.lastSeen;
  const counted = (forms, unit) => {
    const count = Math.floor(age / unit);
    return fill(formOf({ id }, forms, count), { count });
  };
  if (age < MINUTE) return words.now;
  if (style === "exact") {
    if (age < HOUR) return counted(words.minutesAgo, MINUTE);
    return age < DAY ? counted(words.hoursAgo, HOUR) : counted(words.daysAgo, DAY);
  }
  if (age < 5 * MINUTE) return counted(words.minutes, MINUTE);
  if (age < HOUR) return words.recently;
  return age < DAY ? words.today : words.earlier;
}

/** When `lastSeenText` changes with time: at each multiple of the first number, up to the second. */
const LAST_SEEN_STEPS = {
  discreet: [[MINUTE, 5 * MINUTE], [HOUR, HOUR], [DAY, DAY]],
  exact: [[MINUTE, HOUR], [HOUR, DAY], [DAY, Infinity]],
};

/**
 * Returns how many milliseconds `lastSeenText` stays correct if the presence does not change; Infinity if always.
 *
 * @param {import("./rollcall.js").Presence | undefined} presence
 * @param {number} now the client's `now`
 * @param {import("./rollcall.js").LastSeenOptions} options
 */
export function lastSeenValidity(presence, now, { style = "discreet" } = {}) {
  if (presence?.status !== "offline" || presence.lastSeen === null) return Infinity;
  const age = now - presence.lastSeen;
  if (age < MINUTE) return MINUTE - age;
  const step = LAST_SEEN_STEPS[style].find(([, until]) => age < until);
  return step ? step[0] - age % step[0] : Infinity;
}

/**
 * Returns what the dot's colour means, for people who cannot see it: `Online`, `Away`, `Offline`; empty for an unknown
 * user.
 *
 * @param {import("./rollcall.js").Presence | undefined} presence
 * @param {{ language?: string | readonly string[] }} options
 */
export function presenceText(presence, { language } = {}) {
  return presence ? wordsOf(language).presence[presence.status] : "";
}

/**
 * Returns the colour role of a user's dot. The app's design chooses the actual colours.
 *
 * @param {import("./rollcall.js").Presence | undefined} presence
 * @returns {"green" | "amber" | "grey" | "none"}
 */
export function presenceDot(presence) {
  switch (presence?.status) {
    case "online": return "green";
    case "away": return "amber";
    case "offline": return "grey";
    default: return "none";
  }
}

/**
 * Returns how many members of a group are online: `3 of 5 online`. A user who is away is not online.
 *
 * @param {Iterable<import("./rollcall.js").Presence | undefined>} presences the known ones
 * @param {number} total the size of the group, including members of unknown presence
 * @param {{ language?: string | readonly string[] }} options
 */
export function groupCount(presences, total, { language } = {}) {
  const words = wordsOf(language);
  const online = [...presences].filter((presence) => presence?.status === "online").length;
  return { online, total, text: fill(formOf(words, words.presence.group, online), { online, total }) };
}
