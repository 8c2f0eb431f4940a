// What a screen reader is told, in one place for the whole page: of several devices that show the same, only the one in
// use speaks. It is told changes alone: who types when others do, a new message, somebody who comes or goes.

import { TypingAnnouncer, presenceText } from "../rollcall.js";
import { language } from "../model/language.js";
import { nameOf } from "../model/people.js";
import { setText } from "../parts.js";

/** Speaks for one device at a time. */
export class Speaker {
  #region;
  #device = null;
  #announcer;
  #statuses = new Map();
  #newest = null;

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

  #typing() {
    const announcement = this.#announcer.announcement(this.#device.typing);
    if (announcement !== null) setText(this.#region, announcement);
  }

  /** In a group, that somebody comes or goes is no news for the ear. */
  #presence() {
    const { conversation, presences, user } = this.#device;
    const before = this.#statuses;
    this.#statuses = statuses(presences);
    if (conversation.title) return;
    for (const [other, presence] of presences) {
      if (other === user || !before.has(other) || before.get(other) === presence.status) continue;
      setText(this.#region, `${nameOf(other)}: ${presenceText(presence, { language: language.id })}`);
    }
  }

  #messages() {
    const newest = this.#device.messages.at(-1);
    if (!newest || newest.id === this.#newest) return;
    this.#newest = newest.id;
    if (newest.from !== this.#device.user) setText(this.#region, `${nameOf(newest.from)}: ${newest.text}`);
  }
}

function statuses(presences) { return new Map([...presences].map(([user, { status }]) => [user, status])); }
