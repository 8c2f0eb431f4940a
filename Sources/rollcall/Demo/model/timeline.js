// What was done, and what the clients were told of it, in milliseconds of one clock: both happen in this page, so
// nothing is estimated. A row stands for one thing that was told, with how long it took to each who was told.

const REMEMBERED = 5;
/** Longer than the lease, or the grace, and a second for the telling. */
const WATCHED_FOR = 8_000;

/** Emits `changed`. */
export class Timeline extends EventTarget {
  /** The newest first: `{ title, hint, rows: [{ what, isOwn, reached: [{ who, after }] }], verdict }`. */
  acts = [];
  /** When a client was last told that somebody had left. */
  #lastLeft = -Infinity;

  /**
   * Begins a new act: what is told from now on counts from here, but for who leaves after an act that is watched.
   *
   * @param {{ verdict?: boolean, hint?: string, key?: string }} options `verdict`: whether it ends with a word on who
   *   was seen gone; `hint`: what is to be expected
   */
  acted(title, { verdict = false, hint, key } = {}) {
    const at = performance.now();
    const act = { title, hint, key, at, rows: [], verdict: verdict ? "watching" : null, isOver: false };
    // What came to nothing is not worth a place.
    this.acts = [act, ...this.acts.filter(({ rows, verdict: word }) => rows.length > 0 || word)].slice(0, REMEMBERED);
    if (verdict) setTimeout(() => this.#judge(act), WATCHED_FOR);
    this.#changed();
    return act;
  }

  /** Begins an act unless the newest is the same and not over: a person goes on with what they do. */
  continued(title, key, hint) {
    const [newest] = this.acts;
    if (newest?.key === key && !newest.isOver) return newest;
    return this.acted(title, { key, hint });
  }

  /** Whatever went on has ended: to do it again is a new act. */
  over() { if (this.acts[0]) this.acts[0].isOver = true; }

  /** What went on of this key was taken back, perhaps before anybody was told. */
  withdrawn(key) { if (this.acts[0]?.key === key) this.over(); }

  /** A client was told something. */
  told(who, { what, user, status, isOwn = false }) {
    if (status === "offline") this.#lastLeft = performance.now();
    const act = this.#cause(status);
    if (!act || performance.now() - act.at > 60_000) return;
    const after = performance.now() - act.at;
    const row = act.rows.find((each) => each.what === what && !each.reached.some((other) => other.who === who));
    if (row) row.reached.push({ who, after });
    else act.rows.push({ what, user, status, isOwn, reached: [{ who, after }] });
    this.#changed();
  }

  /** That somebody left comes of the newest act that is watched for it, whatever was typed since. */
  #cause(status) {
    const isWatched = ({ verdict, at }) => verdict === "watching" && performance.now() - at < WATCHED_FOR;
    return (status === "offline" && this.acts.find(isWatched)) || this.acts[0];
  }

  #judge(act) {
    act.verdict = this.#lastLeft >= act.at ? null : "unnoticed";
    this.#changed();
  }

  #changed() { this.dispatchEvent(new Event("changed")); }
}
