// What the client has to send to its worker, in which order, and what follows from the worker's answers.
// The Swift client has `Agenda` for this.

import { RejoinSchedule, RetrySchedule } from "./backoff.js";
import { DEFAULT_LIMITS } from "./messages.js";
import { Subscriptions } from "./subscriptions.js";

/** The type of the message that had this subject. */
function messageType({ fetch, users, conversation, unwatched, left, stop, state }) {
  if (fetch) return "get";
  if (users) return "watch";
  if (conversation !== undefined) return "join";
  if (unwatched) return "unwatch";
  if (left !== undefined) return "leave";
  if (stop) return "typing";
  return state ? "state" : "token";
}

/**
 * The messages that are due, without timers or I/O. The user's own typing goes first because people wait for it, then
 * whatever makes room at the worker, then whatever asks for more. A message that another one replaces before it is sent
 * is never sent. What the worker refuses for now is sent again later, as long as it is wanted.
 *
 * A message with an id has a subject, which the answer is about: `{ users }` for `watch`, `{ unwatched }`,
 * `{ conversation }` for `join` (with `withoutMembers` if it gives up the members), `{ left }` for `leave`,
 * `{ fetch, users }` for `get`, `{ stop }` for the end of typing, `{ state }` or `{ token }`.
 */
export class Outbox {
  users = new Subscriptions();
  conversations = new Subscriptions();
  /** The conversations whose members are wanted too. */
  memberLists = new Subscriptions();
  #limits = DEFAULT_LIMITS;
  #state = null;
  #token = null;
  /** The user's own typing: `{ conversation, typing, stop }`. `stop` is set if the client waits for its publication. */
  #signals = [];
  /** Presence to ask for once: `{ fetch, users }`. */
  #gets = [];
  /** Refused for now. */
  #delayedState = null;
  #delayedToken = null;
  #delayedGets = [];
  #retries = new RetrySchedule();
  #rejoins = new RejoinSchedule();
  /** The subjects of messages without an answer, by message id. */
  #unanswered = new Map();
  /** How many users each `get` without an answer contains, even if nobody waits for the answer any more. */
  #getSizes = new Map();
  #lastID = 0;
  /** The ids of the last messages with the device's state and with a fresh token. */
  #lastState = 0;
  #lastToken = 0;

