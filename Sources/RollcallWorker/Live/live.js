// The live page: asks its worker once a second, and shows the answer or that there is none. Untrusted values are inserted
// only as text.

const PERIOD = 1000;
const PATIENCE = 4000;
/** How much the charts show, and how long a worker stays visible after Redis has deleted it, in milliseconds. */
const SPAN = 5 * 60_000;
const REMEMBERED = 60_000;
/** A line is interrupted if no value arrives for this long. */
const GAP = 3500;
const TOTALS = ["signals", "published", "delivered", "cpu_ms"];
const DASH = "–";

const find = (id) => document.getElementById(id);
const setText = (element, text) => element.textContent === text || (element.textContent = text);
const announce = (text) => setText(find("announcement"), text);

// MARK: Asking

const token = {
  get value() { return sessionStorage.getItem("rollcall-admin-token") ?? ""; },
  set value(value) { sessionStorage.setItem("rollcall-admin-token", value); },
};

/**
 * Never throws. On success the result has `body`. Otherwise `problem` is the reason, `unavailable` is true if Redis is
 * away, and `wantsToken` is true if the token is missing or wrong.
 */
async function get(path) {
  try {
    const headers = new Headers();
    try {
      // Headers hold bytes: the token in UTF-8.
      const bytes = String.fromCharCode(...new TextEncoder().encode(token.value));
      if (bytes) headers.set("Authorization", `Bearer ${bytes}`);
    } catch {
      return { wantsToken: true };
    }
    const response = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
    const body = await response.json();
    if (response.ok) return { body };
    // A port without a token answers only this machine; entering a token would not help.
    const wantsToken = response.status === 401 && response.headers.has("WWW-Authenticate");
    return { problem: body.detail, unavailable: response.status === 503, wantsToken };
  } catch {
    return {};
  }
}

// MARK: Words

const [WHOLE, FINE, FINER] = [0, 1, 2].map((digits) => new Intl.NumberFormat("en", { maximumFractionDigits: digits }));

/** Rounds to the significant digits. */
function figure(value, unit = "") {
  if (value === undefined || value === null || !Number.isFinite(value)) return DASH;
  const format = value >= 10 || Number.isInteger(value) ? WHOLE : value >= 1 ? FINE : FINER;
  return unit ? `${format.format(value)} ${unit}` : format.format(value);
}

/** A duration in milliseconds, in the words of the command line. */
function spoken(milliseconds) {
  const time = Math.max(0, milliseconds);
  if (time < 60_000) return `${(Math.floor(time / 100) / 10).toFixed(1)} s`;
  if (time < 3_600_000) return `${Math.floor(time / 60_000)} min`;
  return time < 172_800_000 ? `${Math.floor(time / 3_600_000)} h` : `${Math.floor(time / 86_400_000)} d`;
}

function lease({ lease_end: end }, now) {
  if (end === undefined) return "none";
  return end >= now ? `ends in ${spoken(end - now)}` : `passed ${spoken(now - end)} ago`;
}

// MARK: Elements

