import { Agenda } from "./agenda.js";
import { Alarm } from "./alarm.js";
import { Attention } from "./attention.js";
import { Connector } from "./connector.js";
import { refusalError, REMOVED, RollcallError } from "./errors.js";
import { MessageBudget } from "./message-budget.js";
import { NameBook } from "./name-book.js";
import { Gathering, Room } from "./room.js";
import { ServerClock } from "./server-clock.js";
import { PresenceGroup, Topic } from "./topic.js";
import { InputField } from "./typing-field.js";
import { SECOND } from "./units.js";

/** The heart of the client: joins the decisions (what to tell the worker, what to show to whom) to the connection. */
export class Engine {
  connection = new Topic({ status: "idle" });
  connector;
  #options;
  #emit;
  #agenda = new Agenda();
  #budget = new MessageBudget(0);
  #clock = new ServerClock();
  /** When the hello of this connection was sent. */
  #openedAt = 0;
  #attention;
  #toldState = null;
  #welcome = null;
  #presences = new Map();
  #rooms = new Map();
  /** The inputs whose views are shown. */
  #fields = new Set();
  #fetches = new Set();
  #stops = new Set();
  /** What ends the observations that are under way. */
  #endings = new Set();
  #names;
  #isFlushDue = false;
  #isBeyondLimits = false;
  #isClosed = false;
  #budgetAlarm = new Alarm(() => this.#flush());
  #clockAlarm = new Alarm(() => this.#askForTime());
  /** Sends again what was refused for now. */
  #retryAlarm = new Alarm(() => {
    this.#agenda.retryDue();
    this.#changed();
  });
  #attentionAlarm = new Alarm(() => {
    this.#attention.deadlinePassed(performance.now());
    this.#attentionChanged();
  });

  constructor(options, emit) {
    this.#options = options;
    this.#emit = emit;
    this.#attention = new Attention(options.idleAfter);
    this.#names = new NameBook(
      options.names, options.connectTimeout,
      (users) => { for (const room of this.#rooms.values()) room.namesLearnt(users); },
      () => new Set([...this.#rooms.values()].flatMap((room) => room.users)));
    this.connector = new Connector(options, this);
  }

  get now() { return this.#clock.time(performance.now()); }
  /** The worker's time; null before the first welcome. */
  get serverTime() { return this.#welcome && this.now; }
  get deviceState() { return this.#attention.state; }
  get #expiry() { return this.#welcome?.expiry ?? 3 * SECOND; }

  close() {
    if (this.#isClosed) return Promise.resolve();
    this.endFields();
    this.#flush();
    this.#isClosed = true;
    const closed = this.connector.end("closed", { goodbye: true });
    for (const fetch of this.#fetches) this.#endFetch(fetch);
    for (const end of [...this.#endings]) end();
    for (const room of this.#rooms.values()) room.end();
    for (const part of [this.#presences, this.#rooms, this.#fields]) part.clear();
    this.#followClock();
    this.#attentionAlarm.set(null);
    this.#names.close();
    return closed;
  }

  /** Ends the connection, not the client. */
  disconnect({ goodbye }) {
    if (goodbye) this.endFields();
    this.#flush();
    return this.connector.end("idle", { goodbye });
  }

  // Sending.

  /** Sends what is due at the end of this task, so that what one task undoes is never sent. */
  #changed() {
    if (this.#isFlushDue || !this.connector.isOpen) return;
    this.#isFlushDue = true;
    queueMicrotask(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  #flush() {
    if (!this.connector.isOpen) return;
    const now = performance.now();
    const messages = this.#agenda.take(this.#budget.allowance(now));
    this.#budget.spend(messages.length);
    this.connector.send(messages);
    if (!this.connector.isOpen) return;
    for (const message of messages) this.#dropUnwanted(message);
    this.#budgetAlarm.set(this.#agenda.hasMore ? this.#budget.nextRoom : null);
    this.#warnOfLimits();
  }

  #warnOfLimits() {
    const { isBeyondLimits } = this.#agenda;
    if (isBeyondLimits && !this.#isBeyondLimits) {
      this.#report(
        new RollcallError("limit", "more users or conversations are observed than the worker serves a session"));
    }
    this.#isBeyondLimits = isBeyondLimits;
  }

  #report(error) { this.#emit("problem", error); }

  // Observing. The first observer of a thing makes the worker be asked for it, the last one to go makes it be given up.

  /** Observes the connection. Like the other two, returns what ends it. */
  observeConnection(hear, finish) {
    const observer = { hear };
    this.connection.add(observer);
    return this.#begin(finish, () => this.connection.remove(observer));
  }

  observeTyping(conversation, hear, finish) {
    if (this.#isClosed) return endedAtOnce(finish);
    const observer = { hear };
    this.#room(conversation).topic.add(observer);
    return this.#begin(finish, () => {
      this.#rooms.get(conversation)?.topic.remove(observer);
      this.#releaseRoom(conversation);
    });
  }

  observeMembers(conversation, hear, finish) {
    if (this.#isClosed) return endedAtOnce(finish);
    const observer = { hear };
    const room = this.#room(conversation);
    room.gathering ??= new Gathering(conversation, this.#names, (user, heard) => this.#listen(user, heard));
    room.gathering.topic.add(observer);
    this.#agenda.gatherings.want(conversation);
    return this.#begin(finish, () => {
      this.#rooms.get(conversation)?.gathering?.topic.remove(observer);
      this.#releaseGathering(conversation);
      this.#releaseRoom(conversation);
    });
  }

  observePresence(users, hear, finish) {
    if (this.#isClosed) return endedAtOnce(finish);
    const observers = users.map((user) => ({ user, hear, isWatching: true }));
    for (const observer of observers) this.#want(observer);
    return this.#begin(finish, () => {
      for (const observer of observers) this.#release(observer);
    });
  }

  observePresenceOfMany(users, hear, finish) {
    let isOver = false;
    const group = new PresenceGroup((presences) => isOver || hear(presences));
    const end = this.observePresence(users, (presence) => group.heard(presence), finish);
    return () => {
      isOver = true;
      end();
    };
  }

  latestMembers(conversation) { return this.#rooms.get(conversation)?.gathering?.topic.latest; }
  latestTyping(conversation) { return this.#rooms.get(conversation)?.topic.latest; }
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
    if (this.#isClosed) queueMicrotask(end);
    return end;
  }

  #presence(user) {
    const topic = this.#presences.get(user) ?? new Topic();
    this.#presences.set(user, topic);
    this.#followClock();
    return topic;
  }

  /** Hears of a user whom the worker tells of anyway. */
  #listen(user, hear) {
    const observer = { user, hear };
    this.#presence(user).add(observer);
    return () => this.#release(observer);
  }

  #want(observer) {
    this.#presence(observer.user).add(observer);
    this.#agenda.users.want(observer.user);
    this.#changed();
  }

  #release(observer) {
    const { user } = observer;
    const topic = this.#presences.get(user);
    topic?.remove(observer);
    if (!topic || topic.isWatched) return;
    this.#agenda.users.unwant(user);
    this.#tidyPresence(user);
    this.#changed();
  }

  /** The conversation's room, which the worker is asked for from now on (again, if it refused before). */
  #room(conversation) {
    const room = this.#rooms.get(conversation) ?? new Room(conversation, this.#names);
    this.#rooms.set(conversation, room);
    this.#agenda.conversations.want(conversation);
    this.#changed();
    return room;
  }

  #isUsed(room) {
    return room.isObserved || this.#fieldsIn(room.conversation).length > 0;
  }

  #releaseRoom(conversation) {
    const room = this.#rooms.get(conversation);
    if (!room || this.#isUsed(room)) return;
    this.#agenda.conversations.unwant(conversation);
    this.#tidyRoom(conversation);
    this.#changed();
  }

  #releaseGathering(conversation) {
    const room = this.#rooms.get(conversation);
    if (!room?.gathering || room.gathering.topic.isObserved) return;
    this.#agenda.gatherings.unwant(conversation);
    this.#tidyRoom(conversation);
    this.#changed();
  }

  // What nobody observes is kept while the worker still tells of it, for whoever comes before it is told to stop.

  #tidyRoom(conversation) {
    const room = this.#rooms.get(conversation);
    if (!room) return;
    const isGathering = room.gathering?.topic.isObserved || this.#agenda.gatherings.wasTold(conversation);
    if (!isGathering) room.endGathering();
    if (this.#isUsed(room) || this.#agenda.conversations.wasTold(conversation)) return;
    room.end();
    this.#rooms.delete(conversation);
  }

  #tidyPresence(user) {
    const isKept = this.#presences.get(user)?.isObserved || this.#agenda.users.wasTold(user);
    if (!isKept) this.#presences.delete(user);
    this.#followClock();
  }

  // The worker's time. It is asked for while somebody may read when others were last seen.

  #followClock() {
    const isRead = this.connector.isOpen && this.#presences.size > 0 && this.deviceState !== "background";
    this.#clockAlarm.set(isRead ? this.#clock.deadline : null);
  }

  #askForTime() {
    this.#clock.askedForTime(performance.now());
    this.#budget.spend(1);
    this.connector.askForTime();
    this.#followClock();
  }

  timeHeard(time, asked) {
    const isSet = this.#clock.timeHeard(time, asked, performance.now());
    this.#followClock();
    if (!isSet) return;
    for (const topic of this.#presences.values()) topic.tellAgain();
    for (const room of this.#rooms.values()) room.gathering?.topic.tellAgain();
  }

  /**
   * What was given up by this message is forgotten.
   *
   * @param {{ type: string, users?: string[], conversation?: string, presence?: boolean }} message
   */
  #dropUnwanted({ type, users, conversation, presence }) {
    if (type === "unwatch") for (const user of users) this.#tidyPresence(user);
    if (type === "leave" || type === "join" && presence === false) this.#tidyRoom(conversation);
  }

  // One's own typing. Without a connection signals are dropped; the fields go on deciding, and a new connection hears
  // what is true then.

  makeField(conversation) {
    return new InputField(conversation, this.#options.typing, this.#expiry, (signal) => {
      if (!this.connector.isOpen || signal === "stopped" && this.#isTyping(conversation)) return;
      this.#agenda.signalled(signal === "typing", conversation);
      this.#changed();
    });
  }

  fieldAppeared(field) {
    if (this.#isClosed) return;
    field.expiryLearnt(this.#expiry);
    this.#fields.add(field);
    this.#room(field.conversation);
  }

  fieldEdited(field, filled) {
    if (this.#isClosed) return;
    if (filled && !this.#fields.has(field)) this.fieldAppeared(field);
    this.#attention.edited(performance.now());
    this.#attentionChanged();
    field.edited(filled);
  }

  fieldDisappeared(field) {
    field.ended();
    this.#fields.delete(field);
    this.#releaseRoom(field.conversation);
  }

  endFields() { for (const field of this.#fields) field.ended(); }

  /** Ends the field's typing; resolves once that is published (true), or it is not known to be (false). */
  fieldEndedForSure(field, within) {
    field.ended();
    const { conversation } = field;
    if (this.#isTyping(conversation)) return Promise.resolve(true);
    if (!this.connector.isOpen) return Promise.resolve(false);
    // What this worker was never told nobody sees.
    if (!this.#agenda.conversations.wasTold(conversation)) return Promise.resolve(true);
    return new Promise((resolve) => this.#stop(conversation, within, resolve));
  }

  #stop(conversation, within, resolve) {
    const stop = { end: (published) => {
      alarm.set(null);
      this.#stops.delete(stop);
      resolve(published);
    } };
    const alarm = new Alarm(() => stop.end(false));
    alarm.set(performance.now() + within);
    this.#stops.add(stop);
    this.#agenda.signalled(false, conversation, stop);
    this.#changed();
  }

  #fieldsIn(conversation) { return [...this.#fields].filter((field) => field.conversation === conversation); }
  #isTyping(conversation) { return this.#fieldsIn(conversation).some((field) => field.isTyping); }

  // The device's own state.

  phaseChanged(phase) {
    const isBack = phase === "active" && this.deviceState === "background";
    if (phase === "background") this.endFields();
    this.#attention.phaseChanged(phase, performance.now());
    this.#attentionChanged();
    // Whoever comes back to the front must not look at what a dead connection last brought.
    if (isBack) this.connector.networkChanged();
  }

  stateSet(state) {
    if (state === "background") this.endFields();
    this.#attention.stateSet(state, performance.now());
    this.#attentionChanged();
  }

  inputHappened() {
    this.#attention.inputHappened(performance.now());
    this.#attentionChanged();
  }

  #attentionChanged() {
    if (this.#isClosed) return;
    this.#attentionAlarm.set(this.#attention.deadline);
    if (!this.connector.isOpen || this.deviceState === this.#toldState) return;
    this.#toldState = this.deviceState;
    this.#followClock();
    this.#agenda.stateChanged(this.deviceState);
    this.#changed();
  }

  // Presence once.

  /** Resolves with what is known once all is, or `within` is over, or `signal` says so. */
  fetch(users, within, signal) {
    return new Promise((resolve) => {
      if (this.#isClosed || users.length === 0 || signal?.aborted) return resolve(new Map());
      const end = () => this.#endFetch(fetch);
      const alarm = new Alarm(end);
      const fetch = { awaited: new Set(users), found: new Map(), done: (found) => {
        alarm.set(null);
        signal?.removeEventListener("abort", end);
        resolve(found);
      } };
      signal?.addEventListener("abort", end);
      alarm.set(performance.now() + within);
      this.#fetches.add(fetch);
      this.#askFor(fetch);
    });
  }

  #askFor(fetch) {
    if (!this.connector.isOpen) return;
    this.#agenda.fetchWanted(fetch, [...fetch.awaited]);
    this.#changed();
  }

  #endFetch(fetch) {
    if (!this.#fetches.delete(fetch)) return;
    this.#agenda.fetchEnded(fetch);
    fetch.done(fetch.found);
  }

  #fetchHeard(fetch, presences) {
    for (const presence of presences) {
      if (fetch.awaited.delete(presence.user)) fetch.found.set(presence.user, presence);
    }
    if (fetch.awaited.size === 0) this.#endFetch(fetch);
  }

  // What the connector tells.

  connectionOpened() {
    const now = performance.now();
    this.#toldState = this.deviceState;
    this.#openedAt = now;
    this.#clock.askedForTime(now);
    this.#followClock();
    this.#budget = new MessageBudget(now);
    if (this.#welcome) this.#budget.limitsLearnt(this.#welcome.limits, now);
    this.#budget.spend(1);
    for (const fetch of this.#fetches) this.#agenda.fetchWanted(fetch, [...fetch.awaited]);
    for (const field of this.#fields) field.connected();
    this.#flush();
  }

  welcomed(welcome) {
    this.#welcome = welcome;
    this.timeHeard(welcome.time, this.#openedAt);
    this.#agenda.limitsLearnt(welcome.limits);
    this.#budget.limitsLearnt(welcome.limits, performance.now());
    for (const field of this.#fields) field.expiryLearnt(this.#expiry);
    this.#changed();
  }

  tokenRenewed(token) {
    this.#agenda.tokenRenewed(token);
    this.#changed();
  }

  /** Its worker has seen that too, and ends one's typing by itself. What nobody observes is forgotten. */
  connectionLost() {
    this.#agenda.connectionLost();
    this.#budgetAlarm.set(null);
    this.#retryAlarm.set(null);
    this.#clockAlarm.set(null);
    for (const stop of [...this.#stops]) stop.end(false);
    for (const conversation of this.#rooms.keys()) this.#tidyRoom(conversation);
    for (const user of this.#presences.keys()) this.#tidyPresence(user);
  }

  connectionChanged(state) { this.connection.update(state); }

  wireCarried(detail) { this.#emit("wire", detail); }

  messageReceived(message) {
    switch (message.type) {
      case "presence": return this.#presencesHeard(message);
      case "typing": return this.#rooms.get(message.conversation)?.heard(message, this.#expiry);
      case "members": return this.#rooms.get(message.conversation)?.gathering?.heard(message);
      case "removed": return this.#removed(message.conversation);
      case "ack": return this.#acknowledged(message.id);
      case "error": return this.#errorReceived(message);
    }
  }

  #presencesHeard({ id, users }) {
    const now = performance.now();
    for (const presence of users) {
      this.#clock.momentHeard(presence.updatedAt, now);
      this.#presences.get(presence.user)?.update(presence);
    }
    this.#followClock();
    if (id === undefined) return;
    this.#agenda.getAnswered(id);
    const fetch = this.#agenda.fetchOf(id);
    if (fetch) this.#fetchHeard(fetch, users);
    this.#changed();
  }

  #acknowledged(id) { this.#agenda.acknowledged(id)?.stop?.end(true); }

  #errorReceived(message) {
    const { subject, fate } = this.#agenda.refused(message, performance.now());
    this.#retryAlarm.set(this.#agenda.retryTime);
    this.#changed();
    if (fate === "stale") this.#strayErrorReceived(message);
    if (fate === "final") this.#refusedForGood(subject, message);
    if (subject?.conversation !== undefined) this.#tidyRoom(subject.conversation);
    if (subject?.users && !subject.fetch) for (const user of subject.users) this.#tidyPresence(user);
  }

  #refusedForGood({ conversation, fetch, stop, token }, message) {
    if (conversation !== undefined) this.#showRefusal(conversation, refusalError(message));
    else if (fetch) this.#endFetch(fetch);
    else if (stop) stop.end(false);
    // A worker that takes no token ends the session when the old one expires; then a new one begins.
    else if (!token) this.#report(refusalError(message));
  }

  /**
   * Typing that could not be published is weather; the field goes on signalling. Where a join was refused, the refusal
   * of the typing behind it says nothing new.
   */
  #strayErrorReceived(message) {
    if (!message.retry && message.code !== "not_joined") this.#report(refusalError(message));
  }

  #removed(conversation) {
    this.#agenda.conversations.refused(conversation);
    this.#agenda.gatherings.refused(conversation);
    this.#showRefusal(conversation, refusalError(REMOVED));
    this.#tidyRoom(conversation);
  }

  #showRefusal(conversation, error) { this.#rooms.get(conversation)?.refused(error); }
}

/** For an observation that ends as it begins. */
function endedAtOnce(finish) {
  queueMicrotask(finish);
  return () => {};
}
