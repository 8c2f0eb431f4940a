// A device on the page: its screen with the list of conversations, a chat or the document, and the controls below.

import { availabilityText, groupCount, hereText, lastSeenText, lastSeenValidity, presenceDot, presenceText, typingText } from "./rollcall.js";
import { CONVERSATIONS, hueOf, nameOf } from "./chat.js";
import { language, make, setText } from "./language.js";

const MINUTE = 60_000;
/** From how many typing users the text is "Several people": a phone has room for two names. */
const SEVERAL = { phone: 3, laptop: undefined };
/** How many avatars of users who type, or who have something open, are shown. */
const FACES = 3;

const SILENT = "No goodbye: the others see it once 5 s of grace have passed, unless the device is back by then.";
const SAID = "The device says so itself: the others see it at once, unless another device says more.";
/** What each button does to a device, how that is called, what to expect, and whether the user may seem to leave. */
const ACTS = {
  active: ["in use again", SAID, false, (device) => device.become("active")],
  idle: ["idle", SAID, false, (device) => device.become("idle")],
  background: ["app to the background", SAID, true, (device) => device.become("background")],
  drop: ["network dropped", SILENT, true, (device) => device.dropNetwork()],
  restore: ["network back", "The client comes back by itself.", false, (device) => device.restoreNetwork()],
  quit: ["force-quit", SILENT, true, ({ client }) => client.disconnect({ goodbye: false })],
  leave: ["signed out", SAID, true, ({ client }) => client.disconnect({ goodbye: true })],
  open: ["app opened", SAID, false, (device) => device.open()],
};

const HOUR = 60 * MINUTE;
const TOLD = "The others see it at once, on all devices of the user.";
/** The same of what a user decides: the setting of a box, and what the others may see then. */
const DECISIONS = {
  invisible: ["invisible", TOLD, (device, is) => device.set({ availability: is ? "invisible" : null, until: null })],
  dnd: ["do not disturb", TOLD, (device, is) => device.set({ availability: is ? "dnd" : null, ...is ? { for: HOUR } : { until: null } })],
  timeless: ["last seen", "The others see whether the user is there, and not since when.", (device, is) => device.set({ lastSeen: is ? "nobody" : null })],
  blocked: ["block", "The page’s server sets it, for all devices: neither sees the other.", (device, is) => device.block(is)],
};

/** Returns a copy of a template's element, and its parts by the names in `data-part`. */
export function build(template) {
  const element = document.getElementById(template).content.firstElementChild.cloneNode(true);
  const parts = {};
  for (const part of element.querySelectorAll("[data-part]")) parts[part.dataset.part] = part;
  return { element, parts };
}

/** Creates a user's avatar. It is hidden from screen readers, because text beside it says the same. */
function avatar(user) {
  const initial = [...new Intl.Segmenter().segment(nameOf(user))][0]?.segment.toUpperCase() ?? "";
  const element = make("span", initial, "avatar");
  element.style.setProperty("--hue", hueOf(user));
  element.ariaHidden = "true";
  return element;
}

/** Shows the avatars of the first of these users, those of idle ones faintly, and how many more there are. */
function showFaces(element, users, count = users.length) {
  const shown = users.slice(0, FACES);
  const key = JSON.stringify([shown.map(({ user, isIdle }) => [user, isIdle]), count]);
  if (element.dataset.shown === key) return;
  element.dataset.shown = key;
  const faces = shown.map(({ user, isIdle }) => {
    const face = avatar(user);
    face.classList.toggle("faint", Boolean(isIdle));
    return face;
  });
  element.replaceChildren(...faces, ...count > shown.length ? [make("span", `+${count - shown.length}`, "avatar more")] : []);
}

/** One device on the page. Emits `acted` for each act of its user, with the timeline's data in the detail. */
export class Frame extends EventTarget {
  #device;
  #parts;
  /** The avatars that show a presence, by user. */
  #faces = new Map();
  #rows = new Map();
  /** The items of messages, by id. */
  #bubbles = new Map();
  /** The parts of the document's sections, in order. */
  #sections = [];
  #timer;

