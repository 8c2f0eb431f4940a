// A timer for a deadline that moves.

import { clamp } from "./units.js";

/** Calls a function when a deadline on the steady clock passes. To move the deadline later costs nothing. */
export class Alarm {
  /** The longest delay of a browser's timer. */
  static LONGEST = 2 ** 31 - 1;

  #ring;
  #deadline = null;
  #scheduled = Infinity;
  #timer = null;

  constructor(ring) { this.#ring = ring; }

  /** Sets the deadline; null for none. */
  set(deadline) {
    this.#deadline = deadline;
    if (deadline === null) this.#cancel();
    else if (deadline < this.#scheduled) this.#schedule();
  }

  #schedule() {
    this.#cancel();
    this.#scheduled = this.#deadline;
    this.#timer = setTimeout(() => this.#fired(), clamp(this.#deadline - performance.now(), 0, Alarm.LONGEST));
  }

  #cancel() {
    if (this.#scheduled === Infinity) return;
    clearTimeout(this.#timer);
    this.#scheduled = Infinity;
  }

  #fired() {
    this.#scheduled = Infinity;
    if (performance.now() < this.#deadline) return this.#schedule();
    this.#deadline = null;
    this.#ring();
  }
}
