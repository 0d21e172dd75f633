// Owns the tiles: the whole time of each thread in equal parts, with the time in each state.
import { STATES, type Timeline } from "../data";

export interface Tiles {
  buckets: number;
  /** Where the first bucket begins, and how long each is, ns. */
  from: number;
  width: number;
  /** For each thread, where its entries begin; one more at the end. */
  first: Uint32Array;
  bucket: Uint32Array;
  state: Uint8Array;
  ns: Float64Array;
}

/** The sparse columns, sorted by thread and bucket. */
export function tiles(raw: Timeline["tiles"], threads: number): Tiles {
  const order = new Uint32Array(raw.thread.length);
  let known = 0;
  for (let i = 0; i < raw.thread.length; i++) {
    if (raw.thread[i] >= 0 && raw.thread[i] < threads && raw.bucket[i] < raw.buckets && raw.state[i] < STATES.length) order[known++] = i;
  }
  const kept = order.subarray(0, known).sort((a, b) => raw.thread[a] - raw.thread[b] || raw.bucket[a] - raw.bucket[b]);
  const out: Tiles = {
    buckets: Math.max(1, raw.buckets), from: raw.from, width: Math.max(1, raw.width), first: new Uint32Array(threads + 1),
    bucket: new Uint32Array(known), state: new Uint8Array(known), ns: new Float64Array(known),
  };
  kept.forEach((from, to) => {
    out.first[raw.thread[from] + 1]++;
    out.bucket[to] = raw.bucket[from];
    out.state[to] = raw.state[from];
    out.ns[to] = raw.ns[from];
  });
  for (let thread = 0; thread < threads; thread++) out.first[thread + 1] += out.first[thread];
  return out;
}

/** How long the thread was in each state in all. */
export function totals(of: Tiles, thread: number): Float64Array {
  const sums = new Float64Array(STATES.length);
  for (let i = of.first[thread]; i < of.first[thread + 1]; i++) sums[of.state[i]] += of.ns[i];
  return sums;
}
