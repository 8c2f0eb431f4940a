// Small conveniences for building the page out of its templates.

/** A copy of a template's element, and its parts by the names in `data-part`. */
export function build(template) {
  const element = document.getElementById(template).content.firstElementChild.cloneNode(true);
  const parts = {};
  for (const part of element.querySelectorAll("[data-part]")) parts[part.dataset.part] = part;
  return { element, parts };
}

/** A new element with text and a class. */
export function make(tag, text = "", className = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}

/** How a user's identifier reads as a name: `alice` is Alice. */
export function nameOf(user) {
  return user.charAt(0).toUpperCase() + user.slice(1);
}

/** A hue of a person's own, the same in every window. */
export function hueOf(user) {
  let hash = 7;
  for (const character of user) hash = (hash * 31 + character.codePointAt(0)) % 360;
  return hash;
}
