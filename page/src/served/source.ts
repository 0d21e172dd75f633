// Owns what a served page asks its server for. The server judges each request; here is only how it is asked.
import type { Page, Timeline } from "../data";

/** The server said no, or nothing; in words for people. */
export class Refused extends Error {
  constructor(message: string, readonly status: number) {
    super(message);
  }
}

export interface Status {
  name: string;
  generation: number;
  state: "waiting" | "diagnosing" | "ready" | "failed" | "gone";
  seconds: number;
  said: string | null;
  grows: boolean;
  indexed: number | null;
  is_old: boolean;
  bytes: number;
}

export interface Served {
  title: string;
  report: string;
  page: Page | null;
  facts?: { calls: number; length: number; indexed: number; folder: string };
}

/** A part of the timeline. Threads are places in `tids`. */
export interface WindowData {
  from: number;
  to: number;
  exact: boolean;
  indexed: number;
  tids: number[];
  tiles: Timeline["tiles"];
  slices: Omit<Timeline["slices"], "site" | "line"> & { seq: number[] };
  texts: string[];
  rows_read: number;
}

export interface Answer {
  columns: { name: string; type: string }[];
  rows: (string | number | boolean | null)[][];
  truncated: boolean;
  seconds: number;
}

export interface TablesAnswer {
  tables: { name: string; about: string; columns: string[] }[];
  macros: { name: string; about: string }[];
}

export interface CallAnswer {
  line: string;
}

export interface Found {
  id: number;
  name: string;
  kind: "recording" | "capture";
  bytes: number;
  modified: number;
  verdict: string | null;
}

export interface LiveStatus {
  allowed: boolean;
  why: string | null;
  id: number | null;
  running: boolean;
  pid: number | null;
  seconds: number;
  of: number;
  said: string | null;
}

/** Asks for JSON; `body` makes it a POST. */
export async function ask<T>(address: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(address, {
      signal, credentials: "same-origin", redirect: "error", cache: "no-store",
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Refused("The server does not answer: it may have ended.", 0);
  }
  const value: unknown = await response.json().catch(() => null);
  if (!response.ok) {
    const said = (value as { error?: unknown } | null)?.error;
    throw new Refused(typeof said === "string" ? said : `The server answered ${response.status}.`, response.status);
  }
  return value as T;
}

/** The server's data of one recording; `base` ends with a slash. */
export class Source {
  constructor(readonly base: string) {}

  status(): Promise<Status> {
    return ask(`${this.base}status`);
  }

  page(): Promise<Served> {
    return ask(`${this.base}page`);
  }

  window(zero: string | null, from: number, to: number, pixels: number, tids: readonly number[], signal: AbortSignal): Promise<WindowData> {
    const query = new URLSearchParams({ from: String(Math.floor(from)), to: String(Math.ceil(to)), pixels: String(pixels), threads: tids.join(",") });
    if (zero !== null) query.set("zero", zero);
    return ask(`${this.base}window?${query}`, undefined, signal);
  }

  call(seq: number): Promise<CallAnswer> {
    return ask(`${this.base}call?seq=${seq}`);
  }

  calls(values: Record<string, string>, signal?: AbortSignal): Promise<Answer> {
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(values)) if (value !== "") query.set(key, value);
    return ask(`${this.base}calls?${query}`, undefined, signal);
  }

  tables(): Promise<TablesAnswer> {
    return ask(`${this.base}tables`);
  }

  sql(sql: string, signal?: AbortSignal): Promise<Answer> {
    return ask(`${this.base}sql`, { sql }, signal);
  }
}
