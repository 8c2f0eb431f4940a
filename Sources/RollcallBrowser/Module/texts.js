// What an app writes: who is typing, last seen, online, and how many of a group are, in any of the languages.

import { DAY, HOUR, isObject, knownKind, MINUTE, SECOND, steadyNow, utf8Length } from "./messages.js";
import { isEqual, Updates } from "./updates.js";
import words from "./words.js";

const LONGEST_TIMER = 2 ** 31 - 1;
const WEEK = 7 * DAY;
const MONTH = 30 * DAY;

// MARK: Languages

/** @type {Map<string, import("./rollcall.js").LanguageWords>} */
const languagesByTag = new Map();
for (const language of words) languagesByTag.set(language.id, /** @type {any} */ (language));
const pluralRules = new Map();

/** The page's language, so that a page is in one language; those of its reader if it says none. */
function usualLanguages() {
  const { document, navigator } = globalThis;
  return document?.documentElement?.lang || (navigator?.languages ?? [navigator?.language]);
}

/**
 * Returns the words of the first of these languages that is available; English if none is. By default, the page's.
 *
 * @param {string | readonly string[]} [language]
 */
function wordsOf(language = usualLanguages()) {
  for (const tag of [language].flat().filter((each) => each)) {
    const words = languagesByTag.get(tag) ?? languagesByTag.get(bestTag(tag));
    if (words) return words;
  }
  return languagesByTag.get("en");
}

/** Returns the available tag for the same language and script: `zh-Hant` for `zh-TW`, `de` for `de-AT`. */
function bestTag(given) {
  // As systems write it: EN_us.
  const tag = given.replaceAll("_", "-");
  try {
    const { language, script } = globalThis.Intl?.Locale ? new Intl.Locale(tag).maximize() : guessed(tag);
    return [`${language}-${script}`, language].find((each) => languagesByTag.has(each));
  } catch {
    return undefined;
  }
}

/** Without `Intl.Locale`. Only Chinese is written in two scripts. */
function guessed(tag) {
  return { language: tag.split("-")[0].toLowerCase(), script: /-(Hant|TW|HK|MO)\b/i.test(tag) ? "Hant" : "Hans" };
}

/**
 * Returns the form for a number, by the plural categories of CLDR; `other` if the words do not have that form. Without
 * `Intl.PluralRules`, by those of English.
 */
function formOf({ id }, forms, count) {
  const select = (number) => number === 1 ? "one" : "other";
  const rules = pluralRules.get(id) ?? (globalThis.Intl?.PluralRules ? new Intl.PluralRules(id) : { select });
  pluralRules.set(id, rules);
  return forms[rules.select(count)] ?? forms.other;
}

/** Fills in the `{name}` parts of a pattern. */
function fill(pattern, values) { return pattern.replace(/\{(\w+)\}/g, (_, name) => values[name]); }

export function addLanguage(words) {
  const problems = [...problemsOf(words, languagesByTag.get("en"), "")];
  if (!/^[a-z]{2,3}(-[a-z\d]{1,8})*$/i.test(words?.id)) problems.push("id is no language tag");
  if (problems.length) throw new RangeError(`the words of ${words?.id ?? "a language"} cannot be used: ${problems.join("; ")}`);
  languagesByTag.set(words.id, words);
}

export function changeWords(language, words) {
  const known = languagesByTag.get(language);
  if (!known) throw new RangeError(`there is no language ${language}: add it with addLanguage`);
  addLanguage({ ...merged(known, words), id: language });
}

/** A copy of an object with some of its values replaced, at any depth. */
function merged(known, changes) {
  const replaced = Object.entries(changes).map(([key, value]) => (
    [key, isObject(value) && isObject(known[key]) ? merged(known[key], value) : value]));
  return { ...known, ...Object.fromEntries(replaced) };
}

/**
 * Yields what is missing, and the placeholders that are missing or that nothing fills; Swift's `Language.problems` has the same
 * rules. Of plural forms, only `other` is required and must have each placeholder.
 */
