// Where to connect: the app's URLs, and the address that a worker named when it sent this device elsewhere.
// The Swift client has `Itinerary` for this.

import { SECOND } from "./units.js";

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

/** The address of the next attempt: each of the app's addresses in turn, but first the one that a worker named. */
export class AddressList {
  /** How long an attempt may take while there is another address to try. */
  static SHORT_TIMEOUT = 2 * SECOND;

  /** The app's addresses, and which of them is next. */
  #addresses;
  #index = 0;
  /** How many of them were not tried in this round. */
  #untried;
  /** Whether no address answered in a whole round since the last welcome. Then the network itself may be slow. */
  #allFailed = false;
  /** The address that a worker named. It is tried once, before the app's addresses. */
  #redirect = null;
  /** Whether a worker may send this device, with its token, to a host. */
  #allows;

  /**
   * Shuffles the addresses, so that the clients of several workers spread over them.
   *
   * @param hosts hosts to which a worker may send this device, in addition to those of `addresses`; "*." before a domain
   *   stands for all hosts in it
   */
  constructor(addresses, hosts = []) {
    const allowed = [...addresses.map(hostOf), ...hosts.map((host) => host.toLowerCase())];
    this.#allows = (host) => allowed.some((each) => each.startsWith("*.") ? host.endsWith(each.slice(1)) : host === each);
    this.#addresses = shuffled(addresses);
    this.#untried = addresses.length;
  }

  get next() { return this.#redirect ?? this.#addresses[this.#index]; }

  timeout(longest) {
    const hasOthers = this.#redirect !== null || this.#untried > 1;
    return hasOthers && !this.#allFailed ? Math.min(longest, AddressList.SHORT_TIMEOUT) : longest;
  }

  welcomed() {
    this.#untried = this.#addresses.length;
    this.#allFailed = false;
  }

  /** No worker answered. Returns whether to try the next address at once, because this round has not tried it yet. */
  connectFailed() {
    if (this.#redirect !== null) {
      this.#redirect = null;
      return true;
    }
    this.#advance();
    this.#untried -= 1;
    if (this.#untried > 0) return true;
    this.#untried = this.#addresses.length;
    this.#allFailed = true;
    return false;
  }

  /** The connection ended. Its worker may be gone, so the next address follows, or the one that the worker named. */
  connectionEnded(to) {
    const named = typeof to === "string" ? parseAddress(to) : null;
    // The token must not go from an encrypted connection to an unencrypted one.
    const isSafe = named?.protocol === "wss:" || this.next.protocol === "ws:";
    this.#redirect = named && isSafe && this.#allows(hostOf(named)) ? named : null;
    this.#advance();
  }

  #advance() { this.#index = (this.#index + 1) % this.#addresses.length; }
}

function shuffled(values) {
  const mixed = [...values];
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other], mixed[last]];
  }
  return mixed;
}
