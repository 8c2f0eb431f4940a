// What the demo has beside presence and typing: messages, and the names of who takes part. They travel over a
// BroadcastChannel between the windows of one browser; Rollcall has no part in them.

const REMEMBERED = 50;

/** The conversation's messages and people, in this window and in all others. */
export class Chat extends EventTarget {
  people = new Set();
  messages = [];
  #channel;

  constructor(conversation) {
    super();
    this.#channel = new BroadcastChannel(`rollcall:${conversation}`);
    this.#channel.addEventListener("message", ({ data }) => this.#received(data));
    this.#channel.postMessage({ kind: "opened" });
  }

  /** Makes a person known to every window. */
  add(person) {
    this.#meet([person]);
    this.#channel.postMessage({ kind: "people", people: [person] });
  }

  send(from, text) {
    const message = { id: crypto.randomUUID(), from, text, at: Date.now() };
    this.#keep([message]);
    this.#channel.postMessage({ kind: "messages", messages: [message] });
  }

  #received({ kind, people = [], messages = [] }) {
    switch (kind) {
      case "opened":
        this.#channel.postMessage({ kind: "people", people: [...this.people] });
        this.#channel.postMessage({ kind: "messages", messages: this.messages });
        break;
      case "people": this.#meet(people); break;
      case "messages": this.#keep(messages); break;
    }
  }

  #meet(people) {
    const unknown = people.filter((person) => !this.people.has(person));
    if (unknown.length === 0) return;
    for (const person of unknown) this.people.add(person);
    this.dispatchEvent(new Event("people"));
  }

  /** Every window answers a new one, so the same message may come several times. */
  #keep(messages) {
    const known = new Set(this.messages.map(({ id }) => id));
    const unknown = messages.filter(({ id }) => !known.has(id));
    if (unknown.length === 0) return;
    this.messages = [...this.messages, ...unknown].sort((one, other) => one.at - other.at).slice(-REMEMBERED);
    this.dispatchEvent(new Event("messages"));
  }
}
