// The messages of a conversation. A new message is appended. The list is rebuilt only if a message arrives late, for
// example from another window.

import { language } from "../model/language.js";
import { hueOf, nameOf } from "../model/people.js";
import { make } from "../parts.js";
import { avatar } from "./avatar.js";

/** Shows a device's messages, newest at the bottom. */
export class Bubbles {
  #device;
  #list;
  #shown = new Map();
  /** Whether messages arrive now, and were not there before. */
  #isLive = false;
  /** The items of messages that were sent while disconnected. */
  #waiting = [];

  constructor(device, list) {
    this.#device = device;
    this.#list = list;
    device.addEventListener("messages", () => this.show());
    language.addEventListener("changed", () => this.rebuild());
  }

  rebuild() {
    this.#shown.clear();
    this.#list.replaceChildren(make("li", language.today, "day"));
    this.#isLive = false;
    this.show();
    this.#isLive = true;
    this.#toEnd();
  }

  show() {
    const { messages, waiting, user } = this.#device;
    const follows = this.#isAtEnd || waiting.length > 0 || messages.at(-1)?.from === user;
    for (const item of this.#waiting) item.remove();
    this.#forget(messages);
    if ([...this.#shown.keys()].some((id, index) => messages[index].id !== id)) return this.rebuild();
    for (const message of messages) {
      if (this.#shown.has(message.id)) continue;
      const item = this.#item(message);
      this.#shown.set(message.id, item);
      item.classList.toggle("arrives", this.#isLive);
      this.#append(item);
    }
    this.#waiting = waiting.map(({ text }) => this.#item({ from: user, text, at: null }));
    for (const item of this.#waiting) this.#append(item);
    if (follows) this.#toEnd();
  }

  /** Removes messages that the chat no longer keeps. */
  #forget(messages) {
    const kept = new Set(messages.map(({ id }) => id));
    for (const [id, item] of this.#shown) {
      if (kept.has(id)) continue;
      item.remove();
      this.#shown.delete(id);
    }
    this.#list.querySelector(".message")?.classList.add("begins");
  }

  get #isAtEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#list;
    return scrollHeight - scrollTop - clientHeight < 60;
  }

  #toEnd() { this.#list.scrollTop = this.#list.scrollHeight; }

  /** Appends a message. Successive messages of one user form a group, with the name above and the avatar below. */
  #append(item) {
    const last = this.#list.lastElementChild;
    const continues = last?.dataset.from === item.dataset.from;
    item.classList.toggle("begins", !continues);
    item.classList.add("ends");
    if (continues) last.classList.remove("ends");
    this.#list.append(item);
  }

  #item({ from, text, at }) {
    const isOwn = from === this.#device.user;
    const item = make("li", "", isOwn ? "message own" : "message");
    item.dataset.from = from;
    item.style.setProperty("--hue", hueOf(from));
    const bubble = make("div", "", "bubble");
    const name = make("b", "", isOwn || !this.#device.conversation.title ? "unseen" : "");
    name.append(make("bdi", nameOf(from)));
    const words = make("span", text, "words");
    words.dir = "auto";
    bubble.append(name, words, this.#time(at));
    if (!isOwn && this.#device.conversation.title) item.append(avatar(from));
    item.append(bubble);
    return item;
  }

  #time(at) {
    if (at === null) return make("span", "waiting…", "time");
    const time = make("time", language.time(at), "time");
    time.dateTime = new Date(at).toISOString();
    return time;
  }
}
