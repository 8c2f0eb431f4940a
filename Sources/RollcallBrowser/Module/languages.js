// The available languages: the choice of one, its plural forms, and its patterns.

import words from "./words.json" with { type: "json" };

/** @type {Map<string, import("./rollcall.js").LanguageWords>} */
const languagesByTag = new Map();
for (const language of words) languagesByTag.set(language.id, /** @type {any} */ (language));
const pluralRules = new Map();

/**
 * Returns the words of the first of these languages that is available; English if none is.
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
export function formOf({ id }, forms, count) {
  const rules = pluralRules.get(id) ?? new Intl.PluralRules(id);
  pluralRules.set(id, rules);
  return forms[rules.select(count)] ?? forms.other;
}

/** Fills in the `{name}` parts of a pattern. */
export function fill(pattern, values) { return pattern.replace(/\{(\w+)\}/g, (_, name) => values[name]); }

/**
 * Adds a language, or replaces one.
 *
 * @param {import("./rollcall.js").LanguageWords} words
 * @throws {RangeError} which lists everything that is missing
 */
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

/** Returns the available languages, in the order in which an app offers them: `{ id, name, direction }`. */
export function languages() {
  return [...languagesByTag.values()].map(({ id, name, direction }) => ({ id, name, direction }));
}
