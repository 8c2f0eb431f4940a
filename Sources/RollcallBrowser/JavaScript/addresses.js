import { SECOND } from "./units.js";

/** The parts of a worker's URL, `ws:` or `wss:`, or a path on the page's own host; null if it is none. */
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

/** Where to connect: to the app's addresses, round after round, but first to where a worker sends this device. */
export class Itinerary {
  /** How long an attempt may take while another address is left to try. */
  static PATIENCE = 2 * SECOND;

  #homes;
  #turn = 0;
  #untried;
  /** Whether a whole round has failed since the last welcome: then it may be the network that is slow. */
  #isPatient = false;
  /** Where a worker sent this device: tried once, before the homes. */
  #invitation = null;
  /** Whether a worker may send this device to a host, with its token. */
  #allows;

  /**
   * Shuffles the addresses, so that the clients of several workers spread over them.
   *
   * @param others hosts to which a worker may send this device, beside those of `homes`; "*." stands for all of a domain.
   */
  constructor(homes, others = []) {
    const hosts = [...homes.map(hostOf), ...others.map((host) => host.toLowerCase())];
    this.#allows = (host) => hosts.some((each) => each.startsWith("*.") ? host.endsWith(each.slice(1)) : host === each);
    this.#homes = shuffled(homes);
    this.#untried = homes.length;
  }

  get address() { return this.#invitation ?? this.#homes[this.#turn]; }

  timeLimit(longest) {
    const hasOthers = this.#invitation !== null || this.#untried > 1;
    return hasOthers && !this.#isPatient ? Math.min(longest, Itinerary.PATIENCE) : longest;
  }

  welcomed() {
    this.#untried = this.#homes.length;
    this.#isPatient = false;
  }

  /** No worker answered. Returns whether the next address is worth trying at once: this round has not tried it yet. */
  notReached() {
    if (this.#invitation !== null) {
      this.#invitation = null;
      return true;
    }
    this.#moveOn();
    this.#untried -= 1;
    if (this.#untried > 0) return true;
    this.#untried = this.#homes.length;
    this.#isPatient = true;
    return false;
  }

  /** The connection ended: its worker may be gone, and another is as good, or is the one that was named. */
  connectionEnded(to) {
    const next = typeof to === "string" ? parseAddress(to) : null;
    // Never from an encrypted connection to one that is not: the token goes along.
    const isSafe = next?.protocol === "wss:" || this.address.protocol === "ws:";
    this.#invitation = next && isSafe && this.#allows(hostOf(next)) ? next : null;
    this.#moveOn();
  }

  #moveOn() { this.#turn = (this.#turn + 1) % this.#homes.length; }
}

function shuffled(values) {
  const mixed = [...values];
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other], mixed[last]];
  }
  return mixed;
}
