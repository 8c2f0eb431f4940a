// Where and when to connect next, or whether to give up: the app's URLs, where a worker sent this device, and pauses.

import {
  because, clamp, closeCodeError, GOODBYE_CLOSE_CODES, MINUTE, RollcallError, SECOND, TOKEN_EXPIRED,
} from "./messages.js";

/** Exponential backoff with full jitter, so that the clients of a worker that stopped do not all return together. */
export class Backoff {
  #first;
  #longest;
  failures = 0;

  constructor(first, longest) {
    this.#first = first;
    this.#longest = longest;
  }

  /** Returns the pause after one more failure: a random time below a limit that doubles with each failure. */
  failed() {
    const limit = Math.min(this.#longest, this.#first * 2 ** Math.min(this.failures, 20));
    this.failures += 1;
    return Math.random() * limit;
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

/** The host of an address, without the brackets of IPv6. */
function hostOf({ hostname }) { return hostname.replace(/^\[(.*)\]$/, "$1"); }

/**
 * Each event returns `{ after, freshToken, error }` for a retry after so many milliseconds, or only `{ error }` to give
 * up. Close codes from 4100 to 4199 mean that somebody has to correct something first.
 */
export class Route {
  static FIRST_PAUSE = 250;
  /** The longest time that a worker may make a client wait. A worker that names a longer one is probably wrong. */
  static LONGEST_WAIT = 5 * MINUTE;
  /** A token that is refused as expired within this time after the app gave it was not a fresh one. */
  static FRESH = MINUTE;
  /** How long a connection must have lasted for its end to count as a first failure. */
  static STEADY = 5 * SECOND;
  /** How long an attempt may take while there is another address to try. This doubles with each round of all. */
  static SHORT_TIMEOUT = 2 * SECOND;

  #addresses;
  /** Which of the addresses is next, and how many attempts have failed since the last welcome. */
  #index = 0;
  #failures = 0;
  /** The address that a worker named. It is tried once, before the app's addresses. */
  #redirect = null;
  /** Whether a worker may send this device, with its token, to a host. */
  #allows;
  #backoff;
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

  timeout(longest) {
    if (this.#redirect === null && this.#addresses.length === 1) return longest;
    const rounds = Math.floor(this.#failures / this.#addresses.length);
    return Math.min(longest, Route.SHORT_TIMEOUT * 2 ** Math.min(rounds, 20));
  }

  /** A connection begins. A goodbye belongs to the connection on which it arrived. */
  opening() { this.#goodbye = null; }
  goodbyeReceived(goodbye) { this.#goodbye = goodbye; }

  welcomed() {
    this.#isRefreshed = false;
    this.#failures = this.#unknownKeys = 0;
  }

  /** The token callback threw or did not answer. The client retries unless the error says that a retry cannot help. */
  tokenFailed(cause) {
    if (cause instanceof RollcallError && !cause.retry) return { error: cause };
    const error = new RollcallError("token_unavailable", "the app gave no token", { cause });
    return { after: this.#backoff.failed(), freshToken: true, error };
  }

  /** No worker answered at the address. There is no pause until each address was tried. */
  connectFailed() {
    const error = new RollcallError("unreachable", "no worker answered");
    if (this.#redirect !== null) {
      this.#redirect = null;
      return { after: 0, error };
    }
    this.#advance();
    this.#failures += 1;
    return { after: this.#failures % this.#addresses.length === 0 ? this.#backoff.failed() : 0, error };
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
    if (duration >= Route.STEADY) this.#backoff.failures = 0;
    const pause = this.#backoff.failed();
    const error = code === null
      ? new RollcallError("connection_lost", "the connection was lost")
      : new RollcallError(
        "asked", because("the worker closed the connection", reason || goodbye?.reason), { closeCode: code });
    // A key that workers lack for long may be gone for good, and the app have a token with another by now.
    if (goodbye?.reason === "unknown_key") this.#unknownKeys += 1;
    const freshToken = goodbye?.reason === "unknown_key" && this.#unknownKeys % 2 === 0;
    return { freshToken, after: Number.isFinite(goodbye?.after) ? clamp(goodbye.after, 0, Route.LONGEST_WAIT) : pause, error };
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
