/**
 * The difference between what should hold at the worker and what it was told on this connection. A connection is
 * brought up to date by sending the difference, and so is a new one, which was told nothing.
 *
 * Messages are numbered in the order in which they were sent. Answers may come in any order, so a refusal counts only
 * for names of which no later message speaks.
 */
export class Wanted {
  #wanted = new Set();
  /**
   * What the worker was asked for, each with the messages that have asked since it was last given up: the number of the
   * first, and how many were not refused. The worker serves it unless it refuses them all.
   */
  #told = new Map();
  #missing = new Set();
  #surplus = new Set();
  /** Refused for now: not asked for before `retry`, however often it is given up and wanted again meanwhile. */
  #delayed = new Set();
  /**
   * The worker refused for now to give these up, and was not asked to since. It may serve them although it refuses what
   * asks for them anew.
   */
  #lingering = new Set();

  get toldCount() { return this.#told.size; }
  get hasMissing() { return this.#missing.size > 0; }
  get hasSurplus() { return this.#surplus.size > 0; }
  wants(name) { return this.#wanted.has(name); }
  wasTold(name) { return this.#told.has(name); }
  isMissing(name) { return this.#missing.has(name); }
  /** Whether one of those that are ready is missing or surplus. */
  isDue(isReady) { return [...this.#missing, ...this.#surplus].some(isReady); }

  want(name) {
    this.#wanted.add(name);
    this.#surplus.delete(name);
    if (!this.#told.has(name) && !this.#delayed.has(name)) this.#missing.add(name);
  }

  unwant(name) {
    this.#wanted.delete(name);
    this.#missing.delete(name);
    const isLingering = this.#lingering.has(name) && !this.#delayed.has(name);
    if (this.#told.has(name) || isLingering) this.#surplus.add(name);
  }

  /** The worker does not serve it: not asked for again before the next connection or `want`. */
  refused(name) {
    for (const names of [this.#told, this.#surplus, this.#delayed, this.#lingering]) names.delete(name);
  }

  /** Whether a refusal of this message is about the name as the worker knows it now. */
  isRefused(name, message) { return this.#told.get(name)?.first <= message; }

  /** The worker refused for now to serve what this message asked for. */
  refusedForNow(names, message) {
    for (const name of names) {
      if (!this.isRefused(name, message) || --this.#told.get(name).count > 0) continue;
      this.#told.delete(name);
      this.#surplus.delete(name);
      this.#delayed.add(name);
    }
  }

  /** The worker refused for now to give these up. */
  keptForNow(names) { for (const name of names) this.#lingering.add(name); }

  /** What was refused for now is due again. */
  retry() {
    for (const name of this.#delayed) if (this.#wanted.has(name)) this.#missing.add(name);
    for (const name of this.#lingering) if (!this.#wanted.has(name)) this.#surplus.add(name);
    this.#delayed.clear();
  }

  /** The connection is gone, and with it all that its worker knew. */
  connectionLost() {
    for (const names of [this.#told, this.#surplus, this.#delayed, this.#lingering]) names.clear();
    this.#missing = new Set(this.#wanted);
  }

  /** It was asked for, perhaps beside something else. */
  told(name, message) {
    this.#missing.delete(name);
    this.#delayed.delete(name);
    const asked = this.#told.get(name) ?? { first: message, count: 0 };
    asked.count++;
    this.#told.set(name, asked);
  }

  /** Up to `limit` names that are to be asked for. */
  nextMissing(limit, isReady) { return firstOf(this.#missing, limit, isReady); }

  /** Up to `limit` names to give up. */
  takeSurplus(limit, isReady) {
    const names = takenFrom(this.#surplus, limit, isReady);
    for (const name of names) {
      this.#told.delete(name);
      this.#lingering.delete(name);
    }
    return names;
  }
}

function firstOf(names, limit, isReady = (name) => true) {
  const some = [];
  for (const name of names) {
    if (some.length >= limit) break;
    if (isReady(name)) some.push(name);
  }
  return some;
}

export function takenFrom(names, limit, isReady) {
  const some = firstOf(names, limit, isReady);
  for (const name of some) names.delete(name);
  return some;
}
