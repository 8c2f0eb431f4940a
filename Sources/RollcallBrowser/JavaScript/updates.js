/**
 * What leaves scope with `using`, where the browser has that.
 *
 * @type {typeof Symbol.dispose}
 */
export const DISPOSE = Symbol.dispose ?? /** @type {any} */ (Symbol("dispose"));

/**
 * A function that ends something, once; also by leaving scope.
 *
 * @returns {import("../Module/rollcall.js").Ending}
 */
export function ending(end) { return /** @type {any} */ (Object.assign(() => end(), { [DISPOSE]: () => end() })); }

/** Calls `end` when the signal is aborted; returns what forgets it. */
export function onAbort(signal, end) {
  if (signal?.aborted) queueMicrotask(end);
  signal?.addEventListener("abort", end);
  return () => signal?.removeEventListener("abort", end);
}

/**
 * The latest value of something, and every change that its reader is quick enough to see. Observe it with a callback or
 * with `for await`, as often as needed, at once too. It ends with the client, and with its `signal`.
 *
 * @template Value
 */
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

  /** The value as it is known now, without observing; undefined where nobody observes it, or nothing has come yet. */
  get latest() { return this.#latest(); }

  /**
   * Calls `listener` with the latest value soon, and with every change.
   *
   * @param {(value: Value) => void} listener
   * @param {{ signal?: AbortSignal }} options
   * @returns what ends it
   */
  subscribe(listener, { signal } = {}) { return this.#begin(listener, () => {}, signal); }

  /** @returns {AsyncIterableIterator<Value>} */
  [Symbol.asyncIterator]() {
    return new Newest((hear, finish) => this.#begin(hear, finish));
  }

  #begin(hear, finish, signal) {
    const forget = [this.#signal, signal].map((each) => onAbort(each, () => end()));
    const end = this.#observe(hear, () => {
      for (const each of forget) each();
      finish();
    });
    return ending(end);
  }
}

/** An iterator with room for one value: a slow reader skips values rather than pile them up. */
class Newest {
  /** At most one of the two is set: a value that nobody has taken, or whoever waits for one. */
  #value = null;
  #waiting = null;
  #isOver = false;
  #end;

  constructor(observe) {
    this.#end = observe((value) => this.#heard(value), () => this.#finished());
  }

  [Symbol.asyncIterator]() { return this; }

  next() {
    const result = this.#value;
    this.#value = null;
    if (result) return Promise.resolve(result);
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined });
    this.#waiting?.resolve({ done: true, value: undefined });
    return new Promise((resolve) => { this.#waiting = { resolve }; });
  }

  return() {
    this.#value = null;
    this.#end();
    return Promise.resolve({ done: true, value: undefined });
  }

  #heard(value) {
    const result = { done: false, value };
    if (this.#waiting) this.#waiting.resolve(result);
    else this.#value = result;
    this.#waiting = null;
  }

  #finished() {
    this.#isOver = true;
    this.#waiting?.resolve({ done: true, value: undefined });
    this.#waiting = null;
  }
}
