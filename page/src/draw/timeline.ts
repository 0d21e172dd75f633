// Owns how the timeline is drawn: a frame from a model and a view, with no state but the pictures of tiles.
import { short } from "../data/format";
import { moment } from "../data/format";
import { spans, visible, type Wanted } from "../data/lod";
import { type RunModel, threadName } from "../data/model";
import { requestRange } from "../data/requests";
import type { Row } from "../data/rows";
import { endOf } from "../data/slices";
import { wakesIn } from "../data/wakes";
import { colours, fit, inks } from "./palette";

export const AXIS = 22;
export const LANE = 8;

export interface Scene {
  model: RunModel;
  rows: readonly Row[];
  from: number;
  to: number;
  scroll: number;
  width: number;
  height: number;
  labels: number;
  wanted: Wanted;
  thread: number;
  slice: number;
  tileImages: Map<number, HTMLCanvasElement>;
}

const buffer = spans();

/** Height of what stands above the rows: axis, marks, requests. */
export const headOf = (model: RunModel): number => AXIS + 10 + (model.requests?.lanes ?? 0) * LANE + 4;

function tileImage(model: RunModel, thread: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  const height = 16;
  const { tiles } = model;
  canvas.width = tiles.buckets;
  canvas.height = height;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const palette = colours();
  let bucket = -1;
  let y = height;
  for (let i = tiles.first[thread]; i < tiles.first[thread + 1]; i++) {
    if (tiles.bucket[i] !== bucket) {
      bucket = tiles.bucket[i];
      y = height;
    }
    const tall = (tiles.ns[i] / tiles.width) * height;
    context.fillStyle = palette[tiles.state[i]];
    context.fillRect(bucket, y - tall, 1, tall);
    y -= tall;
  }
  return canvas;
}

/** A step of the axis: 1, 2 or 5 of a power of ten. */
export function tick(span: number, most: number): number {
  const rough = span / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1) * power;
}

export function draw(canvas: HTMLCanvasElement, scene: Scene): void {
  const { model, rows, from, to, width, height, labels } = scene;
  const c = fit(canvas, width, height);
  const ink = inks();
  const palette = colours();
  const plot = width - labels;
  const x = (at: number): number => labels + ((at - from) / (to - from)) * plot;
  const head = headOf(model);
  c.font = "12px system-ui, sans-serif";
  c.textBaseline = "middle";
  const tops = new Map<number, number>();
  c.save();
  c.beginPath();
  c.rect(0, head, width, height - head);
  c.clip();
  const { tiles, slices } = model;
  const coarse = !model.exact && (tiles.width / (to - from)) * plot <= 3;
  for (const row of rows) {
    const top = row.top - scene.scroll + head;
    if (row.kind === "thread") tops.set(row.thread, top);
    if (top + row.height < head || top > height) continue;
    if (row.kind !== "thread") {
      c.fillStyle = ink.soft;
      c.fillRect(0, top, width, row.height);
      c.fillStyle = row.kind === "process" ? ink.ink : ink.dim;
      const sign = row.kind === "process" ? (row.folded ? "▸ " : "▾ ") : "   ";
      c.fillText(`${sign}${short(row.label, 60)}: ${row.threads} ${row.threads === 1 ? "thread" : "threads"}`, 6, top + row.height / 2);
      continue;
    }
    c.fillStyle = row.thread === scene.thread ? ink.soft : ink.ground;
    c.fillRect(0, top, width, row.height);
    c.fillStyle = ink.ink;
    c.fillText(short(threadName(model, row.thread), Math.floor(labels / 7)), 8, top + row.height / 2);
    const tall = row.height - 6;
    c.save();
    c.beginPath();
    c.rect(labels, top, plot, row.height);
    c.clip();
    if (tiles.buckets > 0 && tiles.first[row.thread + 1] > tiles.first[row.thread]) {
      let image = scene.tileImages.get(row.thread);
      if (!image) {
        if (scene.tileImages.size > 256) scene.tileImages.clear();
        scene.tileImages.set(row.thread, (image = tileImage(model, row.thread)));
      }
      c.globalAlpha = coarse && !scene.wanted ? 1 : 0.3;
      c.imageSmoothingEnabled = coarse;
      c.drawImage(image, x(tiles.from), top + 3, ((tiles.buckets * tiles.width) / (to - from)) * plot, tall);
      c.globalAlpha = 1;
    }
    if (!coarse || scene.wanted || tiles.buckets === 0) {
      visible(slices, row.thread, from, to, plot, scene.wanted, buffer);
      for (let i = 0; i < buffer.count; i++) {
        c.fillStyle = palette[buffer.state[i]] ?? ink.dim;
        const wide = buffer.to[i] - buffer.from[i];
        c.fillRect(labels + buffer.from[i], top + 3, wide > 3 ? wide - 0.5 : wide, tall);
        const slice = buffer.slice[i];
        if (slice >= 0 && wide > 46) {
          c.fillStyle = contrast(palette[buffer.state[i]]);
          c.fillText(short(model.texts[slices.call[slice]], Math.floor(wide / 7.5)), labels + buffer.from[i] + 4, top + row.height / 2);
        }
      }
    }
    c.restore();
  }
  marks(c, scene, x, tops, head);
  selection(c, scene, x, tops, head);
  c.restore();
  axis(c, scene, x, plot);
}

