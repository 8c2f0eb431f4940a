// Rollcall for browsers: who is online and who is typing, over one WebSocket. Without dependencies: this folder is all.
// `rollcall.d.ts` documents what these exports do.
//
//     import { RollcallClient, typingText } from "./rollcall.js";
//
//     const rollcall = new RollcallClient({ url: "wss://chat.example/v1/connect", token: freshToken });
//     rollcall.connect();
//     const input = rollcall.typingInput("c42");
//     field.addEventListener("input", () => input.edited(field.value));
//     form.addEventListener("submit", () => input.send());
//     for await (const typing of rollcall.typing("c42")) line.textContent = typingText(typing);
//
// A client holds an `Engine`, which joins a `Connection` (how to reach a worker is a `Route`) with an `Outbox` (what the
// worker must be sent), with what is observed (a `Room` for each conversation, `People`) and with the user's own typing
// (`TypingField`). Each part is told the time, says by when it must be told again, and has no timer of its own.

export { followAppState, RollcallClient } from "./client.js";
export { HereEntry } from "./here.js";
export { InvalidTypingSettings, RollcallError } from "./messages.js";
export {
  TypingAnnouncer, addLanguage, availabilityText, changeWords, connectionText, groupCount, hereLabel, hereText, languages, lastSeenText,
  lastSeenValidity, presenceDot, presenceText, presenceView, typingDots, typingLabel, typingText,
} from "./texts.js";
export { TypingInput } from "./typing.js";
export { Updates } from "./updates.js";