  constructor(device) {
    super();
    this.#device = device;
    const { element, parts } = build("device-template");
    Object.assign(this, { element, field: parts.field });
    this.#parts = parts;
    Object.assign(element.dataset, { kind: device.kind, device: `${device.user}-${device.kind}` });
    element.setAttribute("aria-label", device.label);
    parts.label.textContent = device.label;
    parts.controls.setAttribute("aria-label", `What happens to ${device.label}`);
    setText(parts.other, nameOf(device.friend));
    this.#listRows();
    const on = (what, show) => device.addEventListener(what, show);
    on("changed", () => [this.#showState(), this.#showHeader(), this.#showTyping()]);
    on("presence", () => this.#showHeader());
    on("person", () => [this.#showPerson(), this.#showHeader(), this.#showTyping()]);
    on("typing", () => [this.#showHeader(), this.#showTyping()]);
    on("here", () => [this.#showHeader(), this.#showHere()]);
    on("messages", () => [this.#showMessages(), this.#showHeader()]);
    on("conversation", () => this.#rebuild());
    language.addEventListener("changed", () => [this.#speak(), this.#rebuild()]);
    this.#listen();
    this.#speak();
    this.#rebuild();
  }

  control(name) { return this.#parts[name]; }

  #listen() {
    const { field, composer, curtain, back, controls } = this.#parts;
    field.addEventListener("input", () => this.#device.edited(field.value));
    composer.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = field.value.trim();
      field.value = "";
      if (text) this.#device.send(text);
    });
    curtain.addEventListener("click", () => {
      if (this.#device.isOpen) this.#device.become("active");
      else this.#device.open();
      this.#focus();
    });
    back.addEventListener("click", () => {
      this.#device.show(null);
      this.#rows.values().next().value.focus();
    });
    for (const [part, [title, hint, decide]] of Object.entries(DECISIONS)) {
      this.#parts[part].addEventListener("change", ({ target }) => {
        this.dispatchEvent(new CustomEvent("acted", { detail: { title: `${this.#device.label}: ${title}, ${target.checked ? "on" : "off"}`, hint } }));
        decide(this.#device, target.checked);
      });
    }
    controls.addEventListener("click", ({ target }) => this.#pressed(target.closest("button")));
  }

  #pressed(button) {
    if (!button) return;
    const [title, hint, verdict, act] = ACTS[button.value];
    this.dispatchEvent(new CustomEvent("acted", { detail: { title: `${this.#device.label}: ${title}`, hint, verdict } }));
    const hadFocus = document.activeElement === button;
    act(this.#device);
    // The focus moves from a button that disappears to the one that replaces it.
    if (hadFocus && button.hidden) this.#parts.controls.querySelector(".actions button:not([hidden])")?.focus();
  }

  /** The list of conversations: a row each, with who types there or the last message. */
  #listRows() {
    for (const [name, conversation] of Object.entries(CONVERSATIONS)) {
      const { element, parts } = build("row-template");
      const other = this.#device.otherIn(conversation);
      setText(parts.title, conversation.title ?? nameOf(other));
      const face = other ? avatar(other) : make("span", conversation.icon, "avatar group");
      parts.face.replaceWith(face);
      Object.assign(element, { value: name, parts, face, conversation });
      element.addEventListener("click", () => {
        this.#device.show(conversation);
        this.#focus();
      });
      this.#rows.set(conversation, element);
    }
    this.#parts.rows.append(...this.#rows.values());
  }

  #focus() {
    const { paper, field } = this.#parts;
    (this.#device.conversation?.sections ? paper.querySelector("button") : field).focus({ preventScroll: true });
  }

  #rebuild() {
    const { conversation } = this.#device;
    const { element, face, title, members, field, messages } = { ...this.#parts, element: this.element };
    element.dataset.view = conversation?.sections ? "document" : conversation ? "chat" : "list";
    field.value = "";
    if (conversation) {
      const other = this.#device.otherIn(conversation);
      title.textContent = conversation.title ?? nameOf(other);
      members.hidden = other !== null || "sections" in conversation;
      this.#faces = new Map((other ? [other] : conversation.members).map((user) => [user, avatar(user)]));
      face.replaceChildren(other ? this.#faces.get(other) : make("span", conversation.icon, "avatar group"));
      members.replaceChildren(...other ? [] : conversation.members.map((user) => this.#member(user)));
      this.#bubbles.clear();
      messages.replaceChildren(make("li", language.today, "day"));
      messages.classList.remove("live");
      this.#showMessages();
      messages.classList.add("live");
      messages.scrollTop = messages.scrollHeight;
      this.#listSections(conversation.sections ?? []);
    }
    this.#showState();
    this.#showHeader();
    this.#showTyping();
    this.#showHere();
    this.#showPerson();
  }

  #listSections(sections) {
    const built = sections.map(([title, text], number) => {
      const { element, parts } = build("section-template");
      setText(parts.title, title);
      setText(parts.text, text);
      parts.button.addEventListener("click", () => this.#device.moveTo(number));
      return { element, parts };
    });
    this.#sections = built.map(({ parts }) => parts);
    this.#parts.paper.replaceChildren(...built.map(({ element }) => element));
  }

  /** The avatars of the others who have the document open, above it and at the section where each of them is. */
  #showHere() {
    const { conversation, section } = this.#device;
    const { others, otherCount } = this.#device.hereIn(conversation);
    showFaces(this.#parts["here-faces"], others, otherCount);
    for (const [number, { button, faces, names }] of this.#sections.entries()) {
      const there = others.filter(({ data }) => data?.section === number);
      showFaces(faces, there);
      setText(names, there.map(({ user }) => nameOf(user)).join(", "));
      button.setAttribute("aria-current", String(number === section));
    }
  }

  #member(user) {
    const item = Object.assign(make("li"), { title: nameOf(user) });
    item.append(this.#faces.get(user), make("span", "", "unseen"));
    return item;
  }

  /** The list, and the other user or the title, and below it who is typing, or else who is online. */
  #showHeader() {
    const { presences, otherPresence, typing, conversation, isConnected, client } = this.#device;
    for (const [each, { parts, face }] of this.#rows) {
      const other = this.#device.otherIn(each);
      if (other) face.dataset.dot = presenceDot(presences.get(other));
      const now = this.#device.typingIn(each);
      const last = this.#device.messagesIn(each).at(-1);
      const isTyping = isConnected && now.count > 0;
      const said = last ? `${nameOf(last.from)}: ${last.text}` : this.#hereText(each);
      setText(parts.line, isTyping ? this.#typingText(now) : said);
      parts.line.classList.toggle("typing", isTyping);
    }
    if (!conversation) return;
    const { line } = this.#parts;
    setText(line, this.#line());
    line.classList.toggle("typing", isConnected && typing.count > 0);
    for (const [user, face] of this.#faces) {
      face.dataset.dot = presenceDot(presences.get(user));
      const status = face.parentElement?.querySelector(".unseen");
      if (status) setText(status, `${nameOf(user)}: ${presenceText(presences.get(user), { language: language.id })}`);
    }
    clearTimeout(this.#timer);
    const valid = lastSeenValidity(otherPresence, client.now, { style: "exact" });
    if (valid !== Infinity) this.#timer = setTimeout(() => this.#showHeader(), Math.min(valid, 60 * MINUTE));
  }

  #typingText(typing) {
    return typingText(typing, { language: language.id, severalFrom: SEVERAL[this.#device.kind] });
  }

  #hereText(conversation) { return hereText(this.#device.hereIn(conversation), { language: language.id }); }

  #line() {
    const { conversation, isConnected, network, presences, otherPresence, typing, client } = this.#device;
    const words = { language: language.id };
    if (!isConnected) return network.isUp ? "Connecting…" : "No network";
    if (typing.count > 0) return this.#typingText(typing);
    const { title, members } = conversation;
    const open = this.#hereText(conversation);
    if (open) return open;
    if (title) return groupCount(members.map((user) => presences.get(user)), members.length, words).text;
    const { status, lastSeen } = otherPresence ?? {};
    const isLongGone = lastSeen && status === "offline" && client.now - lastSeen >= MINUTE;
    if (isLongGone) return lastSeenText(otherPresence, client.now, { ...words, style: "exact" });
    return (status !== "offline" && availabilityText(otherPresence ?? {}, client.now, words)) || presenceText(otherPresence, words);
  }

  /** Appends new messages. The list is rebuilt only if one arrives late, for example from another window. */
  #showMessages() {
    const { conversation, waiting, user } = this.#device;
    if (!conversation) return;
    const messages = this.#device.messagesIn(conversation);
    const list = this.#parts.messages;
    const isAtEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 60;
    for (const item of list.querySelectorAll(".waiting")) item.remove();
    for (const [id, item] of this.#bubbles) {
      if (messages.some((message) => message.id === id)) continue;
      item.remove();
      this.#bubbles.delete(id);
    }
    if ([...this.#bubbles.keys()].some((id, index) => messages[index].id !== id)) return this.#rebuild();
    for (const message of messages) {
      if (this.#bubbles.has(message.id)) continue;
      const item = this.#bubble(message);
      this.#bubbles.set(message.id, item);
      this.#append(item);
    }
    for (const { text } of waiting) this.#append(this.#bubble({ from: user, text, at: null }));
    list.querySelector(".message")?.classList.add("begins");
    if (isAtEnd || waiting.length > 0 || messages.at(-1)?.from === user) list.scrollTop = list.scrollHeight;
  }

  /** Successive messages of one user form a group, with the name above and the avatar below. */
  #append(item) {
    const last = this.#parts.messages.lastElementChild;
    const continues = last?.dataset.from === item.dataset.from;
    item.classList.toggle("begins", !continues);
    item.classList.add("ends");
    if (continues) last.classList.remove("ends");
    this.#parts.messages.append(item);
  }

  #bubble({ from, text, at }) {
    const isOwn = from === this.#device.user;
    const isGroup = Boolean(this.#device.conversation.title);
    const item = make("li", "", `message${isOwn ? " own" : ""}${at === null ? " waiting" : ""}`);
    item.dataset.from = from;
    item.style.setProperty("--hue", hueOf(from));
    const name = make("b", "", isOwn || !isGroup ? "unseen" : "");
    name.append(make("bdi", nameOf(from)));
    const time = at === null ? make("span", "waiting…", "time") : make("time", language.time(at), "time");
    if (at !== null) time.dateTime = new Date(at).toISOString();
    const bubble = make("div", "", "bubble");
    bubble.append(name, Object.assign(make("span", text, "words"), { dir: "auto" }), time);
    item.append(...!isOwn && isGroup ? [avatar(from)] : [], bubble);
    return item;
  }

  /**
   * The bubble with three dots, and the avatars of typing users in the order in which they began: no avatar moves while
   * its user is typing. The row keeps its height when no user is typing; avatars fade out with the bubble.
   */
  #showTyping() {
    const { typing, isConnected } = this.#device;
    const isTyping = isConnected && typing.count > 0;
    this.#parts["typing-row"].classList.toggle("active", isTyping);
    if (isTyping) showFaces(this.#parts["typing-faces"], typing.typists, typing.count);
  }

  #showPerson() {
    const { invisible, dnd, timeless, blocked, composer } = this.#parts;
    const { person: { availability, lastSeen }, blocks, conversation } = this.#device;
    const checked = [[invisible, availability === "invisible"], [dnd, availability === "dnd"], [timeless, lastSeen === "nobody"], [blocked, blocks]];
    for (const [box, is] of checked) box.checked = is;
    composer.inert = this.#device.isClosed(conversation);
    this.element.classList.toggle("closed", composer.inert);
  }

  /** The worker, the buttons, and the curtain over the chat while the app is in the background or closed. */
  #showState() {
    const { worker, states, drop, restore, quit, leave, open, screen, app, curtain, "curtain-reason": reason } = this.#parts;
    const { connection, isOpen, isConnected, network, state, worker: name } = this.#device;
    worker.dataset.worker = name ?? "";
    worker.title = name ? `Connected to worker ${name}` : "";
    setText(worker, name ?? (isOpen ? "no connection" : "closed"));
    for (const button of states.children) {
      button.setAttribute("aria-pressed", String(isOpen && button.value === state));
      button.disabled = !isOpen;
    }
    quit.hidden = leave.hidden = !isOpen;
    drop.hidden = !isOpen || !network.isUp;
    restore.hidden = network.isUp;
    open.hidden = isOpen;
    const isCovered = !isOpen || state === "background";
    if (isCovered && !app.inert) this.#device.edited(this.field.value = "");
    app.inert = isCovered;
    curtain.hidden = !isCovered;
    screen.dataset.connected = isConnected;
    setText(reason, isOpen ? "In the background" : connection.error?.message ?? "The app is closed");
  }

  #speak() {
    const { screen, field, send, heading, back } = this.#parts;
    const [message, verb, chats] = language.words;
    Object.assign(screen, { lang: language.id, dir: language.direction });
    field.placeholder = message;
    field.setAttribute("aria-label", `${message} (${this.#device.label})`);
    send.setAttribute("aria-label", verb);
    back.setAttribute("aria-label", chats);
    setText(heading, chats);
  }
}
