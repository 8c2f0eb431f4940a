// The bubble with three dots, and the faces of those who type. Its row keeps its height when nobody does, so nothing
// moves when somebody begins. The sentence stands in the header; to a screen reader the speaker says it.

import { avatar } from "./avatar.js";
import { make } from "../parts.js";

const FACES = 3;

/** Shows who is typing on a device. */
export class TypingRow {
  #device;
  #row;
  #faces;
  #users = "";

  constructor(device, row, faces) {
    this.#device = device;
    this.#row = row;
    this.#faces = faces;
    for (const what of ["typing", "changed"]) device.addEventListener(what, () => this.show());
  }

  show() {
    const { typing, isConnected } = this.#device;
    const isTyping = isConnected && typing.count > 0;
    this.#row.classList.toggle("active", isTyping);
    // Those who have stopped fade out with the bubble.
    if (isTyping) this.#showFaces(typing);
  }

  /** In the order in which they began, which stays: no face changes places while its person types. */
  #showFaces({ typists, count }) {
    const shown = typists.slice(0, FACES).map(({ user }) => user);
    const users = `${shown} ${count}`;
    if (users === this.#users) return;
    this.#users = users;
    const more = count > shown.length ? [make("span", `+${count - shown.length}`, "avatar more")] : [];
    this.#faces.replaceChildren(...shown.map(avatar), ...more);
  }
}
