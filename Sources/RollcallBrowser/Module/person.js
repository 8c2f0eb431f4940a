// What the client's own user has decided that others see: as the worker told it last, and what the app has set since.

import { isObject, steadyNow } from "./messages.js";
import { Observed } from "./updates.js";

/** The settings, by their names in messages. */
const SETTINGS = {
  presence: "presence", lastSeen: "last_seen", availability: "availability", text: "text", emoji: "emoji", until: "until", for: "for",
};

/** What the app has set: what is to be sent, and what was sent and is not answered. */
export class PersonChanges {
  due = null;
  sent = null;
  /** Whether it was refused for now. */
  #waits = false;

  /** After what was set before. Of an end and a duration, the later counts. */
  set(change) {
    this.due = { ...this.due, ...change };
    if (change.for !== undefined) delete this.due.until;
    else if (change.until !== undefined) delete this.due.for;
  }

  /** The message to send. */
  get next() { return this.due && !this.sent && !this.#waits ? { ...this.due, type: "person", id: undefined } : null; }
  taken() { [this.due, this.sent] = [null, this.due]; }

  /** What was sent is sent again, with what was set since. */
  unanswered() {
    const [sent, due] = [this.sent, this.due];
    [this.due, this.sent, this.#waits] = [sent ?? due, null, false];
    if (sent && due) this.set(due);
  }

  /** Returns the function with which it may be sent again. */
  refused() {
    this.unanswered();
    this.#waits = true;
    return () => { this.#waits = false; };
  }
}

export class OwnPerson {
  shown = new Observed({});
  #engine;
  #told = {};
  #ends = Infinity;

  constructor(engine) { this.#engine = engine; }

  received(settings) {
    this.#told = settings;
    this.changed();
  }

  /** @param {import("./rollcall.js").PersonChange} change */
  set(change) {
    const unknown = isObject(change) ? Object.keys(change).find((key) => !Object.hasOwn(SETTINGS, key)) : "";
    if (unknown !== undefined) throw new TypeError(`setPerson takes an object of ${Object.keys(SETTINGS).join(", ")}: not ${unknown || change}`);
    const given = Object.entries(/** @type {Record<string, any>} */ (change)).filter(([, value]) => value !== undefined);
    if (given.length === 0 || this.#engine.isClosed) return;
    this.#engine.outbox.person.set(Object.fromEntries(given.map(([key, value]) => [SETTINGS[key], value instanceof Date ? value.getTime() : value])));
    this.changed();
    this.#engine.changed();
  }

  /** The next user has not set it. */
  emptied() {
    const { outbox } = this.#engine;
    this.#told = {};
    outbox.person.due = outbox.person.sent = null;
    this.changed();
  }

  /** Something was told, set or answered, or has ended. */
  changed() {
    const { outbox, now } = this.#engine;
    const set = { ...outbox.person.sent, ...outbox.person.due };
    /** @type {any} */
    const shown = { ...this.#told };
    for (const [key, name] of Object.entries(SETTINGS)) {
      if (key !== "for" && set[name] === null) delete shown[key];
      else if (key !== "for" && set[name] !== undefined) shown[key] = set[name];
    }
    if (shown.until <= now) for (const key of ["availability", "text", "emoji", "until"]) delete shown[key];
    this.shown.update(shown);
    const ends = shown.until ?? Infinity;
    if (ends === this.#ends) return;
    this.#ends = ends;
    // A client that closes calls what is due later, too.
    if (ends < Infinity && !this.#engine.isClosed) this.#engine.callAt(steadyNow() + ends - now, () => {
      if (this.#ends !== ends) return;
      this.#ends = Infinity;
      this.changed();
    });
  }
}
