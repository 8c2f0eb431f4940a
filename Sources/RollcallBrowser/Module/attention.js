// What the client knows of its own device, of time and of silence: its state, the worker's clock, a timer, and whether a
// connection is alive.

import { clamp, MINUTE, SECOND, steadyNow } from "./messages.js";

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

/**
 * Whether a connection is alive. After two of the worker's ping intervals of silence the client asks, and waits for one.
 * Browsers hide WebSocket's own pings, so both are messages.
 */
export class Liveness {
  /** How long an answer may take after a reason for doubt. */
  static DOUBTED = 3 * SECOND;
  /** How long it may take then while other messages arrive. */
  static LONGEST_DOUBT = 10 * SECOND;
  /** If a deadline is noticed this much late, the page did not run in the meantime, and asks once more. */
  static ASLEEP = SECOND;

  #interval;
  /** How long the answer may take, and since when it is awaited; null while none is. */
  #patience = 0;
  #askedAt = null;
  #isAskedAgain = false;
  /** When a doubt ends, whatever else arrives. */
  #doubtEnd = Infinity;
  deadline;

  /** Whether the answer to a ping is awaited. */
  get isAwaiting() { return this.#askedAt !== null; }

  constructor(interval, now) {
    this.#interval = interval;
    this.deadline = now + 2 * interval;
  }

  /**
   * A message arrived: the answer to a ping that was sent at `pingAt`, or another (null). While an answer is awaited, no
   * other message counts as one: it may have been on its way, or in this machine, since before the connection died. But
   * it gives the answer more time, which may have to wait behind it.
   */
  received(pingAt, now) {
    if (pingAt !== null && this.#askedAt !== null && pingAt >= this.#askedAt) [this.#askedAt, this.#doubtEnd] = [null, Infinity];
    this.deadline = this.#askedAt === null ? now + 2 * this.#interval : Math.min(now + this.#patience, this.#doubtEnd);
  }

  /** There is reason for doubt. Returns whether to send a ping now. */
  doubted(now) {
    const isFirst = this.#askedAt === null;
    if (isFirst) this.#ask(now, false);
    this.#patience = Liveness.DOUBTED;
    this.#doubtEnd = Math.min(this.#doubtEnd, now + Liveness.LONGEST_DOUBT);
    this.deadline = Math.min(this.deadline, now + Liveness.DOUBTED);
    return isFirst;
  }

  /** Returns `"alive"`, `"ping"` (send one) or `"dead"`. */
  deadlinePassed(now) {
    if (now < this.deadline) return "alive";
    const isLate = now >= this.deadline + Liveness.ASLEEP;
    if (this.#askedAt !== null && (this.#isAskedAgain || !isLate)) return "dead";
    this.#ask(now, this.#askedAt !== null);
    return "ping";
  }

  #ask(now, isAgain) {
    this.#askedAt = now;
    this.#isAskedAgain = isAgain;
    this.#doubtEnd = Infinity;
    this.#patience = Math.max(this.#interval, Liveness.DOUBTED);
    this.deadline = now + this.#patience;
  }
}

/** Calls a function when a deadline on the steady clock passes. To move the deadline later costs nothing. */
export class Alarm {
  /** The longest delay of a browser's timer. */
  static LONGEST = 2 ** 31 - 1;
  /** A timer that is this late was held up: the machine slept, or the page was suspended. */
  static ASLEEP = 5 * SECOND;

  #ring;
  #woke;
  #deadline = null;
  /** When the timer rings, and when that is on the device's clock, which goes on while the machine sleeps. */
  #scheduled = Infinity;
  #scheduledDate = Infinity;
  #timer = null;

  /**
   * @param {() => void} ring
   * @param {(late: number) => void} woke called before, if this process did not run when the timer should have rung
   */
  constructor(ring, woke) {
    this.#ring = ring;
    this.#woke = woke;
  }

  /** Sets the deadline; null for none. */
  set(deadline) {
    this.#deadline = deadline;
    if (deadline === null) this.#cancel();
    else if (deadline < this.#scheduled) this.#schedule();
  }

  /** Rings now if that is overdue. Returns whether this process did not run for a while. */
  check() {
    const late = this.#late;
    if (late > 0) this.#fired();
    return late >= Alarm.ASLEEP;
  }

  get #late() { return Math.max(steadyNow() - this.#scheduled, Date.now() - this.#scheduledDate); }

  #schedule() {
    this.#cancel();
    const delay = clamp(this.#deadline - steadyNow(), 0, Alarm.LONGEST);
    [this.#scheduled, this.#scheduledDate] = [steadyNow() + delay, Date.now() + delay];
    this.#timer = setTimeout(() => this.#fired(), delay);
  }

  #cancel() {
    clearTimeout(this.#timer);
    this.#scheduled = this.#scheduledDate = Infinity;
  }

  #fired() {
    const late = this.#late;
    this.#cancel();
    if (late >= Alarm.ASLEEP) this.#woke(late);
    if (this.#deadline === null) return;
    if (steadyNow() < this.#deadline) return this.#scheduled === Infinity ? this.#schedule() : undefined;
    this.#deadline = null;
    this.#ring();
  }
}
