// Owns the wait graph as SVG, and the table beside it.
import { useMemo, useState } from "preact/hooks";
import type { WaitEdge } from "../data";
import { objectMatch } from "../data/filter";
import { count, name, ns, short } from "../data/format";
import { graph, type GraphNode, NODE } from "../data/graph";
import { leadRoute } from "../data/lead";
import { threadName } from "../data/model";
import { to } from "../data/route";
import { stateName } from "../data/states";
import { colours } from "../draw/palette";
import type { ViewProps } from "./app";
import { Figure } from "./bits";

export function WaitsView({ model, route, go, filter }: ViewProps) {
  const [all, setAll] = useState(false);
  const waits = useMemo(() => model.run.waits.filter((edge) => (filter.state === null || edge.state === filter.state)
    && (filter.threads === null || filter.threads.has(edge.from) || (edge.to !== null && filter.threads.has(edge.to)))
    && (filter.object === null || (edge.object !== null && objectMatch(filter.object)(model.texts[edge.object])))), [model, filter.state, filter.who, filter.object]);
  // An object without a name is told by its call.
  const objects = useMemo(() => new Set(model.slices.object), [model]);
  const behind = (edge: WaitEdge) => leadRoute(route, model, { thread: edge.from, state: edge.state, ...(edge.object !== null && objects.has(edge.object) ? { object: edge.object } : {}) });
  const drawn = useMemo(() => graph(waits, all ? 150 : 30), [waits, all]);
  const palette = colours();
  const title = (node: GraphNode): string => (node.thread !== null ? threadName(model, node.thread) : node.object !== null ? model.texts[node.object] : "unknown");
  const longest = Math.max(1, ...waits.map((edge) => edge.ns));
  const rows = [...waits].sort((a, b) => Number(b.critical) - Number(a.critical) || b.ns - a.ns).slice(0, 100);
  return (
    <div>
      <p>Who waits stands left of what it waits for. Thick lines are the critical path. {drawn.leftOut > 0 && <>{count(drawn.leftOut)} shorter waits are not drawn. <button type="button" onClick={() => setAll(!all)}>{all ? "Fewer" : "More"}</button></>}</p>
      <div class="ws-scroll" tabIndex={0} role="region" aria-label="Graph of waits">
        <svg class="ws-graph" width={drawn.width} height={drawn.height} role="img" aria-label={`${drawn.nodes.length} threads and objects, ${drawn.edges.length} waits; the table below holds them`}>
          {drawn.edges.map(({ from, to: end, edge }, i) => {
            const [x1, y1] = [from.x + NODE.width, from.y + NODE.height / 2];
            const [x2, y2] = [end.x, end.y + NODE.height / 2];
            const back = x2 <= x1;
            const bend = back ? 60 : Math.max(30, (x2 - x1) / 2);
            return <path key={i} d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} fill="none" stroke={palette[edge.state]} class={edge.critical ? "ws-critical" : ""}
              stroke-width={(edge.critical ? 3 : 1) + 5 * Math.sqrt(edge.ns / longest)} stroke-dasharray={back ? "6 4" : undefined}><title>{`${name(title(from))} waits ${ns(edge.ns)} for ${name(title(end))}: ${stateName(edge.state)}`}</title></path>;
          })}
          {drawn.nodes.map((node) => (
            <g key={node.key} onClick={() => node.thread !== null && go(to(route, "timeline", { thread: String(node.thread) }))}>
              <title>{name(title(node))}</title>
              <rect x={node.x} y={node.y} width={NODE.width} height={NODE.height} rx={node.thread === null ? 16 : 4} class={node.critical ? "ws-node ws-critical" : "ws-node"} />
              <text x={node.x + 10} y={node.y + 25}>{short(title(node), 25)}</text>
            </g>))}
        </svg>
      </div>
      <div class="ws-scroll" tabIndex={0} role="region" aria-label="Waits as a table"><table>
        <thead><tr><th scope="col">Who waits</th><th scope="col">For</th><th scope="col">State</th><th scope="col" class="ws-fig">Time</th><th scope="col" class="ws-fig">Waits</th><th scope="col">Critical</th></tr></thead>
        <tbody>{rows.map((edge, i) => (
          <tr key={i}>
            <td><button type="button" class="ws-link" onClick={() => go(to(route, "timeline", { thread: String(edge.from), "only-state": String(edge.state) }))}>{name(threadName(model, edge.from))}</button></td>
            <td>{name([edge.to === null ? null : threadName(model, edge.to), edge.object === null ? null : model.texts[edge.object]].filter((part) => part !== null).join(", ") || "–")}</td>
            <td>{stateName(edge.state)}</td><td class="ws-fig"><Figure text={ns(edge.ns)} route={behind(edge)} go={go} about="show the calls" /></td><td class="ws-fig"><Figure text={count(edge.count)} route={behind(edge)} go={go} about="show the calls" /></td><td>{edge.critical ? "yes" : ""}</td>
          </tr>))}</tbody>
      </table></div>
    </div>
  );
}
