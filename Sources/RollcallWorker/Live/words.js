// Formats figures.

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const FINE = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
const FINER = new Intl.NumberFormat("en", { maximumFractionDigits: 2 });

export const DASH = "–";

/** Rounds to the significant digits. */
export function figure(value) {
  if (value === undefined || value === null || !Number.isFinite(value)) return DASH;
  if (value >= 10 || Number.isInteger(value)) return WHOLE.format(value);
  return value >= 1 ? FINE.format(value) : FINER.format(value);
}

export function withUnit(value, unit) {
  const text = figure(value);
  return text === DASH || !unit ? text : `${text} ${unit}`;
}

/** A duration in milliseconds, in the words of the command line. */
export function spoken(milliseconds) {
  const time = Math.max(0, milliseconds);
  if (time < 60_000) return `${(Math.floor(time / 100) / 10).toFixed(1)} s`;
  if (time < 3_600_000) return `${Math.floor(time / 60_000)} min`;
  if (time < 172_800_000) return `${Math.floor(time / 3_600_000)} h`;
  return `${Math.floor(time / 86_400_000)} d`;
}

export function lease(worker, now) {
  if (worker.lease_end === undefined) return "none";
  const left = worker.lease_end - now;
  return left >= 0 ? `ends in ${spoken(left)}` : `passed ${spoken(-left)} ago`;
}
