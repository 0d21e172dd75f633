// Owns the layout of the wait graph: who waits stands left of what it waits for. Circles are cut where they close.
import type { WaitEdge } from "../data";

export interface GraphNode {
  key: string;
  /** The thread, or null for an object. */
  thread: number | null;
  object: number | null;
  layer: number;
  x: number;
  y: number;
  critical: boolean;
}

export interface GraphEdge {
  from: GraphNode;
  to: GraphNode;
  edge: WaitEdge;
}

export interface Graph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  width: number;
  height: number;
  leftOut: number;
}

export const NODE = { width: 190, height: 40, gapX: 110, gapY: 14 };

/** Lays out the critical edges and the longest others, `most` in all. */
export function graph(all: readonly WaitEdge[], most: number): Graph {
  const chosen = [...all].sort((a, b) => Number(b.critical) - Number(a.critical) || b.ns - a.ns).slice(0, most);
  const nodes = new Map<string, GraphNode>();
  const node = (thread: number | null, object: number | null): GraphNode => {
    const key = thread !== null ? `t${thread}` : `o${object}`;
    let known = nodes.get(key);
    if (!known) nodes.set(key, (known = { key, thread, object, layer: 0, x: 0, y: 0, critical: false }));
    return known;
  };
  const edges = chosen.map((edge) => {
    const link = { from: node(edge.from, null), to: node(edge.to, edge.to === null ? edge.object : null), edge };
    if (edge.critical) link.from.critical = link.to.critical = true;
    return link;
  });
  layers(edges);
  const byLayer: GraphNode[][] = [];
  for (const each of nodes.values()) (byLayer[each.layer] ??= []).push(each);
  order(byLayer, edges);
  const tallest = Math.max(1, ...byLayer.map((layer) => layer.length));
  const height = tallest * (NODE.height + NODE.gapY) + NODE.gapY;
  byLayer.forEach((layer, x) => {
    const top = (height - layer.length * (NODE.height + NODE.gapY) + NODE.gapY) / 2;
    layer.forEach((each, y) => {
      each.x = 10 + x * (NODE.width + NODE.gapX);
      each.y = top + y * (NODE.height + NODE.gapY);
    });
  });
  const width = 20 + byLayer.length * (NODE.width + NODE.gapX) - NODE.gapX;
  return { nodes: [...nodes.values()], edges, width: Math.max(width, 0), height, leftOut: all.length - chosen.length };
}

/** The longest way to each node without those edges that close a circle. */
function layers(edges: readonly GraphEdge[]): void {
  const out = new Map<GraphNode, GraphNode[]>();
  for (const { from, to } of edges) out.set(from, [...(out.get(from) ?? []), to]);
  const state = new Map<GraphNode, "open" | "done">();
  const order: GraphNode[] = [];
  const kept = new Map<GraphNode, GraphNode[]>();
  const visit = (node: GraphNode): void => {
    state.set(node, "open");
    const forward: GraphNode[] = [];
    for (const next of out.get(node) ?? []) {
      if (state.get(next) === "open") continue;
      forward.push(next);
      if (!state.has(next)) visit(next);
    }
    kept.set(node, forward);
    state.set(node, "done");
    order.push(node);
  };
  const targets = new Set(edges.map((edge) => edge.to));
  for (const { from } of edges) if (!targets.has(from) && !state.has(from)) visit(from);
  for (const { from } of edges) if (!state.has(from)) visit(from);
  for (const node of order.reverse()) for (const next of kept.get(node) ?? []) next.layer = Math.max(next.layer, node.layer + 1);
}

/** Puts each node near the middle of those it hangs on: fewer edges cross. */
function order(byLayer: GraphNode[][], edges: readonly GraphEdge[]): void {
  for (let x = 1; x < byLayer.length; x++) {
    const place = new Map(byLayer.slice(0, x).flatMap((layer) => layer.map((node, i) => [node, i / Math.max(1, layer.length)] as const)));
    const middle = new Map<GraphNode, number>();
    for (const node of byLayer[x]) {
      const of = edges.filter((edge) => edge.to === node && place.has(edge.from)).map((edge) => place.get(edge.from) ?? 0);
      middle.set(node, of.length ? of.reduce((a, b) => a + b, 0) / of.length : 1);
    }
    byLayer[x].sort((a, b) => (middle.get(a) ?? 1) - (middle.get(b) ?? 1));
  }
}
