// What the worker should serve by name (users, conversations), and what it was asked for on this connection.

/** What is wanted of a conversation besides who is typing: bits of the way in which it is asked for. */
export const [MEMBERS, HERE] = [1, 2];

/**
 * The difference between the names that are wanted and those that were asked for on this connection, each in a way (for
 * conversations: with `MEMBERS`, with `HERE`). What was refused is asked for again at `retry`, as long as it is wanted, or, if a
 * limit forbids it, once another name was given up.
 * Asking twice and giving up twice do no harm.
 */
export class Subscriptions {
  #wanted = new Map();
  /** What was asked for and not given up: `{ way, id, tries }`. `id`: the message; `tries`: how often it was refused. */
  #asked = new Map();
  /** What was refused, `"for now"`, `"for good"` or because of a `"limit"`: `{ refused, tries }`. */
  #refused = new Map();
  #due = new Set();
  #surplus = new Set();

  isWanted(name) { return this.#wanted.has(name); }
  isDue(name) { return this.#due.has(name); }
  isServed(name) { return this.#asked.has(name) && !this.#refused.has(name); }
  /** The way in which a name was asked for; undefined if it was not. */
  asked(name) { return this.#asked.get(name)?.way; }
  get hasDue() { return this.#due.size > 0; }
  get hasSurplus() { return this.#surplus.size > 0; }
  get servedCount() { return this.#asked.size - [...this.#refused.keys()].filter((name) => this.#asked.has(name)).length; }

  /** A name that was refused for good is asked for at once, because its view is new; otherwise not before `retry`. */
  want(name, way = 0) {
    this.#wanted.set(name, way);
    this.#surplus.delete(name);
    const refusal = this.#refused.get(name);
    if (refusal ? refusal.refused === "for good" : this.asked(name) !== way) this.#due.add(name);
    else this.#due.delete(name);
  }

  unwant(name) {
    this.#wanted.delete(name);
    this.#due.delete(name);
    if (this.#asked.has(name)) this.#surplus.add(name);
  }

  /**
   * The worker refused to serve a name. This counts only if nothing was asked of the name since: pass the message's id.
   * Returns how often the name was refused before; undefined if it does not count.
   */
  refuse(name, refused, id = undefined) {
    const asked = this.#asked.get(name);
    if (!asked || id !== undefined && asked.id !== id) return undefined;
    this.#refused.set(name, { refused, tries: asked.tries });
    return asked.tries;
  }

  retry(refused) {
    for (const [name, refusal] of this.#refused) {
      if (refusal.refused !== refused) continue;
      if (this.isWanted(name)) this.#due.add(name);
      // Race: the name may be given up and wanted anew before it is asked for. Then a new view asks for it at once.
      if (this.isWanted(name) || this.#asked.has(name)) refusal.refused = "for good";
      else this.#refused.delete(name);
    }
  }

  connectionLost() {
    for (const names of [this.#asked, this.#refused, this.#surplus]) names.clear();
    this.#due = new Set(this.#wanted.keys());
  }

  /**
   * Returns up to `most` names to ask for, of which `room` may be new to the worker, those of `first` before others. Call `ask`
   * for each that is.
   */
  next(most, room, first = undefined) {
    const names = [];
    const due = first ? [...[...this.#due].filter((name) => first.has(name)), ...[...this.#due].filter((name) => !first.has(name))]
      : this.#due;
    for (const name of due) {
      if (names.length >= most) break;
      const isNew = !this.isServed(name);
      if (isNew && room <= 0) continue;
      names.push(name);
      if (isNew) room -= 1;
    }
    return names;
  }

  /** In which way a name is asked for next. */
  wanted(name) { return this.#wanted.get(name); }

  /** This message asks for the name. */
  ask(name, id) {
    const way = this.#wanted.get(name);
    this.#asked.set(name, { way, id, tries: (this.#refused.get(name)?.tries ?? -1) + 1 });
    this.#refused.delete(name);
    this.#due.delete(name);
  }

  /** The names to give up. */
  get surplus() { return this.#surplus; }

  /** These names of the surplus are given up. */
  giveUp(names) {
    for (const name of names) {
      this.#surplus.delete(name);
      this.#asked.delete(name);
      if (this.#refused.get(name) && this.#refused.get(name).refused !== "for now") this.#refused.delete(name);
    }
    if (names.length > 0) this.retry("limit");
  }
}
