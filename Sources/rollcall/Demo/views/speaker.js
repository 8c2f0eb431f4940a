// What a screen reader is told, in one place for the whole page: of several devices that show the same, only the one in
// use speaks. It is told changes alone: who types when others do, a new message, somebody who comes or goes.

import { TypingAnnouncer, presenceText } from "../rollcall.js";
import { language } from "../model/language.js";
import { nameOf } from "../model/people.js";
import { make } from "../parts.js";

/** Speaks for one device at a time. */
export class Speaker {
  #region;
  #device = null;
  #announcer;
  #statuses = new Map();
  #newest = null;
  /** What was last said of who is typing. */
  #typingWords = null;

  constructor(region) {
    this.#region = region;
    language.addEventListener("changed", () => this.#catchUp());
  }

  /** Adds a device that speaks from when its screen or controls have the focus. */
  add(device, element) {
    element.addEventListener("focusin", () => this.#follow(device));
    device.addEventListener("typing", () => device === this.#device && this.#typing());
    device.addEventListener("presence", () => device === this.#device && this.#presence());
    device.addEventListener("messages", () => device === this.#device && this.#messages());
    device.addEventListener("conversation", () => device === this.#device && this.#catchUp());
    if (!this.#device) this.#follow(device);
  }

  #follow(device) {
    if (device === this.#device) return;
    this.#device = device;
    this.#catchUp();
  }

  /** What stands there already is no change. */
  #catchUp() {
    const { typing, presences, messages } = this.#device;
    this.#region.lang = language.id;
    this.#region.dir = language.direction;
    this.#announcer = new TypingAnnouncer({ language: language.id });
    this.#announcer.announcement(typing);
    this.#statuses = statuses(presences);
    this.#newest = messages.at(-1)?.id;
  }

  /** In a group, somebody always types: what is said there is news, and who is about to say it is not. */
  #typing() {
    const announcement = this.#announcer.announcement(this.#device.typing);
    if (announcement === null || this.#device.conversation.title) return;
    if (announcement) this.#typingWords = this.#say(announcement);
    // Silence takes the place of that alone, never of a message.
    else this.#typingWords?.remove();
  }

  /** In a group, that somebody comes or goes is no news for the ear. */
  #presence() {
    const { conversation, presences, user } = this.#device;
    const before = this.#statuses;
    this.#statuses = statuses(presences);
    if (conversation.title) return;
    for (const [other, presence] of presences) {
      if (other === user || !before.has(other) || before.get(other) === presence.status) continue;
      this.#say(`${nameOf(other)}: ${presenceText(presence, { language: language.id })}`);
    }
  }

  #messages() {
    const newest = this.#device.messages.at(-1);
    if (!newest || newest.id === this.#newest) return;
    this.#newest = newest.id;
    if (newest.from !== this.#device.user) this.#say(`${nameOf(newest.from)}: ${newest.text}`);
  }

  /** A new node each time, so that the same words are heard again. */
  #say(words) {
    const said = make("span", words);
    this.#region.replaceChildren(said);
    return said;
  }
}

function statuses(presences) { return new Map([...presences].map(([user, { status }]) => [user, status])); }
