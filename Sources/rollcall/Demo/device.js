// A device of a user: its client, what it receives, and what can happen to it. Nothing here uses the DOM.

import { RollcallClient } from "./rollcall.js";
import { CONVERSATIONS, nameOf, tokenOf } from "./chat.js";

export const ENDS_TYPING = "stops typing";

/** The name of the worker that a client is connected to, without its incarnation; null if it is not connected. */
export function workerOf(connection) {
  return connection?.status === "connected" ? connection.session.worker.split(".")[0] : null;
}

const NOBODY = { typists: [], count: 0 };
const NONE = { users: [], others: [], count: 0, otherCount: 0 };

/**
 * The network of one device, which can be disconnected. The client uses it instead of the browser's WebSocket, and so
 * notices the loss as on a train: its connection is gone, and new ones fail.
 */
export class Network {
  isUp = true;
  #sockets = new Set();
  #first;

  /** @param {string} first the URL of the first connection, as a load balancer would choose it */
  constructor(first) { this.#first = first; }

  /** The constructor that the client uses instead of `WebSocket`. */
  get WebSocket() {
    const network = this;
    return function Connection(url) { return network.#open(url); };
  }

  /** Ends every connection without a goodbye. */
  drop() {
    this.isUp = false;
    for (const socket of this.#sockets) socket.close();
  }

  #open(url) {
    if (!this.isUp) return new Unreachable();
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

/**
 * Emits `conversation` (another one was opened), `changed` (its connection or state), `person` (what its user has decided),
 * `presence`, `typing`, `here`, `messages`, `sends`, and `told` for everything that its client learned about others or itself, with `{ what, user,
 * status, isOwn }` in the detail.
 */
export class Device extends EventTarget {
  connection = { status: "idle" };
  presences = new Map();
  /** What its user has decided that others see. */
  person = {};
  #presences = new Map();
  /** The open conversation; null while the list of conversations is open. */
  conversation = CONVERSATIONS.direct;
  /** Where in the document its user is. */
  section = 0;
  #chat;
  #typing = new Map();
  #here = new Map();
  /** That this device has the document open; null while it shows something else. */
  #entry = null;
  #inputs = new Map();
  /** The messages that have reached this device, by conversation. None does while it is disconnected. */
  #reached;
  /** Messages that were sent while disconnected. */
  #outbox = [];

  constructor({ user, kind, urls, suffix, chat }) {
    super();
    this.network = new Network(urls[0]);
    Object.assign(this, { user, kind, label: `${nameOf(user)}’s ${kind}` });
    this.#chat = chat;
    this.#reached = chat.all;
    const { client } = Object.assign(this, { client: new RollcallClient({
      url: urls, token: tokenOf(user), device: `${kind}-${suffix}`, idleAfter: null,
      WebSocket: this.network.WebSocket,
    }) });
    client.connection.subscribe((connection) => this.#connectionChanged(connection));
    // Whoever shares a conversation sees the others in it, also where workers let nobody else see them.
    for (const { id, members } of Object.values(CONVERSATIONS)) {
      client.presence(members, { in: id }).subscribe((presences) => this.#presencesChanged(id, presences));
    }
    // The list of conversations shows who types in each, also in those that are not open.
    for (const { id } of Object.values(CONVERSATIONS)) {
      this.#inputs.set(id, client.typingInput(id));
      client.typing(id).subscribe((typing) => this.#typingChanged(id, typing));
    }
    const { id } = CONVERSATIONS.document;
    client.here(id).subscribe((here) => this.#hereChanged(id, here));
    chat.addEventListener("message", () => this.#takeMessages());
    chat.addEventListener("blocks", () => this.#tell("person"));
    chat.loadBlocks(user);
    client.person.subscribe((person) => {
      this.person = person;
      this.#tell("person");
    });
    client.connect();
  }

  get isConnected() { return this.connection.status === "connected"; }

  /** Whether the app runs on this device, connected or not. */
  get isOpen() { return !["idle", "failed", "closed"].includes(this.connection.status); }

  get state() { return this.client.deviceState; }

  get worker() { return workerOf(this.connection); }

  /** Who types in the open conversation. */
  get typing() { return this.typingIn(this.conversation); }

  /** Whether its user and the other one of this conversation see nothing of each other. */
  isClosed(conversation) {
    const other = conversation && this.otherIn(conversation);
    return Boolean(other) && this.#chat.isBlocked(this.user, other);
  }

  /** Whom its user may block, and whether they have. */
  get friend() { return this.otherIn(CONVERSATIONS.direct); }
  get blocks() { return this.#chat.blocks(this.user, this.friend); }
  block(isBlocked) { return this.#chat.block(this.user, this.friend, isBlocked); }

  typingIn(conversation) { return this.isClosed(conversation) ? NOBODY : this.#typing.get(conversation?.id) ?? NOBODY; }

  hereIn(conversation) { return this.#here.get(conversation?.id) ?? NONE; }

  messagesIn(conversation) { return this.#reached.get(conversation?.id) ?? []; }

  /** The messages of the open conversation that were sent while disconnected and wait for a connection. */
  get waiting() { return this.#outbox.filter(({ conversation }) => conversation === this.conversation?.id); }

  /** The other user in a conversation of two. */
  otherIn({ members, title }) { return title ? null : members.find((user) => user !== this.user); }

  /** The presence of the other user in the open conversation; undefined in a group or the list. */
  get otherPresence() { return this.presences.get(this.conversation && this.otherIn(this.conversation)); }

  /** Opens a conversation, or the list of all (null). */
  show(conversation) {
    this.#inputs.get(this.conversation?.id)?.disappeared();
    this.#entry?.close();
    this.conversation = conversation;
    this.section = 0;
    this.#entry = conversation?.sections ? this.client.enter(conversation.id, { data: { section: 0 } }) : null;
    this.#inputs.get(conversation?.id)?.appeared();
    this.#tell("conversation");
  }

  /** Goes to a section of the document, and shows that to the others. */
  moveTo(section) {
    this.section = section;
    this.#entry?.show({ section });
    this.#tell("here");
  }

  // What its user does.

  edited(text) {
    if (this.state === "idle") this.become("active");
    this.#inputs.get(this.conversation?.id)?.edited(text);
  }

  /** Ends the typing before the message is sent, so that no observer sees typing after the message. */
  async send(text) {
    this.#tell("sends");
    const { id } = this.conversation;
    if (!this.isConnected) {
      this.#inputs.get(id).send();
      this.#outbox.push({ conversation: id, text });
      return this.#tell("messages");
    }
    await this.#inputs.get(id).sendConfirmed();
    this.#chat.send(id, this.user, text);
  }

  set(change) { this.client.setPerson(change); }

  become(state) {
    this.client.setState(state);
    this.#tell("changed");
  }

  // What happens to the device.

  dropNetwork() {
    this.network.drop();
    this.#tell("changed");
  }

  restoreNetwork() {
    this.network.isUp = true;
    this.client.networkChanged();
    this.#tell("changed");
  }

  open() {
    this.client.setState("active");
    this.client.connect();
  }

  // What the client receives.

  #connectionChanged(connection) {
    const before = this.worker;
    this.connection = connection;
    if (before && !this.worker) this.#told({ what: `${this.label} loses its connection`, isOwn: true });
    if (this.worker) {
      this.#told({ what: `${this.label} is connected to ${this.worker}`, isOwn: true });
      this.#takeMessages();
      for (const { conversation, text } of this.#outbox.splice(0)) this.#chat.send(conversation, this.user, text);
    }
    this.#tell("changed");
  }

  #typingChanged(id, typing) {
    const [before, now] = [this.#typing.get(id) ?? NOBODY, typing].map(({ typists }) => typists.map(({ user }) => user));
    this.#typing.set(id, typing);
    for (const user of now) if (!before.includes(user)) this.#told({ user, what: "begins to type" });
    for (const user of before) if (!now.includes(user)) this.#told({ user, what: ENDS_TYPING });
    this.#tell("typing");
  }

  #hereChanged(id, here) {
    const [before, now] = [this.hereIn({ id }), here].map(({ others }) => others.map(({ user }) => user));
    this.#here.set(id, here);
    for (const user of now) if (!before.includes(user)) this.#told({ user, what: "opens the packing list" });
    for (const user of before) if (!now.includes(user)) this.#told({ user, what: "closes the packing list" });
    this.#tell("here");
  }

  #presencesChanged(id, presences) {
    const before = this.presences;
    this.#presences.set(id, presences);
    this.presences = new Map([...this.#presences.values()].flatMap((each) => [...each]));
    for (const [user, { status }] of presences) {
      const known = before.get(user)?.status;
      if (known && known !== status && user !== this.user) this.#told({ user, status, what: `is ${status}` });
    }
    this.#tell("presence");
  }

  #takeMessages() {
    if (!this.isConnected) return;
    this.#reached = this.#chat.all;
    this.#tell("messages");
  }

  #told(detail) { this.dispatchEvent(new CustomEvent("told", { detail })); }

  #tell(what) { this.dispatchEvent(new Event(what)); }
}
