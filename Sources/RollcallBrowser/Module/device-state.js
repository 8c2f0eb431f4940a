// Whether this device is active, idle or in the background, from the app's phase and the user's input.
// The Swift client has `Attention` for this.

export class DeviceState {
  #idleAfter;
  #inBackground = false;
  /** Set by the app or by a passed deadline, until the app's phase changes or input happens. */
  #isIdle = false;
  /** The last input; null until the app reports one. An app that never reports input never becomes idle by itself. */
  #inputAt = null;

  constructor(idleAfter) { this.#idleAfter = idleAfter; }

  get state() {
    if (this.#inBackground) return "background";
    return this.#isIdle ? "idle" : "active";
  }

  /** When to call `deadlinePassed`; null for never. */
  get deadline() {
    if (this.state !== "active" || this.#idleAfter === null || this.#inputAt === null) return null;
    return this.#inputAt + this.#idleAfter;
  }

  phaseChanged(phase, now) {
    if (phase === "active") this.stateSet("active", now);
    if (phase === "background") this.#inBackground = true;
  }

  stateSet(state, now) {
    this.#inBackground = state === "background";
    this.#isIdle = state === "idle";
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
