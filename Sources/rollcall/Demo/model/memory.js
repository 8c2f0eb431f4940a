// What the page remembers of its visitor's choices. A browser that keeps nothing is as good.

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
