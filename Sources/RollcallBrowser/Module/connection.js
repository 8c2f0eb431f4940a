// The life of the connection to a worker: a token, a socket, hello, welcome, silence, and what follows each end.

import { Liveness } from "./attention.js";
import { base64Decoded, MINUTE, parseMessage, randomText, RollcallError, SECOND, steadyNow } from "./messages.js";
import { answerOf, Backoff, parseAddress, Route } from "./route.js";
import { listening } from "./updates.js";

/** Returns the claims of a JWT; none for another token. */
function claimsOf(token) {
  try {
    return JSON.parse(base64Decoded(token.split(".")[1])) ?? {};
  } catch {
    return {};
  }
}

/** Returns when a JWT expires, in server time, or null if the token does not say. */
function tokenExpiry(token) {
  const { exp } = claimsOf(token);
  return Number.isFinite(exp) ? exp * SECOND : null;
}

/**
 * Does what `Route` and `Liveness` decide, and tells the engine what happens. There is at most one attempt at a time.
 * Events of an earlier attempt's socket, and tokens that come too late, are ignored.
 */
export class Connection {
  /** How old an attempt must be to begin again when the network changes, which it does once. */
  static OLD_ATTEMPT = 2 * SECOND;
  /** How long before its expiry a token is replaced, at least. For a short-lived token it is less. */
  static RENEWAL_MARGIN = MINUTE;
  /** How often at most a return to the foreground tries again after a refusal. */
  static RETURN_PAUSE = 10 * SECOND;

