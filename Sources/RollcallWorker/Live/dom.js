// Helpers for page elements. Untrusted values are inserted only as text.

/** Creates an element with classes, attributes and children, which may be texts. Empty children are skipped. */
export function make(name, { classes = "", ...attributes } = {}, ...children) {
  const [tag, ...more] = name.split(".");
  const element = document.createElement(tag);
  element.className = [...more, classes].filter(Boolean).join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

export function makeSVG(tag, attributes = {}) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

export function show(id, isShown) {
  document.getElementById(id).hidden = !isShown;
}

/** Announces a text to screen readers. */
export function announce(text) {
  document.getElementById("announcement").textContent = text;
}

/**
 * Replaces the children of a list with `elements`. An existing child with the same `data-key` is kept, and only its
 * differences are changed, so that selections and reading positions survive updates.
 */
export function update(parent, elements) {
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  // Two elements may have the same key, such as equal events: the existing child is used for one of them.
  const kept = elements.map((element) => {
    const same = before.get(element.dataset.key);
    before.delete(element.dataset.key);
    return same ?? element;
  });
  for (const child of [...parent.children]) if (!kept.includes(child)) child.remove();
  elements.forEach((element, index) => {
    const child = kept[index];
    if (child !== element) adapt(child, element);
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
}

function adapt(old, wanted) {
  for (const { name, value } of wanted.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) if (!wanted.hasAttribute(name)) old.removeAttribute(name);
  const [before, after] = [[...old.childNodes], [...wanted.childNodes]];
  const isAlike = before.length === after.length && before.every((node, index) => node.nodeName === after[index].nodeName);
  if (!isAlike) return old.replaceChildren(...after);
  before.forEach((node, index) => {
    if (node.nodeType !== Node.TEXT_NODE) adapt(node, after[index]);
    else if (node.data !== after[index].data) node.data = after[index].data;
  });
}
