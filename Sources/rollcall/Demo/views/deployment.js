// The servers, and buttons that kill them. `rollcall dev` does this, and accepts such requests only from this page.

import { build, setText } from "../parts.js";

const WORKER_HINT = "Its devices find another worker before the dead one’s lease ends, after 5 s.";
const REDIS_HINT = "Sessions stay, and everyone keeps what they last saw. All data is gone, and is said again.";

const TITLES = { redis: "Redis", w1: "Worker w1", w2: "Worker w2" };

/**
 * Emits `acted` before each action, with the timeline's data in the detail, and `done` after it, with the part's name.
 */
export class Deployment extends EventTarget {
  #rows = new Map();

  constructor({ workers, down }, list) {
    super();
    for (const part of [...workers.map(({ id }) => id), "redis"]) {
      const row = new Row(part, down.includes(part));
      row.parts.act.addEventListener("click", () => this.#act(row));
      this.#rows.set(part, row);
      list.append(row.element);
    }
  }

  /** Shows how many devices each worker holds. */
  showDevices(workers) {
    for (const [part, row] of this.#rows) {
      const count = workers.filter((worker) => worker === part).length;
      if (part !== "redis") row.showDevices(count);
    }
  }

  /** Shows which parts are down, also if another window killed them. */
  showDown(down) {
    for (const [part, row] of this.#rows) {
      if (!row.isBusy && row.isDown !== down.includes(part)) row.end(!row.isDown, null);
    }
  }

  button(part) { return this.#rows.get(part).parts.act; }

  async #act(row) {
    if (row.isBusy) return;
    const [verb, word] = row.isDown ? ["start", "started again"] : ["crash", "killed"];
    const hint = row.part === "redis" ? REDIS_HINT : WORKER_HINT;
    const detail = { title: `${TITLES[row.part]}: ${word}`, hint, verdict: true };
    this.dispatchEvent(new CustomEvent("acted", { detail }));
    row.begin();
    const failure = await ask(row.part, verb);
    row.end(failure === null ? verb === "crash" : row.isDown, failure);
    this.dispatchEvent(new CustomEvent("done", { detail: { part: row.part, verb } }));
  }
}

/** One server. */
class Row {
  isDown;

  constructor(part, isDown) {
    const { element, parts } = build("part-template");
    Object.assign(this, { part, element, parts });
    element.dataset.part = part;
    parts.name.textContent = TITLES[part];
    parts.role.textContent = part === "redis" ? "what the workers share" : "";
    this.end(isDown, null);
  }

  showDevices(count) { setText(this.parts.role, `holds ${count} device${count === 1 ? "" : "s"}`); }

  /** Whether an action is in progress. */
  get isBusy() { return this.element.hasAttribute("aria-busy"); }

  begin() { this.element.setAttribute("aria-busy", "true"); }

  end(isDown, failure) {
    this.isDown = isDown;
    this.element.removeAttribute("aria-busy");
    this.element.classList.toggle("down", isDown);
    setText(this.parts.act, isDown ? "Start again" : "Kill");
    this.parts.act.setAttribute("aria-label", `${isDown ? "Start" : "Kill"} ${TITLES[this.part]}`);
    setText(this.parts.failure, failure ?? "");
  }
}

/** Requests an action. Returns null if it was done, or else the reason why not. */
async function ask(part, verb) {
  try {
    const response = await fetch(`parts/${part}/${verb}`, { method: "POST" });
    return response.ok ? null : await response.text();
  } catch {
    return "rollcall dev does not answer: does it still run?";
  }
}
