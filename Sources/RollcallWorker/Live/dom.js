// Small pieces of the page. Whatever comes from outside goes in as text.

/** An element with classes, attributes and children, which may be texts; what is nothing is left out. */
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

/** Says it to those who listen to the page. */
export function announce(text) {
  document.getElementById("announcement").textContent = text;
}

/**
 * Makes the children of a list those of `items`, and leaves alone what looks as before: so a selection, and a reader's
 * place, outlive the second.
 */
export function replaceChanged(parent, elements) {
  elements.forEach((element, index) => {
    const old = parent.children[index];
    if (!old) parent.append(element);
    else if (!old.isEqualNode(element)) old.replaceWith(element);
  });
  while (parent.children.length > elements.length) parent.lastElementChild.remove();
}
