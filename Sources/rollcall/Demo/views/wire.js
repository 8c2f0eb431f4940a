// The messages between a device and its worker, to show the protocol.

import { make } from "../parts.js";

/** Shows a device's frames while its `details` are open. */
export class Wire {
  #device;
  #details;
  #list;

  constructor(device, details, list) {
    this.#device = device;
    this.#details = details;
    this.#list = list;
    device.addEventListener("wire", () => this.show());
    details.addEventListener("toggle", () => this.show());
  }

  show() {
    if (!this.#details.open) return;
    this.#list.replaceChildren(...this.#device.frames.toReversed().map(({ isSent, text, at }) => {
      const item = make("li", "", isSent ? "sent" : "received");
      item.append(make("time", at.toTimeString().slice(0, 8)), make("code", text));
      return item;
    }));
  }
}
