import { isolated, shownName } from "./display-name.js";
import { fill, formOf, wordsOf } from "./languages.js";

const DOTS = { ellipsis: "…", three: "...", none: "" };

/**
 * The line that people read: `Alice and Bob are typing…`; empty if nobody types.
 *
 * @param {import("../Module/rollcall.js").Typing} typing
 * @param {import("../Module/rollcall.js").TypingTextOptions & { dots?: "ellipsis" | "three" | "none" }} options
 */
export function typingText(typing, { dots = "ellipsis", ...options } = {}) {
  const words = wordsOf(options.language);
  const sentence = typingSentence(typing, words, options, (name) => isolated(name, words));
  if (sentence === "" || dots === "none") return sentence;
  return sentence + words.typing.beforeDots + DOTS[dots];
}

/**
 * The line for a screen reader: without dots, and without the invisible characters that keep names apart.
 *
 * @param {import("../Module/rollcall.js").Typing} typing
 * @param {import("../Module/rollcall.js").TypingTextOptions} options
 */
export function typingLabel(typing, options = {}) {
  return typingSentence(typing, wordsOf(options.language), options, (name) => name);
}

/** Decides when to tell a screen reader who is typing: when others type, and not on every dot, name or reordering. */
export class TypingAnnouncer {
  #options;
  #told = new Set();
  #count = 0;

  /** @param {import("../Module/rollcall.js").TypingTextOptions} options */
  constructor(options = {}) { this.#options = options; }

  /**
   * @param {import("../Module/rollcall.js").Typing} typing
   * @returns {string | null} what to announce, if those who type are others than at the last call; empty when nobody
   *   is left
   */
  announcement(typing) {
    const users = new Set(typing.typists.map(({ user }) => user));
    const isSame = typing.count === this.#count && users.size === this.#told.size
      && [...users].every((user) => this.#told.has(user));
    if (isSame) return null;
    this.#told = users;
    this.#count = typing.count;
    return typingLabel(typing, this.#options);
  }
}

function typingSentence(typing, words, options, isolate) {
  const { maximumNames = 3, severalFrom = Infinity } = options;
  const count = Math.max(typing.count, typing.typists.length);
  if (count === 0) return "";
  if (count >= Math.max(2, severalFrom)) return words.typing.several;
  const names = namesOf(typing.typists, words, options);
  const shown = names.slice(0, count > maximumNames ? Math.min(2, maximumNames) : maximumNames);
  if (shown.length === 0) {
    return count === 1 ? words.typing.someone : fill(formOf(words, words.typing.people, count), { count });
  }
  const items = shown.map((name) => ({ name, text: fill(words.typing.person, { name: isolate(name) }) }));
  if (count === 1) return fill(words.typing.one, { name: items[0].text });
  if (count > shown.length) items.push(theOthers(count, count - shown.length, names, words, maximumNames));
  return fill(formOf(words, words.typing.list, count), { list: listed(items, words) });
}

/** The last of a list. One without a name among known ones can be told as such; more are told as a number. */
function theOthers(count, others, names, words, maximumNames) {
  const isUnnamed = count - names.length === 1 && count <= maximumNames;
  const text = isUnnamed
    ? words.typing.someoneElse
    : fill(formOf(words, words.typing.others, others), { count: others });
  return { name: text, text };
}

/** The names of those who have one, in the order asked for. */
function namesOf(typists, words, { name = (user) => undefined, order = "beginning", longestName = 40 }) {
  const names = typists.flatMap((typist) =>
    shownName(name(typist.user), longestName) ?? shownName(typist.name, longestName) ?? []);
  if (order === "beginning") return names;
  const collator = new Intl.Collator(words.id, { numeric: true });
  // Two names that the language does not tell apart still have one order, so that they never swap places.
  return names.sort((left, right) => collator.compare(left, right) || (left < right ? -1 : 1));
}

/**
 * The items as a list. By the words' own patterns, which are CLDR's, and not by `Intl.ListFormat`: browsers bring
 * different versions of CLDR, and none looks behind an isolate to see with which letter a name begins.
 */
function listed(items, { list }) {
  const [first, ...rest] = items;
  return rest.reduce((text, item, index) => {
    const isLast = index === rest.length - 1;
    if (!isLast) return text + list.middle + item.text;
    const usual = rest.length === 1 ? list.pair : list.last;
    return text + (isBefore(item.name, list.before) ? list.before.use : usual) + item.text;
  }, first.text);
}

function isBefore(name, before) {
  const begins = (start) => name.normalize("NFC").toLowerCase().startsWith(start);
  return before !== undefined && before.starts.some(begins) && !before.except.some(begins);
}

/**
 * Three dots that swell in turn beside the text, 0.4 s each: whose turn it is, and the three opacities. A value of the
 * time, so that whatever draws it keeps no state.
 *
 * @param {number} elapsed milliseconds since the dots appeared
 * @param {{ reducesMotion?: boolean }} options whether the person asked for less motion: the dots are then still
 */
export function typingDots(elapsed, { reducesMotion = false } = {}) {
  if (reducesMotion) return { phase: null, opacities: [1, 1, 1] };
  const turns = Math.max(0, elapsed / 400);
  const phase = Math.floor(turns % 3);
  const part = turns % 1;
  const swell = 0.3 + 0.7 * 4 * part * (1 - part);
  return { phase, opacities: [0, 1, 2].map((dot) => dot === phase ? swell : 0.3) };
}
