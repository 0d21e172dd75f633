// Owns the requests of a run as columns with real starts, and how their spans are stacked so that none hides another.
import type { Requests } from "../data";
import { lowerBound } from "./slices";

export interface RequestColumns {
  count: number;
  start: Float64Array;
  took: Float64Array;
  endpoint: Uint32Array;
  served: Uint8Array;
  failed: Uint8Array;
  /** -1 where it is not known. */
  thread: Int32Array;
  /** The lane of its span in the timeline. */
  lane: Uint8Array;
  lanes: number;
  /** The latest end of all up to this one. */
  reach: Float64Array;
}

/** At most so many lanes; what does not fit lies in the last one. */
const LANES = 6;

/** Sums up the deltas and stacks the spans. */
export function requestColumns(raw: Requests): RequestColumns {
  const count = raw.start.length;
  const out: RequestColumns = {
    count, lanes: 0, start: new Float64Array(count), took: new Float64Array(count), reach: new Float64Array(count),
    endpoint: Uint32Array.from(raw.endpoint), served: Uint8Array.from(raw.served, Number), failed: Uint8Array.from(raw.failed, Number),
    thread: Int32Array.from(raw.thread, (thread) => thread ?? -1), lane: new Uint8Array(count),
  };
  const free = new Float64Array(LANES).fill(-Infinity);
  let at = 0;
  let reach = -Infinity;
  for (let i = 0; i < count; i++) {
    at += raw.start[i];
    out.start[i] = at;
    out.took[i] = raw.took[i];
    const end = at + raw.took[i];
    let lane = free.findIndex((until) => until <= at);
    if (lane < 0) lane = LANES - 1;
    free[lane] = Math.max(free[lane], end);
    out.lane[i] = lane;
    out.lanes = Math.max(out.lanes, lane + 1);
    reach = Math.max(reach, end);
    out.reach[i] = reach;
  }
  return out;
}

/** The requests that may touch [from, to): the first and the one after the last. */
export function requestRange(of: RequestColumns, from: number, to: number): [number, number] {
  return [lowerBound(of.reach, from, 0, of.count), lowerBound(of.start, to, 0, of.count)];
}

/** The request nearest to a point of the scatter, within `slack` of both; -1 for none. Distances are in pixels by the two scales. */
export function nearest(of: RequestColumns, x: (start: number) => number, y: (took: number) => number, atX: number, atY: number, slack: number,
  wanted: (request: number) => boolean): number {
  let best = -1;
  let distance = slack * slack;
  for (let i = 0; i < of.count; i++) {
    if (!wanted(i)) continue;
    const dx = x(of.start[i]) - atX;
    const dy = y(of.took[i]) - atY;
    const away = dx * dx + dy * dy;
    if (away < distance) {
      best = i;
      distance = away;
    }
  }
  return best;
}