function contrast(colour: string): string {
  const n = Number.parseInt(colour.slice(1), 16);
  return ((n >> 16) * 299 + ((n >> 8) & 255) * 587 + (n & 255) * 114) / 1000 > 120 ? "#111111" : "#ffffff";
}

function axis(c: CanvasRenderingContext2D, scene: Scene, x: (at: number) => number, plot: number): void {
  const { model, from, to, labels, width } = scene;
  const ink = inks();
  const step = tick(to - from, Math.max(2, plot / 110));
  c.fillStyle = ink.dim;
  c.strokeStyle = ink.line;
  c.beginPath();
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const px = Math.round(x(at)) + 0.5;
    c.moveTo(px, AXIS - 6);
    c.lineTo(px, AXIS);
    const text = moment(at, step);
    if (px + c.measureText(text).width < width) c.fillText(text, px + 3, 9);
  }
  c.stroke();
  c.save();
  c.beginPath();
  c.rect(labels, 0, plot, 1e4);
  c.clip();
  for (const mark of model.marks) {
    if (mark.to < from || mark.from > to) continue;
    c.fillStyle = ink.mark;
    c.fillRect(x(mark.from), AXIS + 2, Math.max(3, x(mark.to) - x(mark.from)), 5);
  }
  const { requests } = model;
  if (requests) {
    const [low, high] = requestRange(requests, from, to);
    const edge = new Float64Array(requests.lanes).fill(-10);
    for (let i = low; i < high; i++) {
      const lane = requests.lane[i];
      const x0 = x(requests.start[i]);
      const x1 = Math.max(x0 + 1, x(requests.start[i] + requests.took[i]));
      if (x1 < edge[lane] + 1 && !requests.failed[i]) continue;
      edge[lane] = x1;
      c.fillStyle = requests.failed[i] ? ink.mark : requests.served[i] ? "#5b7fa6" : "#9a8fb8";
      c.fillRect(x0, AXIS + 11 + lane * LANE, x1 - x0 > 2 ? x1 - x0 - 0.5 : x1 - x0, LANE - 2);
    }
  }
  c.restore();
  c.fillStyle = ink.dim;
  if (model.marks.length) c.fillText("findings", 8, AXIS + 5);
  if (requests?.count) c.fillText("requests", 8, AXIS + 12 + (requests.lanes * LANE) / 2);
}

function marks(c: CanvasRenderingContext2D, scene: Scene, x: (at: number) => number, tops: Map<number, number>, head: number): void {
  c.strokeStyle = inks().mark;
  for (const mark of scene.model.marks) {
    if (mark.thread === null || mark.to < scene.from || mark.from > scene.to) continue;
    const top = tops.get(mark.thread);
    if (top === undefined || top < head - 30 || top > scene.height) continue;
    const x0 = Math.max(scene.labels, x(mark.from));
    c.strokeRect(x0, top + 1.5, Math.max(2, Math.min(scene.width, x(mark.to)) - x0), 19);
  }
}

function selection(c: CanvasRenderingContext2D, scene: Scene, x: (at: number) => number, tops: Map<number, number>, head: number): void {
  const { model, slice, thread } = scene;
  if (slice < 0) return;
  const top = tops.get(thread);
  if (top === undefined) return;
  const ink = inks();
  const start = model.slices.start[slice];
  const end = endOf(model.slices, slice);
  c.save();
  c.beginPath();
  c.rect(scene.labels, head, scene.width, scene.height);
  c.clip();
  c.strokeStyle = ink.ink;
  c.lineWidth = 2;
  c.strokeRect(x(start), top + 2, Math.max(2, x(end) - x(start)), 18);
  for (const wake of wakesIn(model.wakes, thread, start, end + 50_000, 20)) {
    const other = tops.get(wake.from);
    if (other === undefined) continue;
    const at = x(wake.at);
    const y = top + (other < top ? 2 : 20);
    c.beginPath();
    c.moveTo(at, other + 11);
    c.lineTo(at, y);
    c.lineTo(at - 4, y + (other < top ? -6 : 6));
    c.moveTo(at, y);
    c.lineTo(at + 4, y + (other < top ? -6 : 6));
    c.stroke();
    c.beginPath();
    c.arc(at, other + 11, 3, 0, 7);
    c.stroke();
  }
  c.restore();
}
