// The texts: the examples shared with the Swift client, and what only the browser module has.

import {
  RollcallError, TypingAnnouncer, addLanguage, availabilityText, changeWords, connectionText, groupCount, languages, lastSeenText,
  lastSeenValidity, presenceDot, presenceText, typingDots, typingLabel, typingText,
} from "/rollcall.js";
import { equal, ok, throws } from "./world.js";

const golden = async (part) => (await (await fetch("/golden.json")).json())[part];
const typing = (names, count = names.length, kinds = ["typing"]) => ({
  conversation: "c42", count, typists: names.map((name, index) => (
    { user: `u${index}`, kind: kinds[index % kinds.length], ...name !== null && { name } })),
});

/** Checks every case, and reports all that differ. */
async function each(part, check) {
  const cases = await golden(part);
  ok(cases.length > 0, `no cases of ${part}`);
  const wrong = cases.flatMap((one) => {
    try {
      check(one);
      return [];
    } catch (error) {
      return [`${JSON.stringify(one)}${error.message}`];
    }
  });
  ok(wrong.length === 0, `${wrong.length} of ${cases.length}:\n${wrong.join("\n")}`);
  return `${cases.length} cases`;
}

export const stories = {
  "X1, X2, X4, X5: the golden sentences": () => each("typing", ({ typists, count, kinds, text, label, ...options }) => {
    equal(typingText(typing(typists, count, kinds), options), text);
    equal(typingLabel(typing(typists, count, kinds), options), label);
  }),

  "X5, P7: the golden lines of last seen": () => each("lastSeen", ({ language, style, seconds, text }) => {
    // As far from the reader's midnight as the examples need.
    const lastSeen = new Date(2026, 6, 14, 7).getTime();
    equal(lastSeenText({ user: "bob", status: "offline", lastSeen }, lastSeen + seconds * 1_000, { language, style }), text);
  }),

  "P9: the golden counts of groups": () => each("groups", ({ language, online, total, text }) => {
    const presences = Array.from({ length: total }, (_, index) => ({ status: index < online ? "online" : "away" }));
    equal(groupCount(presences, total, { language }), { online, total, text });
  }),

  "P8: the golden words for dots": () => each("presence", ({ language, busy, until, ...words }) => {
    for (const [status, word] of Object.entries(words)) equal(presenceText({ status }, { language }), word);
  }),

  "busy, and not to be disturbed until three": () => each("presence", ({ language, busy, until }) => {
    const [noon, three] = [new Date(2026, 6, 14, 12).getTime(), new Date(2026, 6, 14, 15).getTime()];
    const { hourCycle } = new Intl.DateTimeFormat(undefined, { hour: "numeric" }).resolvedOptions();
    const clock = new Intl.DateTimeFormat(language, { hour: "numeric", minute: "2-digit", hourCycle, numberingSystem: "latn" });
    equal(availabilityText({ availability: "busy" }, noon, { language }), busy);
    equal(availabilityText({ availability: "dnd", until: three }, noon, { language }), until.replace("15:00", clock.format(three)));
    equal(availabilityText({ availability: "dnd", until: three }, three, { language }), "");
    equal(lastSeenText({ status: "away", availability: "busy" }, noon, { language }), busy);
    ok(availabilityText({ availability: "busy", until: three + 86_400_000 }, noon, { language }).includes("15"), "the day");
  }),

  "who does not say when is offline, with a grey dot": () => {
    const bob = { status: "offline", lastSeen: null, version: 1 };
    equal([lastSeenText(bob, Date.now(), { language: "en" }), presenceDot(bob)], ["Offline", "grey"]);
  },

  "X5: the browser's plural rules are those of the golden cases": () => each("plurals", ({ language, ...categories }) => {
    const rules = new Intl.PluralRules(language);
    for (const [category, numbers] of Object.entries(categories)) {
      for (const number of numbers) equal(rules.select(number), category, `${number}`);
    }
  }),

  "X5: lists are CLDR's, but where the words say otherwise on purpose": () => {
    // Hindi: without the comma of some versions of CLDR. Japanese, Korean: と and 과 between two, as in speech.
    const differing = languages().map(({ id }) => id).filter((id) => {
      const format = new Intl.ListFormat(id, { type: "conjunction" });
      return [["Bo", "Cy"], ["Bo", "Cy", "Dan"]].some((names) => {
        const line = typingLabel(typing(names), { language: id }).replaceAll(/さん|님/g, "");
        return !line.includes(format.format(names));
      });
    });
    equal(differing.filter((id) => id !== "hi"), ["ja", "ko"]);
  },

  "X3: by when they began, or by name in the reader's collation": () => {
    const names = typing(["Zoe", "Ärla", "bob"]);
    equal(typingText(names), "Zoe, Ärla, and bob are typing…");
    equal(typingText(names, { order: "name" }), "Ärla, bob, and Zoe are typing…");
    const same = typing(["a", "A"]);
    equal(typingText(same, { order: "name" }), typingText({ ...same, typists: same.typists.toReversed() }, { order: "name" }));
  },

  "X4: the app's names first, then the typist's own; an empty one counts as none": () => {
    const name = (user) => ({ u0: "Alice", u1: "  " })[user];
    equal(typingText(typing(["A.", "Bob", null]), { name }), "Alice, Bob, and someone else are typing…");
    equal(typingText(typing(["\u200b\u2060"]), {}), "Someone is typing…");
    equal(typingText(typing(["Alice\n  Smith\u202e"])), "Alice Smith is typing…");
    equal(typingText(typing(["\u0001\u200e \u00a0\u2060"])), "Someone is typing…");
    const piled = `A${"\u0301".repeat(5_000)}`;
    equal(typingText(typing([piled])), "Someone is typing…", "accents piled on one letter");
    const family = "👨‍👩‍👧‍👦";
    equal(typingText(typing([family.repeat(50)]), { longestName: 3 }), `${family.repeat(2)}… is typing…`);
  },

  "X5: the best language for a tag, and English for none": () => {
    const of = (language) => typingText(typing(["Alice"]), { language });
    equal(of("de-AT"), of("de"));
    equal(of("zh-TW"), of("zh-Hant"));
    equal(of("zh-CN"), of("zh-Hans"));
    equal(of("zh"), of("zh-Hans"));
    equal(of(["tlh", "pt-BR", "de"]), of("pt"));
    for (const unknown of ["tlh", "no language", "", []]) equal(of(unknown), of("en"));
    equal(of("en"), "Alice is typing…");
  },

  "X5: names are isolated where directions meet, and never in a label": () => {
    equal(typingText(typing(["Alice"]), { language: "he" }).slice(0, 7), "\u2068Alice\u2069");
    equal(typingText(typing(["דנה", "Bob"])), "\u2068דנה\u2069 and Bob are typing…");
    equal(typingLabel(typing(["דנה", "Bob"])), "דנה and Bob are typing");
  },

  "X5: an app can add a language": () => {
    const pattern = "{list} be scribblin'";
    const words = {
      id: "en-x-pirate", name: "Pirate", direction: "ltr", list: { pair: " an' ", middle: ", ", last: " an' " },
      typing: {
        verb: { typing: "be scribblin'", recording: "be singin'", uploading: "be haulin'", thinking: "be plottin'", here: "be aboard" },
        verbs: { typing: "be scribblin'", recording: "be singin'", uploading: "be haulin'", thinking: "be plottin'", here: "be aboard" },
        one: "{name} be scribblin'", list: { other: pattern }, someone: "Some scallywag be scribblin'",
        people: { other: "{count} hands be scribblin'" }, several: "All hands be scribblin'", person: "{name}",
        others: { other: "{count} more hands" }, someoneElse: "some scallywag", beforeDots: "",
      },
      lastSeen: Object.fromEntries(["now", "justNow", "recently", "today", "yesterday", "week", "month", "longAgo"].map((key) => [key, "Arr"])
        .concat(["minutes", "minutesAgo", "hoursAgo", "daysAgo"].map((key) => [key, { other: "{count} bells ago" }]))),
      presence: { online: "Aboard", away: "Ashore", offline: "At sea", busy: "Busy", dnd: "Belay", until: "{status} till {time}", group: { other: "{online} of {total} aboard" } },
      connection: { connecting: "Hoistin' sail…", failed: "Adrift", signedOut: "Sign on again" },
    };
    addLanguage(words);
    equal(typingText(typing(["Anne", "Mary", null]), { language: "en-x-pirate" }), "Anne, Mary an' some scallywag be scribblin'…");
    equal(typingText(typing(["Anne"]), { language: "en" }), "Anne is typing…");
    delete words.typing.list.other;
    const error = throws(() => addLanguage({ ...words, name: undefined }));
    ok(error instanceof RangeError && error.message.endsWith(": name is missing; typing.list.other is missing"), error.message);
  },

  "X5: an app can change a word, and a wrong placeholder is refused": () => {
    changeWords("nl", { typing: { someone: "Een collega {verb}" } });
    equal(typingText(typing([null]), { language: "nl" }), "Een collega is aan het typen…");
    equal(typingText(typing(["Alice"]), { language: "nl" }), "Alice is aan het typen…");
    const why = (words) => throws(() => changeWords("nl", words)).message.split(": ")[1];
    equal(why({ typing: { one: "{nmae} typt" } }), "typing.one lacks {name}; typing.one has {nmae}, which nothing fills");
    equal(why({ presence: { group: { other: "{online} online" } } }), "presence.group.other lacks {total}");
    equal(why({ typing: { others: { one: "een {ander}" } } }), "typing.others.one has {ander}, which nothing fills");
    equal(why({ typing: { several: "" } }), "typing.several is empty");
    throws(() => changeWords("xx", {}));
  },

  "X5: texts are in the page's language, and then in the browser's": () => {
    const { lang } = document.documentElement;
    try {
      document.documentElement.lang = "de-AT";
      equal(typingText(typing(["Alice"])), "Alice schreibt\u00a0…");
      document.documentElement.lang = "";
      equal(typingText(typing(["Alice"])), typingText(typing(["Alice"]), { language: navigator.languages }));
    } finally {
      document.documentElement.lang = lang;
    }
  },

  "X5: what a connection is doing, in every language": () => {
    const error = (code) => ({ status: "failed", error: new RollcallError(code, "") });
    const states = [{ status: "connecting" }, { status: "connected" }, error("refused"), error("bad_token")];
    equal(states.map((state) => connectionText(state)), ["Connecting…", "", "Not connected", "Please sign in again"]);
    for (const { id } of languages()) ok(states.every((state) => typeof connectionText(state, { language: id }) === "string"), id);
    equal(connectionText(states[2], { language: "de" }), "Keine Verbindung");
  },

  "X6: an announcement only when the label changes": () => {
    const announcer = new TypingAnnouncer({ language: "en" });
    equal(announcer.announcement(typing(["Alice"])), "Alice is typing");
    equal(announcer.announcement(typing(["Alicia"])), "Alicia is typing");
    equal(announcer.announcement(typing(["Alice"], 1, ["recording"])), "Alice is recording");
    equal(announcer.announcement(typing(["Alice"], 1, ["recording"])), null);
    equal(announcer.announcement(typing(["Alice", "Bob"])), "Alice and Bob are typing");
    equal(announcer.announcement(typing(["Alice", "Bob"])), null);
    equal(announcer.announcement(typing([])), "");
    equal(announcer.announcement(typing([])), null);
  },

  "X6: the same people are not announced again within 5 s, somebody new at once, and a name that came": () => {
    const original = performance.now;
    let now = 0;
    performance.now = () => now;
    try {
      const announcer = new TypingAnnouncer();
      const options = { language: "en" };
      const at = (time, ...names) => {
        now = time;
        return announcer.announcement(typing(names), options);
      };
      equal([at(0, "Alice"), at(500), at(1_000, "Alice"), at(1_500), at(2_000, "Bob"), at(2_500), at(4_999, "Alice"), at(5_000)],
        ["Alice is typing", "", null, "", "Bob is typing", "", null, ""]);
      equal([at(5_100, "Alice"), at(6_000), at(12_000, undefined), at(12_100, "Alice")],
        ["Alice is typing", "", "Someone is typing", "Alice is typing"]);
      equal(announcer.announcement(typing(["Alice"]), { language: "de" }), "Alice schreibt", "the newest options count");
    } finally {
      performance.now = original;
    }
  },

  "X5: a page is in its own language, in English if that is not available, and in its reader's if it says none": () => {
    const { lang } = document.documentElement;
    Object.defineProperty(navigator, "languages", { configurable: true, value: ["ru"] });
    try {
      for (const [page, text] of [
        ["de-AT", "Bob schreibt\u00a0…"], ["nb", "Bob is typing…"], ["sv", "Bob is typing…"], ["EN_us", "Bob is typing…"], ["", "Bob печатает…"],
      ]) {
        document.documentElement.lang = page;
        equal(typingText(typing(["Bob"])), text, page);
      }
    } finally {
      document.documentElement.lang = lang;
      delete navigator.languages;
    }
  },

  "X7: three dots in turn, 0.4 s each, still when motion is to be reduced": () => {
    equal(typingDots(0), { phase: 0, opacities: [0.3, 0.3, 0.3] });
    equal(typingDots(600), { phase: 1, opacities: [0.3, 1, 0.3] });
    equal([799, 800, 1_199, 1_200, -5].map((elapsed) => typingDots(elapsed).phase), [1, 2, 2, 0, 0]);
    equal(typingDots(600, { reducesMotion: true }), { phase: null, opacities: [1, 1, 1] });
    equal(typingDots(150, { interval: 100, count: 2 }), { phase: 1, opacities: [0.3, 1] });
    equal(typingDots(150, { interval: 0, count: 1 }), { phase: null, opacities: [1] });
  },

  "P7: last seen is private, says how long it stays right, and knows the never seen": () => {
    const now = 1_784_600_000_000;
    const gone = (ago) => ({ user: "bob", status: "offline", lastSeen: now - ago });
    equal(lastSeenText({ user: "bob", status: "away", lastSeen: 0 }, now), "Away");
    equal(lastSeenText(undefined, now), "");
    equal(lastSeenText({ user: "bob", status: "offline", lastSeen: null }, now), "");
    equal(lastSeenText(gone(-5_000), now), "Last seen just now", "a moment ahead of this worker's clock");
    for (const style of ["discreet", "exact"]) {
      for (const ago of [-3_000, 0, 59_999, 60_000, 61_500, 299_999, 300_000, 3_600_000, 86_399_999, 86_400_000, 9e8, 3e9]) {
        const stays = lastSeenValidity(gone(ago), now, { style });
        if (stays === Infinity) continue;
        const text = (later) => lastSeenText(gone(ago), now + later, { style });
        equal(text(stays - 1), text(0), `${style}, ${ago}`);
        ok(text(stays) !== text(0) , `${style}, ${ago}: still ${text(0)} after ${stays}`);
      }
    }
    equal(lastSeenValidity({ user: "bob", status: "online", lastSeen: 0 }, now), Infinity);
    equal(lastSeenValidity(gone(86_400_000 * 30), now), Infinity);
  },

  "P7: last seen before the reader's midnight is yesterday, from midnight on": () => {
    const midnight = new Date(2026, 6, 15).getTime();
    const seen = { user: "bob", status: "offline", lastSeen: midnight - 7_200_000 };
    equal(lastSeenText(seen, midnight - 1), "Last seen today");
    equal(lastSeenValidity(seen, midnight - 1_000), 1_000);
    equal(lastSeenText(seen, midnight), "Last seen yesterday");
    equal(lastSeenValidity(seen, midnight), 22 * 3_600_000);
    equal(lastSeenText(seen, midnight, { style: "exact" }), "Last seen 2 hours ago");
  },

  "P9: where only some of a group are listed, the count is the least": () => {
    const [here, gone] = ["online", "offline"].map((status) => ({ user: "bob", status, lastSeen: 0 }));
    equal(groupCount([here, gone], 3).text, "1 of 3 online");
    equal(groupCount([here, gone], 5_000, { listed: 2 }), { online: 1, total: 5_000, text: "1+ of 5000 online" });
  },

  "P8: the dot's colour is a role": () => {
    equal(["online", "away", "offline"].map((status) => presenceDot({ status, lastSeen: 1 })), ["green", "amber", "grey"]);
    equal([presenceDot(undefined), presenceDot({ status: "offline", lastSeen: null })], ["none", "none"]);
  },
};
