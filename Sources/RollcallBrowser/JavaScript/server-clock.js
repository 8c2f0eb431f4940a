import { clamped, MINUTE, SECOND } from "./units.js";

/**
 * The worker's time, carried on by this device's steady clock between two words of it. The worker's clock may be set at
 * any moment, so the worker is asked for it now and then, and sooner where a presence seems to come from the future.
 */
export class ServerClock {
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
