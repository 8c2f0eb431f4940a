// Times in milliseconds, text in bytes. All durations in these modules are numbers of milliseconds.

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export function clamp(value, least, most) { return Math.min(Math.max(value, least), most); }

const encoder = new TextEncoder();

export function utf8Length(text) { return encoder.encode(text).length; }
