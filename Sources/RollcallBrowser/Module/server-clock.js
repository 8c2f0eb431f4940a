// The worker's time, estimated with this device's steady clock between two messages that contain it.

import { clamp, MINUTE, SECOND } from "./units.js";

/**
 * The worker's clock may be set at any moment. So the client asks for the time every minute, and sooner if a presence
 * seems to come from the future.
 */
export class ServerClock {
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
