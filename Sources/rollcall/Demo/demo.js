// The demo page: a chat on three devices, bots who chat with each other and answer, and everything that can fail.

import { BOTS, CONVERSATIONS, Chat, nameOf } from "./chat.js";
import { Crowd } from "./crowd.js";
import { Device, ENDS_TYPING, workerOf } from "./device.js";
import { Deployment, Timeline } from "./lab.js";
import { Speaker, language, setText } from "./language.js";
import { Frame } from "./screen.js";

const TYPING_HINT = "Others are told once a text has stood for 300 ms, which the figures include.";
const element = (id) => document.getElementById(id);

/** What `rollcall dev` reports: its workers, and which parts are down. Null if it is about to start, or gone. */
const currentSettings = () => fetch("settings.json").then((answer) => (answer.ok ? answer.json() : null), () => null);
const edgesOf = ({ workers }) => workers.map(({ edge }) => edge);

let settings;
while (!(settings = await currentSettings())) {
  element("starting").hidden = false;
  await new Promise((resolve) => { setTimeout(resolve, 300); });
}
element("starting").remove();

/** Distinguishes this window's devices from those of other windows. */
const suffix = Math.random().toString(36).slice(2, 5);
const edges = edgesOf(settings);
let nextEdge = 0;

const chat = new Chat();
const timeline = new Timeline(element("told"));
const crowd = new Crowd(chat);
const deployment = new Deployment(settings, element("deployment"));
const speaker = new Speaker(element("announcement"));
const devices = [["alice", "phone"], ["bob", "phone"], ["alice", "laptop"]]
  .map(([user, kind]) => new Device({ user, kind, urls: urlsFor(), suffix, chat }));
const frames = devices.map(addFrame);

/** Returns all workers, for each device starting with the next one, so that neighbours are on different workers. */
function urlsFor() {
  const first = nextEdge++ % edges.length;
  return [...edges.slice(first), ...edges.slice(0, first)];
}

function addFrame(device) {
  const frame = new Frame(device);
  const { label } = device;
  element("devices").append(frame.element);
  // Once more where it has a height: a list of messages begins at its end.
  device.show(device.conversation);
  speaker.add(device, frame.element);
  frame.field.addEventListener("input", () => {
    if (frame.field.value.trim()) timeline.continued(`${label}: typing`, label, TYPING_HINT);
    else timeline.over(label);
  });
  frame.addEventListener("acted", ({ detail }) => timeline.acted(detail.title, detail));
  device.addEventListener("sends", () => timeline.acted(`${label}: message sent`));
  device.addEventListener("told", ({ detail }) => told(label, detail));
  for (const what of ["changed", "conversation"]) device.addEventListener(what, show);
  return frame;
}

/** Shows what a client received, but of the bots. */
function told(who, { what, user, status, isOwn }) {
  if (BOTS.includes(user)) return;
  timeline.told(who, { what: user ? `${nameOf(user)} ${what}` : what, status, isOwn });
  if (what === ENDS_TYPING) timeline.over();
}

/** Shows how many devices each worker holds, and which conversation all devices have open, if they agree. */
function show() {
  deployment.showDevices([...devices, ...crowd.bots].map(({ client }) => workerOf(client.connection.latest)));
  for (const tab of element("conversations").children) {
    const isOpen = devices.every(({ conversation }) => conversation === CONVERSATIONS[tab.value]);
    tab.setAttribute("aria-pressed", String(isOpen));
  }
  if (!devices.some(({ conversation }) => conversation?.title)) return;
  element("crowd").hidden = false;
  crowd.open(urlsFor, suffix);
}

element("conversations").addEventListener("click", ({ target }) => {
  if (target.value) for (const device of devices) device.show(CONVERSATIONS[target.value]);
});
element("crowd").addEventListener("click", () => crowd.togglePause());
crowd.addEventListener("changed", () => (
  setText(element("crowd"), crowd.isPaused ? "Let the bots go on" : "Pause the bots")));
deployment.addEventListener("acted", ({ detail }) => timeline.acted(detail.title, detail));
setInterval(show, 1_000);
// If `rollcall dev` was restarted, its workers have new addresses.
setInterval(async () => {
  const now = devices.some(({ isConnected }) => isConnected) ? null : await currentSettings();
  if (now && String(edgesOf(now)) !== String(edges)) location.reload();
}, 3_000);
// Another window may have killed a part.
addEventListener("focus", async () => {
  const now = await currentSettings();
  if (now) deployment.showDown(now.down);
});
// The devices belong to this window. They are closed with it, and a restored page starts with new ones.
addEventListener("pagehide", () => [...devices, ...crowd.bots].forEach(({ client }) => client.close()));
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

language.fill(element("language"));
show();
// Typing can begin at once, except on touch screens, where focus would open the keyboard.
if (!matchMedia("(pointer: coarse)").matches) frames[0].field.focus({ preventScroll: true });