/** Creates an element with attributes and children, which may be texts. `name` may have classes: `span.quiet`. */
function make(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Makes an element like another one, and changes only what differs, so that selections and reading positions survive. */
function adapt(old, wanted) {
  if (old.isEqualNode(wanted)) return;
  if (old.nodeName !== wanted.nodeName || old.nodeType === Node.TEXT_NODE) return old.replaceWith(wanted);
  for (const { name } of [...old.attributes]) if (!wanted.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of wanted.attributes) old.setAttribute(name, value);
  update(old, [...wanted.childNodes]);
}

function update(parent, nodes) {
  const before = [...parent.childNodes];
  nodes.forEach((node, index) => (index < before.length ? adapt(before[index], node) : parent.append(node)));
  for (const extra of before.slice(nodes.length)) extra.remove();
}

// MARK: Figures

/** Points by this page's clock, with the figures of all charts, or without if there was no answer. */
const points = [];
/** All workers of the last answer with their `rates`, and recently deleted ones with the time in `gone`. */
let workers = [];
let time;
let counted = new Map();

/** Identifies a process, independent of its incarnation. */
const processOf = (worker) => `${worker.host} ${worker.pid} ${worker.started_at}`;

function keep(point) {
  points.push(point);
  while (points[0].at < point.at - SPAN - 5000) points.shift();
}

/** Rates are the growth of totals between two heartbeats. If Redis's clock was set back, they start again. */
function rated(worker) {
  const before = counted.get(processOf(worker));
  const passed = before ? worker.beat - before.worker.beat : 0;
  if (before && passed === 0) return before;
  const grown = TOTALS.map((total) => [total, ((worker[total] - before?.worker[total]) * 1000) / passed]);
  return { worker, rates: Object.fromEntries(passed > 0 ? grown.filter(([, rate]) => rate >= 0) : []) };
}

function add(live, now) {
  // After a new incarnation, the lease of the previous one may still be held: each process counts once.
  const living = new Map();
  for (const worker of live.workers.filter(({ alive }) => alive).sort((one, other) => one.beat - other.beat)) {
    living.set(processOf(worker), worker);
  }
  counted = new Map([...living].map(([process, worker]) => [process, rated(worker)]));
  const told = live.workers.map((worker) => {
    const isCounted = living.get(processOf(worker)) === worker;
    return { ...worker, rates: isCounted ? counted.get(processOf(worker)).rates : {} };
  });
  const names = new Set(told.map(({ incarnation }) => incarnation));
  const gone = workers
    .filter((worker) => !names.has(worker.incarnation) && !living.has(processOf(worker)))
    .map((worker) => ({ ...worker, rates: {}, gone: worker.gone ?? now, alive: false }))
    .filter((worker) => now - worker.gone < REMEMBERED);
  workers = [...told, ...gone];
  time = live.time;
  const sum = (of) => {
    const known = [...counted.values()].map(of).filter((value) => value !== undefined);
    return known.length ? known.reduce((total, value) => total + value, 0) : undefined;
  };
  const rates = ["signals", "published", "delivered"].map((total) => [total, sum((each) => each.rates[total])]);
  const { p50_us: p50, p99_us: p99 } = live.redis;
  keep({ at: now, sessions: sum(({ worker }) => worker.sessions), p50: p50 / 1000, p99: p99 / 1000,
    ...Object.fromEntries(rates) });
}

const CHARTS = [
  ["Sessions", "", ["sessions", "sessions"]],
  ["Typing signals", "/s", ["signals", "received"], ["published", "published"]],
  ["Deliveries", "/s", ["delivered", "messages"]],
  ["Redis, a minute’s round trips", "ms", ["p50", "p50"], ["p99", "p99"]],
];

/** One line of a chart, which is 1,000 wide and 100 high, interrupted where values are missing. */
function path(of, now, top) {
  let [text, last] = ["", -Infinity];
  for (const point of points.filter((each) => each.at >= now - SPAN && Number.isFinite(each[of]))) {
    const [x, y] = [1000 - ((now - point.at) / SPAN) * 1000, 98 - (point[of] / top) * 94];
    text += `${point.at - last > GAP ? "M" : "L"}${x.toFixed(1)},${y.toFixed(1)} `;
    last = point.at;
  }
  return text;
}

function showCharts(now) {
  update(find("charts"), CHARTS.map(([title, unit, ...lines]) => {
    const values = points.flatMap((point) => lines.map(([of]) => point[of])).filter(Number.isFinite);
    const top = Math.max(...values, unit === "ms" ? 0.1 : 1);
    const last = points.at(-1) ?? {};
    const told = lines.map(([of, name], index) => (
      make(`span.value.line-${index}`, {}, make("b", {}, figure(last[of], unit)), " ", make("span.quiet", {}, name))));
    const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const summary = `${title}, the last five minutes. At most ${figure(top, unit)}.`;
    for (const [key, value] of Object.entries({
      viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img", "aria-label": summary,
    })) picture.setAttribute(key, value);
    for (const [index, [of]] of lines.entries()) {
      const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
      line.setAttribute("class", `stroke line-${index}`);
      line.setAttribute("d", path(of, now, top));
      picture.append(line);
    }
    const most = make("p.quiet", {}, `five minutes, at most ${figure(top, unit)}`);
    return make("figure.card.chart", {},
      make("figcaption", {}, make("h2", {}, title), make("p.values", {}, ...told)), picture, most);
  }));
}

// MARK: Tables

const STATES = { alive: "alive", draining: "draining", dead: "dead", left: "left", died: "dead, settled" };

/** A worker that drained and whose lease has ended has left. Its sweep finds only devices that did not reconnect. */
function stateOf({ gone, alive, draining }) {
  if (alive && gone === undefined) return draining ? "draining" : "alive";
  return draining ? "left" : gone === undefined ? "dead" : "died";
}

/** The parts of an incarnation: the worker's id, and the random part. */
function workerName(incarnation) {
  const dot = incarnation.lastIndexOf(".");
  const [id, part] = dot > 0 ? [incarnation.slice(0, dot), incarnation.slice(dot)] : [incarnation, ""];
  return make("bdi.name", {}, make("b", {}, id), make("span.quiet", {}, part));
}

const stateChip = (state) => make("span.state", { "data-state": state }, make("span.lamp"), STATES[state]);
const cell = (title, ...content) => make("td", { "data-title": title }, ...content);
const number = (title, ...content) => make("td.number", { "data-title": title }, ...content);

function workerRow(worker, now, asked) {
  const state = stateOf(worker);
  const { rates, gone, started_at: started } = worker;
  const where = [worker.host, worker.pid && `pid ${worker.pid}`, worker.edge].filter(Boolean).join(" · ");
  const mark = worker.incarnation === asked ? make("span.asked", {}, "this worker") : null;
  // The rate per second, and the total since the worker started.
  const rate = (title, of) => number(title, make("span", {}, figure(rates[of], "/s"),
    make("span.total", {}, worker[of] === undefined ? "" : `${figure(worker[of])} in all`)));
  return make("tr", { "data-worker": worker.incarnation, "data-state": state },
    make("th", { scope: "row" }, workerName(worker.incarnation), mark, make("span.where", { title: where }, where)),
    cell("State", stateChip(state)), number("Sessions", figure(worker.sessions)), rate("Signals", "signals"),
    rate("Published", "published"), rate("Deliveries", "delivered"), number("CPU", figure(rates.cpu_ms / 10, "%")),
    number("Heartbeat", figure(worker.round_trip_us / 1000, "ms")),
    number("Lease", gone === undefined ? lease(worker, now) : DASH),
    number("Up", started === undefined || gone !== undefined ? DASH : spoken(now - started)),
    cell("Version", worker.version ?? DASH));
}

/** @param asked the incarnation that answered. */
function showWorkers(now, asked) {
  const unknown = make("tr", {}, make("td.quiet", { colspan: "11" }, "While Redis is away, the workers are not known."));
  const rows = workers.map((worker) => workerRow(worker, now, asked));
  update(document.querySelector("#workers tbody"), rows.length ? rows : [unknown]);
  const counts = Object.entries(STATES).map(([state, words]) => (
    [workers.filter((worker) => stateOf(worker) === state).length, words]));
  setText(find("workers-count"), counts.filter(([count]) => count).map((each) => each.join(" ")).join(" · "));
}

function showBusy(conversations) {
  const most = Math.max(1, ...conversations.map(({ typing }) => typing));
  const rows = conversations.map(({ conversation, typing, joined }) => make("li", {},
    make("bdi.name", {}, conversation), make("span.count", {}, make("b", {}, figure(typing)), " typing"),
    make("span.quiet", {}, `${figure(joined)} joined`),
    make("progress", { max: String(most), value: String(typing), "aria-hidden": "true" })));
  update(find("busy"), rows.length ? rows : [make("li.quiet", {}, "Nobody is typing.")]);
}

/** Events that report recovery; the first lease does not. */
const MENDED = ["swept a dead worker", "lease begun", "an audit repaired records"];

/** Events have the time of the log, in UTC, with the date if it is not today by their clock. */
function showEvents(events, now) {
  const today = new Date(now).toISOString().slice(0, 10);
  const rows = events.map(({ at, level, message, facts, times }, index) => {
    const isMended = MENDED.includes(message) && index < events.length - 1;
    const kind = isMended ? "mended" : level === "info" || level === "notice" ? "news" : "fault";
    const told = Object.entries(facts).sort().map(([key, value]) => `${key}=${value}`).join("  ");
    const moment = new Date(at).toISOString();
    const [day, clock] = [moment.slice(0, 10), moment.slice(11, 19)];
    return make("li", { "data-kind": kind },
      make("time", { datetime: moment }, day === today ? clock : `${day} ${clock}`), make("span.kind", {}, kind),
      make("span.message", {}, message, times > 1 ? make("b", {}, ` ×${figure(times)}`) : null),
      told ? make("code", {}, told) : null);
  });
  update(find("events"), rows.length ? rows : [make("li.quiet", {}, "Nothing yet.")]);
}

// MARK: Looking up a user: requested on demand, and refreshed while it is shown

const STANDINGS = { in_grace: "in grace", owner_dead: "its worker is dead", unsettled: "not settled yet" };
/** The requested user, and the user that is shown. */
let [wanted, shown] = [null, null];

async function refresh() {
  const user = wanted;
  // If the page still needs a token, the look-up waits for that.
  if (user === null || find("all").hidden) return;
  // Browsers remove the names `.` and `..` from URLs, even if they are escaped.
  const { body, problem } = /^\.\.?$/.test(user)
    ? { problem: `A browser cannot ask for ${user}; rollcall explain ${user} can` }
    : await get(`v1/users/${encodeURIComponent(user)}`);
  // It may have been closed, or another user requested, in the meantime.
  if (user !== wanted || find("all").hidden) return;
  setText(find("answer-user"), user);
  showAnswer(body, problem ?? "This worker does not answer");
  if (user === shown) return;
  shown = user;
  find("answer").hidden = false;
  find("answer-title").focus();
  announce(find("answer-rule").textContent);
}

function showAnswer(told, problem) {
  const status = !told ? "" : told.rule.code === "never_seen" ? "unknown" : told.status;
  const chip = find("answer-status");
  setText(chip, status);
  chip.dataset.status = status;
  chip.hidden = !status;
  setText(find("answer-rule"), told?.rule.text ?? `${problem}.`);
  find("devices").hidden = !told?.devices.length;
  update(document.querySelector("#devices tbody"), (told?.devices ?? []).map((device) => deviceRow(device, told.time)));
  setText(find("answer-more"), told ? facts(told).join(" · ") : "");
}

function facts({ status, last_seen: seen, time: now, rule, stored, version, revoked }) {
  const last = status !== "offline" ? "now" : seen === null ? "never" : `${spoken(now - seen)} ago`;
  return [`rule ${rule.code}`, `last seen ${last}`, `stored ${stored ?? "nothing"}`, `version ${version}`,
    ...revoked === undefined ? [] : [`tokens revoked ${spoken(now - revoked)} ago`]];
}

function deviceRow({ device, state, standing, since, lost, counts_until: end, worker }, now) {
  const words = STANDINGS[standing] ?? standing;
  const isInGrace = standing === "in_grace" && lost !== undefined && end !== undefined;
  const grace = isInGrace ? `: lost ${spoken(now - lost)} ago, for ${spoken(end - now)} more` : "";
  return make("tr", { "data-device": device },
    make("th", { scope: "row" }, make("bdi.name", {}, make("b", {}, device))),
    cell("State", state), cell("Counts as", words + grace), cell("Since", since ? spoken(now - since) : DASH),
    cell("Worker", make("span", {}, workerName(worker.incarnation), " ", stateChip(stateOf(worker)))),
    cell("Lease", lease(worker, now)));
}

function close() {
  [wanted, shown] = [null, null];
  find("answer").hidden = true;
  find("user").focus();
}

find("lookup-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const user = find("user").value.trim();
  if (!user) return;
  [wanted, shown] = [user, null];
  refresh();
});
find("answer-close").addEventListener("click", close);
find("answer").addEventListener("keydown", (event) => event.key === "Escape" && close());

