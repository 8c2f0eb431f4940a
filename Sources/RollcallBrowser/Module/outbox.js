// What the worker must be sent, in which order and how fast, and what follows from its refusals.

import { DEFAULT_LIMITS, RollcallError, SECOND, utf8Length } from "./messages.js";
import { PersonChanges } from "./person.js";
import { Backoff } from "./route.js";
import { HERE, MEMBERS, Subscriptions } from "./subscriptions.js";

/** How many messages a message counts as that names so many users. */
const costOfNaming = (users) => 1 + Math.floor(users / 40);

/** How many messages one counts as, of what a worker allows: docs/protocol.md, "Message budget". */
function cost(message, limits, entries) {
  const messages = () => {
    switch (message.type) {
      // Verifying a fresh token costs a worker as much as ten messages.
      case "token": case "person": return 10;
      case "watch": case "unwatch": case "get": return costOfNaming(message.users.length);
      // What it may show. What it does not show is given back.
      case "join": return (message.presence ? costOfNaming(limits.watched_users) : 1) + (message.here ? 1 : 0);
      case "state": return 1 + entries;
      default: return 1;
    }
  };
  return Math.min(messages(), limits.message_burst);
}

/**
 * A token bucket. A worker lets a session wait that sends too much, so the client uses less than the worker allows: three
 * quarters of the burst, but for one message that is kept for a ping, and nine tenths of the rate. A network may bunch
 * messages that were sent evenly.
 */
class MessageBudget {
  #rate = DEFAULT_LIMITS.message_rate;
  #burst = DEFAULT_LIMITS.message_burst;
  #left = this.#burst;
  #countedAt;
  /** What the message costs that did not fit in this turn; Infinity if all fitted. */
  #lacking = Infinity;

