// Presence that an app asks for once, without observing it.

import { Alarm } from "./alarm.js";
import { onAbort } from "./updates.js";

/** The fetches that are not complete: `{ awaited, found, done }`. They survive the end of a connection. */
export class PresenceFetches {
  #sender;
  #fetches = new Set();

  constructor(sender) { this.#sender = sender; }

  /** Resolves with what is known once all users are, after `within` milliseconds, or when `signal` is aborted. */
  fetch(users, within, signal) {
    return new Promise((resolve) => {
      if (this.#sender.isClosed || users.length === 0 || signal?.aborted) return resolve(new Map());
      const end = () => this.end(fetch);
      const alarm = new Alarm(end);
      const forget = onAbort(signal, end);
      const fetch = { awaited: new Set(users), found: new Map(), done: (found) => {
        alarm.set(null);
        forget();
        resolve(found);
      } };
      alarm.set(performance.now() + within);
      this.#fetches.add(fetch);
      if (!this.#sender.isOpen) return;
      this.#request(fetch);
      this.#sender.changed();
    });
  }

  #request(fetch) { this.#sender.outbox.fetchRequested(fetch, [...fetch.awaited]); }

  connectionOpened() { for (const fetch of this.#fetches) this.#request(fetch); }

  /** Presence arrived in answer to the message with this id. */
  received(id, presences) {
    this.#sender.outbox.getAnswered(id);
    const fetch = this.#sender.outbox.fetchOf(id);
    if (fetch) this.#found(fetch, presences);
    this.#sender.changed();
  }

  #found(fetch, presences) {
    for (const presence of presences) {
      if (fetch.awaited.delete(presence.user)) fetch.found.set(presence.user, presence);
    }
    if (fetch.awaited.size === 0) this.end(fetch);
  }

  end(fetch) {
    if (!this.#fetches.delete(fetch)) return;
    this.#sender.outbox.fetchEnded(fetch);
    fetch.done(fetch.found);
  }

  close() { for (const fetch of this.#fetches) this.end(fetch); }
}
