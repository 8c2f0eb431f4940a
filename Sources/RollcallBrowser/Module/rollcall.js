// Rollcall for browsers: who is online and who is typing, over one WebSocket. Without dependencies: this folder is all.
//
//     import { RollcallClient, typingText } from "./rollcall.js";
//
//     const rollcall = new RollcallClient({ url: "wss://chat.example/v1/connect", device: "web", token: freshToken });
//     rollcall.connect();
//     const input = rollcall.typingInput("c42");
//     field.addEventListener("input", () => input.edited(field.value));
//     for await (const typing of rollcall.typing("c42")) line.textContent = typingText(typing);
//
// States (who types, who is online, the connection) are `Updates`. Things that happen once (a problem) are events. A lost
// connection throws nothing: the client reconnects forever, and emits the current state then.
//
// The client has four layers. Decisions are objects without timers or I/O: their methods are events, take the time and
// return what to do. The engine and its parts do it. The client and its `Updates` are what an app holds. The texts turn
// values into words, in any of the languages.

export { RollcallError, InvalidTypingSettings } from "./errors.js";
export { RollcallClient } from "./client.js";
export { TypingInput } from "./typing-input.js";
export { Updates } from "./updates.js";
export { typingText, typingLabel, typingDots, TypingAnnouncer } from "./typing-text.js";
export { lastSeenText, lastSeenValidity, presenceText, presenceDot, groupCount } from "./presence-text.js";
export { addLanguage, languages } from "./languages.js";
