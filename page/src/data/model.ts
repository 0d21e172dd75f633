// Owns a run as the views use it: typed columns and indexes, made once; the plain columns are let go, so that memory holds one copy.
import type { Page, Run, Thread } from "../data";
import { type DiagnosisView, diagnosisView } from "./diagnosis";
import { type RequestColumns, requestColumns } from "./requests";
import { type Slices, slices } from "./slices";
import { RUNNING, WORK, UNKNOWN_STATE } from "./states";
import { type Tiles, tiles, totals } from "./tiles";
import { type Wakes, wakes } from "./wakes";

export interface Mark {
  finding: number;
  thread: number | null;
  from: number;
  to: number;
}

export interface RunModel {
  run: Run;
  length: number;
  threads: Thread[];
  texts: string[];
  slices: Slices;
  tiles: Tiles;
  wakes: Wakes;
  marks: Mark[];
  requests: RequestColumns | null;
  diagnosis: DiagnosisView;
  /** For each thread, ns in each state. */
  spent: Float64Array[];
  /** Slices are all calls of what is in view, not a choice of them; with data from a server alone. */
  exact?: boolean;
}

/** Reads a run. Its raw slices, tiles and wake-ups are emptied. */
export function runModel(run: Run): RunModel {
  const { timeline } = run;
  const threads = run.threads.length;
  const length = Math.max(1, run.length);
  const model: RunModel = {
    run, length, threads: run.threads, texts: run.texts,
    tiles: tiles(timeline.tiles, threads),
    slices: slices(timeline.slices, threads),
    wakes: wakes(timeline.wakes, threads),
    marks: timeline.marks,
    requests: run.requests && requestColumns(run.requests),
    diagnosis: diagnosisView(run.diagnosis),
    spent: [],
  };
  model.spent = run.threads.map((_, thread) => totals(model.tiles, thread));
  timeline.tiles = { buckets: 0, from: 0, width: 1, thread: [], bucket: [], state: [], ns: [] };
  timeline.slices = { thread: [], start: [], took: [], state: [], call: [], object: [], error: [], site: [], line: [] };
  timeline.wakes = { from: [], to: [], at: [] };
  return model;
}

/** The runs of a page. */
export function models(page: Page): RunModel[] {
  return page.runs.map(runModel);
}

/** How busy a thread is: time running, then time in calls; rows are sorted by it. */
export function busy(of: RunModel, thread: number): number {
  const spent = of.spent[thread];
  let sum = spent[RUNNING] * 2;
  for (let state = 1; state < spent.length; state++) if (state !== WORK && state !== UNKNOWN_STATE) sum += spent[state];
  return sum;
}

/** A thread for people: `worker (71)`. */
export function threadName(of: RunModel, thread: number): string {
  const known = of.threads[thread];
  return known ? `${of.texts[known.name]} (${known.tid})` : "a thread that is not in this page";
}
