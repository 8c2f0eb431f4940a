// The user's own typing: when a person counts as typing in an input field, and the field as an app holds it.

import { InvalidTypingSettings, SECOND, TYPING_KINDS } from "./messages.js";
import { DISPOSE, onAbort } from "./updates.js";

/** Returns the app's settings with defaults. They are checked together because each limits the others. */
export function checkedTypingSettings({
  debounce = 300, throttle = SECOND, inactivity = 3 * SECOND, expiry = 3 * SECOND,
} = {}) {
  const problems = [];
  if (!(debounce >= 0)) problems.push("debounce is negative");
  if (!(throttle > 0)) problems.push("throttle is not positive");
  if (!(inactivity > debounce)) problems.push("inactivity is not longer than debounce");
  if (!(throttle <= expiry - SECOND)) {
    problems.push("throttle is longer than expiry less 1 s: a renewal could come too late");
  }
  if (problems.length) throw new InvalidTypingSettings(problems);
  return { debounce, throttle, inactivity };
}

/** The state of one input field. Each event returns the signal that the worker needs now: whether the user types, or null. */
export class TypingField {
  /** `empty`; `debouncing`, with text for less than the debounce; `typing`; or `paused`, with text but no edits. */
  #phase = "empty";
  #settings;
  #throttle;
  #filledAt = 0;
  #signalledAt = 0;
  editedAt = 0;
  /** What its user does, as the last edit said. */
  kind = "typing";

  constructor(conversation, settings) {
    this.conversation = conversation;
    this.#settings = settings;
    this.#throttle = settings.throttle;
  }

  get isTyping() { return this.#phase === "typing"; }

  /** When to call `deadlinePassed`; Infinity for never. */
  get deadline() {
    const { debounce, inactivity } = this.#settings;
    switch (this.#phase) {
      case "debouncing": return this.#filledAt + debounce;
      case "typing": return Math.min(this.#signalledAt + this.#throttle, this.editedAt + inactivity);
      default: return Infinity;
    }
  }

  /** @param {boolean} hasText whether the field contains anything but white space */
  edited(hasText, kind, now) {
    if (!hasText) return this.ended();
    const isOtherKind = kind !== this.kind;
    [this.editedAt, this.kind] = [now, kind];
    if (this.#phase === "paused" || this.isTyping && isOtherKind) return this.#signal(now);
    if (this.#phase === "empty") [this.#phase, this.#filledAt] = ["debouncing", now];
    return this.deadlinePassed(now);
  }

  /** The text was sent or deleted, the field was hidden, or the app went to the background. */
  ended() {
    const wasTyping = this.isTyping;
    this.#phase = "empty";
    return wasTyping ? false : null;
  }

  deadlinePassed(now) {
    if (now < this.deadline) return null;
    if (!this.isTyping || now < this.editedAt + this.#settings.inactivity) return this.#signal(now);
    this.#phase = "paused";
    return false;
  }

  /** A new connection has opened. Its worker does not know yet that the user types here. */
  connected(now) { return this.isTyping ? this.#signal(now) : null; }

  /** The worker ends typing `expiry` after the last signal, so a renewal must arrive a second before that. */
  expiryLearned(expiry) { this.#throttle = Math.min(this.#settings.throttle, Math.max(100, expiry - SECOND)); }

  #signal(now) {
    this.#phase = "typing";
    this.#signalledAt = now;
    return true;
  }
}

function isVisible(text) {
  if (typeof text !== "string") throw new TypeError(`the text of a field is a string, not ${text}`);
  return /[^\p{White_Space}\p{Default_Ignorable_Code_Point}]/u.test(text);
}

export class TypingInput {
  /** Ends the typing of inputs that an app dropped without a call, where the runtime notices that. */
  static #dropped;

  #engine;
  #field;
  /** Listens to the app's signal while the field is shown: `{ signal, end, forget }`, which does not hold this input. */
  #life;

  /** @internal */
  constructor(conversation, engine, settings, signal) {
    this.conversation = conversation;
    this.#engine = engine;
    const field = new TypingField(conversation, settings);
    this.#field = field;
    const life = { signal, forget: null, end() {
      life.forget?.();
      life.forget = null;
      engine.fieldDisappeared(field);
    } };
    this.#life = life;
    if (signal?.aborted) return;
    this.appeared();
    if (!globalThis.FinalizationRegistry) return;
    TypingInput.#dropped ??= new FinalizationRegistry((end) => end());
    TypingInput.#dropped.register(this, life.end);
  }

  get [Symbol.toStringTag]() { return "TypingInput"; }

  /** @param {string} text */
  edited(text) { this.#engine.fieldEdited(this.#field, isVisible(text), "typing"); }

  /** @param {string} text */
  restored(text) { if (!isVisible(text)) this.send(); }

  keepTyping(kind = "typing") {
    if (!TYPING_KINDS.includes(kind)) throw new TypeError(`a kind is one of ${TYPING_KINDS.join(", ")}, not ${kind}`);
    this.#engine.fieldEdited(this.#field, true, kind);
  }

  stopTyping() { this.#engine.fieldEdited(this.#field, false, "typing"); }

  send() { this.#engine.fieldEnded(this.#field); }

  sendConfirmed({ within = 2 * SECOND } = {}) { return this.#engine.fieldEndedConfirmed(this.#field, within); }

  appeared() {
    if (!this.#engine.isClosed) this.#life.forget ??= onAbort(this.#life.signal, this.#life.end);
    this.#engine.fieldAppeared(this.#field);
  }

  disappeared() { this.#life.end(); }

  [DISPOSE]() { this.disappeared(); }
}
