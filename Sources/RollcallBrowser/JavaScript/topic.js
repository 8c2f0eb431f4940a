import { RollcallError } from "./errors.js";

/** The present state of one thing, and who wants to hear of it: the worker is asked for it once. */
export class Topic {
  latest = undefined;
  #observers = new Set();

  constructor(latest) { this.latest = latest; }

  get isObserved() { return this.#observers.size > 0; }

  /** Whether one of the observers is such that the worker must be asked for its sake. */
  get isWatched() { return [...this.#observers].some(({ isWatching }) => isWatching); }

  /**
   * A new observer hears the latest value before anything else, but not within this call: it has not got hold of the
   * means to end it yet.
   */
  add(observer) {
    this.#observers.add(observer);
    queueMicrotask(() => {
      if (!observer.hasHeard && this.latest !== undefined) this.#tell(observer);
    });
  }

  remove(observer) { this.#observers.delete(observer); }

  /** Tells the observers, unless nothing changed. */
  update(value) {
    if (same(value, this.latest)) return;
    this.latest = value;
    for (const observer of this.#observers) {
      // An observer caused the next change, which all have been told.
      if (this.latest !== value) return;
      this.#tell(observer);
    }
  }

  /** Tells the observers the same again: what they make of it has changed. */
  tellAgain() {
    const { latest } = this;
    if (latest === undefined) return;
    for (const observer of this.#observers) if (this.latest === latest) this.#tell(observer);
  }

  /** An observer's own mistake is told to whoever watches the page's errors, and spoils nothing for the others. */
  #tell(observer) {
    if (!this.#observers.has(observer)) return;
    observer.hasHeard = true;
    try {
      observer.hear(this.latest);
    } catch (error) {
      reportError(error);
    }
  }
}

/** Whether two plain values hold the same. */
function same(left, right) {
  if (Object.is(left, right)) return true;
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
  if (left instanceof RollcallError && right instanceof RollcallError) {
    return left.code === right.code && left.message === right.message && left.closeCode === right.closeCode;
  }
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => same(left[key], right[key]));
}

/** Several users observed as one: a snapshot of a thousand is one value, not a thousand. */
export class PresenceGroup {
  #tell;
  #presences = new Map();
  #isDue = false;

  constructor(tell) { this.#tell = tell; }

  heard(presence) {
    this.#presences.set(presence.user, presence);
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#tell(new Map(this.#presences));
    });
  }
}