function* problemsOf(words, model, path) {
  for (const key of new Set([...Object.keys(model), ..."other" in model ? Object.keys(Object(words)) : []])) {
    const [word, example, name] = [words?.[key], model[key] ?? model.other, `${path}${key}`];
    if (word === undefined && key === "one" && "other" in model) continue;
    if (typeof example === "object") yield* problemsOf(word, example, `${name}.`);
    else if (typeof word !== "string") yield `${name} is missing`;
    else {
      // What separates may be anything, a sentence need not have a verb of its own, and a form for one number not the number.
      const [has, needs] = [word, example].map((text) => new Set(text.match(/\{[^}]*\}?/g)));
      const isOneNumber = "other" in model && key !== "other";
      const isFree = (each) => each === "{verb}" || each === "{verbs}";
      for (const each of needs) if (!has.has(each) && !isFree(each) && !isOneNumber) yield `${name} lacks ${each}`;
      const isSentence = path.startsWith("typing.") && (isFree([...needs].find(isFree)));
      for (const each of has) if (!needs.has(each) && !(isSentence && isFree(each))) yield `${name} has ${each}, which nothing fills`;
      if (word === "" && example !== "") yield `${name} is empty`;
    }
  }
}

export function languages() {
  return [...languagesByTag.values()].map(({ id, name, direction }) => ({ id, name, direction }));
}

// MARK: Names in one line

/** Splits a text into what people take for characters; made when it is needed. */
let graphemes;

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

/** Without `Intl.Segmenter`, letters with their accents. */
function firstCharacters(text, count) {
  if (!globalThis.Intl?.Segmenter) return (text.match(/.\p{M}*/gsu) ?? []).slice(0, count);
  graphemes ??= new Intl.Segmenter("en", { granularity: "grapheme" });
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
  const sentence = sentenceOf(typing, kindOf(typing), words, options, (name) => isolated(name, words));
  if (sentence === "" || dots === "none") return sentence;
  return sentence + words.typing.beforeDots + DOTS[dots];
}

export function typingLabel(typing, options = {}) {
  return sentenceOf(typing, kindOf(typing), wordsOf(options.language), options, (name) => name);
}

export class TypingAnnouncer {
  /** For how long the same people are not announced again. */
  static #PAUSE = 5 * SECOND;

  #options;
  #latest = "";
  /** When each label was announced last. */
  #announced = new Map();

