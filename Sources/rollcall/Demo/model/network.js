// The network of one device, which one can take away. The client is given it in place of the browser's own WebSocket,
// so that it finds out by itself, as it would on a train: a connection is gone, and another does not come about.

/** Carries a device's connections while it is up. */
export class Network {
  isUp = true;
  #sockets = new Set();
  #first;

  /** @param {string} first where the first connection goes, as a load balancer would decide it */
  constructor(first) { this.#first = first; }

  /** What the client connects with. */
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

/** A connection that does not come about. */
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
