/** What the client is already trying again. Every other code is a mistake that somebody must put right. */
const WEATHER = new Set(["token_unavailable", "unreachable", "connection_lost", "asked"]);

/** A mistake or, as the reason of a `waiting` connection, the weather of the moment. Match on `code`: it is stable. */
export class RollcallError extends Error {
  /**
   * @param {import("../Module/rollcall.js").RollcallErrorCode} code
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

export const TOKEN_EXPIRED = 4101;

export const CLOSE_CODES = new Map([["replaced", 4104], ["expired", TOKEN_EXPIRED], ["limit", 4105], ["sent_away", 4106]]);

export function closedWith(closeCode) {
  /** @type {any[]} */
  const [code, message] = MISTAKES.get(closeCode) ?? ["refused", `the worker ended the session with code ${closeCode}`];
  return new RollcallError(code, message, { closeCode });
}

export const REMOVED = { code: "not_a_member", message: "the user is no longer a member", retry: false };

/** The mistake that a worker's `error` message tells of. */
export function refusalError({ code, message, retry }) {
  if (code === "not_a_member" || code === "limit") return new RollcallError(code, message);
  return new RollcallError(retry ? "asked" : "bad_request", message);
}
