// Owns what all views are narrowed to: a state, an object, a thread (by its number in the page).
import type { RunModel } from "./model";
import type { Route } from "./route";
import type { Wanted } from "./lod";

export interface Filter {
  state: number | null;
  /** A text that the object contains or is. */
  object: string | null;
  thread: number | null;
}

/** The filter that an address asks for. */
export function filterOf(route: Route): Filter {
  const number = (key: string): number | null => {
    const text = route.values[key];
    const value = Number(text);
    return text && Number.isInteger(value) && value >= 0 ? value : null;
  };
  return { state: number("only-state"), object: route.values["only-object"] || null, thread: number("only-thread") };
}

/** Whether nothing is asked for. */
export function isEmpty(filter: Filter): boolean {
  return filter.state === null && filter.object === null && filter.thread === null;
}

/** Which slices pass; null for all. The thread is not asked about: whole rows are left out for it. */
export function wantedSlices(of: RunModel, filter: Filter): Wanted {
  const { state, object } = filter;
  if (state === null && object === null) return null;
  const { slices } = of;
  const objects = object === null ? null : matching(of.texts, object);
  return (slice) => (state === null || slices.state[slice] === state) && (objects === null || objects.has(slices.object[slice]));
}

/** The texts that hold what was asked for, without regard to case. */
export function matching(texts: readonly string[], asked: string): Set<number> {
  const wanted = asked.toLowerCase();
  const found = new Set<number>();
  texts.forEach((text, index) => {
    if (text.toLowerCase().includes(wanted)) found.add(index);
  });
  return found;
}
