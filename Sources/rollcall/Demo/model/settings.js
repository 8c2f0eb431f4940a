// What `rollcall dev` reports: its workers, and which parts are down. It may be about to start, or gone.

const PATIENCE = 300;

/** Returns the current settings, or null if there is no answer. */
export async function currentSettings() {
  try {
    const response = await fetch("settings.json");
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/** Waits until there are settings, and calls `sayWaiting` while it waits: the page is served before the workers run. */
export async function settingsOnceStarted(sayWaiting) {
  for (;;) {
    const settings = await currentSettings();
    if (settings) return settings;
    sayWaiting();
    await new Promise((resolve) => { setTimeout(resolve, PATIENCE); });
  }
}

/** Returns the URLs at which the workers accept connections. */
export function edgesOf({ workers }) { return workers.map(({ edge }) => edge); }
