// The messages. They travel inside the browser, between all windows of this page. Rollcall does not carry messages.

import { CONVERSATIONS } from "./people.js";

const REMEMBERED = 60;
const MINUTE = 60_000;

const EARLIER = {
  [CONVERSATIONS.direct.id]: [
    ["bob", "Morning! Tickets are booked 🎫", 41],
    ["alice", "You are quick. Thank you!", 40],
    ["alice", "Did you catch the early boat?", 12],
    ["bob", "Just about! They were casting off already 😅", 11],
    ["bob", "Back around six", 11],
    ["alice", "Perfect. Dinner is on me", 9],
  ],
  [CONVERSATIONS.group.id]: [
    ["chloe", "So, Saturday at the lake?", 7],
    ["fatima", "أنا موافقة! 🙌", 6],
    ["emil", "I can bring the big tent", 6],
    ["haruka", "楽しみ！", 5],
  ],
};

/** Emits a `message` event for each new message, with the message in its detail. */
export class Chat extends EventTarget {
  #messages = new Map();
  #channel = new BroadcastChannel("rollcall-demo");

  constructor() {
    super();
    for (const [conversation, lines] of Object.entries(EARLIER)) {
      this.#messages.set(conversation, lines.map(([from, text, ago], index) => (
        { id: `earlier-${index}`, conversation, from, text, at: Date.now() - ago * MINUTE })));
    }
    this.#channel.addEventListener("message", ({ data }) => this.#received(data));
    this.#channel.postMessage({ kind: "opened" });
  }

  /** The messages of a conversation, oldest first. */
  in(conversation) { return this.#messages.get(conversation) ?? []; }

  /** A copy of the messages of all conversations. */
  get all() { return new Map(this.#messages); }

  send(conversation, from, text) {
    const message = { id: crypto.randomUUID(), conversation, from, text, at: Date.now() };
    this.#keep([message]);
    this.#channel.postMessage({ kind: "messages", messages: [message] });
  }

  #received({ kind, messages = [] }) {
    switch (kind) {
      case "opened":
        this.#channel.postMessage({ kind: "messages", messages: [...this.#messages.values()].flat() });
        break;
      case "messages": this.#keep(messages); break;
    }
  }

  /** Adds messages. Every window answers a new one, so the same message may arrive several times. */
  #keep(messages) {
    for (const message of messages) {
      const known = this.in(message.conversation);
      if (known.some(({ id }) => id === message.id)) continue;
      const kept = [...known, message].sort((one, other) => one.at - other.at).slice(-REMEMBERED);
      this.#messages.set(message.conversation, kept);
      this.dispatchEvent(new CustomEvent("message", { detail: message }));
    }
  }
}
