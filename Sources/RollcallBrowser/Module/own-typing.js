// The user's own typing in this app: the input fields, and what the worker is told of them.

import { Alarm } from "./alarm.js";
import { InputField } from "./typing-field.js";
import { SECOND } from "./units.js";

/**
 * Without a connection, signals are dropped and the fields keep their state. A new connection is told what is true then.
 */
export class OwnTyping {
  #settings;
  #sender;
  #observations;
  #edited;
  /** How long after a signal the worker ends the typing. */
  #expiry = 3 * SECOND;
  /** The fields whose views are shown. */
  #fields = new Set();
  /** The signals that end typing and are not confirmed yet. */
  #stops = new Set();

  /** @param edited called on each edit */
  constructor(settings, sender, observations, edited) {
    this.#settings = settings;
    this.#sender = sender;
    this.#observations = observations;
    this.#edited = edited;
  }

  hasField(conversation) { return this.#fieldsIn(conversation).length > 0; }

  makeField(conversation) {
    return new InputField(conversation, this.#settings, this.#expiry, (signal) => {
      if (!this.#sender.isOpen || signal === "stopped" && this.#isTyping(conversation)) return;
      this.#sender.outbox.typingSignalled(signal === "typing", conversation);
      this.#sender.changed();
    });
  }

  fieldAppeared(field) {
    if (this.#sender.isClosed) return;
    field.expiryLearned(this.#expiry);
    this.#fields.add(field);
    this.#observations.join(field.conversation);
  }

  fieldEdited(field, hasText) {
    if (this.#sender.isClosed) return;
    if (hasText && !this.#fields.has(field)) this.fieldAppeared(field);
    this.#edited();
    field.edited(hasText);
  }

  fieldDisappeared(field) {
    field.ended();
    this.#fields.delete(field);
    this.#observations.release(field.conversation);
  }

  /**
   * Ends the typing in a field. Resolves with true once the end is published, and with false if that is not known after
   * `within` milliseconds.
   */
  endAndConfirm(field, within) {
    field.ended();
    const { conversation } = field;
    if (this.#isTyping(conversation)) return Promise.resolve(true);
    if (!this.#sender.isOpen) return Promise.resolve(false);
    // This worker was never told of the typing, so nobody sees it.
    if (!this.#sender.outbox.conversations.isRequested(conversation)) return Promise.resolve(true);
    return new Promise((resolve) => this.#sendStop(conversation, within, resolve));
  }

  #sendStop(conversation, within, resolve) {
    const stop = { end: (isPublished) => {
      alarm.set(null);
      this.#stops.delete(stop);
      resolve(isPublished);
    } };
    const alarm = new Alarm(() => stop.end(false));
    alarm.set(performance.now() + within);
    this.#stops.add(stop);
    this.#sender.outbox.typingSignalled(false, conversation, stop);
    this.#sender.changed();
  }

  endAll() { for (const field of this.#fields) field.ended(); }

  connectionOpened() { for (const field of this.#fields) field.connected(); }

  expiryLearned(expiry) {
    this.#expiry = expiry;
    for (const field of this.#fields) field.expiryLearned(expiry);
  }

  connectionLost() { for (const stop of [...this.#stops]) stop.end(false); }

  close() { this.#fields.clear(); }

  #fieldsIn(conversation) { return [...this.#fields].filter((field) => field.conversation === conversation); }
  #isTyping(conversation) { return this.#fieldsIn(conversation).some((field) => field.isTyping); }
}
