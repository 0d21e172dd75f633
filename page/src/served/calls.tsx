// Owns the table of calls: rows of the recording behind what is looked at, a page at a time, as the server reads them.
import { useEffect, useState } from "preact/hooks";
import { objectText } from "../data/filter";
import { moment, name, ns } from "../data/format";
import { change, numberOf, to } from "../data/route";
import type { ViewProps } from "../ui/app";
import type { Answer } from "./source";
import { EVENTS } from "./window";

/** Rows of a page, as the server gives them. */
const ROWS = 100;
/** Threads of a question, as the server takes them. */
const MOST = 256;

export function CallsView({ model, route, go, source, filter }: ViewProps) {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const page = numberOf(route, "page") ?? 0;
  const from = numberOf(route, "from");
  const till = numberOf(route, "to");
  const value = (key: string): string => route.values[key] ?? "";
  const tids = filter.threads === null ? [] : [...filter.threads].flatMap((place) => model.threads[place]?.tid ?? []);
  const values: Record<string, string> = {
    zero: model.run.origin ?? "", from: from === null ? "" : String(Math.floor(from)), to: till === null ? "" : String(Math.ceil(till)),
    tids: tids.slice(0, MOST).join(","), call: filter.call ?? "", object: filter.object ?? "", error: value("error"), sort: value("sort") === "took" ? "took" : "", page: String(page),
  };
  const key = JSON.stringify(values);
  useEffect(() => {
    const stop = new AbortController();
    setBusy(true);
    source?.calls(values, stop.signal).then((got) => {
      setAnswer(got);
      setSaid("");
      setBusy(false);
    }, (error: unknown) => {
      if (stop.signal.aborted) return;
      setSaid(error instanceof Error ? error.message : String(error));
      setBusy(false);
    });
    return () => stop.abort();
  }, [source, key]);
  const at = (head: string): number => answer?.columns.findIndex((column) => column.name === head) ?? -1;
  const [seq, start, dur, tid, call, path, ret, errno, args] = ["seq", "start", "dur", "tid", "syscall", "path", "ret", "errno", "args"].map(at);
  const cell = (row: Answer["rows"][number], column: number): string => (row[column] === null || row[column] === undefined ? "–" : name(String(row[column])));
  const set = (changed: Record<string, string>): void => go(change(route, { page: "", ...changed }), true);
  const threadOf = (of: number): number => model.threads.findIndex((each) => each.tid === of);
  return (
    <div>
      <div class="ws-bar">
        <label>Call <input type="search" value={filter.call ?? ""} placeholder="read" onChange={(event) => set({ "only-call": event.currentTarget.value.trim() })} /></label>
        <label>Object <input type="search" value={filter.object === null ? "" : objectText(filter.object)} placeholder="part of a path or address" onChange={(event) => set({ "only-object": event.currentTarget.value })} /></label>
        <label><input type="checkbox" checked={value("error") === "any"} onChange={(event) => set({ error: event.currentTarget.checked ? "any" : "" })} /> errors alone</label>
        <label>Order <select value={value("sort") === "took" ? "took" : "start"} onChange={(event) => set({ sort: event.currentTarget.value })}>
          <option value="start">by start</option><option value="took">longest first</option></select></label>
        {from !== null && till !== null && <button type="button" class="ws-chip" onClick={() => set({ from: "", to: "" })}>{moment(Math.max(0, from), (till - from) / 100)} to {moment(till, (till - from) / 100)} ×</button>}
        <span class="ws-dim" role="status">{busy ? "reading…" : answer ? `${Math.min(ROWS, answer.rows.length)} rows, ${answer.seconds.toFixed(2)} s` : ""}</span>
      </div>
      {said && <p role="alert">{name(said)}</p>}
      {answer && <div class="ws-scroll" tabIndex={0} role="region" aria-label="Calls"><table>
        <thead><tr><th scope="col" class="ws-fig">Start</th><th scope="col" class="ws-fig">Took</th><th scope="col">Thread</th><th scope="col">Call</th><th scope="col">Object</th><th scope="col" class="ws-fig">Result</th><th scope="col">Arguments</th></tr></thead>
        <tbody>{answer.rows.slice(0, ROWS).map((row, i) => {
          const [begin, length, on] = [Number(row[start]), Number(row[dur] ?? 0), threadOf(Number(row[tid]))];
          const room = Math.max(length, 1e4);
          const link = row[start] === null || on < 0 ? null : to(route, "timeline", {
            from: String(Math.round(begin - room)), to: String(Math.round(begin + length + room)), thread: String(on), select: String(EVENTS + Number(row[seq])),
          });
          return (
            <tr key={i}>
              <td class="ws-fig">{link ? <button type="button" class="ws-link" onClick={() => go(link)}>{moment(begin, 1e3)}</button> : "–"}</td>
              <td class="ws-fig">{row[dur] === null ? "–" : ns(Number(row[dur]))}</td><td>{cell(row, tid)}</td><td>{cell(row, call)}</td><td>{cell(row, path)}</td>
              <td class="ws-fig">{cell(row, ret)}{row[errno] ? ` ${name(String(row[errno]))}` : ""}</td><td>{cell(row, args).replace("{path}", row[path] ? name(String(row[path])) : "{path}")}</td>
            </tr>);
        })}</tbody>
      </table></div>}
      <div class="ws-bar">
        <button type="button" disabled={page === 0} onClick={() => go(change(route, { page: String(page - 1) }))}>Previous page</button>
        <span>Page {page + 1}</span>
        <button type="button" disabled={!answer || answer.rows.length <= ROWS} onClick={() => go(change(route, { page: String(page + 1) }))}>Next page</button>
      </div>
    </div>
  );
}
