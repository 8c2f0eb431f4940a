// Who takes part, and in what. Rollcall knows people by their identifiers; names and colours are the app's.

const PEOPLE = {
  alice: { name: "Alice", hue: 285 },
  bob: { name: "Bob", hue: 250 },
  chloe: { name: "Chloé", hue: 350 },
  deniz: { name: "Deniz", hue: 145 },
  emil: { name: "Emil", hue: 60 },
  fatima: { name: "فاطمة", hue: 195 },
  gal: { name: "גל", hue: 25 },
  haruka: { name: "陽香", hue: 320 },
};

/** Those who are played by the page; the others are in the visitor's hands. */
export const BOTS = ["chloe", "deniz", "emil", "fatima", "gal", "haruka"];

export const CONVERSATIONS = {
  direct: { id: "c42", members: ["alice", "bob"] },
  group: { id: "lake", title: "Saturday at the lake", members: Object.keys(PEOPLE) },
};

const graphemes = new Intl.Segmenter();

export function nameOf(user) { return personOf(user)?.name ?? user; }

/** The first character of a name, as a reader counts characters. */
export function initialOf(name) { return [...graphemes.segment(name)][0]?.segment.toUpperCase() ?? ""; }

/** A colour of a person's own. */
export function hueOf(user) { return personOf(user)?.hue ?? 0; }

/** Anybody may connect, under the name of whatever every object has. */
function personOf(user) { return Object.hasOwn(PEOPLE, user) ? PEOPLE[user] : undefined; }
