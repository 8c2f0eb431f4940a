// What was done, and when the clients learned of it, in milliseconds on one clock. Both happen in this page, so nothing
// is estimated. A row is one change, with the time that it took to reach each client.

const REMEMBERED = 5;
/** How long to watch, in milliseconds: longer than the lease or the grace period, plus a second for the update. */
const WATCHED_FOR = 8_000;

/** Emits `changed`. */
export class Timeline extends EventTarget {
  /** The acts, newest first: `{ title, hint, rows: [{ what, isOwn, reached: [{ who, after }] }], verdict }`. */
  acts = [];
  /** When a client was last shown that a user went offline. */
  #lastLeft = -Infinity;

  /**
   * Begins a new act. Later changes are timed from now, except users who go offline after an earlier act that is still
   * watched for this.
   *
   * @param {{ verdict?: boolean, hint?: string, key?: string }} options `verdict`: whether to report in the end if no
   * user seemed to leave; `hint`: what to expect; `key`: identifies an activity that can be continued
   */
  acted(title, { verdict = false, hint, key } = {}) {
    const at = performance.now();
    const act = { title, hint, key, at, rows: [], verdict: verdict ? "watching" : null, isOver: false };
    // Acts without any effect are dropped.
    this.acts = [act, ...this.acts.filter(({ rows, verdict: word }) => rows.length > 0 || word)].slice(0, REMEMBERED);
    if (verdict) setTimeout(() => this.#judge(act), WATCHED_FOR);
    this.#changed();
    return act;
  }

  /** Begins an act, unless the newest has the same key and is not over: then it continues. */
  continued(title, key, hint) {
    const [newest] = this.acts;
    if (newest?.key === key && !newest.isOver) return newest;
    return this.acted(title, { key, hint });
  }

  /** Ends the current activity. Repeating it is a new act. */
  over() { if (this.acts[0]) this.acts[0].isOver = true; }

  /** Ends the activity with this key, because it was undone, perhaps before any client learned of it. */
  withdrawn(key) { if (this.acts[0]?.key === key) this.over(); }

  /** Adds what a client learned. */
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

  /** Returns the act that caused a change. A user going offline belongs to the newest act that is watched for this. */
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
