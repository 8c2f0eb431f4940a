// The demo page: a chat on three devices, six bots who chat with each other, and everything that can fail.

import { Chat } from "./model/chat.js";
import { Crowd } from "./model/crowd.js";
import { BEGINS_TYPING, Device, ENDS_TYPING } from "./model/device.js";
import { BOTS, CONVERSATIONS, nameOf } from "./model/people.js";
import { currentSettings, edgesOf, settingsOnceStarted } from "./model/settings.js";
import { Timeline } from "./model/timeline.js";
import { languageSwitch, themeSwitch } from "./views/appearance.js";
import { listCommands } from "./views/commands.js";
import { Deployment } from "./views/deployment.js";
import { Frame } from "./views/frame.js";
import { Speaker } from "./views/speaker.js";
import { Steps } from "./views/steps.js";
import { Told } from "./views/told.js";
import { language } from "./model/language.js";
import { setText } from "./parts.js";

const TYPING_HINT = "Others are told once a text has stood for 300 ms, which the figures include.";
/**
 * How often an open page checks whether `rollcall dev` was restarted, while no device is connected, in milliseconds.
 */
const LOOK_INTERVAL = 3_000;

const element = (id) => document.getElementById(id);
const settings = await settingsOnceStarted(() => { element("starting").hidden = false; });
element("starting").remove();
/** Distinguishes this window's devices from those of other windows. */
const suffix = Math.random().toString(36).slice(2, 5);
const edges = edgesOf(settings);
let nextEdge = 0;
/** Whether the group was opened in this window. */
let isCrowdWanted = false;

const chat = new Chat();
const timeline = new Timeline();
const crowd = new Crowd({ chat, urlsFor, suffix });
const deployment = new Deployment(settings, element("deployment"));
const speaker = new Speaker(element("announcement"));
const devices = [["alice", "phone"], ["bob", "phone"], ["alice", "laptop"]]
  .map(([user, kind]) => new Device({ user, kind, urls: urlsFor(), suffix, chat }));
const frames = devices.map(addFrame);
const steps = new Steps(element("steps"), [
  { id: "type", words: "Type as Alice", target: () => frames[0].field },
  { id: "drop", words: "Drop Bob’s network", target: () => frames[1].control("drop") },
  { id: "crash", words: "Kill a worker", target: () => deployment.button(devices[0].worker ?? "w1") },
  { id: "group", words: "Join the group of eight", target: () => element("group") },
  { id: "language", words: "Read it in another language", target: () => element("language") },
]);

/** Returns all workers, for each device starting with the next one, so that neighbours are on different workers. */
function urlsFor() {
  const first = nextEdge++ % edges.length;
  return [...edges.slice(first), ...edges.slice(0, first)];
}

function addFrame(device) {
  const frame = new Frame(device);
  const { label } = device;
  element("devices").append(frame.element);
  speaker.add(device, frame.element);
  frame.field.addEventListener("input", () => {
    if (frame.field.value.trim()) timeline.continued(`${label}: typing`, label, TYPING_HINT);
    else timeline.withdrawn(label);
  });
  frame.controls.addEventListener("acted", ({ detail }) => timeline.acted(detail.title, detail));
  device.addEventListener("sends", () => timeline.acted(`${label}: message sent`));
  device.addEventListener("told", ({ detail }) => told(label, detail));
  device.addEventListener("changed", showDevices);
  return frame;
}

/** Handles what a client received. Bots' own changes are not shown; only a status that a bot does not have is. */
function told(who, { what, user, status, isOwn }) {
  if (BOTS.includes(user) && (!status || (crowd.bot(user)?.meant ?? status) === status)) return;
  timeline.told(who, { what: user ? `${nameOf(user)} ${what}` : what, status, isOwn });
  if (what === ENDS_TYPING) timeline.over();
  if (user === "alice" && what === BEGINS_TYPING) steps.done("type");
  if (user === "bob" && status === "offline") steps.done("drop");
}

function showConversation(name) {
  for (const frame of frames) frame.show(CONVERSATIONS[name]);
  for (const tab of element("conversations").children) tab.setAttribute("aria-pressed", String(tab.value === name));
  element("crowd").hidden = name !== "group";
  if (name !== "group") return;
  isCrowdWanted = true;
  showCrowd();
  steps.done("group");
}

/** Runs the bots only in a visible window. A hidden window leaves them to another. */
function showCrowd() {
  if (isCrowdWanted && !document.hidden) crowd.open();
  else crowd.close();
}

function showDevices() { deployment.showDevices([...devices, ...crowd.bots].map(({ worker }) => worker)); }

/** Reloads the page if `rollcall dev` was restarted: its workers have new addresses. */
async function lookForAnother() {
  if (devices.some(({ isConnected }) => isConnected)) return;
  const now = await currentSettings();
  if (now && String(edgesOf(now)) !== String(edges)) location.reload();
}

/** Shows which parts are down: another window may have killed one. */
async function lookForDown() {
  const now = await currentSettings();
  if (now) deployment.showDown(now.down);
}

element("conversations").addEventListener("click", ({ target }) => target.value && showConversation(target.value));
element("crowd").addEventListener("click", () => crowd.isPaused ? crowd.play() : crowd.pause());
crowd.addEventListener("changed", () => (
  setText(element("crowd"), crowd.isPaused ? "Let the bots go on" : "Pause the bots")));
deployment.addEventListener("acted", ({ detail }) => timeline.acted(detail.title, detail));
deployment.addEventListener("done", ({ detail }) => detail.verb === "crash" && steps.done("crash"));
language.addEventListener("changed", () => steps.done("language"));
setInterval(showDevices, 1_000);
setInterval(lookForAnother, LOOK_INTERVAL);
document.addEventListener("visibilitychange", showCrowd);
addEventListener("focus", lookForDown);
// The devices belong to this window. They are closed with it, and a restored page starts with new ones.
addEventListener("pagehide", () => [...devices, ...crowd.bots].forEach(({ client }) => client.close()));
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

new Told(timeline, element("told")).show();
languageSwitch(element("language"));
themeSwitch(element("theme"));
listCommands(element("commands"), settings, CONVERSATIONS.direct.id);
showConversation("direct");
// Typing can begin at once, except on touch screens, where focus would open the keyboard.
if (!matchMedia("(pointer: coarse)").matches) frames[0].field.focus({ preventScroll: true });
