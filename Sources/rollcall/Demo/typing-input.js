// The one who types: from the edits of a field to signals on the wire.

/**
 * Turns the edits of an input field into typing. Hand it the field's whole text on each edit; it returns at once.
 *
 * A field must stay non-empty for `debounce` before anyone hears of it; while the person goes on, the signal is renewed
 * once per throttle; it stops at once when the field is empty, and `inactivity` after the last edit.
 */
export class TypingInput {
  debounce = 300;
  inactivity = 3_000;

  #conversation;
  #client;
  #typing = false;
  #filledAt = null;
  #editedAt = 0;
  #start = null;
  #renewal = null;
  #idle = null;

  constructor(conversation, client) {
    this.#conversation = conversation;
    this.#client = client;
  }

  edit(text) {
    if (text.trim() === "") return void this.stop();
    const now = performance.now();
    this.#editedAt = now;
    this.#filledAt ??= now;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#pause(), this.inactivity);
    if (this.#typing || this.#start) return;
    const wait = this.#filledAt + this.debounce - now;
    if (wait > 0) this.#start = setTimeout(() => this.#begin(), wait);
    else this.#begin();
  }

  /** The field is empty, or was sent. Resolves once nobody can see this typing any more. */
  stop() {
    this.#filledAt = null;
    return this.#pause();
  }

  /** @internal after a reconnect the state of now is said again. */
  reconnected() {
    if (this.#typing) this.#signal(true);
  }

  #begin() {
    this.#start = null;
    this.#typing = true;
    this.#signal(true);
    this.#renewal = setInterval(() => this.#signal(true), this.#client.typingTimes.throttle);
  }

  #pause() {
    clearTimeout(this.#start);
    clearTimeout(this.#idle);
    clearInterval(this.#renewal);
    this.#start = null;
    const wasTyping = this.#typing;
    this.#typing = false;
    return wasTyping ? this.#signal(false) : Promise.resolve();
  }

  #signal(typing) {
    return this.#client.signal(this.#conversation, typing);
  }
}
