// Owns small parts that several views use.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { STATES } from "../data";
import { name, UNKNOWN } from "../data/format";
import { format, type Route } from "../data/route";
import { colours } from "../draw/palette";

/** The width of an element, kept up to date; and how often the colours changed. */
export function useWidth<T extends HTMLElement>() {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  const [theme, setTheme] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const look = (): void => setWidth(Math.floor(element.clientWidth));
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const turn = (): void => setTheme((n) => n + 1);
    scheme.addEventListener("change", turn);
    return () => scheme.removeEventListener("change", turn);
  }, []);
  return { ref, width, theme };
}

/** A square of a colour: styles are set by script, since the page's policy forbids them in markup. */
export function Swatch({ colour }: { colour: string }) {
  return <i class="ws-swatch" aria-hidden="true" ref={(element) => { if (element) element.style.background = colour; }} />;
}

/** The legend of states that are there; a click narrows to one. */
export function Legend({ present, chosen, choose }: { present: readonly boolean[]; chosen: number | null; choose: (state: number | null) => void }) {
  const palette = colours();
  return (
    <div class="ws-legend" role="group" aria-label="States">
      {STATES.map((state, i) => present[i] && (
        <button key={state} type="button" aria-pressed={chosen === i} onClick={() => choose(chosen === i ? null : i)}><Swatch colour={palette[i]} />{state}</button>
      ))}
    </div>
  );
}

/** A figure, and where it leads; nowhere without a route. */
export function Figure({ text, route, go, about }: { text: string; route: Route | null; go: (route: Route) => void; about?: string }) {
  if (!route || text === UNKNOWN || text === "") return <>{text}</>;
  return <a class="ws-lead" href={format(route)} aria-label={about && `${text}: ${about}`} onClick={(event) => { if (event.ctrlKey || event.metaKey || event.shiftKey) return; event.preventDefault(); go(route); }}>{text}</a>;
}

/** A button that copies a text. */
export function Copy({ text }: { text: string }) {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A file has no clipboard in some browsers: by way of a selection.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    setDone(true);
  };
  return <button type="button" onClick={() => void copy()}>{done ? "Copied" : "Copy"}</button>;
}

/** A table of texts whose first column names the row. */
export function Plain({ caption, heads, rows }: { caption: string; heads: readonly string[]; rows: readonly (readonly string[])[] }) {
  return (
    <div class="ws-scroll" tabIndex={0} role="region" aria-label={caption}><table>
      <caption>{caption}</caption>
      <thead><tr>{heads.map((head, i) => <th key={head} scope="col" class={i ? "ws-fig" : ""}>{head}</th>)}</tr></thead>
      <tbody>{rows.map((row, i) => <tr key={i}>{row.map((cell, j) => (j ? <td key={j} class="ws-fig">{name(cell)}</td> : <th key={j} scope="row">{name(cell)}</th>))}</tr>)}</tbody>
    </table></div>
  );
}
