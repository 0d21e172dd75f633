// Owns flame graphs: trees of frames with weights, from the page's stacks; inverted, merged by language, of two runs, laid out.
import { LANGUAGES, type Stacks } from "../data";

export const KINDS = ["cpu", "off-cpu", "wall", "difference"] as const;
export type FlameKind = (typeof KINDS)[number];

export interface FlameNode {
  name: string;
  place: string | null;
  language: number;
  /** Of the node and what is above it, in ns or samples. */
  total: number;
  own: number;
  /** Of the run before, in a difference. */
  before: number;
  children: FlameNode[];
}

export interface FlameOptions {
  inverted: boolean;
  /** Calls within one language are one frame. */
  byLanguage: boolean;
}

/** What own weights a kind takes of a node; null where the kind cannot be told from these stacks. */
export function weights(stacks: Stacks, kind: FlameKind): { of: (i: number) => number; unit: "ns" | "samples" } | null {
  const each = stacks.ns_per_sample;
  const cpu = (i: number): number => stacks.cpu_samples[i] * (each ?? 1);
  switch (kind) {
    case "cpu":
      return { of: cpu, unit: each === null ? "samples" : "ns" };
    case "off-cpu":
      return { of: (i) => stacks.off_cpu_ns[i], unit: "ns" };
    case "wall":
      return each === null ? null : { of: (i) => cpu(i) + stacks.off_cpu_ns[i], unit: "ns" };
    case "difference": {
      const hasCpu = each !== null && stacks.cpu_samples.some((samples) => samples > 0);
      return hasCpu ? { of: (i) => cpu(i) + stacks.off_cpu_ns[i], unit: "ns" } : { of: (i) => stacks.off_cpu_ns[i], unit: "ns" };
    }
  }
}

class Builder {
  readonly root: FlameNode = { name: "all", place: null, language: -1, total: 0, own: 0, before: 0, children: [] };
  private readonly index = new Map<FlameNode, Map<string, FlameNode>>();

  /** Adds a stack, from its root down. */
  add(frames: readonly { name: string; place: string | null; language: number }[], weight: number, before: boolean): void {
    let node = this.root;
    for (let depth = 0; ; depth++) {
      if (before) node.before += weight;
      else node.total += weight;
      if (depth === frames.length) break;
      node = this.child(node, frames[depth]);
    }
    if (!before) node.own += weight;
  }

  private child(node: FlameNode, frame: { name: string; place: string | null; language: number }): FlameNode {
    let byName = this.index.get(node);
    if (!byName) this.index.set(node, (byName = new Map()));
    const key = `${frame.language} ${frame.name}`;
    let child = byName.get(key);
    if (!child) {
      child = { ...frame, total: 0, own: 0, before: 0, children: [] };
      byName.set(key, child);
      node.children.push(child);
    } else if (child.place !== frame.place) child.place = null;
    return child;
  }
}

type Frame = { name: string; place: string | null; language: number };

/** The frames of a node, root first. */
function framesOf(stacks: Stacks, texts: readonly string[], node: number): Frame[] {
  const frames: Frame[] = [];
  for (let i = node, steps = 0; i >= 0 && steps < 4096; i = stacks.parent[i], steps++) {
    const place = stacks.place[i];
    frames.push({ name: texts[stacks.frame[i]], place: place === null ? null : texts[place], language: stacks.language[i] });
  }
  return frames.reverse();
}

function merged(frames: readonly Frame[]): Frame[] {
  const out: Frame[] = [];
  for (const frame of frames) {
    if (out.length === 0 || out[out.length - 1].language !== frame.language) {
      out.push({ name: LANGUAGES[frame.language] ?? "other", place: null, language: frame.language });
    }
  }
  return out;
}