// MARK: The page

let isFailing = false;

/** Keeps the shown figures, so that the values before an outage stay readable. */
function fail({ unavailable, problem }) {
  const text = unavailable
    ? "Redis is away. Sessions stay, and changes are sent when it is back. The figures of the workers are from before the outage."
    : `${problem ?? "This worker does not answer"}. Trying again…`;
  if (find("banner").textContent !== text || !isFailing) announce(text);
  isFailing = true;
  setText(find("banner"), text);
  find("banner").dataset.kind = unavailable ? "away" : "gone";
  find("loading").hidden = true;
}

/** Waits for a token. Until then no request is sent, so that a wrong token is not tried every second. */
function demandToken() {
  for (const id of ["loading", "all", "banner"]) find(id).hidden = true;
  find("token-form").hidden = false;
  setText(find("token-failure"), token.value ? "Wrong token." : "");
  find("token").focus();
  return new Promise((resolve) => {
    find("token-form").onsubmit = (event) => {
      event.preventDefault();
      token.value = find("token").value.trim();
      find("token").value = "";
      find("token-form").hidden = true;
      find("loading").hidden = false;
      resolve();
    };
  });
}

async function ask(began) {
  const answer = await get("v1/live");
  if (answer.wantsToken) return demandToken();
  const live = answer.body;
  if (live?.redis.up) add(live, began);
  else keep({ at: began });
  if (live) {
    find("loading").hidden = true;
    find("all").hidden = false;
    const ready = live.ready ? "" : ", which should be sent no devices just now";
    setText(find("source"), `As ${live.worker} at ${window.location.host} sees it${ready}`);
    showWorkers(time ?? live.time, live.worker);
    showBusy(live.conversations);
    showEvents(live.events, live.host_time);
  }
  if (!live?.redis.up) fail(live ? { unavailable: true } : answer);
  else if (isFailing) {
    isFailing = false;
    announce("The figures are live again.");
  }
  document.body.classList.toggle("stale", isFailing);
  find("banner").hidden = !isFailing;
  if (live) await refresh();
  showCharts(began);
}

/** Ends early when the page becomes visible, because timers of hidden pages fire rarely. */
function pause(milliseconds) {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
    document.addEventListener("visibilitychange", resolve, { once: true });
  });
}

for (;;) {
  const began = performance.now();
  try {
    await ask(began);
  } catch (error) {
    console.error(error);
    fail({ problem: "Cannot read the answer of this worker. Its version may differ from that of this page: reload the page" });
    find("banner").hidden = false;
  }
  await pause(Math.max(0, PERIOD - (performance.now() - began)));
}
