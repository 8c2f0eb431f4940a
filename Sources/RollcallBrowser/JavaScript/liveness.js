import { SECOND } from "./units.js";

/**
 * Whether a connection is alive, by what came over it. Browsers hide WebSocket's own pings, so silence is asked about.
 * A page that was itself asleep asks again before it judges; one whose timers are merely slow judges the second time.
 */
export class Liveness {
  static ANSWER_TIME = 3 * SECOND;
  /** A deadline noticed this much late means that this page did not run meanwhile. */
  static ASLEEP = SECOND;

  #silence;
  /** A worker that is still reading what it was sent before answers late: where only silence gives doubt, it may. */
  #patience;
  /** How long the answer that is awaited may take. */
  #answerTime = Liveness.ANSWER_TIME;
  #asked = 0;

  /** @param {number} ping how often the worker pings */
  constructor(ping, now) {
    this.#silence = 2 * ping;
    this.#patience = Math.max(ping, Liveness.ANSWER_TIME);
    this.deadline = now + this.#silence;
  }

  /**
   * While an answer is awaited, nothing else is one: it may have been under way, or lain in this machine, since before
   * the connection died. But it may also be what the answer has to wait behind.
   */
  heard(isAnswer, now) {
    if (isAnswer) this.#asked = 0;
    this.deadline = now + (this.#asked > 0 ? this.#answerTime : this.#silence);
  }

  /** There is reason to doubt: the page came back to the front, the network changed. */
  doubted(now) {
    if (this.#asked === 0) return this.#ask(now, Liveness.ANSWER_TIME);
    // What is asked because of silence alone is now asked in earnest.
    this.#answerTime = Liveness.ANSWER_TIME;
    this.deadline = Math.min(this.deadline, now + this.#answerTime);
    return "alive";
  }

  /** Returns `"alive"`, `"ask"` (send what must be answered) or `"dead"`. */
  deadlinePassed(now) {
    if (now < this.deadline) return "alive";
    const isLate = now >= this.deadline + Liveness.ASLEEP;
    if (this.#asked === 0) return this.#ask(now, isLate ? Liveness.ANSWER_TIME : this.#patience);
    return this.#asked === 1 && isLate ? this.#ask(now, Liveness.ANSWER_TIME) : "dead";
  }

  #ask(now, answerTime) {
    this.#asked += 1;
    this.#answerTime = answerTime;
    this.deadline = now + answerTime;
    return "ask";
  }
}
