// The live page: asks its worker once a second, and shows the answer or that there is none.

import { Asker } from "./asker.js";
import { announce, show } from "./dom.js";
import { History } from "./history.js";
import { LookUp } from "./lookup.js";
import { charts } from "./figures.js";
import { showBusy, showEvents, showWorkers } from "./tables.js";

const PERIOD = 1000;

const banner = document.getElementById("banner");
const asker = new Asker();
const history = new History();
const lookUp = new LookUp(asker);
const drawn = charts(document.getElementById("charts"));
let failing = false;

for (;;) {
  const began = performance.now();
  try {
    await ask(began);
  } catch (error) {
    console.error(error);
    fail({ problem: "Cannot read the answer of this worker. Its version may differ from that of this page: reload the page" });
  }
  await pause(Math.max(0, PERIOD - (performance.now() - began)));
}

async function ask(began) {
  const answer = await asker.get("v1/live");
  if (answer.wantsToken) return demandToken();
  if (answer.body) {
    if (answer.body.redis.up) history.add(answer.body, began);
    else history.miss(began);
    render(answer.body);
    if (answer.body.redis.up) recovered();
    else fail({ unavailable: true });
    await lookUp.refresh();
  } else {
    history.miss(began);
    fail(answer);
  }
  for (const chart of drawn) chart.draw(history.points, began);
}

function render(live) {
  show("loading", false);
  show("all", true);
  const { host } = window.location;
  const ready = live.ready ? "" : ", which should be sent no devices just now";
  document.getElementById("source").textContent = `As ${live.worker} at ${host} sees it${ready}`;
  showWorkers(history.workers, history.time ?? live.time, live.worker);
  showBusy(live.conversations);
  showEvents(live.events, live.host_time ?? live.time);
}

/** Keeps the shown figures, so that the values before an outage stay readable. */
function fail({ unavailable, problem }) {
  const text = unavailable
    ? "Redis is away. Sessions stay, and changes are sent when it is back. The figures of the workers are from before the outage."
    : `${problem ?? "This worker does not answer"}. Trying again…`;
  if (banner.textContent !== text || !failing) announce(text);
  failing = true;
  show("loading", false);
  banner.textContent = text;
  banner.dataset.kind = unavailable ? "away" : "gone";
  document.body.classList.add("stale");
  show("banner", true);
}

function recovered() {
  if (failing) announce("The figures are live again.");
  failing = false;
  document.body.classList.remove("stale");
  show("banner", false);
}

/** Waits for a token. Until then no request is sent, so that a wrong token is not tried every second. */
function demandToken() {
  show("loading", false);
  show("all", false);
  show("banner", false);
  show("token-form", true);
  const field = document.getElementById("token");
  document.getElementById("token-failure").textContent = asker.token ? "Wrong token." : "";
  field.focus();
  return new Promise((resolve) => {
    document.getElementById("token-form").onsubmit = (event) => {
      event.preventDefault();
      asker.token = field.value.trim();
      field.value = "";
      show("token-form", false);
      show("loading", true);
      resolve();
    };
  });
}

/** Ends early when the page becomes visible, because timers of hidden pages fire rarely. */
function pause(milliseconds) {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    document.addEventListener("visibilitychange", done);
    function done() {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", done);
      resolve();
    }
  });
}
