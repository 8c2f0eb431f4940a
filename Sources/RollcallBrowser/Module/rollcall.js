// Made by `make browser-module` from the modules in Sources/RollcallBrowser/JavaScript: edit those.

// Rollcall for browsers: who is here, and who is typing, over one WebSocket. One file, nothing to build.
//
//     import { RollcallClient, typingText } from "./rollcall.js";
//
//     const rollcall = new RollcallClient({ url: "wss://chat.example/v1/connect", device: "web", token: freshToken });
//     rollcall.connect();
//     const input = rollcall.typingInput("c42");
//     field.addEventListener("input", () => input.edited(field.value));
//     for await (const typing of rollcall.typing("c42")) line.textContent = typingText(typing);
//
// The parts, in this order: errors; decisions, which are values that are told the time and do nothing; the engine,
// which joins them to a socket; the client, which apps hold; texts, and the words for them. What is a state (who types,
// who is here, the connection) comes as `Updates`; what happens once (a problem) comes as an event. Nothing is thrown
// for weather: a client reconnects for ever, and then shows the truth of then.

// ---- units.js

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function clamped(value, least, most) { return Math.min(Math.max(value, least), most); }

const utf8 = new TextEncoder();

// ---- backoff.js

/** Pauses between attempts: exponential with full jitter, so that a fallen worker's clients come back spread out. */
class Backoff {
  /** How long a connection must have stood for its end to count as a first failure again. */
  static STEADY = 5 * SECOND;

  #first;
  #longest;
  #failures = 0;

  constructor(first, longest) {
    this.#first = first;
    this.#longest = longest;
  }

