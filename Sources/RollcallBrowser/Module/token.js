// How long a token is valid, and when to replace it. The Swift client has `TokenLife` for this.

import { MINUTE, SECOND } from "./units.js";

/** Returns when a JWT expires, in server time, or null if the token does not say. */
export function tokenExpiry(token) {
  try {
    const payload = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(payload));
    return Number.isFinite(exp) ? exp * SECOND : null;
  } catch {
    return null;
  }
}

/**
 * Measures the time since it was made. The steady clock may stop while the machine sleeps, and the device's clock may be
 * set back, so the one that has advanced more counts.
 */
export class Stopwatch {
  #steady = performance.now();
  #device = Date.now();

  get elapsed() { return Math.max(performance.now() - this.#steady, Date.now() - this.#device); }
}

/** How long before its expiry a token is replaced, at least. For a short-lived token it is less. */
const RENEWAL_MARGIN = MINUTE;

/**
 * Returns when to ask for the next token: one to two margins before the expiry, at random, so that clients that
 * connected together do not ask together. After a failure, the same rule applies to the time left. Null: it is too late.
 */
export function renewalTime(left, now) {
  if (left <= SECOND) return null;
  const margin = Math.min(RENEWAL_MARGIN, left / 4);
  return now + left - margin * (1 + Math.random());
}
