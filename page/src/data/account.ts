// Owns the account as a tree: who, state, call, object. Its leaves are the rows and add up to the account.
import type { AccountRowView, AccountView } from "./diagnosis";
import { stateName, stateOfAccount } from "./states";

export interface AccountNode {
  name: string;
  ns: number;
  /** Index into STATES for colour, from the state's level down. */
  state: number | null;
  depth: number;
  /** For a leaf: its row. */
  row: AccountRowView | null;
  children: AccountNode[];
}

/** The row's state in words. */
export function rowState(row: AccountRowView): string {
  const state = stateOfAccount(row.state);
  return state === null || state >= 9 ? row.state : stateName(state);
}

/** What the row is about: the object, or the function. */
export function rowObject(row: AccountRowView): string | null {
  return row.object ?? row.function;
}

/** The tree; rows of no time are left out. */
export function accountTree(account: AccountView): AccountNode {
  const root: AccountNode = { name: account.target || "all", ns: 0, state: null, depth: 0, row: null, children: [] };
  for (const row of account.rows) {
    if (!(row.ns > 0)) continue;
    const state = stateOfAccount(row.state);
    const steps: [string, number | null][] = [[row.who, null], [rowState(row), state]];
    if (row.call) steps.push([row.call, state]);
    const object = rowObject(row);
    if (object) steps.push([object, state]);
    let node = root;
    root.ns += row.ns;
    steps.forEach(([name, colour], i) => {
      let child = node.children.find((other) => other.name === name && other.row === null && i < steps.length - 1);
      if (!child) {
        child = { name, ns: 0, state: colour, depth: node.depth + 1, row: i === steps.length - 1 ? row : null, children: [] };
        node.children.push(child);
      }
      child.ns += row.ns;
      node = child;
    });
  }
  const sort = (node: AccountNode): void => {
    node.children.sort((a, b) => b.ns - a.ns);
    node.children.forEach(sort);
  };
  sort(root);
  return root;
}

export interface AccountBox {
  node: AccountNode;
  /** Parts of the whole width, 0 to 1. */
  from: number;
  to: number;
}

/** The boxes of the icicle, parents first; those narrower than `least` of the whole are left out. */
export function accountBoxes(root: AccountNode, least: number): AccountBox[] {
  const out: AccountBox[] = [];
  const place = (node: AccountNode, from: number): void => {
    const to = from + (root.ns > 0 ? node.ns / root.ns : 0);
    if (to - from < least) return;
    out.push({ node, from, to });
    let at = from;
    for (const child of node.children) {
      place(child, at);
      at += child.ns / root.ns;
    }
  };
  place(root, 0);
  return out;
}
