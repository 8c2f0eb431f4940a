// Shows the timeline beside the devices: what was done, and when each client learned of it.

import { make, milliseconds } from "../parts.js";

/** Shows a timeline. */
export class Told {
  #timeline;
  #list;

  constructor(timeline, list) {
    this.#timeline = timeline;
    this.#list = list;
    timeline.addEventListener("changed", () => this.show());
  }

  show() {
    this.#list.replaceChildren(...this.#timeline.acts.map((act, index) => this.#act(act, index === 0)));
  }

  #act(act, isNewest) {
    const item = make("li", "", isNewest ? "act newest" : "act");
    const rows = make("ul");
    rows.append(...act.rows.map((row) => this.#row(row)), ...this.#verdict(act, isNewest));
    item.append(make("h3", act.title), ...isNewest && act.hint ? [make("p", act.hint, "hint")] : [], rows);
    return item;
  }

  #row({ what, isOwn, status, reached }) {
    const item = make("li", "", isOwn ? "own" : "");
    if (status) item.dataset.status = status;
    item.append(make("span", what, "what"));
    for (const { who, after } of reached) {
      const chip = make("span", isOwn ? "" : `${who} `, "reached");
      chip.append(make("b", milliseconds(after)));
      item.append(chip);
    }
    return item;
  }

  #verdict({ verdict, rows }, isNewest) {
    switch (verdict) {
      case "watching": return [make("li", "Watching for 8 s whether anybody seems to leave…", "verdict")];
      case "unnoticed": return [make("li", "After 8 s, nobody was told that anybody had left.", "verdict unnoticed")];
      default: return rows.length === 0 && isNewest ? [make("li", "Nothing yet…", "verdict")] : [];
    }
  }
}
