// The users, their conversations, and the messages. Messages travel inside the browser, between all windows of this page:
// Rollcall does not carry them. It identifies users by id; names and colours belong to the app.

const PEOPLE = {
  alice: { name: "Alice", hue: 285 }, bob: { name: "Bob", hue: 250 }, chloe: { name: "Chloé", hue: 350 },
  deniz: { name: "Deniz", hue: 145 }, emil: { name: "Emil", hue: 60 }, fatima: { name: "فاطمة", hue: 195 },
  gal: { name: "גל", hue: 25 }, haruka: { name: "陽香", hue: 320 }, ada: { name: "Ada 🤖", hue: 100 },
};

/** The users whom the page controls. Visitors control the others. */
export const BOTS = ["chloe", "deniz", "emil", "fatima", "gal", "haruka", "ada"];

export const CONVERSATIONS = {
  direct: { id: "c42", members: ["alice", "bob"] },
  group: {
    id: "lake", title: "Saturday at the lake", icon: "🏞️", members: ["alice", "bob", ...BOTS.filter((bot) => bot !== "ada")],
  },
  // What is written in a document does not change here; who has it open, and where, does.
  document: {
    id: "packing", title: "Packing list", icon: "📝", members: ["alice", "bob", ...BOTS.filter((bot) => bot !== "ada")],
    sections: [
      ["On the water", "Canoe, two paddles, four life vests"], ["Food", "Rice balls, salad, bread, a watermelon"],
      ["Camp", "The big tent, mats, a lamp"], ["For the evening", "Grill, charcoal, a small speaker"],
    ],
  },
  assistant: { id: "ada", title: "Ask Ada", icon: "💡", members: ["alice", "bob", "ada"] },
};

/** Returns a user's entry. Any user may connect, also with the name of a property that every object has. */
const personOf = (user) => (Object.hasOwn(PEOPLE, user) ? PEOPLE[user] : { name: user, hue: 0 });
export const nameOf = (user) => personOf(user).name;
/** What a sign-in would say of a user: the workers of the demo take it unproven. */
export const tokenOf = (user) => `${user} ${nameOf(user)}`;
export const hueOf = (user) => personOf(user).hue;

const REMEMBERED = 60;
const MINUTE = 60_000;
const EARLIER = {
  c42: [
    ["bob", "Morning! Tickets are booked 🎫", 41], ["alice", "You are quick. Thank you!", 40],
    ["alice", "Did you catch the early boat?", 12], ["bob", "Just about! They were casting off already 😅", 11],
    ["bob", "Back around six", 11], ["alice", "Perfect. Dinner is on me", 9],
  ],
  lake: [
    ["chloe", "So, Saturday at the lake?", 7], ["fatima", "أنا موافقة! 🙌", 6],
    ["emil", "I can bring the big tent", 6], ["haruka", "楽しみ！", 5],
  ],
  ada: [["ada", "Ask me anything. I think before I type.", 3]],
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
    this.#channel.addEventListener("message", ({ data }) => {
      if (data === "opened") this.#channel.postMessage([...this.#messages.values()].flat());
      else this.#keep(data);
    });
    this.#channel.postMessage("opened");
  }

  /** Whom each user has blocked, as the page's server knows it. */
  #blocked = new Map();

  /** Whether one of two users has blocked the other: then nothing of their chat is passed on. */
  isBlocked(user, other) { return this.blocks(user, other) || this.blocks(other, user); }
  blocks(user, other) { return this.#blocked.get(user)?.has(other) ?? false; }

  /** Asks the page's server. Emits `blocks`. */
  async loadBlocks(user) {
    const answer = await fetch(`people/${user}`).then((each) => each.ok ? each.json() : null, () => null);
    if (answer) this.#blocked.set(user, new Set(Object.keys(answer.blocked)));
    this.dispatchEvent(new Event("blocks"));
  }

  async block(user, other, isBlocked) {
    await fetch(`people/${user}/blocked/${other}`, { method: isBlocked ? "PUT" : "DELETE" }).catch(() => {});
    await this.loadBlocks(user);
  }

  /** A copy of the messages of all conversations, oldest first. */
  get all() { return new Map(this.#messages); }

  send(conversation, from, text) {
    const message = { id: crypto.randomUUID(), conversation, from, text, at: Date.now() };
    this.#keep([message]);
    this.#channel.postMessage([message]);
  }

  /** Adds messages. Every window answers a new one, so the same message may arrive several times. */
  #keep(messages) {
    for (const message of messages) {
      const known = this.#messages.get(message.conversation) ?? [];
      if (known.some(({ id }) => id === message.id)) continue;
      const kept = [...known, message].sort((one, other) => one.at - other.at).slice(-REMEMBERED);
      this.#messages.set(message.conversation, kept);
      this.dispatchEvent(new CustomEvent("message", { detail: message }));
    }
  }
}
