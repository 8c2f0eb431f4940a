import { MINUTE, SECOND } from "./units.js";

/** When a token that is a JWT ends, in server time; null where it does not say. */
export function expiryOf(token) {
  try {
    const payload = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(payload));
    return Number.isFinite(exp) ? exp * SECOND : null;
  } catch {
    return null;
  }
}

/**
 * The moment at which it is made. The steady clock may stand still while the machine sleeps, and the device's clock may
 * be set back: the one that has gone further tells how long ago it was.
 */
export class Moment {
  #steady = performance.now();
  #device = Date.now();

  get age() { return Math.max(performance.now() - this.#steady, Date.now() - this.#device); }
}

/** How long before its end a token is replaced, at least; less for a token that does not live as long. */
const RENEWAL_SLACK = MINUTE;

/**
 * When to ask for the next token: before the end by the slack and up to as much again, so that clients that connected
 * together do not ask together. If that fails, by the same rule for what is left then. Null: it is too late.
 */
export function renewalTime(left, now) {
  if (left <= SECOND) return null;
  const slack = Math.min(RENEWAL_SLACK, left / 4);
  return now + left - slack * (1 + Math.random());
}