  /** When to call `retryDue`; null if nothing waits for a retry. */
  get retryTime() { return this.#retries.deadline; }

  /** When to call `rejoinDue`; null if the user is a member of all wanted conversations. */
  get rejoinTime() { return this.#rejoins.deadline; }

  /** Whether there are more messages that the worker's limits allow. */
  get hasMore() {
    return this.#state !== null || this.#token !== null
      || this.#signals.some(({ conversation }) => this.#isJoined(conversation))
      || this.users.hasSurplus || this.conversations.hasSurplus || this.memberLists.isDue(this.#isJoined)
      || this.#gets.length > 0 && this.#getRoom > 0
      || this.users.hasMissing && this.#userRoom > 0
      || this.conversations.hasMissing && this.#conversationRoom > 0;
  }

  /** Whether more users or conversations are wanted than the worker allows a session. */
  get isBeyondLimits() {
    return this.users.hasMissing && this.#userRoom <= 0 || this.conversations.hasMissing && this.#conversationRoom <= 0;
  }

  limitsReceived(limits) { this.#limits = limits; }

  /** Requests the conversation at once, also if the worker refused it before. */
  conversationWanted(conversation) {
    this.#rejoins.forget(conversation);
    this.conversations.add(conversation);
  }

  conversationUnwanted(conversation) {
    this.#rejoins.forget(conversation);
    this.conversations.remove(conversation);
  }

  stateChanged(state) {
    this.#state = state;
    this.#delayedState = null;
  }

  tokenRenewed(token) {
    this.#token = token;
    this.#delayedToken = null;
  }

  fetchRequested(fetch, users) { this.#gets.push({ fetch, users }); }

  fetchEnded(fetch) {
    this.#gets = this.#gets.filter((get) => get.fetch !== fetch);
    this.#delayedGets = this.#delayedGets.filter((get) => get.fetch !== fetch);
    for (const [id, subject] of this.#unanswered) if (subject.fetch === fetch) this.#unanswered.delete(id);
  }

  /** Replaces an earlier signal of the conversation that was not sent yet, unless the client waits for that one. */
  typingSignalled(typing, conversation, stop) {
    this.#signals = this.#signals.filter((signal) => signal.conversation !== conversation || signal.stop);
    this.#signals.push({ conversation, typing, stop });
  }

  // Answers.

  /** The worker answered a `get` with presence, so there is room for more. */
  getAnswered(id) {
    if (this.#getSizes.delete(id)) this.#retries.succeeded("get", id);
  }

  /** Returns the fetch to which a message without an answer belongs. */
  fetchOf(id) { return this.#unanswered.get(id)?.fetch; }

  /** Returns the subject of the acknowledged message, once. */
  acknowledged(id) {
    const subject = this.#unanswered.get(id);
    if (subject) this.#retries.succeeded(messageType(subject), id);
    if (subject?.conversation !== undefined) this.#rejoins.accepted(subject.conversation);
    // The answer to a fetch is presence, which may arrive after the acknowledgement.
    return this.fetchOf(id) ? undefined : this.#takeSubject(id);
  }

  /**
   * The worker refused a message. Returns the message's subject and the outcome: the message is `retried`, the refusal
   * is `final`, or it is `stale` because it concerns nothing that is wanted now.
   *
   * A refusal with `limit` is final for the app, but the message is sent again: there is room after something else was
   * given up. And a session that met the limit before it received the limits asks for less from then on.
   */
  refused({ id, code, retry }, now) {
    this.#getSizes.delete(id);
    const subject = this.#takeSubject(id);
    if (!subject) return { outcome: "stale" };
    const needsRoom = subject.users || subject.conversation !== undefined;
    // A stop is not sent again: the app learns of the refusal at once, and the typing expires by itself.
    if (subject.stop || !retry && !(code === "limit" && needsRoom)) {
      const outcome = this.#refusedForGood(subject, id);
      if (outcome === "final" && code === "not_a_member") this.#notAMember(subject.conversation, now);
      return { subject, outcome };
    }
    this.#delay(subject, id);
    this.#retries.refused(messageType(subject), now);
    return { subject, outcome: retry || subject.fetch ? "retried" : "final" };
  }

  /** The worker ended a conversation, because the user is no longer a member. */
  removed(conversation, now) {
    this.conversations.refused(conversation);
    this.memberLists.refused(conversation);
    this.#notAMember(conversation, now);
  }

  #notAMember(conversation, now) {
    if (this.conversations.isWanted(conversation)) this.#rejoins.refused(conversation, now);
  }

  /** Makes the joins due whose pauses have ended. */
  rejoinDue(now) { for (const conversation of this.#rejoins.takeDue(now)) this.conversations.add(conversation); }

  /** Makes everything due that was refused for now. */
  retryDue() {
    this.#retries.begin(this.#lastID);
    for (const names of [this.users, this.conversations, this.memberLists]) names.retry();
    this.#state ??= this.#delayedState;
    this.#token ??= this.#delayedToken;
    this.#gets.push(...this.#delayedGets);
    this.#forgetDelayed();
  }

  #takeSubject(id) {
    const subject = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    return subject;
  }

  #delay({ users, fetch, conversation, unwatched, left, withoutMembers, state, token }, id) {
    if (fetch) this.#delayedGets.push({ fetch, users });
    else if (users) this.users.refusedForNow(users, id);
    else if (unwatched) this.users.keptForNow(unwatched);
    else if (left !== undefined) this.conversations.keptForNow([left]);
    else if (withoutMembers) {
      this.conversations.refusedForNow([conversation], id);
      this.memberLists.keptForNow([conversation]);
    }
    else if (conversation !== undefined) {
      this.conversations.refusedForNow([conversation], id);
      this.memberLists.refusedForNow([conversation], id);
    } else if (state && id === this.#lastState) this.#delayedState = state;
    else if (token && id === this.#lastToken) this.#delayedToken = token;
  }

  /** Drops what is refused, unless it was requested again since. */
  #refusedForGood(subject, id) {
    const { users, fetch, conversation } = subject;
    if (users && !fetch) for (const user of users) if (this.users.isRefused(user, id)) this.users.refused(user);
    if (conversation === undefined) return "final";
    if (!this.conversations.isRefused(conversation, id)) return "stale";
    this.conversations.refused(conversation);
    this.memberLists.refused(conversation);
    return "final";
  }

  #forgetDelayed() {
    this.#delayedState = this.#delayedToken = null;
    this.#delayedGets = [];
  }

  /** The worker of the old connection forgets everything. Typing signals are dropped, not kept for the next one. */
  connectionLost() {
    this.users.connectionLost();
    this.conversations.connectionLost();
    this.memberLists.connectionLost();
    this.#signals = [];
    this.#gets = [];
    this.#state = this.#token = null;
    this.#forgetDelayed();
    this.#retries = new RetrySchedule();
    this.#rejoins = new RejoinSchedule();
    this.#unanswered.clear();
    this.#getSizes.clear();
  }

  // Messages.

  /** Returns the next messages, at most `count`. They count as sent from now on. */
  take(count) {
    const messages = [];
    const room = () => count - messages.length;
    this.#takeSignals(messages, room);
    if (this.#token !== null && room() > 0) {
      messages.push({ type: "token", token: this.#token, id: this.#lastToken = this.#newID({ token: this.#token }) });
      this.#token = null;
    }
    if (this.#state !== null && room() > 0) {
      messages.push({ type: "state", state: this.#state, id: this.#lastState = this.#newID({ state: this.#state }) });
      this.#state = null;
    }
    for (const conversation of this.conversations.takeSurplus(room())) {
      this.memberLists.refused(conversation);
      messages.push({ type: "leave", conversation, id: this.#newID({ left: conversation }) });
    }
    if (room() > 0 && this.users.hasSurplus) {
      const users = this.users.takeSurplus(this.#usersPerMessage);
      messages.push({ type: "unwatch", users, id: this.#newID({ unwatched: users }) });
    }
    this.#takeJoins(messages, room);
    this.#takeSignals(messages, room);
    if (this.#conversationRoom <= 0) this.#dropSignalsBeyondLimits();
    this.#takeWatches(messages, room);
    this.#takeGets(messages, room);
    return messages;
  }

  /** New conversations first, then those where only the wish for their members has changed. */
  #takeJoins(messages, room) {
    const join = (conversation, presence, subject = {}) => {
      const id = this.#newID({ conversation, ...subject });
      messages.push({ type: "join", conversation, ...presence, id });
      return id;
    };
    for (const conversation of this.conversations.nextMissing(Math.min(room(), this.#conversationRoom))) {
      const withMembers = this.memberLists.isWanted(conversation);
      const id = join(conversation, withMembers && { presence: true });
      this.conversations.requested(conversation, id);
      if (withMembers) this.memberLists.requested(conversation, id);
    }
    for (const each of this.memberLists.nextMissing(room(), this.#isJoined)) {
      const id = join(each, { presence: true });
      this.conversations.requested(each, id);
      this.memberLists.requested(each, id);
    }
    for (const each of this.memberLists.takeSurplus(room(), this.#isJoined)) {
      this.conversations.requested(each, join(each, { presence: false }, { withoutMembers: true }));
    }
  }

  #isJoined = (conversation) => this.conversations.isRequested(conversation);

  /** Takes the signals of joined conversations. Others wait for their join, or are dropped if none is to come. */
  #takeSignals(messages, room) {
    this.#signals = this.#signals.filter((signal) => {
      const { conversation, typing, stop } = signal;
      if (!this.conversations.isRequested(conversation)) return this.conversations.isMissing(conversation);
      if (room() <= 0) return true;
      messages.push({ type: "typing", conversation, typing, ...stop && { id: this.#newID({ stop }) } });
      return false;
    });
  }

  /** Drops the signals of conversations for which the worker has no room. */
  #dropSignalsBeyondLimits() { this.#signals = this.#signals.filter(({ conversation }) => this.#isJoined(conversation)); }

  #takeWatches(messages, room) {
    while (room() > 0 && this.users.hasMissing && this.#userRoom > 0) {
      const users = this.users.nextMissing(Math.min(this.#usersPerMessage, this.#userRoom));
      const id = this.#newID({ users });
      for (const user of users) this.users.requested(user, id);
      messages.push({ type: "watch", users, id });
    }
  }

  #takeGets(messages, room) {
    while (room() > 0 && this.#gets.length > 0 && this.#getRoom > 0) {
      const [get] = this.#gets;
      const users = get.users.slice(0, Math.min(this.#usersPerMessage, this.#getRoom));
      get.users = get.users.slice(users.length);
      if (get.users.length === 0) this.#gets.shift();
      const id = this.#newID({ fetch: get.fetch, users });
      this.#getSizes.set(id, users.length);
      messages.push({ type: "get", users, id });
    }
  }

  #newID(subject) {
    this.#lastID += 1;
    this.#unanswered.set(this.#lastID, subject);
    return this.#lastID;
  }

  get #userRoom() { return this.#limits.watched_users - this.users.requestedCount; }
  get #conversationRoom() { return this.#limits.joined_conversations - this.conversations.requestedCount; }
  get #getRoom() {
    let room = this.#limits.watched_users;
    for (const users of this.#getSizes.values()) room -= users;
    return room;
  }

  /** How many names certainly fit into one message. A name takes 128 bytes at most, or twice that if all are escaped. */
  get #usersPerMessage() { return Math.max(1, Math.floor((this.#limits.message_bytes - 128) / 260)); }
}
