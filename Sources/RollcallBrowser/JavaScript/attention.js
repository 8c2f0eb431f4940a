/** What this device says of itself, from the app's phase and the person's input. */
export class Attention {
  #idleAfter;
  #inBackground = false;
  /** Set outright by the app, until its phase changes or input happens. */
  #isIdle = false;
  /** The last input; null until the app reports any, since an app that reports none says nothing by silence. */
  #lastInput = null;

  constructor(idleAfter) { this.#idleAfter = idleAfter; }

  get state() {
    if (this.#inBackground) return "background";
    return this.#isIdle ? "idle" : "active";
  }

  get deadline() {
    if (this.state !== "active" || this.#idleAfter === null || this.#lastInput === null) return null;
    return this.#lastInput + this.#idleAfter;
  }

  phaseChanged(phase, now) {
    if (phase === "active") this.stateSet("active", now);
    if (phase === "background") this.#inBackground = true;
  }

  stateSet(state, now) {
    this.#inBackground = state === "background";
    this.#isIdle = state === "idle";
    if (this.#lastInput !== null) this.#lastInput = now;
  }

  inputHappened(now) {
    this.#lastInput = now;
    this.#isIdle = false;
  }

  /** An edit is input too, for an app that reports input; for another it must not start the count. */
  edited(now) { if (this.#lastInput !== null) this.inputHappened(now); }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#isIdle = true; }
}
