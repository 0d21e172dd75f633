// Owns the account as icicle and table. A click narrows all views.
import { useMemo } from "preact/hooks";
import { type AccountBox, accountBoxes, accountTree, rowObject, rowState } from "../data/account";
import type { AccountRowView } from "../data/diagnosis";
import { count, name, ns, share, short } from "../data/format";
import { change, type Route } from "../data/route";
import { stateOfAccount } from "../data/states";
import { colours } from "../draw/palette";
import type { ViewProps } from "./app";
import { useWidth } from "./bits";

const TALL = 26;

/** The address narrowed to a row: its state and object, and its thread where the page knows just one. */
function narrowed(props: ViewProps, row: AccountRowView): Route {
  const state = stateOfAccount(row.state);
  const threads = row.threads === 1 && row.pids.length === 1 ? props.model.threads.flatMap((thread, i) => (thread.pid === row.pids[0] ? [i] : [])) : [];
  return change(props.route, {
    "only-state": state === null ? "" : String(state), "only-object": row.object ?? "", "only-thread": threads.length === 1 ? String(threads[0]) : "",
  });
}

export function AccountView(props: ViewProps) {
  const account = props.model.diagnosis.account;
  const { ref, width } = useWidth<HTMLDivElement>();
  const boxes = useMemo(() => (account ? accountBoxes(accountTree(account), 0.5 / Math.max(1, width)) : []), [account, width]);
  if (!account) return null;
  const depth = Math.max(0, ...boxes.map((box) => box.node.depth)) + 1;
  const palette = colours();
  const { filter } = props;
  const passes = (row: AccountRowView): boolean =>
    (filter.state === null || stateOfAccount(row.state) === filter.state) && (filter.object === null || (row.object ?? "").toLowerCase().includes(filter.object.toLowerCase()));
  const act = (box: AccountBox): void => {
    if (box.node.row) props.go(narrowed(props, box.node.row));
    else if (box.node.state !== null) props.go(change(props.route, { "only-state": String(box.node.state), "only-object": "", "only-thread": "" }));
    else props.go(change(props.route, { "only-state": "", "only-object": "", "only-thread": "" }));
  };
  const longestRow = Math.max(1, ...account.rows.map((row) => row.ns));
  return (
    <div ref={ref}>
      <p>{ns(account.ns)} of {name(account.of)}{account.target ? ` of ${name(account.target)}` : ""}. Waiting for work, left out: {ns(account.idle)}. Unknown: {ns(account.unknown)}.</p>
      <svg class="ws-icicle" width={width} height={depth * TALL} role="group" aria-label="The account as an icicle: who, state, call, object">
        {boxes.map((box, i) => {
          const wide = (box.to - box.from) * width;
          return (
            <g key={i} onClick={() => act(box)}>
              <title>{`${name(box.node.name)}: ${ns(box.node.ns)}, ${share(box.node.ns / Math.max(1, account.ns))}`}</title>
              <rect x={box.from * width} y={box.node.depth * TALL} width={Math.max(0.5, wide - 1)} height={TALL - 1}
                fill={box.node.state === null ? "var(--ws-soft2)" : palette[box.node.state]} />
              {wide > 40 && <text x={box.from * width + 4} y={box.node.depth * TALL + 17} class={box.node.state === null ? "" : ink(palette[box.node.state])}>{short(box.node.name, Math.floor(wide / 7.5))}</text>}
            </g>
          );
        })}
      </svg>
      <div class="ws-scroll" tabIndex={0} role="region" aria-label="The account"><table>
        <thead><tr><th scope="col">Share</th><th scope="col" class="ws-fig">Time</th><th scope="col">Who</th><th scope="col">State</th><th scope="col">Call</th><th scope="col">Object</th><th scope="col">Place</th><th scope="col" class="ws-fig">Count</th><th scope="col" class="ws-fig">p99</th><th scope="col" class="ws-fig">Max</th></tr></thead>
        <tbody>{account.rows.filter(passes).map((row, i) => (
          <tr key={i}>
            <td><button type="button" class="ws-link" onClick={() => props.go(narrowed(props, row))} aria-label={`Narrow all views to this row, ${share(row.share)}`}>{share(row.share)}</button>
              <meter min={0} max={longestRow} value={row.ns} aria-label="Part of the largest row" /></td>
            <td class="ws-fig">{row.known === "at-least" ? "≥ " : row.known === "at-most" ? "≤ " : ""}{ns(row.ns)}</td><td>{name(row.who)}</td><td>{rowState(row)}</td><td>{name(row.call ?? "–")}</td>
            <td>{name(rowObject(row) ?? "–")}</td><td>{name(row.place ?? "–")}</td><td class="ws-fig">{count(row.count)}</td><td class="ws-fig">{ns(row.p99)}</td><td class="ws-fig">{ns(row.longest)}</td>
          </tr>))}</tbody>
      </table></div>
    </div>
  );
}

/** The class of text on a colour. */
export function ink(colour: string): string {
  const n = Number.parseInt(colour.slice(1), 16);
  return ((n >> 16) * 299 + ((n >> 8) & 255) * 587 + (n & 255) * 114) / 1000 > 120 ? "ws-onlight" : "ws-ondark";
}
