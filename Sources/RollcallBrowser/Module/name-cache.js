// The app's names for people, from its `names` callback. The Swift client has `NameBook` for this.

import { Alarm } from "./alarm.js";
import { Backoff } from "./backoff.js";
import { MINUTE, SECOND } from "./units.js";

/**
 * Asks the app once for each name, and remembers the answer. Names that are on show are never dropped, so that no number
 * of them makes the cache ask for the same names again and again.
 */
export class NameCache {
  /** With more names than this, the cache drops those that are not on show and asks for them again when needed. */
  static CAPACITY = 4096;
  /** How many answers are awaited at once. The next call is made after an answer or a timeout. */
  static CONCURRENCY = 8;
  /** How long names that arrive one by one are collected, because each report costs as much as all that is on show. */
  static COLLECTION_TIME = 100;
  /** The limits of the first pause and of every pause before the app is asked again for a name that it failed to give. */
  static FIRST_PAUSE = SECOND;
  static LONGEST_PAUSE = 5 * MINUTE;

  #resolve;
  #timeout;
  #namesChanged;
  #shownUsers;
  /** How many names the cache may contain before it drops those that are not on show. */
  #capacity = NameCache.CAPACITY;
  #names = new Map();
  /** Users for whom the app threw or took too long: `{ backoff, retryAt }`; null: ask again once the user is shown. */
  #failed = new Map();
  #queue = new Set();
  /** The calls without an answer, the oldest first: `{ until }`, when the answer takes too long. */
  #pending = new Map();
  /** Users to report: their name has arrived, or the app may be asked for it again. */
  #changed = new Set();
  #reportedAt = -Infinity;
  #reportAlarm = new Alarm(() => this.#report());
  #retryAt = Infinity;
  #retryAlarm = new Alarm(() => this.#retry());
  #timeoutAlarm = new Alarm(() => this.#endLate());

  /**
   * @param resolve the app's callback, if it has one
   * @param timeout how long an answer may take before the next call is made in its place
   * @param namesChanged called with the set of users to show again
   * @param shownUsers returns the set of users who are on show
   */
  constructor(resolve, timeout, namesChanged, shownUsers) {
    this.#resolve = resolve;
    this.#timeout = timeout;
    this.#namesChanged = namesChanged;
    this.#shownUsers = shownUsers;
  }

  /** Returns the app's name if it is known. If it is not, `namesChanged` is called once it is. */
  name(user) {
    const isAnswered = this.#names.has(user) || (this.#failed.get(user)?.retryAt ?? null) !== null;
    if (this.#resolve && !isAnswered && !this.#pending.has(user)) {
      this.#queue.add(user);
      this.#askNext();
    }
    return this.#names.get(user);
  }

  /** The app is no longer asked. */
  close() {
    this.#resolve = null;
    this.#queue.clear();
    this.#pending.clear();
    for (const alarm of [this.#reportAlarm, this.#retryAlarm, this.#timeoutAlarm]) alarm.set(null);
  }

  #askNext() {
    while (this.#queue.size > 0 && this.#pending.size < NameCache.CONCURRENCY) {
      const [user] = this.#queue;
      this.#queue.delete(user);
      this.#ask(user);
    }
    const [oldest] = this.#pending.values();
    this.#timeoutAlarm.set(oldest?.until ?? null);
  }

  /** A name that the app returns without a promise is shown at once. */
  #ask(user) {
    try {
      const answer = this.#resolve(user);
      if (typeof answer?.then !== "function") return this.#answered(user, answer);
      const call = { until: performance.now() + this.#timeout };
      this.#pending.set(user, call);
      // A name counts however late it arrives. A late failure does not: it was recorded when the answer took too long.
      const failed = (error) => { if (this.#pending.get(user) === call) this.#failedFor(user, error); };
      answer.then((name) => this.#answered(user, name), failed).then(() => this.#askNext());
    } catch (error) {
      this.#failedFor(user, error);
    }
  }

  /** Calls that take too long make room for the next ones. */
  #endLate() {
    for (const [user, { until }] of this.#pending) {
      if (until > performance.now()) break;
      this.#failedFor(user, new Error("the names callback did not answer in time"));
    }
    this.#askNext();
  }

  #answered(user, name) {
    this.#pending.delete(user);
    this.#failed.delete(user);
    this.#names.set(user, name ?? undefined);
    this.#dropHidden();
    this.#reportSoon(user);
  }

  /** Reports what the app throws as an error of the page. */
  #failedFor(user, error) {
    reportError(error);
    this.#pending.delete(user);
    const { backoff } = this.#failed.get(user)
      ?? { backoff: new Backoff(NameCache.FIRST_PAUSE, NameCache.LONGEST_PAUSE) };
    const retryAt = performance.now() + backoff.failed();
    this.#failed.set(user, { backoff, retryAt });
    this.#dropHidden();
    this.#retryBy(retryAt);
  }

  /** Drops users who are not on show. The capacity is then twice what is left, so that this costs little per name. */
  #dropHidden() {
    if (this.#count <= this.#capacity) return;
    const shown = this.#shownUsers();
    for (const users of [this.#names, this.#failed, this.#queue]) {
      for (const user of users.keys()) if (!shown.has(user)) users.delete(user);
    }
    this.#capacity = Math.max(NameCache.CAPACITY, 2 * this.#count);
  }

  get #count() { return this.#names.size + this.#failed.size + this.#queue.size; }

  #reportSoon(user) {
    if (!this.#resolve) return;
    this.#changed.add(user);
    this.#reportAlarm.set(Math.max(performance.now(), this.#reportedAt + NameCache.COLLECTION_TIME));
  }

  #report() {
    this.#reportedAt = performance.now();
    const changed = this.#changed;
    this.#changed = new Set();
    this.#namesChanged(changed);
  }

  /** Retries at most once a second, however many users are due. */
  #retryBy(time) {
    if (!this.#resolve) return;
    this.#retryAt = Math.min(this.#retryAt, Math.max(time, performance.now() + SECOND));
    if (this.#retryAt < Infinity) this.#retryAlarm.set(this.#retryAt);
  }

  /** The app is asked again for a user when the user is shown again. For users who are on show, that is now. */
  #retry() {
    let next = Infinity;
    for (const [user, failure] of this.#failed) {
      if (failure.retryAt === null) continue;
      if (failure.retryAt > performance.now()) {
        next = Math.min(next, failure.retryAt);
        continue;
      }
      failure.retryAt = null;
      this.#reportSoon(user);
    }
    this.#retryAt = Infinity;
    this.#retryBy(next);
  }
}
