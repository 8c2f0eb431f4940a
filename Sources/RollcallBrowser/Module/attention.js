// What the client knows of its own device and of time: its state, the worker's clock, and a timer.

import { clamp, MINUTE, SECOND } from "./messages.js";

/** Whether this device is active, idle or in the background, from the app's phase and the user's input. */
export class Attention {
  #idleAfter;
  #inBackground = false;
  /** Set by the app or by a passed deadline, until the app's phase changes or input happens. */
  #isIdle = false;
  /** The last input; null until the app reports one. An app that never reports input never becomes idle by itself. */
  #inputAt = null;

  constructor(idleAfter) { this.#idleAfter = idleAfter; }

  get state() { return this.#inBackground ? "background" : this.#isIdle ? "idle" : "active"; }

  get deadline() {
    if (this.state !== "active" || this.#idleAfter === null || this.#inputAt === null) return null;
    return this.#inputAt + this.#idleAfter;
  }

  phaseChanged(phase, now) { if (phase !== "inactive") this.stateSet(phase, now); }

  stateSet(state, now) {
    this.#inBackground = state === "background";
    if (!this.#inBackground) this.#isIdle = state === "idle";
    if (this.#inputAt !== null) this.#inputAt = now;
  }

  inputHappened(now) {
    this.#inputAt = now;
    this.#isIdle = false;
  }

  /** An edit counts as input if the app reports input. Otherwise it must not start the idle timer. */
  edited(now) { if (this.#inputAt !== null) this.inputHappened(now); }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#isIdle = true; }
}

/**
 * The worker's time, estimated with this device's steady clock between two messages that contain it. The worker's clock
 * may be set at any moment, so the client asks once a minute while somebody may read when users were last seen.
 */
export class ServerClock {
  static INTERVAL = MINUTE;
  /** A difference that no text shows. */
  static TOLERANCE = SECOND;

  /** The worker's time less this device's steady time; null until the worker has sent its time. */
  #offset = null;
  #askedAt = -Infinity;

  /** When to ask for the time. */
  get deadline() { return this.#askedAt + ServerClock.INTERVAL; }
  get isKnown() { return this.#offset !== null; }

  /** Until the first welcome, this is the device's own time. */
  time(now) { return Math.round(this.#offset === null ? Date.now() : now + this.#offset); }

  timeRequested(now) { this.#askedAt = now; }

  /**
   * The worker's time arrived, which it read at some moment since `askedAt`. Returns whether the clock was set, so that
   * texts like "last seen" are out of date.
   */
  timeReceived(time, askedAt, now) {
    const before = this.#offset;
    this.#offset = (before === null ? time : clamp(now + before, time, time + now - askedAt)) - now;
    return before !== null && Math.abs(this.#offset - before) > ServerClock.TOLERANCE;
  }
}

/** Calls a function when a deadline on the steady clock passes. To move the deadline later costs nothing. */
export class Alarm {
  /** The longest delay of a browser's timer. */
  static LONGEST = 2 ** 31 - 1;

  #ring;
  #deadline = null;
  #scheduled = Infinity;
  #timer = null;

  constructor(ring) { this.#ring = ring; }

  /** Sets the deadline; null for none. */
  set(deadline) {
    this.#deadline = deadline;
    if (deadline === null) this.#cancel();
    else if (deadline < this.#scheduled) this.#schedule();
  }

  #schedule() {
    this.#cancel();
    this.#scheduled = this.#deadline;
    this.#timer = setTimeout(() => this.#fired(), clamp(this.#deadline - performance.now(), 0, Alarm.LONGEST));
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
