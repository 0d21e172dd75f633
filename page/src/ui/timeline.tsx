// Owns the timeline's part of the page: what is in view, the mouse, the keyboard, the search; drawing is src/draw/timeline.ts.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { wantedSlices } from "../data/filter";
import { moment, name, ns } from "../data/format";
import { hit, longest } from "../data/lod";
import { busy, threadName } from "../data/model";
import { change, numberOf, to as routeTo } from "../data/route";
import { heightOf, type Row, rowAt, rows as rowsOf } from "../data/rows";
import { nextHit, searched } from "../data/search";
import { endOf, NONE, placeOf } from "../data/slices";
import { useWindow } from "../served/window";
import { draw, headOf, type Scene } from "../draw/timeline";
import type { ViewProps } from "./app";
import { Legend, useWidth } from "./bits";
import { SliceDetails } from "./details";
import { markLink } from "./findings";

/** The shortest time that can be looked at, ns. */
const LEAST = 100;

export function TimelineView(props: ViewProps) {
  const { model: base, route, filter, go, run, source } = props;
  const { ref, width, theme } = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const [scroll, setScroll] = useState(0);
  const [asked, setAsked] = useState(route.values.search ?? "");
  const [view, setView] = useState<[number, number]>([0, base.length]);
  const [said, setSaid] = useState("");
  const rows: Row[] = useMemo(() => {
    const all = rowsOf(base.threads, base.texts, (thread) => busy(base, thread), folded);
    const { threads } = filter;
    if (threads === null) return all;
    const only = all.filter((row) => row.kind === "thread" && threads.has(row.thread));
    return only.map((row, at) => ({ ...row, top: at * row.height }));
  }, [base, folded, filter.who]);
  const head = headOf(base);
  const height = Math.max(160, Math.min(head + heightOf(rows) + 6, Math.round(Math.min(640, innerHeight * 0.7))));
  const labels = width < 600 ? 96 : 200;
  const inSight = useMemo(() => (source ? sight(rows, scroll, height) : []), [source, rows, scroll, height]);
  const { model, said: zoomSaid, took } = useWindow(base, source, view, width - labels, inSight);
  const images = useMemo(() => new Map<number, HTMLCanvasElement>(), [model.tiles, theme]);
  const wanted = useMemo(() => {
    const byFilter = wantedSlices(model, filter);
    const bySearch = searched(model, route.values.search ?? "");
    return byFilter && bySearch ? (i: number) => byFilter(i) && bySearch(i) : (byFilter ?? bySearch);
  }, [model, filter.state, filter.call, filter.object, route.values.search]);
  const place = numberOf(route, "select");
  const slice = placeOf(model.slices, place);
  const thread = numberOf(route, "thread") ?? -1;
  const from = numberOf(route, "from");
  const to = numberOf(route, "to");
  useEffect(() => setView(from !== null && to !== null && to > from ? [from, to] : [0, base.length]), [from, to, base]);

  const scene: Scene = { model, rows, from: view[0], to: view[1], scroll, width, height, labels, wanted, thread, slice, tileImages: images };
  const latest = useRef(scene);
  latest.current = scene;
  const frame = useRef(0);
  const paint = (): void => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => { if (canvas.current && latest.current.width > 0) draw(canvas.current, latest.current); });
  };
  useEffect(paint);
  // The row that was asked for comes into view.
  useEffect(() => {
    const row = rows.find((each) => each.kind === "thread" && each.thread === thread);
    const element = box.current;
    if (!row || !element) return;
    const room = height - head - row.height;
    if (row.top < element.scrollTop || row.top > element.scrollTop + room) element.scrollTop = Math.max(0, row.top - room / 2);
  }, [thread, rows]);

  const timer = useRef(0);
  const look = (next: [number, number]): void => {
    const span = Math.min(Math.max(next[1] - next[0], LEAST), model.length * 1.02);
    const start = Math.min(Math.max(next[0], -span * 0.1), model.length - span * 0.9);
    const rounded: [number, number] = [start, start + span];
    latest.current = { ...latest.current, from: rounded[0], to: rounded[1] };
    setView(rounded);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      go(change(route, { from: String(Math.round(rounded[0])), to: String(Math.round(rounded[1])) }), true);
    }, 250);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const zoom = (factor: number, at: number): void => {
    const { from: a, to: b } = latest.current;
    look([at - (at - a) * factor, at + (b - at) * factor]);
  };
  const timeAt = (px: number): number => {
    const { from: a, to: b } = latest.current;
    return a + ((px - labels) / Math.max(1, width - labels)) * (b - a);
  };
  const select = (i: number, on: number, moves = false): void => {
    const values: Record<string, string> = { thread: String(on), select: i >= 0 ? String(model.slices.number[i]) : "" };
    const { from: a, to: b } = latest.current;
    if (i >= 0 && (endOf(model.slices, i) < a || model.slices.start[i] > b)) {
      const room = Math.max((endOf(model.slices, i) - model.slices.start[i]) * 2, (b - a) / 4);
      values.from = String(Math.round(model.slices.start[i] - room));
      values.to = String(Math.round(endOf(model.slices, i) + room));
    } else {
      values.from = String(Math.round(a));
      values.to = String(Math.round(b));
    }
    clearTimeout(timer.current);
    go(change(route, values), moves);
    setSaid(i >= 0 ? `${model.texts[model.slices.call[i]]}, ${ns(model.slices.took[i])}, ${threadName(model, on)}` : threadName(model, on));
  };
  const find = (text: string, step: 1 | -1): void => {
    const each = searched(model, text);
    if (text !== (route.values.search ?? "")) go(change(route, { search: text }));
    if (!each) return;
    const found = nextHit(model, shownThreads(rows), each, slice >= 0 ? model.slices.start[slice] : view[0], step, slice);
    if (found < 0) return setSaid("Nothing holds this text.");
    const on = threadOf(model.slices.first, found);
    const room = Math.max((endOf(model.slices, found) - model.slices.start[found]) * 2, (view[1] - view[0]) / 4);
    go(change(route, {
      search: text, select: String(model.slices.number[found]), thread: String(on),
      from: String(Math.round(model.slices.start[found] - room)), to: String(Math.round(endOf(model.slices, found) + room)),
    }));
    setSaid(`${model.texts[model.slices.call[found]]}, ${ns(model.slices.took[found])}`);
  };
  const step = (way: 1 | -1): void => {
    if (thread < 0) return;
    const { first, start } = model.slices;
    let i = slice >= 0 ? slice + way : hit(model.slices, thread, (view[0] + view[1]) / 2, view[1] - view[0], wanted);
    while (i >= first[thread] && i < first[thread + 1] && wanted && !wanted(i)) i += way;
    if (i >= first[thread] && i < first[thread + 1] && start[i] >= 0) select(i, thread, true);
  };
  const move = (way: 1 | -1): void => {
    const list = shownThreads(rows);
    const next = list[Math.min(list.length - 1, Math.max(0, list.indexOf(thread) + way))];
    if (next !== undefined) select(-1, next, true);
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const span = view[1] - view[0];
    const middle = slice >= 0 ? model.slices.start[slice] : (view[0] + view[1]) / 2;
    const acts: Record<string, () => void> = {
      "+": () => zoom(0.6, middle), "=": () => zoom(0.6, middle), "-": () => zoom(1 / 0.6, middle), "0": () => look([0, model.length]),
      ArrowLeft: () => look([view[0] - span / 8, view[1] - span / 8]), ArrowRight: () => look([view[0] + span / 8, view[1] + span / 8]),
      ArrowUp: () => move(-1), ArrowDown: () => move(1), n: () => step(1), p: () => step(-1), "/": () => search.current?.focus(),
      Escape: () => go(change(route, { select: "" })),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  // A wheel turns pages unless the timeline has the focus: nobody is held fast in it.
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && document.activeElement !== element) return;
      event.preventDefault();
      const { from: a, to: b } = latest.current;
      const side = event.shiftKey ? event.deltaY : event.deltaX;
      if (Math.abs(side) > Math.abs(event.deltaY) || event.shiftKey) {
        const by = (side / Math.max(1, width)) * (b - a);
        look([a + by, b + by]);
      } else zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 300))), timeAt(event.offsetX));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });
  const drag = useRef<{ x: number; y: number; from: number; to: number; scroll: number; moved: boolean } | null>(null);
  const down = (event: PointerEvent): void => {
    drag.current = { x: event.clientX, y: event.clientY, from: view[0], to: view[1], scroll: box.current?.scrollTop ?? 0, moved: false };
    canvas.current?.setPointerCapture(event.pointerId);
  };
  const dragged = (event: PointerEvent): void => {
    const d = drag.current;
    if (!d) return;
    const [dx, dy] = [event.clientX - d.x, event.clientY - d.y];
    if (!d.moved && Math.hypot(dx, dy) < 4) return;
    d.moved = true;
    const by = (-dx / Math.max(1, width - labels)) * (d.to - d.from);
    look([d.from + by, d.to + by]);
    if (box.current) box.current.scrollTop = d.scroll - dy;
  };
  const up = (event: PointerEvent): void => {
    const d = drag.current;
    drag.current = null;
    if (!d || d.moved) return;
    if (event.offsetY < head) {
      const at = timeAt(event.offsetX);
      const mark = model.marks.find((each) => at >= each.from && at <= each.to);
      if (mark) location.hash = markLink(model, mark, run);
      return;
    }
    const row = rows[rowAt(rows, event.offsetY - head + scroll)];
    if (!row) return;
    if (row.kind === "process") {
      const next = new Set(folded);
      if (!next.delete(row.key)) next.add(row.key);
      setFolded(next);
    } else if (row.kind === "thread") {
      const slack = ((view[1] - view[0]) / Math.max(1, width - labels)) * 4;
      select(event.offsetX < labels ? -1 : hit(model.slices, row.thread, timeAt(event.offsetX), slack, wanted), row.thread);
    }
  };
  const present = useMemo(() => model.spent.reduce((all, spent) => all.map((is, i) => is || spent[i] > 0), new Array(13).fill(false) as boolean[]), [model]);
  for (let i = 0; i < Math.min(model.slices.count, 2000); i++) present[model.slices.state[i]] = true;
  const center = (view[0] + view[1]) / 2;
  return (
    <div ref={ref}>
      <form class="ws-bar" role="search" onSubmit={(event) => { event.preventDefault(); find(asked, 1); }}>
        <label>Search <input ref={search} type="search" value={asked} placeholder="call, object, error, site" onInput={(event) => setAsked(event.currentTarget.value)} /></label>
        <button type="submit">Next</button>
        <button type="button" onClick={() => find(asked, -1)}>Previous</button>
        {route.values.search && <button type="button" onClick={() => { setAsked(""); go(change(route, { search: "" })); }}>Clear</button>}
        <span class="ws-space" />
        <button type="button" aria-label="Zoom in" onClick={() => zoom(0.6, center)}>+</button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(1 / 0.6, center)}>−</button>
        <button type="button" onClick={() => look([0, model.length])}>Whole</button>
        <span class="ws-dim">{moment(Math.max(0, view[0]), (view[1] - view[0]) / 100)} to {moment(view[1], (view[1] - view[0]) / 100)}: {ns(view[1] - view[0])}</span>
      </form>
      <Legend present={present} chosen={filter.state} choose={(state) => go(change(route, { "only-state": state === null ? "" : String(state) }))} />
      <div ref={box} class="ws-rows" onScroll={(event) => setScroll(event.currentTarget.scrollTop)} data-height={height}>
        <Spacer canvas={height} rows={head + heightOf(rows) + 6}>
          <canvas ref={canvas} tabIndex={0} role="application" aria-roledescription="timeline"
            aria-label={`Timeline of ${model.threads.length} threads. Arrow keys move, plus and minus zoom, n and p step through the calls of a thread, slash searches.`}
            onKeyDown={keys} onPointerDown={down} onPointerMove={dragged} onPointerUp={up} onDblClick={(event) => zoom(0.3, timeAt(event.offsetX))} />
        </Spacer>
      </div>
      <p class="ws-dim ws-hint">Drag to move, wheel to zoom after a click (or with Ctrl), keys + − 0 ← → ↑ ↓ n p /. A click on a process folds it.</p>
      <p class="ws-said" role="status" data-zoom={model === base ? "" : `${model.exact ? "calls" : "tiles"} ${Math.round(took)}`}>{name(zoomSaid || said)}</p>
      {model !== base && <p class="ws-dim ws-hint">{model.exact ? "All calls in view" : "Sums of all calls in view"}, as the recording has them: states are those of the kinds of calls. What ran on a CPU, and which waits were for work, the whole view tells.</p>}
      {slice >= 0 && <SliceDetails {...props} model={model} slice={slice} />}
      {source && base.run.kind === "recording" && <p><button type="button" onClick={() => go(routeTo(route, "calls", { from: String(Math.round(view[0])), to: String(Math.round(view[1])) }))}>Calls in view, row by row</button></p>}
      <InView {...props} model={model} view={view} rows={rows} wanted={wanted} select={select} />
    </div>
  );
}

