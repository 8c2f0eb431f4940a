// Pauses between attempts.

import { SECOND } from "./units.js";

/** Exponential backoff with full jitter, so that the clients of a worker that stopped do not all return together. */
export class Backoff {
  /** How long a connection must have lasted for its end to count as a first failure. */
  static STEADY = 5 * SECOND;

  #first;
  #longest;
  #failures = 0;

  constructor(first, longest) {
    this.#first = first;
    this.#longest = longest;
  }

  connectionLasted(duration) { if (duration >= Backoff.STEADY) this.#failures = 0; }

  /** Returns the pause after one more failure: a random time below a limit that doubles with each failure. */
  failed() {
    const limit = Math.min(this.#longest, this.#first * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    return Math.random() * limit;
  }
}

/**
 * When to send again what a worker refused for now (`"retry":true`). One schedule serves all types of messages: the
 * reasons (Redis is unavailable, the session asked for too much) concern the whole session, and everything that waits
 * is sent in a few messages.
 */
export class RetrySchedule {
  static FIRST = 250;
  static LONGEST = 15 * SECOND;

  #backoff = new Backoff(RetrySchedule.FIRST, RetrySchedule.LONGEST);
  /** The types of messages that were refused since the last success. */
  #refused = new Set();
  /** The number of the last message before the current attempt. */
  #before = 0;
  /** When to send again what was refused; null if nothing waits. */
  deadline = null;

  /** Refusals that arrive before the next attempt count as one. */
  refused(type, now) {
    this.#refused.add(type);
    this.deadline ??= now + this.#backoff.failed();
  }

  /**
   * The worker accepted a message. The backoff ends only if the message belongs to the current attempt and is of a type
   * that was refused. Other messages prove nothing: a worker accepts at once whatever costs it nothing.
   */
  succeeded(type, message) {
    if (this.deadline !== null || message <= this.#before || !this.#refused.has(type)) return;
    this.#backoff = new Backoff(RetrySchedule.FIRST, RetrySchedule.LONGEST);
    this.#refused.clear();
  }

  /** An attempt begins, after this message. */
  begin(message) {
    this.deadline = null;
    this.#before = message;
  }
}

/**
 * When to join again the conversations of which the user is not a member. An app may open a conversation before its
 * server has set the members, and a removed user may be added again. No worker reports either to a session that has not
 * joined. Most users who are refused will never be members, so the pauses grow up to a minute.
 */
export class RejoinSchedule {
  static SHORTEST = 2 * SECOND;
  static FIRST = 4 * SECOND;
  static LONGEST = 58 * SECOND;

  /** By conversation: `{ backoff, end }`. `end` is null while an answer is awaited. */
  #pauses = new Map();

  /** When to call `takeDue`; null if no conversation waits. */
  get deadline() {
    let deadline = null;
    for (const { end } of this.#pauses.values()) if (end !== null) deadline = Math.min(deadline ?? end, end);
    return deadline;
  }

  /** The worker refused the conversation or removed the user. Further refusals do not change the pause. */
  refused(conversation, now) {
    const pause = this.#pauses.get(conversation)
      ?? { backoff: new Backoff(RejoinSchedule.FIRST, RejoinSchedule.LONGEST), end: null };
    pause.end ??= now + RejoinSchedule.SHORTEST + pause.backoff.failed();
    this.#pauses.set(conversation, pause);
  }

  /** The worker accepted a join. This means nothing after a newer refusal. */
  accepted(conversation) {
    if (this.#pauses.get(conversation)?.end === null) this.#pauses.delete(conversation);
  }

  /** The conversation is given up or requested anew. */
  forget(conversation) { this.#pauses.delete(conversation); }

  /** Returns the conversations whose pauses have ended. */
  takeDue(now) {
    const due = [];
    for (const [conversation, pause] of this.#pauses) {
      if (pause.end === null || pause.end > now) continue;
      pause.end = null;
      due.push(conversation);
    }
    return due;
  }
}
