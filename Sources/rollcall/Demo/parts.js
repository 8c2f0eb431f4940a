// Helpers that build the page from its templates.

/** Returns a copy of a template's element, and its parts by the names in `data-part`. */
export function build(template) {
  const element = document.getElementById(template).content.firstElementChild.cloneNode(true);
  const parts = {};
  for (const part of element.querySelectorAll("[data-part]")) parts[part.dataset.part] = part;
  return { element, parts };
}

/** Creates an element with text and a class. */
export function make(tag, text = "", className = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}

/** Sets a text only if it differs: an unchanged element neither flickers nor is read aloud again. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Formats a duration: `1,204 ms`. */
export function milliseconds(duration) { return `${Math.max(0, Math.round(duration)).toLocaleString("en")} ms`; }
