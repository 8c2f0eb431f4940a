// Other users: the presence of those who are observed, and of those who are asked for once.

import { steadyNow } from "./messages.js";
import { Batch, Observed, onAbort } from "./updates.js";

/**
 * The first observer of a user makes the client ask the worker, and the last one to end makes it give the user up. A
 * value without observers is kept as long as the worker still sends it: a new observer may come before that is told.
 */
export class People {
  #engine;
  #presences = new Map();
  /** Reads that are not complete: `{ awaited, found, deadline, end }`. They survive the end of a connection. */
  #reads = new Set();

  constructor(engine) { this.#engine = engine; }

  /** Whether a text says when somebody was last seen. */
  get hasLastSeen() {
    for (const { latest } of this.#presences.values()) if (latest?.status === "offline" && latest.lastSeen !== null) return true;
    return false;
  }
  get deadline() { return Math.min(...[...this.#reads].map(({ deadline }) => deadline)); }

  deadlinePassed(now) { for (const read of this.#reads) if (now >= read.deadline) read.end(); }

  close() {
    for (const read of this.#reads) read.end();
    this.forget();
    this.#presences.clear();
  }

  /** Nobody's presence is known any more, until it is received again. */
  forget() { for (const presence of this.#presences.values()) presence.forget(); }

  latest(user) { return this.#presences.get(user)?.latest; }

  latestOf(users) {
    const known = users.map((user) => [user, this.latest(user)]);
    return new Map(known.filter(([, presence]) => presence));
  }

  /**
   * Returns the function that ends the observation.
   *
   * @param {(user: string) => void} [forgotten] what was received of this user is no longer known
   */
  observe(users, receive, forgotten) {
    const observers = users.map((user) => [user, { receive, needsWatch: true, forgotten: () => forgotten?.(user) }]);
    for (const [user, observer] of observers) {
      this.#add(user, observer);
      this.#outbox.users.want(user);
    }
    return () => { for (const [user, observer] of observers) this.#remove(user, observer); };
  }

  /** The worker sends the presence of members without a watch. */
  observeMember(user, receive) {
    const observer = { receive };
    this.#add(user, observer);
    return () => this.#remove(user, observer);
  }

  /** Several users are one map: a snapshot of a thousand users is one value. */
  observeMany(users, receive) {
    const presences = new Map();
    const batch = new Batch(this.#engine, () => receive(new Map(presences)));
    const end = this.observe(users, (presence) => {
      presences.set(presence.user, presence);
      batch.changed();
    }, (user) => {
      presences.delete(user);
      batch.changed();
    });
    return () => {
      batch.end();
      end();
    };
  }

  get #outbox() { return this.#engine.outbox; }

  #add(user, observer) {
    const presence = this.#presences.get(user) ?? new Observed();
    this.#presences.set(user, presence);
    presence.add(observer);
    this.#engine.changed();
  }

  #remove(user, observer) {
    const presence = this.#presences.get(user);
    if (!presence) return;
    presence.remove(observer);
    if (!presence.needsWatch && this.#outbox.users.isWanted(user)) this.#outbox.users.unwant(user);
    this.tidy(user);
    this.#engine.changed();
  }

  /** Drops a user whom nobody observes and whom the worker no longer sends. */
  tidy(user) {
    if (this.#presences.get(user)?.isObserved || this.#outbox.users.asked(user) !== undefined) return;
    this.#presences.delete(user);
  }

  tidyAll() { for (const user of this.#presences.keys()) this.tidy(user); }

  received(presence) { this.#presences.get(presence.user)?.update(presence); }

  /** The worker's clock was set, so texts like "last seen" have changed. */
  repeat() { for (const presence of this.#presences.values()) presence.repeat(); }

  // Reads.

  /** Resolves with what is known once all users are, after `within` milliseconds, or when `signal` is aborted. */
  read(users, within, signal) {
    return new Promise((resolve) => {
      if (this.#engine.isClosed || users.length === 0 || signal?.aborted) return resolve(new Map());
      const forget = onAbort(signal, () => read.end());
      const read = {
        awaited: new Set(users), found: new Map(), deadline: steadyNow() + within,
        end: () => {
          if (!this.#reads.delete(read)) return;
          this.#outbox.getEnded([...read.awaited].filter((user) => !this.#isAwaited(user)));
          forget();
          resolve(read.found);
          this.#engine.changed();
        },
      };
      this.#reads.add(read);
      if (this.#engine.connection.isOpen) this.#ask(read);
      this.#engine.changed();
    });
  }

  #isAwaited(user) { return [...this.#reads].some(({ awaited }) => awaited.has(user)); }

  #ask({ awaited }) { for (const user of awaited) this.#outbox.gets.add(user); }

  connectionOpened() { for (const read of this.#reads) this.#ask(read); }

  /** The answer to a read. */
  readReceived(presences) {
    for (const read of this.#reads) {
      for (const presence of presences) {
        if (read.awaited.delete(presence.user)) read.found.set(presence.user, presence);
      }
      if (read.awaited.size === 0) read.end();
    }
  }

  /** The worker does not answer for these users. */
  readRefused(users) {
    for (const read of this.#reads) if (users.some((user) => read.awaited.has(user))) read.end();
  }
}
