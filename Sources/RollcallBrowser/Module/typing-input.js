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
    const forget = onAbort(signal, disappear);
    TypingInput.#dropped.register(this, () => {
      forget();
      disappear();
    });
  }

  /**
   * Reports the field's whole text after an edit. The text is not kept. White space alone does not count as typing.
   *
   * @param {string} text
   */
  edited(text) { this.#typing.fieldEdited(this.#field, /\P{White_Space}/u.test(text)); }

  /** Ends the typing. Call it right before the text is sent. */
  send() { this.#field.ended(); }

  /**
   * Like `send`, and waits until the worker has published the end, so that other users do not see typing after the
   * message.
   *
   * @param {{ within?: number }} options how many milliseconds to wait at most
   * @returns {Promise<boolean>} false if the worker did not confirm it in time, or if the client is disconnected. The
   *   typing ends in either case, and the app should send its message in either case.
   */
  sendConfirmed({ within = 2 * SECOND } = {}) { return this.#typing.endAndConfirm(this.#field, within); }

  /** Reports that the field's view is shown again. A new input counts as shown. */
  appeared() { this.#typing.fieldAppeared(this.#field); }

  /** Reports that the field's view is no longer shown: the typing ends, and the input leaves the conversation. */
  disappeared() { this.#typing.fieldDisappeared(this.#field); }

  [DISPOSE]() { this.disappeared(); }
}
