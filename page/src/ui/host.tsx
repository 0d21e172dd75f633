// Owns the host over time: a chart for each resource and unit.
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import type { Series } from "../data";
import { bytes, name, ns, plain, share } from "../data/format";
import { inks } from "../draw/palette";
import type { ViewProps } from "./app";
import { Plain, useWidth } from "./bits";
import "uplot/dist/uPlot.min.css";

const LINES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6d31", "#7a6fa8"];

function written(value: number | null, unit: string): string {
  if (unit === "bytes") return bytes(value);
  if (unit === "ns") return ns(value);
  if (unit === "share") return share(value);
  return value === null ? "–" : `${plain(value)}${unit && unit !== "count" ? ` ${unit}` : ""}`;
}

export function HostView({ model }: ViewProps) {
  const groups = useMemo(() => {
    const by = new Map<string, Series[]>();
    for (const series of model.run.host) by.set(`${series.resource}, ${series.unit}`, [...(by.get(`${series.resource}, ${series.unit}`) ?? []), series]);
    return [...by.entries()];
  }, [model]);
  return <div>{groups.map(([title, series]) => <Chart key={title} title={title} series={series.slice(0, 8)} length={model.length} />)}</div>;
}

function Chart({ title, series, length }: { title: string; series: Series[]; length: number }) {
  const { ref, width, theme } = useWidth<HTMLDivElement>();
  const place = useRef<HTMLDivElement>(null);
  const unit = series[0].unit;
  useEffect(() => {
    if (!place.current || !width) return;
    const ink = inks();
    const data = uPlot.join(series.map((each) => [each.at.map((at) => at / 1e9), each.value] as uPlot.AlignedData));
    const axis = { stroke: ink.dim, grid: { stroke: ink.line, width: 1 }, ticks: { stroke: ink.line, width: 1 } };
    const chart = new uPlot({
      width, height: 180, legend: { live: true },
      scales: { x: { time: false, min: 0, max: length / 1e9 } },
      axes: [{ ...axis, values: (_: uPlot, ticks: number[]) => ticks.map((at) => `${+at.toFixed(3)} s`) }, { ...axis, size: 76, values: (_: uPlot, ticks: number[]) => ticks.map((value) => written(value, unit)) }],
      series: [{ label: "at", value: (_: uPlot, at: number | null) => (at === null ? "–" : `${at.toFixed(3)} s`) },
        ...series.map((each, i) => ({ label: name(each.name), stroke: LINES[i % LINES.length], width: 1.5, spanGaps: false, value: (_: uPlot, value: number | null) => written(value, unit) }))],
    }, data, place.current);
    return () => chart.destroy();
  }, [width, theme, series]);
  const rows = series.map((each) => {
    const known = each.value.filter((value) => value !== null);
    const last = known[known.length - 1] ?? null;
    return [each.name, written(known.length ? known.reduce((a, b) => Math.min(a, b)) : null, unit), written(known.length ? known.reduce((a, b) => a + b, 0) / known.length : null, unit), written(known.length ? known.reduce((a, b) => Math.max(a, b)) : null, unit), written(last, unit)];
  });
  return (
    <section class="ws-chart" aria-label={name(title)}>
      <h3>{name(title)}</h3>
      <div ref={ref}><div ref={place} role="img" aria-label={`${name(title)} over time; the table holds its extremes`} /></div>
      <details><summary>As a table</summary><Plain caption={title} heads={["Figure", "Least", "Mean of values", "Most", "Last"]} rows={rows} /></details>
    </section>
  );
}