  constructor(options = {}) { this.#options = options; }

  announcement(typing, options = this.#options) {
    const [label, now] = [typingLabel(typing, options), steadyNow()];
    if (label === this.#latest) return null;
    this.#latest = label;
    for (const [known, at] of this.#announced) if (now >= at + TypingAnnouncer.#PAUSE) this.#announced.delete(known);
    if (this.#announced.has(label)) return null;
    if (label !== "") this.#announced.set(label, now);
    return label;
  }
}

/** What all of them do; typing if that differs, or if some are not named. */
function kindOf({ typists, count }) {
  const kinds = new Set(typists.map(({ kind }) => knownKind(kind)));
  return kinds.size === 1 && count <= typists.length ? [...kinds][0] : "typing";
}

/** @param kind what they do, as the words know it */
function sentenceOf(typing, kind, words, options, isolate) {
  const { maximumNames = 3, severalFrom = Infinity } = options;
  const count = Math.max(typing.count, typing.typists.length);
  if (count === 0) return "";
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
  const collator = globalThis.Intl?.Collator ? new Intl.Collator(words.id, { numeric: true }) : { compare: () => 0 };
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

// MARK: Who is here

export function hereText(here, options = {}) {
  const words = wordsOf(options.language);
  return hereSentence(here, words, options, (name) => isolated(name, words));
}

export function hereLabel(here, options = {}) { return hereSentence(here, wordsOf(options.language), options, (name) => name); }

function hereSentence({ others, otherCount }, words, options, isolate) {
  return sentenceOf({ typists: others, count: otherCount }, "here", words, options, isolate);
}

// MARK: Dots

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
  if (presence.status !== "offline") {
    return availabilityText(presence, now, { language }) || (presence.status === "away" ? statuses.away : words.now);
  }
  if (presence.lastSeen === null) return isTimeless(presence) ? statuses.offline : "";
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
  if (age >= DAY) return age < WEEK ? words.week : age < MONTH ? words.month : words.longAgo;
  return presence.lastSeen >= midnight(now, 0) ? words.today : words.yesterday;
}

/** Whether somebody is offline, was seen, and does not say when. */
const isTimeless = ({ status, lastSeen, version }) => status === "offline" && lastSeen === null && version > 0;

export function availabilityText({ availability, until }, now, { language = undefined } = {}) {
  const { id, presence: words } = wordsOf(language);
  if (!["busy", "dnd"].includes(availability) || until <= now) return "";
  return until === undefined ? words[availability] : fill(words.until, { status: words[availability], time: clock(until, now, id) });
}

/** The reader's own clock of 12 or 24 hours, in the language; with the day if that is not today. */
function clock(time, now, language) {
  if (!globalThis.Intl?.DateTimeFormat) return new Date(time).toTimeString().slice(0, 5);
  const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: "numeric" }).resolvedOptions();
  const day = time >= midnight(now, 1) ? { day: "numeric", month: "short" } : {};
  return new Intl.DateTimeFormat(language, /** @type {any} */ ({ ...day, hour: "numeric", minute: "2-digit", hourCycle, numberingSystem: "latn" })).format(time);
}

/** The reader's midnight, so many days after the one before `now`. */
function midnight(now, days) { return new Date(now).setHours(24 * days, 0, 0, 0); }

/** When `lastSeenText` changes with time: at each multiple of the first number, up to the second. */
const LAST_SEEN_STEPS = {
  discreet: [[MINUTE, 5 * MINUTE], [HOUR, HOUR], [DAY, DAY], [WEEK, WEEK], [MONTH, MONTH]],
  exact: [[MINUTE, HOUR], [HOUR, DAY], [DAY, Infinity]],
};

export function lastSeenValidity(presence, now, { style = "discreet" } = {}) {
  if (presence?.until > now && presence.status !== "offline") return Math.min(presence.until, midnight(now, 1)) - now;
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
    case "offline": return presence.lastSeen === null && !isTimeless(presence) ? "none" : "grey";
    default: return "none";
  }
}

/** How a presence is shown: in words, as a dot, and what the dot means. */
export function shownPresence(presence, now, options) {
  const dot = presenceDot(presence);
  return { presence, text: lastSeenText(presence, now, options), dot, label: dot === "none" ? "" : presenceText(presence, options) };
}

export function presenceView(client, users, { signal = undefined, in: conversation = undefined, ...given } = {}) {
  const isOne = typeof users === "string";
  const presences = client.presence(isOne ? [users] : users, { in: conversation });
  const options = /** @type {any} */ ({ language: client.language, ...given });
  let views = new Map();
  // A view that stays the same is the same object.
  const look = (known) => {
    const isStale = client.isStale.latest;
    views = new Map([...new Set(isOne ? [users] : users)].map((user) => {
      const view = shownPresence(isStale ? undefined : known.get(user), client.now, options);
      return [user, isEqual(view, views.get(user)) ? views.get(user) : view];
    }));
    return isOne ? views.get(users) : views;
  };
  return new Updates((receive, finish) => {
    let [known, timer] = [new Map(), undefined];
    const show = () => {
      clearTimeout(timer);
      receive(look(known));
      const validity = Math.min(...[...views.values()].map(({ presence }) => lastSeenValidity(presence, client.now, options)));
      if (validity < Infinity) timer = setTimeout(show, Math.min(validity, LONGEST_TIMER));
    };
    const endings = [client.isStale.subscribe(show), Updates.observe(presences, (latest) => {
      known = latest;
      show();
    }, () => end())];
    const end = () => {
      clearTimeout(timer);
      for (const each of endings.splice(0)) each();
      finish();
    };
    return end;
  }, () => look(presences.latest), signal);
}

export function connectionText({ status, error }, { language = undefined } = {}) {
  const words = wordsOf(language).connection;
  if (status === "connecting" || status === "waiting") return words.connecting;
  if (status !== "failed") return "";
  return error.code === "bad_token" || error.code === "token_expired" ? words.signedOut : words.failed;
}

export function groupCount(presences, total, { language = undefined, listed = total } = {}) {
  const words = wordsOf(language);
  const online = [...presences].filter((presence) => presence?.status === "online").length;
  const count = listed < total ? `${online}+` : online;
  return { online, total, text: fill(formOf(words, words.presence.group, online), { online: count, total }) };
}
