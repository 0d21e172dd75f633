// Owns two runs side by side: what the comparison says, the accounts row by row, the states, both timelines.
import { useMemo } from "preact/hooks";
import { rowObject, rowState } from "../data/account";
import type { DiffView } from "../data/diagnosis";
import { bytes, name, ns, plain, share } from "../data/format";
import type { RunModel } from "../data/model";
import { stateName, STATES } from "../data/states";
import { colours } from "../draw/palette";
import type { ViewProps } from "./app";
import { Plain } from "./bits";
import { TimelineView } from "./timeline";

function figure(value: number | null, unit: string): string {
  return unit === "ns" ? ns(value) : unit === "bytes" ? bytes(value) : unit === "share" ? share(value) : plain(value);
}

/** Rows of both accounts by state, call and object; names of processes may differ between runs. */
function joined(before: RunModel, after: RunModel): string[][] {
  const by = new Map<string, { name: string; ns: (number | null)[] }>();
  [before, after].forEach((model, side) => {
    for (const row of model.diagnosis.account?.rows ?? []) {
      const key = [rowState(row), row.call, rowObject(row)].filter(Boolean).join(" ");
      const entry = by.get(key) ?? { name: key, ns: [before.diagnosis.account ? 0 : null, after.diagnosis.account ? 0 : null] };
      entry.ns[side] = (entry.ns[side] ?? 0) + row.ns;
      by.set(key, entry);
    }
  });
  const size = (entry: { ns: (number | null)[] }): number => Math.max(entry.ns[0] ?? 0, entry.ns[1] ?? 0);
  return [...by.values()].sort((a, b) => size(b) - size(a)).slice(0, 60).map((entry) => {
    const [a, b] = entry.ns;
    const by = a === null || b === null ? "–" : `${b >= a ? "+" : "−"}${ns(Math.abs(b - a))}`;
    return [entry.name, ns(a), ns(b), by];
  });
}

export function CompareView(props: ViewProps & { diff: DiffView | null }) {
  const { runs, diff } = props;
  const rows = useMemo(() => joined(runs[0], runs[1]), [runs]);
  return (
    <div>
      {diff && <p><b>{name(diff.verdict)}</b></p>}
      <div class="ws-sides">{runs.slice(0, 2).map((model, i) => (
        <section key={i} aria-label={i ? "After" : "Before"}>
          <h3>{i ? "After" : "Before"}: {name(model.run.name)}</h3>
          <p>{name(model.diagnosis.verdict)}</p>
          <StateBar model={model} />
          <TimelineView {...props} run={i} model={model} />
        </section>))}</div>
      {diff?.groups.map((group) => (
        <section key={group.kind}><h3>{group.heading}</h3><ul>{group.changes.map((each, i) => <li key={i}>{name(each.title)} <span class="ws-dim">{name(each.change)}</span></li>)}</ul></section>))}
      {diff && diff.figures.length > 0 && <Plain caption="Measured" heads={["Figure", "Before", "After", "Change"]}
        rows={diff.figures.map((each) => [each.name, figure(each.before, each.unit), figure(each.after, each.unit), each.beyondNoise === false ? `${each.change} (within noise)` : each.change])} />}
      <Plain caption="Accounts, row by row" heads={["State, call, object", "Before", "After", "Change"]} rows={rows} />
      {diff && diff.refusals.length > 0 && <section><h3>Not claimed</h3><ul>{diff.refusals.map((each, i) => <li key={i}>{name(each)}</li>)}</ul></section>}
    </div>
  );
}

function StateBar({ model }: { model: RunModel }) {
  const sums = STATES.map((_, state) => model.spent.reduce((all, spent, thread) => all + (model.threads[thread].target ? spent[state] : 0), 0));
  const all = Math.max(1, sums.reduce((a, b) => a + b, 0));
  const palette = colours();
  return <div class="ws-states" role="img" aria-label={sums.map((sum, i) => (sum > 0 ? `${stateName(i)} ${share(sum / all)}` : "")).filter(Boolean).join(", ")}>
    {sums.map((sum, i) => sum > 0 && <i key={i} title={`${stateName(i)} ${share(sum / all)}`} ref={(element) => { if (element) { element.style.flexGrow = String(sum / all); element.style.background = palette[i]; } }} />)}
  </div>;
}
