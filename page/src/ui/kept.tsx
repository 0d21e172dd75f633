// Owns the table of the calls that the page itself holds: those behind a figure, each with its line.
import { useMemo, useState } from "preact/hooks";
import { objectText, wantedSlices } from "../data/filter";
import { count, moment, name, ns } from "../data/format";
import { keptCalls } from "../data/lead";
import { type RunModel, threadName } from "../data/model";
import { change, format, to } from "../data/route";
import { endOf, NONE } from "../data/slices";
import type { ViewProps } from "./app";
import { Copy } from "./bits";
import { threadOf } from "./timeline";

/** Rows that are drawn before "more" is asked for. */
const PAGE = 100;

/** Where the line of a call stands, for those whose line is not in the page; null where nothing tells. */
export function linePlace(of: RunModel, slice: number): string | null {
  const { slices } = of;
  const row = slices.row?.[slice];
  return row === undefined || !slices.file ? null : `${of.texts[slices.file[slice]]}:${row}`;
}

export function KeptCallsView({ model, route, go, filter }: ViewProps) {
  const { slices, texts } = model;
  const errors = route.values.error === "any";
  const byStart = route.values.sort === "start";
  const [most, setMost] = useState(PAGE);
  const found = useMemo(() => keptCalls(model, filter, wantedSlices(model, filter), errors, byStart),
    [model, filter.state, filter.call, filter.object, filter.who, errors, byStart]);
  const sum = found.reduce((all, i) => all + (slices.took[i] || 0), 0);
  const set = (changed: Record<string, string>): void => go(change(route, changed), true);
  return (
    <div>
      <div class="ws-bar">
        <label>Call <input type="search" value={filter.call ?? ""} placeholder="read" onChange={(event) => set({ "only-call": event.currentTarget.value.trim() })} /></label>
        <label>Object <input type="search" value={filter.object === null ? "" : objectText(filter.object)} placeholder="part of a path or address" onChange={(event) => set({ "only-object": event.currentTarget.value })} /></label>
        <label><input type="checkbox" checked={errors} onChange={(event) => set({ error: event.currentTarget.checked ? "any" : "" })} /> errors alone</label>
        <label>Order <select value={byStart ? "start" : "took"} onChange={(event) => set({ sort: event.currentTarget.value })}>
          <option value="took">longest first</option><option value="start">by start</option></select></label>
        <span class="ws-dim" role="status">{count(found.length)} of the {count(slices.count)} calls that are in this page one by one: {ns(sum)}</span>
      </div>
      <div class="ws-scroll" tabIndex={0} role="region" aria-label="Calls"><table>
        <thead><tr><th scope="col" class="ws-fig">Start</th><th scope="col" class="ws-fig">Took</th><th scope="col">Thread</th><th scope="col">Call</th><th scope="col">Object</th><th scope="col">Error</th><th scope="col">Line</th></tr></thead>
        <tbody>{found.slice(0, most).map((i) => {
          const thread = threadOf(slices.first, i);
          const room = Math.max((endOf(slices, i) - slices.start[i]) * 2, 1e4);
          const link = to(route, "timeline", {
            from: String(Math.round(slices.start[i] - room)), to: String(Math.round(endOf(slices, i) + room)), thread: String(thread), select: String(slices.number[i]),
          });
          const line = slices.line[i] === NONE ? null : texts[slices.line[i]];
          return (
            <tr key={i}>
              <td class="ws-fig"><a href={format(link)} onClick={(event) => { event.preventDefault(); go(link); }}>{moment(slices.start[i], 1e3)}</a></td>
              <td class="ws-fig">{ns(slices.took[i])}</td><td>{name(threadName(model, thread))}</td><td>{name(texts[slices.call[i]])}</td>
              <td>{slices.object[i] === NONE ? "–" : name(texts[slices.object[i]])}</td><td>{slices.error[i] === NONE ? "" : name(texts[slices.error[i]])}</td>
              <td class="ws-line">{line === null ? <span class="ws-dim">{name(linePlace(model, i) ?? "not in this page")}</span> : <><code>{name(line)}</code> <Copy text={line} /></>}</td>
            </tr>);
        })}</tbody>
      </table></div>
      {found.length > most && <button type="button" onClick={() => setMost(most * 4)}>More rows</button>}
    </div>
  );
}
