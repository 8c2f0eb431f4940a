import { SECOND } from "./units.js";

/**
 * Who types in one conversation. The worker's last word is the truth, but an observer distrusts silence: a worker
 * repeats a set that stays, so a set not repeated in time is gone.
 */
export class TypingPicture {
  /** How much later than the worker's expiry a set goes by itself, and the longest that any stays without a word. */
  static SLACK = 2 * SECOND;
  static LONGEST = 10 * SECOND;

  deadline = null;

  constructor(conversation) { this.typing = { conversation, typists: [], count: 0 }; }

  /**
   * Those who go on typing keep their places; whoever is new comes after them, in the worker's order. So a reconnect to
   * a worker that learnt of them in another order swaps no names.
   */
  heard({ typists, count }, expiry, now) {
    const present = new Map(typists.map((typist) => [typist.user, typist]));
    const places = new Set([...this.typing.typists.map(({ user }) => user), ...present.keys()]);
    const inPlace = [...places].flatMap((user) => present.get(user) ?? []);
    this.#show({ typists: inPlace, count: Math.max(count, inPlace.length) });
    if (this.typing.count > 0) {
      this.deadline = now + Math.min(expiry + TypingPicture.SLACK, TypingPicture.LONGEST);
    }
  }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#show({ typists: [], count: 0 }); }

  /** The worker shows nothing of this conversation (any more). */
  refused(refusal) { this.#show({ typists: [], count: 0, refusal }); }

  #show(seen) {
    this.typing = { conversation: this.typing.conversation, ...seen };
    this.deadline = null;
  }
}

/**
 * Who belongs to one conversation, as far as the worker's words go. The worker tells the list first and then each
 * person's presence; the first picture waits until it is whole, so that nobody reads `0 of 5 online` for a moment.
 */
export class MembersPicture {
  /** How long the first picture waits for the presence of all. */
  static PATIENCE = SECOND;

  /** When to call `deadlinePassed`; null for never. */
  deadline = null;
  #conversation;
  /** The worker's list. */
  #list = null;
  #presences = new Map();
  #refusal = null;
  #isShown = false;

  constructor(conversation) { this.#conversation = conversation; }

  heard({ people, count }, now) {
    const users = new Set(people.map(({ user }) => user));
    for (const user of this.#presences.keys()) if (!users.has(user)) this.#presences.delete(user);
    this.#list = { people, count: Math.max(count, people.length) };
    this.#refusal = null;
    if (!this.#isShown) this.deadline ??= now + MembersPicture.PATIENCE;
  }

  presenceHeard(presence) { this.#presences.set(presence.user, presence); }

  /** The worker shows nothing of this conversation (any more). What it shows later is a first picture again. */
  refused(refusal) {
    this.#presences.clear();
    this.#list = this.deadline = null;
    this.#refusal = refusal;
    this.#isShown = false;
  }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#showFromNowOn(); }

  /**
   * What to show; undefined while it is not whole.
   *
   * @param name gives the app's name for a user
   */
  members(name) {
    const conversation = this.#conversation;
    if (this.#refusal) return { conversation, people: [], count: 0, refusal: this.#refusal };
    if (!this.#list) return undefined;
    const { people, count } = this.#list;
    if (people.every(({ user }) => this.#presences.has(user))) this.#showFromNowOn();
    if (!this.#isShown) return undefined;
    return { conversation, people: people.map((member) => this.#member(member, name(member.user))), count };
  }

  #member({ user, name }, known = name) {
    const presence = this.#presences.get(user);
    return { user, ...known !== undefined && { name: known }, ...presence && { presence } };
  }

  #showFromNowOn() {
    this.#isShown = true;
    this.deadline = null;
  }
}
