import { Itinerary, parseAddress } from "./addresses.js";
import { Alarm } from "./alarm.js";
import { Backoff } from "./backoff.js";
import { RollcallError } from "./errors.js";
import { Liveness } from "./liveness.js";
import { messageFrom } from "./messages.js";
import { Reconnecting } from "./reconnecting.js";
import { expiryOf, Moment, renewalTime } from "./token.js";
import { SECOND } from "./units.js";

/**
 * The life of the connection: a token, a socket, hello, welcome, and after each end whatever `Reconnecting` decides.
 * There is at most one attempt at a time, and what a socket of an earlier one says is not heard.
 */
export class Connector {
  /** idle, authenticating, opening, greeting (the hello is sent), connected, waiting, failed or closed. */
  #stage = "idle";
  #socket = null;
  #liveness = null;
  /** The pings that are not answered yet, in order: `{ at, isQuestion }`, whether the liveness depends on the answer. */
  #pings = [];
  #connectedAt = 0;
  #token = null;
  /** When the app gave the token. */
  #tokenGiven = new Moment();
  /** Counts attempts and renewals of the token, to tell the token that is awaited from one that comes too late. */
  #attempt = 0;
  #reconnecting = null;
  #alarm = new Alarm(() => this.#deadlinePassed());
  #renewal = new Alarm(() => this.#renewToken());
  /** Ends the listening for changes of the network. */
  #listening = null;
  #options;
  #owner;

