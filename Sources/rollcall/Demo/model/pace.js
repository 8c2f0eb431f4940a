// How long people take.

/** A random duration, in milliseconds. */
export function between(least, most) { return least + Math.random() * (most - least); }

/** Waits for a duration in milliseconds, or throws the signal's reason once it is aborted. */
export function pause(duration, signal) {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, duration);
    signal.addEventListener("abort", stop, { once: true });
  });
}
