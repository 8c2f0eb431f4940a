// What an app writes beside a user: last seen, online, and how many of a group are online.

import { fill, formOf, wordsOf } from "./languages.js";
import { DAY, HOUR, MINUTE } from "./units.js";

/**
 * Says when a user was last seen; empty for a user who is unknown or was never seen. `discreet`, the default,
 * protects privacy with vague texts: `Active now`, `3m ago`, `Active recently`, `Last seen today`. `exact` gives
 * `Last seen 3 minutes ago`.
 *
 * @param {import("./rollcall.js").Presence | undefined} presence
 * @param {number} now the client's `now`
 * @param {import("./rollcall.js").LastSeenOptions} options
 */
export function lastSeenText(presence, now, { language, style = "discreet" } = {}) {
  const { lastSeen: words, id } = wordsOf(language);
  if (!presence) return "";
  if (presence.status !== "offline") return words.now;
  if (presence.lastSeen === null) return "";
  const age = now - presence.lastSeen;
  const counted = (forms, unit) => {
    const count = Math.floor(age / unit);
    return fill(formOf({ id }, forms, count), { count });
  };
  if (age < MINUTE) return words.now;
  if (style === "exact") {
    if (age < HOUR) return counted(words.minutesAgo, MINUTE);
    return age < DAY ? counted(words.hoursAgo, HOUR) : counted(words.daysAgo, DAY);
  }
  if (age < 5 * MINUTE) return counted(words.minutes, MINUTE);
  if (age < HOUR) return words.recently;
  return age < DAY ? words.today : words.earlier;
}

/** When `lastSeenText` changes with time: at each multiple of the first number, up to the second. */
const LAST_SEEN_STEPS = {
  discreet: [[MINUTE, 5 * MINUTE], [HOUR, HOUR], [DAY, DAY]],
  exact: [[MINUTE, HOUR], [HOUR, DAY], [DAY, Infinity]],
};

/**
 * Returns how many milliseconds `lastSeenText` stays correct if the presence does not change; Infinity if always.
 *
 * @param {import("./rollcall.js").Presence | undefined} presence
 * @param {number} now the client's `now`
 * @param {import("./rollcall.js").LastSeenOptions} options
 */
export function lastSeenValidity(presence, now, { style = "discreet" } = {}) {
  if (presence?.status !== "offline" || presence.lastSeen === null) return Infinity;
  const age = now - presence.lastSeen;
  if (age < MINUTE) return MINUTE - age;
  const step = LAST_SEEN_STEPS[style].find(([, until]) => age < until);
  return step ? step[0] - age % step[0] : Infinity;
}

/**
 * Returns what the dot's colour means, for people who cannot see it: `Online`, `Away`, `Offline`; empty for an unknown
 * user.
 *
 * @param {import("./rollcall.js").Presence | undefined} presence
 * @param {{ language?: string | readonly string[] }} options
 */
export function presenceText(presence, { language } = {}) {
  return presence ? wordsOf(language).presence[presence.status] : "";
}

/**
 * Returns the colour role of a user's dot. The app's design chooses the actual colours.
 *
 * @param {import("./rollcall.js").Presence | undefined} presence
 * @returns {"green" | "amber" | "grey" | "none"}
 */
export function presenceDot(presence) {
  switch (presence?.status) {
    case "online": return "green";
    case "away": return "amber";
    case "offline": return "grey";
    default: return "none";
  }
}

/**
 * Returns how many members of a group are online: `3 of 5 online`. A user who is away is not online.
 *
 * @param {Iterable<import("./rollcall.js").Presence | undefined>} presences the known ones
 * @param {number} total the size of the group, including members of unknown presence
 * @param {{ language?: string | readonly string[] }} options
 */
export function groupCount(presences, total, { language } = {}) {
  const words = wordsOf(language);
  const online = [...presences].filter((presence) => presence?.status === "online").length;
  return { online, total, text: fill(formOf(words, words.presence.group, online), { online, total }) };
}
