// Where and when to connect next, or whether to give up: the app's URLs, where a worker sent this device, and pauses.

import {
  because, BUSY, clamp, closeCodeError, GOODBYE_CLOSE_CODES, MINUTE, RollcallError, SECOND, TOKEN_EXPIRED,
} from "./messages.js";

/** Exponential backoff with jitter, so that the clients of a worker that stopped do not all return together. */
export class Backoff {
  /** The longest time that a worker or a token server may make a client wait. One that names a longer is probably wrong. */
  static LONGEST_WAIT = 5 * MINUTE;

  #first;
  #longest;
  #least;
  failures = 0;

  /** @param least the shortest pause, as a part of its limit */
  constructor(first, longest, least = 0) {
    this.#first = first;
    this.#longest = longest;
    this.#least = least;
  }

  /** For a token server, or a worker, that has asked for fewer requests. */
  static considerate(first) { return new Backoff(first, 15 * SECOND, 0.5); }

  /** Returns the pause after one more failure: a random time below a limit that doubles with each failure. */
  failed() {
    const limit = Math.min(this.#longest, this.#first * 2 ** Math.min(this.failures, 20));
    this.failures += 1;
    return limit * (this.#least + (1 - this.#least) * Math.random());
  }

  /** Returns the pause after one more failure of the token callback, whose error may ask for more. */
  tokenFailed(error) {
    const asked = Number.isFinite(error?.retryAfter) ? clamp(error.retryAfter, 0, Backoff.LONGEST_WAIT) : 0;
    return Math.min(asked + this.failed(), Backoff.LONGEST_WAIT);
  }
}

/** Returns the URL of a worker (`ws:`, `wss:` or a path on the page's own host), or null if it is not valid. */
export function parseAddress(text) {
  try {
    const page = globalThis.location?.href;
    const url = text.startsWith("/") ? new URL(text, page?.replace(/^http/, "ws")) : new URL(text);
    if (!["ws:", "wss:"].includes(url.protocol) || url.username || url.password || url.hash) return null;
    if (url.pathname === "/") url.pathname = "/v1/connect";
    return url;
  } catch {
    return null;
  }
}

/** What the statuses mean with which a worker, or what stands in its place, refuses. */
export const REFUSALS = new Map([
  [403, () => `pages of ${globalThis.location?.origin ?? "this origin"} may not connect: add it to the worker's edge.origins`],
  [404, () => "no worker answers at this path; a worker's is /v1/connect"],
  [429, () => "too many connections from this address at once"],
]);

/** The host of an address, without the brackets of IPv6. */
function hostOf({ hostname }) { return hostname.replace(/^\[(.*)\]$/, "$1"); }

/**
 * Each event returns `{ after, freshToken, error }` for a retry after so many milliseconds, or only `{ error }` to give
 * up. Close codes from 4100 to 4199 mean that somebody has to correct something first.
 */
export class Route {
  static FIRST_PAUSE = 250;
  /** A token that is refused as expired within this time after the app gave it was not a fresh one. */
  static FRESH = MINUTE;
  /** How long a connection must have lasted for its end to count as a first failure. */
  static STEADY = 5 * SECOND;
  /** How long an attempt may take while there is another address to try. This doubles with each round of all. */
  static SHORT_TIMEOUT = 2 * SECOND;
  /** The time limit of an attempt doubles up to this: a network may be slow. */
  static LONGEST_ATTEMPT = 40 * SECOND;
  /** How long a client only asks over HTTP before it tries a WebSocket anyway; twice as long each time. */
  static ASKING = 10 * SECOND;

  #addresses;
  /** Which of the addresses is next, and how many attempts have failed since the last welcome. */
  #index = 0;
  #failures = 0;
  /** How many attempts have run into the app's time limit since the last welcome. */
  #timeouts = 0;
  /** When a WebSocket last failed to open, until one opens, and for how long the client only asks from then on. */
  #socketFailedAt = null;
  #asking = Route.ASKING;
  /** The address that a worker named. It is tried once, before the app's addresses. */
  #redirect = null;
  /** Whether a worker may send this device, with its token, to a host. */
  #allows;
  #backoff;
  /** After the token callback has failed, or a worker has asked for fewer attempts (429, 4002). */
  #considerate = Backoff.considerate(Route.FIRST_PAUSE);
  /** What the worker sent before it closed the connection. */
  #goodbye = null;
  /** Whether close code 4101 made the client ask for a fresh token, and no welcome has arrived since. */
  #isRefreshed = false;
  /** How often workers did not have the token's key since the last welcome. */
  #unknownKeys = 0;

  /**
   * Shuffles the addresses, so that the clients of several workers spread over them.
   *
   * @param hosts hosts to which a worker may send this device, in addition to those of `addresses`; "*." before a domain
   *   stands for all hosts in it
   */
  constructor(addresses, hosts, longestPause) {
    const allowed = [...addresses.map(hostOf), ...hosts.map((host) => host.toLowerCase())];
    this.#allows = (host) => allowed.some((each) => each.startsWith("*.") ? host.endsWith(each.slice(1)) : host === each);
    this.#addresses = addresses.map((address) => [Math.random(), address])
      .sort(([one], [other]) => one - other).map(([, address]) => address);
    this.#backoff = new Backoff(Route.FIRST_PAUSE, longestPause);
  }

  get address() { return this.#redirect ?? this.#addresses[this.#index]; }

  timeout(limit) {
    const longest = this.patient(limit);
    if (this.#redirect === null && this.#addresses.length === 1) return longest;
    const rounds = Math.floor(this.#failures / this.#addresses.length);
    return Math.min(longest, Route.SHORT_TIMEOUT * 2 ** Math.min(rounds, 20));
  }

  /** The app's time limit, longer after each attempt that ran into it. */
  patient(limit) { return Math.max(limit, Math.min(limit * 2 ** Math.min(this.#timeouts, 10), Route.LONGEST_ATTEMPT)); }

  /** An attempt took its whole time. One that was short because there are other addresses does not count. */
  timedOut(limit) { if (this.timeout(limit) === this.patient(limit)) this.#timeouts += 1; }

  /**
   * Whether to ask for a worker over HTTP before a WebSocket is opened: Firefox holds back WebSockets after failures, longer
   * each time. A page's policy may forbid to ask, so a WebSocket is tried now and then.
   */
  asksFirst(now) { return this.#socketFailedAt !== null && now - this.#socketFailedAt < this.#asking; }

  socketFailed(now) {
    if (this.#socketFailedAt !== null) this.#asking *= 2;
    this.#socketFailedAt = now;
  }

  socketOpened() { [this.#socketFailedAt, this.#asking] = [null, Route.ASKING]; }

  /** A connection begins. A goodbye belongs to the connection on which it arrived. */
  opening() { this.#goodbye = null; }
  goodbyeReceived(goodbye) { this.#goodbye = goodbye; }

  welcomed() {
    this.#isRefreshed = false;
    this.#failures = this.#timeouts = this.#unknownKeys = 0;
  }

  /** The token callback threw or did not answer. The client retries unless the error says that a retry cannot help. */
  tokenFailed(cause) {
    if (cause instanceof RollcallError && !cause.retry) return { error: cause };
    const error = new RollcallError("token_unavailable", "the app gave no token", { cause });
    return { after: this.#considerate.tokenFailed(cause), freshToken: true, error };
  }

  /**
   * No worker answered at the address, or it refused with this status. There is no pause until each address was tried.
   *
   * @param {number} [status] 403, 404 or 429
   */
  connectFailed(status) {
    const error = new RollcallError("unreachable", REFUSALS.get(status)?.() ?? "no worker answered");
    if (this.#redirect !== null) {
      this.#redirect = null;
      return { after: 0, error };
    }
    this.#advance();
    this.#failures += 1;
    const pauses = status === 429 ? this.#considerate : this.#backoff;
    return { after: this.#failures % this.#addresses.length === 0 ? pauses.failed() : 0, error };
  }

  /**
   * @param {number | null} code the close code; null if the connection was lost
   * @param {number} duration how long the connection had lasted since its welcome
   * @param {number} tokenAge how long ago the app gave the token
   * @param {string} reason what the worker says of it; may be empty
   */
  connectionEnded(code, duration, tokenAge, reason) {
    const goodbye = this.#goodbye;
    this.#goodbye = null;
    if (code === TOKEN_EXPIRED) return this.#tokenExpired(tokenAge);
    if (code >= 4100 && code <= 4199) return { error: closeCodeError(code, reason) };
    if (goodbye && !goodbye.reconnect) return { error: closeCodeError(GOODBYE_CLOSE_CODES.get(goodbye.reason) ?? code) };
    this.#leave(goodbye?.to);
    if (duration >= Route.STEADY) this.#backoff.failures = this.#considerate.failures = 0;
    const pause = (code === BUSY ? this.#considerate : this.#backoff).failed();
    const error = code === null
      ? new RollcallError("connection_lost", "the connection was lost")
      : new RollcallError(
        "asked", because("the worker closed the connection", reason || goodbye?.reason), { closeCode: code });
    // A key that workers lack for long may be gone for good, and the app have a token with another by now.
    if (goodbye?.reason === "unknown_key") this.#unknownKeys += 1;
    const freshToken = goodbye?.reason === "unknown_key" && this.#unknownKeys % 2 === 0;
    return { freshToken, after: Number.isFinite(goodbye?.after) ? clamp(goodbye.after, 0, Backoff.LONGEST_WAIT) : pause, error };
  }

  #tokenExpired(age) {
    const error = closeCodeError(TOKEN_EXPIRED);
    if (this.#isRefreshed && age <= Route.FRESH) return { error };
    this.#isRefreshed = true;
    this.#leave();
    return { after: 0, freshToken: true, error };
  }

  /** The connection's worker may be gone, so the next address follows, or the one that the worker named. */
  #leave(to) {
    const named = typeof to === "string" ? parseAddress(to) : null;
    // The token must not go from an encrypted connection to an unencrypted one.
    const isSafe = named?.protocol === "wss:" || this.address.protocol === "ws:";
    this.#redirect = named && isSafe && this.#allows(hostOf(named)) ? named : null;
    this.#advance();
  }

  #advance() { this.#index = (this.#index + 1) % this.#addresses.length; }
}
