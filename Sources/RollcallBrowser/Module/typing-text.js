// Who is typing: a line of text, a label for screen readers, and three moving dots.

import { isolated, shownName } from "./display-name.js";
import { fill, formOf, wordsOf } from "./languages.js";

const DOTS = { ellipsis: "…", three: "...", none: "" };

/**
 * Returns the line that people read: `Alice and Bob are typing…`; empty if nobody types.
 *
 * @param {import("./rollcall.js").Typing} typing
 * @param {import("./rollcall.js").TypingTextOptions & { dots?: "ellipsis" | "three" | "none" }} options
 */
export function typingText(typing, { dots = "ellipsis", ...options } = {}) {
  const words = wordsOf(options.language);
  const sentence = typingSentence(typing, words, options, (name) => isolated(name, words));
  if (sentence === "" || dots === "none") return sentence;
  return sentence + words.typing.beforeDots + DOTS[dots];
}

/**
 * Returns the line for a screen reader: without dots, and without the invisible characters that isolate names.
 *
 * @param {import("./rollcall.js").Typing} typing
 * @param {import("./rollcall.js").TypingTextOptions} options
 */
export function typingLabel(typing, options = {}) {
  return typingSentence(typing, wordsOf(options.language), options, (name) => name);
}

/** Decides when a screen reader announces who is typing: when the typists change, not when a name or the order does. */
export class TypingAnnouncer {
  #options;
  #announced = new Set();
  #count = 0;

  /** @param {import("./rollcall.js").TypingTextOptions} options */
  constructor(options = {}) { this.#options = options; }

  /**
   * @param {import("./rollcall.js").Typing} typing
   * @returns {string | null} what to announce; null if the typists are the same as at the last call, empty if nobody
   *   types any more
   */
  announcement(typing) {
    const users = new Set(typing.typists.map(({ user }) => user));
    const isSame = typing.count === this.#count && users.size === this.#announced.size
      && [...users].every((user) => this.#announced.has(user));
    if (isSame) return null;
    this.#announced = users;
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
  if (count > shown.length) items.push(othersItem(count, count - shown.length, names, words, maximumNames));
  return fill(formOf(words, words.typing.list, count), { list: joined(items, words) });
}

/** The last item of a list: `someone else` if only one typist has no name, otherwise a number of others. */
function othersItem(count, others, names, words, maximumNames) {
  const isUnnamed = count - names.length === 1 && count <= maximumNames;
  const text = isUnnamed
    ? words.typing.someoneElse
    : fill(formOf(words, words.typing.others, others), { count: others });
  return { name: text, text };
}

/** The names of the typists who have one, in the order that the options ask for. */
function namesOf(typists, words, { name = (user) => undefined, order = "beginning", longestName = 40 }) {
  const names = typists.flatMap((typist) =>
    shownName(name(typist.user), longestName) ?? shownName(typist.name, longestName) ?? []);
  if (order === "beginning") return names;
  const collator = new Intl.Collator(words.id, { numeric: true });
  // Names that the language treats as equal still need a fixed order, so that they never change places.
  return names.sort((left, right) => collator.compare(left, right) || (left < right ? -1 : 1));
}

/**
 * Joins the items with the words' own patterns, which are those of CLDR. It does not use `Intl.ListFormat` because
 * browsers have different versions of CLDR, and because that does not see the first letter of a name behind an isolate.
 */
function joined(items, { list }) {
  const [first, ...rest] = items;
  return rest.reduce((text, item, index) => {
    const isLast = index === rest.length - 1;
    if (!isLast) return text + list.middle + item.text;
    const usual = rest.length === 1 ? list.pair : list.last;
    return text + (changesWord(item.name, list.before) ? list.before.use : usual) + item.text;
  }, first.text);
}

/** Whether the name changes the word before it, as "Isabel" makes "e" of the Spanish "y". */
function changesWord(name, before) {
  const begins = (start) => name.normalize("NFC").toLowerCase().startsWith(start);
  return before !== undefined && before.starts.some(begins) && !before.except.some(begins);
}

/**
 * Returns the state of three dots that light up in turn beside the text, 0.4 s each: which dot's turn it is, and the
 * three opacities. It depends only on the time, so the code that draws the dots keeps no state.
 *
 * @param {number} elapsed milliseconds since the dots appeared
 * @param {{ reducesMotion?: boolean }} options whether the user asked for less motion: the dots do not move then
 */
export function typingDots(elapsed, { reducesMotion = false } = {}) {
  if (reducesMotion) return { phase: null, opacities: [1, 1, 1] };
  const turns = Math.max(0, elapsed / 400);
  const phase = Math.floor(turns % 3);
  const part = turns % 1;
  const light = 0.3 + 0.7 * 4 * part * (1 - part);
  return { phase, opacities: [0, 1, 2].map((dot) => dot === phase ? light : 0.3) };
}
