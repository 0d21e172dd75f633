// Owns the details of a selected call: what the page knows of it, its raw line, who woke it.
import { useEffect, useState } from "preact/hooks";
import { moment, name, ns } from "../data/format";
import { threadName } from "../data/model";
import { change, to } from "../data/route";
import { endOf, NONE } from "../data/slices";
import { stateName } from "../data/states";
import { wakesIn } from "../data/wakes";
import { EVENTS } from "../served/window";
import type { ViewProps } from "./app";
import { Copy } from "./bits";
import { linePlace } from "./kept";
import { threadOf } from "./timeline";

export function SliceDetails({ model, slice, route, go, source }: ViewProps & { slice: number }) {
  const { slices, texts } = model;
  const thread = threadOf(slices.first, slice);
  const text = (column: Uint32Array): string | null => (column[slice] === NONE ? null : texts[column[slice]]);
  const object = text(slices.object);
  const number = slices.number[slice];
  const [read, setRead] = useState<{ number: number; line: string } | null>(null);
  // The server has the line of each call.
  useEffect(() => {
    if (!source || number < EVENTS) return;
    let asks = true;
    source.call(number - EVENTS).then((got) => asks && setRead({ number, line: got.line }), () => undefined);
    return () => { asks = false; };
  }, [source, number]);
  const line = text(slices.line) ?? (read?.number === number ? read.line : null);
  const at = linePlace(model, slice);
  const woken = wakesIn(model.wakes, thread, slices.start[slice], endOf(slices, slice) + 50_000, 5);
  const rows: [string, string | null][] = [
    ["Thread", threadName(model, thread)], ["Start", moment(slices.start[slice], 1e3)], ["Took", Number.isNaN(slices.took[slice]) ? "not known when it ended" : ns(slices.took[slice])],
    ["State", stateName(slices.state[slice])], ["Error", text(slices.error)], ["Site", text(slices.site)],
  ];
  return (
    <section class="ws-card" aria-label="The selected call">
      <h3>{name(texts[slices.call[slice]])}{object ? ` ${name(object)}` : ""}</h3>
      <dl>{rows.map(([term, value]) => value !== null && <div key={term}><dt>{term}</dt><dd>{name(value)}</dd></div>)}</dl>
      {woken.length > 0 && <p>Woken by {woken.map((wake, i) => (
        <button key={i} type="button" class="ws-link" onClick={() => go(change(route, { thread: String(wake.from), select: "" }))}>{name(threadName(model, wake.from))}</button>))}</p>}
      {line !== null && <div class="ws-raw"><pre tabIndex={0} role="region" aria-label="Raw line">{name(line)}</pre><Copy text={line} /></div>}
      {line === null && (!source || number < EVENTS) && <p class="ws-dim">Its line is not in this page{at === null ? "" : <>: <code>{name(at)}</code> <Copy text={at} /></>}.</p>}
      <p>
        {object && <button type="button" onClick={() => go(change(route, { "only-object": `=${object}` }))}>Only this object</button>}{" "}
        <button type="button" onClick={() => go(change(route, { "only-state": String(slices.state[slice]) }))}>Only this state</button>{" "}
        <button type="button" onClick={() => go(to(route, "timeline", { thread: String(thread), "only-thread": String(thread) }))}>Only this thread</button>
      </p>
    </section>
  );
}
