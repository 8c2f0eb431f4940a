// The client, as an app holds it. `rollcall.d.ts` documents it.

import { Engine } from "./engine.js";
import { MINUTE, SECOND, validName, warn } from "./messages.js";
import { checkedTypingSettings, TypingInput } from "./typing.js";
import { DISPOSE, ending, Updates } from "./updates.js";

export class RollcallClient extends EventTarget {
  #engine;
  #typing;
  #hearsProblems = false;

  constructor({
    url, device, token, typing, names, idleAfter = 5 * MINUTE, workerHosts = [], longestPause = 1_500,
    connectTimeout = 10 * SECOND, staleAfter = 5 * SECOND, WebSocket = globalThis.WebSocket,
  }) {
    super();
    this.#typing = checkedTypingSettings(typing);
    const options = {
      urls: [url].flat(), device: device === undefined ? undefined : validName(device), token, names, idleAfter,
      workerHosts, longestPause, connectTimeout, staleAfter, WebSocket,
    };
    this.#engine = new Engine(options, (type, detail) => {
      if (type === "problem" && !this.#hearsProblems) warn(detail);
      this.dispatchEvent(new CustomEvent(type, { detail }));
    });
  }

  addEventListener(type, listener, options) {
    if (type === "problem") this.#hearsProblems = true;
    super.addEventListener(type, listener, options);
  }

  connect() { this.#engine.connection.connect(); }
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

  get now() { return this.#engine.now; }
  get staleSince() { return this.#engine.staleSince; }
  get deviceState() { return this.#engine.deviceState; }

  typing(conversation, { signal = undefined } = {}) {
    validName(conversation);
    const engine = this.#engine;
    return new Updates(
      (receive, finish) => engine.observeTyping(conversation, receive, finish), () => engine.latestTyping(conversation),
      signal);
  }

  members(conversation, { signal = undefined } = {}) {
    validName(conversation);
    const engine = this.#engine;
    return new Updates(
      (receive, finish) => engine.observeMembers(conversation, receive, finish), () => engine.latestMembers(conversation),
      signal);
  }

  presence(users, { signal = undefined } = {}) {
    const engine = this.#engine;
    const { people } = engine;
    if (typeof users === "string") {
      const user = [validName(users)];
      return new Updates(
        // A closed client knows nobody: what is shown ends empty.
        (receive, finish) => engine.begin(finish, () => people.observe(user, receive, () => engine.isClosed && receive({
          user: users, status: "offline", lastSeen: null, updatedAt: null, version: 0,
        }))), () => people.latest(users), signal);
    }
    const several = [...new Set(users)].map(validName);
    return new Updates(
      (receive, finish) => engine.begin(finish, () => people.observeMany(several, receive)),
      () => people.latestOf(several), signal);
  }

  conversations(rows, { signal = undefined } = {}) {
    const engine = this.#engine;
    const people = new Map([...rows instanceof Map ? rows : Object.entries(rows)].map(([conversation, users]) => (
      [validName(conversation), [...users].map(validName)])));
    let latest;
    return new Updates((receive, finish) => engine.observeConversations(people, (states) => {
      latest = states;
      receive(states);
    }, finish), () => latest, signal);
  }

  async currentPresence(users, { within = 5 * SECOND, signal = undefined } = {}) {
    const several = typeof users === "string" ? [users] : [...new Set(users)];
    const found = await this.#engine.people.read(several.map(validName), within, signal);
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

  followPage({ idleAfterHidden = MINUTE } = {}) {
    const { document } = globalThis;
    const following = new AbortController();
    const on = (target, types, handle) => {
      for (const type of types) target.addEventListener(type, handle, { signal: following.signal, passive: true });
    };
    let [idling, wasHidden, isLong, isLeft] = [null, false, false, false];
    const follow = () => {
      clearTimeout(idling);
      if (!document.hidden) {
        this.setPhase("active");
        if (wasHidden) this.#engine.returned({ wasLong: isLong });
        wasHidden = isLong = false;
        return;
      }
      wasHidden = true;
      if (globalThis.matchMedia("(hover: none)").matches) {
        this.setPhase("background");
      } else {
        this.#engine.endTyping();
        idling = setTimeout(() => {
          isLong = true;
          this.setState("idle");
        }, idleAfterHidden);
      }
    };
    let isSuspended = false;
    on(document, ["visibilitychange"], () => isLeft || follow());
    on(globalThis, ["pagehide"], ({ persisted }) => {
      isLeft = true;
      this.#engine.endTyping();
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
    return ending(() => {
      clearTimeout(idling);
      following.abort();
    });
  }
}
