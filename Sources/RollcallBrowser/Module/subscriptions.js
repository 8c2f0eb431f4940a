// What a client wants from its worker by name (users to watch, conversations to join), and what it has requested.
// The Swift client has `Wanted` for this.

/**
 * The difference between the names that are wanted and those that were requested on this connection. Sending the
 * difference brings a connection up to date, also a new one, on which nothing was requested yet.
 *
 * Messages are numbered in the order in which they are sent. Their answers may arrive in any order, so a refusal counts
 * only for names that were not given up, and requested again, after the refused message.
 */
export class Subscriptions {
  #wanted = new Set();
  /**
   * The names that were requested and not given up since: the number of the first message that requested each, and how
   * many messages that requested it were not refused. The worker serves a name unless it refuses all of them.
   */
  #requested = new Map();
  /** Wanted, and to be requested. */
  #missing = new Set();
  /** No longer wanted, and to be given up. */
  #surplus = new Set();
  /** Refused for now: not requested before `retry`, even if they are removed and added again before that. */
  #delayed = new Set();
  /** The worker refused for now to give these up. It may serve them even if it refuses to serve them anew. */
  #lingering = new Set();

  get requestedCount() { return this.#requested.size; }
  get hasMissing() { return this.#missing.size > 0; }
  get hasSurplus() { return this.#surplus.size > 0; }
  isWanted(name) { return this.#wanted.has(name); }
  isRequested(name) { return this.#requested.has(name); }
  isMissing(name) { return this.#missing.has(name); }
  /** Whether a name is missing or surplus for which `isReady` is true. */
  isDue(isReady) { return [...this.#missing, ...this.#surplus].some(isReady); }

  add(name) {
    this.#wanted.add(name);
    this.#surplus.delete(name);
    if (!this.#requested.has(name) && !this.#delayed.has(name)) this.#missing.add(name);
  }

  remove(name) {
    this.#wanted.delete(name);
    this.#missing.delete(name);
    const isLingering = this.#lingering.has(name) && !this.#delayed.has(name);
    if (this.#requested.has(name) || isLingering) this.#surplus.add(name);
  }

  /** The worker does not serve the name. It is not requested again before the next connection or `add`. */
  refused(name) {
    for (const names of [this.#requested, this.#surplus, this.#delayed, this.#lingering]) names.delete(name);
  }

  /** Whether a refusal of this message still concerns the name: it was not given up and requested again since. */
  isRefused(name, message) { return this.#requested.get(name)?.first <= message; }

  /** The worker refused for now to serve the names that this message requested. */
  refusedForNow(names, message) {
    for (const name of names) {
      if (!this.isRefused(name, message) || --this.#requested.get(name).count > 0) continue;
      this.#requested.delete(name);
      this.#surplus.delete(name);
      this.#delayed.add(name);
    }
  }

  /** The worker refused for now to give these names up. */
  keptForNow(names) { for (const name of names) this.#lingering.add(name); }

  /** Everything that was refused for now is due again. */
  retry() {
    for (const name of this.#delayed) if (this.#wanted.has(name)) this.#missing.add(name);
    for (const name of this.#lingering) if (!this.#wanted.has(name)) this.#surplus.add(name);
    this.#delayed.clear();
  }

  /** The connection ended, and its worker forgets everything. */
  connectionLost() {
    for (const names of [this.#requested, this.#surplus, this.#delayed, this.#lingering]) names.clear();
    this.#missing = new Set(this.#wanted);
  }

  /** This message requests the name, perhaps in addition to something else. */
  requested(name, message) {
    this.#missing.delete(name);
    this.#delayed.delete(name);
    const request = this.#requested.get(name) ?? { first: message, count: 0 };
    request.count++;
    this.#requested.set(name, request);
  }

  /** Returns up to `limit` names to request. Call `requested` for each that is. */
  nextMissing(limit, isReady) { return firstOf(this.#missing, limit, isReady); }

  /** Returns up to `limit` names to give up, which count as given up from now on. */
  takeSurplus(limit, isReady) {
    const names = firstOf(this.#surplus, limit, isReady);
    for (const name of names) {
      this.#surplus.delete(name);
      this.#requested.delete(name);
      this.#lingering.delete(name);
    }
    return names;
  }
}

function firstOf(names, limit, isReady = (name) => true) {
  const found = [];
  for (const name of names) {
    if (found.length >= limit) break;
    if (isReady(name)) found.push(name);
  }
  return found;
}
