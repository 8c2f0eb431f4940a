// An avatar with a dot. Rollcall decides the dot's role; the page decides its colour and shape.

import { presenceDot } from "../rollcall.js";
import { hueOf, initialOf, nameOf } from "../model/people.js";
import { make } from "../parts.js";

/** Creates a user's avatar. It is hidden from screen readers, because text beside it says the same. */
export function avatar(user) {
  const element = make("span", initialOf(nameOf(user)), "avatar");
  element.style.setProperty("--hue", hueOf(user));
  element.ariaHidden = "true";
  return element;
}

/** Shows a presence on an avatar. */
export function showDot(element, presence) { element.dataset.dot = presenceDot(presence); }
