// How an app observes a value: with callbacks or `for await`, until it, its signal or the client ends that.

import { reportAppError, RollcallError, soon, steadyNow } from "./messages.js";

/**
 * The method with which `using` ends something, if the browser supports that.
 *
 * @type {typeof Symbol.dispose}
 */
export const DISPOSE = Symbol.dispose ?? /** @type {any} */ (Symbol("dispose"));

/**
 * Returns a function that calls `end`, and that `using` calls too.
 *
 * @returns {import("./rollcall.js").Ending}
 */
export function ending(end) { return /** @type {any} */ (Object.assign(() => end(), { [DISPOSE]: () => end() })); }

/**
 * Adds listeners for events: functions by type. They come before those of the page, which may stop an event. Returns a function
 * that removes them.
 *
 * @param {object} handlers
 */
export function listening(target, handlers) {
  const options = { passive: true, capture: true };
  for (const [type, handle] of Object.entries(handlers)) target.addEventListener(type, handle, options);
  return () => { for (const [type, handle] of Object.entries(handlers)) target.removeEventListener(type, handle, options); };
}

/** Calls `end` when the signal is aborted. Returns a function that stops the listening. */
export function onAbort(signal, end) {
  if (signal?.aborted) soon(end);
  signal?.addEventListener("abort", end);
  return () => signal?.removeEventListener("abort", end);
}

/** The current value of one thing, and its observers: `{ receive }`. */
export class Observed {
  latest;
  #observers = new Set();

  constructor(latest) { this.latest = latest; }

  get isObserved() { return this.#observers.size > 0; }
  /** Whether the worker must be asked for the value because of an observer. */
  get needsWatch() { return [...this.#observers].some(({ needsWatch }) => needsWatch); }

  /**
   * A new observer receives the latest value before anything else, but not within this call: its caller does not have
   * the function yet that ends the observation.
   */
  add(observer) {
    this.#observers.add(observer);
    soon(() => {
      if (!observer.hasReceived && this.latest !== undefined) this.#notify(observer);
    });
  }

  remove(observer) { this.#observers.delete(observer); }

  /** Notifies the observers, unless the value is equal to the latest. */
  update(value) {
    if (isEqual(value, this.latest)) return;
    this.latest = value;
    this.repeat();
  }

  /** The value is no longer known. The next one is notified even if it is the same. */
  forget() {
    if (this.latest === undefined) return;
    this.latest = undefined;
    for (const { forgotten } of this.#observers) if (forgotten) this.#attempt(forgotten);
  }

  /** Notifies the observers, though the value is the same: what it means may have changed. */
  repeat() {
    const { latest } = this;
    if (latest === undefined) return;
    for (const observer of this.#observers) {
      // Race: an observer has just caused the next change, of which all observers were notified.
      if (this.latest !== latest) return;
      this.#notify(observer);
    }
  }

  /** What an observer throws is an error of the page, and the other observers are still notified. */
  #notify(observer) {
    if (!this.#observers.has(observer)) return;
    observer.hasReceived = true;
    this.#attempt(() => observer.receive(this.latest));
  }

  #attempt(body) {
    try {
      body();
    } catch (error) {
      reportAppError(error);
    }
  }
}

/**
 * Tells of changes together: of the first at the end of its task, and then at most once in a frame of the screen. So what
 * arrives together, one message after the other, is shown with one more value.
 */
export class Batch {
  static FRAME = 16;

  #engine;
  #tell;
  #isDue = false;
  #toldAt = -Infinity;

  constructor(engine, tell) {
    this.#engine = engine;
    this.#tell = tell;
  }

  changed() {
    if (this.#isDue) return;
    this.#isDue = true;
    const tell = () => {
      this.#isDue = false;
      this.#toldAt = steadyNow();
      this.#tell?.();
    };
    const at = this.#toldAt + Batch.FRAME;
    if (at <= steadyNow()) soon(tell);
    else this.#engine.callAt(at, tell);
  }

  end() { this.#tell = null; }
}

/** Whether two plain values have equal contents. */
export function isEqual(left, right) {
  if (Object.is(left, right)) return true;
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
  if (left instanceof RollcallError && right instanceof RollcallError) {
    return left.code === right.code && left.message === right.message && left.closeCode === right.closeCode;
  }
  if (left instanceof Map && right instanceof Map) return isEqual([...left], [...right]);
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => isEqual(left[key], right[key]));
}

/** @template Value */
export class Updates {
  #observe;
  #latest;
  #signal;

  /** @internal */
  constructor(observe, latest, signal) {
    this.#observe = observe;
    this.#latest = latest;
    this.#signal = signal;
  }

  /** With it, Vue's `reactive` leaves the object alone: no proxy may call what uses private fields. */
  get [Symbol.toStringTag]() { return "Updates"; }
  get latest() { return this.#latest(); }

  /**
   * Like `subscribe`, and calls `finish` at the end.
   *
   * @internal
   */
  static observe(updates, receive, finish) { return updates.#begin(receive, finish); }

  /** @param {(value: Value) => void} listener */
  subscribe(listener, { signal = undefined } = {}) { return this.#begin(listener, () => {}, signal); }

  /**
   * Keeps one value: a slow reader skips values, so they do not pile up.
   *
   * @returns {AsyncIterableIterator<Value>}
   */
  [Symbol.asyncIterator]() {
    const over = { done: true, value: undefined };
    // At most one of the two is set: a value that nobody has taken, or a call of `next` that waits for one.
    let [value, waiting, isOver] = [null, null, false];
    const resolve = (result) => {
      if (waiting) waiting(result);
      else if (!result.done) value = result;
      waiting = null;
    };
    const end = this.#begin((latest) => resolve({ done: false, value: latest }), () => {
      isOver = true;
      resolve(over);
    });
    return {
      [Symbol.asyncIterator]() { return this; },
      next() {
        const result = value ?? (isOver ? over : null);
        value = null;
        if (result) return Promise.resolve(result);
        waiting?.(over);
        return new Promise((resolve) => { waiting = resolve; });
      },
      return() {
        value = null;
        end();
        return Promise.resolve(over);
      },
    };
  }

  #begin(receive, finish, signal) {
    const forget = [this.#signal, signal].map((each) => onAbort(each, () => end()));
    const end = this.#observe(receive, () => {
      for (const each of forget) each();
      finish();
    });
    return ending(end);
  }
}
