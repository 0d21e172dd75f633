// Owns the links from the report into the views: each finding with marks, and each of its figures, leads to the timeline; each share of the
// account to the calls behind it.
import { leadRoute } from "../data/lead";
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

/** Shares of the report's account lead where those of the account's view do. With two reports on a page nobody tells whose a list is. */
function linkAccount(model: RunModel, run: number): void {
  const headings = [...document.querySelectorAll("h2")].filter((each) => each.textContent === "Where the time went");
  if (headings.length !== 1) return;
  const items: Element[] = [];
  for (let next = headings[0].nextElementSibling; next && next.tagName !== "H2"; next = next.nextElementSibling) items.push(...next.querySelectorAll("li"));
  // One for each row, in the same order; below them may stand other lists.
  if (items.length < (model.diagnosis.account?.rows.length ?? 0)) return;
  model.diagnosis.account?.rows.forEach((row, at) => {
    const lead = model.run.account?.[row.at];
    const share = items[at].querySelector("b");
    if (!lead || !share || share.querySelector("a")) return;
    const link = document.createElement("a");
    link.href = format(leadRoute({ view: "account", values: run > 0 ? { run: String(run) } : {} }, model, lead));
    link.append(...share.childNodes);
    share.append(link);
  });
}

export function linkFindings(model: RunModel, run: number): void {
  linkAccount(model, run);
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
