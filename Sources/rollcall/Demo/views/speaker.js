// Announcements for screen readers, in one place for the whole page. Several devices show the same, so only the device
// in use announces. Only changes are announced: the set of typing users, a new message, a user who comes or goes.

import { TypingAnnouncer, presenceText } from "../rollcall.js";
import { language } from "../model/language.js";
import { nameOf } from "../model/people.js";
import { make } from "../parts.js";

/** Announces for one device at a time. */
export class Speaker {
  #region;
  #device = null;
  #announcer;
  #statuses = new Map();
  #newest = null;
  /** The last announcement about typing. */
  #typingWords = null;

  constructor(region) {
    this.#region = region;
    language.addEventListener("changed", () => this.#catchUp());
  }

  /** Adds a device. It announces once its screen or its controls have the focus. */
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

  /** Takes the current state as known, without an announcement. */
  #catchUp() {
    const { typing, presences, messages } = this.#device;
    this.#region.lang = language.id;
    this.#region.dir = language.direction;
    this.#announcer = new TypingAnnouncer({ language: language.id });
    this.#announcer.announcement(typing);
    this.#statuses = statuses(presences);
    this.#newest = messages.at(-1)?.id;
  }

  /** Announces typing, except in a group, where some user is nearly always typing. */
  #typing() {
    const announcement = this.#announcer.announcement(this.#device.typing);
    if (announcement === null || this.#device.conversation.title) return;
    if (announcement) this.#typingWords = this.#say(announcement);
    // If typing ends, only its own announcement is removed, and never a message.
    else this.#typingWords?.remove();
  }

  /** Announces presence, except in a group. */
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

  /** Announces with a new node, so that equal words are read again. */
  #say(words) {
    const said = make("span", words);
    this.#region.replaceChildren(said);
    return said;
  }
}

function statuses(presences) { return new Map([...presences].map(([user, { status }]) => [user, status])); }
