// Owns the first page of the server: the recordings that it has, and the recorder.
import { useEffect, useState } from "preact/hooks";
import { bytes, name } from "../data/format";
import { ask, type Found, type LiveStatus } from "./source";

const AGAIN = 2000;

export function Home({ base }: { base: string }) {
  const [list, setList] = useState<{ recordings: Found[]; left_out: boolean } | null>(null);
  const [said, setSaid] = useState("");
  useEffect(() => {
    let live = true;
    let timer = 0;
    const look = async (): Promise<void> => {
      try {
        const got = await ask<{ recordings: Found[]; left_out: boolean }>(`${base}recordings`);
        if (live) {
          setList(got);
          setSaid("");
        }
      } catch (error) {
        if (live) setSaid(error instanceof Error ? error.message : String(error));
      }
      if (live) timer = window.setTimeout(() => void look(), document.hidden ? 10 * AGAIN : AGAIN);
    };
    void look();
    return () => {
      live = false;
      clearTimeout(timer);
    };
  }, [base]);
  return (
    <section class="ws" aria-label="Recordings">
      {said && <p role="alert">{name(said)}</p>}
      {list && list.recordings.length === 0 && <p>There is no recording here. `whyslow record -p PID -o slow.whyslow` makes one.</p>}
      {list && list.recordings.length > 0 && <div class="ws-scroll" tabIndex={0} role="region" aria-label="The recordings"><table>
        <thead><tr><th scope="col">Recording</th><th scope="col">What it says</th><th scope="col" class="ws-fig">Size</th><th scope="col">Written</th></tr></thead>
        <tbody>{list.recordings.map((each) => (
          <tr key={each.id}><td><a href={`/r/${each.id}/`}>{name(each.name)}</a></td><td>{each.verdict === null ? <span class="ws-dim">not looked at yet</span> : name(each.verdict)}</td>
            <td class="ws-fig">{bytes(each.bytes)}</td><td>{new Date(each.modified * 1000).toLocaleString()}</td></tr>))}</tbody>
      </table></div>}
      {list?.left_out && <p class="ws-dim">There are more; name the directories in which they are.</p>}
      <Recorder base={base} />
    </section>
  );
}

/** Begins and ends a recording. */
export function Recorder({ base }: { base: string }) {
  const [live, setLive] = useState<LiveStatus | null>(null);
  const [processes, setProcesses] = useState<{ pid: number; name: string }[]>([]);
  const [pid, setPid] = useState("");
  const [seconds, setSeconds] = useState("30");
  const [said, setSaid] = useState("");
  const look = async (): Promise<void> => {
    try {
      setLive(await ask<LiveStatus>(`${base}live`));
    } catch {
      // The list above tells that the server does not answer.
    }
  };
  useEffect(() => {
    void look();
    const timer = window.setInterval(() => void look(), 1000);
    ask<{ pid: number; name: string }[]>(`${base}processes`).then(setProcesses, () => setProcesses([]));
    return () => clearInterval(timer);
  }, [base]);
  const act = async (address: string, body: unknown): Promise<void> => {
    setSaid("");
    try {
      await ask(`${base}${address}`, body);
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error));
    }
    await look();
  };
  if (!live) return null;
  if (!live.allowed) return <p class="ws-dim">{name(live.why ?? "")}</p>;
  return (
    <section aria-label="Record">
      <h3>Record</h3>
      {live.running ? (
        <div class="ws-bar"><span role="status">Process {live.pid} is recorded: {Math.floor(live.seconds)} of {live.of} s.</span>
          {live.id !== null && <a href={`/r/${live.id}/`}>Look at it</a>}
          <button type="button" onClick={() => void act("live/stop", {})}>Stop</button></div>
      ) : (
        <form class="ws-bar" onSubmit={(event) => { event.preventDefault(); void act("live", { pid: Number(pid), seconds: Number(seconds) }); }}>
          <label>Process <input list="ws-processes" inputMode="numeric" required pattern="[0-9]+" value={pid} placeholder="PID" onInput={(event) => setPid(event.currentTarget.value)} /></label>
          <datalist id="ws-processes">{processes.map((each) => <option key={each.pid} value={String(each.pid)}>{name(each.name)}</option>)}</datalist>
          <label>Seconds <input type="number" min={1} max={3600} value={seconds} onInput={(event) => setSeconds(event.currentTarget.value)} /></label>
          <button type="submit">Record</button>
          {live.id !== null && <a href={`/r/${live.id}/`}>Look at the last one</a>}
        </form>
      )}
      {live.said && <pre role="alert">{name(live.said)}</pre>}
      {said && <p role="alert">{name(said)}</p>}
    </section>
  );
}
