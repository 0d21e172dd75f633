// Owns the requests: start against duration, percentiles by endpoint, a click leads to the timeline.
import { useEffect, useRef, useState } from "preact/hooks";
import { count, moment, name, ns } from "../data/format";
import { threadName } from "../data/model";
import { nearest } from "../data/requests";
import { change, numberOf, type Route, to } from "../data/route";
import { tick } from "../draw/timeline";
import { fit, inks } from "../draw/palette";
import type { ViewProps } from "./app";
import { Figure, useWidth } from "./bits";

const HIGH = 300;
const LEFT = 64;

export function RequestsView({ model, route, go, filter }: ViewProps) {
  const { ref, width, theme } = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [over, setOver] = useState(-1);
  const requests = model.requests;
  const raw = model.run.requests;
  const endpoint = numberOf(route, "endpoint");
  const wanted = (i: number): boolean => !!requests && (endpoint === null || requests.endpoint[i] === endpoint) && (filter.threads === null || filter.threads.has(requests.thread[i]));
  let low = Infinity;
  let high = 1;
  for (let i = 0; requests && i < requests.count; i++) {
    if (!wanted(i)) continue;
    low = Math.min(low, Math.max(1, requests.took[i]));
    high = Math.max(high, requests.took[i]);
  }
  if (!Number.isFinite(low)) low = 1;
  const bottom = Math.floor(Math.log10(low));
  const top = Math.max(bottom + 1, Math.ceil(Math.log10(high) - 1e-9));
  const x = (at: number): number => LEFT + (at / model.length) * (width - LEFT - 8);
  const y = (took: number): number => HIGH - 24 - ((Math.log10(Math.max(1, took)) - bottom) / (top - bottom)) * (HIGH - 34);
  useEffect(() => {
    if (!canvas.current || !width || !requests) return;
    const c = fit(canvas.current, width, HIGH);
    const ink = inks();
    c.font = "12px system-ui, sans-serif";
    c.strokeStyle = ink.line;
    c.fillStyle = ink.dim;
    c.beginPath();
    for (let power = bottom; power <= top; power++) {
      const py = Math.round(y(10 ** power)) + 0.5;
      c.moveTo(LEFT, py);
      c.lineTo(width, py);
      c.fillText(ns(10 ** power), 4, py + 4);
    }
    const step = tick(model.length, Math.max(2, width / 110));
    for (let at = 0; at <= model.length; at += step) if (x(at) + 40 < width) c.fillText(moment(at, step), x(at), HIGH - 6);
    c.stroke();
    for (let i = 0; i < requests.count; i++) {
      if (!wanted(i)) continue;
      c.fillStyle = requests.failed[i] ? ink.mark : requests.served[i] ? "rgb(0 114 178 / .65)" : "rgb(204 121 167 / .65)";
      const [px, py] = [x(requests.start[i]), y(requests.took[i])];
      if (requests.failed[i]) c.fillRect(px - 4, py - 4, 8, 8);
      else { c.beginPath(); c.arc(px, py, 3, 0, 7); c.fill(); }
    }
    if (over >= 0) { c.strokeStyle = ink.ink; c.beginPath(); c.arc(x(requests.start[over]), y(requests.took[over]), 7, 0, 7); c.stroke(); }
  }, [width, theme, endpoint, over, filter.who]);
  if (!raw) return null;
  const place = (i: number): Route | null => {
    if (!requests) return null;
    const room = requests.took[i] * 0.1 + 1000;
    return to(route, "timeline", { from: String(Math.round(requests.start[i] - room)), to: String(Math.round(requests.start[i] + requests.took[i] + room)),
      ...(requests.thread[i] >= 0 ? { thread: String(requests.thread[i]) } : {}) });
  };
  const link = (i: number): void => {
    const found = place(i);
    if (found) go(found);
  };
  const only = (of: number): Route => change(route, { endpoint: String(of) });
  /** The slowest of an endpoint that is kept, which is its longest. */
  const longest = (of: number): Route | null => {
    let best = -1;
    for (let i = 0; requests && i < requests.count; i++) if (requests.endpoint[i] === of && (best < 0 || requests.took[i] > requests.took[best])) best = i;
    return best < 0 ? null : place(best);
  };
  const at = (event: MouseEvent): number => (requests ? nearest(requests, x, y, event.offsetX, event.offsetY, 14, wanted) : -1);
  const slowest = requests ? Array.from({ length: requests.count }, (_, i) => i).filter(wanted).sort((a, b) => requests.took[b] - requests.took[a]).slice(0, 25) : [];
  const text = (i: number): string => name(model.texts[i]);
  return (
    <div ref={ref}>
      <p class="ws-one">{over >= 0 && requests ? `${text(requests.endpoint[over])}: ${ns(requests.took[over])} at ${moment(requests.start[over], 1e6)}${requests.failed[over] ? ", failed" : ""}`
        : "Dots: served blue, asked of others pink; squares failed. A click leads to the timeline."}</p>
      <canvas ref={canvas} role="img" aria-label="Requests: start against duration. The tables below hold the endpoints and the slowest requests."
        onMouseMove={(event) => setOver(at(event))} onMouseLeave={() => setOver(-1)} onClick={(event) => { const i = at(event); if (i >= 0) link(i); }} />
      <div class="ws-scroll" tabIndex={0} role="region" aria-label="Endpoints"><table>
        <caption>Endpoints{endpoint !== null && <> <button type="button" onClick={() => go(change(route, { endpoint: "" }))}>Show all</button></>}</caption>
        <thead><tr><th scope="col">Endpoint</th>{["Count", "p50", "p95", "p99", "Max", "Failed"].map((head) => <th key={head} scope="col" class="ws-fig">{head}</th>)}</tr></thead>
        <tbody>{raw.endpoints.map((each, i) => (
          <tr key={i}><td><button type="button" class="ws-link" aria-pressed={endpoint === each.endpoint} onClick={() => go(change(route, { endpoint: endpoint === each.endpoint ? "" : String(each.endpoint) }))}>{text(each.endpoint)}</button></td>
            {[count(each.count), ns(each.p50), ns(each.p95), ns(each.p99)].map((figure, at) => <td key={at} class="ws-fig"><Figure text={figure} route={only(each.endpoint)} go={go} about="show its requests" /></td>)}
            <td class="ws-fig"><Figure text={ns(each.max)} route={longest(each.endpoint)} go={go} about="show it on the timeline" /></td><td class="ws-fig"><Figure text={count(each.failed)} route={only(each.endpoint)} go={go} about="show its requests" /></td></tr>))}</tbody>
      </table></div>
      {requests && <div class="ws-scroll" tabIndex={0} role="region" aria-label="Slowest requests"><table>
        <caption>Slowest requests</caption>
        <thead><tr><th scope="col">Request</th><th scope="col">Thread</th><th scope="col">Peer</th><th scope="col" class="ws-fig">Start</th><th scope="col" class="ws-fig">Took</th></tr></thead>
        <tbody>{slowest.map((i) => { const peer = raw.peer[i]; return (
          <tr key={i}><td><button type="button" class="ws-link" onClick={() => link(i)}>{text(requests.endpoint[i])}</button>{requests.failed[i] ? " (failed)" : ""}</td>
            <td>{requests.thread[i] >= 0 ? name(threadName(model, requests.thread[i])) : "–"}</td><td>{peer === null ? "–" : text(peer)}</td><td class="ws-fig">{moment(requests.start[i], 1e6)}</td><td class="ws-fig"><Figure text={ns(requests.took[i])} route={place(i)} go={go} about="show it on the timeline" /></td></tr>); })}</tbody>
      </table></div>}
    </div>
  );
}
