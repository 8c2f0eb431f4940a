// What `rollcall dev` says of itself: its workers, and what of it is down. It may be about to start, or gone.

const PATIENCE = 300;

/** The settings as they are now, or null where nobody gives them. */
export async function currentSettings() {
  try {
    const response = await fetch("settings.json");
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

/** Waits until there are settings, and says if that takes long: the page is served before the workers run. */
export async function settingsOnceStarted(sayWaiting) {
  for (;;) {
    const settings = await currentSettings();
    if (settings) return settings;
    sayWaiting();
    await new Promise((resolve) => { setTimeout(resolve, PATIENCE); });
  }
}

/** Where the workers of these settings take connections. */
export function edgesOf({ workers }) { return workers.map(({ edge }) => edge); }
