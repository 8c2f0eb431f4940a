import { clamped } from "./units.js";

/** A timer that follows a deadline on the steady clock, wherever that moves. Moving it later, as most do, is free. */
export class Alarm {
  /** The longest that a browser's timer takes. */
  static LONGEST = 2 ** 31 - 1;

  #ring;
  #deadline = null;
  #scheduled = Infinity;
  #timer = null;

  constructor(ring) { this.#ring = ring; }

  set(deadline) {
    this.#deadline = deadline;
    if (deadline === null) this.#cancel();
    else if (deadline < this.#scheduled) this.#schedule();
  }

  #schedule() {
    this.#cancel();
    this.#scheduled = this.#deadline;
    this.#timer = setTimeout(() => this.#fired(), clamped(this.#deadline - performance.now(), 0, Alarm.LONGEST));
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
