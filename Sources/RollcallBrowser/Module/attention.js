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
  /** The last that only a person makes. */
  #certainAt = -Infinity;
  /** Whether something may be in use now that reports no input: a frame of another site. */
  isInUse = () => false;

  /** For how long after an input events that a script may cause too, such as scrolling, count as input. */
  static LONGEST_USE = 30 * MINUTE;

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

  /** @param isCertain whether only a person makes such an input */
  inputHappened(now, isCertain = true) {
    if (isCertain) this.#certainAt = now;
    else if (now >= this.#certainAt + Attention.LONGEST_USE) return;
    this.#inputAt = now;
    this.#isIdle = false;
  }

  /** An edit counts as input if the app reports input. Otherwise it must not start the idle timer. */
  edited(now) { if (this.#inputAt !== null) this.inputHappened(now); }

  deadlinePassed(now) {
    if (this.deadline === null || now < this.deadline) return;
    if (this.isInUse()) this.inputHappened(now, false);
    if (now >= this.deadline) this.#isIdle = true;
  }
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

  /** Whether the answer to a ping is awaited, and whether because of a reason for doubt. */
  get isAwaiting() { return this.#askedAt !== null; }
  get isDoubted() { return this.isAwaiting && this.#doubtEnd < Infinity; }

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

  /** A ping is sent without a reason for doubt. */
  asks(now) { this.#ask(now, false); }

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

/** Whether the page is hidden. Browsers delay the timers of a hidden page, by up to a minute. */
export function isHidden() { return globalThis.document?.hidden === true; }

/**
 * A timer that a browser does not delay while the page is hidden: that of a dedicated worker. A page's policy may forbid
 * it (`worker-src`). Then it is not tried again, because browsers report each try.
 */
class PunctualTimer {
  static #CODE = "let timer; onmessage = ({ data }) => { clearTimeout(timer); timer = setTimeout(postMessage, data, null); };";
  static #isRefused = false;

  #ring;
  #thread = null;
  #url = null;
  #deadline = null;

  constructor(ring) { this.#ring = ring; }

  set(deadline) {
    if (deadline === this.#deadline || !this.#begin()) return;
    this.#deadline = deadline;
    // Its clock may differ by a millisecond.
    this.#thread.postMessage(Math.max(0, Math.ceil(deadline - steadyNow()) + 1));
  }

  #begin() {
    if (this.#thread) return true;
    const { Blob, URL, Worker } = globalThis;
    if (PunctualTimer.#isRefused || !Worker || !Blob || !URL?.createObjectURL) return false;
    try {
      this.#url = URL.createObjectURL(new Blob([PunctualTimer.#CODE], { type: "text/javascript" }));
      this.#thread = new Worker(this.#url);
    } catch {
      this.#refused();
      return false;
    }
    this.#thread.onmessage = () => {
      this.#deadline = null;
      this.#ring();
    };
    this.#thread.onerror = () => this.#refused();
    return true;
  }

  #refused() {
    PunctualTimer.#isRefused = true;
    this.end();
  }

  end() {
    if (this.#url !== null) URL.revokeObjectURL(this.#url);
    this.#thread?.terminate();
    this.#thread = this.#url = this.#deadline = null;
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
  #punctual = new PunctualTimer(() => this.#fired());
  #keepsProcess = true;

  /**
   * @param {() => void} ring
   * @param {(late: number) => void} woke called before, if the timer rings that much late
   */
  constructor(ring, woke) {
    this.#ring = ring;
    this.#woke = woke;
  }

  /**
   * Sets the deadline; null for none. `isUrgent`: it may not be late because the page is hidden. `keepsProcess`: whether
   * Node.js goes on until then.
   */
  set(deadline, { isUrgent = false, keepsProcess = true } = {}) {
    this.#deadline = deadline;
    this.#keepsProcess = keepsProcess;
    if (deadline === null) this.#cancel();
    else if (deadline < this.#scheduled) this.#schedule();
    this.#timer?.[keepsProcess ? "ref" : "unref"]?.();
    if (isUrgent && deadline !== null) this.#punctual.set(deadline);
    else this.#punctual.end();
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
    if (!this.#keepsProcess) this.#timer.unref?.();
  }

  #cancel() {
    clearTimeout(this.#timer);
    this.#timer = null;
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
