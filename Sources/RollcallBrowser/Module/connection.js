// The life of the connection to a worker: a token, a socket, hello, welcome, and what follows each end.
// The Swift client has `Connector` for this.

import { AddressList, parseAddress } from "./addresses.js";
import { Alarm } from "./alarm.js";
import { Backoff } from "./backoff.js";
import { RollcallError } from "./errors.js";
import { Liveness } from "./liveness.js";
import { parseMessage } from "./messages.js";
import { ReconnectPolicy } from "./reconnecting.js";
import { renewalTime, Stopwatch, tokenExpiry } from "./token.js";
import { SECOND } from "./units.js";

/**
 * Does what `ReconnectPolicy` and `Liveness` decide, and tells its owner what happens. There is at most one attempt at a
 * time. Events of an earlier attempt's socket are ignored.
 */
export class Connection {
  /** `idle`, `authenticating`, `opening`, `greeting` (hello is sent), `connected`, `waiting`, `failed` or `closed`. */
  #stage = "idle";
  #socket = null;
  #liveness = null;
  /** The pings without an answer, in order: `{ at, isCheck }`. `isCheck`: whether `#liveness` waits for the answer. */
  #pings = [];
  #connectedAt = 0;
  /** The current attempt to connect. `isOutdated`: the network has changed since, but too soon to begin again. */
  #opening = { began: 0, end: 0, isOutdated: false };
  /** How often changes of the network have restarted attempts since the last one that ended otherwise. */
  #restarts = 0;
  #token = null;
  /** Measures the time since the app gave the token. */
  #tokenAge = new Stopwatch();
  /** Counts attempts and renewals of the token, so that a token which arrives too late is recognised. */
  #attempt = 0;
  /** Null if a URL of the app is not valid. */
  #policy = null;
  #alarm = new Alarm(() => this.#deadlinePassed());
  #renewalAlarm = new Alarm(() => this.#renewToken());
  /** Aborting it ends the listening for changes of the network. */
  #listening = null;
  #options;
  #owner;

