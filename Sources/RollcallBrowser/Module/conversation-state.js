// Who types in a conversation and who its members are, as an observer sees it. Without timers or I/O.
// The Swift client has `TypingPicture` and `MembersPicture` for this.

import { SECOND } from "./units.js";

/**
 * Who types in one conversation. A worker repeats a set of typists that does not change, so a set that is not repeated
 * in time is over: its last message may be lost.
 */
export class TypingState {
  /** How long after the worker's expiry a set ends by itself, and the longest that any set lasts without a message. */
  static TOLERANCE = 2 * SECOND;
  static LONGEST = 10 * SECOND;

  /** When to call `deadlinePassed`; null for never. */
  deadline = null;

  constructor(conversation) { this.typing = { conversation, typists: [], count: 0 }; }

  /**
   * Users who continue to type keep their places, and new ones follow in the worker's order. So no names change places
   * after a reconnect to a worker that learned of the typists in another order.
   */
  received({ typists, count }, expiry, now) {
    const present = new Map(typists.map((typist) => [typist.user, typist]));
    const places = new Set([...this.typing.typists.map(({ user }) => user), ...present.keys()]);
    const inPlace = [...places].flatMap((user) => present.get(user) ?? []);
    this.#show({ typists: inPlace, count: Math.max(count, inPlace.length) });
    if (this.typing.count > 0) {
      this.deadline = now + Math.min(expiry + TypingState.TOLERANCE, TypingState.LONGEST);
    }
  }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#show({ typists: [], count: 0 }); }

  /** The worker does not serve this conversation, or no longer. */
  refused(refusal) { this.#show({ typists: [], count: 0, refusal }); }

  #show(shown) {
    this.typing = { conversation: this.typing.conversation, ...shown };
    this.deadline = null;
  }
}

/**
 * The members of one conversation and their presence. The worker sends the list first and then each member's presence.
 * The first value waits until all have arrived, so that nobody sees `0 of 5 online` for a moment.
 */
export class MembersState {
  /** How long the first value waits for the presence of all members. */
  static TIMEOUT = SECOND;

  /** When to call `deadlinePassed`; null for never. */
  deadline = null;
  #conversation;
  /** The worker's list. */
  #list = null;
  #presences = new Map();
  #refusal = null;
  #isShown = false;

  constructor(conversation) { this.#conversation = conversation; }

  received({ people, count }, now) {
    const users = new Set(people.map(({ user }) => user));
    for (const user of this.#presences.keys()) if (!users.has(user)) this.#presences.delete(user);
    this.#list = { people, count: Math.max(count, people.length) };
    this.#refusal = null;
    if (!this.#isShown) this.deadline ??= now + MembersState.TIMEOUT;
  }

  presenceReceived(presence) { this.#presences.set(presence.user, presence); }

  /** The worker does not serve this conversation, or no longer. What it serves later is a first value again. */
  refused(refusal) {
    this.#presences.clear();
    this.#list = this.deadline = null;
    this.#refusal = refusal;
    this.#isShown = false;
  }

  deadlinePassed(now) { if (this.deadline !== null && now >= this.deadline) this.#startShowing(); }

  /**
   * Returns the members to show, or undefined if there is no first value yet.
   *
   * @param nameOf returns the app's name for a user
   */
  members(nameOf) {
    const conversation = this.#conversation;
    if (this.#refusal) return { conversation, people: [], count: 0, refusal: this.#refusal };
    if (!this.#list) return undefined;
    const { people, count } = this.#list;
    if (people.every(({ user }) => this.#presences.has(user))) this.#startShowing();
    if (!this.#isShown) return undefined;
    return { conversation, people: people.map((member) => this.#member(member, nameOf(member.user))), count };
  }

  #member({ user, name }, shown = name) {
    const presence = this.#presences.get(user);
    return { user, ...shown !== undefined && { name: shown }, ...presence && { presence } };
  }

  #startShowing() {
    this.#isShown = true;
    this.deadline = null;
  }
}
