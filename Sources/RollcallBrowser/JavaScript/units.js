export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function clamped(value, least, most) { return Math.min(Math.max(value, least), most); }

export const utf8 = new TextEncoder();
