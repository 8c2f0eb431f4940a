// The client, as an app holds it. `rollcall.d.ts` documents it.

import { Engine } from "./engine.js";
import { HereEntry } from "./here.js";
import { MINUTE, reportAppError, RollcallError, SECOND, soon, validName, validUser, warn } from "./messages.js";
import { checkedTypingSettings, TypingInput } from "./typing.js";
import { followPage } from "./page.js";
import { DISPOSE, ending, onAbort, Updates } from "./updates.js";

export class RollcallClient {
  #engine;
  #typing;
  /** By type of event and listener: whether it is for one event only, and how to forget its signal. */
  #listeners = new Map();

  constructor({
    url, device, token, typing, names, idleAfter = 5 * MINUTE, workerHosts = [], longestPause = 30 * SECOND,
    connectTimeout = 10 * SECOND, staleAfter = 5 * SECOND, language = undefined, WebSocket = globalThis.WebSocket,
  }) {
    this.language = language;
    this.#typing = checkedTypingSettings(typing);
    const options = {
      urls: [url].flat(), device: device === undefined ? undefined : validName(device), token, names, idleAfter,
      workerHosts, longestPause, connectTimeout, staleAfter, WebSocket,
    };
    this.#engine = new Engine(options, (type, detail) => this.#happened({ type, detail, target: this }));
  }

  /** See `Updates`. */
  get [Symbol.toStringTag]() { return "RollcallClient"; }

  addEventListener(type, listener, options = undefined) {
    const { once = false, signal = undefined } = Object(options);
    if (!listener || signal?.aborted) return;
    if (!this.#listeners.has(type)) this.#listeners.set(type, new Map());
    this.removeEventListener(type, listener);
    this.#listeners.get(type).set(listener, { once, forget: onAbort(signal, () => this.removeEventListener(type, listener)) });
  }

  removeEventListener(type, listener) {
    this.#listeners.get(type)?.get(listener)?.forget();
    this.#listeners.get(type)?.delete(listener);
  }

  #happened(event) {
    const listeners = this.#listeners.get(event.type) ?? new Map();
    if (event.type === "problem" && listeners.size === 0) warn(event.detail);
    for (const [listener, { once }] of [...listeners]) {
      if (once) this.removeEventListener(event.type, listener);
      try {
        typeof listener === "function" ? listener.call(this, event) : listener.handleEvent(event);
      } catch (error) {
        reportAppError(error);
      }
    }
  }

  connect() { this.#engine.connect(); }
  disconnect({ goodbye = true } = {}) { return this.#engine.disconnect({ goodbye }); }
  close() { return this.#engine.close(); }
  [DISPOSE]() { this.close(); }

  get connection() {
    const engine = this.#engine;
    return new Updates(
      (receive, finish) => engine.observeValue(engine.connectionState, receive, finish),
      () => engine.connectionState.latest);
  }

  get isStale() {
    const engine = this.#engine;
    return new Updates(
      (receive, finish) => engine.observeValue(engine.isStale, receive, finish), () => engine.isStale.latest);
  }

  get person() {
    const engine = this.#engine;
    return new Updates((receive, finish) => engine.observeValue(engine.person.shown, receive, finish), () => engine.person.shown.latest);
  }

  setPerson(change) { this.#engine.person.set(change); }

  get now() { return this.#engine.now; }
  get staleSince() { return this.#engine.staleSince; }
  get deviceState() { return this.#engine.deviceState; }

  typing(conversation, { signal = undefined } = {}) {
    validName(conversation);
    const { rooms } = this.#engine;
    return new Updates(
      (receive, finish) => rooms.observeTyping(conversation, receive, finish), () => rooms.latestTyping(conversation), signal);
  }

  members(conversation, { signal = undefined } = {}) {
    validName(conversation);
    const { rooms } = this.#engine;
    return new Updates(
      (receive, finish) => rooms.observeMembers(conversation, receive, finish), () => rooms.latestMembers(conversation), signal);
  }

  here(conversation, { signal = undefined } = {}) {
    validName(conversation);
    const { rooms } = this.#engine;
    return new Updates(
      (receive, finish) => rooms.observeHere(conversation, receive, finish), () => rooms.latestHere(conversation), signal);
  }

  enter(conversation, { data = undefined, signal = undefined } = {}) {
    return new HereEntry(validName(conversation), this.#engine, data, signal);
  }

  presence(users, { signal = undefined, in: conversation = undefined } = {}) {
    const shared = conversation === undefined ? [] : [validName(conversation)];
    const engine = this.#engine;
    const { people } = engine;
    if (typeof users === "string") {
      const user = [validUser(users)];
      return new Updates(
        (receive, finish) => engine.begin(finish, () => people.observe(user, receive, () => engine.showsNobody && receive({
          user: users, status: "offline", lastSeen: null, updatedAt: null, version: 0,
        }), shared)), () => people.latest(users), signal);
    }
    const several = [...new Set(users)].map(validUser);
    return new Updates(
      (receive, finish) => engine.begin(finish, () => people.observeMany(several, receive, shared)),
      () => people.latestOf(several), signal);
  }

  conversations(rows, { signal = undefined } = {}) {
    const engine = this.#engine;
    const people = new Map([...rows instanceof Map ? rows : Object.entries(rows)].map(([conversation, users]) => (
      [validName(conversation), [...users].map(validUser)])));
    let latest;
    return new Updates((receive, finish) => engine.rooms.observeConversations(people, (states) => {
      latest = states;
      receive(states);
    }, finish), () => latest, signal);
  }

  async currentPresence(users, { within = 5 * SECOND, signal = undefined, in: conversation = undefined } = {}) {
    if (conversation !== undefined) validName(conversation);
    const several = typeof users === "string" ? [users] : [...new Set(users)];
    const found = await this.#engine.people.read(several.map(validUser), within, signal, conversation);
    return typeof users === "string" ? found.get(users) : found;
  }

  typingInput(conversation, { signal = undefined } = {}) {
    return new TypingInput(validName(conversation), this.#engine, this.#typing, signal);
  }

  namesChanged() { this.#engine.namesChanged(); }

  /** @param {"active" | "inactive" | "background"} phase */
  setPhase(phase) { this.#engine.phaseChanged(phase); }
  /** @param {"active" | "idle" | "background"} state */
  setState(state) { this.#engine.stateSet(state); }
  inputHappened() { this.#engine.inputHappened(); }
  networkChanged() { this.#engine.connection.networkChanged(); }

  followPage(options = {}) { return followPage(this, this.#engine, options); }

  /**
   * For the hooks, which may not throw, nor call the app while they render.
   *
   * @internal
   */
  static report(client, error) {
    const problem = error instanceof RollcallError ? error : new RollcallError("bad_request", error.message, { cause: error });
    if (client) soon(() => client.#engine.report(problem));
  }

  /**
   * See `followAppState`.
   *
   * @internal
   */
  static restsAfter(client, duration) { client.#engine.restsAfter(duration ?? Infinity); }
}

export function followAppState(client, AppState, { restAfter = 30 * SECOND } = {}) {
  RollcallClient.restsAfter(client, restAfter);
  const follow = (state) => client.setPhase(state === "active" || state === "background" ? state : "inactive");
  follow(AppState.currentState === "active" ? "active" : "background");
  const subscription = AppState.addEventListener("change", follow);
  return ending(() => subscription.remove());
}
