import { SECOND } from "./units.js";
import { DISPOSE, onAbort } from "./updates.js";

/**
 * One input field of one conversation. While its view is shown, the conversation is joined. Leaving the view, or the
 * scope of a `using`, ends the typing.
 */
export class TypingInput {
  /** Inputs that an app lost hold of, without a word, end all the same. */
  static #lost = new FinalizationRegistry((end) => end());

  #engine;
  #field;

  /** @internal */
  constructor(conversation, engine, signal) {
    this.conversation = conversation;
    this.#engine = engine;
    const field = engine.makeField(conversation);
    this.#field = field;
    if (signal?.aborted) return;
    this.appeared();
    const disappear = () => engine.fieldDisappeared(field);
    onAbort(signal, disappear);
    TypingInput.#lost.register(this, disappear);
  }

  /**
   * The field's whole text after an edit. Returns at once; nothing of the text is kept.
   *
   * @param {string} text
   */
  edited(text) { this.#engine.fieldEdited(this.#field, /\P{White_Space}/u.test(text)); }

  /** The text is about to be sent: the typing ends now. */
  send() { this.#field.ended(); }

  /**
   * `send`, and waits until the end of the typing is published, so that no observer sees it outlive the message.
   *
   * @param {{ within?: number }} options how many milliseconds to wait at most
   * @returns {Promise<boolean>} false if that could not be made sure of, for want of a connection perhaps; the typing
   *   ends all the same. An app sends its message in either case.
   */
  sendConfirmed({ within = 2 * SECOND } = {}) { return this.#engine.fieldEndedForSure(this.#field, within); }

  /** The field's view is shown (again). A new input counts as shown. */
  appeared() { this.#engine.fieldAppeared(this.#field); }

  /** The field's view is left: the typing ends now, and others' is no longer received for its sake. */
  disappeared() { this.#engine.fieldDisappeared(this.#field); }

  [DISPOSE]() { this.disappeared(); }
}
