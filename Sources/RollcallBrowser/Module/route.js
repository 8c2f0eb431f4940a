// Where and when to connect next, or whether to give up: the app's URLs, where a worker sent this device, and pauses.

import {
  because, BUSY, clamp, closeCodeError, FINAL, GOODBYE_CLOSE_CODES, MINUTE, RollcallError, SECOND, TOKEN_EXPIRED, TOKEN_REASONS,
} from "./messages.js";
import { isSignedOut, isUnreachable } from "./token.js";

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

/** Scheme, host, port, path and query of a URL without user, password and fragment. */
const ADDRESS = /^(wss?:)\/\/(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?(\/[^?#\s\\]*)?(\?[^#\s]*)?$/i;

/**
 * Returns the URL of a worker (`ws:`, `wss:` or a path on the page's own host), or null if it is not valid. Reads it by itself,
 * since the `URL` of React Native lacks parts and appends a slash; only for other letters than ASCII it needs one.
 */
export function parseAddress(text) {
  try {
    const full = text.startsWith("/") ? globalThis.location.origin.replace(/^http/, "ws") + text : text;
    const [, scheme, host, port = "", path = "/", query = ""] = ADDRESS.exec(full) ?? ADDRESS.exec(new URL(full).href);
    const [protocol, hostname] = [scheme.toLowerCase(), host.toLowerCase()];
    return { protocol, hostname, href: `${protocol}//${hostname}${port}${path === "/" ? "/v1/connect" : path}${query}` };
  } catch {
    return null;
  }
}

export function invalidURL(cause, address = undefined) {
  const isExposed = address?.protocol === "ws:" && globalThis.location?.protocol === "https:";
  return new RollcallError("invalid_url", isExposed
    ? "a page of https:// may open no ws:// connection: use wss://"
    : "a URL must be ws://HOST or wss://HOST, with port and path at will, or a path on the page's host", { cause });
}

/** What a worker answers to a plain request with this type, which a page may send anywhere without asking first. */
const PROBE = { type: "application/rollcall", status: 204 };

/** What was read from an answer that is no WebSocket: `isOurs` if it bears the mark of a worker, the header `Rollcall`. */
function answerOf({ status, headers }) {
  const seconds = headers.get("retry-after");
  return {
    status, isOurs: headers.has("rollcall"), retryAfter: /^[1-9]\d*$/.test(seconds) ? seconds * SECOND : undefined,
  };
}

/** Whether a worker answers, so that a WebSocket may open. */
export function isInvitation(answer) { return answer?.isOurs === true && answer.status === PROBE.status; }

/** A plain request to a worker, one at a time. */
export class Probe {
  /** Aborting it ends the present one. */
  #present = null;

  /**
   * Returns what answers at an address; undefined if nothing does, or if this page may not read it; null if the request was
   * ended.
   */
  async ask(address) {
    if (!globalThis.fetch || !globalThis.AbortController) return undefined;
    this.end();
    const probe = this.#present = new AbortController();
    try {
      // Cookies may be what lets a page through to its own origin.
      const answer = answerOf(await fetch(address.href.replace(/^ws/, "http"), {
        headers: { Accept: PROBE.type }, mode: "cors", credentials: "same-origin", cache: "no-store", redirect: "error",
        signal: probe.signal,
      }));
      if (this.#present !== probe) return null;
      // The rest, such as a login page, is not read.
      probe.abort();
      return answer;
    } catch {
      return probe.signal.aborted ? null : undefined;
    }
  }

  end() {
    this.#present?.abort();
    this.#present = null;
  }
}

/**
 * What an answer means. `full`: a worker asks for fewer attempts. `refusal`: a person has to correct something. Everything
 * else says nothing of the workers: `silence`.
 */
function meaning(answer) {
  const asksForLess = answer?.status === 429 || answer?.status === 503;
  if (answer?.isOurs) return asksForLess ? "full" : "refusal";
  return answer?.status === 429 ? "refusal" : "silence";
}

/** Why no WebSocket opened, for people. */
function explanation(answer) {
  const { status, isOurs } = answer ?? {};
  if (status === 429) return "too many connections from this address at once";
  if (!isOurs) return status ? `no worker answered, but something that answers ${status}` : "no worker answered";
  const page = globalThis.location?.origin ?? "this origin";
  switch (status) {
    case 403: return `pages of ${page} may not connect: add it to the worker's edge.origins`;
    case 404: return "no worker answers at this path; a worker's is /v1/connect";
    case 204: return "a worker answers, but no WebSocket opens: does a proxy pass Host and Upgrade on, and do the worker's "
      + `edge.origins allow ${page}?`;
    case 503: return "the worker has no room";
    default: return `the worker answered ${status}`;
  }
}

/** The host of an address, without the brackets of IPv6. */
function hostOf({ hostname }) { return hostname.replace(/^\[(.*)\]$/, "$1"); }

/**
 * Browsers that delay WebSockets after failures, by themselves: Firefox longer each time, up to a minute; Chromium up to 5 s,
 * once some 14 have failed within two minutes. What counts there is how often one is tried: while plain requests tell whether a
 * worker is back (`told`), and while they tell nothing (`blind`).
 */
const DELAYING = [
  { name: /\bGecko\//, told: Infinity, blind: 5 * SECOND, parks: true }, { name: /Chrome\//, told: 10 * SECOND, blind: 0 },
];
const delaying = () => DELAYING.find(({ name }) => name.test(globalThis.navigator?.userAgent));

/**
 * Each event returns `{ after, freshToken, error }` for a retry after so many milliseconds, with `isAsked` if a worker asked for
 * that pause, and `isRefusal` if it refused the session; or only `{ error }` to give up.
 */
export class Route {
  /**
   * A pause is random, from none to a tenth of the outage so far: at least to the floor that the worker's welcome names, between
   * these two, and at most to the app's `longestPause`. So clients that lost a worker together spread more the longer it is away.
   */
  static FLOORS = [250, 30 * SECOND];
  static FLOOR = 1_500;
  static PART = 0.1;
  /** How long a connection must have lasted for its end to count as a first failure. */
  static STEADY = 5 * SECOND;
  /** How long an attempt may take while there is another address to try. This doubles with each round of all. */
  static SHORT_TIMEOUT = 2 * SECOND;
  /** The time limit of an attempt doubles up to this: a network may be slow. */
  static LONGEST_ATTEMPT = 40 * SECOND;
  /** The pauses after a worker has refused the session; the last repeats. More by up to a quarter, at random. */
  static REFUSED = [MINUTE, 2 * MINUTE, 4 * MINUTE, 5 * MINUTE];
  static TOO_MANY_SESSIONS = 15 * SECOND;
  /** The longest that Firefox parks an attempt. */
  static PARKED = 65 * SECOND;

  #addresses;
  /** Which of the addresses is next, and how many attempts have failed since the last welcome. */
  #index = 0;
  #failures = 0;
  /** How many attempts have run into the app's time limit since the last welcome. */
  #timeouts = 0;
  /** Whether an attempt has failed since the last welcome. */
  #isFailing = false;
  /** When the outage began: the end of the last connection that had lasted, or a later reason to count anew. */
  #outageSince = null;
  #floor = Route.FLOOR;
  #longestPause;
  /** What last answered at an address instead of a WebSocket: `{ href, answer }`. */
  #answered = null;
  /** When to ask next why no WebSocket opens, and the pauses while that says nothing: a page's policy may report each try. */
  #askAt = -Infinity;
  #asks = new Backoff(5 * SECOND, 15 * SECOND, 0.5);
  /** The addresses at which an answer of a worker could be read, and when a WebSocket last failed to open. */
  #readable = new Set();
  #socketFailedAt = null;
  #hasAskedAhead = false;
  /** Whether a worker has just answered a plain request, so that the next attempt need not ask again. */
  #isInvited = false;
  /** The address that a worker named. It is tried once, before the app's addresses. */
  #redirect = null;
  /** Whether a worker may send this device, with its token, to a host. */
  #allows;
  /** Where short pauses would do harm: a token callback that fails, a worker without room, what somebody has to correct. */
  #considerate = Backoff.considerate(250);
  /** What the worker sent before it closed the connection. */
  #goodbye = null;
  /** How often workers have refused the session since a connection lasted. */
  #refusals = 0;
  /** Whether close code 4101 made the client ask for a fresh token, and no welcome has arrived since. */
  #isRefreshed = false;
  /** While workers do not take the token for what time may heal. */
  #tokenRefusals = new Backoff(SECOND, Backoff.LONGEST_WAIT, 0.5);

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
    this.#longestPause = longestPause;
  }

  get address() { return this.#redirect ?? this.#addresses[this.#index]; }

  timeout(limit) {
    // An attempt that the browser has parked would only be parked again.
    const longest = delaying()?.parks && this.#socketFailedAt !== null ? Route.PARKED : this.patient(limit);
    if (this.#redirect === null && this.#addresses.length === 1) return longest;
    const rounds = Math.floor(this.#failures / this.#addresses.length);
    return Math.min(longest, Route.SHORT_TIMEOUT * 2 ** Math.min(rounds, 20));
  }

  /** The app's time limit, longer after each attempt that ran into it. */
  patient(limit) { return Math.max(limit, Math.min(limit * 2 ** Math.min(this.#timeouts, 10), Route.LONGEST_ATTEMPT)); }

  /** An attempt took its whole time. One that was short because there are other addresses does not count. */
  timedOut(limit) { if (this.timeout(limit) === this.patient(limit)) this.#timeouts += 1; }

  /**
   * Whether to ask for a worker over HTTP, and to open a WebSocket only if one answers: where each failure of a WebSocket
   * delays the next ones. A page's policy may forbid to ask, so without an answer one is tried now and then.
   */
  asksFirst(now) {
    const [browser, isInvited] = [delaying(), this.#isInvited];
    this.#isInvited = false;
    if (this.#socketFailedAt === null || !browser || isInvited) return false;
    return now - this.#socketFailedAt < (this.#readable.has(this.address.href) ? browser.told : browser.blind);
  }

  /** Whether to find out now, while there is a connection, if a worker's answers can be read: once, since a page may report it. */
  asksAhead() {
    if (this.#hasAskedAhead || !delaying()) return false;
    this.#hasAskedAhead = true;
    return true;
  }

  /** Whether to ask now why no WebSocket opened. */
  asksWhy(now) { return now >= this.#askAt; }

  socketFailed(now) { this.#socketFailedAt = now; }
  socketOpened() { this.#socketFailedAt = null; }

  /** A connection begins. A goodbye belongs to the connection on which it arrived. */
  opening() { this.#goodbye = null; }
  goodbyeReceived(goodbye) { this.#goodbye = goodbye; }

  /** The count of the outage begins anew. */
  outageBegan(now) { this.#outageSince = now; }

  /** Returns the pause in an outage that has lasted so long. */
  pause(outage) {
    return Math.random() * Math.min(this.#longestPause, Math.max(this.#floor, outage * Route.PART));
  }

  #nextPause(now) { return this.pause(now - (this.#outageSince ??= now)); }

  welcomed({ reconnect }) {
    this.#floor = clamp(reconnect, ...Route.FLOORS);
    this.#isRefreshed = this.#isFailing = false;
    this.#answered = null;
    this.#askAt = -Infinity;
    this.#asks.failures = this.#tokenRefusals.failures = 0;
    this.#failures = this.#timeouts = 0;
  }

  /** The token callback threw, gave nothing or did not answer. Only `bad_token` ends that: the user is signed out. */
  tokenFailed(cause, now) {
    if (isSignedOut(cause)) return { error: cause };
    const error = new RollcallError("token_unavailable", "the app gave no token", { cause });
    const after = isUnreachable(cause) ? this.#nextPause(now) : this.#considerate.tokenFailed(cause);
    return { after, freshToken: true, error };
  }

  /**
   * No WebSocket opened at the address, and what last answered there decides for how long to wait. There is no pause until
   * each address was tried.
   */
  connectFailed(now) {
    const failed = this.address;
    const answer = this.answer(failed);
    this.#isFailing = true;
    if (this.#redirect !== null) {
      this.#redirect = null;
      return { after: 0, error: new RollcallError("unreachable", explanation(answer)) };
    }
    this.#advance();
    this.#failures += 1;
    return this.#failures % this.#addresses.length === 0 ? this.#pause(answer, now)
      : { after: 0, error: new RollcallError("unreachable", explanation(answer)) };
  }

  #pause(answer, now) {
    const error = new RollcallError("unreachable", explanation(answer));
    const kind = meaning(answer);
    if (kind === "full" && answer.retryAfter !== undefined) {
      return { error, after: Math.min(answer.retryAfter * (1 + Math.random() / 2), Backoff.LONGEST_WAIT), isAsked: true };
    }
    // A proxy may ask for a pause too, but it knows nothing of the workers.
    const asked = answer?.isOurs ? 0 : Math.min(answer?.retryAfter ?? 0, Route.FLOORS[1]);
    return { error, after: Math.max(asked, kind === "silence" ? this.#nextPause(now) : this.#considerate.failed()) };
  }

  /** What last answered a plain request at an address. */
  answer({ href }) { return this.#answered?.href === href ? this.#answered.answer : undefined; }

  /**
   * A plain request after an attempt has been answered, or not. Returns what follows instead of the present pause: an
   * attempt at once if a worker answers by now, or another pause; null if the answer says nothing new.
   */
  answered(address, answer, now) {
    if (answer?.isOurs) this.#readable.add(address.href);
    if (!this.#isFailing) return null;
    const before = this.answer(address);
    this.#answered = { href: address.href, answer };
    if (meaning(answer) === "silence") this.#askAt = now + this.#asks.failed();
    if (meaning(before) === meaning(answer) && before?.status === answer?.status) return null;
    const next = this.#pause(answer, now);
    this.#isInvited = isInvitation(answer);
    return this.#isInvited ? { ...next, after: 0 } : next;
  }

  /**
   * @param {number | null} code the close code; null if the connection was lost
   * @param {number} duration how long the connection had lasted since its welcome
   * @param {string} reason what the worker says of it; may be empty
   */
  connectionEnded(code, duration, reason, now) {
    const goodbye = this.#goodbye;
    this.#goodbye = null;
    if (duration >= Route.STEADY) {
      this.#refusals = this.#considerate.failures = 0;
      this.outageBegan(now);
    }
    if (code >= 4100 && code <= 4199) return this.#refused(closeCodeError(code, reason));
    if (goodbye && !goodbye.reconnect) {
      return this.#refused(closeCodeError(GOODBYE_CLOSE_CODES.get(goodbye.reason) ?? code));
    }
    if (code === BUSY && TOKEN_REASONS.has(goodbye?.reason)) return this.#tokenRefused(goodbye, reason);
    this.#leave(goodbye?.to);
    const error = code === null
      ? new RollcallError("connection_lost", "the connection was lost")
      // Without a word of a worker, a proxy or the browser may have closed it.
      : new RollcallError("asked", reason || goodbye
        ? because("the worker closed the connection", reason || goodbye?.reason) : "the connection was closed", { closeCode: code });
    if (Number.isFinite(goodbye?.after)) return { after: clamp(goodbye.after, 0, Backoff.LONGEST_WAIT), isAsked: true, error };
    return { after: code === BUSY ? this.#considerate.failed() : this.#nextPause(now), error };
  }

  /**
   * A worker does not take the token as long as its keys, its configuration, or the issuer's, or a clock are as they are. The
   * app may have a token with another key by then, so every second time it is asked.
   */
  #tokenRefused({ reason, after }, sentence) {
    this.#leave();
    const pause = this.#tokenRefusals.failed();
    const asked = Number.isFinite(after) ? clamp(after, 0, Backoff.LONGEST_WAIT) : 0;
    const error = new RollcallError(
      "bad_token", because("the worker does not take the token", sentence || reason), { closeCode: BUSY });
    return { after: Math.max(asked, pause), isAsked: true, freshToken: this.#tokenRefusals.failures % 2 === 0, error };
  }

  /**
   * A worker refused the session. Only what nobody but the app can undo is final: a key, a clock or a limit may be as
   * needed later.
   */
  #refused(error) {
    if (FINAL.has(error.code)) return { error };
    this.#leave();
    if (error.closeCode === TOKEN_EXPIRED) {
      // A second one in a row means that the app has no other token yet.
      const after = this.#isRefreshed ? this.#considerate.failed() : 0;
      this.#isRefreshed = true;
      return { after, isAsked: true, freshToken: true, error };
    }
    const pause = error.code === "too_many_sessions" ? Route.TOO_MANY_SESSIONS
      : Route.REFUSED[Math.min(this.#refusals, Route.REFUSED.length - 1)];
    this.#refusals += 1;
    return { after: pause * (1 + Math.random() / 4), freshToken: true, isRefusal: true, error };
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
