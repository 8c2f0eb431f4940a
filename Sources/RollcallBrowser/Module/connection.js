// The life of the connection to a worker: a token, a socket, hello, welcome, silence, and what follows each end.

import { Liveness } from "./attention.js";
import { MINUTE, parseMessage, randomText, RollcallError, SECOND, socketClosed, soon, steadyNow, warn } from "./messages.js";
import { Backoff, invalidURL, isInvitation, parseAddress, Probe, Route } from "./route.js";
import { claimsOf, isSignedOut, isUnreachable, tokenExpiry, TokenSource } from "./token.js";
import { listening } from "./updates.js";

/** @type {import("./rollcall.js").TokenRequest[]} Why the token callback is called. */
const [FIRST, RENEWAL] = [{ reason: "first" }, { reason: "renewal" }];

/**
 * Does what `Route` and `Liveness` decide, and tells the engine what happens. There is at most one attempt at a time.
 * Events of an earlier attempt's socket are ignored.
 */
export class Connection {
  /** How old an attempt must be to begin again when the network changes, which it does once. */
  static OLD_ATTEMPT = 2 * SECOND;
  /** How long before its expiry a token is replaced, at least. For a short-lived token it is less. */
  static RENEWAL_MARGIN = MINUTE;
  /** How often at most the user's return ends a pause that a worker asked for. */
  static RETURN_PAUSE = 10 * SECOND;

  /**
   * `idle`, `authenticating`, `opening`, `greeting` (hello is sent), `connected`, `waiting`, `refused` (waits longer),
   * `failed` or `closed`.
   */
  #stage = "idle";
  /** The code of the refusal that was reported last. Until something else is, attempts begin without a report. */
  #refusal = null;
  #deadline = null;
  /** Whether a worker asked for the pause. */
  #isAsked = false;
  #socket = null;
  #liveness = null;
  /** When something last arrived on a connection that was welcomed. */
  lastHeard = null;
  /** When the pings without an answer were sent. */
  #pings = [];
  #connectedAt = 0;
  #attempt = 0;
  #attemptBegan = 0;
  #isRestarted = false;
  #token = null;
  /** The token of the present hello. */
  #greeted = null;
  #tokens;
  /** The reason that the next call of the token callback gets. */
  #request = FIRST;
  /** The user of the last session, until the app ends it: no token of another user may follow it. */
  #user = null;
  #renewal = null;
  #isRenewing = false;
  #renewalPauses = null;
  /** Since when renewals fail because the app has no network. */
  #unreachableSince = null;
  #probe = new Probe();
  /** Of this client alone, so that two never end each other, and never stored. Used unless the app or the token names one. */
  #drawnDevice = `web-${randomText()}`;
  /** Null if a URL of the app is not valid. */
  #route = null;
  /** Ends the listening for changes of the network. */
  #listening = null;
  #options;
  #engine;

  constructor(options, engine) {
    this.#options = options;
    this.#engine = engine;
    this.#tokens = new TokenSource(options.token, (token) => this.#tokenCame(token), (error) => this.#tokenFailed(error));
    const addresses = options.urls.map(parseAddress);
    if (addresses.length === 0 || addresses.includes(null)) return;
    this.#route = new Route(addresses, options.workerHosts, options.longestPause);
  }

