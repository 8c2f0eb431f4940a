// Rollcall for browsers: who is here, and who is typing, over one WebSocket. One file, nothing to build.
//
//     import { RollcallClient, typingText } from "./rollcall.js";
//
//     const rollcall = new RollcallClient({ url: "wss://chat.example/v1/connect", device: "web", token: freshToken });
//     rollcall.connect();
//     const input = rollcall.typingInput("c42");
//     field.addEventListener("input", () => input.edited(field.value));
//     for await (const typing of rollcall.typing("c42")) line.textContent = typingText(typing);
//
// The parts, in this order: errors; decisions, which are values that are told the time and do nothing; the engine,
// which joins them to a socket; the client, which apps hold; texts, and the words for them. What is a state (who types,
// who is here, the connection) comes as `Updates`; what happens once (a problem) comes as an event. Nothing is thrown
// for weather: a client reconnects for ever, and then shows the truth of then.

export { RollcallClient } from "./client.js";
export { Updates } from "./updates.js";
export { TypingInput } from "./typing-input.js";
export { RollcallError, InvalidTypingSettings } from "./errors.js";
export { typingText, typingLabel, TypingAnnouncer, typingDots } from "./typing-text.js";
export { lastSeenText, lastSeenValidity, presenceText, presenceDot, groupCount } from "./presence-text.js";
export { addLanguage, languages } from "./languages.js";
