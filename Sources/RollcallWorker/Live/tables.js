// The workers, the conversations where most people type, and what the log tells.

import { make, replaceChanged } from "./dom.js";
import { DASH, figure, lease, spoken, withUnit } from "./words.js";

const STATES = {
  alive: "alive",
  draining: "draining",
  dead: "dead",
  left: "left",
  died: "dead, settled",
};

function stateOf(worker) {
  if (worker.gone !== undefined) return worker.draining ? "left" : "died";
  if (!worker.alive) return "dead";
  return worker.draining ? "draining" : "alive";
}

/** What a worker's name is made of: its id, and the part that each of its incarnations draws. */
export function workerName(incarnation) {
  const dot = incarnation.lastIndexOf(".");
  const [id, part] = dot > 0 ? [incarnation.slice(0, dot), incarnation.slice(dot)] : [incarnation, ""];
  return make("bdi.name", {}, make("b", {}, id), make("span.quiet", {}, part));
}

export function stateChip(state, words = state) {
  return make("span.state", { "data-state": state }, make("span.lamp", { "aria-hidden": "true" }), words);
}

function cell(title, content, classes) {
  return make("td", { "data-title": title, classes }, content);
}

/** How many a second, and how many since it started. */
function rate(now, total) {
  return make("span", {}, withUnit(now, "/s"), make("span.total", {}, total === undefined ? "" : `${figure(total)} in all`));
}

function workerRow(worker, live) {
  const state = stateOf(worker);
  const isGone = worker.gone !== undefined;
  const { rates } = worker;
  const number = (title, text) => cell(title, text, "number");
  const where = [worker.host, worker.pid && `pid ${worker.pid}`, worker.edge].filter(Boolean).join(" · ");
  const asked = worker.incarnation === live.worker ? make("span.asked", {}, "this worker") : null;
  return make("tr", { "data-worker": worker.incarnation, "data-state": state },
    make("th", { scope: "row" }, workerName(worker.incarnation), asked, make("span.where", { title: where }, where)),
    cell("State", stateChip(state, STATES[state])),
    number("Sessions", figure(worker.sessions)),
    number("Signals", rate(rates.signals, worker.signals)),
    number("Published", rate(rates.published, worker.published)),
    number("Deliveries", rate(rates.delivered, worker.delivered)),
    number("CPU", rates.cpu_ms === undefined ? DASH : `${figure(rates.cpu_ms / 10)} %`),
    number("Heartbeat", worker.round_trip_us === undefined ? DASH : `${figure(worker.round_trip_us / 1000)} ms`),
    number("Lease", isGone ? DASH : lease(worker, live.time)),
    number("Up", worker.started_at === undefined || isGone ? DASH : spoken(live.time - worker.started_at)),
    cell("Version", worker.version ?? DASH));
}

export function showWorkers(workers, live) {
  const rows = workers.map((worker) => workerRow(worker, live));
  replaceChanged(document.querySelector("#workers tbody"), rows);
}

export function showBusy(conversations) {
  const most = Math.max(1, ...conversations.map(({ typing }) => typing));
  const rows = conversations.map(({ conversation, typing, joined }) => {
    const bar = make("progress", { max: String(most), value: String(typing), "aria-hidden": "true" });
    const count = make("span.count", {}, make("b", {}, figure(typing)), " typing");
    return make("li", {}, make("bdi.name", {}, conversation), count, make("span.quiet", {}, `${figure(joined)} joined`), bar);
  });
  replaceChanged(document.getElementById("busy"), rows.length ? rows : [make("li.quiet", {}, "Nobody is typing.")]);
}

/** Events that tell of an end of trouble. */
const MENDED = new Set(["swept a dead worker", "lease begun", "an audit mended records"]);
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** The first lease of all is no mending. */
function kindOf({ level, message }, isFirst) {
  if (MENDED.has(message) && !isFirst) return "mended";
  return level === "info" || level === "notice" ? "news" : "fault";
}

export function showEvents(events) {
  const rows = events.map((event, index) => {
    const kind = kindOf(event, index === events.length - 1);
    const facts = Object.entries(event.facts).sort().map(([key, value]) => `${key}=${value}`).join("  ");
    const moment = new Date(event.at);
    return make("li", { "data-kind": kind },
      make("time", { datetime: moment.toISOString() }, CLOCK.format(moment)),
      make("span.kind", {}, kind),
      make("span.message", {}, event.message, event.times > 1 ? make("b", {}, ` ×${figure(event.times)}`) : null),
      facts ? make("code", {}, facts) : null);
  });
  replaceChanged(document.getElementById("events"), rows.length ? rows : [make("li.quiet", {}, "Nothing yet.")]);
}
