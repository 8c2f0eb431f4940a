// What an app writes: who is typing, last seen, online, and how many of a group are, in any of the languages.

import { DAY, HOUR, knownKind, MINUTE, utf8Length } from "./messages.js";
import words from "./words.js";

// MARK: Languages

/** @type {Map<string, import("./rollcall.js").LanguageWords>} */
const languagesByTag = new Map();
for (const language of words) languagesByTag.set(language.id, /** @type {any} */ (language));
const pluralRules = new Map();

/**
 * Returns the words of the first of these languages that is available; English if none is. By default, the user's.
 *
 * @param {string | readonly string[]} language
 */
function wordsOf(language = globalThis.navigator?.languages ?? "en") {
  for (const tag of [language].flat()) {
    const words = languagesByTag.get(tag) ?? languagesByTag.get(bestTag(tag));
    if (words) return words;
  }
  return languagesByTag.get("en");
}

/** Returns the available tag for the same language and script: `zh-Hant` for `zh-TW`, `de` for `de-AT`. */
function bestTag(tag) {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return [`${language}-${script}`, language].find((each) => languagesByTag.has(each));
  } catch {
    return undefined;
  }
}

/** Returns the form for a number, by the plural categories of CLDR; `other` if the words do not have that form. */
function formOf({ id }, forms, count) {
  const rules = pluralRules.get(id) ?? new Intl.PluralRules(id);
  pluralRules.set(id, rules);
  return forms[rules.select(count)] ?? forms.other;
}

/** Fills in the `{name}` parts of a pattern. */
function fill(pattern, values) { return pattern.replace(/\{(\w+)\}/g, (_, name) => values[name]); }

export function addLanguage(words) {
  const missing = [...missingFrom(words, languagesByTag.get("en"), "")];
  if (missing.length) throw new RangeError(`the words of ${words?.id ?? "a language"} lack ${missing.join(", ")}`);
  new Intl.Locale(words.id);
  languagesByTag.set(words.id, words);
}

/** Yields the paths of missing words. Of plural forms, only `other` is required. */
function* missingFrom(words, model, path) {
  for (const [key, example] of Object.entries(model)) {
    const word = words?.[key];
    if (key === "one" && "other" in model) continue;
    if (typeof example === "object") yield* missingFrom(word, example, `${path}${key}.`);
    else if (typeof word !== "string") yield `${path}${key}`;
  }
}

export function languages() {
  return [...languagesByTag.values()].map(({ id, name, direction }) => ({ id, name, direction }));
}

// MARK: Names in one line

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The most bytes for each allowed character: enough for any script, and for families of emoji. */
const BYTES_PER_CHARACTER = 32;

/**
 * Returns a name in one line, without characters that control the text around it, and shortened to `longest` characters.
 * Null if nothing visible is left: the name then counts as unknown.
 */
function shownName(name, longest) {
  if (typeof name !== "string") return null;
  const words = name.replace(/\p{Bidi_Control}|(?!\p{White_Space})\p{Cc}/gu, "").split(/\p{White_Space}+/u);
  const clean = words.filter((word) => word !== "").join(" ");
  if (!/[^\p{Default_Ignorable_Code_Point} ]/u.test(clean) || longest < 1) return null;
  const characters = firstCharacters(clean, longest + 1);
  const isShort = (text) => utf8Length(text) <= longest * BYTES_PER_CHARACTER;
  if (characters.length <= longest && isShort(clean)) return clean;
  let kept = "";
  for (const character of characters.slice(0, longest - 1)) {
    if (!isShort(kept + character)) break;
    kept += character;
  }
  return kept.trimEnd() === "" ? null : `${kept.trimEnd()}…`;
}

function firstCharacters(text, count) {
  const characters = [];
  for (const { segment } of graphemes.segment(text)) {
    if (characters.push(segment) === count) break;
  }
  return characters;
}

