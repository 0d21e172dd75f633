// Owns what the views read of a diagnosis, which other versions may write: whatever is not there, or of another type, is null or empty.

export interface FindingView {
  id: string;
  title: string;
  severity: string;
  share: number | null;
}

export interface AccountRowView {
  /** Its place among the rows. */
  at: number;
  who: string;
  threads: number | null;
  pids: number[];
  state: string;
  call: string | null;
  object: string | null;
  function: string | null;
  place: string | null;
  ns: number;
  share: number | null;
  count: number | null;
  p99: number | null;
  longest: number | null;
  known: string;
}

export interface AccountView {
  target: string;
  of: string;
  ns: number;
  idle: number | null;
  unknown: number | null;
  rows: AccountRowView[];
}

export interface DiagnosisView {
  verdict: string;
  findings: FindingView[];
  account: AccountView | null;
}

type Bag = Record<string, unknown>;
const bag = (value: unknown): Bag => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
const number = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** The parts of `whyslow diagnose --json` that the views show. */
export function diagnosisView(value: unknown): DiagnosisView {
  const diagnosis = bag(value);
  const account = bag(diagnosis.account);
  const total = number(account.ns);
  return {
    verdict: text(diagnosis.verdict),
    findings: list(diagnosis.findings).map(bag).map((finding) => ({
      id: text(finding.id), title: text(finding.title), severity: text(finding.severity), share: number(finding.share),
    })),
    account: total === null ? null : {
      target: text(account.target), of: text(account.of), ns: total, idle: number(account.idle_ns), unknown: number(account.unknown_ns),
      rows: list(account.rows).map((row, at) => accountRow(bag(row), at)),
    },
  };
}

function accountRow(row: Bag, at: number): AccountRowView {
  return {
    at, who: text(row.who), threads: number(row.threads), pids: list(row.pids).map(number).filter((pid) => pid !== null),
    state: text(row.state), call: textOrNull(row.call), object: textOrNull(row.object), function: textOrNull(row.function),
    place: textOrNull(row.place), ns: number(row.ns) ?? 0, share: number(row.share), count: number(row.count), p99: number(row.p99_ns),
    longest: number(row.longest_ns), known: text(row.known),
  };
}

export interface FigureView {
  name: string;
  unit: string;
  before: number | null;
  after: number | null;
  change: string;
  beyondNoise: boolean | null;
}

export interface DiffView {
  verdict: string;
  groups: { heading: string; kind: string; changes: { title: string; change: string }[] }[];
  figures: FigureView[];
  refusals: string[];
}

/** The parts of `whyslow diff --json` that the views show; null where there is none. */
export function diffView(value: unknown): DiffView | null {
  if (typeof value !== "object" || value === null) return null;
  const diff = bag(value);
  const changes = (key: string): { title: string; change: string }[] =>
    list(diff[key]).map(bag).map((change) => ({ title: text(change.title), change: text(change.change) }));
  return {
    verdict: text(diff.verdict),
    groups: [
      { heading: "New", kind: "new", changes: changes("new") },
      { heading: "Gone", kind: "gone", changes: changes("gone") },
      { heading: "Still there", kind: "kept", changes: changes("kept") },
      { heading: "Not known", kind: "unknown", changes: changes("unknown") },
    ].filter((group) => group.changes.length > 0),
    figures: list(diff.figures).map(bag).map((figure) => ({
      name: text(figure.name), unit: text(figure.unit), before: number(figure.before), after: number(figure.after),
      change: text(figure.change), beyondNoise: typeof figure.beyond_noise === "boolean" ? figure.beyond_noise : null,
    })),
    refusals: list(diff.refusals).map(text),
  };
}
