// What the app observes: the connection, users, and conversations with their typists and members.

import { Conversation, MemberList } from "./conversation.js";
import { NameCache } from "./name-cache.js";
import { ObservedValue, PresenceGroup } from "./observed-value.js";

/**
 * The first observer of a user or a conversation makes the client request it from the worker, and the last one to end
 * makes the client give it up. A value without observers is kept as long as the worker still sends it: a new observer
 * may come before the worker is told to stop.
 *
 * Each `observe…` method takes `receive`, called with each value, and `finish`, called when the observation ends. It
 * returns a function that ends the observation.
 */
export class Observations {
  connectionState = new ObservedValue({ status: "idle" });
  #sender;
  #hasField;
  #presencesChanged;
  #names;
  #presences = new Map();
  /** The conversations that are observed or typed in. */
  #conversations = new Map();
  /** The functions that end the current observations. */
  #endings = new Set();

  /**
   * @param hasField returns whether the user has an input field in a conversation
   * @param presencesChanged called after users were added or removed
   */
  constructor({ names, connectTimeout }, sender, hasField, presencesChanged) {
    this.#sender = sender;
    this.#hasField = hasField;
    this.#presencesChanged = presencesChanged;
    this.#names = new NameCache(
      names, connectTimeout,
      (users) => { for (const conversation of this.#conversations.values()) conversation.namesChanged(users); },
      () => new Set([...this.#conversations.values()].flatMap((conversation) => conversation.users)));
  }

  get hasPresences() { return this.#presences.size > 0; }

  close() {
    for (const end of [...this.#endings]) end();
    for (const conversation of this.#conversations.values()) conversation.end();
    this.#presences.clear();
    this.#conversations.clear();
    this.#names.close();
  }

  // Observers.

  observeConnection(receive, finish) {
    const observer = { receive };
    this.connectionState.add(observer);
    return this.#begin(finish, () => this.connectionState.remove(observer));
  }

  observeTyping(name, receive, finish) {
    if (this.#sender.isClosed) return endedAtOnce(finish);
    const observer = { receive };
    this.join(name).typing.add(observer);
    return this.#begin(finish, () => {
      this.#conversations.get(name)?.typing.remove(observer);
      this.release(name);
    });
  }

  observeMembers(name, receive, finish) {
    if (this.#sender.isClosed) return endedAtOnce(finish);
    const observer = { receive };
    const conversation = this.join(name);
    conversation.memberList ??= new MemberList(
      name, this.#names, (user, receivePresence) => this.#observeMember(user, receivePresence));
    conversation.memberList.members.add(observer);
    this.#sender.outbox.memberLists.add(name);
    return this.#begin(finish, () => {
      this.#conversations.get(name)?.memberList?.members.remove(observer);
      this.#releaseMembers(name);
      this.release(name);
    });
  }

  observePresence(users, receive, finish) {
    if (this.#sender.isClosed) return endedAtOnce(finish);
    const observers = users.map((user) => ({ user, receive, needsWatch: true }));
    for (const observer of observers) this.#watch(observer);
    return this.#begin(finish, () => {
      for (const observer of observers) this.#releasePresence(observer);
    });
  }

  observePresenceOfMany(users, receive, finish) {
    let isOver = false;
    const group = new PresenceGroup((presences) => isOver || receive(presences));
    const end = this.observePresence(users, (presence) => group.received(presence), finish);
    return () => {
      isOver = true;
      end();
    };
  }

  latestMembers(name) { return this.#conversations.get(name)?.memberList?.members.latest; }
  latestTyping(name) { return this.#conversations.get(name)?.typing.latest; }
  latestPresence(user) { return this.#presences.get(user)?.latest; }

  latestPresences(users) {
    return new Map(users.flatMap((user) => {
      const presence = this.latestPresence(user);
      return presence ? [[user, presence]] : [];
    }));
  }

  #begin(finish, release) {
    const end = () => {
      if (!this.#endings.delete(end)) return;
      release();
      finish();
    };
    this.#endings.add(end);
    if (this.#sender.isClosed) queueMicrotask(end);
    return end;
  }

  // Users.

  #presence(user) {
    const presence = this.#presences.get(user) ?? new ObservedValue();
    this.#presences.set(user, presence);
    this.#presencesChanged();
    return presence;
  }

  /** Observes a member, whose presence the worker sends without a watch. */
  #observeMember(user, receive) {
    const observer = { user, receive };
    this.#presence(user).add(observer);
    return () => this.#releasePresence(observer);
  }

  #watch(observer) {
    this.#presence(observer.user).add(observer);
    this.#sender.outbox.users.add(observer.user);
    this.#sender.changed();
  }

  #releasePresence(observer) {
    const { user } = observer;
    const presence = this.#presences.get(user);
    presence?.remove(observer);
    if (!presence || presence.needsWatch) return;
    this.#sender.outbox.users.remove(user);
    this.dropUnusedPresence(user);
    this.#sender.changed();
  }

  /** Drops a user whom nobody observes and whom the worker no longer sends. */
  dropUnusedPresence(user) {
    const isKept = this.#presences.get(user)?.isObserved || this.#sender.outbox.users.isRequested(user);
    if (!isKept) this.#presences.delete(user);
    this.#presencesChanged();
  }

  // Conversations.

  /** Returns the conversation, and requests it from the worker, again if the worker refused it before. */
  join(name) {
    const conversation = this.#conversations.get(name) ?? new Conversation(name, this.#names);
    this.#conversations.set(name, conversation);
    this.#sender.outbox.conversationWanted(name);
    this.#sender.changed();
    return conversation;
  }

  /** Gives up a conversation that is no longer used. */
  release(name) {
    const conversation = this.#conversations.get(name);
    if (!conversation || this.#isUsed(conversation)) return;
    this.#sender.outbox.conversationUnwanted(name);
    this.dropUnusedConversation(name);
    this.#sender.changed();
  }

  #releaseMembers(name) {
    const memberList = this.#conversations.get(name)?.memberList;
    if (!memberList || memberList.members.isObserved) return;
    this.#sender.outbox.memberLists.remove(name);
    this.dropUnusedConversation(name);
    this.#sender.changed();
  }

  #isUsed(conversation) { return conversation.isObserved || this.#hasField(conversation.name); }

  /** Drops a conversation, or only its members, if it is not used and the worker no longer sends it. */
  dropUnusedConversation(name) {
    const conversation = this.#conversations.get(name);
    if (!conversation) return;
    const { outbox } = this.#sender;
    const hasMembers = conversation.memberList?.members.isObserved || outbox.memberLists.isRequested(name);
    if (!hasMembers) conversation.endMemberList();
    if (this.#isUsed(conversation) || outbox.conversations.isRequested(name)) return;
    conversation.end();
    this.#conversations.delete(name);
  }

  // What happens at the worker.

  typingReceived(message, expiry) { this.#conversations.get(message.conversation)?.typingReceived(message, expiry); }
  membersReceived(message) { this.#conversations.get(message.conversation)?.memberList?.received(message); }
  presenceReceived(presence) { this.#presences.get(presence.user)?.update(presence); }

  refused(name, error) { this.#conversations.get(name)?.refused(error); }

  /** The user was removed from a conversation. */
  removed(name, error) {
    this.#sender.removed(name);
    this.refused(name, error);
    this.dropUnusedConversation(name);
    // There is room for a conversation beyond the limit.
    this.#sender.changed();
  }

  /**
   * Drops what this message gives up.
   *
   * @param {{ type: string, users?: string[], conversation?: string, presence?: boolean }} message
   */
  messageSent({ type, users, conversation, presence }) {
    if (type === "unwatch") for (const user of users) this.dropUnusedPresence(user);
    if (type === "leave" || type === "join" && presence === false) this.dropUnusedConversation(conversation);
  }

  connectionLost() {
    for (const name of this.#conversations.keys()) this.dropUnusedConversation(name);
    for (const user of this.#presences.keys()) this.dropUnusedPresence(user);
  }

  /** The worker's clock was set, so texts like "last seen" have changed. */
  clockSet() {
    for (const presence of this.#presences.values()) presence.repeat();
    for (const conversation of this.#conversations.values()) conversation.memberList?.members.repeat();
  }
}

/** For an observation that ends as soon as it begins. */
function endedAtOnce(finish) {
  queueMicrotask(finish);
  return () => {};
}
