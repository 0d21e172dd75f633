// Owns the start of a page that a server gives: what is there is shown at once, and shown anew as more gets ready.
import { render } from "preact";
import { bytes, count, ns } from "../data/format";
import { checked } from "../data/load";
import { type RunModel, models } from "../data/model";
import { format, parse } from "../data/route";
import { App } from "../ui/app";
import { linkFindings } from "../ui/findings";
import { Home, Recorder } from "./home";
import { Refused, type Served, Source, type Status } from "./source";
import { EVENTS } from "./window";

const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Fills the place from the server's data below `base`. */
export async function startServed(place: HTMLElement, base: string): Promise<void> {
  const main = document.getElementById("whyslow-report");
  if (!/^\/api\/(r\/\d+\/)?$/.test(base) || !main) return;
  if (base === "/api/") {
    main.querySelector("p")?.remove();
    render(<Home base={base} />, place);
    place.dataset.ready = "yes";
    return;
  }
  const source = new Source(base);
  const banner = document.createElement("div");
  const app = document.createElement("div");
  banner.className = "ws";
  place.append(banner, app);
  let shown = -1;
  let indexed = 0;
  let held: { served: Served; runs: RunModel[] } | null = null;
  let seen = location.hash;
  for (;;) {
    let pause = 2000;
    try {
      const status = await source.status();
      const partial = status.indexed !== null && status.indexed > indexed && held !== null && !held.served.report;
      if (status.generation !== shown || !held?.runs.length || partial) {
        shown = status.generation;
        indexed = status.indexed ?? 1;
        const served = await source.page();
        if (served.page) {
          // Threads are numbered anew where the diagnosis takes the place of the first look.
          if (held && held.served.report === "" && served.report !== "" && location.hash !== seen) withoutNumbers();
          const page = checked(served.page);
          const runs = models(page);
          tell(main, served);
          render(<App page={page} runs={runs} source={source} />, app);
          if (served.report) linkFindings(runs[0], 0);
          if (!held) seen = location.hash;
          held = { served, runs };
          place.dataset.ready = served.report ? "diagnosis" : "first";
        }
      }
      render(<Banner status={status} served={held?.served ?? null} />, banner);
      if (status.state === "diagnosing" || status.state === "waiting" || (status.indexed !== null && status.indexed < 1)) pause = 400;
      else if (status.grows) pause = 1000;
    } catch (error) {
      const said = error instanceof Refused || error instanceof Error ? error.message : String(error);
      render(<p role="alert">{said}</p>, banner);
      if (error instanceof Refused && error.status === 401) return;
      pause = 4000;
    }
    await wait(document.hidden ? pause * 4 : pause);
  }
}

/** Takes from the address what counts threads and calls by their place. */
function withoutNumbers(): void {
  const route = parse(location.hash);
  if (!route) return;
  const values: Record<string, string> = { ...route.values, thread: "", "only-thread": "" };
  if (Number(values.select) < EVENTS) values.select = "";
  history.replaceState(null, "", format({ view: route.view, values }));
}

/** Puts the report in place. It is the server's own markup; the page's policy runs no script in it. */
function tell(main: HTMLElement, served: Served): void {
  const title = document.createElement("h1");
  title.textContent = served.title;
  const report = new DOMParser().parseFromString(served.report, "text/html");
  main.replaceChildren(title, ...report.body.childNodes);
  document.title = `whyslow: ${served.title}`;
}

function Banner({ status, served }: { status: Status; served: Served | null }) {
  const lines: string[] = [];
  if (status.indexed !== null && status.indexed < 1) lines.push(`The calls are being read: ${Math.floor(status.indexed * 100)} % so far.`);
  if (served?.facts && !served.report) lines.push(`${count(served.facts.calls)} calls in ${ns(served.facts.length)}, ${bytes(status.bytes)}.`);
  if (status.state === "diagnosing") {
    lines.push(`The diagnosis is under way: ${status.seconds.toFixed(0)} s so far.${served?.report ? "" : " Until it is there, states are those of the kinds of calls."}`);
  }
  if (status.state === "failed") lines.push(`The diagnosis failed: ${status.said ?? "nothing tells why"}`);
  if (status.state === "gone") lines.push("The recording is not there any more: what is shown is what was read before.");
  if (status.grows) lines.push("The recording goes on: this page follows it.");
  else if (status.is_old) lines.push("The recording changed since: it is being looked at anew.");
  return (
    <div>
      {lines.length > 0 && <p class="ws-status" role="status">{lines.join(" ")}</p>}
      <nav aria-label="Recordings"><a href="/">All recordings</a></nav>
      {status.grows && <Recorder base="/api/" />}
    </div>
  );
}
