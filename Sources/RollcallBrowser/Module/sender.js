// Sends the messages of the outbox, as fast as the worker allows.

import { Alarm } from "./alarm.js";
import { RollcallError } from "./errors.js";
import { costOf, MessageBudget } from "./message-budget.js";
import { Outbox } from "./outbox.js";

export class Sender {
  outbox = new Outbox();
  /** Whether the client was closed. Then nothing is observed or sent any more. */
  isClosed = false;
  #connection;
  #sent;
  #report;
  #budget = new MessageBudget(0);
  /** The worker's limits; null before the first welcome. */
  #limits = null;
  #isFlushDue = false;
  #isBeyondLimits = false;
  #budgetAlarm = new Alarm(() => this.flush());
  #retryAlarm = new Alarm(() => {
    this.outbox.retryDue();
    this.changed();
  });
  #rejoinAlarm = new Alarm(() => {
    this.outbox.rejoinDue(performance.now());
    this.#rejoinAlarm.set(this.outbox.rejoinTime);
    this.changed();
  });

  /**
   * @param sent called with each message that was sent
   * @param report called with an error that does not end the connection
   */
  constructor(connection, sent, report) {
    this.#connection = connection;
    this.#sent = sent;
    this.#report = report;
  }

  get isOpen() { return this.#connection.isOpen; }

  /** Sends what is due at the end of this task. What the same task undoes is never sent. */
  changed() {
    if (this.#isFlushDue || !this.isOpen) return;
    this.#isFlushDue = true;
    queueMicrotask(() => {
      this.#isFlushDue = false;
      this.flush();
    });
  }

  /** Sends what is due now. */
  flush() {
    if (!this.isOpen) return;
    const now = performance.now();
    const messages = this.outbox.take(this.#budget.allowance(now));
    this.#budget.spend(costOf(messages));
    this.#connection.send(messages);
    if (!this.isOpen) return;
    for (const message of messages) this.#sent(message);
    this.#budgetAlarm.set(this.outbox.hasMore ? this.#budget.nextRoom : null);
    this.#reportLimits();
  }

  /** Counts messages that do not come from the outbox. */
  spend(messages) { this.#budget.spend(messages); }

  #reportLimits() {
    const { isBeyondLimits } = this.outbox;
    if (isBeyondLimits && !this.#isBeyondLimits) {
      this.#report(
        new RollcallError("limit", "more users or conversations are observed than the worker serves a session"));
    }
    this.#isBeyondLimits = isBeyondLimits;
  }

  /** A connection has opened, on which only the hello was sent. */
  connectionOpened(now) {
    this.#budget = new MessageBudget(now);
    if (this.#limits) this.#budget.limitsReceived(this.#limits, now);
    this.#budget.spend(1);
  }

  limitsReceived(limits) {
    this.#limits = limits;
    this.outbox.limitsReceived(limits);
    this.#budget.limitsReceived(limits, performance.now());
  }

  connectionLost() {
    this.outbox.connectionLost();
    this.#budgetAlarm.set(null);
    this.#retryAlarm.set(null);
    this.#rejoinAlarm.set(null);
  }

  /** The worker refused a message. Returns the message's subject and the outcome, as `Outbox` does. */
  refused(message) {
    const refused = this.outbox.refused(message, performance.now());
    this.#retryAlarm.set(this.outbox.retryTime);
    this.#rejoinAlarm.set(this.outbox.rejoinTime);
    this.changed();
    return refused;
  }

  /** The worker ended a conversation. */
  removed(conversation) {
    this.outbox.removed(conversation, performance.now());
    this.#rejoinAlarm.set(this.outbox.rejoinTime);
  }
}
