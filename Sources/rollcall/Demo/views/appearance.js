// The switches for the page's appearance: light or dark, and the language of the screens.

import { language } from "../model/language.js";
import { remember, remembered } from "../model/memory.js";
import { make } from "../parts.js";

/** Fills the list of languages, each with its own name for itself. */
export function languageSwitch(select) {
  select.append(...language.all.map(({ id, name }) => {
    const option = make("option", name);
    option.value = id;
    option.lang = id;
    return option;
  }));
  select.value = language.id;
  select.addEventListener("change", () => language.choose(select.value));
}

/** Chooses light, dark, or the system's theme. */
export function themeSwitch(group) {
  const choose = (theme) => {
    document.documentElement.dataset.theme = theme;
    for (const button of group.children) button.setAttribute("aria-pressed", String(button.value === theme));
  };
  group.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    choose(button.value);
    remember("theme", button.value);
  });
  choose(remembered("theme") ?? "auto");
}
