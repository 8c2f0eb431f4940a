// The centre of the client: joins the connection to what is observed, typed and sent.

import { Connection } from "./connection.js";
import { Alarm, Attention, isHidden, ServerClock } from "./attention.js";
import { MINUTE, RollcallError, SECOND, soon, steadyNow, warn, workerError } from "./messages.js";
import { Names } from "./names.js";
import { Outbox } from "./outbox.js";
import { OwnPerson } from "./person.js";
import { People } from "./people.js";
import { Rooms } from "./room.js";
import { HERE, MEMBERS } from "./subscriptions.js";
import { Observed } from "./updates.js";

export class Engine {
  /** How late a timer of a hidden page may be without sleep: browsers align them to a minute. */
  static #HELD_UP = MINUTE + 5 * SECOND;

  connection;
  connectionState = new Observed({ status: "idle" });
  /** Whether the connection has been down for `staleAfter`, and when it will have been. */
  isStale = new Observed(false);
  #staleAt = Infinity;
  #staleAfter;
  /** After how long in the background the connection ends by itself, when it will, and whether it has. */
  #restAfter = Infinity;
  #restAt = Infinity;
  #isResting = false;
  /** Functions to call at a moment: `{ at, body }`. */
  #calls = new Set();
  people = new People(this);
  rooms = new Rooms(this);
  names;
  outbox = new Outbox();
  isClosed = false;
  /** Whether a presence that is dropped is shown as that of a user who was never seen. */
  showsNobody = false;
  /** Whom the session may ask about, by names and patterns; null before the first welcome. */
  right = null;
  /** As the last welcome said. */
  ownUser;
  person = new OwnPerson(this);
  #emit;
  #attention;
  #clock = new ServerClock();
  #openedAt = 0;
  /** How long after a signal the worker ends the typing. */
  #expiry = 3 * SECOND;
  /** The ends of typing that somebody waits for: `{ deadline, end }`. */
  #stops = new Set();
  /** The functions that end the current observations. */
  #endings = new Set();
  #isSettling = false;
  #wasBeyondLimits = false;
  #alarm = new Alarm(() => this.#deadlinePassed(steadyNow()), (late) => this.#late(late));

  /** @param emit dispatches an event of the client, given its type and detail */
  constructor(options, emit) {
    this.#emit = emit;
    this.connection = new Connection(options, this);
    this.#attention = new Attention(options.idleAfter);
    this.#staleAfter = options.staleAfter ?? Infinity;
    this.names = new Names(options.names, (user) => this.rooms.nameCame(user), () => (
      new Set([...this.rooms].flatMap(({ users }) => users))), (delay, body) => this.callAt(steadyNow() + delay, body));
  }

