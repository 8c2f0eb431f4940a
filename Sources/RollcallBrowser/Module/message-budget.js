// How many messages the client may send now.

import { DEFAULT_LIMITS } from "./messages.js";
import { SECOND } from "./units.js";

/** The number of messages that workers count these as. Verifying a fresh token costs them more than any other. */
export const costOf = (messages) => messages.reduce((sum, { type }) => sum + (type === "token" ? 10 : 1), 0);

/**
 * A token bucket. A worker slows down or closes a session that sends too much, so the client uses less than the worker
 * allows: three quarters of the burst and nine tenths of the rate. A network may bunch messages that were sent evenly.
 */
export class MessageBudget {
  #perSecond = DEFAULT_LIMITS.message_rate;
  #capacity = DEFAULT_LIMITS.message_burst;
  #left = this.#capacity;
  #countedAt;

  constructor(now) { this.#countedAt = now; }

  limitsReceived({ message_rate, message_burst }, now) {
    const spent = this.#capacity - this.#available(now);
    this.#perSecond = Math.max(1, message_rate * 0.9);
    this.#capacity = Math.max(1, message_burst * 0.75);
    this.#left = Math.max(0, this.#capacity - spent);
  }

  /** How many messages may be sent. A thousandth is added so that rounding never leaves no room at `nextRoom`. */
  allowance(now) { return Math.max(0, Math.floor(this.#available(now) + 0.001)); }

  spend(messages) { this.#left -= messages; }

  /** When there is room for another message. */
  get nextRoom() { return this.#countedAt + Math.max(0, 1 - this.#left) / this.#perSecond * SECOND; }

  #available(now) {
    const elapsed = Math.max(0, now - this.#countedAt);
    this.#left = Math.min(this.#capacity, this.#left + elapsed / SECOND * this.#perSecond);
    this.#countedAt = now;
    return this.#left;
  }
}
