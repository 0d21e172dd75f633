// Owns the flame graphs: canvas, search, zoom into a frame, and the functions as a table.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { LANGUAGES } from "../data";
import { type FlameBox, flameBoxes, type FlameKind, type FlameNode, flameTree, functions, KINDS, matched, weights } from "../data/flame";
import { count, name, ns, share, short } from "../data/format";
import { change } from "../data/route";
import { dark, fit, inks } from "../draw/palette";
import type { ViewProps } from "./app";
import { Plain, useWidth } from "./bits";

const TALL = 18;
/** A hue for each language: they stand in the hint and the table too. */
const HUES = [210, 28, 190, 12, 45, 60, 350, 265, 170, 100];
const WORDS: Record<FlameKind, string> = { cpu: "On a CPU", "off-cpu": "Off CPU", wall: "Both", difference: "Difference" };

export function FlameView({ model, runs, run, route, go }: ViewProps) {
  const { ref, width, theme } = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const stacks = model.run.stacks;
  const other = runs.length > 1 ? runs[0] : null;
  const kinds = KINDS.filter((kind) => stacks && (kind === "difference" ? other?.run.stacks && run > 0 : weights(stacks, kind)));
  const has = (kind: FlameKind): boolean => {
    const weight = stacks && weights(stacks, kind);
    return !!weight && stacks.parent.some((_, i) => weight.of(i) > 0);
  };
  const kind = kinds.find((each) => each === route.values.kind) ?? kinds.find(has) ?? kinds[0];
  const inverted = route.values.invert === "1";
  const byLanguage = route.values.merge === "1";
  const search = route.values.search ?? "";
  const tree = useMemo(() => stacks && kind ? flameTree({ stacks, texts: model.texts }, kind, { inverted, byLanguage },
    kind === "difference" && other?.run.stacks ? { stacks: other.run.stacks, texts: other.texts } : null) : null, [model, kind, inverted, byLanguage]);
  const [focus, setFocus] = useState<FlameNode | null>(null);
  const [over, setOver] = useState<FlameNode | null>(null);
  useEffect(() => setFocus(null), [tree]);
  const boxes = useMemo(() => (tree && width ? flameBoxes(tree, focus, width) : []), [tree, focus, width]);
  const height = (Math.max(0, ...boxes.map((box) => box.depth)) + 1) * TALL + 2;
  useEffect(() => {
    if (canvas.current && tree && width) draw(canvas.current, boxes, width, height, search, kind === "difference");
  }, [boxes, width, search, theme, kind]);
  const table = useMemo(() => (tree ? functions(tree, 40) : []), [tree]);
  if (!stacks || !tree || !kind) return null;
  const unit = weights(stacks, kind)?.unit === "samples" ? (value: number) => `${count(value)} samples` : ns;
  const boxAt = (event: MouseEvent): FlameBox | undefined => {
    const depth = Math.floor(event.offsetY / TALL);
    return boxes.find((box) => box.depth === depth && event.offsetX >= box.from && event.offsetX < box.to);
  };
  const shown = over ?? focus ?? tree;
  const set = (values: Record<string, string>, moves = false): void => go(change(route, values), moves);
  return (
    <div ref={ref}>
      <div class="ws-bar">
        <label>Time <select value={kind} onChange={(event) => set({ kind: event.currentTarget.value })}>{kinds.map((each) => <option key={each} value={each}>{WORDS[each]}</option>)}</select></label>
        <label>Search <input type="search" value={search} onInput={(event) => set({ search: event.currentTarget.value }, true)} /></label>
        <label><input type="checkbox" checked={inverted} onChange={() => set({ invert: inverted ? "" : "1" })} /> Inverted</label>
        <label><input type="checkbox" checked={byLanguage} onChange={() => set({ merge: byLanguage ? "" : "1" })} /> Merge by language</label>
        {focus && <button type="button" onClick={() => setFocus(null)}>Show all</button>}
        {search && <span role="status">{share(matched(tree, search) / Math.max(1e-9, tree.total))} under what matches</span>}
      </div>
      <p class="ws-one" aria-live="off"><b>{name(shown.name)}</b> {shown.place ? <span class="ws-dim">{name(shown.place)} </span> : null}
        {unit(shown.total)}{kind === "difference" ? `, before ${unit(shown.before)}` : `, ${share(shown.total / Math.max(1e-9, tree.total))}`}; own {unit(shown.own)}{shown.language >= 0 ? `; ${LANGUAGES[shown.language] ?? "other"}` : ""}</p>
      {tree.total > 0 || tree.before > 0 ? (
        <canvas ref={canvas} role="img" aria-label={`Flame graph, ${WORDS[kind]}: ${unit(tree.total)}. The table below holds its functions.`}
          onClick={(event) => { const box = boxAt(event); if (box) setFocus(box.node === tree ? null : box.node); }}
          onMouseMove={(event) => setOver(boxAt(event)?.node ?? null)} onMouseLeave={() => setOver(null)} />
      ) : <p>No such stack was sampled.</p>}
      <Plain caption="Functions by own time" heads={["Function", "Own", "With what it calls"]}
        rows={table.map((each) => [each.name, unit(each.own), unit(each.total)])} />
    </div>
  );
}

function draw(canvas: HTMLCanvasElement, boxes: readonly FlameBox[], width: number, height: number, search: string, difference: boolean): void {
  const c = fit(canvas, width, height);
  const wanted = search.toLowerCase();
  c.font = "12px system-ui, sans-serif";
  c.textBaseline = "middle";
  const isDark = dark();
  for (const { node, depth, from, to } of boxes) {
    const hit = wanted !== "" && node.name.toLowerCase().includes(wanted);
    const turn = (node.name.length * 7 + (node.name.charCodeAt(0) || 0)) % 9;
    const light = (isDark ? 34 : 76) + turn - 4;
    if (hit) c.fillStyle = isDark ? "#a03fd0" : "#d9a3f5";
    else if (difference) {
      const by = (node.total - node.before) / Math.max(node.total, node.before, 1);
      // Orange for more, blue for less: told apart without red and green.
      c.fillStyle = Math.abs(by) < 0.02 ? (isDark ? "#3a424a" : "#e4e7ea") : `hsl(${by > 0 ? 28 : 210} ${Math.round(30 + 60 * Math.abs(by))}% ${isDark ? 36 : 74}%)`;
    } else c.fillStyle = node.language < 0 ? (isDark ? "#3a424a" : "#d5dade") : `hsl(${HUES[node.language] ?? 100} ${node.language === 0 ? 30 : 60}% ${light}%)`;
    c.fillRect(from, depth * TALL, Math.max(0.5, to - from - 0.6), TALL - 1);
    if (to - from > 30) {
      c.fillStyle = isDark ? "#ffffff" : "#14181c";
      c.fillText(short(node.name, Math.floor((to - from - 6) / 7.6)), from + 4, depth * TALL + TALL / 2);
    }
  }
  c.strokeStyle = inks().line;
}
