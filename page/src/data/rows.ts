// Owns which rows the timeline has, top to bottom: threads under their process and role.
import type { Thread } from "../data";

export type Row =
  | { kind: "process"; key: string; label: string; threads: number; folded: boolean; top: number; height: number }
  | { kind: "role"; key: string; label: string; threads: number; top: number; height: number }
  | { kind: "thread"; thread: number; top: number; height: number };

export const ROW = 22;
export const HEAD = 20;

/** The rows of these threads: the target's processes first, then others; by role, then busiest first. */
export function rows(threads: readonly Thread[], texts: readonly string[], busy: (thread: number) => number, folded: ReadonlySet<string>): Row[] {
  const processes = new Map<string, number[]>();
  threads.forEach((thread, index) => {
    const key = String(thread.pid);
    const group = processes.get(key);
    if (group) group.push(index);
    else processes.set(key, [index]);
  });
  const sum = (group: number[]): number => group.reduce((all, thread) => all + busy(thread), 0);
  const sorted = [...processes.entries()].map(([key, group]) => ({
    key, group, target: group.some((thread) => threads[thread].target), busy: sum(group),
  }));
  sorted.sort((a, b) => Number(b.target) - Number(a.target) || b.busy - a.busy);
  const out: Row[] = [];
  let top = 0;
  const push = (row: Row): void => {
    row.top = top;
    top += row.height;
    out.push(row);
  };
  for (const { key, group } of sorted) {
    const isFolded = folded.has(key);
    const label = `${texts[threads[group[0]].process]} (${key})`;
    push({ kind: "process", key, label, threads: group.length, folded: isFolded, top: 0, height: HEAD });
    if (isFolded) continue;
    const roles = new Map<number | null, number[]>();
    for (const thread of group) roles.set(threads[thread].role, [...(roles.get(threads[thread].role) ?? []), thread]);
    const byBusy = [...roles.entries()].sort((a, b) => sum(b[1]) - sum(a[1]));
    for (const [role, members] of byBusy) {
      if (role !== null) push({ kind: "role", key: `${key}/${role}`, label: texts[role], threads: members.length, top: 0, height: HEAD });
      members.sort((a, b) => busy(b) - busy(a));
      for (const thread of members) push({ kind: "thread", thread, top: 0, height: ROW });
    }
  }
  return out;
}

/** The height of all rows. */
export function heightOf(all: readonly Row[]): number {
  const last = all[all.length - 1];
  return last ? last.top + last.height : 0;
}

/** The place of the row at a height; -1 outside. */
export function rowAt(all: readonly Row[], y: number): number {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (all[middle].top + all[middle].height <= y) low = middle + 1;
    else high = middle;
  }
  return low < all.length && y >= 0 ? low : -1;
}
