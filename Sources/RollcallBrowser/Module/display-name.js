// Names of people, made safe to show in one line of text.

import { utf8Length } from "./units.js";

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The most bytes for each allowed character: enough for any script, and for families of emoji. */
const BYTES_PER_CHARACTER = 32;

/**
 * Returns a name in one line, without characters that control the text around it, and shortened to `longest` characters.
 * Null if nothing visible is left: the name then counts as unknown.
 */
export function shownName(name, longest) {
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
export function isolated(name, words) {
  return words.direction === "rtl" || RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}
