// Owns the address of a view: `#timeline?from=10&to=20&thread=71`. What is shown is in it, so that links and the back button work.

/** The views, in the order of their tabs. */
export const VIEWS = ["timeline", "account", "waits", "flame", "requests", "tables", "calls", "sql", "host", "compare"] as const;
export type View = (typeof VIEWS)[number];

/** A view and what it shows. */
export interface Route {
  view: View;
  values: Readonly<Record<string, string>>;
}

/** The values that all views share: which run, and what they are narrowed to. */
const SHARED = ["run", "only-state", "only-call", "only-object", "only-thread"];

/** Reads a hash; null where it names no view. */
export function parse(hash: string): Route | null {
  const text = hash.replace(/^#/, "");
  const cut = text.indexOf("?");
  const view = (cut < 0 ? text : text.slice(0, cut)) as View;
  if (!VIEWS.includes(view)) return null;
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [key, value] of new URLSearchParams(cut < 0 ? "" : text.slice(cut + 1))) values[key] = value;
  return { view, values };
}

/** Writes a hash; empty values are left out. */
export function format(route: Route): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(route.values)) if (value !== "") query.set(key, value);
  const text = query.toString();
  return `#${route.view}${text ? `?${text}` : ""}`;
}

/** The route to another view: what is shared goes along. */
export function to(route: Route, view: View, values: Record<string, string> = {}): Route {
  const kept: Record<string, string> = {};
  for (const key of SHARED) if (route.values[key]) kept[key] = route.values[key];
  return { view, values: { ...kept, ...values } };
}

/** The same view with some values changed. */
export function change(route: Route, values: Record<string, string>): Route {
  return { view: route.view, values: { ...route.values, ...values } };
}

/** A number of the address; null where there is none. */
export function numberOf(route: Route, key: string): number | null {
  const text = route.values[key];
  if (text === undefined || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
