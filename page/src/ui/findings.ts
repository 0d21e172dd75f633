// Owns the links from the report's findings to the timeline: each finding with marks, and each of its figures, leads there.
import type { RunModel } from "../data/model";
import { format } from "../data/route";

/** The address of a mark, with some room around it. */
export function markLink(model: RunModel, mark: { from: number; to: number; thread: number | null }, run: number): string {
  const room = Math.max((mark.to - mark.from) * 0.2, model.length / 1e4);
  const values: Record<string, string> = {
    from: String(Math.max(0, Math.round(mark.from - room))), to: String(Math.min(model.length, Math.round(mark.to + room))),
  };
  if (mark.thread !== null) values.thread = String(mark.thread);
  if (run > 0) values.run = String(run);
  return format({ view: "timeline", values });
}

export function linkFindings(model: RunModel, run: number): void {
  const headings = [...document.querySelectorAll("article h3, article summary")];
  model.diagnosis.findings.forEach((finding, index) => {
    const marks = model.marks.filter((mark) => mark.finding === index);
    const heading = headings.find((each) => finding.title && each.textContent?.trim().endsWith(finding.title));
    const article = heading?.closest("article");
    if (!marks.length || !article || article.closest("#whyslow-app")) return;
    const href = markLink(model, marks[0], run);
    for (const figure of article.querySelectorAll("p.dim, h4 + ul > li")) {
      if (figure.querySelector("a")) continue;
      const link = document.createElement("a");
      link.href = href;
      link.append(...figure.childNodes);
      figure.append(link);
    }
    const all = document.createElement("p");
    all.className = "ws-jump";
    all.append("On the timeline: ");
    marks.slice(0, 8).forEach((mark, i) => {
      const link = document.createElement("a");
      link.href = markLink(model, mark, run);
      link.textContent = marks.length === 1 ? "show" : `${i + 1}`;
      link.setAttribute("aria-label", `Show on the timeline, place ${i + 1} of ${marks.length}`);
      all.append(link, " ");
    });
    (heading?.closest("details") ?? article).append(all);
  });
}
