// Owns the tables: one at a time, sorted by a click on a head, filtered by a text, a page of rows at a time.
import { useMemo, useState } from "preact/hooks";
import { count, name } from "../data/format";
import { objectText } from "../data/filter";
import { leadRoute } from "../data/lead";
import { change } from "../data/route";
import { cellText, shownRows } from "../data/table";
import type { ViewProps } from "./app";
import { Figure } from "./bits";

/** Rows that are drawn before "more" is asked for. */
const PAGE = 200;

export function TablesView({ model, route, go, filter }: ViewProps) {
  const { tables } = model.run;
  const table = tables.find((each) => each.id === route.values.table) ?? tables[0];
  const asked = route.values.find ?? (filter.object === null ? "" : objectText(filter.object));
  const sort = route.values.sort ?? "";
  const way: 1 | -1 = sort.startsWith("-") ? -1 : 1;
  const column = sort === "" ? null : table.columns.findIndex((each) => each.name === sort.replace(/^-/, ""));
  const places = useMemo(() => shownRows(table.rows, asked, column === null || column < 0 ? null : column, way), [table, asked, sort]);
  const [most, setMost] = useState(PAGE);
  const by = (at: number): void => {
    const head = table.columns[at];
    const first = head.kind === "text" ? head.name : `-${head.name}`;
    const other = head.kind === "text" ? `-${head.name}` : head.name;
    go(change(route, { sort: sort === first ? other : first }), true);
  };
  return (
    <div>
      <div class="ws-bar">
        <label>Table <select value={table.id} onChange={(event) => { setMost(PAGE); go(change(route, { table: event.currentTarget.value, sort: "" })); }}>
          {tables.map((each) => <option key={each.id} value={each.id}>{name(each.title)}</option>)}
        </select></label>
        <label>Filter <input type="search" value={asked} onInput={(event) => go(change(route, { find: event.currentTarget.value, ...(event.currentTarget.value ? {} : { "only-object": "" }) }), true)} /></label>
        <span class="ws-dim" role="status">{count(places.length)} of {count(table.rows.length)} rows{table.left_out > 0 ? `; ${count(table.left_out)} more are not in this page` : ""}</span>
      </div>
      <div class="ws-scroll" tabIndex={0} role="region" aria-label={name(table.title)}><table>
        <thead><tr>{table.columns.map((head, at) => (
          <th key={at} scope="col" class={head.kind === "text" ? "" : "ws-fig"} aria-sort={at === column ? (way > 0 ? "ascending" : "descending") : "none"}>
            <button type="button" class="ws-link" onClick={() => by(at)}>{name(head.name)}{at === column ? (way > 0 ? " ▲" : " ▼") : ""}</button></th>))}</tr></thead>
        <tbody>{places.slice(0, most).map((place) => {
          const lead = table.leads?.[place];
          const behind = lead ? leadRoute(route, model, lead) : null;
          return (
            <tr key={place}>{table.columns.map((head, at) => {
              const text = cellText(table.rows[place][at], head.kind);
              return <td key={at} class={head.kind === "text" ? "" : "ws-fig"}>{head.kind === "text" ? text : <Figure text={text} route={behind} go={go} about={`${head.name}, show ${behind?.view ?? ""}`} />}</td>;
            })}</tr>);
        })}</tbody>
      </table></div>
      {places.length > most && <button type="button" onClick={() => setMost(most * 4)}>More rows</button>}
    </div>
  );
}
