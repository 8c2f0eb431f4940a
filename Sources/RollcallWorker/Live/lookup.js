// The explanation of a user's presence: requested on demand, and refreshed while it is shown.

import { announce, make, update, show } from "./dom.js";
import { stateChip, stateOf, workerName } from "./tables.js";
import { DASH, lease, spoken } from "./words.js";

const STANDINGS = {
  connected: "connected",
  in_grace: "in grace",
  owner_dead: "its worker is dead",
  unsettled: "not settled yet",
  gone: "gone",
};

const find = (id) => document.getElementById(id);

export class LookUp {
  #asker;
  /** The requested user, and the user that is shown. */
  #user = null;
  #shown = null;

  constructor(asker) {
    this.#asker = asker;
    find("lookup-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#open(find("user").value.trim());
    });
    find("answer-close").addEventListener("click", () => this.#close());
    find("answer").addEventListener("keydown", (event) => event.key === "Escape" && this.#close());
  }

  async refresh() {
    const user = this.#user;
    if (user === null) return;
    const { body, problem } = await this.#ask(user);
    // The dialog may have been closed, or another user requested, in the meantime.
    if (user !== this.#user || find("all").hidden) return;
    find("answer-user").textContent = user;
    if (body) this.#show(body);
    else this.#refuse(problem ?? "This worker does not answer");
    if (user === this.#shown) return;
    this.#shown = user;
    show("answer", true);
    find("answer-title").focus();
    announce(find("answer-rule").textContent);
  }

  /** Browsers remove the names `.` and `..` from URLs, even if they are escaped. */
  #ask(user) {
    if (/^\.\.?$/.test(user)) return { problem: `A browser cannot ask for ${user}; rollcall explain ${user} can` };
    return this.#asker.get(`v1/users/${encodeURIComponent(user)}`);
  }

  /** If the page still needs a token, waits for that. */
  async #open(user) {
    if (!user) return;
    [this.#user, this.#shown] = [user, null];
    if (!find("all").hidden) await this.refresh();
  }

  #close() {
    [this.#user, this.#shown] = [null, null];
    show("answer", false);
    find("user").focus();
  }

  #show(told) {
    const isKnown = told.rule.code !== "never_seen";
    this.#say(isKnown ? told.status : "unknown", told.rule.text);
    show("devices", told.devices.length > 0);
    update(document.querySelector("#devices tbody"), told.devices.map((device) => row(device, told.time)));
    const lastSeen = told.status !== "offline" ? "now" : told.last_seen === null ? "never" : `${spoken(told.time - told.last_seen)} ago`;
    const facts = [`rule ${told.rule.code}`, `last seen ${lastSeen}`, `stored ${told.stored ?? "nothing"}`, `version ${told.version}`];
    if (told.revoked !== undefined) facts.push(`tokens revoked ${spoken(told.time - told.revoked)} ago`);
    find("answer-more").textContent = facts.join(" · ");
  }

  #refuse(problem) {
    this.#say("", `${problem}.`);
    show("devices", false);
    find("answer-more").textContent = "";
  }

  #say(status, rule) {
    const chip = find("answer-status");
    chip.dataset.status = chip.textContent = status;
    chip.hidden = !status;
    if (find("answer-rule").textContent !== rule) find("answer-rule").textContent = rule;
  }
}

function row(device, now) {
  const { worker } = device;
  const state = stateOf(worker);
  const cell = (title, ...content) => make("td", { "data-title": title }, ...content);
  return make("tr", { "data-key": device.device, "data-device": device.device },
    make("th", { scope: "row" }, make("bdi.name", {}, make("b", {}, device.device))),
    cell("State", device.state),
    cell("Counts as", standing(device, now)),
    cell("Since", device.since ? `${spoken(now - device.since)}` : DASH),
    cell("Worker", make("span", {}, workerName(worker.incarnation), " ", stateChip(state))),
    cell("Lease", lease(worker, now)));
}

function standing({ standing, lost, counts_until: end }, now) {
  const words = STANDINGS[standing] ?? standing;
  if (standing !== "in_grace" || lost === undefined || end === undefined) return words;
  return `${words}: lost ${spoken(now - lost)} ago, for ${spoken(end - now)} more`;
}
