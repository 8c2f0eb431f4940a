// An application written in TypeScript: it is compiled, not run.

import {
  InvalidTypingSettings, RollcallClient, RollcallError, TypingAnnouncer, addLanguage, availabilityText, groupCount, hereLabel, hereText, languages,
  lastSeenText, lastSeenValidity, presenceDot, presenceText, typingDots, typingLabel, typingText,
  type ConnectionState, type LanguageWords, type Presence, type Typing,
} from "../../../Sources/RollcallBrowser/Module/rollcall.js";

declare const field: HTMLInputElement;
declare const line: HTMLElement;

const rollcall = new RollcallClient({
  url: ["wss://one.example/v1/connect", "wss://two.example/v1/connect"],
  device: "web",
  token: async () => (await fetch("/token")).text(),
  typing: { debounce: 200, inactivity: 2_000 },
  names: async (user) => user === "bob" ? "Bob" : null,
  idleAfter: null,
});
rollcall.connect();
const unfollow = rollcall.followPage();

rollcall.person.subscribe((me) => line.append(availabilityText(me, rollcall.now), me.lastSeen ?? ""));
rollcall.setPerson({ presence: null, availability: "invisible", for: 3_600_000 });
rollcall.addEventListener("problem", ({ detail }) => line.append(detail.code));
rollcall.addEventListener("wire", ({ detail }) => "sent" in detail ? detail.sent : detail.received);

const input = rollcall.typingInput("c42");
field.addEventListener("input", () => input.edited(field.value));

async function send(): Promise<boolean> {
  const isSure: boolean = await input.sendConfirmed({ within: 500 });
  return isSure;
}

async function show(signal: AbortSignal): Promise<void> {
  const announcer = new TypingAnnouncer({ language: navigator.languages });
  for await (const typing of rollcall.typing("c42", { signal })) {
    const shown: Typing = typing;
    line.textContent = typingText(shown, { language: "de", dots: "none", order: "name", name: (user) => user });
    line.ariaLabel = announcer.announcement(typing) ?? typingLabel(typing);
    if (typing.refusal?.code === "not_a_member") break;
  }
}

const stop = rollcall.presence("bob").subscribe((presence) => {
  const bob: Presence = presence;
  line.dataset.dot = presenceDot(bob);
  line.title = `${presenceText(bob)}, ${lastSeenText(bob, rollcall.now, { style: "exact" })}`;
  setTimeout(() => line.remove(), lastSeenValidity(bob, rollcall.now));
});

rollcall.presence(new Set(["bob", "carol"])).subscribe((presences) => {
  const { text } = groupCount(presences.values(), 2, { language: "fr" });
  line.textContent = `${text} ${presences.get("bob")?.lastSeen ?? "never"}`;
});

rollcall.members("c42").subscribe(({ people, count }) => {
  line.textContent = groupCount(people.map(({ presence }) => presence), count).text + (people[0]?.name ?? "");
});

const entry = rollcall.enter("doc1", { data: { section: 4 } });
entry.show({ section: 5 });
rollcall.here("doc1").subscribe((here) => {
  const section: unknown = here.others[0]?.data?.section;
  line.textContent = `${hereText(here)} ${hereLabel(here, { maximumNames: 2 })} ${here.otherCount} ${section}`;
});

function describe(state: ConnectionState): string {
  switch (state.status) {
    case "connected": return state.session.worker;
    case "waiting": return `${state.error.message}, again in ${state.retryIn} ms`;
    case "failed": return state.error instanceof RollcallError ? state.error.code : "";
    case "idle": case "connecting": case "closed": return state.status;
  }
}

async function once(): Promise<void> {
  const bob: Presence | undefined = await rollcall.currentPresence("bob");
  const all: Map<string, Presence> = await rollcall.currentPresence(["bob"], { within: 100 });
  line.textContent = `${bob?.status} ${all.size} ${describe(rollcall.connection.latest ?? { status: "idle" })}`;
}

function pirate(words: LanguageWords): string[] {
  try {
    addLanguage(words);
  } catch (error) {
    if (error instanceof InvalidTypingSettings) return [...error.problems];
  }
  const { phase, opacities } = typingDots(100, { reducesMotion: matchMedia("(prefers-reduced-motion)").matches });
  return languages().map(({ id, direction }) => `${id} ${direction} ${phase} ${opacities}`);
}

// @ts-expect-error: an invalid value
rollcall.setPhase("asleep");
// @ts-expect-error: an input comes from a client
new (input.constructor as typeof import("../../../Sources/RollcallBrowser/Module/rollcall.js").TypingInput)();

stop();
unfollow();
input[Symbol.dispose]();
export { once, pirate, send, show };
