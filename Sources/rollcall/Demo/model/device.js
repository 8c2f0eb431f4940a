// A device of a user: its client, what it receives, and what can happen to it. Nothing here uses the DOM.

import { RollcallClient } from "../rollcall.js";
import { Network } from "./network.js";
import { nameOf } from "./people.js";

export const BEGINS_TYPING = "begins to type";
export const ENDS_TYPING = "stops typing";

const NOBODY = { typists: [], count: 0 };
const REMEMBERED_FRAMES = 60;

/**
 * Emits `conversation` (another one was opened), `changed` (its connection or state), `presence`, `typing`, `messages`,
 * `sends`, `wire`, and `told` for everything that its client learned about others or itself, with `{ what, user,
 * status, isOwn }` in the detail.
 */
export class Device extends EventTarget {
  connection = { status: "idle" };
  presences = new Map();
  typing = NOBODY;
  frames = [];
  network;
  #chat;
  #input = null;
  #ends = [];
  /** The messages that have reached this device, by conversation. None does while it is disconnected. */
  #reached;
  /** Messages that were sent while disconnected. */
  #outbox = [];

  constructor({ user, kind, urls, suffix, chat }) {
    super();
    Object.assign(this, { user, kind });
    this.#chat = chat;
    this.#reached = chat.all;
    this.name = `${kind}-${suffix}`;
    this.network = new Network(urls[0]);
    this.label = `${nameOf(user)}’s ${kind}`;
    this.client = new RollcallClient({
      url: urls, token: user, device: this.name, names: nameOf, idleAfter: null, WebSocket: this.network.WebSocket,
    });
    this.client.connection.subscribe((connection) => this.#connectionChanged(connection));
    this.client.addEventListener("wire", ({ detail }) => this.#keepFrame(detail));
    chat.addEventListener("message", () => this.#takeMessages());
    this.client.connect();
  }

  get isConnected() { return this.connection.status === "connected"; }

  /** Whether the app runs on this device, connected or not. */
  get isOpen() { return !["idle", "failed", "closed"].includes(this.connection.status); }

  get state() { return this.client.deviceState; }

  /** The name of the connected worker, without its incarnation. */
  get worker() { return this.isConnected ? this.connection.session.worker.split(".")[0] : null; }

  /** The messages of the open conversation. */
  get messages() { return this.#reached.get(this.conversation?.id) ?? []; }

  /** The messages of the open conversation that were sent while disconnected and wait for a connection. */
  get waiting() { return this.#outbox.filter(({ conversation }) => conversation === this.conversation?.id); }

  /** Closes the open conversation, and opens another. */
  show(conversation) {
    for (const end of this.#ends) end();
    this.#input?.disappeared();
    this.conversation = conversation;
    this.presences = new Map();
    this.typing = NOBODY;
    const { client } = this;
    this.#input = client.typingInput(conversation.id);
    this.#ends = [
      client.typing(conversation.id).subscribe((typing) => this.#typingChanged(typing)),
      client.presence(conversation.members).subscribe((presences) => this.#presencesChanged(presences)),
    ];
    this.#tell("conversation");
  }

  // What its user does.

  edited(text) {
    if (this.state === "idle") this.become("active");
    this.#input.edited(text);
  }

  /** Ends the typing before the message is sent, so that no observer sees typing after the message. */
  async send(text) {
    this.#tell("sends");
    const { id } = this.conversation;
    if (!this.isConnected) {
      this.#input.send();
      this.#outbox.push({ conversation: id, text });
      return this.#tell("messages");
    }
    await this.#input.sendConfirmed();
    this.#chat.send(id, this.user, text);
  }

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
    this.network.restore();
    this.client.networkChanged();
    this.#tell("changed");
  }

  quit() { this.client.disconnect({ goodbye: false }); }

  signOut() { this.client.disconnect({ goodbye: true }); }

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

  #typingChanged(typing) {
    const [before, now] = [this.typing, typing].map(({ typists }) => typists.map(({ user }) => user));
    this.typing = typing;
    for (const user of now) if (!before.includes(user)) this.#told({ user, what: BEGINS_TYPING });
    for (const user of before) if (!now.includes(user)) this.#told({ user, what: ENDS_TYPING });
    this.#tell("typing");
  }

  #presencesChanged(presences) {
    const before = this.presences;
    this.presences = presences;
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

  #keepFrame({ sent, received }) {
    this.frames.push({ isSent: sent !== undefined, text: sent ?? received, at: new Date() });
    this.frames.splice(0, this.frames.length - REMEMBERED_FRAMES);
    this.#tell("wire");
  }

  #told(detail) { this.dispatchEvent(new CustomEvent("told", { detail })); }

  #tell(what) { this.dispatchEvent(new Event(what)); }
}
