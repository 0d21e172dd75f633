// Owns the calls of a run as typed arrays: sorted by thread and start, with blocks for levels of detail. A million of them take
// about 60 MB. All indexes here are places in that order.
import type { Timeline } from "../data";

/** What stands for "none" in columns of texts. */
export const NONE = 0xffff_ffff;
/** Slices of one block; each level up holds as many blocks of the level below. */
export const FANOUT = 16;

/** A level of detail: blocks of FANOUT slices (or blocks), of one thread each. */
export interface Level {
  /** For each thread, where its blocks begin; one more at the end. */
  first: Uint32Array;
  start: Float64Array;
  end: Float64Array;
  /** The state in which most of the block's time was spent. */
  state: Uint8Array;
  /** The index of the longest slice in it. */
  longest: Uint32Array;
}

export interface Slices {
  count: number;
  /** For each thread, where its slices begin; one more at the end. */
  first: Uint32Array;
  start: Float64Array;
  /** NaN where it is not known. */
  took: Float64Array;
  state: Uint8Array;
  call: Uint32Array;
  object: Uint32Array;
  error: Uint32Array;
  site: Uint32Array;
  line: Uint32Array;
  /** Of captures: the text of the file's name, and the number of the line in it. */
  file: Uint32Array | null;
  row: Float64Array | null;
  /** The latest end of all slices of the thread up to this one. */
  reach: Float64Array;
  /** The place in the page's own order, which links use. */
  number: Uint32Array | Float64Array;
  /** From the page's order to this one. */
  place: Uint32Array;
  /** The same where numbers are too large for that; null where they are not. */
  numbers: Map<number, number> | null;
  levels: Level[];
}

/** The columns of the page as typed arrays, sorted by thread. Slices of unknown threads are left out. */
export function slices(raw: Timeline["slices"], threads: number): Slices {
  const total = raw.start.length;
  const first = new Uint32Array(threads + 1);
  let known = 0;
  for (let i = 0; i < total; i++) {
    const thread = raw.thread[i];
    if (thread >= 0 && thread < threads) {
      first[thread + 1]++;
      known++;
    }
  }
  for (let thread = 0; thread < threads; thread++) first[thread + 1] += first[thread];
  const next = first.slice();
  const out: Slices = {
    count: known, first, levels: [], numbers: null, file: raw.file ? new Uint32Array(known) : null, row: raw.row ? new Float64Array(known) : null,
    start: new Float64Array(known), took: new Float64Array(known), reach: new Float64Array(known),
    state: new Uint8Array(known), call: new Uint32Array(known), object: new Uint32Array(known), error: new Uint32Array(known),
    site: new Uint32Array(known), line: new Uint32Array(known), number: new Uint32Array(known), place: new Uint32Array(total).fill(NONE),
  };
  let at = 0;
  for (let i = 0; i < total; i++) {
    at += raw.start[i];
    const thread = raw.thread[i];
    if (!(thread >= 0 && thread < threads)) continue;
    const to = next[thread]++;
    out.start[to] = at;
    out.took[to] = raw.took[i] ?? NaN;
    out.state[to] = raw.state[i];
    out.call[to] = raw.call[i];
    out.object[to] = raw.object[i] ?? NONE;
    out.error[to] = raw.error[i] ?? NONE;
    out.site[to] = raw.site[i] ?? NONE;
    out.line[to] = raw.line[i] ?? NONE;
    if (out.file && raw.file) out.file[to] = raw.file[i];
    if (out.row && raw.row) out.row[to] = raw.row[i];
    out.number[to] = i;
    out.place[i] = to;
  }
  for (let thread = 0; thread < threads; thread++) {
    let reach = -Infinity;
    for (let i = first[thread]; i < first[thread + 1]; i++) {
      reach = Math.max(reach, endOf(out, i));
      out.reach[i] = reach;
    }
  }
  build(out, threads);
  return out;
}

/** Where the slice with a number is; -1 where it is not there. */
export function placeOf(of: Slices, number: number | null): number {
  const place = number === null ? undefined : of.numbers ? of.numbers.get(number) : of.place[number];
  return place === undefined || place === NONE ? -1 : place;
}

/** When a slice ends; its start where that is not known. */
export function endOf(of: Slices, i: number): number {
  const took = of.took[i];
  return took >= 0 ? of.start[i] + took : of.start[i];
}

function build(of: Slices, threads: number): void {
  const base: Level = {
    first: of.first, start: of.start, state: of.state, end: new Float64Array(of.count), longest: new Uint32Array(of.count),
  };
  for (let i = 0; i < of.count; i++) {
    base.end[i] = endOf(of, i);
    base.longest[i] = i;
  }
  let below = base;
  while (below.start.length > FANOUT * 64) {
    below = above(of, below, threads);
    of.levels.push(below);
  }
}

function above(of: Slices, below: Level, threads: number): Level {
  const first = new Uint32Array(threads + 1);
  for (let thread = 0; thread < threads; thread++) {
    first[thread + 1] = first[thread] + Math.ceil((below.first[thread + 1] - below.first[thread]) / FANOUT);
  }
  const blocks = first[threads];
  const level: Level = {
    first, start: new Float64Array(blocks), end: new Float64Array(blocks), state: new Uint8Array(blocks), longest: new Uint32Array(blocks),
  };
  const spent = new Float64Array(256);
  for (let thread = 0; thread < threads; thread++) {
    for (let block = first[thread]; block < first[thread + 1]; block++) {
      const from = below.first[thread] + (block - first[thread]) * FANOUT;
      const to = Math.min(from + FANOUT, below.first[thread + 1]);
      let end = -Infinity;
      let best = below.state[from];
      let longest = below.longest[from];
      for (let i = from; i < to; i++) spent[below.state[i]] = 0;
      for (let i = from; i < to; i++) {
        const state = below.state[i];
        spent[state] += below.end[i] - below.start[i];
        if (spent[state] > spent[best]) best = state;
        end = Math.max(end, below.end[i]);
        const other = below.longest[i];
        if ((of.took[other] || 0) > (of.took[longest] || 0)) longest = other;
      }
      level.start[block] = below.start[from];
      level.end[block] = end;
      level.state[block] = best;
      level.longest[block] = longest;
    }
  }
  return level;
}

/** The first place in [low, high) whose value is at least `value`, of values that never fall. */
export function lowerBound(values: Float64Array, value: number, low: number, high: number): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The slices of a thread that touch [from, to): the first and the one after the last. Some in between may have ended before. */
export function range(of: Slices, thread: number, from: number, to: number): [number, number] {
  const high = of.first[thread + 1];
  return [lowerBound(of.reach, from, of.first[thread], high), lowerBound(of.start, to, of.first[thread], high)];
}
