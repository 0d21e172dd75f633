// Owns sorting and filtering of tables. What is unknown comes last, whichever way they are sorted.
import type { Table } from "../data";
import { bytes, count, name, ns, plain, share, UNKNOWN } from "./format";

export type Kind = Table["columns"][number]["kind"];
export type Cell = string | number | null;

/** A cell as people read it. */
export function cellText(cell: Cell | undefined, kind: Kind): string {
  if (cell === null || cell === undefined) return UNKNOWN;
  if (typeof cell === "string") return name(cell);
  switch (kind) {
    case "count": return count(cell);
    case "ns": return ns(cell);
    case "bytes": return bytes(cell);
    case "share": return share(cell);
    default: return plain(cell);
  }
}

/** -1, 0, 1 as sort() wants it, for a column sorted up (1) or down (-1). */
export function compareCells(a: Cell | undefined, b: Cell | undefined, way: 1 | -1): number {
  const lacksA = a === null || a === undefined;
  const lacksB = b === null || b === undefined;
  if (lacksA || lacksB) return Number(lacksA) - Number(lacksB);
  if (typeof a === "number" && typeof b === "number") return (a - b) * way;
  const [x, y] = [String(a), String(b)];
  return (x < y ? -1 : x > y ? 1 : 0) * way;
}

/** The places of the rows that hold the text, sorted. */
export function shownRows(rows: readonly Cell[][], asked: string, column: number | null, way: 1 | -1): number[] {
  const wanted = asked.trim().toLowerCase();
  const places: number[] = [];
  rows.forEach((row, place) => {
    if (wanted === "" || row.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(wanted))) places.push(place);
  });
  if (column !== null) places.sort((a, b) => compareCells(rows[a][column], rows[b][column], way) || a - b);
  return places;
}
