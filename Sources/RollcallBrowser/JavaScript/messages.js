import { RollcallError } from "./errors.js";
import { clamped, HOUR, SECOND, utf8 } from "./units.js";

const NAME = /^[^\p{White_Space}\p{Cc}\p{Cs}{}]+$/u;

/** A user's, a device's or a conversation's name, checked here, since a worker refuses a whole message for one. */
export function named(text) {
  if (typeof text === "string" && NAME.test(text) && utf8.encode(text).length <= 128) return text;
  throw new RollcallError("invalid_name", `no name, of 1 to 128 bytes without white space or braces: ${text}`);
}

/** What a session surely may do, at a worker that has not yet said what it allows. */
export const CAUTIOUS = {
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
export function messageFrom(text) {
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
