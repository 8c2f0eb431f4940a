// A value that several observers follow, and the rules for when an observer is called.
// The Swift client has `Topic` for this.

import { RollcallError } from "./errors.js";

/**
 * The current value of one thing, and its observers. An observer is `{ receive }`, with `needsWatch` if the worker must
 * be asked for the value because of this observer.
 */
export class ObservedValue {
  latest = undefined;
  #observers = new Set();

  constructor(latest) { this.latest = latest; }

  get isObserved() { return this.#observers.size > 0; }

  /** Whether the worker must be asked for the value because of one of the observers. */
  get needsWatch() { return [...this.#observers].some(({ needsWatch }) => needsWatch); }

  /**
   * A new observer receives the latest value before anything else, but not within this call: its caller does not have
   * the function yet that ends the observation.
   */
  add(observer) {
    this.#observers.add(observer);
    queueMicrotask(() => {
      if (!observer.hasReceived && this.latest !== undefined) this.#notify(observer);
    });
  }

  remove(observer) { this.#observers.delete(observer); }

  /** Notifies the observers, unless the value is equal to the latest. */
  update(value) {
    if (isEqual(value, this.latest)) return;
    this.latest = value;
    for (const observer of this.#observers) {
      // Race: an observer has just caused the next change, of which all observers were notified.
      if (this.latest !== value) return;
      this.#notify(observer);
    }
  }

  /** Notifies the observers of the same value again, because what it means has changed. */
  repeat() {
    const { latest } = this;
    if (latest === undefined) return;
    for (const observer of this.#observers) if (this.latest === latest) this.#notify(observer);
  }

  /** Reports what an observer throws as an error of the page, so that the other observers are still notified. */
  #notify(observer) {
    if (!this.#observers.has(observer)) return;
    observer.hasReceived = true;
    try {
      observer.receive(this.latest);
    } catch (error) {
      reportError(error);
    }
  }
}

/** Whether two plain values have equal contents. */
function isEqual(left, right) {
  if (Object.is(left, right)) return true;
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
  if (left instanceof RollcallError && right instanceof RollcallError) {
    return left.code === right.code && left.message === right.message && left.closeCode === right.closeCode;
  }
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => isEqual(left[key], right[key]));
}

/** The presence of several users as one map, sent once per task: a snapshot of a thousand users is one value. */
export class PresenceGroup {
  #send;
  #presences = new Map();
  #isDue = false;

  /** @param send called with a copy of the map */
  constructor(send) { this.#send = send; }

  received(presence) {
    this.#presences.set(presence.user, presence);
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#send(new Map(this.#presences));
    });
  }
}
