// What can be done to a device.

const SILENT = "No goodbye: the others see it once 5 s of grace have passed, unless the device is back by then.";
const SAID = "The device says so itself: the others see it at once, unless another device says more.";

/** What each button does to a device, how that is called, and what to expect. */
const ACTS = {
  active: { title: "in use again", hint: SAID, act: (device) => device.become("active") },
  idle: { title: "idle", hint: SAID, act: (device) => device.become("idle") },
  background: { title: "app to the background", hint: SAID, act: (device) => device.become("background") },
  drop: { title: "network dropped", hint: SILENT, act: (device) => device.dropNetwork() },
  restore: { title: "network back", hint: "The client comes back by itself.", act: (device) => device.restoreNetwork() },
  quit: { title: "force-quit", hint: SILENT, act: (device) => device.quit() },
  leave: { title: "signed out", hint: SAID, act: (device) => device.signOut() },
  open: { title: "app opened", hint: SAID, act: (device) => device.open() },
};

/** Buttons after which a user may seem to have left. */
const LEAVING = ["background", "drop", "quit", "leave"];

/** The buttons below a device. Emits `acted` for each act, with the timeline's data in the detail. */
export class Controls extends EventTarget {
  #device;
  #parts;

  constructor(device, parts) {
    super();
    this.#device = device;
    this.#parts = parts;
    parts.controls.setAttribute("aria-label", `What happens to ${device.label}`);
    parts.controls.addEventListener("click", ({ target }) => this.#pressed(target.closest("button")));
    device.addEventListener("changed", () => this.show());
  }

  show() {
    const { states, drop, restore, quit, leave, open } = this.#parts;
    const { isOpen, network, state } = this.#device;
    for (const button of states.children) {
      button.setAttribute("aria-pressed", String(isOpen && button.value === state));
      button.disabled = !isOpen;
    }
    quit.hidden = leave.hidden = !isOpen;
    drop.hidden = !isOpen || !network.isUp;
    restore.hidden = network.isUp;
    open.hidden = isOpen;
  }

  #pressed(button) {
    if (!button) return;
    const { title, hint, act } = ACTS[button.value];
    const detail = { title: `${this.#device.label}: ${title}`, hint, verdict: LEAVING.includes(button.value) };
    this.dispatchEvent(new CustomEvent("acted", { detail }));
    const hadFocus = document.activeElement === button;
    act(this.#device);
    if (hadFocus && button.hidden) this.#passFocus();
  }

  /** Moves the focus from a button that disappears to the one that replaces it. */
  #passFocus() {
    [...this.#parts.controls.querySelectorAll(".actions button")].find((each) => !each.hidden)?.focus();
  }
}
