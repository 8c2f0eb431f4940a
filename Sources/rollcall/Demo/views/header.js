// The header of a chat: the other user or the title, and below it who is typing, or else who is online.

import { groupCount, lastSeenText, lastSeenValidity, presenceText, typingText } from "../rollcall.js";
import { language } from "../model/language.js";
import { nameOf } from "../model/people.js";
import { make, setText } from "../parts.js";
import { avatar, showDot } from "./avatar.js";

const MINUTE = 60_000;
/** From how many typing users the text is "Several people": a phone has room for two names. */
const SEVERAL = { phone: 3, laptop: undefined };

/** Shows the header of a device's conversation, and keeps it correct as time passes. */
export class Header {
  #device;
  #parts;
  #faces = new Map();
  #timer;

  constructor(device, parts) {
    this.#device = device;
    this.#parts = parts;
    for (const what of ["changed", "presence", "typing"]) device.addEventListener(what, () => this.show());
    language.addEventListener("changed", () => this.show());
  }

  /** The other user in a conversation of two. */
  get #other() {
    const { members, title } = this.#device.conversation;
    return title ? null : members.find((user) => user !== this.#device.user);
  }

  /** Shows another conversation, with other avatars. */
  rebuild() {
    const { members, title } = this.#device.conversation;
    const { face, title: heading, members: strip } = this.#parts;
    const other = this.#other;
    heading.textContent = title ?? nameOf(other);
    strip.hidden = !title;
    this.#faces = new Map((title ? members : [other]).map((user) => [user, avatar(user)]));
    face.replaceChildren(title ? make("span", "🏞️", "avatar group") : this.#faces.get(other));
    strip.replaceChildren(...title ? members.map((user) => this.#member(user)) : []);
    this.show();
  }

  show() {
    if (!this.#device.conversation) return;
    const { presences, typing, isConnected, client } = this.#device;
    const { line } = this.#parts;
    setText(line, this.#line());
    line.classList.toggle("typing", isConnected && typing.count > 0);
    for (const [user, face] of this.#faces) {
      showDot(face, presences.get(user));
      const status = face.parentElement?.querySelector(".unseen");
      if (status) setText(status, `${nameOf(user)}: ${presenceText(presences.get(user), { language: language.id })}`);
    }
    clearTimeout(this.#timer);
    const valid = lastSeenValidity(presences.get(this.#other), client.now, { style: "exact" });
    if (valid !== Infinity) this.#timer = setTimeout(() => this.show(), Math.min(valid, 60 * MINUTE));
  }

  #member(user) {
    const item = make("li");
    item.title = nameOf(user);
    item.append(this.#faces.get(user), make("span", "", "unseen"));
    return item;
  }

  #line() {
    const { conversation, isConnected, kind, network, presences, typing, client } = this.#device;
    const words = { language: language.id };
    if (!isConnected) return network.isUp ? "Connecting…" : "No network";
    if (typing.count > 0) return typingText(typing, { ...words, severalFrom: SEVERAL[kind] });
    if (conversation.title) return groupCount(presences.values(), conversation.members.length, words).text;
    const presence = presences.get(this.#other);
    const isLongGone = presence?.lastSeen && presence.status === "offline" && client.now - presence.lastSeen >= MINUTE;
    return isLongGone ? lastSeenText(presence, client.now, { ...words, style: "exact" }) : presenceText(presence, words);
  }
}
