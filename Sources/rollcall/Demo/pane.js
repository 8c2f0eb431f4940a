// A person's side of the conversation: their devices, who else is there, the messages, who types.

import { TypingAnnouncer, lastSeenText, typingText } from "./rollcall.js";
import { Device, KINDS } from "./device.js";
import { build, hueOf, make, nameOf } from "./parts.js";

/** The device that is chosen shows what it sees, and types what is typed. */
export class Pane extends EventTarget {
  #parts;
  #devices = [];
  #chosen = null;
  #presences = new Map();
  #input = null;
  #stopTyping = null;
  #stopWatching = null;
  /** A screen reader hears of changes of the set only. */
  #announcer = new TypingAnnouncer({ name: nameOf });

  constructor({ user, conversation, chat, urlsFor, suffix }) {
    super();
    Object.assign(this, { user, conversation, chat, urlsFor, suffix });
    const { element, parts } = build("pane-template");
    this.element = element;
    this.#parts = parts;
    element.setAttribute("aria-label", nameOf(user));
    element.style.setProperty("--hue", hueOf(user));
    parts.avatar.textContent = nameOf(user).charAt(0);
    parts.name.textContent = nameOf(user);
    parts.detach.href = `?people=${encodeURIComponent(user)}`;
    parts.field.placeholder = `Write as ${nameOf(user)}`;
    parts.field.setAttribute("aria-label", `Message from ${nameOf(user)}`);
    this.#listen();
    this.addDevice("laptop");
    this.#showMessages();
    this.refresh = setInterval(() => this.#showPeers(), 5_000);
  }

  addDevice(kind) {
    const { user, suffix } = this;
    const number = this.#devices.filter((device) => device.kind === kind).length;
    const device = new Device({
      user, kind, suffix: number ? `${suffix}${number + 1}` : suffix,
      urls: this.urlsFor(), group: `${user}-device`,
    });
    device.kind = kind;
    device.addEventListener("changed", () => this.#showDevice(device));
    device.addEventListener("wire", () => device === this.#chosen && this.#showWire());
    device.addEventListener("chosen", () => this.#choose(device));
    device.addEventListener("removed", () => this.#removed(device));
    this.#devices.push(device);
    this.#parts.devices.append(device.element);
    if (!this.#chosen) this.#choose(device);
    return device;
  }

  close() {
    clearInterval(this.refresh);
    for (const device of [...this.#devices]) device.remove();
    this.element.remove();
    this.dispatchEvent(new Event("closed"));
  }

  #listen() {
    const { chat } = this;
    const { field, composer, close, "add-device": add } = this.#parts;
    field.addEventListener("input", () => this.#input?.edited(field.value));
    composer.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    close.addEventListener("click", () => this.close());
    add.addEventListener("click", () => this.#addNextDevice());
    chat.addEventListener("messages", () => this.#showMessages());
    chat.addEventListener("people", () => this.#watch());
  }

  #addNextDevice() {
    const kinds = Object.keys(KINDS);
    this.addDevice(kinds[this.#devices.length % kinds.length]);
  }

  /** The typing goes first, so that no observer sees it outlive the message. */
  async #send() {
    const text = this.#parts.field.value.trim();
    if (!text) return;
    await this.#clear();
    this.chat.send(this.user, text);
  }

  #clear() {
    this.#parts.field.value = "";
    return this.#input?.sendConfirmed();
  }

  #choose(device) {
    this.#clear();
    this.#input?.disappeared();
    this.#stopTyping?.();
    this.#stopWatching?.();
    this.#input = this.#stopTyping = this.#stopWatching = null;
    this.#presences = new Map();
    this.#chosen = device;
    if (device) {
      device.choose();
      this.#input = device.client.typingInput(this.conversation);
      this.#stopTyping = device.client.typing(this.conversation).subscribe((typing) => this.#showTyping(typing));
      this.#showDevice(device);
    }
    this.#watch();
    this.#showWire();
  }

  #removed(device) {
    this.#devices = this.#devices.filter((other) => other !== device);
    if (device === this.#chosen) this.#choose(this.#devices[0] ?? null);
  }

  #watch() {
    const ended = this.#stopWatching;
    const people = [...new Set([this.user, ...this.chat.people])];
    this.#stopWatching = this.#chosen?.client.presence(people).subscribe((presences) => this.#seen(presences)) ?? null;
    ended?.();
    this.#showPeers();
  }

  #seen(presences) {
    this.#presences = presences;
    this.#showPeers();
  }

  #showDevice(device) {
    if (device !== this.#chosen) return;
    const { composer } = this.#parts;
    const usable = device.isConnected && device.client.deviceState !== "background";
    composer.inert = !usable;
    if (!usable) this.#clear();
    this.element.classList.toggle("cut-off", !device.isConnected);
    this.#showPeers();
  }

  #showPeers() {
    const { peers, avatar, "own-status": own } = this.#parts;
    const mine = (this.#chosen?.isConnected && this.#presences.get(this.user)?.status) || "unknown";
    own.textContent = mine;
    avatar.dataset.status = mine;
    const others = [...this.chat.people].filter((person) => person !== this.user).sort();
    peers.replaceChildren(...others.map((person) => this.#peer(person)));
  }

  #peer(user) {
    const presence = this.#presences.get(user);
    const item = make("li", "", "peer");
    const avatar = make("span", nameOf(user).charAt(0), "avatar");
    avatar.style.setProperty("--hue", hueOf(user));
    avatar.dataset.status = presence?.status ?? "unknown";
    avatar.ariaHidden = "true";
    const words = make("span", "", "peer-words");
    words.append(make("b", nameOf(user)), make("span", this.#lastSeen(presence), "quiet"));
    item.append(avatar, words);
    return item;
  }

  /** To the minute, since this page is for looking closely; an app says it less exactly. */
  #lastSeen(presence) {
    switch (presence?.status) {
      case "online": return "Online";
      case "away": return "Away";
      case "offline": break;
      default: return "…";
    }
    const seen = lastSeenText(presence, this.#chosen.client.now, { style: "exact" });
    return seen ? `Offline · ${seen}` : "Not seen yet";
  }

  #showMessages() {
    const { messages } = this.#parts;
    messages.replaceChildren(...this.chat.messages.map(({ from, text }) => {
      const item = make("li", "", from === this.user ? "message own" : "message");
      item.style.setProperty("--hue", hueOf(from));
      if (from !== this.user) item.append(make("b", nameOf(from)));
      item.append(make("span", text));
      return item;
    }));
    messages.scrollTop = messages.scrollHeight;
  }

  #showTyping(typing) {
    const { typing: line, dots, announcement } = this.#parts;
    line.textContent = typingText(typing, { name: nameOf, dots: "none" });
    dots.hidden = typing.count === 0;
    announcement.textContent = this.#announcer.announcement(typing) ?? announcement.textContent;
  }

  #showWire() {
    const { wire, "wire-device": label } = this.#parts;
    label.textContent = this.#chosen?.name ?? "";
    wire.replaceChildren(...(this.#chosen?.frames ?? []).toReversed().map(({ sent, text, at }) => {
      const item = make("li", "", sent ? "sent" : "received");
      item.append(make("time", at.toTimeString().slice(0, 8)), make("code", text));
      return item;
    }));
  }
}
