// Owns what of a thread's slices is drawn: no more than a few spans a pixel, however many slices there are.
import { endOf, FANOUT, range, type Slices } from "./slices";

/** Spans to draw, in one buffer that is used again: pixels, state, and the slice, or -1 where several are merged. */
export interface Spans {
  count: number;
  from: Float32Array;
  to: Float32Array;
  state: Uint8Array;
  slice: Int32Array;
}

/** An empty buffer. */
export function spans(room = 4096): Spans {
  return { count: 0, from: new Float32Array(room), to: new Float32Array(room), state: new Uint8Array(room), slice: new Int32Array(room) };
}

/** A level is left for the one above it where this many of its items fall on a pixel. */
const CROWDED = 8;

/** Which slices are shown: null for all. */
export type Wanted = ((slice: number) => boolean) | null;

/** Fills `out` with what of the thread is seen in [from, to) on `width` pixels; slices under a pixel are merged. */
export function visible(of: Slices, thread: number, from: number, to: number, width: number, wanted: Wanted, out: Spans): void {
  out.count = 0;
  const scale = width / (to - from);
  const [low, high] = range(of, thread, from, to);
  let level = 0;
  let items = high - low;
  // A filter needs each slice: blocks do not know what is in them.
  while (!wanted && level < of.levels.length && items > CROWDED * width) {
    items /= FANOUT;
    level++;
  }
  const start = level ? of.levels[level - 1].start : of.start;
  const states = level ? of.levels[level - 1].state : of.state;
  const step = FANOUT ** level;
  const base = of.first[thread];
  const origin = level ? of.levels[level - 1].first[thread] : base;
  const begin = origin + Math.floor((low - base) / step);
  const stop = Math.min(origin + Math.ceil((high - base) / step), level ? of.levels[level - 1].first[thread + 1] : of.first[thread + 1]);
  // What is being merged: from..to, and how long each of its states took is told by the longest one alone.
  let pendingFrom = 0;
  let pendingTo = -1;
  let pendingState = 0;
  let pendingWidth = 0;
  let pendingSlice = -1;
  const emit = (): void => {
    if (pendingTo < 0) return;
    if (out.count === out.from.length) grow(out);
    const n = out.count++;
    out.from[n] = pendingFrom;
    out.to[n] = Math.max(pendingTo, pendingFrom + 1);
    out.state[n] = pendingState;
    out.slice[n] = pendingSlice;
    pendingTo = -1;
  };
  for (let i = begin; i < stop; i++) {
    const end = level ? of.levels[level - 1].end[i] : endOf(of, i);
    if (end < from || (wanted && !wanted(i))) continue;
    const x0 = Math.max(0, (start[i] - from) * scale);
    const x1 = Math.min(width, (end - from) * scale);
    const wide = x1 - x0;
    if (pendingTo >= 0 && wide < 1 && pendingTo - pendingFrom < 1 && x0 - pendingFrom < 1) {
      pendingTo = Math.max(pendingTo, x1);
      pendingSlice = -1;
      if (wide > pendingWidth) {
        pendingWidth = wide;
        pendingState = states[i];
      }
      continue;
    }
    emit();
    pendingFrom = x0;
    pendingTo = x1;
    pendingState = states[i];
    pendingWidth = wide;
    pendingSlice = level ? -1 : i;
  }
  emit();
}

function grow(out: Spans): void {
  const room = out.from.length * 2;
  const wider = spans(room);
  wider.from.set(out.from);
  wider.to.set(out.to);
  wider.state.set(out.state);
  wider.slice.set(out.slice);
  Object.assign(out, { from: wider.from, to: wider.to, state: wider.state, slice: wider.slice });
}

/** The slice of the thread at a moment, or the nearest one within `slack` ns; -1 where there is none. The shortest that holds it. */
export function hit(of: Slices, thread: number, at: number, slack: number, wanted: Wanted): number {
  const [low, high] = range(of, thread, at - slack, at + slack);
  let best = -1;
  let distance = Infinity;
  // Long calls over many short ones are rare; looking back is bounded all the same.
  for (let i = high - 1; i >= Math.max(low, high - 100_000); i--) {
    if (wanted && !wanted(i)) continue;
    const end = endOf(of, i);
    const away = at < of.start[i] ? of.start[i] - at : at > end ? at - end : 0;
    const rank = away > 0 ? away + 1e15 : end - of.start[i];
    if (away <= slack && rank < distance) {
      best = i;
      distance = rank;
    }
  }
  return best;
}

/** The longest slices that touch [from, to), longest first. */
export function longest(of: Slices, threads: readonly number[], from: number, to: number, most: number, wanted: Wanted): number[] {
  const found: number[] = [];
  let least = -1;
  const length = (i: number): number => (of.took[i] >= 0 ? of.took[i] : 0);
  for (const thread of threads) {
    const [low, high] = range(of, thread, from, to);
    for (let i = low; i < high; i++) {
      const took = length(i);
      if (took <= least || endOf(of, i) < from || (wanted && !wanted(i))) continue;
      found.push(i);
      if (found.length >= most * 4) {
        found.sort((a, b) => length(b) - length(a));
        found.length = most;
        least = length(found[most - 1]);
      }
    }
  }
  found.sort((a, b) => length(b) - length(a));
  return found.slice(0, most);
}
