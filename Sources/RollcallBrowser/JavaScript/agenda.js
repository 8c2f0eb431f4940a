import { Retries } from "./backoff.js";
import { CAUTIOUS } from "./messages.js";
import { Wanted } from "./wanted.js";

/** Which kind of message was about this. */
function kindOf({ fetch, users, conversation, unwatched, left, stop, state }) {
  if (fetch) return "get";
  if (users) return "watch";
  if (conversation !== undefined) return "join";
  if (unwatched) return "unwatch";
  if (left !== undefined) return "leave";
  if (stop) return "typing";
  return state ? "state" : "token";
}

/**
 * What the worker has still to be told, and in which order: one's own typing first, since people wait for it, then what
 * frees room, then what asks for more. What is superseded before it was sent is never sent. What the worker refuses for
 * now is sent again later, for as long as it is wanted.
 */
export class Agenda {
  users = new Wanted();
  conversations = new Wanted();
  /** Of these conversations, those whose members are wanted too. */
  gatherings = new Wanted();
  #limits = CAUTIOUS;
  #state = null;
  #token = null;
  /** One's own typing: `{ conversation, typing, stop }`, `stop` being whoever awaits that it is published. */
  #signals = [];
  /** Presence to be asked for once: `{ fetch, users }`. */
  #gets = [];
  /** Refused for now. */
  #delayedState = null;
  #delayedToken = null;
  #delayedGets = [];
  #retries = new Retries();
  /** What the messages with an id were about that are not answered yet. */
  #unanswered = new Map();
  /** How many users each `get` names that is not answered, whether anybody still waits for it or not. */
  #getting = new Map();
  #lastID = 0;
  /** Which message said last what the device is, and which brought a fresh token. */
  #lastState = 0;
  #lastToken = 0;

