// Owns zooms beyond what the page holds: which part of the timeline is asked of the server, and the model with it in place.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { RunModel } from "../data/model";
import { slices } from "../data/slices";
import { tiles } from "../data/tiles";
import type { Source, WindowData } from "./source";

/** Numbers of calls from here on are those of events of the recording. */
export const EVENTS = 2 ** 32;
/** Threads of one question. */
export const MOST = 64;
/** A question waits for the hand to rest, ms. */
const REST = 50;
/** Tiles wider than this on the screen, pixels, are asked for anew. */
const COARSE = 2;

/** Whether what is there shows [from, to) of these threads on so many pixels well enough. */
export function shows(got: WindowData | null, from: number, to: number, plot: number, tids: readonly number[]): boolean {
  if (!got || got.from > from || got.to < to || got.indexed < 1) return false;
  if (!got.exact && (got.tiles.width / (to - from)) * plot > COARSE) return false;
  const known = new Set(got.tids);
  return tids.every((tid) => known.has(tid));
}

/** The model with the calls and tiles of a window in place of its own. */
export function withWindow(model: RunModel, got: WindowData): RunModel {
  const place = new Map(model.threads.map((thread, i) => [thread.tid, i]));
  const threads = got.tids.map((tid) => place.get(tid) ?? -1);
  const shift = model.texts.length;
  const none = new Array<null>(got.slices.start.length).fill(null);
  const moved = (column: readonly (number | null)[]): (number | null)[] => column.map((text) => (text === null ? null : text + shift));
  const made = slices({
    ...got.slices, thread: got.slices.thread.map((thread) => threads[thread]), call: got.slices.call.map((text) => text + shift),
    object: moved(got.slices.object), error: moved(got.slices.error), site: none, line: none,
  }, model.threads.length);
  const number = new Float64Array(made.count);
  const numbers = new Map<number, number>();
  for (let i = 0; i < made.count; i++) {
    number[i] = EVENTS + got.slices.seq[made.number[i]];
    numbers.set(number[i], i);
  }
  return {
    ...model, texts: [...model.texts, ...got.texts], slices: { ...made, number, numbers }, exact: got.exact,
    tiles: tiles({ ...got.tiles, thread: got.tiles.thread.map((thread) => threads[thread]) }, model.threads.length),
  };
}

export interface Zoomed {
  model: RunModel;
  /** What to say of it; empty for nothing. */
  said: string;
  /** How long the last answer took, ms. */
  took: number;
}

/** The model to draw for [from, to) on so many pixels: its own where that is fine enough, else with the server's data once it is there. */
export function useWindow(base: RunModel, source: Source | null, view: readonly [number, number], plot: number, visible: readonly number[]): Zoomed {
  const [got, setGot] = useState<{ of: RunModel; data: WindowData } | null>(null);
  const [said, setSaid] = useState("");
  const took = useRef(0);
  const [from, to] = view;
  const needs = source !== null && base.run.kind === "recording" && plot > 0 && (base.tiles.buckets === 0 || (base.tiles.width / (to - from)) * plot > COARSE);
  const tids = visible.slice(0, MOST).map((thread) => base.threads[thread].tid);
  const key = tids.join(",");
  const data = got && got.of === base ? got.data : null;
  const again = data !== null && data.indexed < 1;
  const [tick, setTick] = useState(0);
  useEffect(() => {
    if (!source || !needs || !tids.length || (shows(data, from, to, plot, tids) && !again)) return;
    const stop = new AbortController();
    const timer = window.setTimeout(() => {
      const room = (to - from) / 2;
      const begun = performance.now();
      source.window(base.run.origin ?? null, from - room, to + room, Math.min(2000, Math.round(plot * 2)), tids, stop.signal).then((answer) => {
        took.current = performance.now() - begun;
        setGot({ of: base, data: answer });
        setSaid(answer.indexed < 1 ? `The recording is still being read: ${Math.floor(answer.indexed * 100)} % so far.` : "");
        if (answer.indexed < 1) window.setTimeout(() => setTick((n) => n + 1), 500);
      }, (error: unknown) => {
        if (!stop.signal.aborted) setSaid(error instanceof Error ? error.message : String(error));
      });
    }, REST);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [source, base, needs, from, to, plot, key, tick]);
  const usable = needs && data !== null && data.from < to && data.to > from;
  const model = useMemo(() => (usable && data ? withWindow(base, data) : base), [base, usable, data]);
  return { model, said: needs ? said : "", took: took.current };
}
