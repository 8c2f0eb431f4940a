// The users and conversations. Rollcall identifies users by id; names and colours belong to the app.

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

/** The users whom the page controls. Visitors control the others. */
export const BOTS = ["chloe", "deniz", "emil", "fatima", "gal", "haruka"];

export const CONVERSATIONS = {
  direct: { id: "c42", members: ["alice", "bob"] },
  group: { id: "lake", title: "Saturday at the lake", members: Object.keys(PEOPLE) },
};

const graphemes = new Intl.Segmenter();

export function nameOf(user) { return personOf(user)?.name ?? user; }

/** The first grapheme cluster of a name. */
export function initialOf(name) { return [...graphemes.segment(name)][0]?.segment.toUpperCase() ?? ""; }

/** The colour of a user. */
export function hueOf(user) { return personOf(user)?.hue ?? 0; }

/** Returns a user's entry. Any user may connect, also with the name of a property that every object has. */
function personOf(user) { return Object.hasOwn(PEOPLE, user) ? PEOPLE[user] : undefined; }
