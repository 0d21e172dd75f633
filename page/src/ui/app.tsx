// Owns the frame of the views: tabs, the choice of a run, filters, and the address that says what is shown.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Page } from "../data";
import { diffView } from "../data/diagnosis";
import { type Filter, filterOf, isEmpty, objectText, whoText } from "../data/filter";
import { name } from "../data/format";
import type { RunModel } from "../data/model";
import { change, format, parse, type Route, to, type View, VIEWS } from "../data/route";
import { stateName } from "../data/states";
import { CallsView } from "../served/calls";
import type { Source } from "../served/source";
import { SqlView } from "../served/sql";
import { AccountView } from "./account";
import { CompareView } from "./compare";
import { FlameView } from "./flame";
import { HostView } from "./host";
import { KeptCallsView } from "./kept";
import { RequestsView } from "./requests";
import { TablesView } from "./tables";
import { TimelineView } from "./timeline";
import { WaitsView } from "./waits";

/** What a view gets. `go` changes the address: with a new entry of the history unless it only moves on. */
export interface ViewProps {
  page: Page;
  runs: RunModel[];
  run: number;
  model: RunModel;
  route: Route;
  filter: Filter;
  go: (route: Route, moves?: boolean) => void;
  /** Where a server gives the page: what it is asked by. */
  source: Source | null;
}

const TITLES: Record<View, string> = {
  timeline: "Timeline", account: "Account", waits: "Who waits", flame: "Flame graphs", requests: "Requests", tables: "Tables", calls: "Calls", sql: "SQL", host: "Host",
  compare: "Before and after",
};

/** The views that have something to show. */
function viewsOf(page: Page, model: RunModel, source: Source | null): View[] {
  const has: Record<View, boolean> = {
    timeline: model.threads.length > 0, account: model.diagnosis.account !== null, waits: model.run.waits.length > 0,
    flame: (model.run.stacks?.parent.length ?? 0) > 0, requests: (model.requests?.count ?? 0) > 0 || (model.run.requests?.endpoints.length ?? 0) > 0,
    tables: model.run.tables.length > 0, host: model.run.host.length > 0, compare: page.runs.length > 1,
    calls: (source !== null && model.run.kind === "recording") || model.slices.count > 0, sql: source !== null,
  };
  return VIEWS.filter((view) => has[view]);
}

export function App({ page, runs, source }: { page: Page; runs: RunModel[]; source: Source | null }) {
  const [route, setRoute] = useState<Route | null>(() => parse(location.hash));
  const asked = Number(route?.values.run ?? runs.length - 1);
  const run = runs[asked] ? asked : runs.length - 1;
  const model = runs[run];
  const views = useMemo(() => viewsOf(page, model, source), [page, model, source]);
  useEffect(() => {
    const follow = (): void => {
      const next = parse(location.hash);
      if (next) setRoute(next);
    };
    addEventListener("hashchange", follow);
    addEventListener("popstate", follow);
    if (parse(location.hash)) document.getElementById("whyslow-app")?.scrollIntoView();
    return () => {
      removeEventListener("hashchange", follow);
      removeEventListener("popstate", follow);
    };
  }, []);
  useEffect(() => {
    const jump = (event: MouseEvent): void => {
      const link = event.target instanceof Element ? event.target.closest("a") : null;
      if (link && !link.closest("#whyslow-app") && parse(link.hash)) document.getElementById("whyslow-app")?.scrollIntoView();
    };
    document.addEventListener("click", jump);
    return () => document.removeEventListener("click", jump);
  }, []);
  const go = (next: Route, moves = false): void => {
    history[moves ? "replaceState" : "pushState"](null, "", format(next));
    setRoute(next);
  };
  if (!views.length) return null;
  const now: Route = route && views.includes(route.view) ? route : { view: page.runs.length > 1 ? "compare" : views[0], values: route?.values ?? {} };
  const filter = filterOf(now, model);
  const props: ViewProps = { page, runs, run, model, route: now, filter, go, source };
  return (
    <section class="ws" aria-label="Look into it">
      <h2 class="ws-title">Look into it</h2>
      <nav class="ws-tabs" aria-label="Views">
        {views.map((view) => (
          <a key={view} href={format(to(now, view))} aria-current={view === now.view ? "page" : undefined}
            onClick={(event) => { event.preventDefault(); go(to(now, view)); }}>{TITLES[view]}</a>
        ))}
        {runs.length > 1 && now.view !== "compare" && (
          <label class="ws-run">Run <select value={String(run)} onChange={(event) => go(change(now, { run: event.currentTarget.value, select: "", thread: "" }))}>
            {runs.map((each, i) => <option key={i} value={String(i)}>{`${i ? "after" : "before"}: ${name(each.run.name)}`}</option>)}
          </select></label>
        )}
      </nav>
      {!isEmpty(filter) && <Filters {...props} />}
      <div class="ws-view" key={`${now.view}${run}`}>{show(props)}</div>
      {model.run.left_out.length > 0 && (
        <details class="ws-left"><summary>Left out of this page for its size</summary><ul>{model.run.left_out.map((line, i) => <li key={i}>{name(line)}</li>)}</ul></details>
      )}
    </section>
  );
}

function show(props: ViewProps) {
  switch (props.route.view) {
    case "timeline": return <TimelineView {...props} />;
    case "account": return <AccountView {...props} />;
    case "waits": return <WaitsView {...props} />;
    case "flame": return <FlameView {...props} />;
    case "requests": return <RequestsView {...props} />;
    case "tables": return <TablesView {...props} />;
    case "calls": return props.source !== null && props.model.run.kind === "recording" ? <CallsView {...props} /> : <KeptCallsView {...props} />;
    case "sql": return <SqlView {...props} />;
    case "host": return <HostView {...props} />;
    case "compare": return <CompareView {...props} diff={diffView(props.page.diff)} />;
  }
}

function Filters({ filter, model, route, go }: ViewProps) {
  const chip = (key: string, text: string) => (
    <button type="button" class="ws-chip" onClick={() => go(change(route, { [key]: "" }))} aria-label={`Remove the filter ${text}`}>{text} <span aria-hidden="true">×</span></button>
  );
  return (
    <div class="ws-bar" role="group" aria-label="Filters">
      Only:
      {filter.state !== null && chip("only-state", stateName(filter.state))}
      {filter.call !== null && chip("only-call", name(filter.call))}
      {filter.object !== null && chip("only-object", name(objectText(filter.object)))}
      {filter.threads !== null && chip("only-thread", name(whoText(model, filter)))}
      <button type="button" onClick={() => go(change(route, { "only-state": "", "only-call": "", "only-object": "", "only-thread": "" }))}>Show all</button>
    </div>
  );
}