  /** When to call `retryDue`; null when nothing waits to be sent again. */
  get retryTime() { return this.#retries.deadline; }

  /** Whether something is left that may be sent. */
  get hasMore() {
    return this.#state !== null || this.#token !== null
      || this.#signals.some(({ conversation }) => this.#isJoined(conversation))
      || this.users.hasSurplus || this.conversations.hasSurplus || this.gatherings.isDue(this.#isJoined)
      || this.#gets.length > 0 && this.#getRoom > 0
      || this.users.hasMissing && this.#userRoom > 0
      || this.conversations.hasMissing && this.#conversationRoom > 0;
  }

  /** Whether more users or conversations are wanted than the worker serves one session. */
  get isBeyondLimits() {
    return this.users.hasMissing && this.#userRoom <= 0 || this.conversations.hasMissing && this.#conversationRoom <= 0;
  }

  limitsLearnt(limits) { this.#limits = limits; }

  stateChanged(state) {
    this.#state = state;
    this.#delayedState = null;
  }

  tokenRenewed(token) {
    this.#token = token;
    this.#delayedToken = null;
  }

  fetchWanted(fetch, users) { this.#gets.push({ fetch, users }); }

  /** A later signal replaces an earlier one of its conversation that was not sent yet, unless that is awaited. */
  signalled(typing, conversation, stop) {
    this.#signals = this.#signals.filter((signal) => signal.conversation !== conversation || signal.stop);
    this.#signals.push({ conversation, typing, stop });
  }

  fetchEnded(fetch) {
    this.#gets = this.#gets.filter((get) => get.fetch !== fetch);
    this.#delayedGets = this.#delayedGets.filter((get) => get.fetch !== fetch);
    for (const [id, subject] of this.#unanswered) if (subject.fetch === fetch) this.#unanswered.delete(id);
  }

  /** The worker has answered a `get` with presence, and takes more. */
  getAnswered(id) {
    if (this.#getting.delete(id)) this.#retries.succeeded("get", id);
  }

  /** Which fetch a message still awaiting its answer belongs to. */
  fetchOf(id) { return this.#unanswered.get(id)?.fetch; }

  /** What the acknowledged message was about; each is answered once. */
  acknowledged(id) {
    const subject = this.#unanswered.get(id);
    if (subject) this.#retries.succeeded(kindOf(subject), id);
    // A fetch is answered by presence, which may come after its acknowledgement.
    return this.fetchOf(id) ? undefined : this.#answered(id);
  }

  /**
   * The worker refused a message. Returns what the message was about, and what becomes of it: it is `retried`, or the
   * refusal is `final`, or `stale`, since nobody is concerned any more.
   *
   * `limit` is told and yet sent again: there is room once something else was given up, and a session that met the limit
   * before the worker had named it asks for less from then on.
   */
  refused({ id, code, retry }, now) {
    this.#getting.delete(id);
    const subject = this.#answered(id);
    if (!subject) return { fate: "stale" };
    const needsRoom = subject.users || subject.conversation !== undefined;
    // A stop is not sent again: whoever awaits it is told at once, and the typing ends by itself.
    if (subject.stop || !retry && !(code === "limit" && needsRoom)) {
      return { subject, fate: this.#refusedForGood(subject, id) };
    }
    this.#delay(subject, id);
    this.#retries.refused(kindOf(subject), now);
    return { subject, fate: retry || subject.fetch ? "retried" : "final" };
  }

  /** What was refused for now may be sent again. */
  retryDue() {
    this.#retries.begin(this.#lastID);
    for (const wanted of [this.users, this.conversations, this.gatherings]) wanted.retry();
    this.#state ??= this.#delayedState;
    this.#token ??= this.#delayedToken;
    this.#gets.push(...this.#delayedGets);
    this.#forgetDelayed();
  }

  #answered(id) {
    const subject = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    return subject;
  }

  #delay({ users, fetch, conversation, unwatched, left, notGathered, state, token }, id) {
    if (fetch) this.#delayedGets.push({ fetch, users });
    else if (users) this.users.refusedForNow(users, id);
    else if (unwatched) this.users.keptForNow(unwatched);
    else if (left !== undefined) this.conversations.keptForNow([left]);
    else if (notGathered) {
      this.conversations.refusedForNow([conversation], id);
      this.gatherings.keptForNow([conversation]);
    }
    else if (conversation !== undefined) {
      this.conversations.refusedForNow([conversation], id);
      this.gatherings.refusedForNow([conversation], id);
    } else if (state && id === this.#lastState) this.#delayedState = state;
    else if (token && id === this.#lastToken) this.#delayedToken = token;
  }

  /** What is refused and has not been asked for anew meanwhile. */
  #refusedForGood(subject, id) {
    const { users, fetch, conversation } = subject;
    if (users && !fetch) for (const user of users) if (this.users.isRefused(user, id)) this.users.refused(user);
    if (conversation === undefined) return "final";
    if (!this.conversations.isRefused(conversation, id)) return "stale";
    this.conversations.refused(conversation);
    this.gatherings.refused(conversation);
    return "final";
  }

  #forgetDelayed() {
    this.#delayedState = this.#delayedToken = null;
    this.#delayedGets = [];
  }

  /** Nothing said on the old connection counts; typing is dropped, never queued. */
  connectionLost() {
    this.users.connectionLost();
    this.conversations.connectionLost();
    this.gatherings.connectionLost();
    this.#signals = [];
    this.#gets = [];
    this.#state = this.#token = null;
    this.#forgetDelayed();
    this.#retries = new Retries();
    this.#unanswered.clear();
    this.#getting.clear();
  }

  /** The next messages, `count` at most, which count as sent from now on. */
  take(count) {
    const messages = [];
    const room = () => count - messages.length;
    this.#takeSignals(messages, room);
    if (this.#token !== null && room() > 0) {
      messages.push({ type: "token", token: this.#token, id: this.#lastToken = this.#ask({ token: this.#token }) });
      this.#token = null;
    }
    if (this.#state !== null && room() > 0) {
      messages.push({ type: "state", state: this.#state, id: this.#lastState = this.#ask({ state: this.#state }) });
      this.#state = null;
    }
    for (const conversation of this.conversations.takeSurplus(room())) {
      this.gatherings.refused(conversation);
      messages.push({ type: "leave", conversation, id: this.#ask({ left: conversation }) });
    }
    if (room() > 0 && this.users.hasSurplus) {
      const users = this.users.takeSurplus(this.#usersPerMessage);
      messages.push({ type: "unwatch", users, id: this.#ask({ unwatched: users }) });
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
      const id = this.#ask({ conversation, ...subject });
      messages.push({ type: "join", conversation, ...presence, id });
      return id;
    };
    for (const conversation of this.conversations.nextMissing(Math.min(room(), this.#conversationRoom))) {
      const isGathering = this.gatherings.wants(conversation);
      const id = join(conversation, isGathering && { presence: true });
      this.conversations.told(conversation, id);
      if (isGathering) this.gatherings.told(conversation, id);
    }
    for (const each of this.gatherings.nextMissing(room(), this.#isJoined)) {
      const id = join(each, { presence: true });
      this.conversations.told(each, id);
      this.gatherings.told(each, id);
    }
    for (const each of this.gatherings.takeSurplus(room(), this.#isJoined)) {
      this.conversations.told(each, join(each, { presence: false }, { notGathered: true }));
    }
  }

  #isJoined = (conversation) => this.conversations.wasTold(conversation);

  /** Those of conversations that were joined; those of others wait for the join, or are nobody's any more. */
  #takeSignals(messages, room) {
    this.#signals = this.#signals.filter((signal) => {
      const { conversation, typing, stop } = signal;
      if (!this.conversations.wasTold(conversation)) return this.conversations.isMissing(conversation);
      if (room() <= 0) return true;
      messages.push({ type: "typing", conversation, typing, ...stop && { id: this.#ask({ stop }) } });
      return false;
    });
  }

  /** Nobody can be told of typing in a conversation for which the worker has no room. */
  #dropSignalsBeyondLimits() { this.#signals = this.#signals.filter(({ conversation }) => this.#isJoined(conversation)); }

  #takeWatches(messages, room) {
    while (room() > 0 && this.users.hasMissing && this.#userRoom > 0) {
      const users = this.users.nextMissing(Math.min(this.#usersPerMessage, this.#userRoom));
      const id = this.#ask({ users });
      for (const user of users) this.users.told(user, id);
      messages.push({ type: "watch", users, id });
    }
  }

  #takeGets(messages, room) {
    while (room() > 0 && this.#gets.length > 0 && this.#getRoom > 0) {
      const [get] = this.#gets;
      const users = get.users.slice(0, Math.min(this.#usersPerMessage, this.#getRoom));
      get.users = get.users.slice(users.length);
      if (get.users.length === 0) this.#gets.shift();
      const id = this.#ask({ fetch: get.fetch, users });
      this.#getting.set(id, users.length);
      messages.push({ type: "get", users, id });
    }
  }

  #ask(subject) {
    this.#lastID += 1;
    this.#unanswered.set(this.#lastID, subject);
    return this.#lastID;
  }

  get #userRoom() { return this.#limits.watched_users - this.users.toldCount; }
  get #conversationRoom() { return this.#limits.joined_conversations - this.conversations.toldCount; }
  get #getRoom() {
    let room = this.#limits.watched_users;
    for (const users of this.#getting.values()) room -= users;
    return room;
  }

  /** How many names surely fit into one message: each takes 128 bytes at most, all of them escaped at worst. */
  get #usersPerMessage() { return Math.max(1, Math.floor((this.#limits.message_bytes - 128) / 260)); }
}
