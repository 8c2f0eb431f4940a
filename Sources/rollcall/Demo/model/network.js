// The network of one device, which can be disconnected. The client uses it instead of the browser's WebSocket. So the
// client notices the loss as on a train: its connection is gone, and new ones fail.

/** Carries a device's connections while it is up. */
export class Network {
  isUp = true;
  #sockets = new Set();
  #first;

  /** @param {string} first the URL of the first connection, as a load balancer would choose it */
  constructor(first) { this.#first = first; }

  /** The constructor that the client uses instead of `WebSocket`. */
  get WebSocket() {
    const network = this;
    return function Connection(url) { return network.isUp ? network.#open(url) : new Unreachable(); };
  }

  /** Ends every connection without a goodbye. */
  drop() {
    this.isUp = false;
    for (const socket of this.#sockets) socket.close();
  }

  restore() { this.isUp = true; }

  #open(url) {
    const socket = new WebSocket(this.#first ?? url);
    this.#first = null;
    this.#sockets.add(socket);
    socket.addEventListener("close", () => this.#sockets.delete(socket));
    return socket;
  }
}

/** A connection that fails. */
class Unreachable extends EventTarget {
  readyState = WebSocket.CONNECTING;

  constructor() {
    super();
    setTimeout(() => this.close(), 50);
  }

  close() {
    if (this.readyState === WebSocket.CLOSED) return;
    this.readyState = WebSocket.CLOSED;
    this.dispatchEvent(new CloseEvent("close", { code: 1006 }));
  }
}
