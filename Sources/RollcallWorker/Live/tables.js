// The tables of workers, of the conversations with the most typists, and of log events.

import { make, update } from "./dom.js";
import { DASH, figure, lease, spoken, withUnit } from "./words.js";

const STATES = {
  alive: "alive",
  draining: "draining",
  dead: "dead",
  left: "left",
  died: "dead, settled",
};

/** A worker that drained and whose lease has ended has left. Its sweep finds only devices that did not reconnect. */
export function stateOf(worker) {
  if (worker.gone !== undefined) return worker.draining ? "left" : "died";
  if (!worker.alive) return worker.draining ? "left" : "dead";
  return worker.draining ? "draining" : "alive";
}

/** The parts of an incarnation: the worker's id, and the random part. */
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

/** The rate per second, and the total since the worker started. */
function rate(now, total) {
  return make("span", {}, withUnit(now, "/s"), make("span.total", {}, total === undefined ? "" : `${figure(total)} in all`));
}

function workerRow(worker, time, asked) {
  const state = stateOf(worker);
  const isGone = worker.gone !== undefined;
  const { rates } = worker;
  const number = (title, text) => cell(title, text, "number");
  const where = [worker.host, worker.pid && `pid ${worker.pid}`, worker.edge].filter(Boolean).join(" · ");
  const mark = worker.incarnation === asked ? make("span.asked", {}, "this worker") : null;
  return make("tr", { "data-key": worker.incarnation, "data-worker": worker.incarnation, "data-state": state },
    make("th", { scope: "row" }, workerName(worker.incarnation), mark, make("span.where", { title: where }, where)),
    cell("State", stateChip(state, STATES[state])),
    number("Sessions", figure(worker.sessions)),
    number("Signals", rate(rates.signals, worker.signals)),
    number("Published", rate(rates.published, worker.published)),
    number("Deliveries", rate(rates.delivered, worker.delivered)),
    number("CPU", rates.cpu_ms === undefined ? DASH : `${figure(rates.cpu_ms / 10)} %`),
    number("Heartbeat", worker.round_trip_us === undefined ? DASH : `${figure(worker.round_trip_us / 1000)} ms`),
    number("Lease", isGone ? DASH : lease(worker, time)),
    number("Up", worker.started_at === undefined || isGone ? DASH : spoken(time - worker.started_at)),
    cell("Version", worker.version ?? DASH));
}

/** @param asked the incarnation that answered, at `time` by Redis. */
export function showWorkers(workers, time, asked) {
  const rows = workers.map((worker) => workerRow(worker, time, asked));
  const unknown = make("tr", {}, make("td.quiet", { colspan: "11" }, "While Redis is away, the workers are not known."));
  update(document.querySelector("#workers tbody"), rows.length ? rows : [unknown]);
  const counts = Object.entries(STATES).map(([state, words]) => [workers.filter((each) => stateOf(each) === state).length, words]);
  const text = counts.filter(([count]) => count).map(([count, words]) => `${count} ${words}`).join(" · ");
  const line = document.getElementById("workers-count");
  if (line.textContent !== text) line.textContent = text;
}

export function showBusy(conversations) {
  const most = Math.max(1, ...conversations.map(({ typing }) => typing));
  const rows = conversations.map(({ conversation, typing, joined }) => {
    const bar = make("progress", { max: String(most), value: String(typing), "aria-hidden": "true" });
    const count = make("span.count", {}, make("b", {}, figure(typing)), " typing");
    return make("li", { "data-key": conversation }, make("bdi.name", {}, conversation), count, make("span.quiet", {}, `${figure(joined)} joined`), bar);
  });
  update(document.getElementById("busy"), rows.length ? rows : [make("li.quiet", {}, "Nobody is typing.")]);
}

/** Events that report recovery. */
const MENDED = new Set(["swept a dead worker", "lease begun", "an audit repaired records"]);

/** The first lease is not a recovery. */
function kindOf({ level, message }, isFirst) {
  if (MENDED.has(message) && !isFirst) return "mended";
  return level === "info" || level === "notice" ? "news" : "fault";
}

/** The time in UTC as in the log, with the date if it is not today. */
function clock(moment, today) {
  const [day, time] = [moment.slice(0, 10), moment.slice(11, 19)];
  return day === today ? time : `${day} ${time}`;
}

/** @param now the current time by the clock of the events. */
export function showEvents(events, now) {
  const today = new Date(now).toISOString().slice(0, 10);
  const rows = events.map((event, index) => {
    const kind = kindOf(event, index === events.length - 1);
    const facts = Object.entries(event.facts).sort().map(([key, value]) => `${key}=${value}`).join("  ");
    const moment = new Date(event.at).toISOString();
    return make("li", { "data-key": `${moment} ${event.message} ${facts}`, "data-kind": kind },
      make("time", { datetime: moment }, clock(moment, today)),
      make("span.kind", {}, kind),
      make("span.message", {}, event.message, event.times > 1 ? make("b", {}, ` ×${figure(event.times)}`) : null),
      facts ? make("code", {}, facts) : null);
  });
  update(document.getElementById("events"), rows.length ? rows : [make("li.quiet", {}, "Nothing yet.")]);
}