function addAll(to: Builder, stacks: Stacks, texts: readonly string[], kind: FlameKind, options: FlameOptions, before: boolean): void {
  const weight = weights(stacks, kind);
  if (!weight) return;
  for (let i = 0; i < stacks.parent.length; i++) {
    const own = weight.of(i);
    if (!(own > 0)) continue;
    let frames = framesOf(stacks, texts, i);
    if (options.byLanguage) frames = merged(frames);
    if (options.inverted) frames.reverse();
    to.add(frames, own, before);
  }
}

/** The tree of a run's stacks; `before` is the other run of a difference. */
export function flameTree(run: { stacks: Stacks; texts: readonly string[] }, kind: FlameKind, options: FlameOptions,
  before: { stacks: Stacks; texts: readonly string[] } | null = null): FlameNode {
  const builder = new Builder();
  addAll(builder, run.stacks, run.texts, kind, options, false);
  if (before && kind === "difference") addAll(builder, before.stacks, before.texts, kind, options, true);
  const sort = (node: FlameNode): void => {
    node.children.sort((a, b) => (a.name < b.name ? -1 : 1));
    node.children.forEach(sort);
  };
  sort(builder.root);
  return builder.root;
}

export interface FlameBox {
  node: FlameNode;
  depth: number;
  from: number;
  to: number;
  parent: FlameBox | null;
}

/** What a node is as wide as: its weight; in a difference the larger of both sides, so that what is gone is seen. */
export function widthOf(node: FlameNode): number {
  return Math.max(node.total, node.before);
}

/** The boxes on `width` pixels, those of `focus` filling it; boxes under half a pixel are left out. */
export function flameBoxes(root: FlameNode, focus: FlameNode | null, width: number): FlameBox[] {
  const out: FlameBox[] = [];
  const path = focus ? pathTo(root, focus) : null;
  const place = (node: FlameNode, depth: number, from: number, to: number, parent: FlameBox | null): void => {
    if (to - from < 0.5) return;
    const box = { node, depth, from, to, parent };
    out.push(box);
    const next = path?.[depth] === node ? path[depth + 1] : undefined;
    if (next) return place(next, depth + 1, from, to, box);
    // In a difference children may be wider than their parent: each side is bounded, their larger values are not.
    const sum = node.children.reduce((all, child) => all + widthOf(child), 0);
    const scale = (to - from) / Math.max(widthOf(node), sum, 1e-9);
    let at = from;
    for (const child of node.children) {
      const end = at + widthOf(child) * scale;
      place(child, depth + 1, at, end, box);
      at = end;
    }
  };
  if (widthOf(root) > 0) place(root, 0, 0, width, null);
  return out;
}

/** The nodes from the root to `wanted`; null where it is not in the tree. */
export function pathTo(root: FlameNode, wanted: FlameNode): FlameNode[] | null {
  if (root === wanted) return [root];
  for (const child of root.children) {
    const path = pathTo(child, wanted);
    if (path) return [root, ...path];
  }
  return null;
}

/** How much of the whole lies under frames whose name holds the text; a frame under another one counts once. */
export function matched(root: FlameNode, asked: string): number {
  const wanted = asked.toLowerCase();
  const sum = (node: FlameNode): number =>
    node.name.toLowerCase().includes(wanted) ? node.total : node.children.reduce((all, child) => all + sum(child), 0);
  return sum(root);
}

/** The functions by own weight, largest first. */
export function functions(root: FlameNode, most: number): { name: string; own: number; total: number }[] {
  const by = new Map<string, { name: string; own: number; total: number }>();
  const walk = (node: FlameNode, open: Set<string>): void => {
    let entry = by.get(node.name);
    if (!entry) by.set(node.name, (entry = { name: node.name, own: 0, total: 0 }));
    entry.own += node.own;
    const isOpen = open.has(node.name);
    if (!isOpen) {
      entry.total += node.total;
      open.add(node.name);
    }
    node.children.forEach((child) => walk(child, open));
    if (!isOpen) open.delete(node.name);
  };
  const open = new Set<string>();
  root.children.forEach((child) => walk(child, open));
  return [...by.values()].sort((a, b) => b.own - a.own).slice(0, most);
}
