// Owns what all views are narrowed to: a state, a call, an object, threads; and how an address says it.
import type { Wanted } from "./lod";
import { type RunModel, threadName } from "./model";
import type { Route } from "./route";

export interface Filter {
  state: number | null;
  /** The name of a call. */
  call: string | null;
  /** A text that the object contains; behind "=", what it is. */
  object: string | null;
  /** Places of threads. */
  threads: ReadonlySet<number> | null;
  /** What the address says of threads: `5`, `~5` for those alike, `pid70` for a process. */
  who: string | null;
}

/** The filter that an address asks for. */
export function filterOf(route: Route, of: RunModel): Filter {
  const text = route.values["only-state"];
  const value = Number(text);
  const who = route.values["only-thread"] || null;
  const threads = who === null ? null : threadsOf(of, who);
  return {
    state: text && Number.isInteger(value) && value >= 0 ? value : null,
    call: route.values["only-call"] || null, object: route.values["only-object"] || null,
    threads, who: threads && who,
  };
}

/** Whether nothing is asked for. */
export function isEmpty(filter: Filter): boolean {
  return filter.state === null && filter.call === null && filter.object === null && filter.threads === null;
}

/** The threads that a part of an address means; null where it means nothing. */
function threadsOf(of: RunModel, who: string): Set<number> | null {
  const [, kind, digits] = /^(~|pid)?([0-9]{1,10})$/.exec(who) ?? [];
  if (digits === undefined) return null;
  const number = Number(digits);
  const places = of.threads.map((_, place) => place);
  if (kind === "pid") return new Set(places.filter((place) => of.threads[place].pid === number));
  const first = of.threads[number];
  if (kind === undefined) return new Set([number]);
  return new Set(first ? places.filter((place) => of.threads[place].process === first.process && of.threads[place].role === first.role) : []);
}

/** The threads of a filter in words. */
export function whoText(of: RunModel, { who, threads }: Filter): string {
  if (!who || !threads) return "";
  if (who.startsWith("pid")) return `process ${who.slice(3)}`;
  return who.startsWith("~") && threads.size > 1 ? `${threads.size} threads like ${threadName(of, Number(who.slice(1)))}` : threadName(of, Number(who.replace("~", "")));
}

/** Which slices pass; null for all. Threads are not asked about: whole rows are left out for them. */
export function wantedSlices(of: RunModel, filter: Filter): Wanted {
  const { state, call, object } = filter;
  if (state === null && call === null && object === null) return null;
  const { slices, texts } = of;
  const objects = object === null ? null : matching(texts, object);
  return (slice) => (state === null || slices.state[slice] === state) && (call === null || texts[slices.call[slice]] === call)
    && (objects === null || objects.has(slices.object[slice]));
}

/** The texts that hold what was asked for, without regard to case; behind "=", those that are it. */
export function matching(texts: readonly string[], asked: string): Set<number> {
  const is = objectMatch(asked);
  const found = new Set<number>();
  texts.forEach((text, index) => {
    if (is(text)) found.add(index);
  });
  return found;
}

/** Whether an object is what a filter means. Calls that a server reads have the path or address itself: a pattern
 * (`/tmp/{n}.txt`) means each of its paths, and what is named by its process (`db (70, 10.0.0.7:5432)`) its address. */
export function objectMatch(asked: string): (text: string) => boolean {
  if (!asked.startsWith("=")) {
    const wanted = asked.toLowerCase();
    return (text) => text.toLowerCase().includes(wanted);
  }
  const wanted = asked.slice(1);
  const address = / \([0-9]+, ([^()]+)\)$/.exec(wanted)?.[1] ?? wanted;
  const parts = wanted.split(/\{[a-z]+\}/);
  const pattern = parts.length < 2 ? null : new RegExp(`^${parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("[^/]+")}$`);
  const isPath = wanted.startsWith("/");
  return (text) => text === wanted || (!isPath && (text === address || text.includes(`->${address}]`) || text.includes(`[${address}->`))) || (pattern !== null && pattern.test(text));
}

/** An object of a filter for people. */
export function objectText(asked: string): string {
  return asked.replace(/^=/, "");
}
