// Owns the search of the timeline: slices whose call, object, error, site or line holds a text, and threads by name.
import { matching } from "./filter";
import type { Wanted } from "./lod";
import type { RunModel } from "./model";

/** The slices that hold the text; null where nothing is asked. */
export function searched(of: RunModel, asked: string): Wanted {
  if (asked.trim() === "") return null;
  const found = matching(of.texts, asked.trim());
  const { slices } = of;
  return (i) =>
    found.has(slices.call[i]) || found.has(slices.object[i]) || found.has(slices.error[i]) || found.has(slices.site[i]) || found.has(slices.line[i]);
}

/** The next slice after (or before) a moment that is wanted, over all threads given; -1 for none. Ends of the window are joined. */
export function nextHit(of: RunModel, threads: readonly number[], wanted: NonNullable<Wanted>, after: number, step: 1 | -1, not: number): number {
  const { slices } = of;
  let best = -1;
  let around = -1;
  const before = (a: number, b: number): boolean => (b < 0 ? true : step > 0 ? slices.start[a] < slices.start[b] : slices.start[a] > slices.start[b]);
  for (const thread of threads) {
    for (let i = slices.first[thread]; i < slices.first[thread + 1]; i++) {
      if (i === not || !wanted(i)) continue;
      const isAfter = step > 0 ? slices.start[i] >= after : slices.start[i] <= after;
      if (isAfter && before(i, best)) best = i;
      if (before(i, around)) around = i;
    }
  }
  return best >= 0 ? best : around;
}
