// What to try first. A step leads to the place where it is done, and is ticked once its effect was seen.

import { make } from "../parts.js";

/** The list of steps: `{ id, words, target }`. The target is the element to use. */
export class Steps {
  #items = new Map();

  constructor(list, steps) {
    for (const { id, words, target } of steps) {
      const item = make("li");
      const button = make("button", words);
      button.type = "button";
      button.addEventListener("click", () => lead(target()));
      const done = make("span", "", "unseen");
      button.append(done);
      item.append(button);
      list.append(item);
      this.#items.set(id, { item, done });
    }
    this.#showNext();
  }

  done(id) {
    const { item, done } = this.#items.get(id);
    if (item.classList.contains("done")) return;
    item.classList.add("done");
    done.textContent = " (done)";
    this.#showNext();
  }

  #showNext() {
    const items = [...this.#items.values()].map(({ item }) => item);
    const next = items.find((item) => !item.classList.contains("done"));
    for (const item of items) item.classList.toggle("next", item === next);
  }
}

function lead(target) {
  target.scrollIntoView({ block: "nearest" });
  target.focus();
  target.classList.add("pointed-at");
  setTimeout(() => target.classList.remove("pointed-at"), 2_000);
}
