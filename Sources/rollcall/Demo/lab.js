// What happens around the devices: the servers, what was done, and when the clients learned of it.

import { make, setText } from "./language.js";
import { build } from "./screen.js";

const WORKER_HINT = "Its devices find another worker before the dead one’s lease ends, after 5 s.";
const REDIS_HINT = "Sessions stay, and everyone keeps what they last saw. All data is gone, and is said again.";
const TITLES = { redis: "Redis", w1: "Worker w1", w2: "Worker w2" };

const REMEMBERED = 5;
/** How long to watch, in milliseconds: longer than the lease or the grace period, plus a second for the update. */
const WATCHED_FOR = 8_000;

/**
 * The servers, and buttons that kill them. `rollcall dev` does this, and accepts such requests only from this page. Emits
 * `acted` before each action, with the timeline's data in the detail.
 */
export class Deployment extends EventTarget {
  #rows = new Map();

  constructor({ workers, down }, list) {
    super();
    for (const part of [...workers.map(({ id }) => id), "redis"]) {
      const row = build("part-template");
      row.element.dataset.part = part;
      row.parts.name.textContent = TITLES[part];
      row.parts.role.textContent = part === "redis" ? "what the workers share" : "";
      row.parts.act.addEventListener("click", () => this.#act(part, row));
      this.#rows.set(part, row);
      this.#end(part, row, down.includes(part), "");
      list.append(row.element);
    }
  }

  /** Shows how many devices each worker holds. */
  showDevices(workers) {
    for (const [part, { parts }] of this.#rows) {
      const count = workers.filter((worker) => worker === part).length;
      if (part !== "redis") setText(parts.role, `holds ${count} device${count === 1 ? "" : "s"}`);
    }
  }

  /** Shows which parts are down, also if another window killed them. */
  showDown(down) {
    for (const [part, row] of this.#rows) if (!row.isBusy) this.#end(part, row, down.includes(part), "");
  }

  async #act(part, row) {
    if (row.isBusy) return;
    const [verb, word] = row.isDown ? ["start", "started again"] : ["crash", "killed"];
    const detail = { title: `${TITLES[part]}: ${word}`, hint: part === "redis" ? REDIS_HINT : WORKER_HINT, verdict: true };
    this.dispatchEvent(new CustomEvent("acted", { detail }));
    row.isBusy = true;
    row.element.setAttribute("aria-busy", "true");
    const failure = await fetch(`parts/${part}/${verb}`, { method: "POST" }).then(
      async (answer) => (answer.ok ? "" : answer.text()), () => "rollcall dev does not answer: does it still run?");
    this.#end(part, row, failure ? row.isDown : verb === "crash", failure);
  }

  #end(part, row, isDown, failure) {
    Object.assign(row, { isDown, isBusy: false });
    row.element.removeAttribute("aria-busy");
    row.element.classList.toggle("down", isDown);
    setText(row.parts.act, isDown ? "Start again" : "Kill");
    row.parts.act.setAttribute("aria-label", `${isDown ? "Start" : "Kill"} ${TITLES[part]}`);
    setText(row.parts.failure, failure);
  }
}

/**
 * What was done, and when the clients learned of it, in milliseconds on one clock: both happen in this page, so nothing is
 * estimated. A row is one change, with the time that it took to reach each client.
 */
export class Timeline {
  /** Newest first: `{ title, hint, rows: [{ what, status, isOwn, reached: [{ who, after }] }], verdict }`. */
  #acts = [];
  #list;
  /** When a client was last shown that a user went offline. */
  #lastLeft = -Infinity;

  constructor(list) {
    this.#list = list;
  }

  /**
   * Begins a new act. Later changes are timed from now, except users who go offline after an earlier act that is still
   * watched for this.
   *
   * @param {{ verdict?: boolean, hint?: string, key?: string }} options `verdict`: whether to report in the end if no
   * user seemed to leave; `hint`: what to expect; `key`: identifies an activity that can be continued
   */
  acted(title, { verdict = false, hint, key } = {}) {
    const act = { title, hint, key, at: performance.now(), rows: [], verdict: verdict ? "watching" : null };
    // Acts without any effect are dropped.
    this.#acts = [act, ...this.#acts.filter((each) => each.rows.length > 0 || each.verdict)].slice(0, REMEMBERED);
    if (verdict) {
      setTimeout(() => {
        act.verdict = this.#lastLeft >= act.at ? null : "unnoticed";
        this.#show();
      }, WATCHED_FOR);
    }
    this.#show();
  }

  /** Begins an act, unless the newest has the same key and is not over: then it continues. */
  continued(title, key, hint) {
    if (this.#acts[0]?.key !== key) this.acted(title, { key, hint });
  }

  /** Ends the newest activity, or only if it has this key: repeating it is a new act. */
  over(key) {
    const [newest] = this.#acts;
    if (newest && (key === undefined || newest.key === key)) newest.key = null;
  }

  /** Adds what a client learned. */
  told(who, { what, status, isOwn = false }) {
    const now = performance.now();
    if (status === "offline") this.#lastLeft = now;
    // A user going offline belongs to the newest act that is watched for this.
    const isWatched = ({ verdict, at }) => verdict === "watching" && now - at < WATCHED_FOR;
    const act = (status === "offline" && this.#acts.find(isWatched)) || this.#acts[0];
    if (!act || now - act.at > 60_000) return;
    const row = act.rows.find((each) => each.what === what && !each.reached.some((other) => other.who === who));
    const reached = { who, after: now - act.at };
    if (row) row.reached.push(reached);
    else act.rows.push({ what, status, isOwn, reached: [reached] });
    this.#show();
  }

  #show() {
    this.#list.replaceChildren(...this.#acts.map(({ title, hint, rows, verdict }, index) => {
      const isNewest = index === 0;
      const item = make("li", "", isNewest ? "act newest" : "act");
      const list = make("ul");
      list.append(...rows.map((row) => this.#row(row)));
      if (verdict === "watching") {
        list.append(make("li", "Watching for 8 s whether anybody seems to leave…", "verdict"));
      } else if (verdict === "unnoticed") {
        list.append(make("li", "After 8 s, nobody was told that anybody had left.", "verdict unnoticed"));
      } else if (rows.length === 0 && isNewest) list.append(make("li", "Nothing yet…", "verdict"));
      item.append(make("h3", title), ...isNewest && hint ? [make("p", hint, "hint")] : [], list);
      return item;
    }));
  }

  #row({ what, isOwn, status, reached }) {
    const item = make("li", "", isOwn ? "own" : "");
    if (status) item.dataset.status = status;
    item.append(make("span", what, "what"));
    for (const { who, after } of reached) {
      const chip = make("span", isOwn ? "" : `${who} `, "reached");
      chip.append(make("b", `${Math.max(0, Math.round(after)).toLocaleString("en")} ms`));
      item.append(chip);
    }
    return item;
  }
}
