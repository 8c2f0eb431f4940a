import { CLOSE_CODES, closedWith, RollcallError, TOKEN_EXPIRED } from "./errors.js";
import { clamped, MINUTE } from "./units.js";

/**
 * What follows each end of a connection, or of an attempt at one: `{ after, freshToken, error }` to try again, or just
 * `{ error }` to give up. Close codes from 4100 to 4199 mean that somebody has to put something right first.
 */
export class Reconnecting {
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
