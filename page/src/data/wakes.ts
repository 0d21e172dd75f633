// Owns wake-ups by the thread that was woken: who ended a wait.
import type { Timeline } from "../data";
import { lowerBound } from "./slices";

export interface Wakes {
  /** For each woken thread, where its wake-ups begin; one more at the end. */
  first: Uint32Array;
  at: Float64Array;
  from: Uint32Array;
}

/** Sums up the deltas and sorts by the woken thread. */
export function wakes(raw: Timeline["wakes"], threads: number): Wakes {
  const first = new Uint32Array(threads + 1);
  const known = (i: number): boolean => raw.to[i] >= 0 && raw.to[i] < threads && raw.from[i] >= 0 && raw.from[i] < threads;
  for (let i = 0; i < raw.at.length; i++) if (known(i)) first[raw.to[i] + 1]++;
  for (let thread = 0; thread < threads; thread++) first[thread + 1] += first[thread];
  const next = first.slice();
  const out: Wakes = { first, at: new Float64Array(first[threads]), from: new Uint32Array(first[threads]) };
  let at = 0;
  for (let i = 0; i < raw.at.length; i++) {
    at += raw.at[i];
    if (!known(i)) continue;
    const to = next[raw.to[i]]++;
    out.at[to] = at;
    out.from[to] = raw.from[i];
  }
  return out;
}

/** The wake-ups of a thread within [from, to], at most `most`: those nearest to the end. */
export function wakesIn(of: Wakes, thread: number, from: number, to: number, most: number): { at: number; from: number }[] {
  const low = lowerBound(of.at, from, of.first[thread], of.first[thread + 1]);
  const out: { at: number; from: number }[] = [];
  let high = lowerBound(of.at, to, low, of.first[thread + 1]);
  while (high < of.first[thread + 1] && of.at[high] <= to) high++;
  for (let i = Math.max(low, high - most); i < high; i++) out.push({ at: of.at[i], from: of.from[i] });
  return out;
}
