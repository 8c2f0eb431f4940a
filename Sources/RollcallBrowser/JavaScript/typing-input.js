// The input field of a conversation, as an app holds it.

import { SECOND } from "./units.js";
import { DISPOSE, onAbort } from "./updates.js";

/**
 * One input field of one conversation. While its view is shown, the conversation is joined. Hiding the view, or leaving
 * the scope of a `using`, ends the typing.
 */
export class TypingInput {
  /** Ends the typing of inputs that an app dropped without a call. */
  static #dropped = new FinalizationRegistry((end) => end());

  #typing;
  #field;

  /** @internal */
  constructor(conversation, typing, signal) {
    this.conversation = conversation;
    this.#typing = typing;
    const field = typing.makeField(conversation);
    this.#field = field;
    if (signal?.aborted) return;
    this.appeared();
    const disappear = () => typing.fieldDisappeared(field);
    onAbort(signal, disappear);
    TypingInput.#dropped.register(this, disappear);
  }

  /**
   * Call this with the field's whole text after each edit. It returns at once, and no text is kept.
   *
   * @param {string} text
   */
  edited(text) { this.#typing.fieldEdited(this.#field, /\P{White_Space}/u.test(text)); }

  /** Call this when the text is sent: the typing ends now. */
  send() { this.#field.ended(); }

  /**
   * Like `send`, and waits until the end of the typing is published, so that no observer sees it after the message.
   *
   * @param {{ within?: number }} options how many milliseconds to wait at most
   * @returns {Promise<boolean>} false if the publication is not certain, for example without a connection. The typing
   *   ends in either case, and an app sends its message in either case.
   */
  sendConfirmed({ within = 2 * SECOND } = {}) { return this.#typing.endAndConfirm(this.#field, within); }

  /** Call this when the field's view is shown again. A new input counts as shown. */
  appeared() { this.#typing.fieldAppeared(this.#field); }

  /** Call this when the field's view is hidden: the typing ends now, and the conversation is no longer joined for it. */
  disappeared() { this.#typing.fieldDisappeared(this.#field); }

  [DISPOSE]() { this.disappeared(); }
}
