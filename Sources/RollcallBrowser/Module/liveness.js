// Whether a connection is alive. Browsers hide WebSocket's own pings, so the client sends pings of its own.

import { SECOND } from "./units.js";

/**
 * The client pings after silence. A page that did not run itself (a sleeping laptop) pings again before it judges. A
 * page whose timers are only slow judges the second time.
 */
export class Liveness {
  static ANSWER_TIME = 3 * SECOND;
  /** If a deadline is noticed this much late, the page did not run in the meantime. */
  static ASLEEP = SECOND;

  /** How long silence may last before the client pings. */
  #silence;
  /** How long the answer to a ping because of silence may take: a worker that is still reading answers late. */
  #longAnswerTime;
  /** How long the answer to the current ping may take. */
  #answerTime = Liveness.ANSWER_TIME;
  /** How many pings have been sent since the last answer. */
  #unanswered = 0;

  /** @param {number} ping how often the worker pings */
  constructor(ping, now) {
    this.#silence = 2 * ping;
    this.#longAnswerTime = Math.max(ping, Liveness.ANSWER_TIME);
    this.deadline = now + this.#silence;
  }

  /**
   * A message arrived. While an answer is awaited, no other message counts as one: it may have been on its way, or in
   * this machine, since before the connection died. But it gives the answer more time, which may have to wait behind it.
   */
  received(isAnswer, now) {
    if (isAnswer) this.#unanswered = 0;
    this.deadline = now + (this.#unanswered > 0 ? this.#answerTime : this.#silence);
  }

  /** There is reason for doubt: the page came back to the foreground, or the network changed. */
  doubted(now) {
    if (this.#unanswered === 0) return this.#ping(now, Liveness.ANSWER_TIME);
    // The answer to a ping because of silence is now due sooner.
    this.#answerTime = Liveness.ANSWER_TIME;
    this.deadline = Math.min(this.deadline, now + this.#answerTime);
    return "alive";
  }

  /** Returns `"alive"`, `"ping"` (send one) or `"dead"`. */
  deadlinePassed(now) {
    if (now < this.deadline) return "alive";
    const isLate = now >= this.deadline + Liveness.ASLEEP;
    if (this.#unanswered === 0) return this.#ping(now, isLate ? Liveness.ANSWER_TIME : this.#longAnswerTime);
    return this.#unanswered === 1 && isLate ? this.#ping(now, Liveness.ANSWER_TIME) : "dead";
  }

  #ping(now, answerTime) {
    this.#unanswered += 1;
    this.#answerTime = answerTime;
    this.deadline = now + answerTime;
    return "ping";
  }
}
