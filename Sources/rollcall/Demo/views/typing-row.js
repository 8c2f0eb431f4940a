// The bubble with three dots, and the avatars of typing users. The row keeps its height when no user is typing, so
// nothing moves when one begins. The sentence is in the header; the speaker announces it to screen readers.

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
    // The avatars of users who have stopped fade out with the bubble.
    if (isTyping) this.#showFaces(typing);
  }

  /** Shows the avatars in the order in which the users began. No avatar moves while its user is typing. */
  #showFaces({ typists, count }) {
    const shown = typists.slice(0, FACES).map(({ user }) => user);
    const users = `${shown} ${count}`;
    if (users === this.#users) return;
    this.#users = users;
    const more = count > shown.length ? [make("span", `+${count - shown.length}`, "avatar more")] : [];
    this.#faces.replaceChildren(...shown.map(avatar), ...more);
  }
}
