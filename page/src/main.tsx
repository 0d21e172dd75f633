// Owns the start: finds the data in the page, decodes it, and puts the views below the report. A page that a server gives asks it for its data.
import { render } from "preact";
import type { Page } from "./data";
import { load, Unreadable } from "./data/load";
import { models } from "./data/model";
import { App } from "./ui/app";
import { startServed } from "./served/start";
import { linkFindings } from "./ui/findings";
import "./page.css";

async function start(): Promise<void> {
  const place = document.getElementById("whyslow-app");
  const data = document.getElementById("whyslow-data");
  if (place?.dataset.source) return startServed(place, place.dataset.source);
  if (!place || !data) return;
  try {
    const page: Page = await load(data.textContent ?? "");
    data.textContent = "";
    const runs = models(page);
    if (!runs.length) return;
    render(<App page={page} runs={runs} source={null} />, place);
    linkFindings(runs[runs.length - 1], runs.length - 1);
    place.dataset.ready = "yes";
  } catch (error) {
    place.textContent = error instanceof Unreadable ? error.message : `The views could not be shown: ${String(error)}`;
    place.dataset.ready = "failed";
    if (!(error instanceof Unreadable)) console.error(error);
  }
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", () => void start());
else void start();
