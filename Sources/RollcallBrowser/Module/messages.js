// Messages from a worker, checked field by field; names in messages to a worker; and the errors that an app sees.

/** All durations in these modules are in milliseconds. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function clamp(value, least, most) { return Math.min(Math.max(value, least), most); }

// MARK: The runtime
//
// What a runtime may lack is looked up when it is needed, and has a fallback. So the module loads wherever JavaScript runs.

/** A steady clock. */
export function steadyNow() { return globalThis.performance?.now() ?? Date.now(); }

/** Calls a function at the end of this task. */
export function soon(body) { Promise.resolve().then(body).catch(reportAppError); }

/**
 * Reports an error of the app, as a browser does with one that nobody catches. Node.js has no `reportError`.
 *
 * @type {(error: unknown) => void}
 */
export const reportAppError = (error) => (globalThis.reportError ?? globalThis.console?.error)?.(error);

/** Shows a developer what nobody listens to. */
export function warn(error) { globalThis.console?.warn(`Rollcall: ${error.message}`); }

/** Resolves once a closing socket has closed, after two seconds at most. */
export function socketClosed(socket) {
  if (!socket || socket.readyState === 3) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 2 * SECOND);
    socket.addEventListener("close", () => {
      clearTimeout(timer);
      resolve(undefined);
    }, { once: true });
  });
}

export function utf8Length(text) {
  let length = 0;
  for (const character of text) {
    const code = character.codePointAt(0);
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
}

/** A random text of 64 bits. */
export function randomText() {
  const parts = globalThis.crypto?.getRandomValues(new Uint32Array(2)) ?? [0, 0].map(() => Math.random() * 2 ** 32 >>> 0);
  return [...parts].map((part) => part.toString(36)).join("");
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Returns the bytes of Base64 for URLs, each as a character. */
export function base64Decoded(text) {
  let [bytes, bits, count] = ["", 0, 0];
  for (const character of text.replace(/=+$/, "")) {
    const value = BASE64.indexOf(character);
    if (value < 0) throw new RangeError("not Base64");
    [bits, count] = [bits << 6 | value, count + 6];
    if (count >= 8) bytes += String.fromCharCode(bits >> (count -= 8) & 255);
  }
  return bytes;
}

// MARK: Names

const NAME_PATTERN = /^[^\p{White_Space}\p{Cc}\p{Cs}{}]+$/u;

/**
 * Returns the name of a device or a conversation, or throws. Names are checked before they are sent because a worker refuses a
 * whole message for one invalid name.
 */
export function validName(text) { return nameWithin(128, text); }

export function validUser(text) { return nameWithin(255, text); }

function nameWithin(most, text) {
  if (typeof text === "string" && NAME_PATTERN.test(text) && utf8Length(text) <= most) return text;
  throw new RollcallError("invalid_name", `no name, of 1 to ${most} bytes without white space or braces: ${text}`);
}

// MARK: Messages

/** Limits that every worker allows. They count until the worker has sent its own. */
export const DEFAULT_LIMITS = {
  watched_users: 1000, joined_conversations: 200, message_bytes: 8192, message_rate: 10, message_burst: 30,
  entered_conversations: 10, here_data: 512,
};

export const TYPING_KINDS = ["typing", "recording", "uploading", "thinking"];

/** A kind that this version does not know counts as typing. */
export function knownKind(kind) { return TYPING_KINDS.includes(kind) ? kind : "typing"; }

/** One parser for each type of message. A parser throws if a field has the wrong type. */
const PARSERS = {
  welcome: (message) => ({
    user: requireString(message.user),
    device: requireString(message.device),
    session: requireString(message.session),
    worker: requireString(message.worker),
    time: requireNumber(message.time),
    ping: clamp(requireNumber(message.ping), 100, HOUR),
    reconnect: requireNumber(message.reconnect ?? 1_500),
    coalesce: clamp(requireNumber(message.presence?.coalesce ?? 500), 0, MINUTE),
    expiry: clamp(requireNumber(message.typing?.expiry ?? 3 * SECOND), 0, HOUR),
    limits: Object.fromEntries(
      Object.entries(DEFAULT_LIMITS).map(([limit, value]) => [limit, message.limits?.[limit] ?? value])),
    // What a later version says in another way names nobody here.
    right: message.watch === "*" ? ["*"] : Array.isArray(message.watch) ? message.watch.filter((each) => typeof each === "string") : [],
  }),
  presence: ({ id, users }) => ({ id, users: users.map(parsePresence) }),
  typing: ({ conversation, users, count }) => ({
    conversation, count: requireNumber(count), typists: users.map((typist) => ({
      ...parsePerson(typist), kind: knownKind(typist.kind),
    })),
  }),
  members: ({ conversation, users, count }) => ({
    conversation, count: requireNumber(count), people: users.map(parsePerson),
  }),
  here: ({ conversation, users, count }) => ({
    conversation, count: requireNumber(count), users: users.map((each) => ({
      ...parsePerson(each), since: requireNumber(each.since), isIdle: each.idle === true,
      ...isObject(each.data) && { data: each.data },
    })),
  }),
  removed: ({ conversation }) => ({ conversation }),
  goodbye: ({ reason, reconnect, after, to }) => ({ reason, reconnect: reconnect !== false, after, to }),
  person: (message) => parseSettings(message),
  pong: ({ time }) => ({ time: requireNumber(time) }),
  ack: ({ id }) => ({ id }),
  error: ({ id, code, message, retry }) => ({ id, code, message, retry: retry === true }),
};

function parsePresence({ user, name, status, last_seen, updated_at, version, ...words }) {
  return {
    ...typeof name === "string" && { name }, ...parseWords(words),
    user: requireString(user),
    // A status that this version does not know counts as offline.
    status: status === "online" || status === "away" ? status : "offline",
    lastSeen: last_seen ?? null, updatedAt: updated_at ?? null, version: version ?? 0,
  };
}

/**
 * What users say of themselves. What this version does not know counts as nothing.
 *
 * @param {any} message
 */
function parseWords({ availability, text, emoji, until }) {
  return {
    ...["busy", "dnd", "invisible"].includes(availability) && { availability }, ...typeof text === "string" && { text },
    ...typeof emoji === "string" && { emoji }, ...Number.isFinite(until) && { until },
  };
}

/** What the client's own user has decided; the type stays another's. */
function parseSettings({ presence, last_seen: lastSeen, ...words }) {
  const isAudience = (word) => word === "shared" || word === "nobody";
  return { settings: { ...isAudience(presence) && { presence }, ...isAudience(lastSeen) && { lastSeen }, ...parseWords(words) } };
}

function parsePerson({ user, name }) {
  return typeof name === "string" ? { user: requireString(user), name } : { user: requireString(user) };
}

/** Returns the message, or null for a message that is invalid or of a type that only a newer client knows. */
export function parseMessage(text) {
  try {
    const message = JSON.parse(text);
    return Object.hasOwn(PARSERS, message.type) ? { type: message.type, ...PARSERS[message.type](message) } : null;
  } catch {
    return null;
  }
}

/** Whether a value is a JSON object. */
export function isObject(value) { return typeof value === "object" && value !== null && !Array.isArray(value); }

function requireString(value) {
  if (typeof value === "string") return value;
  throw new TypeError("not a string");
}

function requireNumber(value) {
  if (Number.isFinite(value)) return value;
  throw new TypeError("not a number");
}

// MARK: Errors

/** The codes of failures that pass by themselves. With every other code, somebody has to correct something first. */
const TRANSIENT = new Set(["token_unavailable", "unreachable", "connection_lost", "asked"]);

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

  get retry() { return TRANSIENT.has(this.code); }
}

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
  [4105, ["too_many_sessions", "the user has as many sessions as the worker's limits.sessions_per_user allows"]],
  [4106, ["sent_away", "an operator ended the session"]],
  [4107, ["another_user", "the token is another user's: call disconnect() before another user signs in"]],
]);
/** The codes of refusals that the client accepts for good. */
export const FINAL = new Set(["replaced", "sent_away", "another_user"]);
export const TOKEN_EXPIRED = 4101;
/** The worker has no room. */
export const BUSY = 4002;

