// Remembers the visitor's choices. The page also works in a browser that stores nothing.

const NAME = "rollcall-demo";

export function remembered(choice) { return everything()[choice]; }

export function remember(choice, value) {
  try {
    localStorage.setItem(NAME, JSON.stringify({ ...everything(), [choice]: value }));
  } catch { /* Then not. */ }
}

function everything() {
  try {
    return JSON.parse(localStorage.getItem(NAME)) ?? {};
  } catch {
    return {};
  }
}
