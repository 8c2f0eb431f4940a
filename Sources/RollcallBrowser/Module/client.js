// The client, as an app holds it.

import { Engine } from "./engine.js";
import { validName } from "./messages.js";
import { checkedTypingSettings } from "./typing-field.js";
import { TypingInput } from "./typing-input.js";
import { MINUTE, SECOND } from "./units.js";
import { DISPOSE, ending, Updates } from "./updates.js";

/**
 * A device's connection to Rollcall: who is online, who is typing, and what other users may know of this device.
 *
 * The client reconnects forever, and after each reconnect its `Updates` emit the current state. Only an error that a
 * retry cannot help ends that, and the connection's state contains this error. Calls return at once.
 *
 * Events: `problem`, whose `detail` is a RollcallError that did not end the connection, for a log; and `wire`, whose
 * `detail` is `{ sent }` or `{ received }`, the text of a message, for debugging.
 */
export class RollcallClient extends EventTarget {
  #engine;

  /**
   * @param {import("./rollcall.js").ClientOptions} options
   * @throws {InvalidTypingSettings}
   */
  constructor({
    url, device, token, typing, names, idleAfter = 5 * MINUTE, workerHosts = [], firstPause = 250, longestPause = 1_500,
    connectTimeout = 10 * SECOND, WebSocket = globalThis.WebSocket,
  }) {
    super();
    const options = {
      urls: [url].flat(), device: device === undefined ? undefined : validName(device), token, names, idleAfter,
      workerHosts, firstPause, longestPause, connectTimeout, WebSocket, typing: checkedTypingSettings(typing),
    };
    this.#engine = new Engine(options, (type, detail) => this.dispatchEvent(new CustomEvent(type, { detail })));
  }

  /** Connects, or tries again after `failed`. The device's presence begins with the connection. */
  connect() { this.#engine.connection.connect(); }

  /**
   * Ends the connection but not the client: `connect` connects again. Without a goodbye (`goodbye: false`), the worker
   * treats it as a lost connection and keeps the device for its grace period. Resolves once the connection is closed.
   *
   * @param {{ goodbye?: boolean }} options
   */
  disconnect({ goodbye = true } = {}) { return this.#engine.disconnect({ goodbye }); }

  /**
   * Says goodbye and closes the client for good: this device's presence and typing end at once, and so do all
   * observations. Resolves once the goodbye is sent, after two seconds at most.
   */
  close() { return this.#engine.close(); }

  [DISPOSE]() { this.close(); }

  /** The state of the connection. */
  get connection() {
    const { observations } = this.#engine;
    return new Updates(
      (receive, finish) => observations.observeConnection(receive, finish), () => observations.connectionState.latest);
  }

  /** The time on the worker's clock, in milliseconds since 1970. Before the first welcome, this device's clock. */
  get now() { return this.#engine.now; }

  /** The state of this device, as reported to the worker: `active`, `idle` or `background`. */
  get deviceState() { return this.#engine.deviceState; }

  /**
   * The users who are typing in a conversation. While it is observed, the conversation is joined.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  typing(conversation, { signal } = {}) {
    validName(conversation);
    const { observations } = this.#engine;
    return new Updates(
      (receive, finish) => observations.observeTyping(conversation, receive, finish),
      () => observations.latestTyping(conversation), signal);
  }

  /**
   * The members of a conversation and their presence. While it is observed, the conversation is joined. The first value
   * comes once the presence of all members is known, but at most one second after their names.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  members(conversation, { signal } = {}) {
    validName(conversation);
    const { observations } = this.#engine;
    return new Updates(
      (receive, finish) => observations.observeMembers(conversation, receive, finish),
      () => observations.latestMembers(conversation), signal);
  }

  /**
   * The presence of a user, or of several users as a map. Users whose presence is not known yet are absent from it.
   * While the client is disconnected, the last known presence stays. Emitted again without a change if the worker's
   * clock was set, since texts such as "last seen" then change.
   *
   * @param {string | Iterable<string>} users
   * @param {{ signal?: AbortSignal }} options
   */
  presence(users, { signal } = {}) {
    const { observations } = this.#engine;
    if (typeof users === "string") {
      const user = [validName(users)];
      return new Updates(
        (receive, finish) => observations.observePresence(user, receive, finish),
        () => observations.latestPresence(users), signal);
    }
    const several = [...new Set(users)].map(validName);
    return new Updates(
      (receive, finish) => observations.observePresenceOfMany(several, receive, finish),
      () => observations.latestPresences(several), signal);
  }

  /**
   * Reads the presence of a user once. Undefined if there is no answer in time. For several users, it is a map, and
   * users without an answer are absent.
   *
   * @param {string | Iterable<string>} users
   * @param {{ within?: number, signal?: AbortSignal }} options how many milliseconds to wait at most
   */
  async currentPresence(users, { within = 5 * SECOND, signal } = {}) {
    const several = typeof users === "string" ? [users] : [...new Set(users)];
    const found = await this.#engine.fetches.fetch(several.map(validName), within, signal);
    return typeof users === "string" ? found.get(users) : found;
  }

  /**
   * Returns a typing input for one input field of a conversation.
   *
   * @param {string} conversation
   * @param {{ signal?: AbortSignal }} options
   */
  typingInput(conversation, { signal } = {}) {
    return new TypingInput(validName(conversation), this.#engine.typing, signal);
  }

  /**
   * Reports the app's phase: `active`; `inactive`, a brief interruption, which changes nothing; or `background`, which
   * ends the user's typing at once. A return from the background checks the connection.
   *
   * @param {"active" | "inactive" | "background"} phase
   */
  setPhase(phase) { this.#engine.phaseChanged(phase); }

  /**
   * Sets the device's state directly, for apps that know more than phases and input show.
   *
   * @param {"active" | "idle" | "background"} state
   */
  setState(state) { this.#engine.stateSet(state); }

  /** Reports input on this device. Once an app has called this, the device is idle `idleAfter` the last call. */
  inputHappened() { this.#engine.inputHappened(); }

  /** Reports that the network is back or has changed. The browser's own events for this are handled already. */
  networkChanged() { this.#engine.connection.networkChanged(); }

  /**
   * Reports phases and input from the page's events: a hidden page is in the background, and a pointer or key event is
   * input. When the user leaves the page, the typing ends, but there is no goodbye: after a reload the device is back
   * within the grace period, and no other user sees it offline.
   *
   * @returns a function that ends it
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
      this.#engine.typing.endAll();
      // A page that the browser keeps for its back button must not keep a connection.
      isSuspended = persisted && this.#engine.connection.isActive;
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
