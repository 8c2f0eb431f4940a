// The app's token callback: asked once for all who wait, and what it answers counts whenever it comes.

import { base64Decoded, MINUTE, RollcallError, SECOND, steadyNow } from "./messages.js";

/** Returns the claims of a JWT; none for another token. */
export function claimsOf(token) {
  try {
    return JSON.parse(base64Decoded(token.split(".")[1])) ?? {};
  } catch {
    return {};
  }
}

/** Returns when a JWT expires, in server time, or null if the token does not say. */
export function tokenExpiry(token) {
  const { exp } = claimsOf(token);
  return Number.isFinite(exp) ? exp * SECOND : null;
}

/** What the `fetch` of Chromium, Firefox, Safari, Node.js and React Native says if there is no answer. */
const NO_ANSWER = new Set([
  "Failed to fetch", "NetworkError when attempting to fetch resource.", "Load failed", "fetch failed", "Network request failed",
]);

/** Whether the callback failed for want of a network, so that the client would fail too: by its error, or as the app says. */
export function isUnreachable(error) {
  if (error instanceof TypeError) return NO_ANSWER.has(error.message);
  return error?.code === "unreachable" || error?.code === "auth/network-request-failed";
}

/** Asks the app for tokens. At most two calls are under way, and the first valid answer counts. */
export class TokenSource {
  /** How long a call may take until the app is asked again, and how long if the user or the network gives a reason to. */
  static PATIENCE = MINUTE;
  static SHORT_PATIENCE = 10 * SECOND;
  static MOST = 2;
  /** After how long a call counts as lost, so that two of them do not end the asking. */
  static LOST = 5 * MINUTE;

  #token;
  #came;
  #failed;
  /** The calls that have not returned: when each began. */
  #calls = new Set();

  /**
   * @param token the app's: a string or a function
   * @param came called with a token
   * @param failed called with an error, if no other call is under way
   */
  constructor(token, came, failed) {
    this.#token = token;
    this.#came = came;
    this.#failed = failed;
  }

  get isAsking() { return this.#calls.size > 0; }
  /** When to ask again, while a call is under way. */
  get deadline() { return this.#mayAskAt(TokenSource.PATIENCE); }

  /** The newest call has had its time, and of two calls the older one is lost. */
  #mayAskAt(patience) {
    const began = [...this.#calls].map((call) => call.began);
    return Math.max(began.at(-1) + patience, (began.at(-TokenSource.MOST) ?? -Infinity) + TokenSource.LOST);
  }

  /** Asks, unless an answer is awaited that may still come. */
  async ask(request, patience = TokenSource.PATIENCE) {
    const began = steadyNow();
    if (began < this.#mayAskAt(patience)) return;
    const calls = this.#calls;
    const call = { began };
    calls.add(call);
    let [token, error] = [null, null];
    // So that what it throws arrives as late as what it returns.
    const answer = async () => typeof this.#token === "function" ? this.#token(request) : this.#token;
    try {
      token = await answer();
      if (token && typeof token !== "string") throw new RollcallError("bad_token", "the token callback gave no string");
      if (!token) throw new Error("the token callback gave nothing yet");
    } catch (thrown) {
      error = thrown ?? new Error("the token callback failed");
    }
    calls.delete(call);
    if (this.#calls !== calls) return;
    if (error === null) this.#came(token);
    else if (calls.size === 0 || isSignedOut(error)) this.#failed(error);
  }

  /** Answers to earlier calls no longer count: the next user may be another. */
  forget() { this.#calls = new Set(); }
}

/** Whether the app says that its user is signed out. */
export function isSignedOut(error) { return error instanceof RollcallError && error.code === "bad_token"; }
