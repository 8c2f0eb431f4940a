import { SECOND } from "./units.js";

/** Pauses between attempts: exponential with full jitter, so that a fallen worker's clients come back spread out. */
export class Backoff {
  /** How long a connection must have stood for its end to count as a first failure again. */
  static STEADY = 5 * SECOND;

  #first;
  #longest;
  #failures = 0;

  constructor(first, longest) {
    this.#first = first;
    this.#longest = longest;
  }

  connectionHeld(duration) { if (duration >= Backoff.STEADY) this.#failures = 0; }

  /** The pause after one more failure: anything from nothing to a ceiling that doubles with each. */
  failed() {
    const ceiling = Math.min(this.#longest, this.#first * 2 ** this.#failures);
    this.#failures += 1;
    return Math.random() * ceiling;
  }
}

/**
 * When to send again what a worker refused for now (`"retry":true`): with exponential pauses and full jitter. One
 * schedule for all kinds of messages: the reasons (Redis is away, the session asked for too much) concern the session
 * as a whole, and what waits goes out in few messages.
 */
export class Retries {
  static FIRST = 250;
  static LONGEST = 15 * SECOND;

  #backoff = new Backoff(Retries.FIRST, Retries.LONGEST);
  /** The kinds of messages that were refused since the last success. */
  #refused = new Set();
  /** The last message that was sent before the attempt that is under way. */
  #before = 0;
  /** When to send again what was refused; null when nothing waits. */
  deadline = null;

  /** Refusals that come before the next attempt count as one. */
  refused(kind, now) {
    this.#refused.add(kind);
    this.deadline ??= now + this.#backoff.failed();
  }

  /**
   * The worker took a message. That says nothing of what waits, nor of what is under way again, unless the message was
   * sent with that and is of a kind that was refused: a worker takes at once what costs it nothing.
   */
  succeeded(kind, message) {
    if (this.deadline !== null || message <= this.#before || !this.#refused.has(kind)) return;
    this.#backoff = new Backoff(Retries.FIRST, Retries.LONGEST);
    this.#refused.clear();
  }

  /** The attempt begins, after this message. */
  begin(message) {
    this.deadline = null;
    this.#before = message;
  }
}
