import { Engine } from "./engine.js";
import { named } from "./messages.js";
import { typingSettings } from "./typing-field.js";
import { TypingInput } from "./typing-input.js";
import { MINUTE, SECOND } from "./units.js";
import { DISPOSE, ending, Updates } from "./updates.js";

/**
 * A device's line to Rollcall: who is here, who is typing, and what others may know of this device.
 *
 * It reconnects for ever, and after each reconnect its `Updates` show the truth of then; only a mistake ends that, and
 * the connection's state says which. Every call returns at once.
 *
 * Events: `problem`, whose `detail` is a RollcallError that did not end the connection, for a log; and `wire`, whose
 * `detail` is `{ sent }` or `{ received }`, the text of a message, for debugging.
 */
export class RollcallClient extends EventTarget {
  #engine;

  /**
   * @param {import("../Module/rollcall.js").ClientOptions} options
   * @throws {InvalidTypingSettings}
   */
  constructor({
    url, device, token, typing, names, idleAfter = 5 * MINUTE, workerHosts = [], firstPause = 250, longestPause = 1_500,
    connectTimeout = 10 * SECOND, WebSocket = globalThis.WebSocket,
  }) {
    super();
    const options = {
      urls: [url].flat(), device: device === undefined ? undefined : named(device), token, names, idleAfter,
      workerHosts, firstPause, longestPause, connectTimeout, WebSocket, typing: typingSettings(typing),
    };
    this.#engine = new Engine(options, (type, detail) => this.dispatchEvent(new CustomEvent(type, { detail })));
  }

  /** Begins to connect, or to try again after `failed`. The device's presence begins with it. */
  connect() { this.#engine.connector.connect(); }

  /**
   * Ends the connection but not the client: `connect` begins again. Without a goodbye it goes as a lost network does,
   * and the worker keeps the device for its grace.
   *
   * @param {{ goodbye?: boolean }} options
   */
  disconnect({ goodbye = true } = {}) { return this.#engine.disconnect({ goodbye }); }

  /**
   * Says goodbye and ends: presence and typing of this device at once, everything that is observed, and the client for
   * good. Resolves once the goodbye has gone out, after two seconds at most.
   */
  close() { return this.#engine.close(); }

  [DISPOSE]() { this.close(); }

  /** How the client stands with its worker. */
  get connection() {
    const { connection } = this.#engine;
    return new Updates((hear, finish) => this.#engine.observeConnection(hear, finish), () => connection.latest);
  }

  /** The worker's time now, in milliseconds since 1970, for "last seen"; until the first welcome, this device's. */
  get now() { return this.#engine.now; }

  /** What this device says of itself: `active`, `idle` or `background`. */
  get deviceState() { return this.#engine.deviceState; }

  /**
   * Who types in a conversation. While it is observed, the conversation is joined.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  typing(conversation, { signal } = {}) {
    named(conversation);
    return new Updates(
      (hear, finish) => this.#engine.observeTyping(conversation, hear, finish),
      () => this.#engine.latestTyping(conversation), signal);
  }

  /**
   * Who belongs to a conversation, and who of them is here. While it is observed, the conversation is joined. The first
   * value comes when everybody's presence is known, or after a second.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  members(conversation, { signal } = {}) {
    named(conversation);
    return new Updates(
      (hear, finish) => this.#engine.observeMembers(conversation, hear, finish),
      () => this.#engine.latestMembers(conversation), signal);
  }

  /**
   * The presence of a user; or of several, as a map in which those still unknown are absent. While there is no
   * connection, what was last known stands. Told again, unchanged, when the worker's clock was set, since texts like
   * "last seen" are others then.
   *
   * @param {string | Iterable<string>} users
   * @param {{ signal?: AbortSignal }} options
   */
  presence(users, { signal } = {}) {
    const engine = this.#engine;
    if (typeof users === "string") {
      const user = [named(users)];
      return new Updates(
        (hear, finish) => engine.observePresence(user, hear, finish), () => engine.latestPresence(users), signal);
    }
    const several = [...new Set(users)].map(named);
    return new Updates(
      (hear, finish) => engine.observePresenceOfMany(several, hear, finish),
      () => engine.latestPresences(several), signal);
  }

  /**
   * The presence of a user, once: undefined if no answer came within the time, which is weather. Of several, a map in
   * which those of whom no answer came are absent.
   *
   * @param {string | Iterable<string>} users
   * @param {{ within?: number, signal?: AbortSignal }} options how many milliseconds to wait at most
   */
  async currentPresence(users, { within = 5 * SECOND, signal } = {}) {
    const several = typeof users === "string" ? [users] : [...new Set(users)];
    const found = await this.#engine.fetch(several.map(named), within, signal);
    return typeof users === "string" ? found.get(users) : found;
  }

  /**
   * One's own typing in a conversation, to be fed by one input field.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  typingInput(conversation, { signal } = {}) { return new TypingInput(named(conversation), this.#engine, signal); }

  /**
   * The app's phase: `active`; `inactive`, a glance elsewhere, which changes nothing; `background`, which ends one's
   * typing at once. A return to the front checks that the connection still lives.
   *
   * @param {"active" | "inactive" | "background"} phase
   */
  setPhase(phase) { this.#engine.phaseChanged(phase); }

  /**
   * The device's state outright, for an app that knows better than phases and input tell.
   *
   * @param {"active" | "idle" | "background"} state
   */
  setState(state) { this.#engine.stateSet(state); }

  /** The person touched this device. An app that calls this is idle `idleAfter` the last such call. */
  inputHappened() { this.#engine.inputHappened(); }

  /** The network came back or changed. The browser's own word on that is heard already. */
  networkChanged() { this.#engine.connector.networkChanged(); }

  /**
   * Takes phases and input from the page: hidden is background, a touch of pointer or key is input. A page that is left
   * ends its typing; it says no goodbye, since a reload is back within the grace and was never seen as gone.
   *
   * @returns what ends that
   */
  followPage() {
    const { document } = globalThis;
    const following = new AbortController();
    const on = (target, types, handle) => {
      for (const type of types) target.addEventListener(type, handle, { signal: following.signal, passive: true });
    };
    const follow = () => this.setPhase(document.hidden ? "background" : "active");
    let isLeft = false;
    let isSuspended = false;
    on(document, ["visibilitychange"], () => isLeft || follow());
    on(globalThis, ["pagehide"], ({ persisted }) => {
      isLeft = true;
      this.#engine.endFields();
      // A page that is kept for the way back may hold no connection.
      isSuspended = persisted && this.#engine.connector.isActive;
      if (isSuspended) this.disconnect({ goodbye: false });
    });
    on(globalThis, ["pageshow"], ({ persisted }) => {
      isLeft = false;
      if (persisted && isSuspended) this.connect();
      isSuspended = false;
      follow();
    });
    on(document, ["pointerdown", "pointermove", "wheel", "keydown", "touchstart"], () => this.inputHappened());
    follow();
    this.inputHappened();
    return ending(() => following.abort());
  }
}
