// Owns the account as icicle and table. A click narrows all views.
import { useMemo } from "preact/hooks";
import { type AccountBox, accountBoxes, accountTree, rowObject, rowState } from "../data/account";
import type { AccountRowView } from "../data/diagnosis";
import { objectMatch } from "../data/filter";
import { count, name, ns, share, short } from "../data/format";
import { leadRoute, leadValues } from "../data/lead";
import { change, type Route } from "../data/route";
import { stateOfAccount } from "../data/states";
import { colours } from "../draw/palette";
import type { ViewProps } from "./app";
import { Figure, useWidth } from "./bits";

const TALL = 26;
const NOTHING_ELSE = { "only-call": "", "only-object": "", "only-thread": "" };

/** The address narrowed to a row. */
function narrowed(props: ViewProps, row: AccountRowView): Route {
  const state = stateOfAccount(row.state);
  const lead = props.model.run.account?.[row.at];
  if (lead) return change(props.route, leadValues(props.model, lead));
  return change(props.route, { "only-state": state === null ? "" : String(state), "only-call": "", "only-object": row.object === null ? "" : `=${row.object}`, "only-thread": "" });
}

export function AccountView(props: ViewProps) {
  const account = props.model.diagnosis.account;
  const { ref, width } = useWidth<HTMLDivElement>();
  const boxes = useMemo(() => (account ? accountBoxes(accountTree(account), 0.5 / Math.max(1, width)) : []), [account, width]);
  if (!account) return null;
  const depth = Math.max(0, ...boxes.map((box) => box.node.depth)) + 1;
  const palette = colours();
  const { filter } = props;
  const isObject = filter.object === null ? null : objectMatch(filter.object);
  const passes = (row: AccountRowView): boolean =>
    (filter.state === null || stateOfAccount(row.state) === filter.state) && (filter.call === null || row.call === filter.call) && (isObject === null || isObject(row.object ?? ""));
  const shown = account.rows.filter(passes);
  const figure = (row: AccountRowView, text: string) => {
    const lead = props.model.run.account?.[row.at];
    return <Figure text={text} route={lead ? leadRoute(props.route, props.model, lead) : null} go={props.go} about={lead ? (lead.call === undefined && lead.object === undefined ? "show it on the timeline" : "show the calls") : undefined} />;
  };
  const act = (box: AccountBox): void => {
    if (box.node.row) props.go(narrowed(props, box.node.row));
    else if (box.node.state !== null) props.go(change(props.route, { "only-state": String(box.node.state), ...NOTHING_ELSE }));
    else props.go(change(props.route, { "only-state": "", ...NOTHING_ELSE }));
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
        <tbody>{shown.map((row) => (
          <tr key={row.at}>
            <td><button type="button" class="ws-link" onClick={() => props.go(narrowed(props, row))} aria-label={`Narrow all views to this row, ${share(row.share)}`}>{share(row.share)}</button>
              <meter min={0} max={longestRow} value={row.ns} aria-label="Part of the largest row" /></td>
            <td class="ws-fig">{figure(row, `${row.known === "at-least" ? "≥ " : row.known === "at-most" ? "≤ " : ""}${ns(row.ns)}`)}</td><td>{name(row.who)}</td><td>{rowState(row)}</td><td>{name(row.call ?? "–")}</td>
            <td>{name(rowObject(row) ?? "–")}</td><td>{name(row.place ?? "–")}</td><td class="ws-fig">{figure(row, count(row.count))}</td><td class="ws-fig">{figure(row, ns(row.p99))}</td><td class="ws-fig">{figure(row, ns(row.longest))}</td>
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
