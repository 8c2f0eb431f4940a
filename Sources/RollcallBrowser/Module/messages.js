// Messages from a worker, checked field by field, and the rules for names in messages to a worker.

import { RollcallError } from "./errors.js";
import { clamp, HOUR, SECOND, utf8Length } from "./units.js";

const NAME_PATTERN = /^[^\p{White_Space}\p{Cc}\p{Cs}{}]+$/u;

/**
 * Returns the name of a user, a device or a conversation, or throws. Names are checked before they are sent because a
 * worker refuses a whole message for one invalid name.
 */
export function validName(text) {
  if (typeof text === "string" && NAME_PATTERN.test(text) && utf8Length(text) <= 128) return text;
  throw new RollcallError("invalid_name", `no name, of 1 to 128 bytes without white space or braces: ${text}`);
}

/** Limits that every worker allows. They count until the worker has sent its own. */
export const DEFAULT_LIMITS = {
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
export function parseMessage(text) {
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
