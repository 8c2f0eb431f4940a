// The demo page: two people side by side, and as many more as one adds or opens windows for.

import { Chat } from "./chat.js";
import { Pane } from "./pane.js";
import { make } from "./parts.js";

const MORE_PEOPLE = ["carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy"];

const settings = await (await fetch("settings.json")).json();
const { conversation, workers, redis } = settings;
const asked = new URLSearchParams(location.search).get("people")?.split(",").filter(Boolean);
const chat = new Chat(conversation);
const panes = document.getElementById("panes");
/** Tells the devices of this window from those of others. */
const suffix = Math.random().toString(36).slice(2, 5);
let nextWorker = Math.floor(Math.random() * workers.length);

/** All workers, each device beginning with the next, so that neighbours are on different ones. */
function urlsFor() {
  const first = nextWorker++ % workers.length;
  return [...workers.slice(first), ...workers.slice(0, first)].map(({ edge }) => edge);
}

function addPane(user) {
  chat.add(user);
  const pane = new Pane({ user, conversation, chat, urlsFor, suffix });
  panes.append(pane.element);
  return pane;
}

function addCommand(command, explanation) {
  const item = make("li");
  const copy = make("button", "Copy", "quiet");
  copy.type = "button";
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(command);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1_500);
  });
  item.append(make("code", command), copy, make("span", explanation, "quiet"));
  document.getElementById("commands").append(item);
}

/** Says so when devices look for a worker for longer than a reconnect takes. */
function watchForTrouble() {
  const trouble = document.getElementById("trouble");
  let rounds = 0;
  setInterval(() => {
    rounds = document.querySelector('.device[data-connection="waiting"]') ? rounds + 1 : 0;
    trouble.hidden = rounds < 3;
  }, 1_000);
}

for (const user of asked ?? settings.people) addPane(user);

document.getElementById("add-person").addEventListener("click", () => {
  const person = MORE_PEOPLE.find((each) => !chat.people.has(each)) ?? `guest${chat.people.size + 1}`;
  addPane(person).element.scrollIntoView({ block: "nearest", behavior: "smooth" });
});
document.getElementById("new-window").href = location.pathname + location.search;

const cli = `redis-cli -p ${redis.port}`;
addCommand(`${cli} PSUBSCRIBE 'typing:*' 'presence:*'`, "every change, as it is published");
addCommand(`${cli} TTL 'typing:{${conversation}}:alice'`, "how long Alice's typing still lasts");
addCommand(`${cli} HGETALL 'presence:{alice}'`, "Alice's presence, and her devices");
addCommand(`${cli} ZRANGE '{workers}' 0 -1 WITHSCORES`, "the workers, and when their leases end");

watchForTrouble();