/** The reasons of a `goodbye` with that code for which another token, or the same one later, may be taken. */
export const TOKEN_REASONS = new Set([
  "bad_signature", "unknown_key", "wrong_algorithm", "wrong_issuer", "wrong_audience", "wrong_type", "lives_too_long",
  "not_yet_valid",
]);

/** The close codes that mean the same as the reason of a `goodbye`. */
export const GOODBYE_CLOSE_CODES = new Map([
  ["replaced", 4104], ["expired", TOKEN_EXPIRED], ["limit", 4105], ["sent_away", 4106], ["another_user", 4107],
]);

/** A sentence with what the worker says of it, if it says anything. */
export function because(sentence, reason) { return reason ? `${sentence} (${reason})` : sentence; }

/** The error for a connection that the worker closed for good. */
export function closeCodeError(closeCode, reason = "") {
  /** @type {any[]} */
  const [code, message] = CLOSE_CODE_ERRORS.get(closeCode)
    ?? ["refused", `the worker ended the session with code ${closeCode}`];
  return new RollcallError(code, closeCode === 4100 || closeCode === 4102 ? because(message, reason) : message, { closeCode });
}

/** The error that a worker's `error` message reports. */
export function workerError({ code, message, retry }) {
  if (code === "not_a_member" || code === "limit") return new RollcallError(code, message);
  return new RollcallError(retry ? "asked" : "bad_request", message);
}