function Spacer({ canvas, rows, children }: { canvas: number; rows: number; children: preact.ComponentChildren }) {
  return <div ref={(element) => {
    if (!element) return;
    element.style.height = `${rows}px`;
    if (element.parentElement) element.parentElement.style.height = `${canvas}px`;
  }}>{children}</div>;
}

/** The threads in sight, and some above and below. */
function sight(rows: readonly Row[], scroll: number, height: number): number[] {
  return shownThreads(rows.filter((row) => row.top + row.height > scroll - 200 && row.top < scroll + height + 200));
}

export function shownThreads(rows: readonly Row[]): number[] {
  return rows.flatMap((row) => (row.kind === "thread" ? [row.thread] : []));
}

/** The thread of a slice. */
export function threadOf(first: Uint32Array, slice: number): number {
  let low = 0;
  let high = first.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (first[middle] <= slice) low = middle;
    else high = middle - 1;
  }
  return low;
}

type InViewProps = ViewProps & { view: [number, number]; rows: Row[]; wanted: ReturnType<typeof wantedSlices>; select: (i: number, thread: number) => void };

/** The longest calls of what is in view: the timeline for those who cannot see it. */
function InView({ model, view, rows, wanted, select, route, go }: InViewProps) {
  const [open, setOpen] = useState(false);
  const found = useMemo(() => (open ? longest(model.slices, shownThreads(rows), view[0], view[1], 25, wanted) : []), [open, view, rows, wanted, model]);
  const { slices, texts } = model;
  return (
    <details class="ws-left" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Longest calls in view, as a table</summary>
      {open && <div class="ws-scroll" tabIndex={0} role="region" aria-label="Longest calls in view"><table>
        <thead><tr><th scope="col">Call</th><th scope="col">Object</th><th scope="col">Thread</th><th scope="col" class="ws-fig">Start</th><th scope="col" class="ws-fig">Took</th></tr></thead>
        <tbody>{found.map((i) => (
          <tr key={i}>
            <td><button type="button" class="ws-link" onClick={() => select(i, threadOf(slices.first, i))}>{name(texts[slices.call[i]])}</button></td>
            <td>{slices.object[i] === NONE ? "–" : <button type="button" class="ws-link" onClick={() => go(routeTo(route, "timeline", { "only-object": `=${texts[slices.object[i]]}` }))}>{name(texts[slices.object[i]])}</button>}</td>
            <td>{name(threadName(model, threadOf(slices.first, i)))}</td>
            <td class="ws-fig">{moment(slices.start[i], 1e3)}</td><td class="ws-fig"><button type="button" class="ws-link" onClick={() => select(i, threadOf(slices.first, i))}>{ns(slices.took[i])}</button></td>
          </tr>))}</tbody>
      </table></div>}
    </details>
  );
}