  constructor(options, owner) {
    this.#options = options;
    this.#owner = owner;
    const addresses = options.urls.map(parseAddress);
    if (addresses.length === 0 || addresses.includes(null)) return;
    this.#policy = new ReconnectPolicy(
      new AddressList(addresses, options.workerHosts), new Backoff(options.firstPause, options.longestPause));
  }

  /** Whether messages may be sent. */
  get isOpen() { return this.#stage === "greeting" || this.#stage === "connected"; }

  /** Whether there is a connection, or will be one without another call. */
  get isActive() { return !["idle", "failed", "closed"].includes(this.#stage); }

  connect() { if (["idle", "failed", "waiting"].includes(this.#stage)) this.#begin(); }

  send(messages) {
    const socket = this.#socket;
    for (const message of messages) {
      // A listener of the `wire` event may have ended the connection.
      if (this.#socket !== socket) return;
      const text = JSON.stringify(message);
      socket.send(text);
      this.#owner.wireUsed({ sent: text });
    }
  }

  /** Asks for the worker's time. */
  requestTime() { this.#ping({ isCheck: false }); }

  #ping({ isCheck }) {
    this.#pings.push({ at: performance.now(), isCheck });
    this.send([{ type: "ping" }]);
  }

  /** Checks the connection, or makes the next attempt at once, also if a token is awaited. */
  networkChanged() {
    switch (this.#stage) {
      case "waiting":
      case "authenticating": this.#begin(); break;
      case "opening":
      case "greeting": this.#attemptOutdated(); break;
      case "connected": this.#follow(this.#liveness.doubted(performance.now())); break;
      case "idle":
      case "failed":
      case "closed": break;
    }
  }

  /**
   * Restarts an attempt, whose path may be dead, once it has lasted a second. With each restart, this time doubles: an
   * app may report changes in a loop, and must neither connect in that loop nor prevent every attempt.
   */
  #attemptOutdated() {
    const due = this.#opening.began + SECOND * 2 ** this.#restarts;
    if (performance.now() >= due) return this.#restart();
    this.#opening.isOutdated = true;
    this.#alarm.set(Math.min(due, this.#opening.end));
  }

  /** Begins the attempt again, at the same address. This is not a failure. */
  #restart() {
    this.#restarts += 1;
    const wasOpen = this.isOpen;
    this.#dropSocket();
    this.#stage = "waiting";
    if (wasOpen) this.#owner.connectionLost();
    this.#begin();
  }

  /**
   * Ends the connection, with a goodbye or without one like a lost network. Resolves once the socket is closed.
   *
   * @param {"idle" | "closed"} state
   */
  end(state, { goodbye }) {
    if (goodbye && this.isOpen) this.send([{ type: "goodbye" }]);
    if (this.#stage === "closed") return Promise.resolve();
    const socket = this.#socket;
    this.#stop(state, { status: state });
    return socketClosed(socket);
  }

  /** Call this last, after the alarm is set: an observer of the connection may connect or close at once. */
  #become(stage, state) {
    this.#stage = stage;
    this.#owner.connectionChanged(state);
  }

  /** Ends everything that would happen without another call. */
  #stop(stage, state) {
    const wasOpen = this.isOpen;
    this.#attempt += 1;
    this.#stage = stage;
    this.#dropSocket();
    if (wasOpen) this.#owner.connectionLost();
    this.#listening?.abort();
    this.#listening = null;
    this.#become(stage, state);
  }

  #dropSocket() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#alarm.set(null);
    this.#renewalAlarm.set(null);
  }

  // The attempt.

  async #begin() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#alarm.set(null);
    if (!this.#policy) return this.#giveUp(invalidURL());
    this.#listen();
    if (this.#token !== null && !this.#isTokenExpired()) return this.#open();
    this.#alarm.set(performance.now() + this.#options.connectTimeout);
    this.#become("authenticating", { status: "connecting" });
    if (attempt !== this.#attempt) return;
    const { token, error } = await this.#freshToken()
      .then((fresh) => ({ token: fresh, error: null }), (reason) => ({ token: null, error: reason }));
    if (attempt !== this.#attempt) return;
    if (token === null) return this.#retryOrGiveUp(this.#policy.tokenFailed(error));
    this.#tokenReceived(token);
    this.#open();
  }

  async #freshToken() {
    const { token } = this.#options;
    const fresh = typeof token === "function" ? await token() : token;
    if (typeof fresh === "string") return fresh;
    throw new RollcallError("bad_token", "the token callback gave no string");
  }

  #tokenReceived(token) {
    this.#token = token;
    this.#tokenAge = new Stopwatch();
  }

  /** Compares the token's own expiry with the worker's time. The worker refuses every other expired token (4101). */
  #isTokenExpired() {
    const expiry = tokenExpiry(this.#token);
    return expiry !== null && this.#owner.serverTime !== null && expiry <= this.#owner.serverTime;
  }

  #listen() {
    if (this.#listening || !globalThis.addEventListener) return;
    this.#listening = new AbortController();
    const { signal } = this.#listening;
    globalThis.addEventListener("online", () => this.networkChanged(), { signal });
    globalThis.addEventListener("offline", () => this.#stage === "connected" && this.networkChanged(), { signal });
  }

  #open() {
    this.#policy.opening();
    let socket;
    try {
      socket = new this.#options.WebSocket(this.#policy.address.href);
    } catch (cause) {
      return this.#giveUp(invalidURL(cause));
    }
    this.#socket = socket;
    this.#pings = [];
    const on = (type, handle) => socket.addEventListener(type, (event) => {
      if (this.#socket === socket) handle(event);
    });
    on("open", () => this.#greet());
    on("message", ({ data }) => this.#received(data));
    on("close", ({ code }) => this.#closed(code));
    const began = performance.now();
    this.#opening = { began, end: began + this.#policy.timeout(this.#options.connectTimeout), isOutdated: false };
    this.#alarm.set(this.#opening.end);
    this.#become("opening", { status: "connecting" });
  }

  #greet() {
    this.#stage = "greeting";
    const { device } = this.#options;
    this.send([{ type: "hello", token: this.#token, ...device && { device }, state: this.#owner.deviceState }]);
    if (this.isOpen) this.#owner.connectionOpened();
  }

  // The connection.

  #received(data) {
    if (typeof data !== "string") return;
    this.#owner.wireUsed({ received: data });
    if (!this.isOpen) return;
    const message = parseMessage(data);
    const ping = message?.type === "pong" ? this.#pings.shift() : undefined;
    if (this.#stage === "connected") this.#noteLife(ping?.isCheck === true);
    switch (message?.type) {
      case undefined: break;
      case "welcome": if (this.#stage === "greeting") this.#welcomed(message); break;
      case "goodbye": this.#policy.goodbyeReceived(message); break;
      case "pong": this.#owner.timeReceived(message.time, ping?.at ?? performance.now()); break;
      default: this.#owner.messageReceived(message);
    }
  }

  #noteLife(isAnswer) {
    this.#liveness.received(isAnswer, performance.now());
    this.#alarm.set(this.#liveness.deadline);
  }

  #welcomed(welcome) {
    const now = performance.now();
    const { user, device, session, worker } = welcome;
    this.#restarts = 0;
    this.#policy.welcomed();
    this.#liveness = new Liveness(welcome.ping, now);
    this.#connectedAt = now;
    this.#alarm.set(this.#liveness.deadline);
    this.#stage = "connected";
    this.#owner.welcomed(welcome);
    // Race: an observer that was called because of the worker's time may have ended the connection.
    if (this.#stage !== "connected") return;
    this.#scheduleRenewal();
    this.#owner.connectionChanged({ status: "connected", session: { user, device, session, worker } });
  }

  /** @param judgement what `Liveness` decided */
  #follow(judgement) {
    this.#alarm.set(this.#liveness.deadline);
    if (judgement === "ping") this.#ping({ isCheck: true });
    if (judgement === "dead") this.#connectionEnded(null);
  }

  #deadlinePassed() {
    switch (this.#stage) {
      case "waiting": this.#begin(); break;
      case "authenticating": this.#tokenTimedOut(); break;
      case "opening":
      case "greeting": this.#openingTimedOut(); break;
      case "connected": this.#follow(this.#liveness.deadlinePassed(performance.now())); break;
      case "idle":
      case "failed":
      case "closed": break;
    }
  }

  /** The attempt ends here, so a token that arrives later is ignored. */
  #tokenTimedOut() {
    this.#attempt += 1;
    this.#retryOrGiveUp(this.#policy.tokenFailed(new Error("the token callback did not answer in time")));
  }

  #closed(code) {
    if (this.#stage === "opening") this.#connectFailed();
    // 1006 is what a browser reports if there was no close frame.
    else this.#connectionEnded(code === 1006 ? null : code);
  }

  #openingTimedOut() {
    const { isOutdated, end } = this.#opening;
    if (isOutdated && performance.now() < end) this.#restart();
    else this.#connectFailed();
  }

  #connectFailed() {
    const wasOpen = this.isOpen;
    this.#ended(wasOpen, this.#policy.connectFailed());
  }

  #connectionEnded(code) {
    const duration = this.#stage === "connected" ? performance.now() - this.#connectedAt : 0;
    this.#ended(true, this.#policy.connectionEnded(code, duration, this.#tokenAge.elapsed));
  }

  #ended(wasOpen, next) {
    this.#restarts = 0;
    this.#dropSocket();
    this.#stage = "waiting";
    if (wasOpen) this.#owner.connectionLost();
    this.#retryOrGiveUp(next);
  }

  /** @param next what `ReconnectPolicy` decided */
  #retryOrGiveUp({ after, freshToken, error }) {
    if (after === undefined) return this.#giveUp(error);
    if (freshToken) this.#token = null;
    this.#alarm.set(performance.now() + after);
    this.#become("waiting", { status: "waiting", retryIn: Math.round(after), error });
  }

  #giveUp(error) {
    this.#token = null;
    this.#stop("failed", { status: "failed", error });
  }

  // The renewal of the token.

  #scheduleRenewal() {
    const expiry = tokenExpiry(this.#token);
    this.#renewalAlarm.set(expiry === null ? null : renewalTime(expiry - this.#owner.now, performance.now()));
  }

  /** Asks the app for the next token, and again if the app does not answer in time. */
  async #renewToken() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#renewalAlarm.set(performance.now() + this.#options.connectTimeout);
    const token = await this.#freshToken().catch(() => this.#token);
    if (attempt !== this.#attempt || this.#stage !== "connected") return;
    if (tokenExpiry(token) > tokenExpiry(this.#token)) {
      this.#tokenReceived(token);
      this.#owner.tokenRenewed(token);
    }
    this.#scheduleRenewal();
  }
}

function invalidURL(cause) {
  return new RollcallError(
    "invalid_url", "a URL must be ws://HOST or wss://HOST, with port and path at will, or a path on the page's host",
    { cause });
}

/** Resolves once a closing socket has closed, after two seconds at most. */
function socketClosed(socket) {
  if (!socket || socket.readyState === 3) return Promise.resolve();
  return new Promise((resolve) => {
    socket.addEventListener("close", () => resolve(), { once: true });
    setTimeout(resolve, 2 * SECOND);
  });
}
