import { Alarm } from "./alarm.js";
import { Backoff } from "./backoff.js";
import { MINUTE, SECOND } from "./units.js";
import { takenFrom } from "./wanted.js";

/**
 * The app's names for people: asked once for each, remembered, and shown as soon as they are known. Names that are on
 * show are never forgotten, so that no number of them makes the book ask for the same names again and again.
 */
export class NameBook {
  /** When there are more names, those that nobody shows are forgotten, and asked again as they are needed. */
  static CAPACITY = 4096;
  /** How many are asked for at once; the next comes when one is answered, or takes too long. */
  static CONCURRENCY = 8;
  /** How long names that come one by one are gathered: each telling costs as much as all that is shown. */
  static GATHERING_TIME = 100;
  /** The ceilings of the first pause and of every pause before a name that the app failed to give is asked for again. */
  static FIRST_PAUSE = SECOND;
  static LONGEST_PAUSE = 5 * MINUTE;

  #resolve;
  #patience;
  #learnt;
  #shown;
  /** The most names that are known and awaited before the next clearing. */
  #capacity = NameBook.CAPACITY;
  #known = new Map();
  /** Those for whom the app threw or took too long: the pauses for each, when to ask again (null: once it is shown). */
  #failed = new Map();
  #waiting = new Set();
  /** Those whom the app is asked for, the first first, each with the moment from which the answer takes too long. */
  #asking = new Map();
  /** Whose names came, or may be asked for again, since that was told last. */
  #news = new Set();
  #toldAt = -Infinity;
  #newsAlarm = new Alarm(() => this.#tell());
  #retryAt = Infinity;
  #retryAlarm = new Alarm(() => this.#retry());
  #lateAlarm = new Alarm(() => this.#endLate());

  /**
   * @param patience how long an answer may take before the next name is asked for in its place
   * @param learnt called with the set of users to show again
   * @param shown returns the set of users who are on show
   */
  constructor(resolve, patience, learnt, shown) {
    this.#resolve = resolve;
    this.#patience = patience;
    this.#learnt = learnt;
    this.#shown = shown;
  }

  /** The app's name, if it is known by now; if it is not, `learnt` is called once it is. */
  name(user) {
    const isAnswered = this.#known.has(user) || (this.#failed.get(user)?.retryAt ?? null) !== null;
    if (this.#resolve && !isAnswered && !this.#asking.has(user)) {
      this.#waiting.add(user);
      this.#ask();
    }
    return this.#known.get(user);
  }

  /** Nobody is asked for any more. */
  close() {
    this.#resolve = null;
    this.#waiting.clear();
    this.#asking.clear();
    for (const alarm of [this.#newsAlarm, this.#retryAlarm, this.#lateAlarm]) alarm.set(null);
  }

  #ask() {
    while (this.#waiting.size > 0 && this.#asking.size < NameBook.CONCURRENCY) {
      for (const user of takenFrom(this.#waiting, 1)) this.#askFor(user);
    }
    const [first] = this.#asking.values();
    this.#lateAlarm.set(first?.until ?? null);
  }

  /** A name that the app has at hand is shown at once. */
  #askFor(user) {
    try {
      const answer = this.#resolve(user);
      if (typeof answer?.then !== "function") return this.#answered(user, answer);
      const question = { until: performance.now() + this.#patience };
      this.#asking.set(user, question);
      // A name is good however late it comes; that a late answer is none was noted when it took too long.
      const failed = (error) => { if (this.#asking.get(user) === question) this.#failedFor(user, error); };
      answer.then((name) => this.#answered(user, name), failed).then(() => this.#ask());
    } catch (error) {
      this.#failedFor(user, error);
    }
  }

  /** What takes too long makes room for the next. */
  #endLate() {
    for (const [user, { until }] of this.#asking) {
      if (until > performance.now()) break;
      this.#failedFor(user, new Error("the names callback did not answer in time"));
    }
    this.#ask();
  }

  #answered(user, name) {
    this.#asking.delete(user);
    this.#failed.delete(user);
    this.#known.set(user, name ?? undefined);
    this.#forgetUnshown();
    this.#isNews(user);
  }

  /** What the app throws is told to whoever watches the page's errors. */
  #failedFor(user, error) {
    reportError(error);
    this.#asking.delete(user);
    const { backoff } = this.#failed.get(user)
      ?? { backoff: new Backoff(NameBook.FIRST_PAUSE, NameBook.LONGEST_PAUSE) };
    const retryAt = performance.now() + backoff.failed();
    this.#failed.set(user, { backoff, retryAt });
    this.#forgetUnshown();
    this.#retryBy(retryAt);
  }

  /** The room left doubles with what is on show, so that clearing costs little for each name. */
  #forgetUnshown() {
    if (this.#count <= this.#capacity) return;
    const shown = this.#shown();
    for (const names of [this.#known, this.#failed, this.#waiting]) {
      for (const user of names.keys()) if (!shown.has(user)) names.delete(user);
    }
    this.#capacity = Math.max(NameBook.CAPACITY, 2 * this.#count);
  }

  get #count() { return this.#known.size + this.#failed.size + this.#waiting.size; }

  #isNews(user) {
    if (!this.#resolve) return;
    this.#news.add(user);
    this.#newsAlarm.set(Math.max(performance.now(), this.#toldAt + NameBook.GATHERING_TIME));
  }

  #tell() {
    this.#toldAt = performance.now();
    const news = this.#news;
    this.#news = new Set();
    this.#learnt(news);
  }

  /** At most once a second, however many are due. */
  #retryBy(time) {
    if (!this.#resolve) return;
    this.#retryAt = Math.min(this.#retryAt, Math.max(time, performance.now() + SECOND));
    if (this.#retryAt < Infinity) this.#retryAlarm.set(this.#retryAt);
  }

  /** Those who are due are asked for when they are shown again, which is now for those who are on show. */
  #retry() {
    let next = Infinity;
    for (const [user, failure] of this.#failed) {
      if (failure.retryAt === null) continue;
      if (failure.retryAt > performance.now()) {
        next = Math.min(next, failure.retryAt);
        continue;
      }
      failure.retryAt = null;
      this.#isNews(user);
    }
    this.#retryAt = Infinity;
    this.#retryBy(next);
  }
}
