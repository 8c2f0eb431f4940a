// What follows the end of a connection, or of an attempt to connect: a retry, where and when, or giving up.
// The Swift client has `Reconnecting` for this.

import { closeCodeError, GOODBYE_CLOSE_CODES, RollcallError, TOKEN_EXPIRED } from "./errors.js";
import { clamp, MINUTE } from "./units.js";

/**
 * Each event returns `{ after, freshToken, error }` for a retry after so many milliseconds, or only `{ error }` to give
 * up. Close codes from 4100 to 4199 mean that somebody has to correct something first.
 */
export class ReconnectPolicy {
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
