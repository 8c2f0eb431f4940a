// The language on the devices' screens: one for all, so that the screens can be compared.

import { languages } from "../rollcall.js";
import { remember, remembered } from "./memory.js";

/** Emits `changed`. */
class Language extends EventTarget {
  #all = new Map(languages().map((each) => [each.id, each]));
  #id;

  constructor() {
    super();
    this.#id = this.#all.has(remembered("language")) ? remembered("language") : this.#preferred();
  }

  get id() { return this.#id; }

  get direction() { return this.#all.get(this.#id).direction; }

  get all() { return [...this.#all.values()]; }

  choose(id) {
    this.#id = id;
    remember("language", id);
    this.dispatchEvent(new Event("changed"));
  }

  /** The time of day in the format of this language. */
  time(at) { return new Intl.DateTimeFormat(this.#id, { hour: "numeric", minute: "2-digit" }).format(at); }

  /** The word for today. */
  get today() { return new Intl.RelativeTimeFormat(this.#id, { numeric: "auto" }).format(0, "day"); }

  date(at) { return new Intl.DateTimeFormat(this.#id, { weekday: "long", day: "numeric", month: "long" }).format(at); }

  /** The first of the reader's languages that is available. */
  #preferred() {
    const ids = navigator.languages.map((tag) => {
      const { language, script } = new Intl.Locale(tag).maximize();
      return language === "zh" ? `zh-${script}` : language;
    });
    return ids.find((id) => this.#all.has(id)) ?? "en";
  }
}

export const language = new Language();