  /**
   * `idle`, `authenticating`, `opening`, `greeting` (hello is sent), `connected`, `waiting`, `refused` (waits longer),
   * `failed` or `closed`.
   */
  #stage = "idle";
  /** The code of the refusal that was reported last. Until something else is, attempts begin without a report. */
  #refusal = null;
  #deadline = null;
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
  #renewal = null;
  #isRenewing = false;
  #renewalPauses = null;
  /** Aborting it ends a probe. */
  #probe = null;
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
  /** Whether a ping is unanswered. */
  get isPinging() { return this.#pings.length > 0; }
  get isClosed() { return this.#stage === "closed"; }
  get deadline() { return Math.min(this.#deadline ?? Infinity, this.#renewal ?? Infinity); }

  connect() {
    if (!["idle", "failed", "refused", "waiting"].includes(this.#stage)) return;
    this.#refusal = null;
    this.#begin();
  }

  /** The user is back. A worker that refused the session may be able to take it now. */
  returned() {
    if (this.#stage === "refused" && steadyNow() >= this.#attemptBegan + Connection.RETURN_PAUSE) this.#begin();
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
   * Checks the connection, or makes the next attempt at once, also if a token is awaited. An attempt over a path that may
   * be dead begins again, once: an app may report changes in a loop.
   */
  networkChanged() {
    const now = steadyNow();
    switch (this.#stage) {
      case "waiting":
      case "authenticating": return void this.#begin();
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

  #restart() {
    this.#end();
    this.#isRestarted = true;
    this.#begin();
  }

  /** @param {"idle" | "closed"} state */
  end(state, { goodbye }) {
    if (goodbye && this.isOpen) this.send([{ type: "goodbye" }]);
    if (this.isClosed) return Promise.resolve();
    const socket = this.#socket;
    // The next connection may be another user's.
    this.#token = null;
    this.#stop(state, { status: state });
    return socketClosed(socket);
  }

  deadlinePassed(now) {
    if (this.#renewal !== null && now >= this.#renewal) this.#isRenewing ? this.#renewalFailed() : this.#renewToken();
    if (this.#deadline === null || now < this.#deadline) return;
    switch (this.#stage) {
      case "waiting":
      case "refused": return void this.#begin();
      case "authenticating":
        this.#attempt += 1;
        this.#route.timedOut(this.#options.connectTimeout);
        return this.#follow(this.#route.tokenFailed(new Error("the token callback did not answer in time")));
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
    this.#probe?.abort();
    this.#socket = this.#probe = this.#deadline = this.#renewal = null;
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

  async #begin() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    if (!this.#route) return this.#giveUp(invalidURL());
    this.#listen();
    if (this.#token === null || this.#isTokenExpired()) {
      this.#deadline = steadyNow() + this.#timeLimit;
      this.#become("authenticating", { status: "connecting" });
      if (attempt !== this.#attempt) return;
      try {
        const token = await this.#freshToken();
        if (attempt !== this.#attempt) return;
        this.#token = token;
      } catch (error) {
        if (attempt === this.#attempt) this.#follow(this.#route.tokenFailed(error));
        return;
      }
    }
    this.#open();
  }

  async #freshToken() {
    const { token } = this.#options;
    const fresh = typeof token === "function" ? await token() : token;
    if (typeof fresh === "string" && fresh) return fresh;
    if (fresh) throw new RollcallError("bad_token", "the token callback gave no string");
    throw new Error("the token callback gave nothing yet");
  }

  /** Compares the token's own expiry with the worker's time. The worker refuses every other expired token (4101). */
  #isTokenExpired() {
    const expiry = tokenExpiry(this.#token);
    return expiry !== null && this.#engine.isTimeKnown && expiry <= this.#engine.now;
  }

  #listen() {
    if (this.#listening || !globalThis.addEventListener) return;
    this.#listening = listening(globalThis, {
      online: () => this.networkChanged(), offline: () => this.#stage === "connected" && this.networkChanged(),
    });
  }

  async #open() {
    const attempt = this.#attempt;
    this.#route.opening();
    this.#attemptBegan = steadyNow();
    const asksFirst = this.#isReal && this.#route.asksFirst(this.#attemptBegan);
    this.#deadline = this.#attemptBegan
      + (asksFirst ? this.#timeLimit : this.#route.timeout(this.#options.connectTimeout));
    this.#become("opening", { status: "connecting" });
    if (asksFirst && attempt === this.#attempt) {
      const answer = await this.#ask(this.#route.address);
      if (attempt !== this.#attempt) return;
      this.#route.answered(this.#route.address, answer, steadyNow());
      if (!answer?.isOurs || answer.status !== 426) return this.#attemptFailed();
      this.#deadline = steadyNow() + this.#route.timeout(this.#options.connectTimeout);
      this.#engine.changed();
    }
    if (attempt === this.#attempt) this.#openSocket();
  }

  /** Another WebSocket than the platform's, of an app's test, says nothing about HTTP. */
  get #isReal() { return this.#options.WebSocket === globalThis.WebSocket; }

  /**
   * Returns what answers a plain request at an address; undefined if nothing does, or if this page may not read it; null if
   * the attempt is over.
   */
  async #ask(address) {
    if (!globalThis.fetch || !globalThis.AbortController) return undefined;
    this.#probe?.abort();
    const probe = this.#probe = new AbortController();
    try {
      // Cookies may be what lets a page through to its own origin.
      const answer = answerOf(await fetch(address.href.replace(/^ws/, "http"), {
        mode: "cors", credentials: "same-origin", cache: "no-store", redirect: "error", signal: probe.signal,
      }));
      if (this.#probe !== probe) return null;
      // Nobody reads the rest, such as a login page.
      probe.abort();
      return answer;
    } catch {
      return probe.signal.aborted ? null : undefined;
    }
  }

  /**
   * Asks at an address why no WebSocket opened there, which a WebSocket does not say. The answer may bring the next attempt
   * forward, or change the pause before it.
   */
  async #explain(address) {
    const answer = await this.#ask(address);
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
    const device = this.#options.device ?? (typeof claimsOf(this.#token).device === "string" ? null : this.#drawnDevice);
    this.send([{ type: "hello", token: this.#token, ...device && { device }, state: this.#engine.deviceState }]);
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
    this.#route.welcomed();
    this.lastHeard = this.#connectedAt = steadyNow();
    this.#liveness = new Liveness(welcome.ping, this.#connectedAt);
    this.#deadline = this.#liveness.deadline;
    this.#stage = "connected";
    this.#engine.welcomed(welcome);
    // Race: an observer that was called because of the worker's time may have ended the connection.
    if (this.#stage !== "connected") return;
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
    this.#follow(this.#route.connectionEnded(code, duration, reason));
  }

  /** @param next what `Route` decided */
  #follow({ after, freshToken, isRefusal, error }) {
    this.#isRestarted = false;
    if (after === undefined) return this.#giveUp(error);
    if (freshToken) this.#token = null;
    this.#deadline = steadyNow() + after;
    const retryIn = Math.round(after);
    if (isRefusal) this.#become("refused", { status: "failed", retryIn, error });
    else this.#become("waiting", { status: "waiting", retryIn, error });
  }

  #giveUp(error) {
    this.#token = null;
    this.#stop("failed", { status: "failed", error });
  }

  // The renewal of the token.

  /** The time limit of the token callback. */
  get #timeLimit() { return this.#route.patient(this.#options.connectTimeout); }

  /** One to two margins before the expiry, at random, so that clients that connected together do not ask together. */
  #scheduleRenewal(token = this.#token) {
    this.#renewalPauses = Backoff.considerate(5 * SECOND);
    const left = (tokenExpiry(token) ?? NaN) - this.#engine.now;
    const margin = Math.min(Connection.RENEWAL_MARGIN, left / 4) * (1 + Math.random());
    this.#renewal = left > SECOND ? steadyNow() + left - margin : null;
    this.#engine.changed();
  }

  /** Asks the app for the next token, and again if the app does not answer in time. */
  async #renewToken() {
    this.#attempt += 1;
    const attempt = this.#attempt;
    this.#renewal = steadyNow() + this.#timeLimit;
    this.#isRenewing = true;
    let [token, cause] = [null, null];
    try {
      token = await this.#freshToken();
    } catch (error) {
      cause = error;
    }
    if (attempt !== this.#attempt || this.#stage !== "connected") return;
    if (!(tokenExpiry(token) > tokenExpiry(this.#token))) return this.#renewalFailed(cause);
    this.#isRenewing = false;
    this.#engine.tokenRenewed(token);
    this.#scheduleRenewal(token);
  }

  /** There is no fresh token. The old one is still valid for a while. */
  #renewalFailed(cause = null) {
    this.#attempt += 1;
    this.#isRenewing = false;
    this.#renewal = steadyNow() + this.#renewalPauses.tokenFailed(cause);
    this.#engine.changed();
  }

  /**
   * The worker has answered a fresh token. Until it is accepted, the present one stays in use, also for the next
   * connection. If it is refused for good, the app is asked again.
   */
  renewalAnswered(token, isAccepted) {
    if (this.#stage !== "connected") return;
    if (isAccepted) this.#token = token;
    else this.#renewalFailed();
  }
}

const NO_WEBSOCKET = "this runtime has no WebSocket: Node.js has one from version 22 on, or pass one as the option WebSocket";

function invalidURL(cause, address = undefined) {
  const isExposed = address?.protocol === "ws:" && globalThis.location?.protocol === "https:";
  return new RollcallError("invalid_url", isExposed
    ? "a page of https:// may open no ws:// connection: use wss://"
    : "a URL must be ws://HOST or wss://HOST, with port and path at will, or a path on the page's host", { cause });
}

/** Resolves once a closing socket has closed, after two seconds at most. */
function socketClosed(socket) {
  if (!socket || socket.readyState === 3) return Promise.resolve();
  return new Promise((resolve) => {
    socket.addEventListener("close", () => resolve(), { once: true });
    setTimeout(resolve, 2 * SECOND);
  });
}
