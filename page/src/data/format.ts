// Owns how figures and names are written: as in the reports ("4.2 ms"), and never 0 for what is unknown.

/** What stands for an unknown figure. */
export const UNKNOWN = "–";

function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
  return size >= 10 ? value.toFixed(1) : value.toFixed(2).replace(/0$/, "");
}

/** A duration in ns: `870 ns`, `4.2 ms`, `12.0 s`, `3 min 20 s`. */
export function ns(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size < 1e3) return `${Math.round(value)} ns`;
  if (size < 999_500) return `${digits(value / 1e3)} us`;
  if (size < 999_500_000) return `${digits(value / 1e6)} ms`;
  if (size < 120e9) return `${digits(value / 1e9)} s`;
  const seconds = Math.round(value / 1e9);
  if (Math.abs(seconds) < 7200) return `${Math.trunc(seconds / 60)} min ${Math.abs(seconds % 60)} s`;
  return `${Math.trunc(seconds / 3600)} h ${Math.abs(Math.trunc((seconds % 3600) / 60))} min`;
}

/** A moment of the window, with digits enough to tell it from one `step` away: `1.2345 s`. */
export function moment(at: number, step: number): string {
  const [unit, name] = step >= 1e8 || at >= 1e9 ? [1e9, "s"] : at >= 1e6 ? [1e6, "ms"] : [1e3, "us"];
  const places = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / unit) - 1e-9)));
  return `${(at / unit).toFixed(places)} ${name}`;
}

/** A count with commas: `812,044`. */
export function count(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  return Math.round(value).toLocaleString("en-US");
}

/** Bytes, in powers of ten as the reports: `343.8 MB`. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  let size = value;
  for (const unit of ["B", "kB", "MB", "GB", "TB"]) {
    if (Math.abs(size) < 1000 || unit === "TB") return `${unit === "B" ? Math.round(size) : size.toFixed(1)} ${unit}`;
    size /= 1000;
  }
  return UNKNOWN;
}

/** A part of 1: `12.3 %`. */
export function share(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  return `${(value * 100).toFixed(1)} %`;
}

/** A number of no unit. */
export function plain(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  return Number.isInteger(value) ? count(value) : digits(value);
}

// Control characters, marks that turn the direction of text, and those that have no width.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A name as it can be trusted: what is invisible or turns text around is shown as its code. */
export function name(text: string): string {
  return text.replace(HIDDEN, (c) => `\\u{${c.charCodeAt(0).toString(16)}}`);
}

/** A name of at most `most` characters; what is left out is in the middle. */
export function short(text: string, most: number): string {
  const whole = name(text);
  if (whole.length <= most) return whole;
  const head = Math.ceil((most - 1) / 2);
  return `${whole.slice(0, head)}…${whole.slice(whole.length - (most - 1 - head))}`;
}
