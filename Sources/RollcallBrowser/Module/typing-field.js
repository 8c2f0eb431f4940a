// When a person counts as typing in one input field, and when the worker must be told.

import { Alarm } from "./alarm.js";
import { InvalidTypingSettings } from "./errors.js";
import { SECOND } from "./units.js";

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

/**
 * The state of one input field, without timers or I/O. Each event returns the signal that the worker needs now:
 * `"typing"`, `"stopped"` or null.
 */
class TypingField {
  /** `empty`; `debouncing`, with text for less than the debounce; `typing`; or `paused`, with text but no edits. */
  #phase = "empty";
  #settings;
  #throttle;
  #filledAt = 0;
  #signalledAt = 0;
  #editedAt = 0;

  constructor(settings) {
    this.#settings = settings;
    this.#throttle = settings.throttle;
  }

  get isTyping() { return this.#phase === "typing"; }

  /** When to call `deadlinePassed`; null for never. */
  get deadline() {
    const { debounce, inactivity } = this.#settings;
    switch (this.#phase) {
      case "debouncing": return this.#filledAt + debounce;
      case "typing": return Math.min(this.#signalledAt + this.#throttle, this.#editedAt + inactivity);
      default: return null;
    }
  }

  /** @param {boolean} hasText whether the field contains anything but white space */
  edited(hasText, now) {
    if (!hasText) return this.ended();
    this.#editedAt = now;
    switch (this.#phase) {
      case "empty":
        this.#phase = "debouncing";
        this.#filledAt = now;
        return this.deadlinePassed(now);
      case "paused": return this.#signal(now);
      default: return this.deadlinePassed(now);
    }
  }

  /** The text was sent or deleted, the field was hidden, or the app went to the background. */
  ended() {
    const wasTyping = this.isTyping;
    this.#phase = "empty";
    return wasTyping ? "stopped" : null;
  }

  deadlinePassed(now) {
    if (this.deadline === null || now < this.deadline) return null;
    if (!this.isTyping || now < this.#editedAt + this.#settings.inactivity) return this.#signal(now);
    this.#phase = "paused";
    return "stopped";
  }

  /** A new connection has opened. Its worker does not know yet that the user types here. */
  connected(now) { return this.isTyping ? this.#signal(now) : null; }

  /** The worker ends typing `expiry` after the last signal, so a renewal must arrive a second before that. */
  expiryLearned(expiry) {
    this.#throttle = Math.min(this.#settings.throttle, Math.max(100, expiry - SECOND));
    return null;
  }

  #signal(now) {
    this.#phase = "typing";
    this.#signalledAt = now;
    return "typing";
  }
}

/**
 * A `TypingField` with its timer. A conversation may have several (two windows of an app): the user types there while
 * any of them is being typed in.
 */
export class InputField {
  #field;
  #signal;
  #alarm = new Alarm(() => this.#handle((field, now) => field.deadlinePassed(now)));

  /** @param signal called with `"typing"` or `"stopped"` */
  constructor(conversation, settings, expiry, signal) {
    this.conversation = conversation;
    this.#signal = signal;
    this.#field = new TypingField(settings);
    this.#field.expiryLearned(expiry);
  }

  get isTyping() { return this.#field.isTyping; }
  edited(hasText) { this.#handle((field, now) => field.edited(hasText, now)); }
  ended() { this.#handle((field) => field.ended()); }
  connected() { this.#handle((field, now) => field.connected(now)); }
  expiryLearned(expiry) { this.#handle((field) => field.expiryLearned(expiry)); }

  #handle(event) {
    const signal = event(this.#field, performance.now());
    this.#alarm.set(this.#field.deadline);
    if (signal) this.#signal(signal);
  }
}
