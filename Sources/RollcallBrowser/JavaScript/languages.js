import { WORDS } from "./words.js";

const languagesByTag = new Map(WORDS.map((words) => [words.id, words]));

const pluralRules = new Map();

/**
 * The words of the language that fits best.
 *
 * @param {string | readonly string[]} language
 */
export function wordsOf(language = "en") {
  for (const tag of [language].flat()) {
    const words = languagesByTag.get(tag) ?? languagesByTag.get(bestTag(tag));
    if (words) return words;
  }
  return languagesByTag.get("en");
}

/** `zh-TW` is written as `zh-Hant` is, `de-AT` as `de`. */
function bestTag(tag) {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return [`${language}-${script}`, language].find((each) => languagesByTag.has(each));
  } catch {
    return undefined;
  }
}

/** The form for a number, by CLDR's plural categories; one that a language leaves out reads as `other`. */
export function formOf({ id }, forms, count) {
  const rules = pluralRules.get(id) ?? new Intl.PluralRules(id);
  pluralRules.set(id, rules);
  return forms[rules.select(count)] ?? forms.other;
}

export function fill(pattern, values) { return pattern.replace(/\{(\w+)\}/g, (_, name) => values[name]); }

/**
 * Adds a language, or replaces one, from now on. Its words are of the same form as those below.
 *
 * @param {import("../Module/rollcall.js").LanguageWords} words
 * @throws {RangeError} with everything that is missing
 */
export function addLanguage(words) {
  const missing = [...missingFrom(words, languagesByTag.get("en"), "")];
  if (missing.length) throw new RangeError(`the words of ${words?.id ?? "a language"} lack ${missing.join(", ")}`);
  new Intl.Locale(words.id);
  languagesByTag.set(words.id, words);
}

/** Of what depends on a number, only `other` must be there. */
function* missingFrom(words, model, path) {
  for (const [key, example] of Object.entries(model)) {
    const word = words?.[key];
    if (key === "one" && "other" in model) continue;
    if (typeof example === "object") yield* missingFrom(word, example, `${path}${key}.`);
    else if (typeof word !== "string") yield `${path}${key}`;
  }
}

/** The languages there are, in the order in which they are offered: `{ id, name, direction }`. */
export function languages() {
  return [...languagesByTag.values()].map(({ id, name, direction }) => ({ id, name, direction }));
}
