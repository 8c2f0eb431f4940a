// A device on the page: its name and worker, its screen in a frame, and the controls below.

import { build, setText } from "../parts.js";
import { Controls } from "./controls.js";
import { Screen } from "./screen.js";
import { Wire } from "./wire.js";

/** One device on the page. */
export class Frame {
  #device;
  #parts;
  #screen;

  constructor(device) {
    this.#device = device;
    const { element, parts } = build("device-template");
    this.element = element;
    this.#parts = parts;
    element.dataset.kind = device.kind;
    element.dataset.device = `${device.user}-${device.kind}`;
    element.setAttribute("aria-label", device.label);
    parts.label.textContent = device.label;
    this.#screen = new Screen(device, parts);
    this.controls = new Controls(device, parts);
    new Wire(device, parts.wire, parts["wire-list"]);
    device.addEventListener("changed", () => this.#showWorker());
  }

  get field() { return this.#parts.field; }

  control(name) { return this.#parts[name]; }

  show(conversation) {
    this.#device.show(conversation);
    this.#screen.rebuild();
    this.controls.show();
  }

  #showWorker() {
    const { worker } = this.#parts;
    const name = this.#device.worker;
    worker.dataset.worker = name ?? "";
    worker.title = name ? `Connected to worker ${name}` : "";
    setText(worker, name ?? (this.#device.isOpen ? "no connection" : "closed"));
  }
}