  /** Whether messages may be sent. */
  get isOpen() { return this.#stage === "greeting" || this.#stage === "connected"; }
  /** Whether there is a connection, or will be one without another call. */
  get isActive() { return !["idle", "failed", "closed"].includes(this.#stage); }
  get isConnected() { return this.#stage === "connected"; }
  /** Whether an answer is awaited that shows whether the connection is alive. */
  get isDoubted() { return this.isConnected && this.#liveness.isAwaiting; }
  /** Whether what happens next may not wait for a timer that is late. */
  get isUrgent() { return this.isConnected ? this.#liveness.isDoubted : this.isActive; }
  /** Whether a ping is unanswered. */
  get isPinging() { return this.#pings.length > 0; }
  get isClosed() { return this.#stage === "closed"; }
  get deadline() { return Math.min(this.#deadline ?? Infinity, this.#renewal ?? Infinity); }

  connect() {
    if (this.isClosed) warn({ message: "a closed client does not connect: make a new one, or end a connection with disconnect()" });
    // After a refusal, the user may have signed in again.
    if (!["idle", "failed", "refused"].includes(this.#stage)) return this.returned();
    this.#refusal = null;
    this.#route?.outageBegan(steadyNow());
    this.#begin();
  }

  /** The user is back: only a pause that a worker asked for goes on, and not for long. */
  returned() {
    if (this.#stage !== "refused" && !(this.#stage === "waiting" && this.#isAsked)) return this.#hurry();
    const now = steadyNow();
    this.#deadline = Math.min(this.#deadline, Math.max(now, this.#attemptBegan + Connection.RETURN_PAUSE));
    if (this.#deadline <= now) this.#begin();
    else this.#engine.changed();
  }

  /** There is a reason to try now: a network, or a user who waits. */
  #hurry() {
    const now = steadyNow();
    if (this.#tokens.isAsking) this.#tokens.ask(this.#request, TokenSource.SHORT_PATIENCE);
    if (this.#stage !== "waiting" || this.#isAsked) return;
    this.#route.outageBegan(now);
    this.#begin();
  }

  send(messages) {
    const socket = this.#socket;
    for (const message of messages) {
      // A listener of the `wire` event may have ended the connection.
      if (this.#socket !== socket) return;
      const text = JSON.stringify(message);
      socket.send(text);
      this.#engine.wireUsed({ sent: text });
    }
  }

  ping() {
    this.#pings.push(steadyNow());
    this.send([{ type: "ping" }]);
  }

  /**
   * Checks the connection, or makes the next attempt at once. An attempt over a path that may be dead begins again, once: an
   * app may report changes in a loop.
   */
  networkChanged() {
    const now = steadyNow();
    this.#hurry();
    switch (this.#stage) {
      case "opening":
      case "greeting":
        if (!this.#isRestarted && now >= this.#attemptBegan + Connection.OLD_ATTEMPT) this.#restart();
        return;
      case "connected":
        if (this.#liveness.doubted(now)) this.ping();
        this.#deadline = this.#liveness.deadline;
        this.#engine.changed();
    }
  }

  /** Asks whether the connection is alive, as after a silence. */
  check() {
    if (!this.isConnected || this.isDoubted) return;
    this.#liveness.asks(steadyNow());
    this.#deadline = this.#liveness.deadline;
    this.ping();
    this.#engine.changed();
  }

  #restart() {
    this.#end();
    this.#isRestarted = true;
    this.#begin();
  }

  /**
   * @param {"idle" | "closed"} state
   * @param {{ goodbye: boolean, forgets?: boolean }} options forgets: the next connection may be another user's
   */
  end(state, { goodbye, forgets = true }) {
    if (goodbye && this.isOpen) this.send([{ type: "goodbye" }]);
    if (this.isClosed) return Promise.resolve();
    const socket = this.#socket;
    this.#tokens.forget();
    [this.#token, this.#request] = [null, FIRST];
    if (forgets) this.#user = null;
    this.#stop(state, { status: state });
    return socketClosed(socket);
  }

  deadlinePassed(now) {
    if (this.#renewal !== null && now >= this.#renewal) this.#renewToken();
    if (this.#deadline === null || now < this.#deadline) return;
    switch (this.#stage) {
      case "waiting":
      case "refused": return void this.#begin();
      case "authenticating": return this.#askForToken();
      case "opening":
      case "greeting":
        this.#route.timedOut(this.#options.connectTimeout);
        return this.#attemptFailed();
      case "connected": {
        const judgement = this.#liveness.deadlinePassed(now);
        this.#deadline = this.#liveness.deadline;
        if (judgement === "ping") this.ping();
        if (judgement === "dead") this.#lost(null);
      }
    }
  }

  /** Call this last: an observer of the connection may connect or close at once. */
  #become(stage, state) {
    this.#stage = stage;
    this.#engine.changed();
    const isQuiet = this.#refusal !== null && (state.status === "connecting" || state.error?.code === this.#refusal);
    if (isQuiet) return;
    this.#refusal = stage === "refused" ? state.error.code : null;
    this.#engine.connectionChanged(state);
  }

  /** Ends the socket, and what belongs to it. */
  #end() {
    const [socket, wasOpen] = [this.#socket, this.isOpen];
    this.#stage = "waiting";
    this.#attempt += 1;
    this.#probe.end();
    this.#socket = this.#deadline = this.#renewal = null;
    this.#isRenewing = false;
    socket?.close();
    if (wasOpen) this.#engine.connectionLost();
  }

  /** Ends everything that would happen without another call. */
  #stop(stage, state) {
    this.#end();
    this.#listening?.();
    this.#listening = null;
    this.#become(stage, state);
  }

  // The attempt.

  #begin() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    if (!this.#route) return this.#giveUp(invalidURL());
    this.#listen();
    this.#isAsked = false;
    if (this.#token !== null && this.#isTokenExpired()) [this.#token, this.#request] = [null, RENEWAL];
    if (this.#token !== null) return void this.#open();
    this.#become("authenticating", { status: "connecting" });
    if (attempt === this.#attempt) this.#askForToken();
  }

  #askForToken() {
    this.#tokens.ask(this.#request);
    this.#deadline = this.#tokens.deadline;
    this.#engine.changed();
  }

  /** A token came, perhaps later than it was asked for: it is used, unless a newer one is. */
  #tokenCame(token) {
    if (this.#stage === "connected") return this.#renewed(token);
    if (this.#token === null || tokenExpiry(token) > tokenExpiry(this.#token)) this.#token = token;
    if (this.#stage === "authenticating") this.#open();
  }

  #tokenFailed(error) {
    if (this.#stage === "authenticating") return this.#follow(this.#route.tokenFailed(error, steadyNow()));
    if (this.#stage !== "connected") return;
    if (isSignedOut(error)) {
      this.send([{ type: "goodbye" }]);
      return this.#giveUp(error);
    }
    if (this.#isRenewing) this.#renewalFailed(error);
  }

  /** Compares the token's own expiry with the worker's time. The worker refuses every other expired token (4101). */
  #isTokenExpired() {
    const expiry = tokenExpiry(this.#token);
    return expiry !== null && this.#engine.isTimeKnown && expiry <= this.#engine.now;
  }

  #listen() {
    if (this.#listening || !globalThis.addEventListener) return;
    const { document } = globalThis;
    const endings = [
      listening(globalThis, {
        online: () => this.networkChanged(), offline: () => this.#stage === "connected" && this.networkChanged(),
      }),
      document?.addEventListener ? listening(document, {
        visibilitychange: () => this.#engine.visibilityChanged(), resume: () => this.#engine.resumed(),
      }) : () => {},
    ];
    this.#listening = () => { for (const end of endings) end(); };
  }

  async #open() {
    const attempt = this.#attempt;
    this.#route.opening();
    this.#attemptBegan = steadyNow();
    const asksFirst = this.#isReal && this.#route.asksFirst(this.#attemptBegan);
    this.#deadline = this.#attemptBegan
      + (asksFirst ? this.#route.patient(this.#options.connectTimeout) : this.#route.timeout(this.#options.connectTimeout));
    this.#become("opening", { status: "connecting" });
    if (asksFirst && attempt === this.#attempt) {
      const answer = await this.#probe.ask(this.#route.address);
      if (attempt !== this.#attempt) return;
      this.#route.answered(this.#route.address, answer, steadyNow());
      if (!isInvitation(answer)) return this.#attemptFailed();
      this.#deadline = steadyNow() + this.#route.timeout(this.#options.connectTimeout);
      this.#engine.changed();
    }
    if (attempt === this.#attempt) this.#openSocket();
  }

  /** Another WebSocket than the platform's, of an app's test, says nothing about HTTP. */
  get #isReal() { return this.#options.WebSocket === globalThis.WebSocket; }

  /**
   * Asks at an address why no WebSocket opened there, which a WebSocket does not say. The answer may bring the next attempt
   * forward, or change the pause before it.
   */
  async #explain(address) {
    const answer = await this.#probe.ask(address);
    const next = answer === null ? null : this.#route.answered(address, answer, steadyNow());
    if (next && this.#stage === "waiting") this.#follow(next);
  }

  #openSocket() {
    const { WebSocket } = this.#options;
    if (!WebSocket) return this.#giveUp(new RollcallError("no_websocket", NO_WEBSOCKET));
    let socket;
    try {
      socket = new WebSocket(this.#route.address.href);
    } catch (cause) {
      return this.#giveUp(invalidURL(cause, this.#route.address));
    }
    this.#socket = socket;
    this.#pings = [];
    const on = (type, handle) => socket.addEventListener(type, (event) => {
      if (this.#socket === socket) handle(event);
    });
    on("open", () => this.#greet());
    on("message", ({ data }) => this.#received(data));
    // Node.js reports a failed handshake by this event alone.
    on("error", () => { if (this.#stage === "opening") this.#socketFailed(); });
    on("close", ({ code, reason }) => {
      if (this.#stage === "opening") this.#socketFailed();
      // 1006 is what a browser reports if there was no close frame.
      else this.#lost(code === 1006 ? null : code, reason);
    });
  }

  #socketFailed() {
    this.#route.socketFailed(steadyNow());
    this.#attemptFailed();
  }

  #greet() {
    this.#stage = "greeting";
    this.#route.socketOpened();
    this.#greeted = this.#token;
    const device = this.#options.device ?? (typeof claimsOf(this.#token).device === "string" ? null : this.#drawnDevice);
    const user = this.#user;
    this.send([{
      type: "hello", token: this.#token, ...device && { device }, ...user !== null && { user }, state: this.#engine.deviceState,
    }]);
    if (this.isOpen) this.#engine.connectionOpened();
  }

  // The connection.

  #received(data) {
    if (typeof data !== "string") return;
    this.#engine.wireUsed({ received: data });
    if (!this.isOpen) return;
    const message = parseMessage(data);
    const pingAt = message?.type === "pong" ? this.#pings.shift() ?? null : null;
    if (this.isConnected) {
      this.lastHeard = steadyNow();
      this.#liveness.received(pingAt, this.lastHeard);
      this.#deadline = this.#liveness.deadline;
      if (pingAt !== null && !this.isDoubted) this.#engine.connectionConfirmed();
    }
    switch (message?.type) {
      case undefined: break;
      case "welcome": if (this.#stage === "greeting") this.#welcomed(message); break;
      case "goodbye": this.#route.goodbyeReceived(message); break;
      case "pong":
        this.#engine.timeReceived(message.time, pingAt ?? steadyNow());
        // A while after the welcome, so that pages that come together do not ask together.
        if (this.isConnected && this.#isReal && this.#route.asksAhead()) this.#explain(this.#route.address);
        break;
      default: this.#engine.messageReceived(message);
    }
  }

  #welcomed(welcome) {
    const { user, device, session, worker } = welcome;
    this.#isRestarted = false;
    this.#user = user;
    this.#request = RENEWAL;
    this.#route.welcomed(welcome);
    this.lastHeard = this.#connectedAt = steadyNow();
    this.#liveness = new Liveness(welcome.ping, this.#connectedAt);
    this.#deadline = this.#liveness.deadline;
    this.#stage = "connected";
    this.#engine.welcomed(welcome);
    // Race: an observer that was called because of the worker's time may have ended the connection.
    if (this.#stage !== "connected") return;
    // A later answer of the app, which came after the hello.
    if (this.#token !== this.#greeted) this.#engine.tokenRenewed(this.#token);
    this.#scheduleRenewal();
    this.#become("connected", { status: "connected", session: { user, device, session, worker } });
  }

  #attemptFailed() {
    const [now, { address }] = [steadyNow(), this.#route];
    const asks = this.#isReal && this.#stage === "opening" && this.#socket !== null && this.#route.asksWhy(now);
    this.#end();
    const next = this.#route.connectFailed(now);
    this.#follow(next);
    // Without a pause, another address follows.
    if (asks && next.after > 0 && this.#stage === "waiting") this.#explain(address);
  }

  #lost(code, reason = "") {
    const duration = this.#stage === "connected" ? steadyNow() - this.#connectedAt : 0;
    this.#end();
    this.#follow(this.#route.connectionEnded(code, duration, reason, steadyNow()));
  }

  /** @param next what `Route` decided */
  #follow({ after, freshToken, isRefusal, isAsked, error }) {
    this.#isRestarted = false;
    if (after === undefined) return this.#giveUp(error);
    if (freshToken) {
      this.#token = null;
      if (error.code !== "token_unavailable") this.#request = { reason: "refused", code: error.code };
    }
    this.#deadline = steadyNow() + after;
    this.#isAsked = isAsked === true;
    const retryIn = Math.round(after);
    const attempt = this.#attempt;
    if (isRefusal) this.#become("refused", { status: "failed", retryIn, error });
    else this.#become("waiting", { status: "waiting", retryIn, error });
    // A browser may delay timers of a hidden page by a minute.
    if (after === 0) soon(() => { if (this.#attempt === attempt && this.#stage === "waiting") this.#begin(); });
  }

  #giveUp(error) {
    this.#tokens.forget();
    [this.#token, this.#request] = [null, error.closeCode === undefined ? FIRST : { reason: "refused", code: error.code }];
    this.#stop("failed", { status: "failed", error });
    if (error.code === "another_user") this.#engine.emptied();
  }

  // The renewal of the token.

  /** One to two margins before the expiry, at random, so that clients that connected together do not ask together. */
  #scheduleRenewal(token = this.#token) {
    this.#renewalPauses = Backoff.considerate(5 * SECOND);
    const left = (tokenExpiry(token) ?? NaN) - this.#engine.now;
    const margin = Math.min(Connection.RENEWAL_MARGIN, left / 4) * (1 + Math.random());
    this.#renewal = left > SECOND ? steadyNow() + left - margin : null;
    this.#engine.changed();
  }

  /** Asks the app for the next token, and again if the app does not answer. */
  #renewToken() {
    this.#tokens.ask(this.#request);
    [this.#renewal, this.#isRenewing] = [this.#tokens.deadline, true];
  }

  #renewed(token) {
    if (tokenExpiry(token) > tokenExpiry(this.#token)) {
      this.#isRenewing = false;
      this.#unreachableSince = null;
      this.#engine.tokenRenewed(token);
      this.#scheduleRenewal(token);
    } else if (this.#isRenewing) this.#renewalFailed();
  }

  /** There is no fresh token. The old one is still valid for a while. */
  #renewalFailed(cause = null) {
    const now = steadyNow();
    this.#isRenewing = false;
    this.#unreachableSince = isUnreachable(cause) ? this.#unreachableSince ?? now : null;
    this.#renewal = now + (this.#unreachableSince === null
      ? this.#renewalPauses.tokenFailed(cause) : this.#route.pause(now - this.#unreachableSince));
    this.#engine.changed();
  }

  /**
   * The worker has answered a fresh token. Until it is accepted, the present one stays in use, also for the next
   * connection. If it is refused for good, the app is asked again.
   */
  renewalAnswered(token, isAccepted) {
    if (this.#stage !== "connected") return;
    if (isAccepted) [this.#token, this.#request] = [token, RENEWAL];
    else {
      this.#request = { reason: "refused", code: "bad_token" };
      this.#renewalFailed();
    }
  }
}

const NO_WEBSOCKET = "this runtime has no WebSocket: Node.js has one from version 22 on, or pass one as the option WebSocket";
