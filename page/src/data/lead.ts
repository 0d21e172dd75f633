// Owns where a figure leads: the address of the calls, or requests, that stand behind it.
import type { Lead } from "../data";
import { isEmpty, type Filter } from "./filter";
import type { RunModel } from "./model";
import { type Route, to } from "./route";

/** What an address says of a lead; what it does not narrow is empty. */
export function leadValues(of: RunModel, lead: Lead): Record<string, string> {
  const text = (id: number | undefined): string => (id === undefined ? "" : (of.texts[id] ?? ""));
  return {
    "only-state": lead.state === undefined ? "" : String(lead.state), "only-call": text(lead.call),
    "only-object": lead.object === undefined ? "" : `=${text(lead.object)}`,
    "only-thread": lead.thread !== undefined ? String(lead.thread) : lead.alike !== undefined ? `~${lead.alike}` : lead.pid !== undefined ? `pid${lead.pid}` : "",
  };
}

/** Where it leads: to calls, longest first; to requests of an endpoint; to the timeline where no call is meant. */
export function leadRoute(route: Route, of: RunModel, lead: Lead): Route {
  if (lead.endpoint !== undefined) return to(route, "requests", { endpoint: String(lead.endpoint), ...leadValues(of, {}) });
  const values = leadValues(of, lead);
  if (lead.call === undefined && lead.object === undefined && lead.state !== undefined) return to(route, "timeline", values);
  return to(route, "calls", { ...values, sort: "took" });
}

/** The calls of the page that pass a filter, in the order asked for; their places. */
export function keptCalls(of: RunModel, filter: Filter, wanted: ((slice: number) => boolean) | null, errors: boolean, byStart: boolean): number[] {
  const { slices } = of;
  const found: number[] = [];
  for (let thread = 0; thread < of.threads.length; thread++) {
    if (filter.threads && !filter.threads.has(thread)) continue;
    for (let i = slices.first[thread]; i < slices.first[thread + 1]; i++) {
      if ((isEmpty(filter) || !wanted || wanted(i)) && (!errors || slices.error[i] !== 0xffff_ffff)) found.push(i);
    }
  }
  // Of a call that did not end nobody knows how long it is: it comes first.
  const took = (i: number): number => (Number.isNaN(slices.took[i]) ? Infinity : slices.took[i]);
  return found.sort(byStart ? (a, b) => slices.start[a] - slices.start[b] || a - b : (a, b) => (took(a) === took(b) ? slices.start[a] - slices.start[b] : took(b) > took(a) ? 1 : -1));
}
