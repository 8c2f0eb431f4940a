// That this device has a conversation open, as an app holds it.

import { isObject } from "./messages.js";
import { DISPOSE, onAbort } from "./updates.js";

/** In JSON, an escaped backslash, or half of a surrogate pair, which many parsers refuse; the halves of a whole pair are not escaped. */
const ESCAPES = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;

/** Returns the JSON of what an entry shows, or null for nothing, or throws. Half of a surrogate pair becomes U+FFFD. */
function jsonOf(data) {
  if (data === undefined) return null;
  const json = JSON.stringify(data)?.replace(ESCAPES, (escape) => (escape === "\\\\" ? escape : "\ufffd"));
  if (json !== undefined && isObject(JSON.parse(json))) return json;
  throw new TypeError(`what an entry shows is an object that JSON can say, not ${data}`);
}

export class HereEntry {
  #engine;
  #signal;
  /** Ends the listening to the signal; null while the entry is closed. */
  #forget = null;

  /** @internal */
  constructor(conversation, engine, data, signal) {
    this.conversation = conversation;
    this.#engine = engine;
    this.#signal = signal;
    if (!signal?.aborted) this.show(data);
  }

  get [Symbol.toStringTag]() { return "HereEntry"; }

  show(data = undefined) {
    const json = jsonOf(data);
    if (this.#engine.isClosed) return;
    this.#forget ??= onAbort(this.#signal, () => this.close());
    this.#engine.rooms.entered(this.conversation, this, json);
  }

  close() {
    this.#forget?.();
    this.#forget = null;
    this.#engine.rooms.entered(this.conversation, this, undefined);
  }

  [DISPOSE]() { this.close(); }
}
