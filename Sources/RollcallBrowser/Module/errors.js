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
export const TOKEN_EXPIRED = 4101;

/** The close codes that mean the same as the reason of a `goodbye`. */
export const GOODBYE_CLOSE_CODES = new Map([
  ["replaced", 4104], ["expired", TOKEN_EXPIRED], ["limit", 4105], ["sent_away", 4106],
]);

/** The error for a connection that the worker closed for good. */
export function closeCodeError(closeCode) {
  /** @type {any[]} */
  const [code, message] = CLOSE_CODE_ERRORS.get(closeCode)
    ?? ["refused", `the worker ended the session with code ${closeCode}`];
  return new RollcallError(code, message, { closeCode });
}

/** A worker's `removed` message, in the form of an `error` message. */
export const REMOVED = { code: "not_a_member", message: "the user is no longer a member", retry: false };

/** The error that a worker's `error` message reports. */
export function workerError({ code, message, retry }) {
  if (code === "not_a_member" || code === "limit") return new RollcallError(code, message);
  return new RollcallError(retry ? "asked" : "bad_request", message);
}
