// The core of the client: joins the connection to what is observed, typed and sent.

import { Alarm } from "./alarm.js";
import { Connection } from "./connection.js";
import { DeviceState } from "./device-state.js";
import { REMOVED, workerError } from "./errors.js";
import { Observations } from "./observations.js";
import { OwnTyping } from "./own-typing.js";
import { PresenceFetches } from "./presence-fetches.js";
import { Sender } from "./sender.js";
import { ServerClock } from "./server-clock.js";
import { SECOND } from "./units.js";

/** The owner of a `Connection`. */
export class Engine {
  connection;
  observations;
  typing;
  fetches;
  #sender;
  #emit;
  #clock = new ServerClock();
  #clockAlarm = new Alarm(() => this.#requestTime());
  /** When the hello of this connection was sent. */
  #openedAt = 0;
  #welcome = null;
  #device;
  #deviceAlarm = new Alarm(() => {
    this.#device.deadlinePassed(performance.now());
    this.#deviceStateChanged();
  });
  /** The device's state as the worker knows it. */
  #sentState = null;

  /** @param emit dispatches an event of the client, given its type and detail */
  constructor(options, emit) {
    this.#emit = emit;
    this.connection = new Connection(options, this);
    this.#sender = new Sender(
      this.connection, (message) => this.observations.messageSent(message), (error) => this.#report(error));
    this.observations = new Observations(
      options, this.#sender, (conversation) => this.typing.hasField(conversation), () => this.#followClock());
    this.typing = new OwnTyping(options.typing, this.#sender, this.observations, () => this.#edited());
    this.fetches = new PresenceFetches(this.#sender);
    this.#device = new DeviceState(options.idleAfter);
  }

  /** The worker's time; until the first welcome, this device's. */
  get now() { return this.#clock.time(performance.now()); }
  /** The worker's time; null before the first welcome. */
  get serverTime() { return this.#welcome && this.now; }
  get deviceState() { return this.#device.state; }
  get #expiry() { return this.#welcome?.expiry ?? 3 * SECOND; }

  close() {
    if (this.#sender.isClosed) return Promise.resolve();
    this.typing.endAll();
    this.#sender.flush();
    this.#sender.isClosed = true;
    const closed = this.connection.end("closed", { goodbye: true });
    for (const part of [this.fetches, this.observations, this.typing]) part.close();
    this.#followClock();
    this.#deviceAlarm.set(null);
    return closed;
  }

  /** Ends the connection, but not the client. */
  disconnect({ goodbye }) {
    if (goodbye) this.typing.endAll();
    this.#sender.flush();
    return this.connection.end("idle", { goodbye });
  }

  #report(error) { this.#emit("problem", error); }

  // The worker's time.

  /** Requests the time while somebody may read when users were last seen. */
  #followClock() {
    const isRead = this.connection.isOpen && this.observations.hasPresences && this.deviceState !== "background";
    this.#clockAlarm.set(isRead ? this.#clock.deadline : null);
  }

  #requestTime() {
    this.#clock.timeRequested(performance.now());
    this.#sender.spend(1);
    this.connection.requestTime();
    this.#followClock();
  }

  timeReceived(time, askedAt) {
    const isSet = this.#clock.timeReceived(time, askedAt, performance.now());
    this.#followClock();
    if (isSet) this.observations.clockSet();
  }

  // The device's state.

  phaseChanged(phase) {
    const isBack = phase === "active" && this.deviceState === "background";
    if (phase === "background") this.typing.endAll();
    this.#device.phaseChanged(phase, performance.now());
    this.#deviceStateChanged();
    // A user who comes back must not see what a dead connection brought last.
    if (isBack) this.connection.networkChanged();
  }

  stateSet(state) {
    if (state === "background") this.typing.endAll();
    this.#device.stateSet(state, performance.now());
    this.#deviceStateChanged();
  }

  inputHappened() {
    this.#device.inputHappened(performance.now());
    this.#deviceStateChanged();
  }

  #edited() {
    this.#device.edited(performance.now());
    this.#deviceStateChanged();
  }

  #deviceStateChanged() {
    if (this.#sender.isClosed) return;
    this.#deviceAlarm.set(this.#device.deadline);
    if (!this.connection.isOpen || this.deviceState === this.#sentState) return;
    this.#sentState = this.deviceState;
    this.#followClock();
    this.#sender.outbox.stateChanged(this.deviceState);
    this.#sender.changed();
  }

  // Events of the connection.

  connectionOpened() {
    const now = performance.now();
    this.#sentState = this.deviceState;
    this.#openedAt = now;
    this.#clock.timeRequested(now);
    this.#followClock();
    this.#sender.connectionOpened(now);
    this.fetches.connectionOpened();
    this.typing.connectionOpened();
    this.#sender.flush();
  }

  welcomed(welcome) {
    this.#welcome = welcome;
    this.timeReceived(welcome.time, this.#openedAt);
    this.#sender.limitsReceived(welcome.limits);
    this.typing.expiryLearned(welcome.expiry);
    this.#sender.changed();
  }

  tokenRenewed(token) {
    this.#sender.outbox.tokenRenewed(token);
    this.#sender.changed();
  }

  /** The worker notices the loss too, and ends the user's typing by itself. */
  connectionLost() {
    this.#sender.connectionLost();
    this.#clockAlarm.set(null);
    this.typing.connectionLost();
    this.observations.connectionLost();
  }

  connectionChanged(state) { this.observations.connectionState.update(state); }

  wireUsed(detail) { this.#emit("wire", detail); }

  messageReceived(message) {
    switch (message.type) {
      case "presence": return this.#presencesReceived(message);
      case "typing": return this.observations.typingReceived(message, this.#expiry);
      case "members": return this.observations.membersReceived(message);
      case "removed": return this.observations.removed(message.conversation, workerError(REMOVED));
      case "ack": return this.#sender.outbox.acknowledged(message.id)?.stop?.end(true);
      case "error": return this.#errorReceived(message);
    }
  }

  #presencesReceived({ id, users }) {
    const now = performance.now();
    for (const presence of users) {
      this.#clock.timestampReceived(presence.updatedAt, now);
      this.observations.presenceReceived(presence);
    }
    this.#followClock();
    if (id !== undefined) this.fetches.received(id, users);
  }

  #errorReceived(message) {
    const { subject, outcome } = this.#sender.refused(message);
    if (outcome === "stale") this.#staleErrorReceived(message);
    if (outcome === "final") this.#refused(subject, message);
    if (subject?.conversation !== undefined) this.observations.dropUnusedConversation(subject.conversation);
    if (subject?.users && !subject.fetch) for (const user of subject.users) this.observations.dropUnusedPresence(user);
  }

  #refused({ conversation, fetch, stop, token }, message) {
    if (conversation !== undefined) this.observations.refused(conversation, workerError(message));
    else if (fetch) this.fetches.end(fetch);
    else if (stop) stop.end(false);
    // A worker that refuses a fresh token ends the session when the old one expires. Then a new session begins.
    else if (!token) this.#report(workerError(message));
  }

  /**
   * Reports an error that concerns nothing that is wanted now, except for errors of typing signals: a signal that could
   * not be published is followed by another, and a signal after a refused `join` fails for the same reason.
   */
  #staleErrorReceived(message) {
    if (!message.retry && message.code !== "not_joined") this.#report(workerError(message));
  }
}
