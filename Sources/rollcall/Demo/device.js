// One device of a person: its connection, and what can befall it.

import { RollcallClient } from "./rollcall.js";
import { build } from "./parts.js";

/** How long a lost network stays lost, unless one asks for it earlier. */
const LOST_FOR = 15_000;
const REMEMBERED_FRAMES = 40;

export const KINDS = {
  laptop: "M4 5h16v11H4zM2 18h20v2H2z",
  phone: "M7 2h10v20H7zM9 4v14h6V4z",
  tablet: "M4 3h16v18H4zM6 5v13h12V5z",
};

const STATES = { active: "In use", idle: "Idle", background: "In the background" };

/** Events: `changed` (its connection or state) and `wire` (a frame was sent or received). */
export class Device extends EventTarget {
  frames = [];
  #parts;
  #absence = null;
  #returnsAt = 0;
  /** How its person ended it last. */
  #ending = "";

  constructor({ user, kind, suffix, urls, group }) {
    super();
    this.name = `${kind}-${suffix}`;
    this.client = new RollcallClient({ url: urls, token: user, device: this.name });
    this.connection = { status: "idle" };
    const { element, parts } = build("device-template");
    this.element = element;
    this.#parts = parts;
    parts.icon.setAttribute("d", KINDS[kind]);
    parts.name.textContent = this.name;
    parts.choice.name = group;
    parts.choice.addEventListener("change", () => this.dispatchEvent(new Event("chosen")));
    element.addEventListener("click", ({ target }) => this.#pressed(target));
    this.client.connection.subscribe((connection) => {
      this.connection = connection;
      this.#changed();
    });
    this.client.addEventListener("wire", ({ detail }) => this.#keep(detail));
    this.client.connect();
  }

  choose() { this.#parts.choice.checked = true; }

  get isConnected() { return this.connection.status === "connected"; }

  /** Ends the device for good, politely. */
  remove() {
    this.#stay();
    this.client.close();
    this.element.remove();
    this.dispatchEvent(new Event("removed"));
  }

  #pressed(target) {
    const button = target.closest("button");
    if (!button) return;
    if (button.value) {
      this.client.setState(button.value);
      return this.#changed();
    }
    switch (button.dataset.action) {
      case "drop": this.#lose(); break;
      case "kill": this.#end("Force-quit", { goodbye: false }); break;
      case "leave": this.#end("Signed out", { goodbye: true }); break;
      case "return": this.#stay(); this.client.connect(); break;
      case "remove": this.remove(); break;
    }
  }

  #lose() {
    this.#returnsAt = Date.now() + LOST_FOR;
    this.#absence = setInterval(() => {
      if (Date.now() < this.#returnsAt) return this.#changed();
      this.#stay();
      this.client.connect();
    }, 1_000);
    this.client.disconnect({ goodbye: false });
  }

  #end(how, goodbye) {
    this.#ending = how;
    this.client.disconnect(goodbye);
  }

  #stay() {
    clearInterval(this.#absence);
    this.#absence = null;
  }

  #keep({ sent, received }) {
    this.frames.push({ sent: sent !== undefined, text: sent ?? received, at: new Date() });
    this.frames.splice(0, this.frames.length - REMEMBERED_FRAMES);
    this.dispatchEvent(new Event("wire"));
  }

  #changed() {
    const { status, session } = this.connection;
    const state = this.client.deviceState;
    const isGone = status === "idle" || status === "failed" || status === "closed";
    this.element.dataset.connection = status;
    this.element.dataset.state = state;
    this.#parts.worker.textContent = session?.worker.split(".")[0] ?? "";
    this.#parts.worker.title = session ? `Held by worker ${session.worker}` : "";
    this.#parts.status.textContent = this.#status(state);
    this.#parts.states.hidden = this.#parts["online-actions"].hidden = isGone;
    this.#parts["offline-actions"].hidden = !isGone;
    for (const button of this.#parts.states.children) {
      button.setAttribute("aria-pressed", String(button.value === state));
    }
    this.dispatchEvent(new Event("changed"));
  }

  #status(state) {
    const { status, error } = this.connection;
    switch (status) {
      case "connected": return STATES[state];
      case "connecting": return "Connecting…";
      case "waiting": return "Looking for a worker…";
      case "failed": return `Ended: ${error.message}`;
      case "idle":
      case "closed": break;
    }
    return this.#absence ? `No network, for ${Math.ceil((this.#returnsAt - Date.now()) / 1_000)} s` : this.#ending;
  }
}
