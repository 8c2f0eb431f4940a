// The texts that people read, in English.

const segments = new Intl.Segmenter("en", { granularity: "grapheme" });

/** A name as it may stand in a sentence, cut at `longest` characters as a reader counts them; null if there is none. */
function shortened(name, longest) {
  const trimmed = name?.trim();
  if (!trimmed) return null;
  const characters = [...segments.segment(trimmed)];
  if (characters.length <= longest) return trimmed;
  return characters.slice(0, longest - 1).map(({ segment }) => segment).join("") + "…";
}

/**
 * The line that people read: `Alice and Bob are typing…`. Empty if nobody types.
 *
 * @param {{ user: string, name?: string }[]} users those who are named, in their order
 * @param {object} [options]
 * @param {number} [options.count] how many type in all
 * @param {(user: string) => string | null} [options.name] the app's own names, asked first
 * @param {number} [options.most] with more typists than this, two are named and the rest counted
 * @param {number} [options.several] from this many on: `Several people are typing…`
 * @param {string} [options.dots]
 * @param {number} [options.longest] characters of a name
 */
export function typingText(users, options = {}) {
  const { count = users.length, name = () => null, most = 3, several = Infinity, dots = "…", longest = 40 } = options;
  if (count === 0) return "";
  const says = (people, one) => `${people} ${one ? "is" : "are"} typing${dots}`;
  if (count >= several) return says("Several people", false);
  const names = users.map(({ user, name: own }) => shortened(name(user), longest) ?? shortened(own, longest));
  const known = names.filter((each) => each !== null);
  const unnamed = count - known.length;
  // One unknown person among known ones can still be told as such; more are told as a number.
  if (unnamed === 1 && count > 1) known.push("Someone");
  const shown = known.slice(0, count > most ? Math.min(2, most) : most);
  if (shown.length === 0) return count === 1 ? says("Someone", true) : says(`${count} people`, false);
  const others = count - shown.length;
  if (others > 0) shown.push(others === 1 ? "1 other" : `${others} others`);
  return says(listed(shown), count === 1);
}

function listed(words) {
  if (words.length < 3) return words.join(" and ");
  return `${words.slice(0, -1).join(", ")}, and ${words.at(-1)}`;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const relative = new Intl.RelativeTimeFormat("en");

/**
 * When someone was last here; empty for a user never seen. Private by being vague, unless `exact` is asked for.
 *
 * @param {number} now the client's `now`, not this device's clock
 */
export function lastSeenText(presence, now, { exact = false } = {}) {
  if (presence.status !== "offline") return "Active now";
  if (presence.last_seen === null) return "";
  const ago = Math.max(0, now - presence.last_seen);
  return exact ? exactly(ago) : vaguely(ago);
}

function vaguely(ago) {
  if (ago < MINUTE) return "Active now";
  if (ago < 5 * MINUTE) return `${Math.floor(ago / MINUTE)}m ago`;
  if (ago < HOUR) return "Active recently";
  if (ago < DAY) return "Last seen today";
  return "Last seen recently";
}

function exactly(ago) {
  if (ago < MINUTE) return relative.format(-Math.floor(ago / SECOND), "second");
  if (ago < HOUR) return relative.format(-Math.floor(ago / MINUTE), "minute");
  if (ago < DAY) return relative.format(-Math.floor(ago / HOUR), "hour");
  return relative.format(-Math.floor(ago / DAY), "day");
}
