import { CAUTIOUS } from "./messages.js";
import { SECOND } from "./units.js";

/**
 * How many messages may be sent now. A worker closes a session that sends too much, so the client spends less than it
 * is allowed: three quarters of the burst and nine tenths of the rate, since a network may bunch what was sent evenly.
 */
export class MessageBudget {
  #perSecond = CAUTIOUS.message_rate;
  #capacity = CAUTIOUS.message_burst;
  #left = this.#capacity;
  #counted;

  constructor(now) { this.#counted = now; }

  limitsLearnt({ message_rate, message_burst }, now) {
    const spent = this.#capacity - this.#available(now);
    this.#perSecond = Math.max(1, message_rate * 0.9);
    this.#capacity = Math.max(1, message_burst * 0.75);
    this.#left = Math.max(0, this.#capacity - spent);
  }

  /** A thousandth is forgiven: at `nextRoom` there is room, however the fractions were rounded. */
  allowance(now) { return Math.max(0, Math.floor(this.#available(now) + 0.001)); }
  spend(messages) { this.#left -= messages; }

  /** When there will be room for another message. */
  get nextRoom() { return this.#counted + Math.max(0, 1 - this.#left) / this.#perSecond * SECOND; }

  #available(now) {
    const elapsed = Math.max(0, now - this.#counted);
    this.#left = Math.min(this.#capacity, this.#left + elapsed / SECOND * this.#perSecond);
    this.#counted = now;
    return this.#left;
  }
}
