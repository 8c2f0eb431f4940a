// How an app observes a value, and how it ends that.

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

/** Calls `end` when the signal is aborted. Returns a function that stops the listening. */
export function onAbort(signal, end) {
  if (signal?.aborted) queueMicrotask(end);
  signal?.addEventListener("abort", end);
  return () => signal?.removeEventListener("abort", end);
}

/**
 * The latest value of something, and its changes. Observe it with a callback or with `for await`, as often as needed and
 * at the same time. A slow reader skips values but always gets the latest. The observation ends with the client, and
 * when its `signal` is aborted.
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

  /** The value that is known now. Undefined if nothing observes it, or if no value has arrived yet. */
  get latest() { return this.#latest(); }

  /**
   * Calls `listener` with the latest value, but not within this call, and then with every change.
   *
   * @param {(value: Value) => void} listener
   * @param {{ signal?: AbortSignal }} options
   * @returns a function that ends it
   */
  subscribe(listener, { signal } = {}) { return this.#begin(listener, () => {}, signal); }

  /** @returns {AsyncIterableIterator<Value>} */
  [Symbol.asyncIterator]() {
    return new LatestIterator((receive, finish) => this.#begin(receive, finish));
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

/** An iterator that keeps one value: a slow reader skips values, so they do not pile up. */
class LatestIterator {
  /** At most one of the two is set: a value that nobody has taken, or a call of `next` that waits for one. */
  #value = null;
  #waiting = null;
  #isOver = false;
  #end;

  constructor(observe) {
    this.#end = observe((value) => this.#received(value), () => this.#finished());
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

  #received(value) {
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
