// The app's names for people, from its `names` callback.

import { MINUTE, reportAppError, SECOND } from "./messages.js";

/** Asks the app once for each user who is shown, and shows the answer whenever it comes. */
export class Names {
  /** With more names than this, those that are not on show are dropped, and asked for again when needed. */
  static MOST = 4096;
  /** How long after a failure the app is asked again; twice as long after each further one, up to the second. */
  static PAUSES = [2 * SECOND, MINUTE];

  #resolve;
  #arrived;
  #shown;
  #later;
  /** How often in a row the app has failed for each user. */
  #failures = new Map();
  /** The answers; undefined for a user whom the app does not know, or not yet. */
  #names = new Map();
  /** The newest promise for each user that has not settled. What older ones bring is ignored. */
  #asked = new Map();
  #most = Names.MOST;

  /**
   * @param resolve the app's callback, if it has one
   * @param arrived called with a user for whom the app has answered
   * @param shown returns the users who are on show
   * @param later calls a function after a time
   */
  constructor(resolve, arrived, shown, later) {
    this.#later = later;
    this.#resolve = resolve;
    this.#arrived = arrived;
    this.#shown = shown;
  }

  /** Returns the app's name if it is known. */
  name(user) {
    if (this.#resolve && !this.#names.has(user)) this.#ask(user);
    return this.#names.get(user);
  }

  isAsked(user) { return this.#asked.has(user); }

  /** Asks again for the users who are on show, whose names stay until the answer. All others are asked for when needed. */
  changed() {
    const shown = this.#shown();
    for (const user of [...this.#names.keys()]) {
      if (!shown.has(user)) this.#names.delete(user);
      else if (this.#resolve) {
        this.#ask(user);
        this.#arrived(user);
      }
    }
  }

  /** The app is no longer asked. */
  close() {
    this.#resolve = null;
    this.#failures.clear();
  }

  /** A name that the app returns without a promise is shown at once. What it throws is an error of the page. */
  #ask(user) {
    if (this.#names.size >= this.#most) this.#dropHidden();
    if (!this.#names.has(user)) this.#names.set(user, undefined);
    try {
      const answer = this.#resolve(user);
      if (typeof answer?.then !== "function") {
        this.#asked.delete(user);
        this.#failures.delete(user);
        return void this.#names.set(user, answer ?? undefined);
      }
      this.#asked.set(user, answer);
      answer.then((name) => {
        if (this.#asked.get(user) === answer) this.#failures.delete(user);
        this.#answered(user, name, answer);
      }, (error) => {
        if (this.#asked.get(user) === answer) this.#failed(user);
        this.#answered(user, this.#names.get(user), answer);
        reportAppError(error);
      });
    } catch (error) {
      this.#failed(user);
      reportAppError(error);
    }
  }

  /** The app could not say. It is asked again in a while, if the user is still on show; otherwise when needed. */
  #failed(user) {
    const failures = this.#failures.get(user) ?? 0;
    this.#failures.set(user, failures + 1);
    this.#later(Math.min(Names.PAUSES[0] * 2 ** Math.min(failures, 10), Names.PAUSES[1]), () => {
      if (!this.#failures.has(user) || this.#asked.has(user)) return;
      if (this.#resolve && this.#shown().has(user)) {
        this.#ask(user);
        // An answer without a promise.
        if (!this.#asked.has(user)) this.#arrived(user);
      } else for (const each of [this.#names, this.#failures]) each.delete(user);
    });
  }

  #answered(user, name, question) {
    if (this.#asked.get(user) !== question) return;
    this.#asked.delete(user);
    this.#names.set(user, name ?? undefined);
    this.#arrived(user);
  }

  /** The most is then twice what is left, so that this costs little per name. */
  #dropHidden() {
    const shown = this.#shown();
    for (const user of this.#names.keys()) if (!shown.has(user)) this.#names.delete(user);
    this.#most = Math.max(Names.MOST, 2 * this.#names.size);
  }
}
