// What a page holds, as crates/page writes it. One JSON document, compressed with gzip, in base64 inside
// <script type="application/x-whyslow" id="whyslow-data">. Times are integers in nanoseconds from the start of the run's window.
// What is unknown is null, never 0. Columns are arrays of equal length; a column said to be "delta" holds differences.

/** Bumped when a field changes its meaning; new optional fields leave it alone. */
export const SCHEMA = 1;

export interface Page {
  schema: number;
  /** "whyslow 0.x" */
  made_by: string;
  /** One run; two for before and after, in that order. */
  runs: Run[];
  /** The comparison of two runs, as `whyslow diff --json` says it. */
  diff: unknown | null;
}

export interface Run {
  /** The file's name, without its folder. */
  name: string;
  kind: "recording" | "capture";
  /** Length of the window, ns. */
  length: number;
  /** Wall-clock time of the window's start, RFC 3339, if known. */
  started: string | null;
  /** The window's start on the input's clock, ns, in digits: more than a number holds here; null or absent if unknown. */
  origin?: string | null;
  /** Each text once: names, objects, raw lines. Other fields hold indexes into it ("text"). */
  texts: string[];
  /** The diagnosis, as `whyslow diagnose --json` says it: verdict, findings, account, host, notes. */
  diagnosis: unknown;
  threads: Thread[];
  timeline: Timeline;
  requests: Requests | null;
  waits: WaitEdge[];
  stacks: Stacks | null;
  tables: Table[];
  /** What stands behind each row of the account (diagnosis.account.rows); null where the page shows nothing of it. */
  account?: (Lead | null)[];
  host: Series[];
  /** What was left out of this page for its size, one sentence each: "812,044 of 1,000,000 calls, the shortest ones". */
  left_out: string[];
}

export interface Thread {
  pid: number;
  tid: number;
  /** text */ name: number;
  /** text: the process's name */ process: number;
  /** text: the thread's role in the account ("request worker", "idle", …), or null */ role: number | null;
  /** True for the target that was asked about, false for peers. */
  target: boolean;
  /** ns of the window in which it is known to have lived, if known */
  from: number | null;
  to: number | null;
}

/** States of a thread; the index is what `tiles` and `slices` hold. */
export const STATES = ["running", "runnable", "waits for a peer", "waits for a file", "waits for a lock", "waits for a timer",
  "waits for a child", "waits for a pipe", "waits for work", "other wait", "unknown", "in a call", "between calls"] as const;

export interface Timeline {
  /** Whole time as tiles: for each thread and each of `buckets` parts of the time, ns in each state. Sparse: only what is not 0.
   * Bucket b is the time from `from + b * width` to `from + (b + 1) * width`, ns; `from` is 0 or less. Sorted by thread, bucket, state. */
  tiles: { buckets: number; from: number; width: number; thread: number[]; bucket: number[]; state: number[]; ns: number[] };
  /** Calls one by one, sorted by start: all of them, or the longest and those that findings, requests or errors need (see left_out). */
  slices: {
    thread: number[];
    /** delta */ start: number[];
    /** null: not known when it ended */ took: (number | null)[];
    state: number[];
    /** text: "read", "futex" */ call: number[];
    /** text: the object: file, peer, lock; null where none is known */ object: (number | null)[];
    /** text: "ENOENT" or null */ error: (number | null)[];
    /** text: site "app.py:12 load", or null */ site: (number | null)[];
    /** text: the raw line of a capture, or the call as it is printed; null where left out */ line: (number | null)[];
    /** Captures alone: text: the file's name */ file?: number[];
    /** Captures alone: the number of its line */ row?: number[];
  };
  /** Wake-ups: thread wakes thread at a time. */
  wakes: { from: number[]; to: number[]; /** delta */ at: number[] };
  /** Marks of findings: index into diagnosis.findings, thread (null: all), from, to. */
  marks: { finding: number; thread: number | null; from: number; to: number }[];
}

export interface Requests {
  /** One by one: slowest and failed of each endpoint, and a sample of the rest. */
  /** text */ endpoint: number[];
  served: boolean[];
  /** delta */ start: number[];
  took: number[];
  failed: boolean[];
  thread: (number | null)[];
  /** text: peer, or null */ peer: (number | null)[];
  /** How many there were in all, by endpoint, with percentiles in ns. */
  endpoints: { endpoint: number; count: number; p50: number | null; p95: number | null; p99: number | null; max: number | null; failed: number }[];
}

/** Somebody waits for somebody: thread or process to thread, process, peer, lock, file. */
export interface WaitEdge {
  /** index into threads */ from: number;
  /** index into threads, or null with `object` */ to: number | null;
  /** text */ object: number | null;
  /** index into STATES */ state: number;
  ns: number;
  count: number;
  /** Part of the critical path of what was asked about. */
  critical: boolean;
}

/** Stacks as a tree of frames: node i hangs under parent[i] (-1: root). */
export interface Stacks {
  parent: number[];
  /** text: function */ frame: number[];
  /** text: "file:line" or null */ place: (number | null)[];
  /** index into LANGUAGES */ language: number[];
  /** own weight of the node, without its children */
  cpu_samples: number[];
  off_cpu_ns: number[];
  /** ns a CPU sample stands for; null: unknown */ ns_per_sample: number | null;
}
export const LANGUAGES = ["kernel", "native", "go", "java", "python", "javascript", "ruby", "php", "perl", "other"] as const;

/** A table that `whyslow files|peers|locks|threads|…` prints. */
export interface Table {
  id: string;
  title: string;
  columns: { name: string; kind: "text" | "count" | "ns" | "bytes" | "share" | "number" }[];
  /** Cells: a number, a string, or null for unknown. */
  rows: (string | number | null)[][];
  /** What stands behind each row; absent where there is nothing behind any. */
  leads?: (Lead | null)[];
  /** Rows that are not here. */
  left_out: number;
}

/** What stands behind a figure: which calls one looks at to see it. What is absent narrows nothing. */
export interface Lead {
  /** index into threads */ thread?: number;
  /** index into threads: it, and those with its process's name and its role */ alike?: number;
  /** the threads of this process */ pid?: number;
  /** text */ call?: number;
  /** text */ object?: number;
  /** index into STATES */ state?: number;
  /** text: requests of it instead of calls */ endpoint?: number;
}

/** A figure of the host over time. */
export interface Series {
  resource: string;
  name: string;
  unit: string;
  at: number[];
  value: (number | null)[];
}
