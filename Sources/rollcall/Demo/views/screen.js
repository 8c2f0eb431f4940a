// The content of a device's screen: a chat.

import { composerWords } from "../model/words.js";
import { language } from "../model/language.js";
import { setText } from "../parts.js";
import { Bubbles } from "./bubbles.js";
import { Header } from "./header.js";
import { TypingRow } from "./typing-row.js";

/** The screen of one device. */
export class Screen {
  #device;
  #parts;
  #header;
  #bubbles;
  #typing;

  constructor(device, parts) {
    this.#device = device;
    this.#parts = parts;
    this.#header = new Header(device, parts);
    this.#bubbles = new Bubbles(device, parts.messages);
    this.#typing = new TypingRow(device, parts["typing-row"], parts["typing-faces"]);
    this.#listen();
    this.#speak();
  }

  /** Shows the conversation that its device has opened. */
  rebuild() {
    this.#parts.field.value = "";
    this.#header.rebuild();
    this.#bubbles.rebuild();
    this.#typing.show();
    this.#cover();
  }

  #listen() {
    const { field, composer, curtain } = this.#parts;
    field.addEventListener("input", () => this.#device.edited(field.value));
    composer.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    curtain.addEventListener("click", () => {
      if (this.#device.isOpen) this.#device.become("active");
      else this.#device.open();
      field.focus();
    });
    this.#device.addEventListener("changed", () => this.#cover());
    language.addEventListener("changed", () => this.#speak());
    setInterval(() => this.#tick(), 10_000);
  }

  #send() {
    const text = this.#parts.field.value.trim();
    if (!text) return;
    this.#parts.field.value = "";
    this.#device.send(text);
  }

  #speak() {
    const { screen, field, send } = this.#parts;
    const { message, send: verb } = composerWords(language.id);
    screen.lang = language.id;
    screen.dir = language.direction;
    field.placeholder = message;
    field.setAttribute("aria-label", `${message} (${this.#device.label})`);
    send.setAttribute("aria-label", verb);
    this.#tick();
  }

  #tick() {
    const now = Date.now();
    setText(this.#parts.clock, language.time(now));
    setText(this.#parts["curtain-clock"], language.time(now));
    setText(this.#parts["curtain-date"], language.date(now));
  }

  /** Covers the chat while the app is in the background or closed. */
  #cover() {
    const { screen, chat, curtain, "curtain-reason": reason } = this.#parts;
    const { connection, isOpen, isConnected, network, state } = this.#device;
    const isCovered = !isOpen || state === "background";
    if (isCovered && !chat.inert) this.#device.edited(this.#parts.field.value = "");
    chat.inert = isCovered;
    curtain.hidden = !isCovered;
    screen.dataset.network = network.isUp ? "up" : "down";
    screen.dataset.connected = isConnected;
    setText(reason, isOpen ? "In the background" : connection.error?.message ?? "The app is closed");
  }
}
