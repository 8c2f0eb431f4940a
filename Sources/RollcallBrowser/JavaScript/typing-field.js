import { Alarm } from "./alarm.js";
import { InvalidTypingSettings } from "./errors.js";
import { SECOND } from "./units.js";

/** Settings checked together, since each limits the others. */
export function typingSettings({ debounce = 300, throttle = SECOND, inactivity = 3 * SECOND, expiry = 3 * SECOND } = {}) {
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
 * One input field, and whether its person is typing. Each event returns what the worker should hear now: `"typing"`,
 * `"stopped"` or null.
 */
class TypingField {
  /** `empty`, `filling` (not for long enough yet), `typing`, or `paused`: text that nobody touches any more. */
  #phase = "empty";
  #settings;
  #throttle;
  #filled = 0;
  #signalled = 0;
  #edited = 0;

  constructor(settings) {
    this.#settings = settings;
    this.#throttle = settings.throttle;
  }

  get isTyping() { return this.#phase === "typing"; }

  /** When to call `deadlinePassed`; null for never. */
  get deadline() {
    const { debounce, inactivity } = this.#settings;
    switch (this.#phase) {
      case "filling": return this.#filled + debounce;
      case "typing": return Math.min(this.#signalled + this.#throttle, this.#edited + inactivity);
      default: return null;
    }
  }

  /** @param {boolean} filled whether the field holds anything but white space */
  edited(filled, now) {
    if (!filled) return this.ended();
    this.#edited = now;
    switch (this.#phase) {
      case "empty":
        this.#phase = "filling";
        this.#filled = now;
        return this.deadlinePassed(now);
      case "paused": return this.#signal(now);
      default: return this.deadlinePassed(now);
    }
  }

  /** The text was sent or deleted, the field left the view or the app the foreground. */
  ended() {
    const wasTyping = this.isTyping;
    this.#phase = "empty";
    return wasTyping ? "stopped" : null;
  }

  deadlinePassed(now) {
    if (this.deadline === null || now < this.deadline) return null;
    if (!this.isTyping || now < this.#edited + this.#settings.inactivity) return this.#signal(now);
    this.#phase = "paused";
    return "stopped";
  }

  /** A new connection: its worker has heard nothing of this field yet. */
  connected(now) { return this.isTyping ? this.#signal(now) : null; }

  /** The worker ends typing `expiry` after the last signal; one renewal must fit in with a second to spare. */
  expiryLearnt(expiry) {
    this.#throttle = Math.min(this.#settings.throttle, Math.max(100, expiry - SECOND));
    return null;
  }

  #signal(now) {
    this.#phase = "typing";
    this.#signalled = now;
    return "typing";
  }
}

/**
 * One typing input and what becomes of its signals. Several may stand in one conversation (two windows of an app): the
 * user types there while any of them does.
 */
export class InputField {
  #field;
  #signal;
  #alarm = new Alarm(() => this.#decide((field, now) => field.deadlinePassed(now)));

  constructor(conversation, settings, expiry, signal) {
    this.conversation = conversation;
    this.#signal = signal;
    this.#field = new TypingField(settings);
    this.#field.expiryLearnt(expiry);
  }

  get isTyping() { return this.#field.isTyping; }
  edited(filled) { this.#decide((field, now) => field.edited(filled, now)); }
  ended() { this.#decide((field) => field.ended()); }
  connected() { this.#decide((field, now) => field.connected(now)); }
  expiryLearnt(expiry) { this.#decide((field) => field.expiryLearnt(expiry)); }

  #decide(event) {
    const decided = event(this.#field, performance.now());
    this.#alarm.set(this.#field.deadline);
    if (decided) this.#signal(decided);
  }
}
