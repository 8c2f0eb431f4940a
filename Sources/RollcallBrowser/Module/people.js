// Other users: the presence of those who are observed, and of those who are asked for once.

import { RollcallError, steadyNow } from "./messages.js";
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
  /** Whether somebody is observed, or can be seen, who could not before; and whether the app was told of one whom no rule covers. */
  #isRuleDue = false;
  #toldNotShared = false;

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
   * @param {string[]} [conversations] those that may share these users with this session
   */
  observe(users, receive, forgotten, conversations = []) {
    const shares = conversations.map((conversation) => this.#engine.rooms.share(conversation));
    const observers = users.map((user) => [user, { receive, needsWatch: true, forgotten: () => forgotten?.(user) }]);
    for (const [user, observer] of observers) {
      this.#add(user, observer);
      // Whether they are to be shared, the first welcome says, and then they are asked for after what shares them.
      if (conversations.length === 0 || this.#engine.right) this.#outbox.users.want(user);
    }
    this.ruleChanged();
    return () => {
      for (const [user, observer] of observers) this.#remove(user, observer);
      for (const end of shares) end();
    };
  }

  /** The first welcome has told which rule holds. */
  ruleLearned() {
    for (const [user, { needsWatch }] of this.#presences) if (needsWatch) this.#outbox.users.want(user);
    for (const read of this.#reads) if (read.unshare) this.#ask(read);
  }

  /** Whom this session may see may have changed, or whom the app wants to see. */
  ruleChanged() {
    this.#isRuleDue = true;
    this.#engine.changed();
  }

  /** Tells the app, once, that it observes somebody whom no rule lets it see. */
  checkRule() {
    const { right, rooms, connection, ownUser } = this.#engine;
    if (!this.#isRuleDue || this.#toldNotShared || !connection.isOpen || !right || right.includes("*")) return;
    this.#isRuleDue = false;
    for (const [user, { needsWatch }] of this.#presences) {
      if (!needsWatch || user === ownUser || covers(right, user) || [...rooms].some((room) => !room.sharesNot(user))) continue;
      this.#toldNotShared = true;
      return this.#engine.report(new RollcallError(
        "not_shared", `this session may not see ${user}, who looks as if never seen: name a conversation of both (in), `
        + "or let the token's claim watch or access.watch name them"));
    }
  }

  /** The worker sends the presence of members without a watch. */
  observeMember(user, receive) {
    const observer = { receive };
    this.#add(user, observer);
    return () => this.#remove(user, observer);
  }

  /** Several users are one map: a snapshot of a thousand users is one value. */
  observeMany(users, receive, conversations = []) {
    const presences = new Map();
    const batch = new Batch(this.#engine, () => receive(new Map(presences)));
    const end = this.observe(users, (presence) => {
      presences.set(presence.user, presence);
      batch.changed();
    }, (user) => {
      presences.delete(user);
      batch.changed();
    }, conversations);
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
  read(users, within, signal, conversation = undefined) {
    return new Promise((resolve) => {
      if (this.#engine.isClosed || users.length === 0 || signal?.aborted) return resolve(new Map());
      const forget = onAbort(signal, () => read.end());
      const read = {
        awaited: new Set(users), found: new Map(), deadline: steadyNow() + within,
        unshare: conversation === undefined ? null : this.#engine.rooms.share(conversation),
        end: () => {
          if (!this.#reads.delete(read)) return;
          read.unshare?.();
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

  #ask({ awaited, unshare }) {
    if (!unshare || this.#engine.right) for (const user of awaited) this.#outbox.gets.add(user);
  }

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

/** Whether a right by name covers a user: names, and patterns that end with `*`. */
function covers(right, user) {
  return right.some((entry) => entry.endsWith("*") ? user.startsWith(entry.slice(0, -1)) : user === entry);
}
