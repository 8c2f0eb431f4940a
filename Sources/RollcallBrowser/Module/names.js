// The app's names for people, from its `names` callback.

import { reportAppError } from "./messages.js";

/** Asks the app once for each user who is shown, and shows the answer whenever it comes. */
export class Names {
  /** With more names than this, those that are not on show are dropped, and asked for again when needed. */
  static MOST = 4096;

  #resolve;
  #arrived;
  #shown;
  /** The answers; undefined for a user whom the app does not know, or not yet. */
  #names = new Map();
  #most = Names.MOST;

  /**
   * @param resolve the app's callback, if it has one
   * @param arrived called with a user whose name has come
   * @param shown returns the users who are on show
   */
  constructor(resolve, arrived, shown) {
    this.#resolve = resolve;
    this.#arrived = arrived;
    this.#shown = shown;
  }

  /** Returns the app's name if it is known. */
  name(user) {
    if (this.#resolve && !this.#names.has(user)) this.#ask(user);
    return this.#names.get(user);
  }

  /** Forgets the users whom the app did not know, and returns them: they are asked for when they are shown again. */
  changed() {
    const unknown = [...this.#names].filter(([, name]) => name === undefined).map(([user]) => user);
    for (const user of unknown) this.#names.delete(user);
    return unknown;
  }

  /** The app is no longer asked. */
  close() { this.#resolve = null; }

  /** A name that the app returns without a promise is shown at once. What it throws is an error of the page. */
  #ask(user) {
    if (this.#names.size >= this.#most) this.#dropHidden();
    this.#names.set(user, undefined);
    try {
      const answer = this.#resolve(user);
      if (typeof answer?.then !== "function") return void this.#names.set(user, answer ?? undefined);
      answer.then((name) => {
        this.#names.set(user, name ?? undefined);
        if (name !== null && name !== undefined) this.#arrived(user);
      }).catch(reportAppError);
    } catch (error) {
      reportAppError(error);
    }
  }

  /** The most is then twice what is left, so that this costs little per name. */
  #dropHidden() {
    const shown = this.#shown();
    for (const user of this.#names.keys()) if (!shown.has(user)) this.#names.delete(user);
    this.#most = Math.max(Names.MOST, 2 * this.#names.size);
  }
}
