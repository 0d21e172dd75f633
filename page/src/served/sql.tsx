// Owns the box for questions in SQL: what is asked, the answer as a table, what there is to ask. Nothing is asked before somebody says so: a
// link may bring a question, and it waits.
import { useEffect, useRef, useState } from "preact/hooks";
import { count, name } from "../data/format";
import { change } from "../data/route";
import type { ViewProps } from "../ui/app";
import type { Answer, TablesAnswer } from "./source";

const FIRST = "SELECT syscall, count(*) AS calls, sum(dur) / 1e6 AS ms\nFROM raw.syscalls GROUP BY syscall ORDER BY ms DESC LIMIT 20";

export function SqlView({ source, route, go }: ViewProps) {
  const [sql, setSql] = useState(route.values.sql || FIRST);
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [known, setKnown] = useState<TablesAnswer | null>(null);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => {
    source?.tables().then(setKnown, () => setKnown(null));
    return () => stop.current?.abort();
  }, [source]);
  const run = (text: string): void => {
    stop.current?.abort();
    const now = new AbortController();
    stop.current = now;
    setBusy(true);
    setSaid("");
    go(change(route, { sql: text }), true);
    source?.sql(text, now.signal).then((got) => {
      setAnswer(got);
      setBusy(false);
    }, (error: unknown) => {
      if (now.signal.aborted) return setBusy(false);
      setSaid(error instanceof Error ? error.message : String(error));
      setAnswer(null);
      setBusy(false);
    });
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run(sql);
    }
  };
  return (
    <div>
      <form onSubmit={(event) => { event.preventDefault(); run(sql); }}>
        <label>Question in SQL (only SELECT)
          <textarea class="ws-sql" rows={5} spellcheck={false} value={sql} onInput={(event) => setSql(event.currentTarget.value)} onKeyDown={keys} /></label>
        <div class="ws-bar">
          <button type="submit" disabled={busy}>Ask</button>
          {busy && <button type="button" onClick={() => stop.current?.abort()}>Stop</button>}
          <span class="ws-dim" role="status">{busy ? "asking…" : answer ? `${count(answer.rows.length)} rows${answer.truncated ? ", cut off there" : ""}, ${answer.seconds.toFixed(2)} s` : "Ctrl+Enter asks"}</span>
        </div>
      </form>
      {said && <pre class="ws-said" role="alert">{name(said)}</pre>}
      {answer && <div class="ws-scroll" tabIndex={0} role="region" aria-label="The answer"><table class="ws-answer">
        <thead><tr>{answer.columns.map((column, i) => <th key={i} scope="col">{name(column.name)}</th>)}</tr></thead>
        <tbody>{answer.rows.map((row, i) => <tr key={i}>{row.map((cell, j) => <td key={j} class={typeof cell === "number" ? "ws-fig" : ""}>{cell === null ? "–" : name(String(cell))}</td>)}</tr>)}</tbody>
      </table></div>}
      {known && <details class="ws-left"><summary>What there is to ask: {known.tables.length} tables</summary><dl>
        {known.macros.map((each) => <div key={each.name}><dt><button type="button" class="ws-link" onClick={() => { setSql(`SELECT * FROM ${each.name}`); run(`SELECT * FROM ${each.name}`); }}>{each.name}</button></dt><dd>{name(each.about)}</dd></div>)}
        {known.tables.map((table) => <div key={table.name}><dt><code>{table.name}</code></dt><dd>{name(table.about)} <span class="ws-dim">{table.columns.join(", ")}</span></dd></div>)}
      </dl></details>}
    </div>
  );
}