  /** The worker's time; until the first welcome, this device's. */
  get now() { return this.#clock.time(steadyNow()); }
  /** When something last arrived, on the worker's clock, while the connection is down. */
  get staleSince() {
    const { isConnected, lastHeard } = this.connection;
    return isConnected || lastHeard === null ? null : this.#clock.time(lastHeard);
  }
  get isTimeKnown() { return this.#clock.isKnown; }
  get deviceState() { return this.#attention.state; }

  close() {
    if (this.isClosed) return Promise.resolve();
    this.endTyping();
    this.#flush();
    this.isClosed = this.showsNobody = true;
    const closed = this.connection.end("closed", { goodbye: true });
    // What is on the screen ends empty.
    this.people.close();
    this.names.close();
    this.rooms.close();
    // Behind the last values of observers that get one per task.
    soon(() => {
      for (const { body } of [...this.#calls]) body();
      for (const end of [...this.#endings]) end();
    });
    return closed;
  }

  connect() {
    this.#isResting = false;
    this.connection.connect();
    this.#restAt = Infinity;
    this.#planRest();
  }

  /** Ends the connection, but not the client. */
  disconnect({ goodbye, forgets = true }) {
    [this.#isResting, this.#restAt] = [false, Infinity];
    if (goodbye) this.endTyping();
    this.#flush();
    return this.connection.end("idle", { goodbye, forgets });
  }

  // MARK: Time

  /** Call this after whatever may change what is due. What one task undoes is never sent. */
  changed() {
    if (this.#isSettling) return;
    this.#isSettling = true;
    soon(() => {
      this.#isSettling = false;
      this.#settle();
    });
  }

  #settle() {
    this.rooms.settle();
    this.people.checkRule();
    this.#flush();
    this.#askTime(steadyNow());
    let deadline = Math.min(this.connection.deadline, this.people.deadline, this.#attention.deadline ?? Infinity);
    for (const stop of this.#stops) deadline = Math.min(deadline, stop.deadline);
    for (const room of this.rooms) {
      deadline = Math.min(deadline, room.deadline);
      for (const field of room.fields) deadline = Math.min(deadline, field.deadline);
    }
    for (const { at } of this.#calls) deadline = Math.min(deadline, at);
    deadline = Math.min(deadline, this.#staleAt, this.#restAt);
    if (this.connection.isOpen) deadline = Math.min(deadline, this.outbox.deadline);
    if (this.#isTimeRead) deadline = Math.min(deadline, this.#clock.deadline);
    this.#alarm.set(deadline === Infinity || this.isClosed ? null : deadline, {
      isUrgent: isHidden() && this.connection.isUrgent, keepsProcess: this.connection.isActive,
    });
  }

  callAt(at, body) {
    this.#calls.add({ at, body });
    this.changed();
  }

  #deadlinePassed(now) {
    this.connection.deadlinePassed(now);
    this.#attention.deadlinePassed(now);
    this.people.deadlinePassed(now);
    if (this.connection.isOpen) this.outbox.deadlinePassed(now);
    for (const stop of this.#stops) if (now >= stop.deadline) stop.end(false);
    for (const call of this.#calls) if (now >= call.at && this.#calls.delete(call)) call.body();
    if (now >= this.#staleAt) this.#becameStale();
    if (now >= this.#restAt) {
      this.disconnect({ goodbye: true, forgets: false });
      this.#isResting = true;
    }
    for (const room of this.rooms) {
      room.deadlinePassed(now);
      for (const field of room.fields) this.#signalled(field, field.deadlinePassed(now));
    }
    this.changed();
  }

  /** Sends what is due. */
  #flush() {
    if (!this.connection.isOpen) return;
    this.outbox.state = this.deviceState;
    const messages = this.outbox.take(steadyNow());
    this.connection.send(messages);
    for (const { type, users, conversation } of messages) {
      if (type === "unwatch") for (const user of users) this.people.tidy(user);
      if (type === "leave" || type === "join") this.rooms.tidy(conversation);
    }
    for (const problem of this.outbox.problems.splice(0)) this.report(problem);
    const { isBeyondLimits } = this.outbox;
    if (isBeyondLimits && !this.#wasBeyondLimits) {
      this.report(new RollcallError("limit", "more is observed, or entered, than the worker serves a session"));
    }
    this.#wasBeyondLimits = isBeyondLimits;
  }

  /** The connection has been down for `staleAfter`: only what a new one confirms, user by user, is shown from now on. */
  #becameStale() {
    this.#staleAt = Infinity;
    this.people.forget();
    for (const room of this.rooms) room.presenceForgotten();
    this.isStale.update(true);
  }

  /**
   * The timer was late. In a hidden page up to a minute is usual, and messages go on arriving: the worker is
   * asked. Otherwise this process did not run.
   */
  #late(late) {
    if (isHidden() && late < Engine.#HELD_UP) this.connection.check();
    else this.#woke(late);
  }

  /**
   * This process did not run for a while: what is shown may be as old, and the connection dead. So the worker is asked once,
   * and until it answers, what is shown counts as stale. An answer on the same connection confirms all of it.
   */
  #woke(late) {
    this.connection.networkChanged();
    if (this.connection.isDoubted && late >= this.#staleAfter) this.isStale.update(true);
  }

  /** A page that is seen again shows nothing that its worker was asked about and has not confirmed. */
  visibilityChanged() {
    if (!isHidden()) {
      this.#alarm.check();
      if (this.connection.isDoubted && this.#staleAfter < Infinity) this.isStale.update(true);
    }
    this.changed();
  }

  /** The browser had suspended the page. */
  resumed() {
    this.#alarm.check();
    this.#woke(this.#staleAfter);
    this.changed();
  }

  /** What was shown was another user's: everything is empty. */
  emptied() {
    this.showsNobody = true;
    this.people.forget();
    this.showsNobody = this.isClosed;
    this.rooms.emptied();
    this.ownUser = undefined;
    this.person.emptied();
    this.#becameStale();
  }

  connectionConfirmed() { this.isStale.update(false); }

  report(error) { this.#emit("problem", error); }

  wireUsed(detail) { this.#emit("wire", detail); }

  /** Whether somebody may read when users were last seen. */
  get #isTimeRead() {
    return this.connection.isOpen && this.deviceState !== "background" && this.people.hasLastSeen;
  }

  #askTime(now) {
    if (!this.#isTimeRead || now < this.#clock.deadline) return;
    this.#clock.timeRequested(now);
    if (this.connection.isPinging) return;
    this.outbox.spend(steadyNow());
    this.connection.ping();
  }

  timeReceived(time, askedAt) {
    if (this.#clock.timeReceived(time, askedAt, steadyNow())) {
      this.people.repeat();
      for (const room of this.rooms) room.members.repeat();
    }
    this.changed();
  }

  // MARK: The device's state

  phaseChanged(phase) {
    const isBack = phase === "active" && this.deviceState === "background";
    if (phase === "background") this.endTyping();
    this.#attention.phaseChanged(phase, steadyNow());
    this.#planRest();
    if (isBack) this.returned({ wasLong: true });
  }

  /** The user is back. After a while, they must not see what a dead connection brought last. */
  returned({ wasLong }) {
    const hasSlept = this.#alarm.check();
    if (wasLong && !hasSlept) this.connection.networkChanged();
    this.connection.returned();
  }

  stateSet(state) {
    if (state === "background") this.endTyping();
    this.#attention.stateSet(state, steadyNow());
    this.#planRest();
  }

  /** Who is in the background for so long has no connection. What is observed stays. */
  restsAfter(duration) {
    this.#restAfter = duration;
    this.#planRest();
  }

  #planRest() {
    if (this.deviceState !== "background") {
      this.#restAt = Infinity;
      if (this.#isResting) this.connect();
    } else if (this.connection.isActive) this.#restAt = Math.min(this.#restAt, steadyNow() + this.#restAfter);
    this.changed();
  }

  inputHappened(isCertain = true) {
    this.#attention.inputHappened(steadyNow(), isCertain);
    this.changed();
  }

  /** @param isInUse asked before the device becomes idle */
  asksBeforeIdle(isInUse) { this.#attention.isInUse = isInUse; }

  // MARK: Observing

  /**
   * Begins an observation. `observe` returns the function that ends it, and `finish` is called when it ends. Returns the
   * function that ends it.
   */
  begin(finish, observe) {
    const release = this.isClosed ? () => {} : observe();
    const end = () => {
      if (!this.#endings.delete(end)) return;
      release();
      finish();
    };
    this.#endings.add(end);
    if (this.isClosed) soon(end);
    return end;
  }

  /** @param {Observed} observed `connectionState`, `isStale` or `person.shown` */
  observeValue(observed, receive, finish) {
    const observer = { receive };
    return this.begin(finish, () => {
      observed.add(observer);
      return () => observed.remove(observer);
    });
  }

  namesChanged() { this.names.changed(); }

  // MARK: The user's own typing. Without a connection, signals are dropped, and the fields keep their state.

  fieldAppeared(field) {
    if (this.isClosed) return;
    field.expiryLearned(this.#expiry);
    const room = this.rooms.open(field.conversation);
    room.fields.add(field);
    this.rooms.want(room);
  }

  /** A field that is not shown, and an app in the background, do not type, whatever the program does with the text. */
  fieldEdited(field, hasText, kind) {
    if (this.isClosed || this.deviceState === "background" || !this.rooms.get(field.conversation)?.fields.has(field)) return;
    const now = steadyNow();
    this.#attention.edited(now);
    this.#signalled(field, field.edited(hasText, kind, now));
    this.changed();
  }

  fieldEnded(field) { this.#signalled(field, field.ended()); }

  fieldDisappeared(field) {
    this.fieldEnded(field);
    const room = this.rooms.get(field.conversation);
    if (room?.fields.delete(field)) this.rooms.want(room);
  }

  /**
   * A conversation may have several fields (two windows of an app): the user types there while any is typed in, and does
   * what the one edited last says.
   */
  #signalled(field, signal, stop = undefined) {
    const { conversation } = field;
    if (signal === null || !this.connection.isOpen) return;
    const typedIn = this.rooms.get(conversation)?.typedIn;
    if (!signal && typedIn) return;
    this.outbox.typingSignalled(signal ? typedIn?.kind ?? "typing" : null, conversation, stop);
    this.changed();
  }

  /** Resolves with true once the end is published, and with false if that is not known after `within` milliseconds. */
  fieldEndedConfirmed(field, within) {
    this.fieldEnded(field);
    if (this.rooms.get(field.conversation)?.typedIn) return Promise.resolve(true);
    if (!this.connection.isOpen) return Promise.resolve(false);
    // This worker was never told of the typing, so nobody sees it.
    if (this.outbox.conversations.asked(field.conversation) === undefined) return Promise.resolve(true);
    return new Promise((resolve) => {
      const stop = { deadline: steadyNow() + within, end: (isPublished) => {
        this.#stops.delete(stop);
        resolve(isPublished);
      } };
      this.#stops.add(stop);
      this.#signalled(field, false, stop);
    });
  }

  endTyping() { for (const field of this.rooms.fields) this.fieldEnded(field); }

  // MARK: What the connection tells

  connectionOpened() {
    const now = steadyNow();
    this.#openedAt = now;
    this.#clock.timeRequested(now);
    this.outbox.connectionOpened(this.deviceState, now);
    this.people.connectionOpened();
    for (const field of this.rooms.fields) this.#signalled(field, field.connected(now));
    this.#flush();
    this.changed();
  }

  welcomed({ user, time, limits, expiry, coalesce, right }) {
    this.ownUser = user;
    const former = this.right;
    this.right = right;
    if (String(former) !== String(right)) this.rooms.ruleChanged();
    if (!former) this.people.ruleLearned();
    this.people.ruleChanged();
    this.#expiry = expiry;
    for (const field of this.rooms.fields) field.expiryLearned(expiry);
    this.outbox.limitsReceived(limits, coalesce, steadyNow());
    this.timeReceived(time, this.#openedAt);
  }

  tokenRenewed(token) {
    this.outbox.token = token;
    this.changed();
  }

  /** The worker notices the loss too, and ends the user's typing by itself. */
  connectionLost() {
    this.outbox.connectionLost();
    for (const stop of this.#stops) stop.end(false);
    this.rooms.tidyAll();
    this.people.tidyAll();
    this.changed();
  }

  connectionChanged(state) {
    if (state.status === "connected") {
      this.#staleAt = Infinity;
      this.isStale.update(false);
    } else if (!this.isClosed && this.#staleAt === Infinity) {
      // Also for a client that has never connected. Whether what a connection showed was stale already, its end decides.
      if (!this.isStale.latest) this.#staleAt = steadyNow() + this.#staleAfter;
      else if (this.connectionState.latest.status === "connected") this.#becameStale();
    }
    this.connectionState.update(state);
    if (state.status === "failed" && !this.connectionState.isObserved) warn(state.error);
  }

  messageReceived(message) {
    const room = this.rooms.get(message.conversation);
    const now = steadyNow();
    switch (message.type) {
      case "presence":
        for (const presence of message.users) this.people.received(presence);
        if (this.outbox.gotten(message.id, message.users.map(({ user }) => user))) this.people.readReceived(message.users);
        break;
      case "typing": room?.typingReceived(message, this.#expiry, now); break;
      case "members":
        this.outbox.membersShown(message.people.length, message.conversation);
        if (this.outbox.conversations.asked(message.conversation) & MEMBERS) room?.membersReceived(message, now);
        break;
      case "here": if (this.outbox.conversations.asked(message.conversation) & HERE) room?.hereReceived(message); break;
      case "person": this.person.received(message.settings); break;
      case "removed":
        this.outbox.removed(message.conversation, now);
        room?.refused(new RollcallError("not_a_member", "the user is no longer a member"));
        this.rooms.tidy(message.conversation);
        break;
      case "ack": this.#answered(this.outbox.acknowledged(message.id) ?? {}, true); break;
      case "error": this.#errorReceived(message, now); break;
    }
    this.changed();
  }

  /**
   * Reports an error that concerns nothing that is wanted now, except for errors of typing signals: a signal that could
   * not be published is followed by another, and a signal after a refused `join` fails for the same reason.
   */
  #errorReceived(message, now) {
    const refused = this.outbox.refused(message, now);
    const error = workerError(message);
    if (!refused) return message.retry || message.code === "not_joined" ? undefined : this.report(error);
    const { conversation, get, stop, token, person, isFinal } = refused;
    if (person) this.person.changed();
    if (conversation !== undefined) {
      if (isFinal) this.rooms.get(conversation)?.refused(error);
      this.rooms.tidy(conversation);
    } else if (stop || token) {
      if (isFinal) this.#answered(refused, false);
    } else if (isFinal) get ? this.people.readRefused(get) : this.report(error);
  }

  /** The end of typing is published, or a fresh token is taken; or not. */
  #answered({ stop, token, person }, isAccepted) {
    stop?.end(isAccepted);
    if (person) this.person.changed();
    if (token) this.connection.renewalAnswered(token, isAccepted);
  }
}