  connectionHeld(duration) { if (duration >= Backoff.STEADY) this.#failures = 0; }

  /** The pause after one more failure: anything from nothing to a ceiling that doubles with each. */
  failed() {
    const ceiling = Math.min(this.#longest, this.#first * 2 ** this.#failures);
    this.#failures += 1;
    return Math.random() * ceiling;
  }
}

/**
 * When to send again what a worker refused for now (`"retry":true`): with exponential pauses and full jitter. One
 * schedule for all kinds of messages: the reasons (Redis is away, the session asked for too much) concern the session
 * as a whole, and what waits goes out in few messages.
 */
class Retries {
  static FIRST = 250;
  static LONGEST = 15 * SECOND;

  #backoff = new Backoff(Retries.FIRST, Retries.LONGEST);
  /** The kinds of messages that were refused since the last success. */
  #refused = new Set();
  /** The last message that was sent before the attempt that is under way. */
  #before = 0;
  /** When to send again what was refused; null when nothing waits. */
  deadline = null;

  /** Refusals that come before the next attempt count as one. */
  refused(kind, now) {
    this.#refused.add(kind);
    this.deadline ??= now + this.#backoff.failed();
  }

  /**
   * The worker took a message. That says nothing of what waits, nor of what is under way again, unless the message was
   * sent with that and is of a kind that was refused: a worker takes at once what costs it nothing.
   */
  succeeded(kind, message) {
    if (this.deadline !== null || message <= this.#before || !this.#refused.has(kind)) return;
    this.#backoff = new Backoff(Retries.FIRST, Retries.LONGEST);
    this.#refused.clear();
  }

  /** The attempt begins, after this message. */
  begin(message) {
    this.deadline = null;
    this.#before = message;
  }
}

// ---- errors.js

/** What the client is already trying again. Every other code is a mistake that somebody must put right. */
const WEATHER = new Set(["token_unavailable", "unreachable", "connection_lost", "asked"]);

/** A mistake or, as the reason of a `waiting` connection, the weather of the moment. Match on `code`: it is stable. */
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

  /** Whether trying the same again may help. Where it may, the client is doing so. */
  get retry() { return WEATHER.has(this.code); }
}

/** What is wrong with typing settings, all of it. */
export class InvalidTypingSettings extends RangeError {
  /** @param {string[]} problems */
  constructor(problems) {
    super(`invalid typing settings: ${problems.join("; ")}`);
    this.name = "InvalidTypingSettings";
    this.problems = problems;
  }
}

/** The mistakes behind close codes; any other from 4100 to 4199 is `refused`. */
const MISTAKES = new Map([
  [4100, ["bad_token", "the worker does not take the token"]],
  [4101, ["token_expired", "the token has expired"]],
  [4102, ["protocol_error", "the worker could not read a message"]],
  [4103, ["too_many_messages", "more messages than the worker allows"]],
  [4104, ["replaced", "a newer session of this device is connected"]],
  [4105, ["too_many_sessions", "the user has too many sessions"]],
  [4106, ["sent_away", "an operator ended the session"]],
]);

const TOKEN_EXPIRED = 4101;

const CLOSE_CODES = new Map([["replaced", 4104], ["expired", TOKEN_EXPIRED], ["limit", 4105], ["sent_away", 4106]]);

function closedWith(closeCode) {
  /** @type {any[]} */
  const [code, message] = MISTAKES.get(closeCode) ?? ["refused", `the worker ended the session with code ${closeCode}`];
  return new RollcallError(code, message, { closeCode });
}

const REMOVED = { code: "not_a_member", message: "the user is no longer a member", retry: false };

/** The mistake that a worker's `error` message tells of. */
function refusalError({ code, message, retry }) {
  if (code === "not_a_member" || code === "limit") return new RollcallError(code, message);
  return new RollcallError(retry ? "asked" : "bad_request", message);
}

// ---- messages.js

const NAME = /^[^\p{White_Space}\p{Cc}\p{Cs}{}]+$/u;

/** A user's, a device's or a conversation's name, checked here, since a worker refuses a whole message for one. */
function named(text) {
  if (typeof text === "string" && NAME.test(text) && utf8.encode(text).length <= 128) return text;
  throw new RollcallError("invalid_name", `no name, of 1 to 128 bytes without white space or braces: ${text}`);
}

/** What a session surely may do, at a worker that has not yet said what it allows. */
const CAUTIOUS = {
  watched_users: 1000, joined_conversations: 200, message_bytes: 8192, message_rate: 10, message_burst: 20,
};

/** How to read each message that a client knows. A reader throws where a field is not what it must be. */
const READERS = {
  welcome: (message) => ({
    user: string(message.user),
    device: string(message.device),
    session: string(message.session),
    worker: string(message.worker),
    time: number(message.time),
    ping: clamped(number(message.ping), 100, HOUR),
    expiry: clamped(number(message.typing?.expiry ?? 3 * SECOND), 0, HOUR),
    limits: Object.fromEntries(
      Object.entries(CAUTIOUS).map(([limit, cautious]) => [limit, message.limits?.[limit] ?? cautious])),
  }),
  presence: ({ id, users }) => ({ id, users: users.map(readPresence) }),
  typing: ({ conversation, users, count }) => ({
    conversation, count: number(count), typists: users.map(({ user, name }) => readTypist(string(user), name)),
  }),
  members: ({ conversation, users, count }) => ({
    conversation, count: number(count), people: users.map(({ user, name }) => readTypist(string(user), name)),
  }),
  removed: ({ conversation }) => ({ conversation }),
  goodbye: ({ reason, reconnect, after, to }) => ({ reason, reconnect: reconnect !== false, after, to }),
  pong: ({ time }) => ({ time: number(time) }),
  ack: ({ id }) => ({ id }),
  error: ({ id, code, message, retry }) => ({ id, code, message, retry: retry === true }),
};

function readPresence({ user, status, last_seen, updated_at, version }) {
  return {
    user: string(user),
    // A status of a later version counts as offline.
    status: status === "online" || status === "away" ? status : "offline",
    lastSeen: last_seen ?? null, updatedAt: updated_at ?? null, version: version ?? 0,
  };
}

function readTypist(user, name) {
  return typeof name === "string" ? { user, name } : { user };
}

/** The message in a frame; null where it is a newer worker's word or garbage, and neither is ours to stumble over. */
function messageFrom(text) {
  try {
    const message = JSON.parse(text);
    return Object.hasOwn(READERS, message.type) ? { type: message.type, ...READERS[message.type](message) } : null;
  } catch {
    return null;
  }
}

function string(value) {
  if (typeof value === "string") return value;
  throw new TypeError("not a string");
}

function number(value) {
  if (Number.isFinite(value)) return value;
  throw new TypeError("not a number");
}

// ---- wanted.js

/**
 * The difference between what should hold at the worker and what it was told on this connection. A connection is
 * brought up to date by sending the difference, and so is a new one, which was told nothing.
 *
 * Messages are numbered in the order in which they were sent. Answers may come in any order, so a refusal counts only
 * for names of which no later message speaks.
 */
class Wanted {
  #wanted = new Set();
  /**
   * What the worker was asked for, each with the messages that have asked since it was last given up: the number of the
   * first, and how many were not refused. The worker serves it unless it refuses them all.
   */
  #told = new Map();
  #missing = new Set();
  #surplus = new Set();
  /** Refused for now: not asked for before `retry`, however often it is given up and wanted again meanwhile. */
  #delayed = new Set();
  /**
   * The worker refused for now to give these up, and was not asked to since. It may serve them although it refuses what
   * asks for them anew.
   */
  #lingering = new Set();

  get toldCount() { return this.#told.size; }
  get hasMissing() { return this.#missing.size > 0; }
  get hasSurplus() { return this.#surplus.size > 0; }
  wants(name) { return this.#wanted.has(name); }
  wasTold(name) { return this.#told.has(name); }
  isMissing(name) { return this.#missing.has(name); }
  /** Whether one of those that are ready is missing or surplus. */
  isDue(isReady) { return [...this.#missing, ...this.#surplus].some(isReady); }

  want(name) {
    this.#wanted.add(name);
    this.#surplus.delete(name);
    if (!this.#told.has(name) && !this.#delayed.has(name)) this.#missing.add(name);
  }

  unwant(name) {
    this.#wanted.delete(name);
    this.#missing.delete(name);
    const isLingering = this.#lingering.has(name) && !this.#delayed.has(name);
    if (this.#told.has(name) || isLingering) this.#surplus.add(name);
  }

  /** The worker does not serve it: not asked for again before the next connection or `want`. */
  refused(name) {
    for (const names of [this.#told, this.#surplus, this.#delayed, this.#lingering]) names.delete(name);
  }

  /** Whether a refusal of this message is about the name as the worker knows it now. */
  isRefused(name, message) { return this.#told.get(name)?.first <= message; }

  /** The worker refused for now to serve what this message asked for. */
  refusedForNow(names, message) {
    for (const name of names) {
      if (!this.isRefused(name, message) || --this.#told.get(name).count > 0) continue;
      this.#told.delete(name);
      this.#surplus.delete(name);
      this.#delayed.add(name);
    }
  }

  /** The worker refused for now to give these up. */
  keptForNow(names) { for (const name of names) this.#lingering.add(name); }

  /** What was refused for now is due again. */
  retry() {
    for (const name of this.#delayed) if (this.#wanted.has(name)) this.#missing.add(name);
    for (const name of this.#lingering) if (!this.#wanted.has(name)) this.#surplus.add(name);
    this.#delayed.clear();
  }

  /** The connection is gone, and with it all that its worker knew. */
  connectionLost() {
    for (const names of [this.#told, this.#surplus, this.#delayed, this.#lingering]) names.clear();
    this.#missing = new Set(this.#wanted);
  }

  /** It was asked for, perhaps beside something else. */
  told(name, message) {
    this.#missing.delete(name);
    this.#delayed.delete(name);
    const asked = this.#told.get(name) ?? { first: message, count: 0 };
    asked.count++;
    this.#told.set(name, asked);
  }

  /** Up to `limit` names that are to be asked for. */
  nextMissing(limit, isReady) { return firstOf(this.#missing, limit, isReady); }

  /** Up to `limit` names to give up. */
  takeSurplus(limit, isReady) {
    const names = takenFrom(this.#surplus, limit, isReady);
    for (const name of names) {
      this.#told.delete(name);
      this.#lingering.delete(name);
    }
    return names;
  }
}

function firstOf(names, limit, isReady = (name) => true) {
  const some = [];
  for (const name of names) {
    if (some.length >= limit) break;
    if (isReady(name)) some.push(name);
  }
  return some;
}

function takenFrom(names, limit, isReady) {
  const some = firstOf(names, limit, isReady);
  for (const name of some) names.delete(name);
  return some;
}

// ---- agenda.js

/** Which kind of message was about this. */
function kindOf({ fetch, users, conversation, unwatched, left, stop, state }) {
  if (fetch) return "get";
  if (users) return "watch";
  if (conversation !== undefined) return "join";
  if (unwatched) return "unwatch";
  if (left !== undefined) return "leave";
  if (stop) return "typing";
  return state ? "state" : "token";
}

/**
 * What the worker has still to be told, and in which order: one's own typing first, since people wait for it, then what
 * frees room, then what asks for more. What is superseded before it was sent is never sent. What the worker refuses for
 * now is sent again later, for as long as it is wanted.
 */
class Agenda {
  users = new Wanted();
  conversations = new Wanted();
  /** Of these conversations, those whose members are wanted too. */
  gatherings = new Wanted();
  #limits = CAUTIOUS;
  #state = null;
  #token = null;
  /** One's own typing: `{ conversation, typing, stop }`, `stop` being whoever awaits that it is published. */
  #signals = [];
  /** Presence to be asked for once: `{ fetch, users }`. */
  #gets = [];
  /** Refused for now. */
  #delayedState = null;
  #delayedToken = null;
  #delayedGets = [];
  #retries = new Retries();
  /** What the messages with an id were about that are not answered yet. */
  #unanswered = new Map();
  /** How many users each `get` names that is not answered, whether anybody still waits for it or not. */
  #getting = new Map();
  #lastID = 0;
  /** Which message said last what the device is, and which brought a fresh token. */
  #lastState = 0;
  #lastToken = 0;

  /** When to call `retryDue`; null when nothing waits to be sent again. */
  get retryTime() { return this.#retries.deadline; }

  /** Whether something is left that may be sent. */
  get hasMore() {
    return this.#state !== null || this.#token !== null
      || this.#signals.some(({ conversation }) => this.#isJoined(conversation))
      || this.users.hasSurplus || this.conversations.hasSurplus || this.gatherings.isDue(this.#isJoined)
      || this.#gets.length > 0 && this.#getRoom > 0
      || this.users.hasMissing && this.#userRoom > 0
      || this.conversations.hasMissing && this.#conversationRoom > 0;
  }

  /** Whether more users or conversations are wanted than the worker serves one session. */
  get isBeyondLimits() {
    return this.users.hasMissing && this.#userRoom <= 0 || this.conversations.hasMissing && this.#conversationRoom <= 0;
  }

  limitsLearnt(limits) { this.#limits = limits; }

  stateChanged(state) {
    this.#state = state;
    this.#delayedState = null;
  }

  tokenRenewed(token) {
    this.#token = token;
    this.#delayedToken = null;
  }

  fetchWanted(fetch, users) { this.#gets.push({ fetch, users }); }

  /** A later signal replaces an earlier one of its conversation that was not sent yet, unless that is awaited. */
  signalled(typing, conversation, stop) {
    this.#signals = this.#signals.filter((signal) => signal.conversation !== conversation || signal.stop);
    this.#signals.push({ conversation, typing, stop });
  }

  fetchEnded(fetch) {
    this.#gets = this.#gets.filter((get) => get.fetch !== fetch);
    this.#delayedGets = this.#delayedGets.filter((get) => get.fetch !== fetch);
    for (const [id, subject] of this.#unanswered) if (subject.fetch === fetch) this.#unanswered.delete(id);
  }

  /** The worker has answered a `get` with presence, and takes more. */
  getAnswered(id) {
    if (this.#getting.delete(id)) this.#retries.succeeded("get", id);
  }

  /** Which fetch a message still awaiting its answer belongs to. */
  fetchOf(id) { return this.#unanswered.get(id)?.fetch; }

  /** What the acknowledged message was about; each is answered once. */
  acknowledged(id) {
    const subject = this.#unanswered.get(id);
    if (subject) this.#retries.succeeded(kindOf(subject), id);
    // A fetch is answered by presence, which may come after its acknowledgement.
    return this.fetchOf(id) ? undefined : this.#answered(id);
  }

  /**
   * The worker refused a message. Returns what the message was about, and what becomes of it: it is `retried`, or the
   * refusal is `final`, or `stale`, since nobody is concerned any more.
   *
   * `limit` is told and yet sent again: there is room once something else was given up, and a session that met the limit
   * before the worker had named it asks for less from then on.
   */
  refused({ id, code, retry }, now) {
    this.#getting.delete(id);
    const subject = this.#answered(id);
    if (!subject) return { fate: "stale" };
    const needsRoom = subject.users || subject.conversation !== undefined;
    // A stop is not sent again: whoever awaits it is told at once, and the typing ends by itself.
    if (subject.stop || !retry && !(code === "limit" && needsRoom)) {
      return { subject, fate: this.#refusedForGood(subject, id) };
    }
    this.#delay(subject, id);
    this.#retries.refused(kindOf(subject), now);
    return { subject, fate: retry || subject.fetch ? "retried" : "final" };
  }

  /** What was refused for now may be sent again. */
  retryDue() {
    this.#retries.begin(this.#lastID);
    for (const wanted of [this.users, this.conversations, this.gatherings]) wanted.retry();
    this.#state ??= this.#delayedState;
    this.#token ??= this.#delayedToken;
    this.#gets.push(...this.#delayedGets);
    this.#forgetDelayed();
  }

  #answered(id) {
    const subject = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    return subject;
  }

  #delay({ users, fetch, conversation, unwatched, left, notGathered, state, token }, id) {
    if (fetch) this.#delayedGets.push({ fetch, users });
    else if (users) this.users.refusedForNow(users, id);
    else if (unwatched) this.users.keptForNow(unwatched);
    else if (left !== undefined) this.conversations.keptForNow([left]);
    else if (notGathered) {
      this.conversations.refusedForNow([conversation], id);
      this.gatherings.keptForNow([conversation]);
    }
    else if (conversation !== undefined) {
      this.conversations.refusedForNow([conversation], id);
      this.gatherings.refusedForNow([conversation], id);
    } else if (state && id === this.#lastState) this.#delayedState = state;
    else if (token && id === this.#lastToken) this.#delayedToken = token;
  }

  /** What is refused and has not been asked for anew meanwhile. */
  #refusedForGood(subject, id) {
    const { users, fetch, conversation } = subject;
    if (users && !fetch) for (const user of users) if (this.users.isRefused(user, id)) this.users.refused(user);
    if (conversation === undefined) return "final";
    if (!this.conversations.isRefused(conversation, id)) return "stale";
    this.conversations.refused(conversation);
    this.gatherings.refused(conversation);
    return "final";
  }

  #forgetDelayed() {
    this.#delayedState = this.#delayedToken = null;
    this.#delayedGets = [];
  }

  /** Nothing said on the old connection counts; typing is dropped, never queued. */
  connectionLost() {
    this.users.connectionLost();
    this.conversations.connectionLost();
    this.gatherings.connectionLost();
    this.#signals = [];
    this.#gets = [];
    this.#state = this.#token = null;
    this.#forgetDelayed();
    this.#retries = new Retries();
    this.#unanswered.clear();
    this.#getting.clear();
  }

  /** The next messages, `count` at most, which count as sent from now on. */
  take(count) {
    const messages = [];
    const room = () => count - messages.length;
    this.#takeSignals(messages, room);
    if (this.#token !== null && room() > 0) {
      messages.push({ type: "token", token: this.#token, id: this.#lastToken = this.#ask({ token: this.#token }) });
      this.#token = null;
    }
    if (this.#state !== null && room() > 0) {
      messages.push({ type: "state", state: this.#state, id: this.#lastState = this.#ask({ state: this.#state }) });
      this.#state = null;
    }
    for (const conversation of this.conversations.takeSurplus(room())) {
      this.gatherings.refused(conversation);
      messages.push({ type: "leave", conversation, id: this.#ask({ left: conversation }) });
    }
    if (room() > 0 && this.users.hasSurplus) {
      const users = this.users.takeSurplus(this.#usersPerMessage);
      messages.push({ type: "unwatch", users, id: this.#ask({ unwatched: users }) });
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
      const id = this.#ask({ conversation, ...subject });
      messages.push({ type: "join", conversation, ...presence, id });
      return id;
    };
    for (const conversation of this.conversations.nextMissing(Math.min(room(), this.#conversationRoom))) {
      const isGathering = this.gatherings.wants(conversation);
      const id = join(conversation, isGathering && { presence: true });
      this.conversations.told(conversation, id);
      if (isGathering) this.gatherings.told(conversation, id);
    }
    for (const each of this.gatherings.nextMissing(room(), this.#isJoined)) {
      const id = join(each, { presence: true });
      this.conversations.told(each, id);
      this.gatherings.told(each, id);
    }
    for (const each of this.gatherings.takeSurplus(room(), this.#isJoined)) {
      this.conversations.told(each, join(each, { presence: false }, { notGathered: true }));
    }
  }

  #isJoined = (conversation) => this.conversations.wasTold(conversation);

  /** Those of conversations that were joined; those of others wait for the join, or are nobody's any more. */
  #takeSignals(messages, room) {
    this.#signals = this.#signals.filter((signal) => {
      const { conversation, typing, stop } = signal;
      if (!this.conversations.wasTold(conversation)) return this.conversations.isMissing(conversation);
      if (room() <= 0) return true;
      messages.push({ type: "typing", conversation, typing, ...stop && { id: this.#ask({ stop }) } });
      return false;
    });
  }

  /** Nobody can be told of typing in a conversation for which the worker has no room. */
  #dropSignalsBeyondLimits() { this.#signals = this.#signals.filter(({ conversation }) => this.#isJoined(conversation)); }

  #takeWatches(messages, room) {
    while (room() > 0 && this.users.hasMissing && this.#userRoom > 0) {
      const users = this.users.nextMissing(Math.min(this.#usersPerMessage, this.#userRoom));
      const id = this.#ask({ users });
      for (const user of users) this.users.told(user, id);
      messages.push({ type: "watch", users, id });
    }
  }

  #takeGets(messages, room) {
    while (room() > 0 && this.#gets.length > 0 && this.#getRoom > 0) {
      const [get] = this.#gets;
      const users = get.users.slice(0, Math.min(this.#usersPerMessage, this.#getRoom));
      get.users = get.users.slice(users.length);
      if (get.users.length === 0) this.#gets.shift();
      const id = this.#ask({ fetch: get.fetch, users });
      this.#getting.set(id, users.length);
      messages.push({ type: "get", users, id });
    }
  }

  #ask(subject) {
    this.#lastID += 1;
    this.#unanswered.set(this.#lastID, subject);
    return this.#lastID;
  }

  get #userRoom() { return this.#limits.watched_users - this.users.toldCount; }
  get #conversationRoom() { return this.#limits.joined_conversations - this.conversations.toldCount; }
  get #getRoom() {
    let room = this.#limits.watched_users;
    for (const users of this.#getting.values()) room -= users;
    return room;
  }

  /** How many names surely fit into one message: each takes 128 bytes at most, all of them escaped at worst. */
  get #usersPerMessage() { return Math.max(1, Math.floor((this.#limits.message_bytes - 128) / 260)); }
}

// ---- alarm.js

/** A timer that follows a deadline on the steady clock, wherever that moves. Moving it later, as most do, is free. */
class Alarm {
  /** The longest that a browser's timer takes. */
  static LONGEST = 2 ** 31 - 1;

  #ring;
  #deadline = null;
  #scheduled = Infinity;
  #timer = null;

  constructor(ring) { this.#ring = ring; }

  set(deadline) {
    this.#deadline = deadline;
    if (deadline === null) this.#cancel();
    else if (deadline < this.#scheduled) this.#schedule();
  }

  #schedule() {
    this.#cancel();
    this.#scheduled = this.#deadline;
    this.#timer = setTimeout(() => this.#fired(), clamped(this.#deadline - performance.now(), 0, Alarm.LONGEST));
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

// ---- attention.js

/** What this device says of itself, from the app's phase and the person's input. */
class Attention {
  #idleAfter;
  #inBackground = false;
  /** Set outright by the app, until its phase changes or input happens. */
  #isIdle = false;
  /** The last input; null until the app reports any, since an app that reports none says nothing by silence. */
  #lastInput = null;

  constructor(idleAfter) { this.#idleAfter = idleAfter; }

  get state() {
    if (this.#inBackground) return "background";
    return this.#isIdle ? "idle" : "active";
  }

  get deadline() {
    if (this.state !== "active" || this.#idleAfter === null || this.#lastInput === null) return null;
    return this.#lastInput + this.#idleAfter;
  }

  phaseChanged(phase, now) {
    if (phase === "active") this.stateSet("active", now);
    if (phase === "background") this.#inBackground = true;
  }

  stateSet(state, now) {
    this.#inBackground = state === "background";
    this.#isIdle = state === "idle";
    if (this.#lastInput !== null) this.#lastInput = now;
  }

  inputHappened(now) {
    this.#lastInput = now;
    this.#isIdle = false;
  }

  /** An edit is input too, for an app that reports input; for another it must not start the count. */
  edited(now) { if (this.#lastInput !== null) this.inputHappened(now); }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#isIdle = true; }
}

// ---- addresses.js

/** The parts of a worker's URL, `ws:` or `wss:`, or a path on the page's own host; null if it is none. */
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

/** Where to connect: to the app's addresses, round after round, but first to where a worker sends this device. */
class Itinerary {
  /** How long an attempt may take while another address is left to try. */
  static PATIENCE = 2 * SECOND;

  #homes;
  #turn = 0;
  #untried;
  /** Whether a whole round has failed since the last welcome: then it may be the network that is slow. */
  #isPatient = false;
  /** Where a worker sent this device: tried once, before the homes. */
  #invitation = null;
  /** Whether a worker may send this device to a host, with its token. */
  #allows;

  /**
   * Shuffles the addresses, so that the clients of several workers spread over them.
   *
   * @param others hosts to which a worker may send this device, beside those of `homes`; "*." stands for all of a domain.
   */
  constructor(homes, others = []) {
    const hosts = [...homes.map(hostOf), ...others.map((host) => host.toLowerCase())];
    this.#allows = (host) => hosts.some((each) => each.startsWith("*.") ? host.endsWith(each.slice(1)) : host === each);
    this.#homes = shuffled(homes);
    this.#untried = homes.length;
  }

  get address() { return this.#invitation ?? this.#homes[this.#turn]; }

  timeLimit(longest) {
    const hasOthers = this.#invitation !== null || this.#untried > 1;
    return hasOthers && !this.#isPatient ? Math.min(longest, Itinerary.PATIENCE) : longest;
  }

  welcomed() {
    this.#untried = this.#homes.length;
    this.#isPatient = false;
  }

  /** No worker answered. Returns whether the next address is worth trying at once: this round has not tried it yet. */
  notReached() {
    if (this.#invitation !== null) {
      this.#invitation = null;
      return true;
    }
    this.#moveOn();
    this.#untried -= 1;
    if (this.#untried > 0) return true;
    this.#untried = this.#homes.length;
    this.#isPatient = true;
    return false;
  }

  /** The connection ended: its worker may be gone, and another is as good, or is the one that was named. */
  connectionEnded(to) {
    const next = typeof to === "string" ? parseAddress(to) : null;
    // Never from an encrypted connection to one that is not: the token goes along.
    const isSafe = next?.protocol === "wss:" || this.address.protocol === "ws:";
    this.#invitation = next && isSafe && this.#allows(hostOf(next)) ? next : null;
    this.#moveOn();
  }

  #moveOn() { this.#turn = (this.#turn + 1) % this.#homes.length; }
}

function shuffled(values) {
  const mixed = [...values];
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other], mixed[last]];
  }
  return mixed;
}

// ---- liveness.js

/**
 * Whether a connection is alive, by what came over it. Browsers hide WebSocket's own pings, so silence is asked about.
 * A page that was itself asleep asks again before it judges; one whose timers are merely slow judges the second time.
 */
class Liveness {
  static ANSWER_TIME = 3 * SECOND;
  /** A deadline noticed this much late means that this page did not run meanwhile. */
  static ASLEEP = SECOND;

  #silence;
  /** A worker that is still reading what it was sent before answers late: where only silence gives doubt, it may. */
  #patience;
  /** How long the answer that is awaited may take. */
  #answerTime = Liveness.ANSWER_TIME;
  #asked = 0;

  /** @param {number} ping how often the worker pings */
  constructor(ping, now) {
    this.#silence = 2 * ping;
    this.#patience = Math.max(ping, Liveness.ANSWER_TIME);
    this.deadline = now + this.#silence;
  }

  /**
   * While an answer is awaited, nothing else is one: it may have been under way, or lain in this machine, since before
   * the connection died. But it may also be what the answer has to wait behind.
   */
  heard(isAnswer, now) {
    if (isAnswer) this.#asked = 0;
    this.deadline = now + (this.#asked > 0 ? this.#answerTime : this.#silence);
  }

  /** There is reason to doubt: the page came back to the front, the network changed. */
  doubted(now) {
    if (this.#asked === 0) return this.#ask(now, Liveness.ANSWER_TIME);
    // What is asked because of silence alone is now asked in earnest.
    this.#answerTime = Liveness.ANSWER_TIME;
    this.deadline = Math.min(this.deadline, now + this.#answerTime);
    return "alive";
  }

  /** Returns `"alive"`, `"ask"` (send what must be answered) or `"dead"`. */
  deadlinePassed(now) {
    if (now < this.deadline) return "alive";
    const isLate = now >= this.deadline + Liveness.ASLEEP;
    if (this.#asked === 0) return this.#ask(now, isLate ? Liveness.ANSWER_TIME : this.#patience);
    return this.#asked === 1 && isLate ? this.#ask(now, Liveness.ANSWER_TIME) : "dead";
  }

  #ask(now, answerTime) {
    this.#asked += 1;
    this.#answerTime = answerTime;
    this.deadline = now + answerTime;
    return "ask";
  }
}

// ---- reconnecting.js

/**
 * What follows each end of a connection, or of an attempt at one: `{ after, freshToken, error }` to try again, or just
 * `{ error }` to give up. Close codes from 4100 to 4199 mean that somebody has to put something right first.
 */
class Reconnecting {
  /** The longest that a worker may make a client wait: beyond it, it is more likely wrong than busy. */
  static LONGEST_WAIT = 5 * MINUTE;
  /** A token that is refused as expired so soon after the app gave it was no fresh one. */
  static FRESHNESS = MINUTE;

  #itinerary;
  #backoff;
  /** What the worker said before it closed. */
  #goodbye = null;
  /** Whether the token was fetched anew after 4101 and no welcome has come since. */
  #isRefreshed = false;

  constructor(itinerary, backoff) {
    this.#itinerary = itinerary;
    this.#backoff = backoff;
  }

  get address() { return this.#itinerary.address; }
  timeLimit(longest) { return this.#itinerary.timeLimit(longest); }

  welcomed() {
    this.#isRefreshed = false;
    this.#itinerary.welcomed();
  }

  /** A connection begins. A goodbye belongs to the connection on which it came. */
  opening() { this.#goodbye = null; }

  goodbyeReceived(goodbye) { this.#goodbye = goodbye; }

  /** The token callback threw, or did not answer: its own mistakes end the trying, anything else is weather. */
  tokenFailed(cause) {
    if (cause instanceof RollcallError && !cause.retry) return { error: cause };
    const error = new RollcallError("token_unavailable", "the app gave no token", { cause });
    return { after: this.#backoff.failed(), freshToken: true, error };
  }

  notReached() {
    const error = new RollcallError("unreachable", "no worker answered");
    return { after: this.#itinerary.notReached() ? 0 : this.#backoff.failed(), freshToken: false, error };
  }

  /**
   * @param {number | null} code the close code; null where the connection was lost
   * @param {number} held how long the connection had stood since its welcome
   * @param {number} tokenAge how long ago the app gave the token
   */
  connectionEnded(code, held, tokenAge) {
    const goodbye = this.#goodbye;
    this.#goodbye = null;
    if (code === TOKEN_EXPIRED) return this.#tokenExpired(tokenAge);
    if (code >= 4100 && code <= 4199) return { error: closedWith(code) };
    if (goodbye && !goodbye.reconnect) return { error: closedWith(CLOSE_CODES.get(goodbye.reason) ?? code) };
    this.#itinerary.connectionEnded(goodbye?.to);
    this.#backoff.connectionHeld(held);
    const pause = this.#backoff.failed();
    const asked = Number.isFinite(goodbye?.after) ? clamped(goodbye.after, 0, Reconnecting.LONGEST_WAIT) : null;
    const error = code === null
      ? new RollcallError("connection_lost", "the connection was lost")
      : new RollcallError("asked", "the worker closed the connection", { closeCode: code });
    return { after: asked ?? pause, freshToken: false, error };
  }

  #tokenExpired(age) {
    const error = closedWith(TOKEN_EXPIRED);
    if (this.#isRefreshed && age <= Reconnecting.FRESHNESS) return { error };
    this.#isRefreshed = true;
    this.#itinerary.connectionEnded();
    return { after: 0, freshToken: true, error };
  }
}

// ---- token.js

/** When a token that is a JWT ends, in server time; null where it does not say. */
function expiryOf(token) {
  try {
    const payload = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(payload));
    return Number.isFinite(exp) ? exp * SECOND : null;
  } catch {
    return null;
  }
}

/**
 * The moment at which it is made. The steady clock may stand still while the machine sleeps, and the device's clock may
 * be set back: the one that has gone further tells how long ago it was.
 */
class Moment {
  #steady = performance.now();
  #device = Date.now();

  get age() { return Math.max(performance.now() - this.#steady, Date.now() - this.#device); }
}

/** How long before its end a token is replaced, at least; less for a token that does not live as long. */
const RENEWAL_SLACK = MINUTE;

/**
 * When to ask for the next token: before the end by the slack and up to as much again, so that clients that connected
 * together do not ask together. If that fails, by the same rule for what is left then. Null: it is too late.
 */
function renewalTime(left, now) {
  if (left <= SECOND) return null;
  const slack = Math.min(RENEWAL_SLACK, left / 4);
  return now + left - slack * (1 + Math.random());
}

// ---- connector.js

/**
 * The life of the connection: a token, a socket, hello, welcome, and after each end whatever `Reconnecting` decides.
 * There is at most one attempt at a time, and what a socket of an earlier one says is not heard.
 */
class Connector {
  /** idle, authenticating, opening, greeting (the hello is sent), connected, waiting, failed or closed. */
  #stage = "idle";
  #socket = null;
  #liveness = null;
  /** The pings that are not answered yet, in order: `{ at, isQuestion }`, whether the liveness depends on the answer. */
  #pings = [];
  #connectedAt = 0;
  #token = null;
  /** When the app gave the token. */
  #tokenGiven = new Moment();
  /** Counts attempts and renewals of the token, to tell the token that is awaited from one that comes too late. */
  #attempt = 0;
  #reconnecting = null;
  #alarm = new Alarm(() => this.#deadlinePassed());
  #renewal = new Alarm(() => this.#renewToken());
  /** Ends the listening for changes of the network. */
  #listening = null;
  #options;
  #owner;

  constructor(options, owner) {
    this.#options = options;
    this.#owner = owner;
    const homes = options.urls.map(parseAddress);
    if (homes.length === 0 || homes.includes(null)) return;
    this.#reconnecting = new Reconnecting(
      new Itinerary(homes, options.workerHosts), new Backoff(options.firstPause, options.longestPause));
  }

  /** Whether messages may be sent. */
  get isOpen() { return this.#stage === "greeting" || this.#stage === "connected"; }

  /** Whether there is a connection, or will be one without another call. */
  get isActive() { return !["idle", "failed", "closed"].includes(this.#stage); }

  connect() { if (["idle", "failed", "waiting"].includes(this.#stage)) this.#begin(); }

  send(messages) {
    const socket = this.#socket;
    for (const message of messages) {
      // Whoever watches the wire may end the connection.
      if (this.#socket !== socket) return;
      const text = JSON.stringify(message);
      socket.send(text);
      this.#owner.wireCarried({ sent: text });
    }
  }

  /** Asks for the worker's time. */
  askForTime() { this.#ping({ isQuestion: false }); }

  #ping({ isQuestion }) {
    this.#pings.push({ at: performance.now(), isQuestion });
    this.send([{ type: "ping" }]);
  }

  /** There is reason to doubt the connection or the answer that is awaited, or to try again at once. */
  networkChanged() {
    if (this.#stage === "waiting" || this.#stage === "authenticating") this.#begin();
    else if (this.#stage === "connected") this.#follow(this.#liveness.doubted(performance.now()));
  }

  /** Lets the connection go, with a goodbye or, as a lost network does, without; resolves once it is closed. */
  end(state, { goodbye }) {
    if (goodbye && this.isOpen) this.send([{ type: "goodbye" }]);
    if (this.#stage === "closed") return Promise.resolve();
    const socket = this.#socket;
    this.#rest(state, { status: state });
    return socketClosed(socket);
  }

  /** Telling of a change comes last, when its alarm is set: whoever is told may connect or close at once. */
  #become(stage, state) {
    this.#stage = stage;
    this.#owner.connectionChanged(state);
  }

  /** Nothing more happens by itself. */
  #rest(stage, state) {
    const wasOpen = this.isOpen;
    this.#attempt += 1;
    this.#stage = stage;
    this.#drop();
    if (wasOpen) this.#owner.connectionLost();
    this.#listening?.abort();
    this.#listening = null;
    this.#become(stage, state);
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#alarm.set(null);
    this.#renewal.set(null);
  }

  // The attempt.

  async #begin() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#alarm.set(null);
    if (!this.#reconnecting) return this.#giveUp(invalidURL());
    this.#listen();
    if (this.#token !== null && !this.#isTokenOver()) return this.#open();
    this.#alarm.set(performance.now() + this.#options.connectTimeout);
    this.#become("authenticating", { status: "connecting" });
    if (attempt !== this.#attempt) return;
    const { token, error } = await this.#freshToken()
      .then((fresh) => ({ token: fresh, error: null }), (reason) => ({ token: null, error: reason }));
    if (attempt !== this.#attempt) return;
    if (token === null) return this.#comeBack(this.#reconnecting.tokenFailed(error));
    this.#take(token);
    this.#open();
  }

  async #freshToken() {
    const { token } = this.#options;
    const fresh = typeof token === "function" ? await token() : token;
    if (typeof fresh === "string") return fresh;
    throw new RollcallError("bad_token", "the token callback gave no string");
  }

  #take(token) {
    this.#token = token;
    this.#tokenGiven = new Moment();
  }

  /** As far as the token itself and the worker's time tell. What expires unseen is refused by the worker (4101). */
  #isTokenOver() {
    const expiry = expiryOf(this.#token);
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
    this.#reconnecting.opening();
    let socket;
    try {
      socket = new this.#options.WebSocket(this.#reconnecting.address.href);
    } catch (cause) {
      return this.#giveUp(invalidURL(cause));
    }
    this.#socket = socket;
    this.#pings = [];
    const heard = (name, handle) => socket.addEventListener(name, (event) => {
      if (this.#socket === socket) handle(event);
    });
    heard("open", () => this.#greet());
    heard("message", ({ data }) => this.#received(data));
    heard("close", ({ code }) => this.#closed(code));
    this.#alarm.set(performance.now() + this.#reconnecting.timeLimit(this.#options.connectTimeout));
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
    this.#owner.wireCarried({ received: data });
    if (!this.isOpen) return;
    const message = messageFrom(data);
    const ping = message?.type === "pong" ? this.#pings.shift() : undefined;
    if (this.#stage === "connected") this.#heard(ping?.isQuestion === true);
    switch (message?.type) {
      case undefined: break;
      case "welcome": if (this.#stage === "greeting") this.#welcomed(message); break;
      case "goodbye": this.#reconnecting.goodbyeReceived(message); break;
      case "pong": this.#owner.timeHeard(message.time, ping?.at ?? performance.now()); break;
      default: this.#owner.messageReceived(message);
    }
  }

  #heard(isAnswer) {
    this.#liveness.heard(isAnswer, performance.now());
    this.#alarm.set(this.#liveness.deadline);
  }

  #welcomed(welcome) {
    const now = performance.now();
    const { user, device, session, worker } = welcome;
    this.#reconnecting.welcomed();
    this.#liveness = new Liveness(welcome.ping, now);
    this.#connectedAt = now;
    this.#alarm.set(this.#liveness.deadline);
    this.#stage = "connected";
    this.#owner.welcomed(welcome);
    // A listener that was told the time may have ended the connection.
    if (this.#stage !== "connected") return;
    this.#scheduleRenewal();
    this.#owner.connectionChanged({ status: "connected", session: { user, device, session, worker } });
  }

  #follow(judgement) {
    this.#alarm.set(this.#liveness.deadline);
    if (judgement === "ask") this.#ping({ isQuestion: true });
    if (judgement === "dead") this.#connectionEnded(null);
  }

  #deadlinePassed() {
    switch (this.#stage) {
      case "waiting": this.#begin(); break;
      case "authenticating": this.#tokenMissing(); break;
      case "opening":
      case "greeting": this.#notReached(); break;
      case "connected": this.#follow(this.#liveness.deadlinePassed(performance.now())); break;
      case "idle":
      case "failed":
      case "closed": break;
    }
  }

  /** A token that comes later belongs to an attempt that is over. */
  #tokenMissing() {
    this.#attempt += 1;
    this.#comeBack(this.#reconnecting.tokenFailed(new Error("the token callback did not answer in time")));
  }

  #closed(code) {
    if (this.#stage === "opening") this.#notReached();
    // What a browser reports where there was no close frame.
    else this.#connectionEnded(code === 1006 ? null : code);
  }

  #notReached() {
    const wasOpen = this.isOpen;
    this.#ended(wasOpen, this.#reconnecting.notReached());
  }

  #connectionEnded(code) {
    const held = this.#stage === "connected" ? performance.now() - this.#connectedAt : 0;
    this.#ended(true, this.#reconnecting.connectionEnded(code, held, this.#tokenGiven.age));
  }

  #ended(wasOpen, next) {
    this.#drop();
    this.#stage = "waiting";
    if (wasOpen) this.#owner.connectionLost();
    this.#comeBack(next);
  }

  #comeBack({ after, freshToken, error }) {
    if (after === undefined) return this.#giveUp(error);
    if (freshToken) this.#token = null;
    this.#alarm.set(performance.now() + after);
    this.#become("waiting", { status: "waiting", retryIn: Math.round(after), error });
  }

  #giveUp(error) {
    this.#token = null;
    this.#rest("failed", { status: "failed", error });
  }

  // The token, before it ends.

  #scheduleRenewal() {
    const expiry = expiryOf(this.#token);
    this.#renewal.set(expiry === null ? null : renewalTime(expiry - this.#owner.now, performance.now()));
  }

  /** Asks again if the app has not answered in time. */
  async #renewToken() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#renewal.set(performance.now() + this.#options.connectTimeout);
    const token = await this.#freshToken().catch(() => this.#token);
    if (attempt !== this.#attempt || this.#stage !== "connected") return;
    if (expiryOf(token) > expiryOf(this.#token)) {
      this.#take(token);
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

/** Resolves once a socket that is closing has closed, after two seconds at most. */
function socketClosed(socket) {
  if (!socket || socket.readyState === 3) return Promise.resolve();
  return new Promise((resolve) => {
    socket.addEventListener("close", () => resolve(), { once: true });
    setTimeout(resolve, 2 * SECOND);
  });
}

// ---- message-budget.js

/**
 * How many messages may be sent now. A worker closes a session that sends too much, so the client spends less than it
 * is allowed: three quarters of the burst and nine tenths of the rate, since a network may bunch what was sent evenly.
 */
class MessageBudget {
  #perSecond = CAUTIOUS.message_rate;
  #capacity = CAUTIOUS.message_burst;
  #left = this.#capacity;
  #counted;

  constructor(now) { this.#counted = now; }

  limitsLearnt({ message_rate, message_burst }, now) {
    const spent = this.#capacity - this.#available(now);
    this.#perSecond = Math.max(1, message_rate * 0.9);
    this.#capacity = Math.max(1, message_burst * 0.75);
    this.#left = Math.max(0, this.#capacity - spent);
  }

  /** A thousandth is forgiven: at `nextRoom` there is room, however the fractions were rounded. */
  allowance(now) { return Math.max(0, Math.floor(this.#available(now) + 0.001)); }
  spend(messages) { this.#left -= messages; }

  /** When there will be room for another message. */
  get nextRoom() { return this.#counted + Math.max(0, 1 - this.#left) / this.#perSecond * SECOND; }

  #available(now) {
    const elapsed = Math.max(0, now - this.#counted);
    this.#left = Math.min(this.#capacity, this.#left + elapsed / SECOND * this.#perSecond);
    this.#counted = now;
    return this.#left;
  }
}

// ---- name-book.js

/**
 * The app's names for people: asked once for each, remembered, and shown as soon as they are known. Names that are on
 * show are never forgotten, so that no number of them makes the book ask for the same names again and again.
 */
class NameBook {
  /** When there are more names, those that nobody shows are forgotten, and asked again as they are needed. */
  static CAPACITY = 4096;
  /** How many are asked for at once; the next comes when one is answered, or takes too long. */
  static CONCURRENCY = 8;
  /** How long names that come one by one are gathered: each telling costs as much as all that is shown. */
  static GATHERING_TIME = 100;
  /** The ceilings of the first pause and of every pause before a name that the app failed to give is asked for again. */
  static FIRST_PAUSE = SECOND;
  static LONGEST_PAUSE = 5 * MINUTE;

  #resolve;
  #patience;
  #learnt;
  #shown;
  /** The most names that are known and awaited before the next clearing. */
  #capacity = NameBook.CAPACITY;
  #known = new Map();
  /** Those for whom the app threw or took too long: the pauses for each, when to ask again (null: once it is shown). */
  #failed = new Map();
  #waiting = new Set();
  /** Those whom the app is asked for, the first first, each with the moment from which the answer takes too long. */
  #asking = new Map();
  /** Whose names came, or may be asked for again, since that was told last. */
  #news = new Set();
  #toldAt = -Infinity;
  #newsAlarm = new Alarm(() => this.#tell());
  #retryAt = Infinity;
  #retryAlarm = new Alarm(() => this.#retry());
  #lateAlarm = new Alarm(() => this.#endLate());

  /**
   * @param patience how long an answer may take before the next name is asked for in its place
   * @param learnt called with the set of users to show again
   * @param shown returns the set of users who are on show
   */
  constructor(resolve, patience, learnt, shown) {
    this.#resolve = resolve;
    this.#patience = patience;
    this.#learnt = learnt;
    this.#shown = shown;
  }

  /** The app's name, if it is known by now; if it is not, `learnt` is called once it is. */
  name(user) {
    const isAnswered = this.#known.has(user) || (this.#failed.get(user)?.retryAt ?? null) !== null;
    if (this.#resolve && !isAnswered && !this.#asking.has(user)) {
      this.#waiting.add(user);
      this.#ask();
    }
    return this.#known.get(user);
  }

  /** Nobody is asked for any more. */
  close() {
    this.#resolve = null;
    this.#waiting.clear();
    this.#asking.clear();
    for (const alarm of [this.#newsAlarm, this.#retryAlarm, this.#lateAlarm]) alarm.set(null);
  }

  #ask() {
    while (this.#waiting.size > 0 && this.#asking.size < NameBook.CONCURRENCY) {
      for (const user of takenFrom(this.#waiting, 1)) this.#askFor(user);
    }
    const [first] = this.#asking.values();
    this.#lateAlarm.set(first?.until ?? null);
  }

  /** A name that the app has at hand is shown at once. */
  #askFor(user) {
    try {
      const answer = this.#resolve(user);
      if (typeof answer?.then !== "function") return this.#answered(user, answer);
      const question = { until: performance.now() + this.#patience };
      this.#asking.set(user, question);
      // A name is good however late it comes; that a late answer is none was noted when it took too long.
      const failed = (error) => { if (this.#asking.get(user) === question) this.#failedFor(user, error); };
      answer.then((name) => this.#answered(user, name), failed).then(() => this.#ask());
    } catch (error) {
      this.#failedFor(user, error);
    }
  }

  /** What takes too long makes room for the next. */
  #endLate() {
    for (const [user, { until }] of this.#asking) {
      if (until > performance.now()) break;
      this.#failedFor(user, new Error("the names callback did not answer in time"));
    }
    this.#ask();
  }

  #answered(user, name) {
    this.#asking.delete(user);
    this.#failed.delete(user);
    this.#known.set(user, name ?? undefined);
    this.#forgetUnshown();
    this.#isNews(user);
  }

  /** What the app throws is told to whoever watches the page's errors. */
  #failedFor(user, error) {
    reportError(error);
    this.#asking.delete(user);
    const { backoff } = this.#failed.get(user)
      ?? { backoff: new Backoff(NameBook.FIRST_PAUSE, NameBook.LONGEST_PAUSE) };
    const retryAt = performance.now() + backoff.failed();
    this.#failed.set(user, { backoff, retryAt });
    this.#forgetUnshown();
    this.#retryBy(retryAt);
  }

  /** The room left doubles with what is on show, so that clearing costs little for each name. */
  #forgetUnshown() {
    if (this.#count <= this.#capacity) return;
    const shown = this.#shown();
    for (const names of [this.#known, this.#failed, this.#waiting]) {
      for (const user of names.keys()) if (!shown.has(user)) names.delete(user);
    }
    this.#capacity = Math.max(NameBook.CAPACITY, 2 * this.#count);
  }

  get #count() { return this.#known.size + this.#failed.size + this.#waiting.size; }

  #isNews(user) {
    if (!this.#resolve) return;
    this.#news.add(user);
    this.#newsAlarm.set(Math.max(performance.now(), this.#toldAt + NameBook.GATHERING_TIME));
  }

  #tell() {
    this.#toldAt = performance.now();
    const news = this.#news;
    this.#news = new Set();
    this.#learnt(news);
  }

  /** At most once a second, however many are due. */
  #retryBy(time) {
    if (!this.#resolve) return;
    this.#retryAt = Math.min(this.#retryAt, Math.max(time, performance.now() + SECOND));
    if (this.#retryAt < Infinity) this.#retryAlarm.set(this.#retryAt);
  }

  /** Those who are due are asked for when they are shown again, which is now for those who are on show. */
  #retry() {
    let next = Infinity;
    for (const [user, failure] of this.#failed) {
      if (failure.retryAt === null) continue;
      if (failure.retryAt > performance.now()) {
        next = Math.min(next, failure.retryAt);
        continue;
      }
      failure.retryAt = null;
      this.#isNews(user);
    }
    this.#retryAt = Infinity;
    this.#retryBy(next);
  }
}

// ---- pictures.js

/**
 * Who types in one conversation. The worker's last word is the truth, but an observer distrusts silence: a worker
 * repeats a set that stays, so a set not repeated in time is gone.
 */
class TypingPicture {
  /** How much later than the worker's expiry a set goes by itself, and the longest that any stays without a word. */
  static SLACK = 2 * SECOND;
  static LONGEST = 10 * SECOND;

  deadline = null;

  constructor(conversation) { this.typing = { conversation, typists: [], count: 0 }; }

  /**
   * Those who go on typing keep their places; whoever is new comes after them, in the worker's order. So a reconnect to
   * a worker that learnt of them in another order swaps no names.
   */
  heard({ typists, count }, expiry, now) {
    const present = new Map(typists.map((typist) => [typist.user, typist]));
    const places = new Set([...this.typing.typists.map(({ user }) => user), ...present.keys()]);
    const inPlace = [...places].flatMap((user) => present.get(user) ?? []);
    this.#show({ typists: inPlace, count: Math.max(count, inPlace.length) });
    if (this.typing.count > 0) {
      this.deadline = now + Math.min(expiry + TypingPicture.SLACK, TypingPicture.LONGEST);
    }
  }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#show({ typists: [], count: 0 }); }

  /** The worker shows nothing of this conversation (any more). */
  refused(refusal) { this.#show({ typists: [], count: 0, refusal }); }

  #show(seen) {
    this.typing = { conversation: this.typing.conversation, ...seen };
    this.deadline = null;
  }
}

/**
 * Who belongs to one conversation, as far as the worker's words go. The worker tells the list first and then each
 * person's presence; the first picture waits until it is whole, so that nobody reads `0 of 5 online` for a moment.
 */
class MembersPicture {
  /** How long the first picture waits for the presence of all. */
  static PATIENCE = SECOND;

  /** When to call `deadlinePassed`; null for never. */
  deadline = null;
  #conversation;
  /** The worker's list. */
  #list = null;
  #presences = new Map();
  #refusal = null;
  #isShown = false;

  constructor(conversation) { this.#conversation = conversation; }

  heard({ people, count }, now) {
    const users = new Set(people.map(({ user }) => user));
    for (const user of this.#presences.keys()) if (!users.has(user)) this.#presences.delete(user);
    this.#list = { people, count: Math.max(count, people.length) };
    this.#refusal = null;
    if (!this.#isShown) this.deadline ??= now + MembersPicture.PATIENCE;
  }

  presenceHeard(presence) { this.#presences.set(presence.user, presence); }

  /** The worker shows nothing of this conversation (any more). What it shows later is a first picture again. */
  refused(refusal) {
    this.#presences.clear();
    this.#list = this.deadline = null;
    this.#refusal = refusal;
    this.#isShown = false;
  }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#showFromNowOn(); }

  /**
   * What to show; undefined while it is not whole.
   *
   * @param name gives the app's name for a user
   */
  members(name) {
    const conversation = this.#conversation;
    if (this.#refusal) return { conversation, people: [], count: 0, refusal: this.#refusal };
    if (!this.#list) return undefined;
    const { people, count } = this.#list;
    if (people.every(({ user }) => this.#presences.has(user))) this.#showFromNowOn();
    if (!this.#isShown) return undefined;
    return { conversation, people: people.map((member) => this.#member(member, name(member.user))), count };
  }

  #member({ user, name }, known = name) {
    const presence = this.#presences.get(user);
    return { user, ...known !== undefined && { name: known }, ...presence && { presence } };
  }

  #showFromNowOn() {
    this.#isShown = true;
    this.deadline = null;
  }
}

// ---- topic.js

/** The present state of one thing, and who wants to hear of it: the worker is asked for it once. */
class Topic {
  latest = undefined;
  #observers = new Set();

  constructor(latest) { this.latest = latest; }

  get isObserved() { return this.#observers.size > 0; }

  /** Whether one of the observers is such that the worker must be asked for its sake. */
  get isWatched() { return [...this.#observers].some(({ isWatching }) => isWatching); }

  /**
   * A new observer hears the latest value before anything else, but not within this call: it has not got hold of the
   * means to end it yet.
   */
  add(observer) {
    this.#observers.add(observer);
    queueMicrotask(() => {
      if (!observer.hasHeard && this.latest !== undefined) this.#tell(observer);
    });
  }

  remove(observer) { this.#observers.delete(observer); }

  /** Tells the observers, unless nothing changed. */
  update(value) {
    if (same(value, this.latest)) return;
    this.latest = value;
    for (const observer of this.#observers) {
      // An observer caused the next change, which all have been told.
      if (this.latest !== value) return;
      this.#tell(observer);
    }
  }

  /** Tells the observers the same again: what they make of it has changed. */
  tellAgain() {
    const { latest } = this;
    if (latest === undefined) return;
    for (const observer of this.#observers) if (this.latest === latest) this.#tell(observer);
  }

  /** An observer's own mistake is told to whoever watches the page's errors, and spoils nothing for the others. */
  #tell(observer) {
    if (!this.#observers.has(observer)) return;
    observer.hasHeard = true;
    try {
      observer.hear(this.latest);
    } catch (error) {
      reportError(error);
    }
  }
}

/** Whether two plain values hold the same. */
function same(left, right) {
  if (Object.is(left, right)) return true;
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
  if (left instanceof RollcallError && right instanceof RollcallError) {
    return left.code === right.code && left.message === right.message && left.closeCode === right.closeCode;
  }
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => same(left[key], right[key]));
}

/** Several users observed as one: a snapshot of a thousand is one value, not a thousand. */
class PresenceGroup {
  #tell;
  #presences = new Map();
  #isDue = false;

  constructor(tell) { this.#tell = tell; }

  heard(presence) {
    this.#presences.set(presence.user, presence);
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#tell(new Map(this.#presences));
    });
  }
}

// ---- room.js

/** What is shown of one conversation that somebody here observes or types in. */
class Room {
  topic = new Topic();
  /** Its members, while somebody observes them, or the worker still tells of them. */
  gathering = null;
  #names;
  #picture;
  #alarm = new Alarm(() => {
    this.#picture.deadlinePassed(performance.now());
    this.#show();
  });

  constructor(conversation, names) {
    this.conversation = conversation;
    this.#names = names;
    this.#picture = new TypingPicture(conversation);
  }

  heard(message, expiry) {
    this.#picture.heard(message, expiry, performance.now());
    this.#show();
  }

  refused(error) {
    this.#picture.refused(error);
    this.gathering?.refused(error);
    this.#show();
  }

  /** Everybody who is on show here. */
  get users() {
    return [...this.#picture.typing.typists.map(({ user }) => user), ...this.gathering?.users ?? []];
  }

  /** @param {Set<string>} users */
  namesLearnt(users) {
    this.gathering?.namesLearnt(users);
    if (this.#picture.typing.typists.some(({ user }) => users.has(user))) this.#show();
  }

  get isObserved() { return this.topic.isObserved || this.gathering?.topic.isObserved === true; }

  /** Nobody looks any more. */
  end() {
    this.#alarm.set(null);
    this.endGathering();
  }

  endGathering() {
    this.gathering?.end();
    this.gathering = null;
  }

  #show() {
    const { typing, deadline } = this.#picture;
    const typists = typing.typists.map((typist) => {
      const name = this.#names.name(typist.user);
      return name === undefined ? typist : { ...typist, name };
    });
    this.topic.update({ ...typing, typists });
    this.#alarm.set(deadline);
  }
}

/**
 * Who belongs to a conversation, and who of them is here. The worker tells of everybody's presence for the sake of the
 * conversation, so that nobody need be watched one by one; whoever is watched besides is told of once.
 */
class Gathering {
  topic = new Topic();
  #names;
  #listen;
  #picture;
  /** What ends listening to each member's presence. */
  #endings = new Map();
  #isDue = false;
  #alarm = new Alarm(() => {
    this.#picture.deadlinePassed(performance.now());
    this.#showSoon();
  });

  /** @param listen begins to listen to a user's presence, and returns what ends that */
  constructor(conversation, names, listen) {
    this.#picture = new MembersPicture(conversation);
    this.#names = names;
    this.#listen = listen;
  }

  get users() { return this.#endings.keys(); }

  heard(message) {
    const users = new Set(message.people.map(({ user }) => user));
    this.#picture.heard(message, performance.now());
    for (const user of this.#endings.keys()) if (!users.has(user)) this.#forget(user);
    for (const user of users) if (!this.#endings.has(user)) this.#remember(user);
    this.#showSoon();
  }

  refused(refusal) {
    this.end();
    this.#picture.refused(refusal);
    this.#showSoon();
  }

  /** @param {Set<string>} users */
  namesLearnt(users) { if ([...users].some((user) => this.#endings.has(user))) this.#showSoon(); }

  /** Nobody looks any more. */
  end() {
    this.#picture.deadline = null;
    this.#alarm.set(null);
    for (const user of [...this.#endings.keys()]) this.#forget(user);
  }

  #remember(user) {
    this.#endings.set(user, this.#listen(user, (presence) => {
      this.#picture.presenceHeard(presence);
      this.#showSoon();
    }));
  }

  #forget(user) {
    this.#endings.get(user)();
    this.#endings.delete(user);
  }

  /** Once a task: the presence of a thousand is one change, not a thousand. */
  #showSoon() {
    this.#alarm.set(this.#picture.deadline);
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      const members = this.#picture.members((user) => this.#names.name(user));
      this.#alarm.set(this.#picture.deadline);
      if (members) this.topic.update(members);
    });
  }
}

// ---- server-clock.js

/**
 * The worker's time, carried on by this device's steady clock between two words of it. The worker's clock may be set at
 * any moment, so the worker is asked for it now and then, and sooner where a presence seems to come from the future.
 */
class ServerClock {
  /** How often to ask. */
  static INTERVAL = MINUTE;
  /** How soon to ask again while there is reason to doubt: a worker learns with its next heartbeat that the clock was set. */
  static RECHECK = 5 * SECOND;
  /** A difference that no text shows. */
  static SLACK = SECOND;

  #offset = null;
  #asked = -Infinity;
  /** The latest moment that was heard of. */
  #latest = -Infinity;
  /** How often to ask soon, since the clock is in doubt. */
  #doubts = 0;

  /** When to ask for the time. */
  get deadline() { return this.#asked + (this.#doubts > 0 ? ServerClock.RECHECK : ServerClock.INTERVAL); }

  /** Until the first welcome, this device's own idea of the time. */
  time(now) { return Math.round(this.#offset === null ? Date.now() : now + this.#offset); }

  askedForTime(now) {
    this.#asked = now;
    this.#doubts = Math.max(0, this.#doubts - 1);
  }

  /**
   * The worker said the time at some moment since it was asked. Returns whether texts are wrong that were made before.
   */
  timeHeard(time, asked, now) {
    const before = this.#offset;
    const estimate = before === null ? time : clamped(now + before, time, time + now - asked);
    this.#asked = Math.max(this.#asked, asked);
    this.#offset = estimate - now;
    return before !== null && Math.abs(this.#offset - before) > ServerClock.SLACK;
  }

  /**
   * Something happened at a moment of the worker's clock. If that lies ahead, the clock was set forward since it was
   * asked, or set back after the moment: only the worker knows.
   */
  momentHeard(moment, now) {
    if (!(moment > this.#latest)) return;
    this.#latest = moment;
    if (this.#offset !== null && moment > this.time(now) + ServerClock.SLACK) this.#doubts = 2;
  }
}

// ---- typing-field.js

/** Settings checked together, since each limits the others. */
function typingSettings({ debounce = 300, throttle = SECOND, inactivity = 3 * SECOND, expiry = 3 * SECOND } = {}) {
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
 * One input field, and whether its person is typing. Each event returns what the worker should hear now: `"typing"`,
 * `"stopped"` or null.
 */
class TypingField {
  /** `empty`, `filling` (not for long enough yet), `typing`, or `paused`: text that nobody touches any more. */
  #phase = "empty";
  #settings;
  #throttle;
  #filled = 0;
  #signalled = 0;
  #edited = 0;

  constructor(settings) {
    this.#settings = settings;
    this.#throttle = settings.throttle;
  }

  get isTyping() { return this.#phase === "typing"; }

  /** When to call `deadlinePassed`; null for never. */
  get deadline() {
    const { debounce, inactivity } = this.#settings;
    switch (this.#phase) {
      case "filling": return this.#filled + debounce;
      case "typing": return Math.min(this.#signalled + this.#throttle, this.#edited + inactivity);
      default: return null;
    }
  }

  /** @param {boolean} filled whether the field holds anything but white space */
  edited(filled, now) {
    if (!filled) return this.ended();
    this.#edited = now;
    switch (this.#phase) {
      case "empty":
        this.#phase = "filling";
        this.#filled = now;
        return this.deadlinePassed(now);
      case "paused": return this.#signal(now);
      default: return this.deadlinePassed(now);
    }
  }

  /** The text was sent or deleted, the field left the view or the app the foreground. */
  ended() {
    const wasTyping = this.isTyping;
    this.#phase = "empty";
    return wasTyping ? "stopped" : null;
  }

  deadlinePassed(now) {
    if (this.deadline === null || now < this.deadline) return null;
    if (!this.isTyping || now < this.#edited + this.#settings.inactivity) return this.#signal(now);
    this.#phase = "paused";
    return "stopped";
  }

  /** A new connection: its worker has heard nothing of this field yet. */
  connected(now) { return this.isTyping ? this.#signal(now) : null; }

  /** The worker ends typing `expiry` after the last signal; one renewal must fit in with a second to spare. */
  expiryLearnt(expiry) {
    this.#throttle = Math.min(this.#settings.throttle, Math.max(100, expiry - SECOND));
    return null;
  }

  #signal(now) {
    this.#phase = "typing";
    this.#signalled = now;
    return "typing";
  }
}

/**
 * One typing input and what becomes of its signals. Several may stand in one conversation (two windows of an app): the
 * user types there while any of them does.
 */
class InputField {
  #field;
  #signal;
  #alarm = new Alarm(() => this.#decide((field, now) => field.deadlinePassed(now)));

  constructor(conversation, settings, expiry, signal) {
    this.conversation = conversation;
    this.#signal = signal;
    this.#field = new TypingField(settings);
    this.#field.expiryLearnt(expiry);
  }

  get isTyping() { return this.#field.isTyping; }
  edited(filled) { this.#decide((field, now) => field.edited(filled, now)); }
  ended() { this.#decide((field) => field.ended()); }
  connected() { this.#decide((field, now) => field.connected(now)); }
  expiryLearnt(expiry) { this.#decide((field) => field.expiryLearnt(expiry)); }

  #decide(event) {
    const decided = event(this.#field, performance.now());
    this.#alarm.set(this.#field.deadline);
    if (decided) this.#signal(decided);
  }
}

// ---- engine.js

/** The heart of the client: joins the decisions (what to tell the worker, what to show to whom) to the connection. */
class Engine {
  connection = new Topic({ status: "idle" });
  connector;
  #options;
  #emit;
  #agenda = new Agenda();
  #budget = new MessageBudget(0);
  #clock = new ServerClock();
  /** When the hello of this connection was sent. */
  #openedAt = 0;
  #attention;
  #toldState = null;
  #welcome = null;
  #presences = new Map();
  #rooms = new Map();
  /** The inputs whose views are shown. */
  #fields = new Set();
  #fetches = new Set();
  #stops = new Set();
  /** What ends the observations that are under way. */
  #endings = new Set();
  #names;
  #isFlushDue = false;
  #isBeyondLimits = false;
  #isClosed = false;
  #budgetAlarm = new Alarm(() => this.#flush());
  #clockAlarm = new Alarm(() => this.#askForTime());
  /** Sends again what was refused for now. */
  #retryAlarm = new Alarm(() => {
    this.#agenda.retryDue();
    this.#changed();
  });
  #attentionAlarm = new Alarm(() => {
    this.#attention.deadlinePassed(performance.now());
    this.#attentionChanged();
  });

  constructor(options, emit) {
    this.#options = options;
    this.#emit = emit;
    this.#attention = new Attention(options.idleAfter);
    this.#names = new NameBook(
      options.names, options.connectTimeout,
      (users) => { for (const room of this.#rooms.values()) room.namesLearnt(users); },
      () => new Set([...this.#rooms.values()].flatMap((room) => room.users)));
    this.connector = new Connector(options, this);
  }

  get now() { return this.#clock.time(performance.now()); }
  /** The worker's time; null before the first welcome. */
  get serverTime() { return this.#welcome && this.now; }
  get deviceState() { return this.#attention.state; }
  get #expiry() { return this.#welcome?.expiry ?? 3 * SECOND; }

  close() {
    if (this.#isClosed) return Promise.resolve();
    this.endFields();
    this.#flush();
    this.#isClosed = true;
    const closed = this.connector.end("closed", { goodbye: true });
    for (const fetch of this.#fetches) this.#endFetch(fetch);
    for (const end of [...this.#endings]) end();
    for (const room of this.#rooms.values()) room.end();
    for (const part of [this.#presences, this.#rooms, this.#fields]) part.clear();
    this.#followClock();
    this.#attentionAlarm.set(null);
    this.#names.close();
    return closed;
  }

  /** Ends the connection, not the client. */
  disconnect({ goodbye }) {
    if (goodbye) this.endFields();
    this.#flush();
    return this.connector.end("idle", { goodbye });
  }

  // Sending.

  /** Sends what is due at the end of this task, so that what one task undoes is never sent. */
  #changed() {
    if (this.#isFlushDue || !this.connector.isOpen) return;
    this.#isFlushDue = true;
    queueMicrotask(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  #flush() {
    if (!this.connector.isOpen) return;
    const now = performance.now();
    const messages = this.#agenda.take(this.#budget.allowance(now));
    this.#budget.spend(messages.length);
    this.connector.send(messages);
    if (!this.connector.isOpen) return;
    for (const message of messages) this.#dropUnwanted(message);
    this.#budgetAlarm.set(this.#agenda.hasMore ? this.#budget.nextRoom : null);
    this.#warnOfLimits();
  }

  #warnOfLimits() {
    const { isBeyondLimits } = this.#agenda;
    if (isBeyondLimits && !this.#isBeyondLimits) {
      this.#report(
        new RollcallError("limit", "more users or conversations are observed than the worker serves a session"));
    }
    this.#isBeyondLimits = isBeyondLimits;
  }

  #report(error) { this.#emit("problem", error); }

  // Observing. The first observer of a thing makes the worker be asked for it, the last one to go makes it be given up.

  /** Observes the connection. Like the other two, returns what ends it. */
  observeConnection(hear, finish) {
    const observer = { hear };
    this.connection.add(observer);
    return this.#begin(finish, () => this.connection.remove(observer));
  }

  observeTyping(conversation, hear, finish) {
    if (this.#isClosed) return endedAtOnce(finish);
    const observer = { hear };
    this.#room(conversation).topic.add(observer);
    return this.#begin(finish, () => {
      this.#rooms.get(conversation)?.topic.remove(observer);
      this.#releaseRoom(conversation);
    });
  }

  observeMembers(conversation, hear, finish) {
    if (this.#isClosed) return endedAtOnce(finish);
    const observer = { hear };
    const room = this.#room(conversation);
    room.gathering ??= new Gathering(conversation, this.#names, (user, heard) => this.#listen(user, heard));
    room.gathering.topic.add(observer);
    this.#agenda.gatherings.want(conversation);
    return this.#begin(finish, () => {
      this.#rooms.get(conversation)?.gathering?.topic.remove(observer);
      this.#releaseGathering(conversation);
      this.#releaseRoom(conversation);
    });
  }

  observePresence(users, hear, finish) {
    if (this.#isClosed) return endedAtOnce(finish);
    const observers = users.map((user) => ({ user, hear, isWatching: true }));
    for (const observer of observers) this.#want(observer);
    return this.#begin(finish, () => {
      for (const observer of observers) this.#release(observer);
    });
  }

  observePresenceOfMany(users, hear, finish) {
    let isOver = false;
    const group = new PresenceGroup((presences) => isOver || hear(presences));
    const end = this.observePresence(users, (presence) => group.heard(presence), finish);
    return () => {
      isOver = true;
      end();
    };
  }

  latestMembers(conversation) { return this.#rooms.get(conversation)?.gathering?.topic.latest; }
  latestTyping(conversation) { return this.#rooms.get(conversation)?.topic.latest; }
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
    if (this.#isClosed) queueMicrotask(end);
    return end;
  }

  #presence(user) {
    const topic = this.#presences.get(user) ?? new Topic();
    this.#presences.set(user, topic);
    this.#followClock();
    return topic;
  }

  /** Hears of a user whom the worker tells of anyway. */
  #listen(user, hear) {
    const observer = { user, hear };
    this.#presence(user).add(observer);
    return () => this.#release(observer);
  }

  #want(observer) {
    this.#presence(observer.user).add(observer);
    this.#agenda.users.want(observer.user);
    this.#changed();
  }

  #release(observer) {
    const { user } = observer;
    const topic = this.#presences.get(user);
    topic?.remove(observer);
    if (!topic || topic.isWatched) return;
    this.#agenda.users.unwant(user);
    this.#tidyPresence(user);
    this.#changed();
  }

  /** The conversation's room, which the worker is asked for from now on (again, if it refused before). */
  #room(conversation) {
    const room = this.#rooms.get(conversation) ?? new Room(conversation, this.#names);
    this.#rooms.set(conversation, room);
    this.#agenda.conversations.want(conversation);
    this.#changed();
    return room;
  }

  #isUsed(room) {
    return room.isObserved || this.#fieldsIn(room.conversation).length > 0;
  }

  #releaseRoom(conversation) {
    const room = this.#rooms.get(conversation);
    if (!room || this.#isUsed(room)) return;
    this.#agenda.conversations.unwant(conversation);
    this.#tidyRoom(conversation);
    this.#changed();
  }

  #releaseGathering(conversation) {
    const room = this.#rooms.get(conversation);
    if (!room?.gathering || room.gathering.topic.isObserved) return;
    this.#agenda.gatherings.unwant(conversation);
    this.#tidyRoom(conversation);
    this.#changed();
  }

  // What nobody observes is kept while the worker still tells of it, for whoever comes before it is told to stop.

  #tidyRoom(conversation) {
    const room = this.#rooms.get(conversation);
    if (!room) return;
    const isGathering = room.gathering?.topic.isObserved || this.#agenda.gatherings.wasTold(conversation);
    if (!isGathering) room.endGathering();
    if (this.#isUsed(room) || this.#agenda.conversations.wasTold(conversation)) return;
    room.end();
    this.#rooms.delete(conversation);
  }

  #tidyPresence(user) {
    const isKept = this.#presences.get(user)?.isObserved || this.#agenda.users.wasTold(user);
    if (!isKept) this.#presences.delete(user);
    this.#followClock();
  }

  // The worker's time. It is asked for while somebody may read when others were last seen.

  #followClock() {
    const isRead = this.connector.isOpen && this.#presences.size > 0 && this.deviceState !== "background";
    this.#clockAlarm.set(isRead ? this.#clock.deadline : null);
  }

  #askForTime() {
    this.#clock.askedForTime(performance.now());
    this.#budget.spend(1);
    this.connector.askForTime();
    this.#followClock();
  }

  timeHeard(time, asked) {
    const isSet = this.#clock.timeHeard(time, asked, performance.now());
    this.#followClock();
    if (!isSet) return;
    for (const topic of this.#presences.values()) topic.tellAgain();
    for (const room of this.#rooms.values()) room.gathering?.topic.tellAgain();
  }

  /**
   * What was given up by this message is forgotten.
   *
   * @param {{ type: string, users?: string[], conversation?: string, presence?: boolean }} message
   */
  #dropUnwanted({ type, users, conversation, presence }) {
    if (type === "unwatch") for (const user of users) this.#tidyPresence(user);
    if (type === "leave" || type === "join" && presence === false) this.#tidyRoom(conversation);
  }

  // One's own typing. Without a connection signals are dropped; the fields go on deciding, and a new connection hears
  // what is true then.

  makeField(conversation) {
    return new InputField(conversation, this.#options.typing, this.#expiry, (signal) => {
      if (!this.connector.isOpen || signal === "stopped" && this.#isTyping(conversation)) return;
      this.#agenda.signalled(signal === "typing", conversation);
      this.#changed();
    });
  }

  fieldAppeared(field) {
    if (this.#isClosed) return;
    field.expiryLearnt(this.#expiry);
    this.#fields.add(field);
    this.#room(field.conversation);
  }

  fieldEdited(field, filled) {
    if (this.#isClosed) return;
    if (filled && !this.#fields.has(field)) this.fieldAppeared(field);
    this.#attention.edited(performance.now());
    this.#attentionChanged();
    field.edited(filled);
  }

  fieldDisappeared(field) {
    field.ended();
    this.#fields.delete(field);
    this.#releaseRoom(field.conversation);
  }

  endFields() { for (const field of this.#fields) field.ended(); }

  /** Ends the field's typing; resolves once that is published (true), or it is not known to be (false). */
  fieldEndedForSure(field, within) {
    field.ended();
    const { conversation } = field;
    if (this.#isTyping(conversation)) return Promise.resolve(true);
    if (!this.connector.isOpen) return Promise.resolve(false);
    // What this worker was never told nobody sees.
    if (!this.#agenda.conversations.wasTold(conversation)) return Promise.resolve(true);
    return new Promise((resolve) => this.#stop(conversation, within, resolve));
  }

  #stop(conversation, within, resolve) {
    const stop = { end: (published) => {
      alarm.set(null);
      this.#stops.delete(stop);
      resolve(published);
    } };
    const alarm = new Alarm(() => stop.end(false));
    alarm.set(performance.now() + within);
    this.#stops.add(stop);
    this.#agenda.signalled(false, conversation, stop);
    this.#changed();
  }

  #fieldsIn(conversation) { return [...this.#fields].filter((field) => field.conversation === conversation); }
  #isTyping(conversation) { return this.#fieldsIn(conversation).some((field) => field.isTyping); }

  // The device's own state.

  phaseChanged(phase) {
    const isBack = phase === "active" && this.deviceState === "background";
    if (phase === "background") this.endFields();
    this.#attention.phaseChanged(phase, performance.now());
    this.#attentionChanged();
    // Whoever comes back to the front must not look at what a dead connection last brought.
    if (isBack) this.connector.networkChanged();
  }

  stateSet(state) {
    if (state === "background") this.endFields();
    this.#attention.stateSet(state, performance.now());
    this.#attentionChanged();
  }

  inputHappened() {
    this.#attention.inputHappened(performance.now());
    this.#attentionChanged();
  }

  #attentionChanged() {
    if (this.#isClosed) return;
    this.#attentionAlarm.set(this.#attention.deadline);
    if (!this.connector.isOpen || this.deviceState === this.#toldState) return;
    this.#toldState = this.deviceState;
    this.#followClock();
    this.#agenda.stateChanged(this.deviceState);
    this.#changed();
  }

  // Presence once.

  /** Resolves with what is known once all is, or `within` is over, or `signal` says so. */
  fetch(users, within, signal) {
    return new Promise((resolve) => {
      if (this.#isClosed || users.length === 0 || signal?.aborted) return resolve(new Map());
      const end = () => this.#endFetch(fetch);
      const alarm = new Alarm(end);
      const fetch = { awaited: new Set(users), found: new Map(), done: (found) => {
        alarm.set(null);
        signal?.removeEventListener("abort", end);
        resolve(found);
      } };
      signal?.addEventListener("abort", end);
      alarm.set(performance.now() + within);
      this.#fetches.add(fetch);
      this.#askFor(fetch);
    });
  }

  #askFor(fetch) {
    if (!this.connector.isOpen) return;
    this.#agenda.fetchWanted(fetch, [...fetch.awaited]);
    this.#changed();
  }

  #endFetch(fetch) {
    if (!this.#fetches.delete(fetch)) return;
    this.#agenda.fetchEnded(fetch);
    fetch.done(fetch.found);
  }

  #fetchHeard(fetch, presences) {
    for (const presence of presences) {
      if (fetch.awaited.delete(presence.user)) fetch.found.set(presence.user, presence);
    }
    if (fetch.awaited.size === 0) this.#endFetch(fetch);
  }

  // What the connector tells.

  connectionOpened() {
    const now = performance.now();
    this.#toldState = this.deviceState;
    this.#openedAt = now;
    this.#clock.askedForTime(now);
    this.#followClock();
    this.#budget = new MessageBudget(now);
    if (this.#welcome) this.#budget.limitsLearnt(this.#welcome.limits, now);
    this.#budget.spend(1);
    for (const fetch of this.#fetches) this.#agenda.fetchWanted(fetch, [...fetch.awaited]);
    for (const field of this.#fields) field.connected();
    this.#flush();
  }

  welcomed(welcome) {
    this.#welcome = welcome;
    this.timeHeard(welcome.time, this.#openedAt);
    this.#agenda.limitsLearnt(welcome.limits);
    this.#budget.limitsLearnt(welcome.limits, performance.now());
    for (const field of this.#fields) field.expiryLearnt(this.#expiry);
    this.#changed();
  }

  tokenRenewed(token) {
    this.#agenda.tokenRenewed(token);
    this.#changed();
  }

  /** Its worker has seen that too, and ends one's typing by itself. What nobody observes is forgotten. */
  connectionLost() {
    this.#agenda.connectionLost();
    this.#budgetAlarm.set(null);
    this.#retryAlarm.set(null);
    this.#clockAlarm.set(null);
    for (const stop of [...this.#stops]) stop.end(false);
    for (const conversation of this.#rooms.keys()) this.#tidyRoom(conversation);
    for (const user of this.#presences.keys()) this.#tidyPresence(user);
  }

  connectionChanged(state) { this.connection.update(state); }

  wireCarried(detail) { this.#emit("wire", detail); }

  messageReceived(message) {
    switch (message.type) {
      case "presence": return this.#presencesHeard(message);
      case "typing": return this.#rooms.get(message.conversation)?.heard(message, this.#expiry);
      case "members": return this.#rooms.get(message.conversation)?.gathering?.heard(message);
      case "removed": return this.#removed(message.conversation);
      case "ack": return this.#acknowledged(message.id);
      case "error": return this.#errorReceived(message);
    }
  }

  #presencesHeard({ id, users }) {
    const now = performance.now();
    for (const presence of users) {
      this.#clock.momentHeard(presence.updatedAt, now);
      this.#presences.get(presence.user)?.update(presence);
    }
    this.#followClock();
    if (id === undefined) return;
    this.#agenda.getAnswered(id);
    const fetch = this.#agenda.fetchOf(id);
    if (fetch) this.#fetchHeard(fetch, users);
    this.#changed();
  }

  #acknowledged(id) { this.#agenda.acknowledged(id)?.stop?.end(true); }

  #errorReceived(message) {
    const { subject, fate } = this.#agenda.refused(message, performance.now());
    this.#retryAlarm.set(this.#agenda.retryTime);
    this.#changed();
    if (fate === "stale") this.#strayErrorReceived(message);
    if (fate === "final") this.#refusedForGood(subject, message);
    if (subject?.conversation !== undefined) this.#tidyRoom(subject.conversation);
    if (subject?.users && !subject.fetch) for (const user of subject.users) this.#tidyPresence(user);
  }

  #refusedForGood({ conversation, fetch, stop, token }, message) {
    if (conversation !== undefined) this.#showRefusal(conversation, refusalError(message));
    else if (fetch) this.#endFetch(fetch);
    else if (stop) stop.end(false);
    // A worker that takes no token ends the session when the old one expires; then a new one begins.
    else if (!token) this.#report(refusalError(message));
  }

  /**
   * Typing that could not be published is weather; the field goes on signalling. Where a join was refused, the refusal
   * of the typing behind it says nothing new.
   */
  #strayErrorReceived(message) {
    if (!message.retry && message.code !== "not_joined") this.#report(refusalError(message));
  }

  #removed(conversation) {
    this.#agenda.conversations.refused(conversation);
    this.#agenda.gatherings.refused(conversation);
    this.#showRefusal(conversation, refusalError(REMOVED));
    this.#tidyRoom(conversation);
  }

  #showRefusal(conversation, error) { this.#rooms.get(conversation)?.refused(error); }
}

/** For an observation that ends as it begins. */
function endedAtOnce(finish) {
  queueMicrotask(finish);
  return () => {};
}

// ---- updates.js

/**
 * What leaves scope with `using`, where the browser has that.
 *
 * @type {typeof Symbol.dispose}
 */
const DISPOSE = Symbol.dispose ?? /** @type {any} */ (Symbol("dispose"));

/**
 * A function that ends something, once; also by leaving scope.
 *
 * @returns {import("./rollcall.js").Ending}
 */
function ending(end) { return /** @type {any} */ (Object.assign(() => end(), { [DISPOSE]: () => end() })); }

/** Calls `end` when the signal is aborted; returns what forgets it. */
function onAbort(signal, end) {
  if (signal?.aborted) queueMicrotask(end);
  signal?.addEventListener("abort", end);
  return () => signal?.removeEventListener("abort", end);
}

/**
 * The latest value of something, and every change that its reader is quick enough to see. Observe it with a callback or
 * with `for await`, as often as needed, at once too. It ends with the client, and with its `signal`.
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

  /** The value as it is known now, without observing; undefined where nobody observes it, or nothing has come yet. */
  get latest() { return this.#latest(); }

  /**
   * Calls `listener` with the latest value soon, and with every change.
   *
   * @param {(value: Value) => void} listener
   * @param {{ signal?: AbortSignal }} options
   * @returns what ends it
   */
  subscribe(listener, { signal } = {}) { return this.#begin(listener, () => {}, signal); }

  /** @returns {AsyncIterableIterator<Value>} */
  [Symbol.asyncIterator]() {
    return new Newest((hear, finish) => this.#begin(hear, finish));
  }

  #begin(hear, finish, signal) {
    const forget = [this.#signal, signal].map((each) => onAbort(each, () => end()));
    const end = this.#observe(hear, () => {
      for (const each of forget) each();
      finish();
    });
    return ending(end);
  }
}

/** An iterator with room for one value: a slow reader skips values rather than pile them up. */
class Newest {
  /** At most one of the two is set: a value that nobody has taken, or whoever waits for one. */
  #value = null;
  #waiting = null;
  #isOver = false;
  #end;

  constructor(observe) {
    this.#end = observe((value) => this.#heard(value), () => this.#finished());
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

  #heard(value) {
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

// ---- typing-input.js

/**
 * One input field of one conversation. While its view is shown, the conversation is joined. Leaving the view, or the
 * scope of a `using`, ends the typing.
 */
export class TypingInput {
  /** Inputs that an app lost hold of, without a word, end all the same. */
  static #lost = new FinalizationRegistry((end) => end());

  #engine;
  #field;

  /** @internal */
  constructor(conversation, engine, signal) {
    this.conversation = conversation;
    this.#engine = engine;
    const field = engine.makeField(conversation);
    this.#field = field;
    if (signal?.aborted) return;
    this.appeared();
    const disappear = () => engine.fieldDisappeared(field);
    onAbort(signal, disappear);
    TypingInput.#lost.register(this, disappear);
  }

  /**
   * The field's whole text after an edit. Returns at once; nothing of the text is kept.
   *
   * @param {string} text
   */
  edited(text) { this.#engine.fieldEdited(this.#field, /\P{White_Space}/u.test(text)); }

  /** The text is about to be sent: the typing ends now. */
  send() { this.#field.ended(); }

  /**
   * `send`, and waits until the end of the typing is published, so that no observer sees it outlive the message.
   *
   * @param {{ within?: number }} options how many milliseconds to wait at most
   * @returns {Promise<boolean>} false if that could not be made sure of, for want of a connection perhaps; the typing
   *   ends all the same. An app sends its message in either case.
   */
  sendConfirmed({ within = 2 * SECOND } = {}) { return this.#engine.fieldEndedForSure(this.#field, within); }

  /** The field's view is shown (again). A new input counts as shown. */
  appeared() { this.#engine.fieldAppeared(this.#field); }

  /** The field's view is left: the typing ends now, and others' is no longer received for its sake. */
  disappeared() { this.#engine.fieldDisappeared(this.#field); }

  [DISPOSE]() { this.disappeared(); }
}

// ---- client.js

/**
 * A device's line to Rollcall: who is here, who is typing, and what others may know of this device.
 *
 * It reconnects for ever, and after each reconnect its `Updates` show the truth of then; only a mistake ends that, and
 * the connection's state says which. Every call returns at once.
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
      urls: [url].flat(), device: device === undefined ? undefined : named(device), token, names, idleAfter,
      workerHosts, firstPause, longestPause, connectTimeout, WebSocket, typing: typingSettings(typing),
    };
    this.#engine = new Engine(options, (type, detail) => this.dispatchEvent(new CustomEvent(type, { detail })));
  }

  /** Begins to connect, or to try again after `failed`. The device's presence begins with it. */
  connect() { this.#engine.connector.connect(); }

  /**
   * Ends the connection but not the client: `connect` begins again. Without a goodbye it goes as a lost network does,
   * and the worker keeps the device for its grace.
   *
   * @param {{ goodbye?: boolean }} options
   */
  disconnect({ goodbye = true } = {}) { return this.#engine.disconnect({ goodbye }); }

  /**
   * Says goodbye and ends: presence and typing of this device at once, everything that is observed, and the client for
   * good. Resolves once the goodbye has gone out, after two seconds at most.
   */
  close() { return this.#engine.close(); }

  [DISPOSE]() { this.close(); }

  /** How the client stands with its worker. */
  get connection() {
    const { connection } = this.#engine;
    return new Updates((hear, finish) => this.#engine.observeConnection(hear, finish), () => connection.latest);
  }

  /** The worker's time now, in milliseconds since 1970, for "last seen"; until the first welcome, this device's. */
  get now() { return this.#engine.now; }

  /** What this device says of itself: `active`, `idle` or `background`. */
  get deviceState() { return this.#engine.deviceState; }

  /**
   * Who types in a conversation. While it is observed, the conversation is joined.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  typing(conversation, { signal } = {}) {
    named(conversation);
    return new Updates(
      (hear, finish) => this.#engine.observeTyping(conversation, hear, finish),
      () => this.#engine.latestTyping(conversation), signal);
  }

  /**
   * Who belongs to a conversation, and who of them is here. While it is observed, the conversation is joined. The first
   * value comes when everybody's presence is known, or after a second.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  members(conversation, { signal } = {}) {
    named(conversation);
    return new Updates(
      (hear, finish) => this.#engine.observeMembers(conversation, hear, finish),
      () => this.#engine.latestMembers(conversation), signal);
  }

  /**
   * The presence of a user; or of several, as a map in which those still unknown are absent. While there is no
   * connection, what was last known stands. Told again, unchanged, when the worker's clock was set, since texts like
   * "last seen" are others then.
   *
   * @param {string | Iterable<string>} users
   * @param {{ signal?: AbortSignal }} options
   */
  presence(users, { signal } = {}) {
    const engine = this.#engine;
    if (typeof users === "string") {
      const user = [named(users)];
      return new Updates(
        (hear, finish) => engine.observePresence(user, hear, finish), () => engine.latestPresence(users), signal);
    }
    const several = [...new Set(users)].map(named);
    return new Updates(
      (hear, finish) => engine.observePresenceOfMany(several, hear, finish),
      () => engine.latestPresences(several), signal);
  }

  /**
   * The presence of a user, once: undefined if no answer came within the time, which is weather. Of several, a map in
   * which those of whom no answer came are absent.
   *
   * @param {string | Iterable<string>} users
   * @param {{ within?: number, signal?: AbortSignal }} options how many milliseconds to wait at most
   */
  async currentPresence(users, { within = 5 * SECOND, signal } = {}) {
    const several = typeof users === "string" ? [users] : [...new Set(users)];
    const found = await this.#engine.fetch(several.map(named), within, signal);
    return typeof users === "string" ? found.get(users) : found;
  }

  /**
   * One's own typing in a conversation, to be fed by one input field.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  typingInput(conversation, { signal } = {}) { return new TypingInput(named(conversation), this.#engine, signal); }

  /**
   * The app's phase: `active`; `inactive`, a glance elsewhere, which changes nothing; `background`, which ends one's
   * typing at once. A return to the front checks that the connection still lives.
   *
   * @param {"active" | "inactive" | "background"} phase
   */
  setPhase(phase) { this.#engine.phaseChanged(phase); }

  /**
   * The device's state outright, for an app that knows better than phases and input tell.
   *
   * @param {"active" | "idle" | "background"} state
   */
  setState(state) { this.#engine.stateSet(state); }

  /** The person touched this device. An app that calls this is idle `idleAfter` the last such call. */
  inputHappened() { this.#engine.inputHappened(); }

  /** The network came back or changed. The browser's own word on that is heard already. */
  networkChanged() { this.#engine.connector.networkChanged(); }

  /**
   * Takes phases and input from the page: hidden is background, a touch of pointer or key is input. A page that is left
   * ends its typing; it says no goodbye, since a reload is back within the grace and was never seen as gone.
   *
   * @returns what ends that
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
      this.#engine.endFields();
      // A page that is kept for the way back may hold no connection.
      isSuspended = persisted && this.#engine.connector.isActive;
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

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The most bytes for each character allowed: enough for any script, and for families of emoji. */
const BYTES_PER_CHARACTER = 32;

/**
 * A name as it may be shown: one line, without characters that steer text, shortened between characters; null if
 * nothing is left to see, so that it counts as unknown.
 */
function shownName(name, longest) {
  if (typeof name !== "string") return null;
  const words = name.replace(/\p{Bidi_Control}|(?!\p{White_Space})\p{Cc}/gu, "").split(/\p{White_Space}+/u);
  const clean = words.filter((word) => word !== "").join(" ");
  if (!/[^\p{Default_Ignorable_Code_Point} ]/u.test(clean) || longest < 1) return null;
  const characters = firstCharacters(clean, longest + 1);
  const isShort = (text) => utf8.encode(text).length <= longest * BYTES_PER_CHARACTER;
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

const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFE\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/** Neither a name nor the sentence around it can turn the other's order round. */
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

const languagesByTag = new Map(WORDS.map((words) => [words.id, words]));

const pluralRules = new Map();

/**
 * The words of the language that fits best.
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

/** `zh-TW` is written as `zh-Hant` is, `de-AT` as `de`. */
function bestTag(tag) {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return [`${language}-${script}`, language].find((each) => languagesByTag.has(each));
  } catch {
    return undefined;
  }
}

/** The form for a number, by CLDR's plural categories; one that a language leaves out reads as `other`. */
function formOf({ id }, forms, count) {
  const rules = pluralRules.get(id) ?? new Intl.PluralRules(id);
  pluralRules.set(id, rules);
  return forms[rules.select(count)] ?? forms.other;
}

function fill(pattern, values) { return pattern.replace(/\{(\w+)\}/g, (_, name) => values[name]); }

/**
 * Adds a language, or replaces one, from now on. Its words are of the same form as those below.
 *
 * @param {import("./rollcall.js").LanguageWords} words
 * @throws {RangeError} with everything that is missing
 */
export function addLanguage(words) {
  const missing = [...missingFrom(words, languagesByTag.get("en"), "")];
  if (missing.length) throw new RangeError(`the words of ${words?.id ?? "a language"} lack ${missing.join(", ")}`);
  new Intl.Locale(words.id);
  languagesByTag.set(words.id, words);
}

/** Of what depends on a number, only `other` must be there. */
function* missingFrom(words, model, path) {
  for (const [key, example] of Object.entries(model)) {
    const word = words?.[key];
    if (key === "one" && "other" in model) continue;
    if (typeof example === "object") yield* missingFrom(word, example, `${path}${key}.`);
    else if (typeof word !== "string") yield `${path}${key}`;
  }
}

/** The languages there are, in the order in which they are offered: `{ id, name, direction }`. */
export function languages() {
  return [...languagesByTag.values()].map(({ id, name, direction }) => ({ id, name, direction }));
}

// ---- typing-text.js

const DOTS = { ellipsis: "…", three: "...", none: "" };

/**
 * The line that people read: `Alice and Bob are typing…`; empty if nobody types.
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
 * The line for a screen reader: without dots, and without the invisible characters that keep names apart.
 *
 * @param {import("./rollcall.js").Typing} typing
 * @param {import("./rollcall.js").TypingTextOptions} options
 */
export function typingLabel(typing, options = {}) {
  return typingSentence(typing, wordsOf(options.language), options, (name) => name);
}

/** Decides when to tell a screen reader who is typing: when others type, and not on every dot, name or reordering. */
export class TypingAnnouncer {
  #options;
  #told = new Set();
  #count = 0;

  /** @param {import("./rollcall.js").TypingTextOptions} options */
  constructor(options = {}) { this.#options = options; }

  /**
   * @param {import("./rollcall.js").Typing} typing
   * @returns {string | null} what to announce, if those who type are others than at the last call; empty when nobody
   *   is left
   */
  announcement(typing) {
    const users = new Set(typing.typists.map(({ user }) => user));
    const isSame = typing.count === this.#count && users.size === this.#told.size
      && [...users].every((user) => this.#told.has(user));
    if (isSame) return null;
    this.#told = users;
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
  if (count > shown.length) items.push(theOthers(count, count - shown.length, names, words, maximumNames));
  return fill(formOf(words, words.typing.list, count), { list: listed(items, words) });
}

/** The last of a list. One without a name among known ones can be told as such; more are told as a number. */
function theOthers(count, others, names, words, maximumNames) {
  const isUnnamed = count - names.length === 1 && count <= maximumNames;
  const text = isUnnamed
    ? words.typing.someoneElse
    : fill(formOf(words, words.typing.others, others), { count: others });
  return { name: text, text };
}

/** The names of those who have one, in the order asked for. */
function namesOf(typists, words, { name = (user) => undefined, order = "beginning", longestName = 40 }) {
  const names = typists.flatMap((typist) =>
    shownName(name(typist.user), longestName) ?? shownName(typist.name, longestName) ?? []);
  if (order === "beginning") return names;
  const collator = new Intl.Collator(words.id, { numeric: true });
  // Two names that the language does not tell apart still have one order, so that they never swap places.
  return names.sort((left, right) => collator.compare(left, right) || (left < right ? -1 : 1));
}

/**
 * The items as a list. By the words' own patterns, which are CLDR's, and not by `Intl.ListFormat`: browsers bring
 * different versions of CLDR, and none looks behind an isolate to see with which letter a name begins.
 */
function listed(items, { list }) {
  const [first, ...rest] = items;
  return rest.reduce((text, item, index) => {
    const isLast = index === rest.length - 1;
    if (!isLast) return text + list.middle + item.text;
    const usual = rest.length === 1 ? list.pair : list.last;
    return text + (isBefore(item.name, list.before) ? list.before.use : usual) + item.text;
  }, first.text);
}

function isBefore(name, before) {
  const begins = (start) => name.normalize("NFC").toLowerCase().startsWith(start);
  return before !== undefined && before.starts.some(begins) && !before.except.some(begins);
}

/**
 * Three dots that swell in turn beside the text, 0.4 s each: whose turn it is, and the three opacities. A value of the
 * time, so that whatever draws it keeps no state.
 *
 * @param {number} elapsed milliseconds since the dots appeared
 * @param {{ reducesMotion?: boolean }} options whether the person asked for less motion: the dots are then still
 */
export function typingDots(elapsed, { reducesMotion = false } = {}) {
  if (reducesMotion) return { phase: null, opacities: [1, 1, 1] };
  const turns = Math.max(0, elapsed / 400);
  const phase = Math.floor(turns % 3);
  const part = turns % 1;
  const swell = 0.3 + 0.7 * 4 * part * (1 - part);
  return { phase, opacities: [0, 1, 2].map((dot) => dot === phase ? swell : 0.3) };
}

// ---- presence-text.js

/**
 * When someone was last here; empty for a user who is unknown or was never seen. `discreet`, the default, is private by
 * being vague: `Active now`, `3m ago`, `Active recently`, `Last seen today`. `exact`: `Last seen 3 minutes ago`.
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

/** When `lastSeenText` changes by itself, in each style: `[a whole number of this, until this]`. */
const LAST_SEEN_STEPS = {
  discreet: [[MINUTE, 5 * MINUTE], [HOUR, HOUR], [DAY, DAY]],
  exact: [[MINUTE, HOUR], [HOUR, DAY], [DAY, Infinity]],
};

/**
 * How many milliseconds `lastSeenText` stays right if nothing but time changes it: when to ask for it again. Infinity:
 * for ever.
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
 * What the dot's colour says, for those who do not see it: `Online`, `Away`, `Offline`; empty for an unknown user.
 *
 * @param {import("./rollcall.js").Presence | undefined} presence
 * @param {{ language?: string | readonly string[] }} options
 */
export function presenceText(presence, { language } = {}) {
  return presence ? wordsOf(language).presence[presence.status] : "";
}

/**
 * The colour role of the dot beside a face; which green it is, the app's design decides.
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
 * How many of a group are here: `3 of 5 online`. Who is away is here too, but not online.
 *
 * @param {Iterable<import("./rollcall.js").Presence | undefined>} presences those known, whatever the others are
 * @param {number} total the size of the group, those of unknown presence among it
 * @param {{ language?: string | readonly string[] }} options
 */
export function groupCount(presences, total, { language } = {}) {
  const words = wordsOf(language);
  const online = [...presences].filter((presence) => presence?.status === "online").length;
  return { online, total, text: fill(formOf(words, words.presence.group, online), { online, total }) };
}