  constructor(now) { this.#countedAt = now; }

  limitsReceived({ message_rate, message_burst }, now) {
    this.count(now);
    const spent = this.#burst - this.#left;
    this.#rate = Math.max(1, message_rate * 0.9);
    this.#burst = Math.max(2, message_burst * 0.75);
    this.#left = Math.max(0, this.#burst - spent);
  }

  beginTurn(now) {
    this.count(now);
    this.#lacking = Infinity;
  }

  /**
   * Whether a message of this cost may be sent now, which it then is. One that costs more than fits is sent once all is
   * regained, and what follows it waits too: many cheap messages would keep it from being sent at all. A thousandth is
   * added so that rounding never leaves no room at `nextRoom`.
   */
  takes(messages) {
    if (this.isCut) return false;
    const needed = Math.min(messages + 1, this.#burst);
    if (this.#left + 0.001 < needed) {
      this.#lacking = needed;
      return false;
    }
    this.spend(messages);
    return true;
  }

  spend(messages) { this.#left -= messages; }
  get isCut() { return this.#lacking < Infinity; }
  get nextRoom() { return this.#countedAt + Math.max(0, this.#lacking - this.#left) / this.#rate * SECOND; }

  count(now) {
    const elapsed = Math.max(0, now - this.#countedAt);
    this.#left = Math.min(this.#burst, this.#left + elapsed / SECOND * this.#rate);
    this.#countedAt = now;
  }
}

/** When to ask again for what was refused: pauses that all share, and that are short again when nothing was refused for a while. */
class Retry {
  #shortest;
  #longest;
  #backoff;
  #refusedAt = -Infinity;
  deadline = null;

  constructor(shortest, first, longest) {
    this.#shortest = shortest;
    this.#longest = shortest + longest;
    this.#backoff = new Backoff(first, longest);
  }

  /** Refusals before the next attempt count as one, but a name that is refused for the first time does not wait long. */
  refused(isFirst, now) {
    if (isFirst || now - this.#refusedAt > 2 * this.#longest) this.#backoff.failures = 0;
    this.#refusedAt = now;
    if (!isFirst && this.deadline !== null) return;
    this.deadline = Math.min(this.deadline ?? Infinity, now + this.#shortest + this.#backoff.failed());
  }

  /** Returns whether the next attempt begins. */
  isDue(now) {
    if (this.deadline === null || now < this.deadline) return false;
    this.deadline = null;
    return true;
  }
}

/** How often this device may change its entry in a conversation: a worker publishes no more often. */
class EntryPace {
  static BURST = 4;

  #left = EntryPace.BURST;
  #countedAt = 0;

  /** When the next change may be sent. */
  next(interval) { return this.#left >= 1 ? -Infinity : this.#countedAt + (1 - this.#left) * interval; }

  take(now, interval) {
    const regained = interval > 0 ? (now - this.#countedAt) / interval : EntryPace.BURST;
    this.#left = Math.min(EntryPace.BURST, this.#left + regained) - 1;
    this.#countedAt = now;
  }
}

/**
 * The messages that are due. The user's own typing goes first because people wait for it, then whatever makes room at the
 * worker, then whatever asks for more. A message that another one replaces before it is sent is never sent.
 *
 * A message that is answered has an id and a subject: `{ users }` for `watch`, `{ conversation }` for `join`, `{ get }`
 * for `get`, `{ stop }` for the end of typing, `{ entered }` for `enter`, `{ state }`, `{ token }` or `{ person }`.
 */
export class Outbox {
  users = new Subscriptions();
  conversations = new Subscriptions();
  /** What this device has open, as it is and as the worker knows it: by conversation the JSON of its data, or null. */
  #entries = new Map();
  #entriesTold = new Map();
  /** Where a limit forbids what was sent last, or data that is too long was not sent: the worker does not show it. */
  #entriesLimited = new Set();
  #entryPaces = new Map();
  #entryInterval = 500;
  /** When an entry is due that waits for its pace. */
  #entryAt = Infinity;
  #isBeyondEntries = false;
  /** Why something was not sent, for the app. The reader empties it. */
  problems = [];
  /** Users whose presence is wanted once. They are asked for in one message at a time. */
  gets = new Set();
  #getting = null;
  /** The device's state, as it is and as the worker knows it, and a fresh token for the worker. */
  state = null;
  #stateTold = null;
  token = null;
  #lastToken = 0;
  person = new PersonChanges();
  /** The user's own typing: `{ conversation, kind, stop }`, without a kind for its end. `stop` is set if somebody waits for its publication. */
  #signals = [];
  #limits = DEFAULT_LIMITS;
  #hasLimits = false;
  #budget = new MessageBudget(0);
  /** How many unanswered joins with presence were charged for each conversation. */
  #charged = new Map();
  /** Whether more users or conversations are wanted than the worker serves a session. */
  isBeyondLimits = false;
  #forNow = new Retry(0, 250, 15 * SECOND);
  /** An app may open a conversation before its server has set the members. No worker tells a session of that later. */
  #forGood = new Retry(2 * SECOND, 4 * SECOND, 58 * SECOND);
  /** What else is asked for again, as functions. */
  #again = [];
  #unanswered = new Map();
  #lastID = 0;
  /** The last message that was sent before this connection's worker had stated its limits. */
  #lastEarlyID = Infinity;

  get deadline() {
    return Math.min(
      this.#forNow.deadline ?? Infinity, this.#forGood.deadline ?? Infinity, this.#budget.nextRoom, this.#entryAt);
  }

  deadlinePassed(now) {
    if (this.#forNow.isDue(now)) {
      for (const names of [this.users, this.conversations]) names.retry("for now");
      for (const ask of this.#again.splice(0)) ask();
    }
    if (this.#forGood.isDue(now)) for (const names of [this.users, this.conversations]) names.retry("for good");
  }

  /** A connection has opened, on which only the hello was sent, with the device's state. */
  connectionOpened(state, now) {
    this.state = this.#stateTold = state;
    this.#lastEarlyID = Infinity;
    this.#budget = new MessageBudget(now);
    if (this.#hasLimits) this.#budget.limitsReceived(this.#limits, now);
    this.#budget.spend(1);
  }

  /** @param entryInterval the worker's `presence.coalesce` */
  limitsReceived(limits, entryInterval, now) {
    this.#limits = limits;
    this.#entryInterval = entryInterval;
    this.#hasLimits = true;
    this.#budget.limitsReceived(limits, now);
    this.#lastEarlyID = this.#lastID;
  }

  /** The worker forgets everything. Typing signals are dropped, not kept for the next connection. */
  connectionLost() {
    this.users.connectionLost();
    this.conversations.connectionLost();
    [this.#signals, this.#again] = [[], []];
    this.gets.clear();
    this.#getting = this.token = null;
    this.#forNow.deadline = this.#forGood.deadline = null;
    this.#budget = new MessageBudget(0);
    this.#charged.clear();
    for (const each of [this.#entriesTold, this.#entriesLimited, this.#entryPaces]) each.clear();
    this.#entryAt = Infinity;
    this.#unanswered.clear();
    this.person.unanswered();
  }

  /** Counts a message that does not come from here. */
  spend(now) {
    this.#budget.count(now);
    this.#budget.spend(1);
  }

  /** This device has a conversation open, with data as JSON or null; or no longer, with undefined. */
  entered(conversation, data) {
    if (data === undefined) this.#entries.delete(conversation);
    else this.#entries.set(conversation, data);
  }

  /** Replaces an earlier signal of the conversation that was not sent yet, unless somebody waits for that one. */
  typingSignalled(kind, conversation, stop) {
    this.#signals = this.#signals.filter((signal) => signal.conversation !== conversation || signal.stop);
    this.#signals.push({ conversation, kind, stop });
  }

  // Answers.

  acknowledged(id) {
    const subject = this.#unanswered.get(id);
    // The answer to a `get` is presence, which may arrive after the acknowledgement.
    if (!subject?.get) this.#unanswered.delete(id);
    if (subject?.person) this.person.sent = null;
    return subject;
  }

  /** Presence of these users arrived in answer to a `get`. Returns whether it is awaited. */
  gotten(id, users) {
    if (!this.#getting || this.#getting.id !== id) return false;
    for (const user of users) this.#getting.users.delete(user);
    if (this.#getting.users.size === 0) this.#getDone(id);
    return true;
  }

  /** Nobody waits for these users any more. */
  getEnded(users) {
    for (const user of users) {
      this.gets.delete(user);
      this.#getting?.users.delete(user);
    }
    if (this.#getting?.users.size === 0) this.#getDone(this.#getting.id);
  }

  #getDone(id) {
    this.#getting = null;
    this.#unanswered.delete(id);
  }

  /**
   * The worker refused a message. Returns its subject, with `isFinal` if the app should know. What a limit forbids is sent again
   * when something else of the kind was given up. Returns null if the refusal concerns nothing that is wanted now.
   */
  refused({ id, code, retry }, now) {
    const subject = this.#unanswered.get(id);
    this.#unanswered.delete(id);
    if (!subject) return null;
    const { conversation, entered, get, stop } = subject;
    // It follows a join whose refusal is reported.
    if (code === "not_joined" && entered !== undefined) return null;
    this.#charged.delete(conversation);
    const names = conversation === undefined ? this.users : this.conversations;
    const wanted = subject.users ?? (conversation === undefined ? [] : [conversation]);
    const isEarly = code === "limit" && id <= this.#lastEarlyID;
    const refused = retry || isEarly && (wanted.length > 0 || entered !== undefined) ? "for now" : code === "limit" ? "limit" : "for good";
    if (refused === "limit" && entered !== undefined) this.#entriesLimited.add(entered);
    const tries = wanted.map((name) => names.refuse(name, refused, id)).filter((each) => each !== undefined);
    if (wanted.length > 0 && tries.length === 0) return null;
    // A stop is not sent again: the app learns of the refusal at once, and the typing expires by itself.
    if (get) this.#getting = null;
    if (refused === "for now" && !stop) {
      if (get) this.#again.push(() => get.forEach((user) => this.gets.add(user)));
      if (entered !== undefined) this.#again.push(() => this.#entriesTold.delete(entered));
      if (subject.person) this.#again.push(this.person.refused());
      if (subject.state) this.#again.push(() => { this.#stateTold = null; });
      if (subject.token) this.#again.push(() => { if (id === this.#lastToken) this.token ??= subject.token; });
      this.#forNow.refused(false, now);
    } else if (subject.person) this.person.sent = null;
    else if (refused === "for good" && tries.length > 0) this.#forGood.refused(tries.includes(0), now);
    return { ...subject, isFinal: !retry || stop !== undefined };
  }

  /** The worker ended a conversation, because the user is no longer a member. */
  removed(conversation, now) {
    this.#entryEnded(conversation);
    if (this.conversations.refuse(conversation, "for good") === undefined) return;
    if (this.conversations.isWanted(conversation)) this.#forGood.refused(true, now);
  }

  // Messages.

  /** Returns the messages to send now. They count as sent from now on. */
  take(now) {
    const messages = [];
    const takes = (message) => (
      this.#budget.takes(cost(message, this.#limits, this.#entriesTold.size)) && messages.push(message) > 0);
    this.#budget.beginTurn(now);
    this.#takeSignals(takes);
    if (this.token !== null) {
      const message = { type: "token", token: this.token };
      if (takes(message)) {
        message.id = this.#lastToken = this.#newID({ token: this.token });
        this.token = null;
      }
    }
    const person = this.person.next;
    if (person && takes(person)) {
      person.id = this.#newID({ person: true });
      this.person.taken();
    }
    if (this.state !== this.#stateTold) {
      const message = { type: "state", state: this.state };
      if (takes(message)) {
        message.id = this.#newID({ state: this.state });
        this.#stateTold = this.state;
      }
    }
    for (const conversation of [...this.conversations.surplus]) {
      if (!takes({ type: "leave", conversation })) break;
      this.conversations.giveUp([conversation]);
      this.#entryEnded(conversation);
    }
    while (this.users.hasSurplus) {
      const users = this.#fitting([...this.users.surplus]);
      if (!takes({ type: "unwatch", users })) break;
      this.users.giveUp(users);
    }
    this.#entryAt = Infinity;
    this.#isBeyondEntries = false;
    for (const conversation of this.#entriesTold.keys()) {
      if (!this.#entries.has(conversation)) this.#takeEntry(conversation, takes, now);
    }
    // Conversations with an entry of this device go first, with the entry: after a reconnect it has only the grace period.
    const conversationRoom = this.#limits.joined_conversations - this.conversations.servedCount;
    for (const conversation of this.conversations.next(Infinity, conversationRoom, this.#entries)) {
      const [way, asked] = [this.conversations.wanted(conversation), this.conversations.asked(conversation)];
      const presence = (way & MEMBERS) !== 0;
      const message = {
        type: "join", conversation, ...(presence || asked) && { presence }, ...way & HERE && { here: true }, id: undefined,
      };
      if (!takes(message)) break;
      // One that was refused knows nothing of what was entered there.
      if (!this.conversations.isServed(conversation)) this.#entriesTold.delete(conversation);
      message.id = this.#newID({ conversation });
      this.conversations.ask(conversation, message.id);
      if (presence) this.#charged.set(conversation, (this.#charged.get(conversation) ?? 0) + 1);
      this.#takeEntry(conversation, takes, now);
    }
    for (const conversation of this.#entries.keys()) this.#takeEntry(conversation, takes, now);
    this.#takeSignals(takes);
    let userRoom = this.#limits.watched_users - this.users.servedCount;
    for (;;) {
      const users = this.#fitting(this.users.next(this.#usersPerMessage, userRoom));
      const message = { type: "watch", users };
      if (users.length === 0 || !takes(message)) break;
      message.id = this.#newID({ users });
      for (const user of users) this.users.ask(user, message.id);
      userRoom -= users.length;
    }
    if (this.gets.size > 0 && !this.#getting) {
      const users = this.#fitting([...this.gets].slice(0, this.#limits.watched_users));
      const message = { type: "get", users };
      if (takes(message)) {
        for (const user of users) this.gets.delete(user);
        message.id = this.#newID({ get: users });
        this.#getting = { id: message.id, users: new Set(users) };
      }
    }
    this.isBeyondLimits = !this.#budget.isCut && (this.users.hasDue || this.conversations.hasDue || this.#isBeyondEntries);
    return messages;
  }

  /** The members of a conversation were shown: a join for which it was charged costs what it showed. */
  membersShown(count, conversation) {
    const joins = this.#charged.get(conversation) ?? 0;
    this.#charged.delete(conversation);
    const { watched_users, message_burst } = this.#limits;
    const paid = Math.min(costOfNaming(watched_users), message_burst);
    this.#budget.spend(joins * (Math.min(costOfNaming(count), message_burst) - paid));
  }

  /** Takes what has changed of what this device has open there, if the conversation is joined or was just asked for. */
  #takeEntry(conversation, takes, now) {
    const [data, told] = [this.#entries.get(conversation), this.#entriesTold.get(conversation)];
    if (data === told || !this.conversations.isServed(conversation)) return;
    if (data === undefined) {
      if (takes({ type: "exit", conversation })) this.#entryEnded(conversation);
      return;
    }
    if (this.#isForbidden(conversation, data)) return;
    const pace = this.#entryPaces.get(conversation) ?? new EntryPace();
    const at = pace.next(this.#entryInterval);
    if (now < at) {
      this.#entryAt = Math.min(this.#entryAt, at);
      return;
    }
    const message = { type: "enter", conversation, ...data !== null && { data: JSON.parse(data) }, id: undefined };
    if (!takes(message)) return;
    message.id = this.#newID({ entered: conversation });
    pace.take(now, this.#entryInterval);
    this.#entryPaces.set(conversation, pace);
    this.#entriesTold.set(conversation, data);
    this.#entriesLimited.delete(conversation);
  }

  /** Whether the worker's limits forbid an entry. */
  #isForbidden(conversation, data) {
    const { here_data: most, entered_conversations: room } = this.#limits;
    const bytes = data === null ? 0 : utf8Length(data);
    if (bytes > most) {
      // It counts as sent, so that the app gets one problem; the worker goes on showing the previous data.
      this.#entriesTold.set(conversation, data);
      this.#entriesLimited.add(conversation);
      this.problems.push(
        new RollcallError("limit", `what is shown in ${conversation} has ${bytes} bytes, and the worker allows ${most}`));
      return true;
    }
    const isNew = !this.#entriesTold.has(conversation) || this.#entriesLimited.has(conversation);
    if (!isNew || this.#entriesTold.size - this.#entriesLimited.size < room) return false;
    this.#isBeyondEntries = true;
    return true;
  }

  /** This device is no longer there, so there may be room for what a limit forbade. */
  #entryEnded(conversation) {
    if (!this.#entriesTold.delete(conversation)) return;
    for (const other of this.#entriesLimited) this.#entriesTold.delete(other);
    this.#entriesLimited.clear();
  }

  /** Takes the signals of joined conversations. Others wait for a join that is due, or are dropped if none is to come. */
  #takeSignals(takes) {
    const hasRoom = this.conversations.servedCount < this.#limits.joined_conversations;
    this.#signals = this.#signals.filter((signal) => {
      const { conversation, kind, stop } = signal;
      if (!this.conversations.isServed(conversation)) return hasRoom && this.conversations.isDue(conversation);
      const isNamed = kind && kind !== "typing";
      const message = { type: "typing", conversation, typing: kind !== null, ...isNamed && { kind }, id: undefined };
      if (!takes(message)) return true;
      if (stop) message.id = this.#newID({ stop });
      return false;
    });
  }

  #newID(subject) {
    this.#lastID += 1;
    this.#unanswered.set(this.#lastID, subject);
    return this.#lastID;
  }

  /** How many users fit into one message, whose names have 128 bytes at most, or twice that if all are escaped. */
  get #usersPerMessage() { return Math.max(1, Math.floor((this.#limits.message_bytes - 128) / 260)); }

  /** As many of these users as certainly fit into one message: names may have 255 bytes. */
  #fitting(users) {
    let room = this.#limits.message_bytes - 128;
    const fit = users.slice(0, this.#usersPerMessage).findIndex((user) => (room -= 2 * utf8Length(user) + 4) < 0);
    return users.slice(0, fit < 0 ? this.#usersPerMessage : Math.max(1, fit));
  }
}