  constructor(options, owner) {
    this.#options = options;
    this.#owner = owner;
    const homes = options.urls.map(parseAddress);
    if (homes.length === 0 || homes.includes(null)) return;
    this.#reconnecting = new Reconnecting(
      new Itinerary(homes, options.workerHosts), new Backoff(options.firstPause, options.longestPause));
  }

  /** Whether messages may be sent. */
  get isOpen() { return this.#stage === "greeting" || this.#stage === "connected"; }

  /** Whether there is a connection, or will be one without another call. */
  get isActive() { return !["idle", "failed", "closed"].includes(this.#stage); }

  connect() { if (["idle", "failed", "waiting"].includes(this.#stage)) this.#begin(); }

  send(messages) {
    const socket = this.#socket;
    for (const message of messages) {
      // Whoever watches the wire may end the connection.
      if (this.#socket !== socket) return;
      const text = JSON.stringify(message);
      socket.send(text);
      this.#owner.wireCarried({ sent: text });
    }
  }

  /** Asks for the worker's time. */
  askForTime() { this.#ping({ isQuestion: false }); }

  #ping({ isQuestion }) {
    this.#pings.push({ at: performance.now(), isQuestion });
    this.send([{ type: "ping" }]);
  }

  /** There is reason to doubt the connection or the answer that is awaited, or to try again at once. */
  networkChanged() {
    if (this.#stage === "waiting" || this.#stage === "authenticating") this.#begin();
    else if (this.#stage === "connected") this.#follow(this.#liveness.doubted(performance.now()));
  }

  /** Lets the connection go, with a goodbye or, as a lost network does, without; resolves once it is closed. */
  end(state, { goodbye }) {
    if (goodbye && this.isOpen) this.send([{ type: "goodbye" }]);
    if (this.#stage === "closed") return Promise.resolve();
    const socket = this.#socket;
    this.#rest(state, { status: state });
    return socketClosed(socket);
  }

  /** Telling of a change comes last, when its alarm is set: whoever is told may connect or close at once. */
  #become(stage, state) {
    this.#stage = stage;
    this.#owner.connectionChanged(state);
  }

  /** Nothing more happens by itself. */
  #rest(stage, state) {
    const wasOpen = this.isOpen;
    this.#attempt += 1;
    this.#stage = stage;
    this.#drop();
    if (wasOpen) this.#owner.connectionLost();
    this.#listening?.abort();
    this.#listening = null;
    this.#become(stage, state);
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#alarm.set(null);
    this.#renewal.set(null);
  }

  // The attempt.

  async #begin() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#alarm.set(null);
    if (!this.#reconnecting) return this.#giveUp(invalidURL());
    this.#listen();
    if (this.#token !== null && !this.#isTokenOver()) return this.#open();
    this.#alarm.set(performance.now() + this.#options.connectTimeout);
    this.#become("authenticating", { status: "connecting" });
    if (attempt !== this.#attempt) return;
    const { token, error } = await this.#freshToken()
      .then((fresh) => ({ token: fresh, error: null }), (reason) => ({ token: null, error: reason }));
    if (attempt !== this.#attempt) return;
    if (token === null) return this.#comeBack(this.#reconnecting.tokenFailed(error));
    this.#take(token);
    this.#open();
  }

  async #freshToken() {
    const { token } = this.#options;
    const fresh = typeof token === "function" ? await token() : token;
    if (typeof fresh === "string") return fresh;
    throw new RollcallError("bad_token", "the token callback gave no string");
  }

  #take(token) {
    this.#token = token;
    this.#tokenGiven = new Moment();
  }

  /** As far as the token itself and the worker's time tell. What expires unseen is refused by the worker (4101). */
  #isTokenOver() {
    const expiry = expiryOf(this.#token);
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
    this.#reconnecting.opening();
    let socket;
    try {
      socket = new this.#options.WebSocket(this.#reconnecting.address.href);
    } catch (cause) {
      return this.#giveUp(invalidURL(cause));
    }
    this.#socket = socket;
    this.#pings = [];
    const heard = (name, handle) => socket.addEventListener(name, (event) => {
      if (this.#socket === socket) handle(event);
    });
    heard("open", () => this.#greet());
    heard("message", ({ data }) => this.#received(data));
    heard("close", ({ code }) => this.#closed(code));
    this.#alarm.set(performance.now() + this.#reconnecting.timeLimit(this.#options.connectTimeout));
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
    this.#owner.wireCarried({ received: data });
    if (!this.isOpen) return;
    const message = messageFrom(data);
    const ping = message?.type === "pong" ? this.#pings.shift() : undefined;
    if (this.#stage === "connected") this.#heard(ping?.isQuestion === true);
    switch (message?.type) {
      case undefined: break;
      case "welcome": if (this.#stage === "greeting") this.#welcomed(message); break;
      case "goodbye": this.#reconnecting.goodbyeReceived(message); break;
      case "pong": this.#owner.timeHeard(message.time, ping?.at ?? performance.now()); break;
      default: this.#owner.messageReceived(message);
    }
  }

  #heard(isAnswer) {
    this.#liveness.heard(isAnswer, performance.now());
    this.#alarm.set(this.#liveness.deadline);
  }

  #welcomed(welcome) {
    const now = performance.now();
    const { user, device, session, worker } = welcome;
    this.#reconnecting.welcomed();
    this.#liveness = new Liveness(welcome.ping, now);
    this.#connectedAt = now;
    this.#alarm.set(this.#liveness.deadline);
    this.#stage = "connected";
    this.#owner.welcomed(welcome);
    // A listener that was told the time may have ended the connection.
    if (this.#stage !== "connected") return;
    this.#scheduleRenewal();
    this.#owner.connectionChanged({ status: "connected", session: { user, device, session, worker } });
  }

  #follow(judgement) {
    this.#alarm.set(this.#liveness.deadline);
    if (judgement === "ask") this.#ping({ isQuestion: true });
    if (judgement === "dead") this.#connectionEnded(null);
  }

  #deadlinePassed() {
    switch (this.#stage) {
      case "waiting": this.#begin(); break;
      case "authenticating": this.#tokenMissing(); break;
      case "opening":
      case "greeting": this.#notReached(); break;
      case "connected": this.#follow(this.#liveness.deadlinePassed(performance.now())); break;
      case "idle":
      case "failed":
      case "closed": break;
    }
  }

  /** A token that comes later belongs to an attempt that is over. */
  #tokenMissing() {
    this.#attempt += 1;
    this.#comeBack(this.#reconnecting.tokenFailed(new Error("the token callback did not answer in time")));
  }

  #closed(code) {
    if (this.#stage === "opening") this.#notReached();
    // What a browser reports where there was no close frame.
    else this.#connectionEnded(code === 1006 ? null : code);
  }

  #notReached() {
    const wasOpen = this.isOpen;
    this.#ended(wasOpen, this.#reconnecting.notReached());
  }

  #connectionEnded(code) {
    const held = this.#stage === "connected" ? performance.now() - this.#connectedAt : 0;
    this.#ended(true, this.#reconnecting.connectionEnded(code, held, this.#tokenGiven.age));
  }

  #ended(wasOpen, next) {
    this.#drop();
    this.#stage = "waiting";
    if (wasOpen) this.#owner.connectionLost();
    this.#comeBack(next);
  }

  #comeBack({ after, freshToken, error }) {
    if (after === undefined) return this.#giveUp(error);
    if (freshToken) this.#token = null;
    this.#alarm.set(performance.now() + after);
    this.#become("waiting", { status: "waiting", retryIn: Math.round(after), error });
  }

  #giveUp(error) {
    this.#token = null;
    this.#rest("failed", { status: "failed", error });
  }

  // The token, before it ends.

  #scheduleRenewal() {
    const expiry = expiryOf(this.#token);
    this.#renewal.set(expiry === null ? null : renewalTime(expiry - this.#owner.now, performance.now()));
  }

  /** Asks again if the app has not answered in time. */
  async #renewToken() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#renewal.set(performance.now() + this.#options.connectTimeout);
    const token = await this.#freshToken().catch(() => this.#token);
    if (attempt !== this.#attempt || this.#stage !== "connected") return;
    if (expiryOf(token) > expiryOf(this.#token)) {
      this.#take(token);
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

/** Resolves once a socket that is closing has closed, after two seconds at most. */
function socketClosed(socket) {
  if (!socket || socket.readyState === 3) return Promise.resolve();
  return new Promise((resolve) => {
    socket.addEventListener("close", () => resolve(), { once: true });
    setTimeout(resolve, 2 * SECOND);
  });
}