/** Letters of scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFE\u{10800}-\u{10FFF}\u{1E800}-\u{1EFFF}]/u;

/** Isolates a name, if necessary, so that it and the sentence around it cannot change each other's direction. */
function isolated(name, words) {
  return words.direction === "rtl" || RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

// MARK: Typing

const DOTS = { ellipsis: "…", three: "...", none: "" };

export function typingText(typing, options = {}) {
  const { dots = "ellipsis", language } = options;
  const words = wordsOf(language);
  const sentence = typingSentence(typing, words, options, (name) => isolated(name, words));
  if (sentence === "" || dots === "none") return sentence;
  return sentence + words.typing.beforeDots + DOTS[dots];
}

export function typingLabel(typing, options = {}) {
  return typingSentence(typing, wordsOf(options.language), options, (name) => name);
}

export class TypingAnnouncer {
  #options;
  #announced = new Set();
  #count = 0;
  #kind = "typing";

  constructor(options = {}) { this.#options = options; }

  announcement(typing) {
    const users = new Set(typing.typists.map(({ user }) => user));
    const kind = kindOf(typing);
    const isSame = kind === this.#kind && typing.count === this.#count && users.size === this.#announced.size
      && [...users].every((user) => this.#announced.has(user));
    if (isSame) return null;
    [this.#announced, this.#count, this.#kind] = [users, typing.count, kind];
    return typingLabel(typing, this.#options);
  }
}

/** What all of them do; typing if that differs, or if some are not named. */
function kindOf({ typists, count }) {
  const kinds = new Set(typists.map(({ kind }) => knownKind(kind)));
  return kinds.size === 1 && count <= typists.length ? [...kinds][0] : "typing";
}

function typingSentence(typing, words, options, isolate) {
  const { maximumNames = 3, severalFrom = Infinity } = options;
  const count = Math.max(typing.count, typing.typists.length);
  if (count === 0) return "";
  const kind = kindOf(typing);
  const sentence = (pattern, values) => fill(pattern, {
    verb: words.typing.verb[kind], verbs: words.typing.verbs[kind], ...values,
  });
  if (count >= Math.max(2, severalFrom)) return sentence(words.typing.several);
  const names = namesOf(typing.typists, words, options);
  const shown = names.slice(0, count > maximumNames ? Math.min(2, maximumNames) : maximumNames);
  if (shown.length === 0) {
    return count === 1 ? sentence(words.typing.someone) : sentence(formOf(words, words.typing.people, count), { count });
  }
  const items = shown.map((name) => ({ name, text: fill(words.typing.person, { name: isolate(name) }) }));
  if (count === 1) return sentence(words.typing.one, { name: items[0].text });
  if (count > shown.length) items.push(othersItem(count, count - shown.length, names, words, maximumNames));
  return sentence(formOf(words, words.typing.list, count), { list: joined(items, words) });
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

export function typingDots(elapsed, { interval = 400, count = 3, reducesMotion = false } = {}) {
  const dots = Array.from({ length: Math.max(0, count) }, (_, dot) => dot);
  if (reducesMotion || !(interval > 0) || dots.length === 0) return { phase: null, opacities: dots.map(() => 1) };
  const turns = Math.max(0, elapsed / interval);
  const phase = Math.floor(turns % dots.length);
  const part = turns % 1;
  const light = 0.3 + 0.7 * 4 * part * (1 - part);
  return { phase, opacities: dots.map((dot) => dot === phase ? light : 0.3) };
}

// MARK: Presence

export function lastSeenText(presence, now, { language = undefined, style = "discreet" } = {}) {
  const { lastSeen: words, presence: statuses, id } = wordsOf(language);
  if (!presence) return "";
  if (presence.status !== "offline") return presence.status === "away" ? statuses.away : words.now;
  if (presence.lastSeen === null) return "";
  const age = now - presence.lastSeen;
  const counted = (forms, unit) => {
    const count = Math.floor(age / unit);
    return fill(formOf({ id }, forms, count), { count });
  };
  if (age < MINUTE) return words.justNow;
  if (style === "exact") {
    if (age < HOUR) return counted(words.minutesAgo, MINUTE);
    return age < DAY ? counted(words.hoursAgo, HOUR) : counted(words.daysAgo, DAY);
  }
  if (age < 5 * MINUTE) return counted(words.minutes, MINUTE);
  if (age < HOUR) return words.recently;
  if (age >= DAY) return words.earlier;
  return presence.lastSeen >= midnight(now, 0) ? words.today : words.yesterday;
}

/** The reader's midnight, so many days after the one before `now`. */
function midnight(now, days) { return new Date(now).setHours(24 * days, 0, 0, 0); }

/** When `lastSeenText` changes with time: at each multiple of the first number, up to the second. */
const LAST_SEEN_STEPS = {
  discreet: [[MINUTE, 5 * MINUTE], [HOUR, HOUR], [DAY, DAY]],
  exact: [[MINUTE, HOUR], [HOUR, DAY], [DAY, Infinity]],
};

export function lastSeenValidity(presence, now, { style = "discreet" } = {}) {
  if (presence?.status !== "offline" || presence.lastSeen === null) return Infinity;
  const age = now - presence.lastSeen;
  if (age < MINUTE) return MINUTE - age;
  const step = LAST_SEEN_STEPS[style].find(([, until]) => age < until);
  if (!step) return Infinity;
  const left = step[0] - age % step[0];
  // "Today" ends at midnight, at the latest.
  const isToday = style === "discreet" && step[0] === DAY && presence.lastSeen >= midnight(now, 0);
  return isToday ? Math.min(left, midnight(now, 1) - now) : left;
}

export function presenceText(presence, { language = undefined } = {}) {
  return presence ? wordsOf(language).presence[presence.status] : "";
}

export function presenceDot(presence) {
  switch (presence?.status) {
    case "online": return "green";
    case "away": return "amber";
    case "offline": return presence.lastSeen === null ? "none" : "grey";
    default: return "none";
  }
}

export function groupCount(presences, total, { language = undefined, listed = total } = {}) {
  const words = wordsOf(language);
  const online = [...presences].filter((presence) => presence?.status === "online").length;
  const count = listed < total ? `${online}+` : online;
  return { online, total, text: fill(formOf(words, words.presence.group, online), { online: count, total }) };
}
