// A face with a dot: the dot's role is Rollcall's, its colour and shape are the page's.

import { presenceDot } from "../rollcall.js";
import { hueOf, initialOf, nameOf } from "../model/people.js";
import { make } from "../parts.js";

/** A person's avatar, for the eye alone: what it says stands in words beside it. */
export function avatar(user) {
  const element = make("span", initialOf(nameOf(user)), "avatar");
  element.style.setProperty("--hue", hueOf(user));
  element.ariaHidden = "true";
  return element;
}

/** Shows a presence on an avatar. */
export function showDot(element, presence) { element.dataset.dot = presenceDot(presence); }
