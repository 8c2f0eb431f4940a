// A conversation that somebody observes or types in: its state, its timers and its observers.
// The Swift client has `Room` and `Gathering` for this.

import { Alarm } from "./alarm.js";
import { MembersState, TypingState } from "./conversation-state.js";
import { ObservedValue } from "./observed-value.js";

/** Who types in one conversation, and its member list if somebody observes that. */
export class Conversation {
  typing = new ObservedValue();
  /** The members, while somebody observes them or the worker still sends them. */
  memberList = null;
  #names;
  #state;
  #alarm = new Alarm(() => {
    this.#state.deadlinePassed(performance.now());
    this.#show();
  });

  constructor(name, names) {
    this.name = name;
    this.#names = names;
    this.#state = new TypingState(name);
  }

  typingReceived(message, expiry) {
    this.#state.received(message, expiry, performance.now());
    this.#show();
  }

  refused(error) {
    this.#state.refused(error);
    this.memberList?.refused(error);
    this.#show();
  }

  /** All users who are on show here. */
  get users() {
    return [...this.#state.typing.typists.map(({ user }) => user), ...this.memberList?.users ?? []];
  }

  /** @param {Set<string>} users */
  namesChanged(users) {
    this.memberList?.namesChanged(users);
    if (this.#state.typing.typists.some(({ user }) => users.has(user))) this.#show();
  }

  get isObserved() { return this.typing.isObserved || this.memberList?.members.isObserved === true; }

  end() {
    this.#alarm.set(null);
    this.endMemberList();
  }

  endMemberList() {
    this.memberList?.end();
    this.memberList = null;
  }

  #show() {
    const { typing, deadline } = this.#state;
    const typists = typing.typists.map((typist) => {
      const name = this.#names.name(typist.user);
      return name === undefined ? typist : { ...typist, name };
    });
    this.typing.update({ ...typing, typists });
    this.#alarm.set(deadline);
  }
}

/**
 * The members of a conversation and their presence. The worker sends the presence of all members without a `watch` for
 * each. If a member is also watched, the worker sends that presence once.
 */
export class MemberList {
  members = new ObservedValue();
  #names;
  #observePresence;
  #state;
  /** The functions that end the observation of each member's presence. */
  #endings = new Map();
  #isDue = false;
  #alarm = new Alarm(() => {
    this.#state.deadlinePassed(performance.now());
    this.#showSoon();
  });

  /** @param observePresence starts to observe a user's presence, and returns the function that ends it */
  constructor(conversation, names, observePresence) {
    this.#state = new MembersState(conversation);
    this.#names = names;
    this.#observePresence = observePresence;
  }

  get users() { return this.#endings.keys(); }

  received(message) {
    const users = new Set(message.people.map(({ user }) => user));
    this.#state.received(message, performance.now());
    for (const user of this.#endings.keys()) if (!users.has(user)) this.#remove(user);
    for (const user of users) if (!this.#endings.has(user)) this.#add(user);
    this.#showSoon();
  }

  refused(refusal) {
    this.end();
    this.#state.refused(refusal);
    this.#showSoon();
  }

  /** @param {Set<string>} users */
  namesChanged(users) { if ([...users].some((user) => this.#endings.has(user))) this.#showSoon(); }

  end() {
    this.#state.deadline = null;
    this.#alarm.set(null);
    for (const user of [...this.#endings.keys()]) this.#remove(user);
  }

  #add(user) {
    this.#endings.set(user, this.#observePresence(user, (presence) => {
      this.#state.presenceReceived(presence);
      this.#showSoon();
    }));
  }

  #remove(user) {
    this.#endings.get(user)();
    this.#endings.delete(user);
  }

  /** Updates the observers once per task: the presence of a thousand members is one change. */
  #showSoon() {
    this.#alarm.set(this.#state.deadline);
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      const members = this.#state.members((user) => this.#names.name(user));
      this.#alarm.set(this.#state.deadline);
      if (members) this.members.update(members);
    });
  }
}
